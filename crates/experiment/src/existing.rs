//! A cluster that exists already.

use serde::{Deserialize, Serialize};

use crate::SshFiles;

/// A database that exists; iopslab owns nothing there but a keyspace, or of PostgreSQL a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingCluster {
    /// Contact points as `host:port`, where a configuration does not state its own.
    pub hosts: Vec<String>,
    /// Where the data set goes: a keyspace, or of PostgreSQL a schema.
    pub keyspace: String,
    /// Of PostgreSQL: the database that has that schema.
    pub dbname: Option<String>,
    /// Data centre whose nodes are asked; `None`: any.
    pub data_centre: Option<String>,
    /// User; its password is in no file of a run.
    pub user: Option<String>,
    /// File with the password; `None`: the environment has it.
    pub password_file: Option<String>,
    /// The variable of the environment that has it; `None`: `IOPSLAB_PASSWORD`.
    pub password_env: Option<String>,
    /// How connections are encrypted; `None`: they are not.
    pub tls: Option<TlsFiles>,
    /// Machines that send the load, as `ssh` takes them; none: this one.
    pub clients: Vec<String>,
    /// How machines of clients and of watched nodes are reached.
    pub ssh: SshFiles,
}

impl ExistingCluster {
    /// The files that it names.
    pub(crate) fn files_mut(&mut self) -> Vec<&mut String> {
        let mut files: Vec<_> = self.password_file.iter_mut().chain(self.ssh.files_mut()).collect();
        if let Some(tls) = &mut self.tls {
            files.extend(&mut tls.ca_file);
            if let Some(IdentityFiles { certificate, key }) = &mut tls.identity {
                files.extend([certificate, key]);
            }
        }
        files
    }

    /// Those of them that nobody else should be able to read.
    pub fn secret_files(&self) -> impl Iterator<Item = &String> {
        let identity = self.tls.as_ref().and_then(|tls| tls.identity.as_ref());
        self.password_file.iter().chain(identity.map(|identity| &identity.key))
    }
}

/// What was found and done before a trial in a table of a database that exists, where its product leaves something
/// behind in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableBefore {
    /// Versions of rows that nobody sees any more, as the database reckons, before they were vacuumed.
    pub dead_rows: u64,
    /// Bytes of the table, its indexes included, after that.
    pub bytes: u64,
    /// Why no checkpoint was made, in the server's words; `None`: one was made.
    pub no_checkpoint: Option<String>,
    /// Series that a server of its release does not count.
    pub not_counted: Vec<String>,
}

/// Where the certificates of encrypted connections are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsFiles {
    /// Authorities that may have signed a server's certificate; `None`: those of the client's operating system.
    pub ca_file: Option<String>,
    /// What the client shows of itself.
    pub identity: Option<IdentityFiles>,
    /// Whether a server's certificate must name the address, or the host name, that was connected to.
    pub verify_host_name: bool,
}

/// A client's certificate with its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityFiles {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}
