//! One trial on a database host: restored data, limits, what is done to the node, and what is watched meanwhile.
//!
//! A trial begins with a process that answers clients while no limit of CPUs or volumes holds it back: a new one on
//! restored volumes, or the one that has served the trial before. The controller has it brought to rest then
//! ([`Trial::usage`] says how far it is), has its data taken in again as it was loaded ([`Trial::renew`]), and then all
//! limits come into force ([`Trial::hold`]).

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use database::{DataSetTable, Directories, NodeLog, NodePlan, Renewal, RunningNode};
use evidence::Overhead;
use experiment::{CacheState, FaultAction, Setup};
use monitor::{Monitor, OthersWatch};
use process::machine::unix_ms;
use wire::{Moments, Reply, RequestError, Result, StartedTrial, StoppedTrial};

use super::absence::{self, Absence};
use super::cache_tier::CacheTier;
use super::compilers;
use super::disk_fault;
use super::fork::{Fork, Node};
use super::host::Host;
use super::logs::KeptLog;
use super::product;
use super::sampling::{death, watch};
use super::server::{Database, KEYSPACE, TABLE};
use super::shared::with;
use super::volumes::Volumes;
use super::warming::{self, Reads, SettledCache};

/// A trial under way.
pub(super) struct Trial {
    setup: Setup,
    fork: Fork,
    /// The caches in front of the database, where this host has them: the client asks these first.
    pub caches: Option<CacheTier>,
    /// Whether the node brings files into shape by itself: one with a backlog does not before measurement begins.
    maintains_itself: bool,
    monitor: Option<Monitor>,
    others: Option<OthersWatch>,
    /// Whether the node is away by plan, for who watches it.
    away: Arc<AtomicBool>,
    /// What keeps it away.
    absence: Option<Absence>,
    /// Logs of lives that planned faults have ended.
    earlier_logs: Vec<KeptLog>,
    earlier_lives: u32,
    began_unix_ms: i64,
    clock: Stopwatch,
}

impl Trial {
    /// Volumes with what this process needs of them: restored and cold for one that is to be started. [`Self::start`]
    /// follows, so that a start that fails leaves something to stop.
    pub fn prepare(host: &Host, volumes: &mut Volumes, setup: &Setup, fork: Fork) -> Result<Self> {
        let began_unix_ms = jiff::Timestamp::now().as_millisecond();
        let clock = Stopwatch::start();
        host.forget_earlier_logs()?;
        volumes.turn_into(setup);
        if fork.node.is_none() {
            host.outbox.progress("restoring the data set", None);
            volumes.restore()?;
        }
        Ok(Self {
            setup: setup.clone(),
            fork,
            caches: None,
            maintains_itself: setup.backlog.is_none(),
            monitor: None,
            others: None,
            away: Arc::default(),
            absence: None,
            earlier_logs: Vec::new(),
            earlier_lives: 0,
            began_unix_ms,
            clock,
        })
    }

