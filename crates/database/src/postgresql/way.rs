//! The way into a server over the network: who asks, whether it is encrypted, and why nobody is let in.

use std::error::Error as _;

use experiment::Access;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls};

use super::conf::CLIENT;
use super::described::said;
#[cfg(feature = "tls")]
use super::encrypted::Encrypted;
use crate::session::Refusal;
use crate::table_at::TableAt;

/// What a server says of a connection that no line of `pg_hba.conf` lets in as it is; before PostgreSQL 14 the second.
const NOT_ENCRYPTED: [&str; 2] = ["no encryption", "SSL off"];
/// What tokio-postgres says where a server asks for a password and none is stated.
const PASSWORD_MISSING: &str = "password missing";

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

    /// A connection, which is driven by the runtime that this is called in. Errors: nobody answers, or nobody is let in
    /// ([`Self::refusal`] says why).
    pub async fn open(&self) -> Result<Client, Error> {
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

    /// Why there is no connection.
    pub fn refusal(&self, error: &Error) -> Refusal {
        let said = match (error.as_db_error(), error.source()) {
            (None, Some(cause)) => format!("{error}: {cause}"),
            _ => said(error),
        };
        let Access { login, tls, .. } = &self.access;
        match (error.code(), login, tls) {
            (Some(code), Some(login), _) if *code == SqlState::INVALID_PASSWORD => {
                Refusal::Login { user: login.user.clone(), place: login.source.clone(), said }
            }
            // The driver has none to answer with.
            (None, None, _) if said.ends_with(PASSWORD_MISSING) => Refusal::NoLogin,
            // pg_hba.conf has no line for a connection like this one.
            (Some(code), _, None)
                if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION
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
    let cause = error.source()?;
    let Some(io) = cause.downcast_ref::<std::io::Error>() else {
        return (cause.to_string() == "server does not support TLS").then_some(Refusal::Plain);
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
        assert_eq!(refused(Vec::new()).as_deref(), Some("there is no address to connect to"));
    }
}
