//! Control-plane SQL to one node: is it there, make the schema, count a sample of keys, what it shows of itself.
//!
//! The calls are synchronous. The connection goes over the socket in the node's own directory, to its superuser; it is
//! driven while somebody waits for an answer, and nobody sends anything in between.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row};

use super::conf::SUPERUSER;
use super::way::Way;
use crate::session::Refusal;

/// Why a node does not do what it is asked.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum AdminError {
    /// Its socket's directory cannot be opened.
    #[error("cannot open {}, which has PostgreSQL's socket: {source}", socket.display())]
    Directory { socket: PathBuf, source: std::io::Error },
    /// No connection.
    #[error("cannot connect to PostgreSQL by its socket in {}: {source}", socket.display())]
    Connect { socket: PathBuf, source: tokio_postgres::Error },
    /// Nobody is let in over the network.
    #[error("cannot connect to PostgreSQL: {0}")]
    Refused(Refusal),
    /// No runtime for the connection.
    #[error("cannot start the connection: {0}")]
    Runtime(std::io::Error),
    /// It refused a statement.
    #[error("{statement}: {source}")]
    Statement { statement: String, source: tokio_postgres::Error },
    /// It did not answer in time.
    #[error("{statement}: no answer within {} s", patience.as_secs_f64())]
    NoAnswer { statement: String, patience: Duration },
    /// What it answered is not what was asked for.
    #[error("{statement}: {reason}")]
    Answer { statement: String, reason: String },
}

/// The database that is there from the beginning.
pub(crate) const MAINTENANCE: &str = "postgres";
/// The longest that a look at a node may take.
pub(crate) const A_LOOK: Duration = Duration::from_secs(30);

/// A connection to one node.
pub struct Admin {
    runtime: Runtime,
    client: Client,
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admin").finish_non_exhaustive()
    }
}

impl Admin {
    /// To a database of the node whose socket is in this directory and is named by this port. Errors: nobody answers
    /// there in time, or there is no such database.
    pub fn connect(socket: &Path, port: u16, database: &str, patience: Duration) -> Result<Self, AdminError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(AdminError::Runtime)?;
        let mut config = Config::new();
        // By a short name: a socket's is limited to 107 bytes (unix(7)), and that directory may be deep down.
        let directory = rustix::fs::open(socket, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let unseen = |source: Errno| AdminError::Directory { socket: socket.to_owned(), source: source.into() };
        let directory = directory.map_err(unseen)?;
        let name = format!("/proc/self/fd/{}", directory.as_raw_fd());
        config.host_path(name).port(port).user(SUPERUSER).dbname(database).connect_timeout(patience);
        config.application_name("iopslab");
        let connecting = async {
            let (client, connection) = config.connect(NoTls).await?;
            // What goes wrong with it is seen by whoever waits for an answer.
            tokio::spawn(async move { drop(connection.await) });
            Ok::<_, tokio_postgres::Error>(client)
        };
        // The kernel takes connections for a server that stands still, which says nothing on them.
        let connected = runtime.block_on(async { tokio::time::timeout(patience, connecting).await });
        let silent = |_| AdminError::NoAnswer { statement: format!("a connection in {}", socket.display()), patience };
        let failed = |source| AdminError::Connect { socket: socket.to_owned(), source };
        let client = connected.map_err(silent)?.map_err(failed)?;
        Ok(Self { runtime, client })
    }

    /// To a server over the network, with what its user may do. Errors: nobody answers there in time, or nobody is let
    /// in.
    pub(crate) fn by(way: &Way, patience: Duration) -> Result<Self, Refusal> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Refusal::Other(error.to_string()))?;
        let connected = runtime.block_on(async { tokio::time::timeout(patience, way.open()).await });
        let silent = |_| Refusal::Other(format!("no answer within {} s", patience.as_secs_f64()));
        let client = connected.map_err(silent)?.map_err(|error| way.refusal(&error.into()))?;
        Ok(Self { runtime, client })
    }

    /// Statements, each by itself and each to its end: some of them (`VACUUM`, `CREATE DATABASE`) run in no
    /// transaction. Errors: the first one that is refused.
    pub fn run(&self, statements: &[String]) -> Result<(), AdminError> {
        statements.iter().try_for_each(|statement| {
            let done = self.runtime.block_on(self.client.batch_execute(statement));
            done.map_err(|source| AdminError::Statement { statement: statement.clone(), source })
        })
    }

    /// The rows of a query. Errors: it is refused, or takes longer than this.
    pub fn rows(
        &self,
        query: &str,
        parameters: &[&(dyn ToSql + Sync)],
        patience: Duration,
    ) -> Result<Vec<Row>, AdminError> {
        let statement = || query.split_whitespace().collect::<Vec<_>>().join(" ");
        let answer = async { tokio::time::timeout(patience, self.client.query(query, parameters)).await };
        let answer = self.runtime.block_on(answer);
        let answer = answer.map_err(|_| AdminError::NoAnswer { statement: statement(), patience })?;
        answer.map_err(|source| AdminError::Statement { statement: statement(), source })
    }

    /// The one number of a query. Errors: as [`Self::rows`]; it gives no number.
    pub fn number(&self, query: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<i64, AdminError> {
        let rows = self.rows(query, parameters, A_LOOK)?;
        let number = rows.first().and_then(|row| row.try_get::<_, i64>(0).ok());
        number.ok_or_else(|| AdminError::Answer { statement: query.to_owned(), reason: "it gave no number".to_owned() })
    }

    /// Does something with its connection.
    pub(crate) fn with<R>(&self, work: impl AsyncFnOnce(&Client) -> R) -> R {
        self.runtime.block_on(work(&self.client))
    }

    /// That it answers. Errors: it does not.
    pub fn ping(&self) -> Result<(), AdminError> {
        self.number("SELECT 1::bigint", &[]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Longer than the name of a socket may be.
    #[test]
    fn a_socket_deep_down_is_reached() {
        let place = tempfile::tempdir().unwrap();
        let deep = place.path().join("d".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        let refused = |socket: &Path| Admin::connect(socket, 5432, MAINTENANCE, Duration::from_millis(50)).unwrap_err();
        assert!(matches!(refused(&place.path().join("none")), AdminError::Directory { .. }));
        assert!(matches!(refused(&deep), AdminError::Connect { .. }), "nobody listens yet");
        let opened = std::fs::File::open(&deep).unwrap();
        let _still = UnixListener::bind(format!("/proc/self/fd/{}/.s.PGSQL.5432", opened.as_raw_fd())).unwrap();
        let silent = refused(&deep);
        assert!(matches!(silent, AdminError::NoAnswer { .. }), "{silent}");
    }

    /// The kernel takes the connection, and nobody answers: a server that was stopped by a signal, or whose volume
    /// stands still.
    #[test]
    fn a_server_that_stands_still_is_not_waited_for_beyond_its_time() {
        let place = tempfile::tempdir().unwrap();
        let _still = UnixListener::bind(place.path().join(".s.PGSQL.5432")).unwrap();
        let refused = Admin::connect(place.path(), 5432, MAINTENANCE, Duration::from_millis(50)).unwrap_err();
        assert!(matches!(refused, AdminError::NoAnswer { .. }), "{refused}");
    }
}
