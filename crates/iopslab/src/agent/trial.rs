//! The database of one trial: restored data, limits, the node's life, and what is watched meanwhile.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use database::{Directories, RunningNode};
use evidence::Overhead;
use monitor::Monitor;
use spec::Setup;
use wire::{Fault, StartedTrial, TextFile};

use super::host::Host;
use super::limits::Limits;
use super::outbox::fault;
use super::product;
use super::server::{Database, KEYSPACE, NodeResources, TABLE};
use super::shared::with;
use super::volumes::Volumes;
use super::watch::watch;

/// A trial under way.
pub(super) struct Trial {
    setup: Setup,
    limits: Limits,
    node: Option<Arc<Mutex<Box<dyn RunningNode>>>>,
    monitor: Option<Monitor>,
    began_unix_ms: i64,
    clock: Stopwatch,
}

impl Trial {
    /// Cold volumes with restored data, and what limits the node. [`Self::start`] follows, so that a start that fails
    /// leaves something to stop.
    pub fn prepare(host: &Host, volumes: &mut Volumes, setup: &Setup, limits: Limits) -> Result<Self, Fault> {
        host.outbox.progress("restoring the data set", None);
        let began_unix_ms = jiff::Timestamp::now().as_millisecond();
        let clock = Stopwatch::start();
        volumes.restore().map_err(fault)?;
        Ok(Self {
            setup: setup.clone(),
            limits,
            node: None,
            monitor: None,
            began_unix_ms,
            clock,
        })
    }

    /// The name of its configuration.
    pub fn configuration(&self) -> &str {
        &self.setup.configuration
    }

    /// A settled database with the whole data set, all limits in force, watched.
    pub fn start(
        &mut self,
        host: &Host,
        database: &Database,
        volumes: &Volumes,
        sample_keys: &[String],
    ) -> Result<StartedTrial, Fault> {
        let (setup, outbox, name) = (&self.setup, &host.outbox, database.name());
        let directories = Directories {
            own: host.node_directory()?,
            data: volumes.data_directory(),
            commitlog: volumes.commitlog_directory(),
        };
        outbox.progress(format!("starting {name}"), None);
        let restore_s = self.clock.lap_s();
        let resources = NodeResources {
            directories,
            memory: product::memory(setup),
            cpus: setup.cpus,
            launch_prefix: self.limits.launch_prefix(),
        };
        let node = database.start(setup.placement, resources)?;
        let (pid, logs) = (node.pid(), node.logs());
        let node = self.node.insert(Arc::new(Mutex::new(node)));
        host.remember_process(pid, name)?;
        with(node, |n| database.wait_ready(&mut **n, outbox))?;
        let start_s = self.clock.lap_s();
        outbox.progress(format!("waiting for {name} to settle"), None);
        with(node, |n| database.settle(setup.placement, &mut **n, outbox))?;
        let keys_checked = with(node, |n| check_sample(&mut **n, sample_keys))?;
        self.limits.enforce(volumes)?;
        let started = StartedTrial {
            contact_points: database.contact_points(),
            volumes: volumes.facts(),
            data_bytes_on_disk: database.data_set_bytes(&volumes.data_directory()),
            keys_checked,
            began_unix_ms: self.began_unix_ms,
            overhead: Some(Overhead {
                restore_s,
                start_s,
                settle_s: self.clock.lap_s(),
                stop_s: 0.0,
            }),
        };
        let sources = product::sources(pid, self.limits.files(), volumes.devices(), &logs);
        let metrics = with(node, |n| n.metrics()).map_err(fault)?;
        self.monitor = Some(watch(sources, metrics, node, &self.limits.bursts, outbox.clone()));
        self.limits.hold_page_cache(setup.page_cache_budget_bytes);
        Ok(started)
    }

    /// Ends the database, removes its cgroup, and gives its logs. It is killed rather than drained: its data is thrown
    /// away, and draining a large memtable through a small volume could take minutes.
    pub fn stop(mut self) -> Result<Vec<TextFile>, Fault> {
        if let Some(monitor) = self.monitor.take() {
            monitor.stop();
        }
        self.limits.rest();
        let logs = self.node.take().map(|node| {
            with(&node, |node| {
                node.kill();
                node.logs()
            })
        });
        let text = |log: database::NodeLog| {
            let bytes = std::fs::read(&log.path).ok()?;
            Some(TextFile {
                name: log.name.to_owned(),
                text: String::from_utf8_lossy(&bytes).into_owned(),
            })
        };
        let logs = logs.into_iter().flatten().filter_map(text).collect();
        self.limits.release()?;
        Ok(logs)
    }
}

/// Every key of the sample must exist.
fn check_sample(node: &mut dyn RunningNode, keys: &[String]) -> Result<u32, Fault> {
    let present = node.count_sample(KEYSPACE, TABLE, keys).map_err(fault)?;
    if present as usize == keys.len() {
        return Ok(present);
    }
    Err(Fault {
        help: Some("remove the snapshot with: iopslab clean --snapshots".to_owned()),
        ..fault(format!(
            "the restored data set is not whole: {present} of {} sampled keys exist",
            keys.len()
        ))
    })
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
