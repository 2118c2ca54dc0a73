//! Why nobody is let in, and what to do about it.
//!
//! The driver hands on what the server or rustls said, in several layers; here it becomes one of the few reasons that a
//! user can do something about.

use experiment::{Access, PasswordSource};
use scylla::errors::{
    BrokenConnectionErrorKind, ConnectionError, ConnectionPoolError, ConnectionSetupRequestErrorKind, DbError,
    MetadataError, NewSessionError,
};

/// Why a connection did not come about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Refusal {
    #[error("it asks for a user and a password")]
    NoLogin,
    #[error("it refuses user {user} with the password from {place}: {said}")]
    Login { user: String, place: PasswordSource, said: String },
    /// The server hung up on a connection that was not encrypted.
    #[error("it closes the connection without an answer, as a server does that takes TLS alone ({said})")]
    Closed { said: String },
    #[error("it takes encrypted connections alone ({said})")]
    Unencrypted { said: String },
    #[error("its answer is not TLS: this port takes connections without encryption")]
    Plain,
    #[error("its certificate is not signed by an authority in {trusted}")]
    Authority { trusted: String },
    /// The certificate is out of date, or not valid yet.
    #[error("its certificate {when}")]
    Date {
        /// Since when, or from when.
        when: String,
    },
    #[error("its certificate is for {presented}, not for {expected}")]
    Name { presented: String, expected: String },
    /// The server did not take the client's certificate, or the lack of one.
    #[error("it breaks off TLS ({alert}): {}", match .shown {
        Some(file) => format!("it may not trust the client certificate in {file}"),
        None => "it may ask for a client certificate".to_owned(),
    })]
    ClientCertificate { alert: String, shown: Option<String> },
    /// A file that TLS needs has something else in it.
    #[error("{file}: {reason}")]
    File { file: String, reason: String },
    /// TLS failed in another way.
    #[error("TLS: {0}")]
    Tls(String),
    #[error("this iopslab was built without TLS")]
    WithoutTls,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl Refusal {
    /// What to do now, where that is known.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::NoLogin => {
                "name the user: `user` in [target], or --user; its password comes from IOPSLAB_PASSWORD or from \
                 password_file (--password-file)"
            }
            Self::Login { user, .. } => {
                return Some(format!(
                    "check both with: cqlsh -u {user} (of PostgreSQL: psql -U {user}); the password is asked for \
                     there, and taken from its place here"
                ));
            }
            Self::Closed { .. } => "state tls in [target] (docs/existing-clusters.md), or --tls; else look at its log",
            Self::Unencrypted { .. } => "state tls in [target] (docs/existing-clusters.md)",
            Self::Plain => {
                "leave out tls, or name the port that takes TLS (native_transport_port_ssl); PostgreSQL takes it on \
                 its own port with ssl = on"
            }
            Self::Authority { .. } => {
                "name the authority that signed the cluster's certificates: tls = { ca_file = \"...\" }, \
                 or --tls-ca FILE"
            }
            Self::Date { .. } => "give the node a certificate that is valid today, or set the client's clock",
            Self::Name { .. } => {
                "connect by a name or an address that is in it, or, where all nodes share one certificate, state \
                 verify_host_name = false (--tls-any-name)"
            }
            Self::ClientCertificate { .. } => {
                "name a certificate that it trusts: tls = { client_cert = \"...\", client_key = \"...\" }, or \
                 --tls-cert and --tls-key"
            }
            Self::WithoutTls => "build it with: cargo build --release --features tls",
            Self::File { .. } | Self::Tls(_) | Self::Other(_) => return None,
        };
        Some(help.to_owned())
    }

    /// What the driver's error means to who asked like this.
    pub(super) fn of(error: &NewSessionError, access: &Access) -> Self {
        let NewSessionError::MetadataError(MetadataError::ConnectionPoolError(ConnectionPoolError::Broken {
            last_connection_error: cause,
        })) = error
        else {
            return Self::Other(error.to_string());
        };
        match cause {
            ConnectionError::ConnectionSetupRequestError(setup) => match (setup.get_error(), &access.login) {
                (ConnectionSetupRequestErrorKind::MissingAuthentication, _) => return Self::NoLogin,
                (ConnectionSetupRequestErrorKind::DbError(DbError::AuthenticationError, said), Some(login)) => {
                    return Self::Login { user: login.user.clone(), place: login.source.clone(), said: said.clone() };
                }
                _ => {}
            },
            // Nobody listens, or nobody is there: what the operating system says is enough.
            ConnectionError::IoError(io) if access.tls.is_none() || io.get_ref().is_none() => {
                return Self::Other(cause.to_string());
            }
            _ => {}
        }
        match &access.tls {
            None if broken(cause).is_some() => Self::Closed { said: cause.to_string() },
            Some(tls) => of_tls(cause, tls).unwrap_or_else(|| Self::Other(cause.to_string())),
            None => Self::Other(cause.to_string()),
        }
    }
}

