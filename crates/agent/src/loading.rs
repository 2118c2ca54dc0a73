//! Loading the data set: an unlimited database on the work directory's own file system,
//! whose files become the snapshot.

use std::path::{Path, PathBuf};
use std::time::Duration;

use database::{DATABASE_LOG, Directories, NodePlan, Replication, RunningNode, TableSnapshot, loader};
use evidence::SnapshotFacts;
use experiment::{CountedRows, DataSetFiles, StatementSample};
use wire::{RequestError, Result};

use super::host::Host;
use super::product::BACKLOG_FILES;
use super::server::{Database, KEYSPACE, TABLE};
use super::volumes::data_parts;

/// How long it may take to stop in order; everything is flushed by then.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

fn gib(bytes: u64) -> f64 {
    bytes as f64 / (1_u64 << 30) as f64
}

/// Below a loading node's own directory: what becomes the snapshot's `data`.
pub(super) fn data_of(directory: &Path) -> PathBuf {
    directory.join("data")
}

/// Directories of a loading node, its data directories as those of a trial's node.
fn directories(own: &Path, files: &DataSetFiles) -> Directories {
    Directories { data: data_parts(&data_of(own), files.directories), ..Directories::below(own) }
}

/// A database that loads.
pub(super) struct Loading {
    node: Box<dyn RunningNode>,
    directory: PathBuf,
    files: DataSetFiles,
    /// Names this loading.
    name: String,
    /// SSTables that its table has, once it is at rest; counted where more are to come.
    sstables: u64,
}

impl Loading {
    /// Starts the database; [`Self::make_ready`] follows, so that a start that fails leaves something to end.
    pub fn start(host: &Host, database: &Database, files: DataSetFiles, name: String) -> Result<Self> {
        let directory = host.loading_directory(&database.snapshot_key(&files)?)?;
        let placement = files.placement;
        host.outbox.progress(format!("starting {} to load the data set", database.name()), None);
        let memory = database.server.memory(loader::main_bytes(placement.nodes));
        let plan = NodePlan {
            // One data set for all configurations whose other settings are not these.
            settings: files.settings.clone(),
            ..database.plan(placement, directories(&directory, &files), memory)
        };
        let node = database.start(files.version.as_deref(), &plan)?;
        Ok(Self { node, directory, files, name, sstables: 0 })
    }

    /// Waits until it answers and knows the other nodes; the first one creates the schema.
    pub fn make_ready(&mut self, host: &Host, database: &Database) -> Result<()> {
        host.remember_process(self.node.pid(), database.name())?;
        database.wait_ready(&mut *self.node, &host.outbox)?;
        if self.files.placement.is_cluster() {
            database.settle(self.files.placement, &mut *self.node, &host.outbox)?;
        }
        if !database.is_first() {
            return Ok(());
        }
        let replication = Replication::of(self.files.placement);
        let created = match &database.own {
            Some(own) => self.node.create_own_schema(KEYSPACE, own, &replication),
            None => self.node.create_schema(KEYSPACE, TABLE, &database.dataset, &replication),
        };
        created.map_err(RequestError::new)
    }

    /// Takes in the snapshot of the user's own from where it lies, all of it on every node, whatever tokens its cluster
    /// had; of several nodes each then removes what others keep. It is copied first: a node moves what it takes in.
    pub fn import(&mut self, host: &Host, database: &Database, lies_in: &Path) -> Result<()> {
        let snapshot = database.own.as_ref().and_then(|own| own.snapshot.as_ref());
        let snapshot = snapshot.ok_or_else(|| RequestError::new("this data set is no snapshot to be taken in"))?;
        let elsewhere = "the directory has to be on every database host, with the same files";
        let found = TableSnapshot::read(lies_in).and_then(|found| found.as_planned(snapshot));
        let found = found.map_err(|why| RequestError::new(why).help(elsewhere))?;
        let (needed, free) = (snapshot.bytes_taken_in(), storage::free_bytes(&self.directory)?);
        if free < needed {
            let message = format!(
                "{} has {:.1} GiB free, and taking in a snapshot of {:.1} GiB needs {:.1}",
                self.directory.display(),
                gib(free),
                gib(snapshot.bytes()),
                gib(needed)
            );
            return Err(RequestError::new(message).help("make room, or state another work directory"));
        }
        let copies = self.directory.join("snapshot");
        let tables: Vec<String> = snapshot.tables.iter().map(|table| table.name.clone()).collect();
        let mut on_bytes = |copied| host.outbox.progress("copying the snapshot", Some((copied, snapshot.bytes())));
        let cancelled = || host.outbox.is_cancelled();
        let places = found.copy(&tables, (&copies, KEYSPACE), &mut on_bytes, &cancelled).map_err(RequestError::new)?;
        if let Some(account) = &host.account {
            account.own(&copies)?;
        }
        for table in &tables {
            host.outbox.progress(format!("taking in the snapshot of {table}"), None);
            self.node.import_foreign(KEYSPACE, table, &places)?;
        }
        if self.files.placement.is_cluster() {
            host.outbox.progress("removing what other nodes keep", None);
            self.node.clean_up(KEYSPACE)?;
        }
        storage::remove_tree(&copies).map_err(RequestError::new)
    }

