//! The database agent: volumes, cgroups, and the life of one Cassandra.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use database::cassandra::{self, Admin, Distribution, Java, Node, NodeConfig, NodeError};
use evidence::Overhead;
use monitor::{CgroupFiles, Monitor, Sources};
use spec::Setup;
use storage::{
    BurstController, Cgroup, Ledger, LedgerItem, PageCacheBudget, ResourceLimits, StorageError, WorkDirectory,
};
use wire::{
    DatabaseRequest, Fault, PreparedConfiguration, Reply, SnapshotFacts, StartedTrial, StoppedTrial, TextFile,
    UnderTest,
};

use super::outbox::{Outbox, cancelled, fault};
use super::shared::with;
use super::volumes::{CGROUP_ROOT, Volumes, device_limit};
use super::watch::{Bursts, watch};

/// Keyspace and table of the data set, as in YCSB.
const KEYSPACE: &str = "ycsb";
const TABLE: &str = "usertable";
/// The one node of a configuration.
const ADDRESS: Ipv4Addr = Ipv4Addr::LOCALHOST;
const NATIVE_PORT: u16 = 9042;
/// How long a killed run's agent may take to clean up before its work directory counts as taken.
const LOCK_PATIENCE: Duration = Duration::from_secs(20);
/// How long the loader may drain after SIGTERM; everything is flushed by then.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);
/// Heap of the unlimited database that loads the data set.
const LOADER_HEAP: u64 = 2 << 30;
/// Commit-log space; half of the smallest emulated commit-log volume.
const COMMITLOG_BYTES: u64 = 1 << 30;

pub(super) struct DatabaseHost {
    outbox: Outbox,
    opened: Option<Opened>,
}

/// Everything after `Open`.
struct Opened {
    task: UnderTest,
    work: WorkDirectory,
    ledger: Arc<Ledger>,
    distribution: Distribution,
    java: Java,
    snapshot_key: String,
    volumes: BTreeMap<String, Volumes>,
    loading: Option<Node>,
    active: Option<Active>,
}

/// A trial under way.
struct Active {
    configuration: String,
    node: Arc<Mutex<Node>>,
    cgroup: Arc<Cgroup>,
    bursts: Bursts,
    page_cache: Option<PageCacheBudget>,
    monitor: Option<Monitor>,
}

impl DatabaseHost {
    pub fn new(outbox: Outbox) -> Self {
        Self { outbox, opened: None }
    }

    pub fn handle(&mut self, request: DatabaseRequest) -> Result<Reply, Fault> {
        if let DatabaseRequest::Open(task) = request {
            return self.open(task);
        }
        if matches!(request, DatabaseRequest::Close) {
            self.close();
            return Ok(Reply::Closed);
        }
        let outbox = self.outbox.clone();
        let opened = self
            .opened
            .as_mut()
            .ok_or_else(|| fault("the database agent was not opened first"))?;
        let reply = match request {
            DatabaseRequest::StartLoading => opened.start_loading(&outbox),
            DatabaseRequest::FinishLoading => opened.finish_loading(&outbox),
            DatabaseRequest::Prepare { setup } => opened.prepare(&setup, &outbox),
            DatabaseRequest::StartTrial { setup, sample_keys } => {
                let started = opened.start_trial(&setup, &sample_keys, &outbox);
                if started.is_err() {
                    // Its logs are in the fault; what it had started must not stay.
                    let _ = opened.stop_trial();
                }
                started
            }
            DatabaseRequest::StopTrial => opened.stop_trial(),
            DatabaseRequest::Open(_) | DatabaseRequest::Close => unreachable!("handled above"),
        };
        if self.outbox.is_cancelled() && reply.is_err() {
            Err(cancelled())
        } else {
            reply
        }
    }

