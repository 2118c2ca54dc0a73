//! Loading the data set: an unlimited database on the work directory's own file system, whose files become the snapshot.

use std::path::PathBuf;
use std::time::Duration;

use database::{DATABASE_LOG, Directories, RunningNode};
use wire::{Fault, SnapshotFacts};

use super::host::Host;
use super::limits::machine_cpus;
use super::outbox::fault;
use super::server::{Database, KEYSPACE, REPLICATION, TABLE};

/// Main memory of the database that loads.
const LOADER_BYTES: u64 = 2 << 30;
/// How long it may take to stop in order; everything is flushed by then.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// A database that loads.
pub(super) struct Loading {
    node: Box<dyn RunningNode>,
    directory: PathBuf,
}

impl Loading {
    /// Starts the database; [`Self::make_ready`] follows, so that a start that fails leaves something to end.
    pub fn start(host: &Host, database: &Database) -> Result<Self, Fault> {
        let directory = host.loading_directory(&database.snapshot_key)?;
        host.outbox
            .progress(format!("starting {} to load the data set", database.name()), None);
        let memory = database.server.memory(LOADER_BYTES);
        let directories = Directories::below(&directory);
        let node = database.start(directories, memory, machine_cpus() as f64, Vec::new())?;
        Ok(Self { node, directory })
    }

    /// Waits until it answers, and creates the schema.
    pub fn make_ready(&mut self, host: &Host, database: &Database) -> Result<(), Fault> {
        host.remember_process(self.node.pid(), database.name())?;
        database.wait_ready(&mut *self.node, &host.outbox)?;
        self.node
            .create_schema(KEYSPACE, TABLE, &database.dataset, &REPLICATION)
            .map_err(fault)
    }

    /// Everything is loaded: flushes, compacts, stops, and keeps the files as the snapshot.
    pub fn finish(&mut self, host: &Host, database: &Database) -> Result<SnapshotFacts, Fault> {
        host.outbox.progress("flushing and compacting the data set", None);
        self.node.compact(KEYSPACE).map_err(fault)?;
        database.settle(&mut *self.node, &host.outbox)?;
        let name = database.name();
        host.outbox
            .progress(format!("stopping {name} and keeping its data as a snapshot"), None);
        self.node.stop(STOP_TIMEOUT).map_err(fault)?;
        self.check_stop(name)?;
        let data = Directories::below(&self.directory).data;
        let facts = SnapshotFacts {
            key: database.snapshot_key.clone(),
            records: database.dataset.records,
            table_bytes: database.data_set_bytes(&data),
            bytes: storage::tree_bytes(&data),
        };
        host.keep_snapshot(&data, &facts)?;
        storage::remove_tree(&self.directory).map_err(fault)?;
        Ok(facts)
    }

    /// What the database had only in memory would be missing from every trial.
    fn check_stop(&mut self, name: &str) -> Result<(), Fault> {
        if self.node.stopped_cleanly() {
            return Ok(());
        }
        let how = self.node.ended().unwrap_or_default();
        let logs = self.node.logs();
        let log = logs.iter().find(|log| log.name == DATABASE_LOG);
        let log = log.map(|log| log.path.display().to_string()).unwrap_or_default();
        Err(Fault {
            help: Some("the next start loads the data set again".to_owned()),
            ..fault(format!(
                "{name} did not stop in order after loading ({how}), so that its files may not be whole: they are not \
                 kept; the last lines of {log}:\n{}",
                self.node.log_tail(15).join("\n")
            ))
        })
    }

    /// Ends it, whatever it has loaded.
    pub fn kill(&mut self) {
        self.node.kill();
    }
}
