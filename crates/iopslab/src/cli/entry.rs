//! Where a cluster is, and how a command gets into one that asks who is there.

use std::net::{SocketAddr, ToSocketAddrs as _};

use clap::Args;
use controller::secrets;
use experiment::{Access, IdentityFiles, TlsFiles};
use process::failure::Failure;

/// User and TLS.
#[derive(Debug, Args)]
pub struct EntryArgs {
    /// User; its password is taken from IOPSLAB_PASSWORD, or from --password-file
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// File that holds the password, and nothing else
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<String>,
    /// Encrypt the connections; certificates are checked against the authorities of the operating system
    #[arg(long)]
    tls: bool,
    /// Encrypt, and check certificates against the authorities in this PEM file
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<String>,
    /// Encrypt, and show this certificate (PEM) to a cluster that asks for one
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<String>,
    /// Private key of --tls-cert (PEM, without a passphrase)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<String>,
    /// Encrypt, and take a certificate whatever host it names
    #[arg(long)]
    tls_any_name: bool,
}

impl EntryArgs {
    /// Who asks, and how; secrets are read here.
    pub(super) fn access(&self) -> Result<Access, Failure> {
        let source = secrets::password_source(self.password_file.as_deref(), None);
        let login = |user: &String| secrets::login(user, source, "--password-file FILE");
        Ok(Access {
            login: self.user.as_ref().map(login).transpose()?,
            tls: self.files().as_ref().map(secrets::tls).transpose()?,
            data_centre: None,
            schema: None,
        })
    }

    /// Whether it is stated who asks.
    pub(super) fn names_a_user(&self) -> bool {
        self.user.is_some()
    }

    /// What others could read.
    pub(super) fn notes(&self) -> Vec<String> {
        secrets::notes(self.password_file.iter().chain(&self.tls_key))
    }

    /// `None`: without TLS.
    fn files(&self) -> Option<TlsFiles> {
        let identity = self.tls_cert.clone().zip(self.tls_key.clone());
        let is_wanted = self.tls || self.tls_any_name || self.tls_ca.is_some() || identity.is_some();
        is_wanted.then(|| TlsFiles {
            ca_file: self.tls_ca.clone(),
            identity: identity.map(|(certificate, key)| IdentityFiles { certificate, key }),
            verify_host_name: !self.tls_any_name,
        })
    }
}

pub(super) const CQL_PORT: u16 = 9_042;
/// The port of PostgreSQL.
pub(super) const SQL_PORT: u16 = 5_432;

/// A contact point with the port that is usual where it has none.
pub(super) fn with_port(host: &str, usual: u16) -> String {
    let has_port = host.rsplit_once(':').is_some_and(|(name, port)| !name.contains(':') && port.parse::<u16>().is_ok());
    if has_port || host.contains("]:") { host.to_owned() } else { format!("{host}:{usual}") }
}

/// The first address of the first of these that has one.
pub(super) fn resolve(contact_points: &[String]) -> Result<SocketAddr, Failure> {
    let address = contact_points.iter().find_map(|point| point.to_socket_addrs().ok()?.next());
    address.ok_or_else(|| Failure::input(format!("no address is known for {}", contact_points.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_gets_the_default_port_only_where_it_has_none() {
        let cql = |host: &str| with_port(host, CQL_PORT);
        assert_eq!(cql("db1"), "db1:9042");
        assert_eq!(cql("10.0.0.5:9142"), "10.0.0.5:9142");
        assert_eq!(cql("[::1]:9142"), "[::1]:9142");
        assert_eq!(cql("[::1]"), "[::1]:9042");
        assert_eq!(with_port("db1", SQL_PORT), "db1:5432");
    }
}
