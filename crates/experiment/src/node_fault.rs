//! Faults that an experiment plans for the nodes of its trials, for their disks, and for the caches in front of them;
//! and what a node has to do beside its load.

use serde::{Deserialize, Serialize};

use crate::VolumeRole;
use crate::words::words;

/// What is done to a node, to one of its disks or to a cache in front of it, in every trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NodeFault {
    /// What.
    #[serde(flatten)]
    pub action: FaultAction,
    /// To which node of the database, counted from 1; caches are in front of the first.
    pub node: u32,
    /// When, seconds from the start of measurement.
    pub at_s: f64,
    /// How long until it is undone, seconds; `None`: the node, or the cache, stays away for the rest of the trial. A
    /// disk's fault always ends; a compaction ends when it is done.
    pub for_s: Option<f64>,
}

impl NodeFault {
    /// What is done, without its particulars.
    pub fn kind(&self) -> NodeFaultKind {
        self.action.kind()
    }

    /// When it is undone, seconds from the start of measurement.
    pub fn until_s(&self) -> Option<f64> {
        self.for_s.map(|for_s| self.at_s + for_s)
    }

    /// For people: `node-kill of node 2 at 20 s for 30 s`, `disk-slow (10 times) of node 1's data volume at 20 s
    /// for 10 s`.
    pub fn label(&self) -> String {
        let NodeFault { action, node, at_s, .. } = self;
        if self.kind() == NodeFaultKind::Compaction {
            return format!("compaction on node {node} at {at_s} s");
        }
        let until = self.for_s.map_or_else(|| "to the end".to_owned(), |for_s| format!("for {for_s} s"));
        let whose = match (action.cache(), action.volume()) {
            (Some(cache), _) => cache,
            (None, None) => format!("node {node}"),
            (None, Some(role)) => format!("node {node}'s {}", role.of_node().trim_start_matches("the ")),
        };
        format!("{} of {whose} at {at_s} s {until}", action.words())
    }
}

/// What a fault does, with its particulars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum FaultAction {
    /// See [`NodeFaultKind::NodeStop`].
    NodeStop,
    /// See [`NodeFaultKind::NodeKill`].
    NodeKill,
    /// See [`NodeFaultKind::NodePause`].
    NodePause,
    /// See [`NodeFaultKind::HostCut`].
    HostCut,
    /// See [`NodeFaultKind::DiskStall`].
    DiskStall { volume: VolumeRole },
    /// See [`NodeFaultKind::DiskSlow`].
    DiskSlow {
        volume: VolumeRole,
        /// Limits are divided, and service times multiplied, by this.
        times: f64,
    },
    /// See [`NodeFaultKind::DiskError`].
    DiskError {
        volume: VolumeRole,
        requests: FailingRequests,
        /// Which share of them, above 0, up to 1.
        share: f64,
        /// Which part of the volume's bytes, first and last as shares of its size; `None`: all of it.
        range: Option<(f64, f64)>,
    },
    /// See [`NodeFaultKind::DiskFull`].
    DiskFull { volume: VolumeRole },
    /// See [`NodeFaultKind::Compaction`].
    Compaction,
    /// See [`NodeFaultKind::CacheKill`].
    CacheKill {
        /// Which node of the cache tier, counted from 1.
        cache_node: u32,
    },
}

impl FaultAction {
    /// What is done, without its particulars.
    pub const fn kind(self) -> NodeFaultKind {
        match self {
            Self::NodeStop => NodeFaultKind::NodeStop,
            Self::NodeKill => NodeFaultKind::NodeKill,
            Self::NodePause => NodeFaultKind::NodePause,
            Self::HostCut => NodeFaultKind::HostCut,
            Self::DiskStall { .. } => NodeFaultKind::DiskStall,
            Self::DiskSlow { .. } => NodeFaultKind::DiskSlow,
            Self::DiskError { .. } => NodeFaultKind::DiskError,
            Self::DiskFull { .. } => NodeFaultKind::DiskFull,
            Self::Compaction => NodeFaultKind::Compaction,
            Self::CacheKill { .. } => NodeFaultKind::CacheKill,
        }
    }

