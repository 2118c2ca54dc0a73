//! The way into a server over the network: who asks, whether it is encrypted, and why nobody is let in.

use experiment::Access;
#[cfg(feature = "tls")]
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;
#[cfg(feature = "tls")]
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect as _};
use tokio_postgres::{Client, Config, NoTls};

use super::conf::CLIENT;
#[cfg(feature = "tls")]
use super::encrypted::Encrypted;
use super::protocol::{Error, Stream, Wire};
use crate::session::Refusal;
use crate::table_at::TableAt;

/// What a server says of a connection that no line of `pg_hba.conf` lets in as it is; before PostgreSQL 14 the second.
const NOT_ENCRYPTED: [&str; 2] = ["no encryption", "SSL off"];
/// What is said where a server asks for a password and none is stated.
const PASSWORD_MISSING: &str = "password missing";
/// What is said where a server has nothing to do with TLS.
#[cfg(feature = "tls")]
const NO_TLS: &str = "server does not support TLS";
/// `SSLRequest` (PostgreSQL 18, "Message Formats"): its length and its code, 80877103.
#[cfg(feature = "tls")]
const ASKS_FOR_TLS: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// How connections to a server are made.
pub(crate) struct Way {
    config: Config,
    access: Access,
    #[cfg(feature = "tls")]
    encrypted: Option<Encrypted>,
}

impl Way {
    /// To the database of a table, with these options of the server besides (`-c NAME=VALUE`). A server of iopslab's
    /// own lets one user in without a password. Errors: the address is none, or TLS is asked for and cannot be had.
    pub fn to(at: &TableAt, options: &[&str]) -> Result<Self, Refusal> {
        let none = || Refusal::Other("there is no address to connect to".to_owned());
        let point = at.contact_points.first().ok_or_else(none)?;
        let parts = point.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
        // tokio-postgres takes a path for the directory of a socket.
        let parts = parts.filter(|(host, _)| !host.starts_with('/'));
        let (host, port) = parts.ok_or_else(|| Refusal::Other(format!("{point} is no host:port")))?;
        let mut config = Config::new();
        config.host(host.trim_matches(['[', ']'])).port(port).dbname(&at.keyspace).connect_timeout(at.request_timeout);
        config.application_name("iopslab");
        match &at.access.login {
            Some(login) => config.user(&login.user).password(&login.password),
            None => config.user(CLIENT),
        };
        let schema = at.access.schema.as_ref().map(|schema| format!("-c search_path={schema}"));
        let options: Vec<&str> = schema.as_deref().into_iter().chain(options.iter().copied()).collect();
        if !options.is_empty() {
            config.options(options.join(" "));
        }
        Self::with(config, at)
    }

    #[cfg(feature = "tls")]
    fn with(mut config: Config, at: &TableAt) -> Result<Self, Refusal> {
        let encrypted = match &at.access.tls {
            Some(tls) => Some(Encrypted::by(tls, &at.contact_points)?),
            None => None,
        };
        if encrypted.is_some() {
            config.ssl_mode(tokio_postgres::config::SslMode::Require);
        }
        Ok(Self { config, access: at.access.clone(), encrypted })
    }

    #[cfg(not(feature = "tls"))]
    fn with(config: Config, at: &TableAt) -> Result<Self, Refusal> {
        match &at.access.tls {
            Some(_) => Err(Refusal::WithoutTls),
            None => Ok(Self { config, access: at.access.clone() }),
        }
    }

    /// A connection of tokio-postgres for what is asked once, which is driven by the runtime that this is called in.
    /// Errors: nobody answers, or nobody is let in ([`Self::refusal`] says why).
    pub async fn open(&self) -> Result<Client, tokio_postgres::Error> {
        // What goes wrong with a connection is seen by whoever waits for an answer.
        #[cfg(feature = "tls")]
        if let Some(encrypted) = &self.encrypted {
            let (client, connection) = self.config.connect(encrypted.clone()).await?;
            tokio::spawn(async move { drop(connection.await) });
            return Ok(client);
        }
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }

    /// A connection for requests. Errors: as [`Self::open`].
    pub(super) async fn wire(&self) -> Result<Wire, Error> {
        let unreached = |error: std::io::Error| Error::broken("error connecting to server", error);
        let config = &self.config;
        let (Some(Host::Tcp(host)), Some(port)) = (config.get_hosts().first(), config.get_ports().first()) else {
            return Err(Error::broken("invalid configuration", "there is no address to connect to"));
        };
        let stream = TcpStream::connect((host.as_str(), *port)).await.map_err(unreached)?;
        stream.set_nodelay(true).map_err(unreached)?;
        let stream = self.encrypt(stream, host).await?;
        let stated = [
            ("database", config.get_dbname()),
            ("options", config.get_options()),
            ("application_name", config.get_application_name()),
        ];
        let stated: Vec<(&str, &str)> = stated.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        Wire::open(stream, (config.get_user().unwrap_or(CLIENT), config.get_password()), &stated).await
    }

