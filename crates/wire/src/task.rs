//! What a client has to do.

use experiment::{
    Access, CachePolicy, ConsistencyLevels, Dataset, Definition, KeyFormat, LoadLevel, Own, PlannedTrial, Product,
    TrialShape,
};
use serde::{Deserialize, Serialize};

/// A data set in a cluster that iopslab does not own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExistingDataset {
    /// Where.
    pub endpoint: Endpoint,
    /// What.
    pub dataset: Dataset,
    /// How keys are written.
    pub keys: KeyFormat,
    /// Nodes that keep each record, in a keyspace that is created.
    pub replication_factor: u32,
}

/// Rows of the user's own that a client loads: its part of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OwnRows {
    /// What they are rows of.
    pub own: Own,
    /// Number of this client among those that load, from 0.
    pub number: u32,
    /// How many these are.
    pub clients: u32,
}

/// One trial, as the client sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialTask {
    /// Which trial.
    pub trial: PlannedTrial,
    /// Where the database listens.
    pub endpoint: Endpoint,
    /// What is there.
    pub dataset: Dataset,
    /// Schema, data and statements of the user's own, instead of YCSB's.
    pub own: Option<Own>,
    /// What to do with it.
    pub workload: Definition,
    /// How hard.
    pub load: LoadLevel,
    /// For how long.
    pub shape: TrialShape,
    /// Seed of this trial's choosers.
    pub seed: u64,
    /// Number of this client among those that share the load, from 0; `load` and `shape` are its part already.
    pub number: u32,
    /// How many clients there are.
    pub clients: u32,
    /// Whether every acknowledged write is read back at the end.
    pub check_writes: bool,
    /// When to send the first request, by this host's clock, Unix milliseconds; `None`: as soon as it is connected.
    pub begin_unix_ms: Option<f64>,
    /// CPUs of this host's machine that databases of the trial were promised; 0: none is there.
    pub database_cpus: f64,
}

/// Where a database listens and how to talk to it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Endpoint {
    /// The product that listens there.
    #[serde(with = "experiment::product_name")]
    pub product: &'static Product,
    /// `host:port` contact points.
    pub contact_points: Vec<String>,
    /// Keyspace of the data set.
    pub keyspace: String,
    /// Table of the data set.
    pub table: String,
    /// Consistency level of each kind of request.
    pub consistency: ConsistencyLevels,
    /// Client-side timeout of one request, seconds.
    pub request_timeout_s: f64,
    /// Who asks.
    pub access: Access,
    /// Every request goes through the CQL driver, for comparison.
    pub driver_only: bool,
    /// The caches in front of it; `None`: there are none.
    pub cache: Option<CacheEndpoint>,
}

/// Where the caches in front of a database listen, and how they are used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheEndpoint {
    /// `host:port` of each node, in the order by which keys are spread over them.
    pub nodes: Vec<String>,
    /// Seconds after which an item is gone; `None`: none is by itself.
    pub ttl_s: Option<u32>,
    /// What writes do to it.
    pub policy: CachePolicy,
}
