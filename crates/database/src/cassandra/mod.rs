//! Apache Cassandra, owned by iopslab from download to shutdown.
//!
//! | module | idea |
//! |---|---|
//! | [`distribution`] | the jars: committed lock list, download, SHA-256, cache |
//! | [`lock_maker`] | a committed lock list: which jars a version needs, by their POMs (`pom`) |
//! | [`java`] | a JDK that a version of Cassandra runs on |
//! | [`node`], [`node_config`] | one server process: directories, settings, start, death, stop |
//! | [`start_archive`] | class-data archive that shortens the start by a quarter |
//! | [`admin`] | control-plane CQL: settled? schema, a sample of keys |
//! | [`snapshot`] | which files are the data set, and the key that names it |
//! | [`Counters`] | what it counts of itself and of one table, over JMX (`jmx`, `serialized`: without a second JVM) |
//! | [`compact_keyspace`] and its like | what it does with its tables when it is asked, over the same connection |
//! | [`NodeViews`] | what a node of somebody else's shows by CQL, read and never written |
//! | [`Cassandra`] | all of it behind the seam that every database has ([`crate::Server`]) |

pub mod admin;
mod counters;
pub mod distribution;
mod host_name;
mod in_force;
pub mod java;
mod jmx;
mod jvm;
mod library;
mod lock_list;
pub mod lock_maker;
pub mod log;
mod management;
pub mod node;
pub mod node_config;
mod node_error;
mod node_files;
mod own_sample;
mod own_schema;
mod pom;
mod reader;
mod schema;
mod serialized;
mod server;
pub mod snapshot;
mod sstable_files;
pub mod start_archive;
mod table_in_force;
mod table_service;
mod table_snapshot;
mod views;
mod yaml;

pub use crate::maven::{DistributionError, Fetched, LockList};
pub use admin::{Admin, AdminError, Settled};
pub use counters::{Counters, of_table};
pub use distribution::{Distribution, download_bytes, ensure_distribution};
pub use host_name::{UnresolvedHostName, check_host_name};
pub use java::{Java, JavaError, find_java};
pub use jmx::JmxError;
pub use library::load_library;
pub use lock_list::versions;
pub use lock_maker::make_lock_list;
pub use log::DroppedMessages;
pub use management::Management;
pub use node::Node;
pub use node_config::NodeConfig;
pub use node_error::NodeError;
pub(crate) use schema::schema_statements;
pub use server::{Cassandra, GC_LOG};
pub use snapshot::snapshot_key;
pub use start_archive::ensure_start_archive;
pub use table_service::{
    clean_up, compact_automatically, compact_keyspace, flush_and_compact, flush_table, import_sstables, truncate_table,
};
pub use table_snapshot::TableSnapshot;
pub use views::NodeViews;