    /// The volume whose fault it is; `None`: it is the node's own.
    pub const fn volume(self) -> Option<VolumeRole> {
        match self {
            Self::NodeStop
            | Self::NodeKill
            | Self::NodePause
            | Self::HostCut
            | Self::Compaction
            | Self::CacheKill { .. } => None,
            Self::DiskStall { volume }
            | Self::DiskSlow { volume, .. }
            | Self::DiskError { volume, .. }
            | Self::DiskFull { volume } => Some(volume),
        }
    }

    /// The cache that it takes away, for people: `cache node 2`; `None`: it is no cache's fault.
    pub fn cache(self) -> Option<String> {
        match self {
            Self::CacheKill { cache_node } => Some(format!("cache node {cache_node}")),
            _ => None,
        }
    }

    /// The kind with its particulars, for people: `disk-error (5 % of reads)`.
    fn words(self) -> String {
        let name = self.kind().name();
        match self {
            Self::DiskSlow { times, .. } => format!("{name} ({times} times)"),
            Self::DiskError { requests, share, range, .. } => {
                let what = match requests {
                    FailingRequests::All => "requests",
                    FailingRequests::Reads => "reads",
                    FailingRequests::Writes => "writes",
                };
                let part = match share {
                    1.0.. => format!("all {what}"),
                    share => format!("{} % of {what}", per_cent(share)),
                };
                let place = range.map_or_else(String::new, |(from, to)| {
                    format!(" from {} to {} % of its bytes", per_cent(from), per_cent(to))
                });
                format!("{name} ({part}{place})")
            }
            _ => name.to_owned(),
        }
    }
}

/// As somebody would write it: to a ten-thousandth.
fn per_cent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

words! {
    /// Which requests end with an error.
    pub enum FailingRequests {
        /// Reads and writes.
        All = "all",
        /// Reads.
        Reads = "reads",
        /// Writes.
        Writes = "writes",
    }
}

words! {
    /// Ways to take a node away, to spoil a disk of it, to keep it busy, or to take a cache in front of it away.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum NodeFaultKind {
        /// The database is drained and stopped in order, as for maintenance.
        NodeStop = "node-stop",
        /// The database's process is killed (SIGKILL), as by the kernel when memory runs out.
        NodeKill = "node-kill",
        /// The database's process is stopped where it is and goes on later (SIGSTOP, SIGCONT), as in a long pause.
        NodePause = "node-pause",
        /// The network drops what the node sends and receives, to and from clients and other nodes.
        HostCut = "host-cut",
        /// A served volume answers nothing; when that is over, all that was due is answered at once.
        DiskStall = "disk-stall",
        /// A served volume's limits are divided, and its service times multiplied.
        DiskSlow = "disk-slow",
        /// Requests to a served volume end with an I/O error (EIO).
        DiskError = "disk-error",
        /// Writes to a served volume end with "no space left on device" (ENOSPC).
        DiskFull = "disk-full",
        /// The node is there, and compacts all SSTables of each table of the data set into one beside its load.
        Compaction = "compaction",
        /// The process of a node of the cache tier is killed (SIGKILL): what it held is gone, and when it is started
        /// again it is empty. The database stays.
        CacheKill = "cache-kill",
    }
}

impl NodeFaultKind {
    /// Whether it takes a node of the database away: clients get no answer from it.
    pub const fn takes_node_away(self) -> bool {
        matches!(self, Self::NodeStop | Self::NodeKill | Self::NodePause | Self::HostCut)
    }

    /// Whether it is a disk's: the node stays.
    pub const fn is_of_disk(self) -> bool {
        matches!(self, Self::DiskStall | Self::DiskSlow | Self::DiskError | Self::DiskFull)
    }
}