    /// What its configuration became.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    pub fn configuration(&self) -> &str {
        &self.setup.configuration
    }

    /// A settled database with the whole data set, its page cache held at its budget, no other limit in force.
    pub fn start(
        &mut self,
        host: &Host,
        database: &Database,
        volumes: &Volumes,
        (sample_keys, workload): (&[String], &str),
    ) -> Result<StartedTrial> {
        let restore_s = self.clock.lap_s();
        let mut start_s = 0.0;
        if self.fork.node.is_none() {
            let (outbox, name) = (&host.outbox, database.name());
            outbox.progress(format!("starting {name}"), None);
            let node = self.launch(host, database, volumes)?;
            start_s = self.clock.lap_s();
            outbox.progress(format!("waiting for {name} to settle"), None);
            with(&node, |n| database.settle(self.setup.placement, &mut **n, outbox))?;
            let keys_checked = with(&node, |n| check_sample(&mut **n, database, sample_keys))?;
            let bytes = database.data_set_bytes(&volumes.data_directories());
            self.fork.data_set = (bytes, keys_checked);
        }
        let budget_bytes = self.setup.page_cache_budget_bytes;
        self.fork.limits.hold_page_cache(budget_bytes);
        self.fork.settings.read_ahead_kb = volumes.read_ahead_kb()?;
        Ok(StartedTrial {
            contact_points: database.contact_points(),
            volumes: volumes.facts(),
            data_bytes_on_disk: self.fork.data_set.0,
            keys_checked: self.fork.data_set.1,
            began_unix_ms: self.began_unix_ms,
            overhead: Some(Overhead { restore_s, start_s, settle_s: self.clock.lap_s(), rest_s: 0.0, stop_s: 0.0 }),
            given: None,
            settings: self.fork.settings.clone(),
            warmed: None,
            to_rest: Some(self.fork.brought_to_rest(workload, budget_bytes, database.product.compiles_itself())),
            fork: Some(self.fork.facts()),
            caches: self.caches.as_ref().map(CacheTier::addresses).unwrap_or_default(),
        })
    }

    /// What the database and its volumes have used. Nobody watches it yet: that it has ended is said here.
    pub fn usage(&mut self, host: &Host, volumes: &Volumes) -> Result<Reply> {
        if let Some(died) = with(self.fork.node()?, |n| death(None, &mut **n)) {
            host.outbox.send(&died);
            return Ok(Reply::Usage(None));
        }
        self.fork.usage(volumes).map(|usage| Reply::Usage(Some(usage)))
    }

    /// All rows of the data set are taken away, on all nodes of the cluster. Where another process is needed for that,
    /// [`Self::renew`] has one.
    pub fn empty(&self, database: &Database) -> Result<Reply> {
        if database.renewal() == Renewal::AnotherProcess {
            return Ok(Reply::Emptied);
        }
        let node = self.fork.node()?;
        // A view is emptied with its table.
        for table in self.fork.tables.iter().filter(|table| !database.is_view(table)) {
            with(node, |n| n.truncate(KEYSPACE, table))?;
        }
        Ok(Reply::Emptied)
    }

    /// The database takes the data set in again, as it was loaded; nothing of it is in the page cache, unless that is
    /// to be warm: then it is what was noted of an earlier trial, or as much as fits. Caches in front of it are empty:
    /// what was written meanwhile is in no data set any more.
    pub fn renew(
        &mut self,
        host: &Host,
        database: &Database,
        volumes: &Volumes,
        (cache, noted): (CacheState, Option<&SettledCache>),
    ) -> Result<Reply> {
        host.outbox.progress("restoring the data set", None);
        if let Some(caches) = &mut self.caches {
            caches.empty(host)?;
        }
        match database.renewal() {
            Renewal::InPlace => self.take_in(volumes)?,
            Renewal::AnotherProcess => self.start_anew(host, database, volumes)?,
        }
        let warmed = match cache {
            CacheState::Cold => None,
            CacheState::Warm => {
                let directories = database.data_set_directories(&volumes.data_directories());
                let reads = Reads::of(noted, directories)?;
                let budget_bytes = self.setup.page_cache_budget_bytes;
                Some(warming::warm(&reads, budget_bytes, &self.fork.limits, &host.outbox)?)
            }
        };
        Ok(Reply::Renewed(warmed))
    }

    /// The node that runs takes in copies of its data set's files.
    fn take_in(&self, volumes: &Volumes) -> Result<()> {
        let directories = volumes.renew(KEYSPACE)?;
        let node = self.fork.node()?;
        for table in &self.fork.tables {
            with(node, |n| n.import(KEYSPACE, table, &directories))?;
        }
        directories.iter().try_for_each(|directory| storage::remove_tree(directory)).map_err(RequestError::new)
    }

    /// Another process starts on the data set as it was loaded, inside of the same limits. A process that has served
    /// trials before is not kept for that: each of these has one of its own.
    fn start_anew(&mut self, host: &Host, database: &Database, volumes: &Volumes) -> Result<()> {
        self.fork.end_process();
        self.fork.limits.make_room(self.setup.memory_limit_bytes)?;
        volumes.renew_all()?;
        let node = self.launch(host, database, volumes)?;
        with(&node, |n| database.settle(self.setup.placement, &mut **n, &host.outbox))?;
        self.fork.limits.hold_page_cache(self.setup.page_cache_budget_bytes);
        Ok(())
    }

    /// Every key of the sample must exist, now that all nodes have taken the data set in.
    pub fn look_up(&self, database: &Database, sample_keys: &[String]) -> Result<Reply> {
        with(self.fork.node()?, |n| check_sample(&mut **n, database, sample_keys)).map(|_| Reply::LookedUp)
    }

    /// A node that answers clients, on whatever is in its directories.
    fn launch(&mut self, host: &Host, database: &Database, volumes: &Volumes) -> Result<Node> {
        let directories = Directories {
            own: host.node_directory()?,
            data: volumes.data_directories(),
            commitlog: volumes.commitlog_directory(),
        };
        let usual = database.plan(self.setup.placement, directories, product::memory(&self.setup));
        let plan = NodePlan {
            cpus: self.setup.cpus,
            commitlog_bytes: self.setup.commitlog_bytes.or(usual.commitlog_bytes),
            maintains_itself: self.maintains_itself,
            settings: self.setup.settings.clone(),
            launch_prefix: self.fork.limits.launch_prefix(),
            oom_kills: self.fork.limits.oom_kills(),
            ..usual
        };
        let node = database.start(self.setup.version.as_deref(), &plan)?;
        let pid = node.pid();
        let node = Arc::clone(self.fork.node.insert(Arc::new(Mutex::new(node))));
        host.remember_process(pid, database.name())?;
        // A life after a fault has all limits, and how long it takes to answer is a result.
        let hurries = self.earlier_lives == 0 && database.product.compiles_itself();
        // Compilers come one a moment after the other: what a first look misses is there in a second one. They come
        // first again in `Fork::brought_to_rest`.
        let looks = Cell::new(if hurries { 2 } else { 0 });
        let besides = || {
            if looks.get() > 0 && compilers::put_last(pid) {
                looks.set(looks.get() - 1);
            }
        };
        with(&node, |n| database.wait_ready_and(&mut **n, &host.outbox, &besides))?;
        let table = DataSetTable {
            keyspace: KEYSPACE,
            // Options of the table are stated of YCSB's alone.
            table: self.fork.tables.first().map_or(TABLE, String::as_str),
            // What was flushed need not be in that shape either.
            is_restored: self.earlier_lives == 0 && self.setup.backlog.is_none(),
        };
        self.fork.settings = with(&node, |n| n.settings_in_force(table))?;
        Ok(node)
    }

    /// From now on all limits are in force, and host and node are watched.
    pub fn hold(&mut self, host: &Host, volumes: &Volumes) -> Result<Reply> {
        // One that a compiler which came last has started since the last look came last, too.
        self.fork.put_compilers_first();
        with(self.fork.node()?, |n| n.come_to_rest())?;
        self.fork.limits.enforce(volumes)?;
        self.caches.as_ref().map_or(Ok(()), CacheTier::hold)?;
        // What it was while nothing was limited is nobody's problem.
        drop(self.fork.limits.take_page_cache_problem());
        let node = Arc::clone(self.fork.node()?);
        self.watch(&node, host, volumes)?;
        Ok(Reply::Held)
    }

    /// Measurement has begun: the node is left to compact its backlog, which must still be there.
    pub fn compact_backlog(&mut self) -> Result<Reply> {
        let backlog = self.setup.backlog;
        let backlog = backlog.ok_or_else(|| RequestError::new("this configuration has no backlog"))?;
        let node = self.fork.node()?;
        let sstables = with(node, |n| n.reported(KEYSPACE, TABLE, product::BACKLOG_FILES))? as u64;
        // And one at rest, at the least.
        let least = u64::from(backlog.sstables) * u64::from(self.setup.data_directory_count()) + 1;
        if sstables < least {
            return Err(RequestError::new(format!(
                "{sstables} SSTables are left of the {least} at least that the trial was to begin with"
            )));
        }
        with(node, |n| n.maintain_automatically(KEYSPACE, true))?;
        self.maintains_itself = true;
        Ok(Reply::Compacting { sstables, done_unix_ms: unix_ms() })
    }

    /// From now on this host and this node are watched.
    fn watch(&mut self, node: &Node, host: &Host, volumes: &Volumes) -> Result<()> {
        let (pid, logs) = with(node, |n| (n.pid(), n.logs()));
        let sources = product::sources(pid, self.fork.limits.files(), volumes.devices(), &logs);
        let mut metrics = with(node, |n| n.metrics(KEYSPACE, &self.fork.tables))?;
        if let Some(caches) = &self.caches {
            metrics = caches.with(metrics)?;
        }
        let served = volumes.served();
        self.others.get_or_insert_with(|| OthersWatch::begin(Path::new("/")));
        self.monitor = Some(watch(sources, metrics, node, &self.away, served, host.outbox.clone()));
        Ok(())
    }

    /// Takes the node away, spoils a disk of it, has it compact, or takes a cache in front of it away, as planned.
    pub fn start_fault(
        &mut self,
        action: FaultAction,
        host: &Host,
        database: &Database,
        volumes: &Volumes,
    ) -> Result<Reply> {
        let node = self.fork.node()?;
        // A node whose disk fails, that compacts, or whose cache is lost is there: it is watched.
        self.away.store(action.kind().takes_node_away(), Ordering::Relaxed);
        let in_front = (database, self.caches.as_mut());
        let (absence, moments, problem) = absence::begin(action, node, host, in_front, volumes)?;
        self.absence = Some(absence);
        Ok(Reply::FaultStarted { moments, problem })
    }

    /// Takes the logs of a life that has ended out of the way of the next one.
    fn keep_earlier(&mut self, host: &Host, logs: Vec<NodeLog>) -> Result<()> {
        self.earlier_lives += 1;
        let before = match self.earlier_lives {
            1 => "before-fault".to_owned(),
            n => format!("before-fault-{n}"),
        };
        for log in logs {
            let name = format!("{before}.{}", log.name);
            self.earlier_logs.extend(host.keep_earlier_log(&log.path, name)?);
        }
        Ok(())
    }

    /// Brings the node back with the data that it has, all limits in force; lifts the fault of its disk; waits until
    /// its compaction is done; starts its cache again, empty.
    pub fn end_fault(&mut self, host: &Host, database: &Database, volumes: &Volumes) -> Result<Reply> {
        let absence = self.absence.take().ok_or_else(|| RequestError::new("the node is not away"))?;
        let began_unix_ms = unix_ms();
        let mut failed_requests = None;
        let done_unix_ms = match absence {
            Absence::Ended => {
                // A start begins new logs.
                let ended = self.fork.node.as_ref().map(|node| with(node, |n| n.logs()));
                self.keep_earlier(host, ended.unwrap_or_default())?;
                self.fork.limits.make_room(self.setup.memory_limit_bytes)?;
                let node = self.launch(host, database, volumes)?;
                self.fork.limits.hold_page_cache(self.setup.page_cache_budget_bytes);
                // One process after the other: the watch on the one before says no more.
                drop(self.monitor.take());
                self.away = Arc::default();
                self.watch(&node, host, volumes)?;
                unix_ms()
            }
            Absence::Paused => {
                let node = self.fork.node()?;
                with(node, |n| n.resume());
                with(node, |n| database.wait_ready(&mut **n, &host.outbox))?;
                unix_ms()
            }
            Absence::Cut(cut) => {
                cut.end()?;
                unix_ms()
            }
            Absence::Compacting(compacting) => compacting.end(&host.outbox)?,
            Absence::Cache(cache_node) => {
                self.caches.as_mut().map_or(Ok(()), |caches| caches.bring_back(host, cache_node))?;
                unix_ms()
            }
            Absence::Disk(failing) => {
                let (moments, failed) = disk_fault::end(&failing, volumes)?;
                failed_requests = failed;
                moments.done_unix_ms
            }
        };
        self.away.store(false, Ordering::Relaxed);
        Ok(Reply::FaultEnded { moments: Moments { began_unix_ms, done_unix_ms }, failed_requests })
    }

    /// What was seen of it until now, beside what its database says.
    pub fn seen(&mut self) -> StoppedTrial {
        let used = |watch: &OthersWatch| watch.end(Path::new("/"), std::process::id());
        StoppedTrial {
            program_cache_bytes: self.fork.limits.program_cache_bytes(),
            page_cache_off: self.fork.limits.take_page_cache_problem(),
            caches_lost: self.caches.as_mut().and_then(CacheTier::lost),
            others: self.others.as_ref().map(used).unwrap_or_default(),
            ..StoppedTrial::default()
        }
    }

    /// The trial is over: gives its logs, and the process where it is kept for another trial. Nothing holds it or its
    /// volumes back any more.
    ///
    /// First of all no disk fails any more: a process that waits for one that stalls cannot be killed.
    pub fn stop(mut self, volumes: Option<&Volumes>, keeps: bool) -> Result<(Vec<KeptLog>, Option<Fork>)> {
        if let Some(volumes) = volumes {
            volumes.lift_faults();
        }
        let is_whole = self.absence.is_none() && self.earlier_lives == 0 && self.fork.node.is_some();
        let keeps = keeps && is_whole && self.fork.ended().is_none();
        self.away.store(true, Ordering::Relaxed);
        self.monitor = None;
        let caches = self.caches.take().map_or(Ok(()), CacheTier::end);
        // A process that waits until a small volume has taken what it wrote cannot be killed either.
        let relaxed = volumes.map_or(Ok(()), |volumes| self.fork.limits.relax(volumes));
        let mut logs = std::mem::take(&mut self.earlier_logs);
        logs.extend(self.fork.logs());
        if keeps && volumes.is_some() {
            relaxed?;
            caches?;
            self.fork.begin_logs();
            return Ok((logs, Some(self.fork)));
        }
        self.fork.end()?;
        caches?;
        // Last: rules that cannot be removed stay in the ledger, and must not leave a node running.
        if let Some(Absence::Cut(cut)) = self.absence.take() {
            cut.end()?;
        }
        Ok((logs, None))
    }
}

