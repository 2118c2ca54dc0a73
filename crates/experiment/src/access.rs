//! Who asks a database, and how.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who asks, how, and which nodes. It is only ever on the way to an agent: in no file and no log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The user, where the cluster wants one.
    pub login: Option<Login>,
    /// How connections are encrypted; `None`: they are not.
    pub tls: Option<Tls>,
    /// Data centre whose nodes are asked; `None`: any.
    pub data_centre: Option<String>,
    /// Of PostgreSQL: the schema that has the table, where the database is somebody else's; `None`: the usual one.
    pub schema: Option<String>,
}

/// A user with its password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// The user.
    pub user: String,
    /// Its password, which is never shown.
    pub password: String,
    /// Where the password was found.
    pub source: PasswordSource,
}

/// Where a password was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PasswordSource {
    /// In this environment variable.
    Environment(String),
    /// In this file.
    File(String),
}

impl fmt::Display for PasswordSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(place) | Self::File(place) => formatter.write_str(place),
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Login")
            .field("user", &self.user)
            .field("password", &"...")
            .field("source", &self.source)
            .finish()
    }
}

/// How connections are encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// Who may have signed a server's certificate; `None`: whom the client's operating system trusts.
    pub authorities: Option<Pem>,
    /// What the client shows of itself, where the cluster asks for it.
    pub identity: Option<Identity>,
    /// Whether a server's certificate must name the address, or the host name, that was connected to.
    pub verify_host_name: bool,
}

/// Certificates, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pem {
    /// Where it was read.
    pub file: String,
    /// What was in it.
    pub text: String,
}

/// A client's certificate with its key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The certificate, and those between it and an authority.
    pub certificate: Pem,
    /// The private key, which is never shown.
    pub key: Pem,
}

impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Identity").field("certificate", &self.certificate).field("key", &self.key.file).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_it_has_no_secret() {
        let pem = |file: &str, text: &str| Pem { file: file.to_owned(), text: text.to_owned() };
        let access = Access {
            login: Some(Login {
                user: "lab".to_owned(),
                password: "hunter2".to_owned(),
                source: PasswordSource::Environment("IOPSLAB_PASSWORD".to_owned()),
            }),
            tls: Some(Tls {
                authorities: None,
                identity: Some(Identity { certificate: pem("me.pem", "public"), key: pem("me.key", "hunter3") }),
                verify_host_name: true,
            }),
            data_centre: None,
            schema: None,
        };
        let shown = format!("{access:?} {access:#?}");
        assert!(shown.contains("lab") && shown.contains("me.key"), "{shown}");
        assert!(!shown.contains("hunter"), "{shown}");
    }
}
