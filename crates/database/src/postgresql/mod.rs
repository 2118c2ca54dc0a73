//! PostgreSQL, owned by iopslab from download to shutdown.
//!
//! | module | idea |
//! |---|---|
//! | `lock_list`, `lock_maker` | the jar with its binaries: committed lock list, and how one is made |
//! | `archive`, `distribution` | the jar fetched, verified and unpacked |
//! | `conf` | `postgresql.conf` and who may connect |
//! | `node`, `family` | one server and its processes: start, death, stop |
//! | `control_file`, `wal` | what a data directory says of itself; its WAL on the commit-log volume |
//! | `admin` | control-plane SQL over a socket that nobody else can reach |
//! | `schema` | table and users in SQL, and the key that names a snapshot |
//! | `own_schema`, `described` | schema of the user's own, and its tables as the server has them |
//! | `form` | values in its binary form |
//! | `counters`, `in_force` | what it counts of itself; whether its settings are in force |
//! | `protocol` | requests in its own protocol |
//! | `way`, `encrypted` | the way in over the network: who asks, TLS, why nobody is let in |
//! | `client` | the client: pooled connections, prepared statements, COPY |
//! | `existing` | the data set in a server that somebody else owns |
//! | `views` | what such a server shows of itself to whoever watches it |
//! | [`PostgreSql`] | all of it behind the seam that every database has ([`crate::Server`]) |

mod admin;
mod archive;
mod client;
mod conf;
mod control_file;
mod counters;
mod described;
mod distribution;
#[cfg(feature = "tls")]
mod encrypted;
mod existing;
mod family;
mod form;
mod in_force;
mod lock_list;
mod lock_maker;
mod node;
mod node_error;
mod own_schema;
mod protocol;
mod schema;
mod server;
mod views;
mod wal;
mod way;

pub use admin::{Admin, AdminError};
pub use client::{PostgresConnect, PostgresDriver};
pub use distribution::download_bytes;
pub use lock_list::versions;
pub use lock_maker::make_lock_list;
pub use server::PostgreSql;
pub use views::ServerViews;
