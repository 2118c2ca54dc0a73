//! The seam on the server's side: what an agent may ask of a database that it owns.
//!
//! Three steps, three traits: a [`Server`] is a product in a version; installing it gives an [`Installed`] one;
//! starting that gives a [`RunningNode`]. `iopslab run` and `iopslab db` go the same way.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use experiment::{CountedRows, DataSetFiles, Dataset, Own, Settings, SettingsInForce, StatementSample};
use reported::{Reported, Series};
use rustix::process::Signal;

use crate::account::AccountError;
use crate::maven::DistributionError;
use crate::plan::{MemoryPlan, NodeLocation, NodePlan, Ports, Replication};

/// Reports what is being done, and how much of it (done, total) where that is known.
pub type OnProgress<'a> = &'a mut dyn FnMut(&str, Option<(u64, u64)>);
/// Asked now and then whether to give up.
pub type Cancelled<'a> = &'a dyn Fn() -> bool;

/// How a node that runs gets its data set as it was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// Beside what it does: [`RunningNode::truncate`], then [`RunningNode::import`].
    InPlace,
    /// Not at all: another process starts on files that were put in their places while none ran.
    AnotherProcess,
}

/// What a node is to do, on a thread of its own.
pub type Work = Box<dyn FnOnce() -> Result<()> + Send>;