    /// TLS over a connection, where it is asked for.
    #[cfg(feature = "tls")]
    async fn encrypt(&self, mut stream: TcpStream, host: &str) -> Result<Box<dyn Stream>, Error> {
        const FAILED: &str = "error performing TLS handshake";
        let Some(encrypted) = &self.encrypted else { return Ok(Box::new(stream)) };
        let lost = |error: std::io::Error| Error::broken("error communicating with the server", error);
        stream.write_all(&ASKS_FOR_TLS).await.map_err(lost)?;
        // Not a byte beyond the answer is read before the handshake.
        if stream.read_u8().await.map_err(lost)? != b'S' {
            return Err(Error::broken(FAILED, NO_TLS));
        }
        let handshake = MakeTlsConnect::<TcpStream>::make_tls_connect(&mut encrypted.clone(), host);
        let handshake = handshake.map_err(|error| Error::broken(FAILED, error))?;
        let stream = handshake.connect(stream).await.map_err(|error| Error::broken(FAILED, error))?;
        Ok(Box::new(stream))
    }

    #[cfg(not(feature = "tls"))]
    async fn encrypt(&self, stream: TcpStream, _: &str) -> Result<Box<dyn Stream>, Error> {
        Ok(Box::new(stream))
    }

    /// Why there is no connection.
    pub(super) fn refusal(&self, error: &Error) -> Refusal {
        let said = match error {
            Error::Broken { what, cause: Some(cause) } => format!("{what}: {cause}"),
            other => other.to_string(),
        };
        let Access { login, tls, .. } = &self.access;
        match (error.code(), login, tls) {
            (Some(code), Some(login), _) if code == SqlState::INVALID_PASSWORD.code() => {
                Refusal::Login { user: login.user.clone(), place: login.source.clone(), said }
            }
            // There is none to answer with.
            (None, None, _) if said.ends_with(PASSWORD_MISSING) => Refusal::NoLogin,
            // pg_hba.conf has no line for a connection like this one.
            (Some(code), _, None)
                if code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION.code()
                    && NOT_ENCRYPTED.iter().any(|words| said.contains(words)) =>
            {
                Refusal::Unencrypted { said }
            }
            (None, _, Some(tls)) => of_tls(error, tls).unwrap_or(Refusal::Other(said)),
            _ => Refusal::Other(said),
        }
    }
}

#[cfg(test)]
impl Way {
    /// The way that this says, unencrypted.
    pub fn plain(config: Config) -> Self {
        Self {
            config,
            access: Access::default(),
            #[cfg(feature = "tls")]
            encrypted: None,
        }
    }
}

#[cfg(not(feature = "tls"))]
fn of_tls(_: &Error, _: &experiment::Tls) -> Option<Refusal> {
    None
}

/// What rustls said, or that the server has nothing to do with TLS.
#[cfg(feature = "tls")]
fn of_tls(error: &Error, tls: &experiment::Tls) -> Option<Refusal> {
    let Error::Broken { cause: Some(cause), .. } = error else { return None };
    let Some(io) = cause.downcast_ref::<std::io::Error>() else {
        return (cause.to_string() == NO_TLS).then_some(Refusal::Plain);
    };
    let said: &rustls::Error = io.get_ref()?.downcast_ref()?;
    let shown = tls.identity.as_ref().map(|identity| identity.certificate.file.clone());
    Some(crate::session::of_rustls(said, tls, shown))
}

#[cfg(test)]
mod tests {
    use experiment::{Login, PasswordSource};

    use super::*;

    fn at(access: Access) -> TableAt {
        TableAt { access, ..TableAt::ycsb("[::1]:5433".to_owned(), 1) }
    }

    #[test]
    fn a_server_of_ones_own_is_asked_without_a_password_and_another_one_in_its_schema() {
        let own = Way::to(&at(Access::default()), &[]).unwrap();
        assert_eq!((own.config.get_user(), own.config.get_password()), (Some(CLIENT), None));
        assert_eq!((own.config.get_ports(), own.config.get_options()), (&[5433_u16][..], None));
        assert_eq!(own.config.get_hosts(), [tokio_postgres::config::Host::Tcp("::1".to_owned())]);
        let login = Login {
            user: "bench".to_owned(),
            password: "hunter2".to_owned(),
            source: PasswordSource::Environment("PGPASSWORD".to_owned()),
        };
        let access = Access { login: Some(login), schema: Some("lab".to_owned()), ..Access::default() };
        let theirs = Way::to(&at(access), &["-c synchronous_commit=off"]).unwrap();
        assert_eq!((theirs.config.get_user(), theirs.config.get_password()), (Some("bench"), Some(&b"hunter2"[..])));
        assert_eq!(theirs.config.get_options(), Some("-c search_path=lab -c synchronous_commit=off"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let refused = |points: Vec<String>| {
            let at = TableAt { contact_points: points, ..at(Access::default()) };
            Way::to(&at, &[]).err().map(|refusal| refusal.to_string())
        };
        assert_eq!(refused(vec!["db.example".to_owned()]).as_deref(), Some("db.example is no host:port"));
        assert_eq!(
            refused(vec!["/run/postgresql:5432".to_owned()]).as_deref(),
            Some("/run/postgresql:5432 is no host:port")
        );
        assert_eq!(refused(Vec::new()).as_deref(), Some("there is no address to connect to"));
    }
}
