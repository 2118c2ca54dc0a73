//! A cluster that exists already.

use serde::{Deserialize, Serialize};

use crate::SshFiles;

/// A CQL cluster that exists; iopslab owns nothing there but a keyspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingCluster {
    /// Contact points as `host:port`, where a configuration does not state its own.
    pub hosts: Vec<String>,
    /// Where the data set goes.
    pub keyspace: String,
    /// Data centre whose nodes are asked; `None`: any.
    pub data_centre: Option<String>,
    /// User; its password is in no file of a run.
    pub user: Option<String>,
    /// File with the password; `None`: the environment has it.
    pub password_file: Option<String>,
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
