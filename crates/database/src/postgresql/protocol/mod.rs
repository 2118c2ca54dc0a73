//! Requests to PostgreSQL in its own protocol (version 3.0), as far as a load needs it: one at a time on a connection.
//!
//! Most of what a transaction of small statements costs its client is the kernel's. Of the rest tokio-postgres spends
//! nearly all on a task beside whoever asks, channels to it and from it, and shared buffers. Here a request is written
//! into one buffer, sent, and its answers are taken from another by whoever asks. What is asked once, where only its
//! answer matters, goes by tokio-postgres (`way`).
//!
//! A request whose answers were not taken to their end, because its time was over or they were none, leaves a
//! connection that is of no use any more: what comes later would be taken for the answer to another one.
//!
//! Source: PostgreSQL 18, "Frontend/Backend Protocol".

mod answers;
#[cfg(test)]
mod tests;

use std::error::Error as StdError;
use std::io;
use std::pin::Pin;
use std::task::{Context, Waker};

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256};
use postgres_protocol::message::frontend::{self, BindError, CopyData};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use self::answers::{Incoming, KEPT_BYTES, Malformed, Message, tag};
use super::form::Value;

pub(super) use self::answers::{Refused, columns};

/// The form of values that are sent and asked for.
const BINARY: i16 = 1;

/// What a server asks of who logs in.
mod login {
    pub const DONE: u32 = 0;
    pub const CLEARTEXT: u32 = 3;
    pub const MD5: u32 = 5;
    pub const SASL: u32 = 10;
    pub const SASL_CONTINUE: u32 = 11;
    pub const SASL_FINAL: u32 = 12;
}

/// Why a request was not done.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The server says so.
    #[error("{0}")]
    Refused(Refused),
    /// There is no answer, or one that cannot be understood: what happened, in tokio-postgres' words, and why.
    #[error("{what}")]
    Broken { what: String, cause: Option<Box<dyn StdError + Send + Sync>> },
}

impl Error {
    pub fn broken(what: &str, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Broken { what: what.to_owned(), cause: Some(cause.into()) }
    }

    /// SQLSTATE, where the server has answered.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(refused) => Some(&refused.code),
            Self::Broken { .. } => None,
        }
    }

    fn closed() -> Self {
        Self::Broken { what: "connection closed".to_owned(), cause: None }
    }

    fn unexpected() -> Self {
        Self::Broken { what: "unexpected message from server".to_owned(), cause: None }
    }

    fn lost(error: io::Error) -> Self {
        Self::broken("error communicating with the server", error)
    }
}

impl From<Malformed> for Error {
    fn from(Malformed(why): Malformed) -> Self {
        Self::broken("error parsing response from server", why)
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(of_server) => Self::Refused(Refused {
                code: of_server.code().code().to_owned(),
                message: of_server.message().to_owned(),
                hint: of_server.hint().map(str::to_owned),
            }),
            None => Self::Broken { what: error.to_string(), cause: error.into_source() },
        }
    }
}

/// What a connection goes over: TCP, or TLS over it.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A connection.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    /// What is written and not yet sent.
    out: BytesMut,
    incoming: Incoming,
    /// In which transaction the server says that it is (`I`: in none); `None`: it has not ended its answer.
    status: Option<u8>,
}

impl Wire {
    /// Logs in over a stream to a server, with these parameters of the session. Errors: nobody is let in, or what
    /// answers is no PostgreSQL.
    pub async fn open(
        stream: Box<dyn Stream>,
        (user, password): (&str, Option<&[u8]>),
        parameters: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let mut wire = Self { stream, out: BytesMut::new(), incoming: Incoming::new(), status: None };
        let all = [("client_encoding", "UTF8"), ("user", user)].into_iter().chain(parameters.iter().copied());
        let asked = frontend::startup_message(all, &mut wire.out);
        wire.written(asked)?;
        wire.send().await?;
        wire.log_in(user, password).await?;
        loop {
            let message = wire.next().await?;
            match message.tag {
                tag::KEY_DATA => {}
                tag::READY => return wire.ready(message).map(|()| wire),
                _ => return Err(wire.instead(message)),
            }
        }
    }

