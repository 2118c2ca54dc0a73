//! How to get into the management interface of a node: JMX, by which whoever may call it runs code in the server.
//!
//! It listens on 127.0.0.1 alone (`cassandra.jmx.local.port`), also where the node has another address, and every user
//! of the machine reaches that. So it asks for a password, which is made for each start and lies in a file that the
//! server and root alone can read.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::node_config::NodeConfig;
use super::node_error::NodeError;

/// The only user of the interface.
pub(crate) const USER: &str = "iopslab";
/// What a password is made of: as many bits as nobody guesses.
const PASSWORD_BYTES: usize = 24;

/// Where the management interface of a node is, and the way in.
#[derive(Clone, PartialEq, Eq)]
pub struct Management {
    /// On 127.0.0.1.
    pub port: u16,
    /// `None`: none is known.
    password: Option<String>,
}

impl std::fmt::Debug for Management {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Management").field("port", &self.port).finish_non_exhaustive()
    }
}

impl Management {
    /// Makes a password and the files in which a node about to start finds it, and what its user may do.
    pub(super) fn prepare(config: &NodeConfig) -> Result<Self, NodeError> {
        let password =
            guarded::random_word(PASSWORD_BYTES).map_err(|source| NodeError::io(&password_file(config), source))?;
        write_own(config, &password_file(config), &format!("{USER} {password}\n"))?;
        write_own(config, &access_file(config), &format!("{USER} readwrite\n"))?;
        Ok(Self { port: config.plan.ports.management, password: Some(password) })
    }

    /// Of a JVM of which no password is known.
    pub fn without_password(port: u16) -> Self {
        Self { port, password: None }
    }

    /// As somebody has it who knows, or guesses, the password.
    #[doc(hidden)] // Public for stories alone: iopslab knows the password that it has made.
    pub fn with_password(port: u16, password: &str) -> Self {
        Self { port, password: Some(password.to_owned()) }
    }

    /// User and password.
    pub(super) fn credentials(&self) -> Option<[&str; 2]> {
        Some([USER, self.password.as_deref()?])
    }
}

/// Where the server finds user and password; `nodetool` reads the same form.
pub(crate) fn password_file(config: &NodeConfig) -> PathBuf {
    config.plan.directories.own.join("conf/jmx.password")
}

/// Where it finds what the user may do.
pub(crate) fn access_file(config: &NodeConfig) -> PathBuf {
    config.plan.directories.own.join("conf/jmx.access")
}

/// A new file that the server's user alone can read.
fn write_own(config: &NodeConfig, path: &Path, text: &str) -> Result<(), NodeError> {
    let failed = |source| NodeError::io(path, source);
    let new = guarded::write_anew(path, 0o600);
    new.and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)?;
    config.account.as_ref().map_or(Ok(()), |account| Ok(account.own(path)?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::Ipv4Addr;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn each_start_has_a_password_of_its_own_which_nobody_else_can_read_and_no_message_shows() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("conf")).unwrap();
        let config = NodeConfig::new("c", Ipv4Addr::LOCALHOST, directory.path());
        let (first, second) = (Management::prepare(&config).unwrap(), Management::prepare(&config).unwrap());
        assert!(first != second);
        for file in [password_file(&config), access_file(&config)] {
            assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600, "{}", file.display());
        }
        let kept = fs::read_to_string(password_file(&config)).unwrap();
        let [user, password] = second.credentials().unwrap();
        assert_eq!(kept, format!("{user} {password}\n"));
        assert!(!format!("{second:?}").contains(password));
    }
}
