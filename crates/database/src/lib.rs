//! Databases under test: where their software comes from, how a node is started, settled, watched and stopped, and the
//! client that sends the engine's requests.
//!
//! | module | idea |
//! |---|---|
//! | `plan` | what a node is to be: addresses, directories, memory, place |
//! | `server` | the seam: install, start, settle, load, watch, stop |
//! | `client` | the seam on the client's side |
//! | `products` | which product is which code: its server, its client |
//! | [`loader`] | what a database that loads a data set takes of its host |
//! | [`cassandra`] | Apache Cassandra behind that seam; one module per database |
//! | [`postgresql`] | PostgreSQL behind it |
//! | [`memcached`] | caches in front of a database: how a client uses them, what they report |
//! | `cluster` | 1 to 3 local nodes to play with (`iopslab db`), of any database |
//! | `maven` | software as jars: lock lists, download, SHA-256, cache |
//! | `session` | the one way into it: who asks, encrypted or not, and why nobody is let in |
//! | [`null_server`] | answers at once, without a database: what the client itself costs |
//! | `cql` | the client that speaks CQL; `statements`: what it prepares and binds |
//! | `own` | statements of the user's own: prepared, made and sent |
//! | `frames` | the requests of a workload in frames of its own, beside the driver's |
//! | `table_at` | where a table is, and who asks: what a client is made of |

mod account;
pub mod cassandra;
mod client;
mod cluster;
mod cql;
mod ended;
mod existing;
mod frames;
pub mod loader;
mod log_tail;
mod maven;
pub mod memcached;
pub mod null_server;
mod own;
mod plan;
pub mod postgresql;
mod products;
mod server;
mod session;
mod statements;
mod table_at;

pub use account::{Account, AccountError};
pub use cassandra::TableSnapshot;
pub use client::Client;
pub use cluster::{Cluster, ClusterError, ClusterSpec, NodeStatus};
pub use cql::{CqlConnect, CqlDriver, Notes, driver_only};
pub use existing::{Existing, ExistingError, Found};
pub use own::{OwnRequest, OwnWork, ReadRecording};
pub use plan::{Directories, MemoryPlan, NodeLocation, NodePlan, Ports, Replication};
pub use products::{ClientWork, NoHands, make_lock_list, server, with_client};
pub use server::{
    Cancelled, DATABASE_LOG, DataSetTable, Installed, MetricsReader, NodeLog, OnProgress, Remember, Renewal,
    RunningNode, Server, ServerError, Temporary, Work,
};
pub use session::{HAS_TLS, Refusal};
pub use table_at::TableAt;