/// What broke a connection before it was used.
fn broken(cause: &ConnectionError) -> Option<&BrokenConnectionErrorKind> {
    match cause {
        ConnectionError::BrokenConnection(broken) => broken.downcast_ref(),
        ConnectionError::ConnectionSetupRequestError(setup) => match setup.get_error() {
            ConnectionSetupRequestErrorKind::BrokenConnection(broken) => broken.downcast_ref(),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(not(feature = "tls"))]
fn of_tls(_cause: &ConnectionError, _tls: &experiment::Tls) -> Option<Refusal> {
    None
}

/// What rustls said, in the handshake or right after it: in TLS 1.3 a server judges the client's certificate when the
/// client already takes the connection for open.
#[cfg(feature = "tls")]
fn of_tls(cause: &ConnectionError, tls: &experiment::Tls) -> Option<Refusal> {
    use scylla::frame::frame_errors::FrameHeaderParseError;

    let io: &std::io::Error = match cause {
        ConnectionError::IoError(io) => io,
        other => match broken(other)? {
            BrokenConnectionErrorKind::FrameHeaderParseError(
                FrameHeaderParseError::HeaderIoError(io) | FrameHeaderParseError::BodyChunkIoError(_, io),
            )
            | BrokenConnectionErrorKind::WriteError(io) => io,
            _ => return None,
        },
    };
    let shown = tls.identity.as_ref().map(|identity| identity.certificate.file.clone());
    match io.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(said) => Some(of_rustls(said, tls, shown)),
        // A connection that a server cuts right after the handshake, without an alert.
        None if matches!(cause, ConnectionError::IoError(_)) => None,
        None => Some(Refusal::ClientCertificate { alert: io.to_string(), shown }),
    }
}

/// What rustls said; `shown`: the file of the certificate that the client showed.
#[cfg(feature = "tls")]
pub(crate) fn of_rustls(said: &rustls::Error, tls: &experiment::Tls, shown: Option<String>) -> Refusal {
    use rustls::{CertificateError, Error};

    match said {
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            let own = || "the list of the operating system".to_owned();
            Refusal::Authority { trusted: tls.authorities.as_ref().map_or_else(own, |pem| pem.file.clone()) }
        }
        Error::InvalidCertificate(CertificateError::ExpiredContext { time, not_after }) => Refusal::Date {
            when: format!("expired {}", days(time.as_secs().saturating_sub(not_after.as_secs()), "ago")),
        },
        Error::InvalidCertificate(CertificateError::NotValidYetContext { time, not_before }) => {
            let until = not_before.as_secs().saturating_sub(time.as_secs());
            Refusal::Date { when: format!("is valid only {}", days(until, "from now")) }
        }
        Error::InvalidCertificate(CertificateError::NotValidForNameContext { expected, presented }) => {
            let presented: Vec<_> = presented.iter().map(|name| bare(name)).collect();
            Refusal::Name {
                presented: match presented.is_empty() {
                    true => "nobody (it has no subjectAltName)".to_owned(),
                    false => presented.join(", "),
                },
                expected: expected.to_str().into_owned(),
            }
        }
        Error::InvalidMessage(_) => Refusal::Plain,
        Error::AlertReceived(alert) => Refusal::ClientCertificate { alert: format!("{alert:?}"), shown },
        other => Refusal::Tls(other.to_string()),
    }
}

/// `DnsName("db1")` and `IpAddress(10.0.0.5)` without what wraps them.
#[cfg(feature = "tls")]
fn bare(name: &str) -> String {
    let inside = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(name).trim_matches('"').to_owned()
}

#[cfg(feature = "tls")]
fn days(seconds: u64, direction: &str) -> String {
    const DAY_S: u64 = 86_400;
    match seconds / DAY_S {
        0 => format!("less than a day {direction}"),
        1 => format!("1 day {direction}"),
        days => format!("{days} days {direction}"),
    }
}
