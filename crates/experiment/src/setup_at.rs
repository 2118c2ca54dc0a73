//! Where the nodes of a configuration are, with what there is there and nowhere else.

use serde::{Deserialize, Serialize};

use crate::WatchedNode;

/// Where a configuration's nodes are: what its place ([`crate::Place`]) makes of each configuration by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetupAt {
    /// On the run's hosts, from the first on, where configurations take turns: machines that are held to it, that are
    /// as they are, or that are simulated.
    Shared,
    /// On machines that are what it states, made for it alone: nothing is emulated, held or divided.
    Bought {
        /// Number of its first node's host among the database hosts of the run, from 0.
        first_host: u32,
        /// The same of its first cache among the cache hosts of the run, where it has caches.
        first_cache: u32,
        /// Number of the batch of machines that it is measured in, from 0: those of another batch stand there at
        /// another time, or elsewhere, with clients of their own.
        batch: u32,
    },
    /// In a cluster that exists, of which it is the name and the price: nothing of it is made.
    Existing {
        /// The cluster's contact points.
        contact_points: Vec<String>,
        /// Its nodes, all of them where they are watched.
        watched: Vec<WatchedNode>,
    },
    /// Where other tools measured it, of which nothing is known.
    Imported {
        /// A batch of its own, from 0: nobody mixed its trials with those of another configuration.
        batch: u32,
    },
}

impl SetupAt {
    /// Whether the run starts its nodes.
    pub fn is_started(&self) -> bool {
        matches!(self, Self::Shared | Self::Bought { .. })
    }

    /// Whether its machines are what it states, made for it.
    pub fn is_bought(&self) -> bool {
        matches!(self, Self::Bought { .. })
    }

    /// Number of the first host that it has, from 0: it is not 0 for all where configurations have machines of their
    /// own.
    pub fn first_host(&self) -> u32 {
        match self {
            Self::Bought { first_host, .. } => *first_host,
            Self::Shared | Self::Existing { .. } | Self::Imported { .. } => 0,
        }
    }

    /// Number of the first host that its caches have, from 0, where these have machines of their own.
    pub fn first_cache(&self) -> u32 {
        match self {
            Self::Bought { first_cache, .. } => *first_cache,
            Self::Shared | Self::Existing { .. } | Self::Imported { .. } => 0,
        }
    }

    /// Number of the batch that it is measured in: all of a run are in one where nothing parts them.
    pub fn batch(&self) -> u32 {
        match self {
            Self::Bought { batch, .. } | Self::Imported { batch } => *batch,
            Self::Shared | Self::Existing { .. } => 0,
        }
    }

    /// Contact points of a cluster that exists.
    pub fn contact_points(&self) -> Option<&[String]> {
        match self {
            Self::Existing { contact_points, .. } => Some(contact_points),
            Self::Shared | Self::Bought { .. } | Self::Imported { .. } => None,
        }
    }

    /// Its nodes that are watched.
    pub fn watched(&self) -> &[WatchedNode] {
        match self {
            Self::Existing { watched, .. } => watched,
            Self::Shared | Self::Bought { .. } | Self::Imported { .. } => &[],
        }
    }
}