/// Rows of each of the user's own tables that are looked up.
const SAMPLE_ROWS: u64 = 32;

/// Requests of each statement that are tried in a restored snapshot of the user's own.
const SAMPLE_REQUESTS: u32 = 100;

/// Every key of the sample must exist; or every sampled row of the user's own tables; or of a snapshot, whose rows
/// nobody made, what requests are to find.
fn check_sample(node: &mut dyn RunningNode, database: &Database, keys: &[String]) -> Result<u32> {
    let (asked, present) = match &database.own {
        Some(own) if own.snapshot.is_some() => {
            let sample = node.sample_statements(KEYSPACE, own, SAMPLE_REQUESTS)?;
            let help = "state `columns` and `partitions` of [workload.tables.NAME] as the snapshot has them";
            own.check_sample(&sample).map_err(|why| RequestError::new(why).help(help))?;
            return Ok(sample.iter().map(|one| one.found).sum());
        }
        Some(own) => node.count_own_sample(KEYSPACE, own, SAMPLE_ROWS)?,
        None => (u32::try_from(keys.len()).unwrap_or(u32::MAX), node.count_sample(KEYSPACE, TABLE, keys)?),
    };
    if present == asked {
        return Ok(present);
    }
    Err(RequestError::new(format!("the restored data set is not whole: {present} of {asked} sampled keys exist"))
        .help("remove the snapshot with: iopslab clean --snapshots"))
}

/// Laps of one clock.
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the start or the last lap.
    pub fn lap_s(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.0, now)).as_secs_f64()
    }
}
