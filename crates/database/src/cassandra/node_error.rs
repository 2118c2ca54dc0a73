//! What can go wrong with a node.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use super::host_name::UnresolvedHostName;
use crate::account::AccountError;

/// A setting that was asked for, and how it was seen that it is not in force.
pub(crate) type NotInForce = (String, String);

/// What went wrong with a node.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum NodeError {
    /// A file or directory of the node.
    #[error("node files: {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// It cannot run as the user of its own.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The process could not be started.
    #[error("cannot start {program}: {source}")]
    Spawn { program: String, source: io::Error },
    #[error(
        "port {port} on {address} ({purpose}) is in use; see who holds it with: ss -ltnp 'sport = :{port}'. If it is a \
         database that you have started, run: iopslab db stop; if a killed run has left it: iopslab clean"
    )]
    PortInUse { address: Ipv4Addr, port: u16, purpose: &'static str },
    #[error("cannot listen on {address}:{port} ({purpose}): {source}")]
    Address { address: Ipv4Addr, port: u16, purpose: &'static str, source: io::Error },
    #[error(
        "Cassandra at {address} ended ({status}){}; the last lines of {}:\n{}",
        also(host_name),
        log.display(),
        tail.join("\n")
    )]
    Died {
        address: SocketAddr,
        status: String,
        host_name: Option<Box<UnresolvedHostName>>,
        log: PathBuf,
        tail: Vec<String>,
    },
    #[error("{setting} is not in force in Cassandra at {address}: {why}")]
    NotInForce { address: SocketAddr, setting: String, why: String },
    /// It runs, and cannot be asked what is in force.
    #[error("{0}")]
    Asked(#[from] super::admin::AdminError),
    #[error(
        "Cassandra at {address} does not answer CQL after {waited_s:.0} s ({reason}){}; the last lines of {}:\n{}",
        also(host_name), log.display(), tail.join("\n")
    )]
    NotReady {
        address: SocketAddr,
        waited_s: f64,
        reason: String,
        host_name: Option<Box<UnresolvedHostName>>,
        log: PathBuf,
        tail: Vec<String>,
    },
    #[error("process {pid} does not end even after SIGKILL (is it waiting for a device? see /proc/{pid}/stack)")]
    Unkillable { pid: u32 },
    #[error("cancelled while waiting for Cassandra at {address}")]
    Cancelled { address: SocketAddr },
}

impl NodeError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

fn also(problem: &Option<Box<UnresolvedHostName>>) -> String {
    problem.as_ref().map_or_else(String::new, |problem| format!("; {problem}"))
}