/// Reports what is there for a moment only, before a directory is made and as soon as a process runs: whoever is killed
/// in that moment leaves it. An error calls it off.
pub type Remember<'a> = &'a dyn Fn(Temporary<'_>) -> std::io::Result<()>;

/// What is gone again when the call that makes it returns.
#[derive(Debug, Clone, Copy)]
pub enum Temporary<'a> {
    /// A directory with all that is in it.
    Directory(&'a Path),
    /// A process.
    Process(u32),
}

/// What comes of what is asked of a database.
pub type Result<T, E = ServerError> = std::result::Result<T, E>;

/// Why a database did not do what was asked; the message is the database's own.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It runs, but was not ready in the time given: more time may help.
    #[error(transparent)]
    NotReady(Box<dyn std::error::Error + Send + Sync>),
    /// `cancelled` said so.
    #[error(transparent)]
    Cancelled(Box<dyn std::error::Error + Send + Sync>),
    /// Anything else.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}

impl From<AccountError> for ServerError {
    fn from(error: AccountError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<DistributionError> for ServerError {
    fn from(error: DistributionError) -> Self {
        match error {
            DistributionError::Cancelled => Self::Cancelled(error.into()),
            _ => Self::Failed(error.into()),
        }
    }
}

/// A database in one version.
pub trait Server: Send {
    /// For people: `Cassandra`.
    fn name(&self) -> &'static str;

    /// The version that [`Self::install`] installs.
    fn version(&self) -> &str;

    /// The ports that it is known by.
    fn ports(&self) -> Ports;

    /// A memory plan around so many bytes of main memory, with the buffers that go with them.
    fn memory(&self, main_bytes: u64) -> MemoryPlan;

    /// How a node gets its data set anew.
    fn renewal(&self) -> Renewal;

    /// Whether a node can listen there; nothing is started or written.
    fn check(&self, address: Ipv4Addr, ports: Ports) -> Result<()>;

    /// Makes sure that the software and what runs it are on this host: fetched, verified, kept in `cache`. The second
    /// time it finds everything there. What runs it is what can run the `others` too, versions that it is compared with
    /// on this host, where there is such a thing.
    fn install(
        &self,
        cache: &Path,
        others: &[String],
        on_progress: OnProgress<'_>,
        cancelled: Cancelled<'_>,
        remember: Remember<'_>,
    ) -> Result<Box<dyn Installed>>;

    /// Names a snapshot by everything that decides what is in it: version, data set, schema (`own`: the user's, with
    /// what is in it), one place for each node, the settings that it is loaded with, and the number of data directories
    /// over which each node spreads it. Equal inputs give equal names on every machine.
    fn snapshot_key(
        &self,
        dataset: &Dataset,
        own: Option<&Own>,
        places: &[Option<NodeLocation>],
        replication: &Replication,
        settings: &Settings,
        directories: u32,
    ) -> String;

    /// Names the snapshots of a data set with these files, wherever iopslab has placed the nodes; those of a cluster's
    /// nodes have more to their names.
    fn data_set_key(&self, dataset: &Dataset, own: Option<&Own>, files: &DataSetFiles) -> String {
        let placement = files.placement;
        let places: Vec<_> = (0..placement.nodes).map(|index| NodeLocation::of(placement, index)).collect();
        let replication = Replication::of(placement);
        let key = self.snapshot_key(dataset, own, &places, &replication, &files.settings, files.directories);
        match files.backlog {
            Some(backlog) => format!("{key}-{}", backlog.key()),
            None => key,
        }
    }

    /// The directories below a data directory whose files, all of them, are the bytes of a keyspace.
    fn keyspace_directories(&self, data: &Path, keyspace: &str) -> Vec<PathBuf>;

    /// Whether a node that another process has started answers clients.
    fn answers(&self, address: SocketAddr, timeout: Duration) -> bool;

    /// The signal on which such a node ends in order, whoever is connected.
    fn ends_on(&self) -> Signal {
        Signal::TERM
    }
}

/// A database that can be started on this host.
pub trait Installed: Send {
    /// What runs it, in that one's own words, for the record of a run.
    fn runtime(&self) -> String;

    /// Options that what runs it has besides those that it is started with here: they change what is measured.
    fn runtime_options(&self) -> Vec<String> {
        Vec::new()
    }

    /// Starts a node and returns at once. It lives in its own process group: Ctrl-C in a terminal does not reach it.
    fn start(&self, plan: &NodePlan) -> Result<Box<dyn RunningNode>>;
}

/// The table of a data set in a node that runs.
#[derive(Debug, Clone, Copy)]
pub struct DataSetTable<'n> {
    /// Its keyspace.
    pub keyspace: &'n str,
    /// Its name.
    pub table: &'n str,
    /// Whether its files are those that were restored: later ones need not be in their last shape.
    pub is_restored: bool,
}

/// A node that this process has started. Dropping it does **not** end it: [`Self::stop`] or [`Self::kill`] does.
pub trait RunningNode: Send {
    /// Its process.
    fn pid(&self) -> u32;

    /// Waits until clients are answered; gives the time since the start. Fails as soon as the process has ended, with
    /// the last lines of its log. Later calls that need a connection wait for it as long as `timeout`.
    fn wait_ready(&mut self, timeout: Duration, cancelled: Cancelled<'_>) -> Result<Duration>;

    /// The settings of its plan as they are in force in the process that runs and in this table and its files, once it
    /// is ready. One that is not in force as asked is an error.
    fn settings_in_force(&mut self, table: DataSetTable<'_>) -> Result<SettingsInForce>;

    /// Waits until the node knows exactly `nodes` nodes, all in their places and of one schema, and has no work in the
    /// background. Gives the time that it took.
    fn settle(&mut self, nodes: u32, timeout: Duration, cancelled: Cancelled<'_>) -> Result<Duration>;

    /// What a node would do sooner or later by itself it does now, so that the trials which follow begin with the same
    /// of it: asked when all else has settled, before any limit is in force.
    fn come_to_rest(&mut self) -> Result<()>;

    /// Lets clients make tables of their own in this keyspace, where they may not do so from the beginning.
    fn open_to_clients(&mut self, _: &str) -> Result<()> {
        Ok(())
    }

    /// Creates keyspace and table of YCSB's layout, with the options of its plan, where they do not exist, and waits
    /// until all nodes have them.
    fn create_schema(
        &mut self,
        keyspace: &str,
        table: &str,
        dataset: &Dataset,
        replication: &Replication,
    ) -> Result<()>;

    /// Creates the keyspace and the user's own schema in it, and waits until all nodes have them.
    fn create_own_schema(&mut self, keyspace: &str, own: &Own, replication: &Replication) -> Result<()>;

    /// Of so many rows, spread over each of the user's own tables, how many there are, and how many exist.
    fn count_own_sample(&mut self, keyspace: &str, own: &Own, of_each_table: u64) -> Result<(u32, u32)>;

    /// How many of these keys exist.
    fn count_sample(&mut self, keyspace: &str, table: &str, keys: &[String]) -> Result<u32>;

    /// After a bulk load: writes everything to files and brings these to the shape that they keep, whatever the timing
    /// of the load was. [`Self::settle`] then waits for the rest.
    fn maintain(&mut self, keyspace: &str) -> Result<()>;

    /// Writes what a table has in memory into files: one for each data directory, unless the server spreads them
    /// otherwise.
    fn flush(&mut self, keyspace: &str, table: &str) -> Result<()>;

    /// Whether from here on the server brings the files of a keyspace into shape without being asked for. Where that is
    /// turned on, it does so with its own tables too, which a node whose plan says no does not do either.
    fn maintain_automatically(&mut self, keyspace: &str, is_on: bool) -> Result<()>;

    /// What it reports of a table in this series, now.
    fn reported(&mut self, keyspace: &str, table: &str, series: &'static Series) -> Result<f64>;

    /// Takes all rows of a table away, on all nodes of the cluster. Where [`Server::renewal`] is in place.
    fn truncate(&mut self, keyspace: &str, table: &str) -> Result<()>;

    /// Takes the files of a table below these directories, one for each data directory, into that table: each holds
    /// what a data directory of a node at rest held, and its files are moved. Where [`Server::renewal`] is in place.
    fn import(&mut self, keyspace: &str, table: &str, directories: &[PathBuf]) -> Result<()>;

    /// Takes files of a table that a cluster of somebody else's has written into that table, with rows that this node
    /// need not keep: directories as for [`Self::import`], whose files are moved. They are read for damage.
    fn import_foreign(&mut self, keyspace: &str, table: &str, directories: &[PathBuf]) -> Result<()>;

    /// Removes rows of a keyspace that other nodes of the cluster keep.
    fn clean_up(&mut self, keyspace: &str) -> Result<()>;

    /// Counts the rows of tables, each of them; takes as long as reading them.
    fn count_rows(&mut self, keyspace: &str, tables: &[String]) -> Result<Vec<CountedRows>>;

    /// Asks what the user's own statements ask, so many requests of each: how many find something.
    fn sample_statements(&mut self, keyspace: &str, own: &Own, of_each: u32) -> Result<Vec<StatementSample>>;

    /// Brings all files of a keyspace to the shape that [`Self::maintain`] gives them, when it is called: beside
    /// whatever else is asked of the node, until that is done.
    fn maintenance(&self, keyspace: &str) -> Work;

    /// A reader of its metrics and those of these tables together, with a connection of its own life: it goes on (with
    /// fewer figures) when the node ends. Counts that begin with the reader start at zero here.
    fn metrics(&mut self, keyspace: &str, tables: &[String]) -> Result<Box<dyn MetricsReader>>;

    /// Stops it in order, so that everything is in its files; kills it if it has not ended after `timeout`. `Ok` means
    /// that the process is gone.
    fn stop(&mut self, timeout: Duration) -> Result<()>;

    /// Whether it ended in order. Only then is a copy of its data directory whole.
    fn stopped_cleanly(&self) -> bool;

    /// Ends it at once and waits for it.
    fn kill(&mut self);

    /// Stops its process where it is (SIGSTOP), until [`Self::resume`].
    fn pause(&mut self);

    /// Lets it go on (SIGCONT).
    fn resume(&mut self);

    /// `None` while it runs; otherwise how it ended: exit status or signal.
    fn ended(&mut self) -> Option<String>;

    /// Its logs.
    fn logs(&self) -> Vec<NodeLog>;

    /// The last lines that it said, whatever the file.
    fn log_tail(&self, lines: usize) -> Vec<String>;
}

/// Reads the metrics of one node, about once a second.
pub trait MetricsReader: Send {
    /// What the node says of itself now, in its product's series.
    fn read(&mut self) -> Reported;
}

/// A log of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeLog {
    /// Name among a trial's evidence; [`DATABASE_LOG`] is the server's own.
    pub name: &'static str,
    /// Where it is.
    pub path: PathBuf,
}

/// Name of the log in which a server writes what it does.
pub const DATABASE_LOG: &str = "database.log";