    /// Counts the rows of the tables of a snapshot and tries so many requests of each statement; with none the
    /// statements are prepared alone.
    pub fn sample(
        &mut self,
        host: &Host,
        database: &Database,
        requests: u32,
    ) -> Result<(Vec<CountedRows>, Vec<StatementSample>)> {
        let own = database.own.as_ref();
        let own = own.ok_or_else(|| RequestError::new("there are no statements of the user's own to be tried"))?;
        let mut rows = Vec::new();
        if requests > 0 {
            host.outbox.progress("counting the rows of the snapshot", None);
            let tables = own.snapshot.iter().flat_map(|snapshot| &snapshot.tables);
            let tables: Vec<String> = tables.map(|table| table.name.clone()).collect();
            rows = self.node.count_rows(KEYSPACE, &tables)?;
            host.outbox.progress("trying the statements", None);
        }
        Ok((rows, self.node.sample_statements(KEYSPACE, own, requests)?))
    }

    /// Everything is inserted: flushes and compacts. The other nodes may still be at it, so this one stays. Where a
    /// backlog is to come, nothing is compacted after that.
    pub fn finish(&mut self, host: &Host, database: &Database) -> Result<()> {
        host.outbox.progress("bringing the data set into its files", None);
        self.node.maintain(KEYSPACE)?;
        database.settle(self.files.placement, &mut *self.node, &host.outbox)?;
        if self.files.backlog.is_some() {
            self.node.maintain_automatically(KEYSPACE, false)?;
            self.sstables = self.node.reported(KEYSPACE, TABLE, BACKLOG_FILES)? as u64;
        }
        Ok(())
    }

    /// A part of the backlog is written: one SSTable more in each data directory, or an error.
    pub fn flush_backlog(&mut self, host: &Host) -> Result<()> {
        host.outbox.progress("flushing a part of the backlog", None);
        self.node.flush(KEYSPACE, TABLE)?;
        let now = self.node.reported(KEYSPACE, TABLE, BACKLOG_FILES)? as u64;
        let (before, each) = (self.sstables, u64::from(self.files.directories.max(1)));
        if now != before + each {
            return Err(RequestError::new(format!(
                "a part of the backlog did not become one SSTable in each data directory: there were {before} \
                 SSTables, {} belong there now, and there are {now}",
                before + each
            ))
            .help(
                "state more `sstables` in its backlog, so that each is smaller; a compaction strategy that \
                 splits what is flushed (min_sstable_size) cannot have one",
            ));
        }
        self.sstables = now;
        Ok(())
    }

    /// Stops, and keeps the files as the snapshot.
    pub fn keep(&mut self, host: &Host, database: &Database) -> Result<SnapshotFacts> {
        let name = database.name();
        host.outbox.progress(format!("stopping {name} and keeping its data as a snapshot"), None);
        self.node.stop(STOP_TIMEOUT)?;
        self.check_stop(name)?;
        let data = data_of(&self.directory);
        let facts = SnapshotFacts {
            key: database.snapshot_key(&self.files)?,
            records: database.dataset.records,
            loading: self.name.clone(),
            table_bytes: database.data_set_bytes(&directories(&self.directory, &self.files).data),
            bytes: storage::tree_bytes(&data),
        };
        host.keep_snapshot(&data, &facts)?;
        storage::remove_tree(&self.directory)?;
        Ok(facts)
    }

    /// What the database had only in memory would be missing from every trial.
    fn check_stop(&mut self, name: &str) -> Result<()> {
        if self.node.stopped_cleanly() {
            return Ok(());
        }
        let how = self.node.ended().unwrap_or_default();
        let logs = self.node.logs();
        let log = logs.iter().find(|log| log.name == DATABASE_LOG);
        let log = log.map(|log| log.path.display().to_string()).unwrap_or_default();
        Err(RequestError::new(format!(
            "{name} did not stop in order after loading ({how}), so that its files may not be whole: they are not \
                 kept; the last lines of {log}:\n{}",
            self.node.log_tail(15).join("\n")
        ))
        .help("the next start loads the data set again"))
    }

    /// Ends it, whatever it has loaded.
    pub fn kill(&mut self) {
        self.node.kill();
    }
}