    async fn log_in(&mut self, user: &str, password: Option<&[u8]>) -> Result<(), Error> {
        let password = password.ok_or_else(|| Error::broken("invalid configuration", "password missing"));
        let (kind, data) = self.asked_of_login().await?;
        match kind {
            login::DONE => return Ok(()),
            login::CLEARTEXT => self.show(password?).await?,
            login::MD5 => {
                let salt = *data.first_chunk::<4>().ok_or(Malformed("the request for a password has no salt"))?;
                self.show(md5_hash(user.as_bytes(), password?, salt).as_bytes()).await?;
            }
            login::SASL => self.scram(&data, password?).await?,
            _ => return Err(Error::broken("authentication error", "unsupported authentication method")),
        }
        self.login_step(login::DONE).await.map(drop)
    }

    /// Both sides prove that they know the password. The proof is not bound to TLS (`encrypted` says why).
    async fn scram(&mut self, offered: &[u8], password: &[u8]) -> Result<(), Error> {
        let wrong = |error: io::Error| Error::broken("authentication error", error);
        let known = [SCRAM_SHA_256, SCRAM_SHA_256_PLUS].map(str::as_bytes);
        if !offered.split(|byte| *byte == 0).any(|name| known.contains(&name)) {
            return Err(Error::broken("authentication error", "unsupported SASL mechanism"));
        }
        let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
        let first = frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut self.out);
        self.written(first)?;
        self.send().await?;
        scram.update(&self.login_step(login::SASL_CONTINUE).await?).map_err(wrong)?;
        let proof = frontend::sasl_response(scram.message(), &mut self.out);
        self.written(proof)?;
        self.send().await?;
        scram.finish(&self.login_step(login::SASL_FINAL).await?).map_err(wrong)
    }

    async fn show(&mut self, password: &[u8]) -> Result<(), Error> {
        let shown = frontend::password_message(password, &mut self.out);
        self.written(shown)?;
        self.send().await
    }

    /// What the server asks of who logs in, which has to be this.
    async fn login_step(&mut self, wanted: u32) -> Result<Vec<u8>, Error> {
        let (kind, data) = self.asked_of_login().await?;
        if kind == wanted { Ok(data) } else { Err(Error::unexpected()) }
    }

    async fn asked_of_login(&mut self) -> Result<(u32, Vec<u8>), Error> {
        let message = self.next().await?;
        if message.tag != tag::AUTHENTICATION {
            return Err(self.instead(message));
        }
        let (kind, data) = answers::authentication(self.incoming.body(message))?;
        Ok((kind, data.to_vec()))
    }

    /// Whether it can be used by others: no answer is left to come, no transaction is open, and nothing has come that
    /// was not asked for (the end of the session, or what would be taken for the answer to another request).
    pub fn is_idle(&self) -> bool {
        self.status == Some(b'I') && self.incoming.is_empty()
    }

    /// Has the server prepare a statement under this name. Errors: it refuses, or there is no answer.
    pub async fn prepare(&mut self, name: &str, statement: &str) -> Result<(), Error> {
        let asked = frontend::parse(name, statement, [], &mut self.out);
        self.written(asked)?;
        frontend::sync(&mut self.out);
        self.exchange(|tag, _| if tag == tag::PARSED { Ok(()) } else { Err(Error::unexpected()) }).await
    }

    /// Writes that a prepared statement is to be done with these values, by the next [`Self::run`]: of several the
    /// server does none after the first that fails, and answers all at once. Errors: a value is too long.
    pub fn bind<'v>(&mut self, name: &str, values: impl IntoIterator<Item = Value<'v>>) -> Result<(), Error> {
        let put = |value: Value<'v>, out: &mut BytesMut| {
            value.form.put(value.bytes, out);
            Ok(IsNull::No)
        };
        let bound = frontend::bind("", name, Some(BINARY), values, put, Some(BINARY), &mut self.out);
        self.written(bound.map_err(|error| match error {
            BindError::Conversion(cause) => io::Error::other(cause),
            BindError::Serialization(cause) => cause,
        }))?;
        let asked = frontend::execute("", 0, &mut self.out);
        self.written(asked)
    }

    /// Does what was bound; gives how many rows the last statement has read or written, and `on_row` each row that was
    /// read (see [`columns`]). Errors: the server refuses one of them, or there is no answer.
    pub async fn run(&mut self, on_row: impl FnMut(&[u8])) -> Result<u64, Error> {
        frontend::sync(&mut self.out);
        self.completed(on_row).await
    }

    /// Does a statement that is not prepared. Errors: the server refuses it, or there is no answer.
    pub async fn simple(&mut self, statement: &str) -> Result<(), Error> {
        let asked = frontend::query(statement, &mut self.out);
        self.written(asked)?;
        self.completed(|_| {}).await.map(drop)
    }

    async fn completed(&mut self, mut on_row: impl FnMut(&[u8])) -> Result<u64, Error> {
        let mut rows = None;
        let on = |tag: u8, body: &[u8]| -> Result<(), Error> {
            match tag {
                tag::ROW => on_row(body),
                tag::COMPLETE => rows = Some(answers::rows(body)?),
                tag::EMPTY => rows = Some(0),
                tag::BOUND | tag::ROW_DESCRIPTION => {}
                _ => return Err(Error::unexpected()),
            }
            Ok(())
        };
        self.exchange(on).await?;
        rows.ok_or_else(Error::unexpected)
    }

    /// Does a `COPY ... FROM STDIN` with these rows. All goes out at once: a server that refuses the statement passes
    /// over its rows. Errors: it refuses, or there is no answer.
    pub async fn copy(&mut self, statement: &str, rows: &[u8]) -> Result<(), Error> {
        let asked = frontend::query(statement, &mut self.out);
        self.written(asked)?;
        let data = CopyData::new(rows).map(|data| data.write(&mut self.out));
        self.written(data)?;
        frontend::copy_done(&mut self.out);
        let is_of_copy = |tag: u8| matches!(tag, tag::COPY_IN | tag::COMPLETE);
        self.exchange(|tag, _| if is_of_copy(tag) { Ok(()) } else { Err(Error::unexpected()) }).await
    }

    /// Sends what is written and takes its answers to their end; `on` has each before the first error.
    async fn exchange(&mut self, mut on: impl FnMut(u8, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        if self.status.take().is_none() {
            return Err(Error::closed());
        }
        self.send().await?;
        let mut refused = None;
        loop {
            let message = match self.next().await {
                Ok(message) => message,
                // A server that ends a connection has said why.
                Err(error) => return Err(refused.unwrap_or(error)),
            };
            let body = self.incoming.body(message);
            match message.tag {
                tag::READY => {
                    self.ready(message)?;
                    return refused.map_or(Ok(()), Err);
                }
                tag::ERROR if refused.is_none() => refused = Some(Error::Refused(answers::refused(body)?)),
                other if refused.is_none() => on(other, body)?,
                _ => {}
            }
        }
    }

    /// A message that was not awaited.
    fn instead(&self, message: Message) -> Error {
        match message.tag {
            tag::ERROR => answers::refused(self.incoming.body(message)).map_or_else(Error::from, Error::Refused),
            _ => Error::unexpected(),
        }
    }

    fn ready(&mut self, message: Message) -> Result<(), Error> {
        let status = self.incoming.body(message).first();
        self.status = Some(*status.ok_or(Malformed("the end of an answer has no state"))?);
        Ok(())
    }

    /// What was not written whole spoils what follows it.
    fn written(&mut self, written: io::Result<()>) -> Result<(), Error> {
        written.map_err(|error| {
            self.status = None;
            Error::broken("error encoding message to server", error)
        })
    }

    async fn send(&mut self) -> Result<(), Error> {
        self.stream.write_all(&self.out).await.map_err(Error::lost)?;
        self.stream.flush().await.map_err(Error::lost)?;
        self.out.clear();
        if self.out.capacity() > KEPT_BYTES {
            self.out = BytesMut::new();
        }
        Ok(())
    }

    /// The next message, when all of it has come.
    async fn next(&mut self) -> Result<Message, Error> {
        loop {
            if let Some(message) = self.incoming.next()? {
                return Ok(message);
            }
            match self.stream.read(self.incoming.space()).await.map_err(Error::lost)? {
                0 => return Err(Error::closed()),
                bytes => self.incoming.filled(bytes),
            }
        }
    }
}

/// Takes leave of the server, where no request is under way and it can be done at once: the server would count a
/// session that was lost, and note in its log one whose TLS has no end.
impl Drop for Wire {
    fn drop(&mut self) {
        if self.status.is_none() {
            return;
        }
        self.out.clear();
        frontend::terminate(&mut self.out);
        let mut nobody = Context::from_waker(Waker::noop());
        let sent = Pin::new(&mut self.stream).poll_write(&mut nobody, &self.out);
        if sent.is_ready() {
            let _ = Pin::new(&mut self.stream).poll_flush(&mut nobody);
        }
    }
}