    fn open(&mut self, task: UnderTest) -> Result<Reply, Fault> {
        let work = self.lock(Path::new(&task.work_directory))?;
        let cleaned = storage::clean(&work.ledger_path()).map_err(fault)?;
        if let Some(problem) = storage::preflight(work.path(), task.needed_bytes, Path::new(CGROUP_ROOT))
            .into_iter()
            .next()
        {
            return Err(Fault {
                help: Some(problem.fix),
                ..fault(problem.what)
            });
        }
        let java = cassandra::find_java().map_err(fault)?;
        cassandra::Node::check_ports(&node_config(work.path(), Path::new(""), Path::new(""))).map_err(fault)?;
        let outbox = &self.outbox;
        let mut distribution = cassandra::ensure_distribution(
            &task.version,
            Path::new(&task.cache_directory),
            &mut |fetched| {
                outbox.progress(
                    format!("fetching Cassandra {}", task.version),
                    Some((fetched.bytes_done, fetched.bytes_total)),
                );
            },
            &|| outbox.is_cancelled(),
        )
        .map_err(fault)?;
        outbox.progress("preparing a class archive, once per Java and Cassandra version", None);
        if let Err(error) = cassandra::ensure_start_archive(&mut distribution, &java, &|| outbox.is_cancelled()) {
            // Without it everything works, only slower.
            tracing::warn!("no class archive: {error}");
        }
        let ledger = Arc::new(Ledger::open(&work.ledger_path()).map_err(fault)?);
        let snapshot_key = cassandra::snapshot_key(&task.version, &task.dataset, 1, 1);
        let opened = Opened {
            task,
            work,
            ledger,
            distribution,
            java,
            snapshot_key,
            volumes: BTreeMap::new(),
            loading: None,
            active: None,
        };
        let reply = Reply::Opened {
            cleaned: cleaned.removed,
            snapshot: opened.snapshot(),
            java: opened.java.version_text.clone(),
        };
        self.opened = Some(opened);
        Ok(reply)
    }

    /// The work directory. The agent of a run that was killed a moment ago may still be cleaning up, so it gets some
    /// time.
    fn lock(&self, path: &Path) -> Result<WorkDirectory, Fault> {
        let began = Instant::now();
        loop {
            match WorkDirectory::lock(path) {
                Err(StorageError::Locked { pid, .. })
                    if began.elapsed() < LOCK_PATIENCE && !self.outbox.is_cancelled() =>
                {
                    self.outbox
                        .progress(format!("waiting for process {pid:?} to leave {}", path.display()), None);
                    std::thread::sleep(Duration::from_millis(200));
                }
                other => return other.map_err(fault),
            }
        }
    }

    /// Undoes everything except the snapshot and the downloads.
    pub fn close(&mut self) {
        let Some(mut opened) = self.opened.take() else { return };
        let _ = opened.stop_trial();
        if let Some(mut node) = opened.loading.take() {
            node.kill();
        }
        for volumes in opened.volumes.values_mut() {
            if let Err(error) = volumes.detach() {
                tracing::warn!("{error}");
            }
        }
        opened.volumes.clear();
        let ledger_path = opened.work.ledger_path();
        drop(opened.ledger);
        // Whatever is still in the ledger (directories, images, anything that failed above) goes now.
        match storage::clean(&ledger_path) {
            Ok(cleaned) => cleaned
                .failed
                .iter()
                .for_each(|(what, why)| tracing::warn!("left behind: {what:?}: {why}")),
            Err(error) => tracing::warn!("{error}"),
        }
    }
}

impl Opened {
    fn start_timeout(&self) -> Duration {
        Duration::from_secs_f64(self.task.patience.start_s)
    }

    fn settle_timeout(&self) -> Duration {
        Duration::from_secs_f64(self.task.patience.settle_s)
    }

    fn run_directory(&self) -> PathBuf {
        self.work.path().join("runs").join(&self.task.run)
    }

    fn snapshot_directory(&self) -> PathBuf {
        self.work.path().join("snapshots").join(&self.snapshot_key)
    }

