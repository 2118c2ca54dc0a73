//! Does the name of this machine resolve? Cassandra looks up the address of its own host when it starts, and gives up
//! where there is none ("Unable to resolve hostname"), whatever addresses it is to listen on. Fresh virtual
//! machines and containers are often without.

use std::{io, net::ToSocketAddrs};

/// The name of this machine does not resolve.
#[derive(Debug, thiserror::Error)]
#[error(
    "the host name of this machine, `{name}`, does not resolve ({source}), and Cassandra does not start without; add \
     to /etc/hosts: 127.0.1.1 {name}"
)]
pub struct UnresolvedHostName {
    /// The name.
    pub name: String,
    /// What the resolver said.
    pub source: io::Error,
}

/// Asks the resolver, as Java does. Errors: the name with what the resolver said.
pub fn check_host_name() -> Result<String, UnresolvedHostName> {
    resolve(&rustix::system::uname().nodename().to_string_lossy())
}

fn resolve(name: &str) -> Result<String, UnresolvedHostName> {
    match (name, 0).to_socket_addrs() {
        Ok(_) => Ok(name.to_owned()),
        Err(source) => Err(UnresolvedHostName { name: name.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_resolve_is_reported_with_the_line_that_cures_it() {
        assert_eq!(resolve("localhost").unwrap(), "localhost");
        // Longer than any name may be (RFC 1035: 255 octets), so that no name server is asked.
        let name = "x".repeat(300);
        let message = resolve(&name).unwrap_err().to_string();
        assert!(message.contains(&format!("127.0.1.1 {name}")), "{message}");
    }
}
