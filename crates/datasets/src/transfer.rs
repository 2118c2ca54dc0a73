//! Parts over HTTP, by URLs that were signed elsewhere.

use std::io::{self, Read};
use std::time::Duration;

use crate::error::StoreError;

/// Attempts at a request that a server fails, or whose connection is lost.
pub(crate) const ATTEMPTS: u32 = 4;
/// Between the first two; each further pause is longer by as much.
const PAUSE: Duration = Duration::from_secs(1);
/// A server that neither takes nor gives a byte for so long is gone.
const SILENCE: Duration = Duration::from_secs(30);
/// S3 answers when all of a part has arrived.
const ANSWER: Duration = Duration::from_secs(120);

/// The operating system's trust store (a company's own certificate authority works) and proxy variables.
pub(crate) fn agent() -> ureq::Agent {
    let tls = ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build();
    ureq::Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_recv_response(Some(ANSWER))
        .timeout_per_read(Some(SILENCE))
        .timeout_per_write(Some(SILENCE))
        .build()
        .into()
}

/// Why a request did not do what it should.
pub(crate) struct TransferFailure {
    pub error: StoreError,
    /// Worth another attempt.
    pub may_pass: bool,
}

/// Waits before another attempt.
pub(crate) fn pause(attempt: u32) {
    std::thread::sleep(PAUSE * attempt);
}

/// Sends a part of so many bytes. `what` is the request for people.
pub(crate) fn put(
    agent: &ureq::Agent,
    url: &str,
    what: &str,
    body: &mut dyn Read,
    bytes: u64,
) -> Result<(), TransferFailure> {
    let sent = agent
        .put(url)
        .header("content-length", bytes.to_string())
        // A refusal comes before a GiB is sent in vain.
        .header("expect", "100-continue")
        .send(ureq::SendBody::from_reader(&mut &mut *body));
    let mut answer = sent.map_err(|error| lost(what, &error))?;
    if answer.status().is_success() { Ok(()) } else { Err(refused(what, &mut answer, "s3:PutObject")) }
}

/// Asks for a part from a byte on.
pub(crate) fn get(
    agent: &ureq::Agent,
    url: &str,
    what: &str,
    from: u64,
) -> Result<Box<dyn Read + Send>, TransferFailure> {
    let request = agent.get(url);
    let request = match from {
        0 => request,
        from => request.header("range", format!("bytes={from}-")),
    };
    let mut answer = request.call().map_err(|error| lost(what, &error))?;
    let wanted = if from == 0 { 200 } else { 206 };
    if answer.status().as_u16() != wanted {
        return Err(refused(what, &mut answer, "s3:GetObject"));
    }
    Ok(Box::new(answer.into_body().into_reader()))
}

/// The connection failed. A URL, which gives rights to its reader, is not shown.
fn lost(what: &str, error: &ureq::Error) -> TransferFailure {
    let reason = match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::BadUri(_) => "the URL cannot be used".to_owned(),
        other => other.to_string(),
    };
    TransferFailure { error: StoreError::Refused { what: what.to_owned(), reason, permission: None }, may_pass: true }
}

/// What S3 says: `Code: Message`.
fn refused(what: &str, answer: &mut ureq::http::Response<ureq::Body>, permission: &'static str) -> TransferFailure {
    let status = answer.status();
    let body = answer.body_mut().with_config().limit(64 << 10).read_to_string();
    let body = body.unwrap_or_default();
    let reported = |name: &str| {
        let (_, rest) = body.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(text, _)| text.to_owned())
    };
    let code = reported("Code");
    let reason = match (&code, reported("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code.clone(),
        (None, _) => format!("HTTP status {status}"),
    };
    let is_denied = code.as_deref() == Some("AccessDenied");
    TransferFailure {
        error: StoreError::Refused { what: what.to_owned(), reason, permission: is_denied.then_some(permission) },
        may_pass: status.is_server_error() || status.as_u16() == 429,
    }
}

/// A part that is asked for again from where a connection was lost.
pub(crate) struct Download<'u> {
    pub agent: &'u ureq::Agent,
    pub url: &'u str,
    /// The request for people.
    pub what: String,
    /// What has come.
    pub position: u64,
    pub bytes: u64,
    pub under_way: Option<Box<dyn Read + Send>>,
}

impl Download<'_> {
    /// The next bytes; none at the part's end.
    pub fn next(&mut self, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let left = self.bytes - self.position;
        let room = left.min(buffer.len() as u64) as usize;
        if room == 0 {
            return Ok(0);
        }
        let mut attempt = 0;
        loop {
            attempt += 1;
            let read = match &mut self.under_way {
                Some(body) => body.read(&mut buffer[..room]),
                None => match get(self.agent, self.url, &self.what, self.position) {
                    Ok(body) => {
                        self.under_way = Some(body);
                        attempt -= 1;
                        continue;
                    }
                    Err(trouble) if trouble.may_pass && attempt < ATTEMPTS => {
                        pause(attempt);
                        continue;
                    }
                    Err(trouble) => return Err(trouble.error),
                },
            };
            let problem = match read {
                Ok(read) if read > 0 => {
                    self.position += read as u64;
                    return Ok(read);
                }
                Ok(_) => io::Error::other(format!("it ends after {} of {} bytes", self.position, self.bytes)),
                Err(error) => error,
            };
            self.under_way = None;
            if attempt >= ATTEMPTS {
                return Err(StoreError::Refused {
                    what: self.what.clone(),
                    reason: problem.to_string(),
                    permission: None,
                });
            }
            pause(attempt);
        }
    }
}