    fn snapshot(&self) -> Option<SnapshotFacts> {
        let text = std::fs::read_to_string(self.snapshot_directory().join("snapshot.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// A directory of this run that the ledger knows.
    fn claim_directory(&self, path: &Path) -> Result<(), Fault> {
        self.ledger
            .intend(LedgerItem::Directory { path: path.to_owned() })
            .map_err(fault)?;
        std::fs::create_dir_all(path).map_err(|e| fault(format!("cannot create {}: {e}", path.display())))
    }

    /// An unlimited database on the work directory's own file system.
    fn start_loading(&mut self, outbox: &Outbox) -> Result<Reply, Fault> {
        let directory = self.work.path().join("loading").join(&self.snapshot_key);
        if directory.exists() {
            storage::remove_tree(&directory).map_err(fault)?;
        }
        self.claim_directory(&directory)?;
        let mut config = node_config(&directory, &directory.join("data"), &directory.join("commitlog"));
        config.heap_bytes = LOADER_HEAP;
        config.direct_memory_bytes = LOADER_HEAP / 2;
        outbox.progress("starting Cassandra to load the data set", None);
        let mut node = Node::start(&self.distribution, &self.java, config, &[]).map_err(fault)?;
        self.remember_process(node.pid())?;
        let ready = node
            .wait_ready(self.start_timeout(), &|| outbox.is_cancelled())
            .map_err(not_started);
        self.loading = Some(node);
        ready?;
        let admin = Admin::connect(cql_address(), self.start_timeout()).map_err(fault)?;
        admin
            .create_schema(KEYSPACE, TABLE, &self.task.dataset, 1)
            .map_err(fault)?;
        Ok(Reply::Loading {
            contact_points: vec![cql_address().to_string()],
        })
    }

    fn finish_loading(&mut self, outbox: &Outbox) -> Result<Reply, Fault> {
        let mut node = self.loading.take().ok_or_else(|| fault("no database is loading"))?;
        let directory = self.work.path().join("loading").join(&self.snapshot_key);
        let config = node_config(&directory, &directory.join("data"), &directory.join("commitlog"));
        outbox.progress("flushing and compacting the data set", None);
        cassandra::flush_and_compact(&self.distribution, &self.java, &config, KEYSPACE).map_err(fault)?;
        let admin = Admin::connect(cql_address(), self.start_timeout()).map_err(fault)?;
        admin
            .wait_settled(1, self.settle_timeout(), &|| outbox.is_cancelled())
            .map_err(fault)?;
        drop(admin);
        outbox.progress("stopping Cassandra and keeping its data as a snapshot", None);
        node.stop(STOP_TIMEOUT).map_err(fault)?;
        // What it had only in memory would be missing from every trial.
        if !node.stopped_cleanly() {
            let how = node.exited().unwrap_or_default();
            return Err(Fault {
                help: Some("the next start loads the data set again".to_owned()),
                ..fault(format!(
                    "Cassandra did not stop in order after loading ({how}), so that its files may not be whole: they are not kept; the last lines of {}:\n{}",
                    node.system_log().display(),
                    node.log_tail(15).join("\n")
                ))
            });
        }
        let target = self.snapshot_directory();
        let data = directory.join("data");
        let facts = SnapshotFacts {
            key: self.snapshot_key.clone(),
            records: self.task.dataset.records,
            table_bytes: table_bytes(&data),
            bytes: storage::tree_bytes(&data),
        };
        let keep = || -> std::io::Result<()> {
            if target.exists() {
                std::fs::remove_dir_all(&target)?;
            }
            std::fs::create_dir_all(&target)?;
            std::fs::rename(&data, target.join("data"))?;
            // Written last: a snapshot without this file is not one.
            std::fs::write(target.join("snapshot.json"), serde_json::to_vec_pretty(&facts)?)?;
            std::fs::remove_dir_all(&directory)
        };
        keep().map_err(|e| fault(format!("cannot keep the snapshot in {}: {e}", target.display())))?;
        Ok(Reply::Snapshot(facts))
    }

    /// Volumes with the data set on them, measured by the probe.
    fn prepare(&mut self, setup: &Setup, outbox: &Outbox) -> Result<Reply, Fault> {
        if !self.volumes.contains_key(&setup.configuration) {
            let directory = self.run_directory();
            if !directory.exists() {
                self.claim_directory(&directory)?;
            }
            outbox.progress(
                format!(
                    "creating the volumes of {} and copying the data set",
                    setup.configuration
                ),
                None,
            );
            let snapshot = self.snapshot_directory().join("data");
            let mut volumes = Volumes::create(&self.ledger, &directory, setup, &snapshot).map_err(fault)?;
            outbox.progress(format!("measuring the volumes of {}", setup.configuration), None);
            volumes.probe(&self.ledger, &self.cgroup_name("probe")).map_err(fault)?;
            volumes.detach().map_err(fault)?;
            self.volumes.insert(setup.configuration.clone(), volumes);
        }
        let volumes = &self.volumes[&setup.configuration];
        Ok(Reply::Prepared(PreparedConfiguration {
            volumes: volumes.facts(),
        }))
    }

    fn start_trial(&mut self, setup: &Setup, sample_keys: &[String], outbox: &Outbox) -> Result<Reply, Fault> {
        let cgroup_name = self.cgroup_name("database");
        let volumes = self
            .volumes
            .get_mut(&setup.configuration)
            .ok_or_else(|| fault(format!("configuration {} was not prepared", setup.configuration)))?;
        outbox.progress("restoring the data set", None);
        let mut clock = Stopwatch::start();
        volumes.restore().map_err(fault)?;
        let data_directory = volumes.data_directory();
        let commitlog = volumes.commitlog_directory();
        let node_directory = self.work.path().join("runs").join(&self.task.run).join("node");
        if node_directory.exists() {
            storage::remove_tree(&node_directory).map_err(fault)?;
        }
        let cpus = cpu_limits(setup.cpus);
        // All CPUs for the start: what it computes does not depend on them (the number of CPUs is told to the JVM).
        let limits = ResourceLimits {
            memory_bytes: Some(setup.memory_limit_bytes),
            cpuset: cpus.cpuset.as_ref().map(|_| format!("0-{}", machine_cpus() - 1)),
            ..ResourceLimits::default()
        };
        let cgroup =
            Arc::new(Cgroup::create(Path::new(CGROUP_ROOT), &self.ledger, &cgroup_name, &limits).map_err(fault)?);
        let mut config = node_config(&node_directory, &data_directory, &commitlog);
        config.heap_bytes = setup.heap_bytes;
        config.direct_memory_bytes = setup.direct_memory_bytes;
        config.processors = setup.cpus;
        outbox.progress("starting Cassandra", None);
        let restore_s = clock.lap_s();
        let node = Node::start(&self.distribution, &self.java, config, &cgroup.launch_prefix()).map_err(|error| {
            // Nothing runs in it yet, so that it can go at once.
            let _ = cgroup.kill_all();
            fault(error)
        })?;
        let (pid, gc_log) = (node.pid(), node.gc_log());
        self.remember_process(pid)?;
        let node = Arc::new(Mutex::new(node));
        self.active = Some(Active {
            configuration: setup.configuration.clone(),
            node: Arc::clone(&node),
            cgroup: Arc::clone(&cgroup),
            bursts: Bursts::new(),
            page_cache: None,
            monitor: None,
        });
        with(&node, |n| n.wait_ready(self.start_timeout(), &|| outbox.is_cancelled())).map_err(not_started)?;
        let start_s = clock.lap_s();
        outbox.progress("waiting for Cassandra to settle", None);
        let admin = Admin::connect(cql_address(), self.start_timeout()).map_err(fault)?;
        admin
            .wait_settled(1, self.settle_timeout(), &|| outbox.is_cancelled())
            .map_err(fault)?;
        let present = admin.count_sample(KEYSPACE, TABLE, sample_keys).map_err(fault)?;
        if present as usize != sample_keys.len() {
            return Err(Fault {
                help: Some("remove the snapshot with: iopslab clean --snapshots".to_owned()),
                ..fault(format!(
                    "the restored data set is not whole: {present} of {} sampled keys exist",
                    sample_keys.len()
                ))
            });
        }
        // CPU and I/O limits come into force here: a start-up that crawls at 60 IOPS would measure nothing but
        // patience.
        cgroup
            .set_cpu_limits(cpus.cpus, cpus.cpuset.as_deref())
            .map_err(fault)?;
        let volumes = &self.volumes[&setup.configuration];
        let mut bursts = Bursts::new();
        for mounted in &volumes.mounted {
            let Some(limit) = device_limit(mounted) else { continue };
            cgroup.set_device_limits(limit.device, &limit.limits).map_err(fault)?;
            if let (Some(burst), Some(device)) = (mounted.setup.burst, mounted.volume.device()) {
                let (group, rest) = (Arc::clone(&cgroup), mounted.setup.limits);
                let apply = move |iops: f64| {
                    let limits = rest.min(spec::IoLimits::symmetric(Some(iops), None));
                    group.set_device_limits(limit.device, &limits)
                };
                let stat = Path::new("/sys/block").join(device).join("stat");
                let controller = BurstController::start(&stat, burst, apply).map_err(fault)?;
                bursts.push((mounted.setup.role, Arc::new(controller)));
            }
        }
        let started = StartedTrial {
            contact_points: vec![cql_address().to_string()],
            volumes: volumes.facts(),
            data_bytes_on_disk: table_bytes(&data_directory),
            keys_checked: present,
            overhead: Overhead {
                restore_s,
                start_s,
                settle_s: clock.lap_s(),
                stop_s: 0.0,
            },
        };
        let sources = Sources {
            root: PathBuf::from("/"),
            cgroup: cgroup_files(&cgroup),
            pid: Some(pid),
            is_database: true,
            devices: volumes
                .mounted
                .iter()
                .filter_map(|m| Some((m.setup.role, m.volume.device()?.to_owned())))
                .collect(),
            gc_log: Some(gc_log),
        };
        let monitor = watch(sources, admin, &node, &bursts, outbox.clone());
        if let Some(active) = &mut self.active {
            active.bursts = bursts;
            active.page_cache = Some(PageCacheBudget::hold(&cgroup, setup.page_cache_budget_bytes));
            active.monitor = Some(monitor);
        }
        Ok(Reply::Started(Box::new(started)))
    }

    /// Ends the database of a trial. It is killed rather than drained: its data is thrown away, and draining a large
    /// memtable through a small volume could take minutes.
    fn stop_trial(&mut self) -> Result<Reply, Fault> {
        let mut clock = Stopwatch::start();
        let mut logs = Vec::new();
        let mut data_bytes_on_disk = 0;
        if let Some(mut active) = self.active.take() {
            if let Some(monitor) = active.monitor.take() {
                monitor.stop();
            }
            drop(active.page_cache.take());
            for (_, burst) in active.bursts.drain(..) {
                // A limit that could not be moved any more does not matter once the trial is over.
                let _ = Arc::into_inner(burst).map(BurstController::stop);
            }
            with(&active.node, |node| {
                node.kill();
                for (name, path) in [("database.log", node.system_log()), ("gc.log", node.gc_log())] {
                    if let Ok(bytes) = std::fs::read(&path) {
                        logs.push(TextFile {
                            name: name.to_owned(),
                            text: String::from_utf8_lossy(&bytes).into_owned(),
                        });
                    }
                }
            });
            if let Some(volumes) = self.volumes.get(&active.configuration) {
                data_bytes_on_disk = table_bytes(&volumes.data_directory());
            }
            active.cgroup.kill_all().map_err(fault)?;
            active.cgroup.remove().map_err(fault)?;
        }
        for volumes in self.volumes.values_mut() {
            volumes.detach().map_err(fault)?;
        }
        Ok(Reply::Stopped(Box::new(StoppedTrial {
            logs,
            data_bytes_on_disk,
            stop_s: clock.lap_s(),
        })))
    }

    fn cgroup_name(&self, role: &str) -> String {
        format!("iopslab-{}-{role}", std::process::id())
    }

    fn remember_process(&self, pid: u32) -> Result<(), Fault> {
        match LedgerItem::process(pid, "Cassandra") {
            Some(item) => self.ledger.intend(item).map(|_| ()).map_err(fault),
            None => Err(fault("Cassandra ended as soon as it was started")),
        }
    }
}

/// Laps of one clock.
struct Stopwatch(Instant);

impl Stopwatch {
    fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the start or the last lap.
    fn lap_s(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.0, now)).as_secs_f64()
    }
}

/// A database that did not start, with what a user can do about one that is only slow.
fn not_started(error: NodeError) -> Fault {
    let help = match &error {
        NodeError::NotReady { .. } => {
            Some("on a very slow machine, raise start_timeout_s in [provider.local]".to_owned())
        }
        _ => None,
    };
    Fault { help, ..fault(error) }
}

/// Whole CPUs are given whole: the last ones of the machine, by cpuset. A quota on more CPUs would stop the database
/// for up to 100 ms in each period once it is spent, which shows as steps in every latency percentile (measured: p95 of
/// 50 ms). Only a fraction of a CPU needs the quota.
fn cpu_limits(cpus: f64) -> ResourceLimits {
    let machine = machine_cpus();
    let whole = (cpus.ceil() as usize).clamp(1, machine);
    let last = machine - 1;
    let first = machine - whole;
    ResourceLimits {
        cpus: (cpus.fract() > 0.0).then_some(cpus),
        cpuset: (whole < machine).then(|| format!("{first}-{last}")),
        ..ResourceLimits::default()
    }
}

fn machine_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn cql_address() -> SocketAddr {
    SocketAddr::new(ADDRESS.into(), NATIVE_PORT)
}

fn node_config(directory: &Path, data: &Path, commitlog: &Path) -> NodeConfig {
    // One cluster name for all runs: the snapshot's system tables remember it, and Cassandra refuses another one.
    let mut config = NodeConfig::new("iopslab", ADDRESS, directory);
    config.data_directory = data.to_owned();
    config.commitlog_directory = commitlog.to_owned();
    // Small enough for every emulated commit-log volume.
    config.commitlog_total_bytes = Some(COMMITLOG_BYTES);
    config
}

fn cgroup_files(cgroup: &Cgroup) -> CgroupFiles {
    let paths = cgroup.paths();
    let path = |controller: &Option<storage::ControllerPath>| controller.as_ref().map(|c| c.path.clone());
    CgroupFiles {
        memory_dir: path(&paths.memory),
        cpu_dir: path(&paths.cpu),
        cpuacct_dir: path(&paths.cpuacct),
        v2: paths
            .memory
            .as_ref()
            .is_some_and(|c| c.version == storage::CgroupVersion::V2),
    }
}

/// Bytes of the data set's table below a Cassandra data directory.
fn table_bytes(data_directory: &Path) -> u64 {
    storage::tree_bytes(&data_directory.join(KEYSPACE))
}
