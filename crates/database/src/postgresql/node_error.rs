//! What can go wrong with a node.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::admin::AdminError;
use crate::account::AccountError;

/// What went wrong with a node.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NodeError {
    /// A file or directory of the node.
    #[error("node files: {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// It cannot run as the user of its own.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The process could not be started.
    #[error("cannot start {program}: {source}")]
    Spawn { program: String, source: io::Error },
    /// An empty data directory could not be made.
    #[error("initdb has made no data directory in {}: {said}", directory.display())]
    Initdb { directory: PathBuf, said: String },
    /// Nobody can listen there.
    #[error(
        "cannot listen on {address}:{port}: {source}; see who holds it with: ss -ltnp 'sport = :{port}'. If a killed \
         run has left it: iopslab clean"
    )]
    Port { address: Ipv4Addr, port: u16, source: io::Error },
    /// Its socket would have too long a name.
    #[error(
        "{} is too long for a socket of the operating system ({most} bytes): use a work directory with a shorter path",
        path.display()
    )]
    SocketPath { path: PathBuf, most: usize },
    /// A data directory that is none, or not one of a server that was stopped in order.
    #[error("{} is no data directory of PostgreSQL that iopslab can start: {reason}", path.display())]
    DataDirectory { path: PathBuf, reason: String },
    /// What is asked for is not one of its abilities.
    #[error("PostgreSQL cannot {what}")]
    Cannot { what: &'static str },
    /// The process ended when it should not have.
    #[error(
        "PostgreSQL at {address} ended ({status}); the last lines of {}:\n{}",
        log.display(),
        tail.join("\n")
    )]
    Died { address: SocketAddr, status: String, log: PathBuf, tail: Vec<String> },
    /// It runs, but not as it was asked to.
    #[error("postgresql {setting} is not in force in PostgreSQL at {address}: {why}")]
    NotInForce { address: SocketAddr, setting: String, why: String },
    /// It runs, and does not answer as it should.
    #[error(transparent)]
    Asked(#[from] AdminError),
    /// It runs, but does not answer.
    #[error(
        "PostgreSQL at {address} does not answer after {waited_s:.0} s ({reason}); the last lines of {}:\n{}",
        log.display(),
        tail.join("\n")
    )]
    NotReady { address: SocketAddr, waited_s: f64, reason: String, log: PathBuf, tail: Vec<String> },
    /// It has work in the background that does not end.
    #[error("PostgreSQL at {address} has not settled after {waited_s:.0} s: {reason}")]
    NotSettled { address: SocketAddr, waited_s: f64, reason: String },
    /// Still there after SIGKILL: stuck in the kernel.
    #[error("process {pid} does not end even after SIGKILL (is it waiting for a device? see /proc/{pid}/stack)")]
    Unkillable { pid: u32 },
    /// `cancelled` said so.
    #[error("cancelled while waiting for PostgreSQL at {address}")]
    Cancelled { address: SocketAddr },
}

impl NodeError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}
