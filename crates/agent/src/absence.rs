//! A node that is away by plan: how it is taken away and brought back. A disk that fails is an absence, too, though the
//! node stays, and so are a compaction beside the load and a cache in front of it that is lost.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use database::{RunningNode, ServerError};
use experiment::FaultAction;
use process::machine::unix_ms;
use storage::NetworkCut;
use wire::{Moments, RequestError, Result};

use super::cache_tier::CacheTier;
use super::disk_fault::{self, Failing};
use super::host::Host;
use super::outbox::Outbox;
use super::server::{Database, KEYSPACE};
use super::shared::with;
use super::volumes::Volumes;

/// How long a node may take to drain before it is killed. Cassandra itself waits up to a minute for its peers
/// (`MessagingService.shutdown`), and under a small volume a large memtable takes its time.
const DRAIN_PATIENCE: Duration = Duration::from_secs(90);
/// Between two looks at a compaction; its end is noted when it comes.
const LOOK: Duration = Duration::from_millis(50);

/// What keeps the node away, or its disk from working.
pub(super) enum Absence {
    /// Its process has ended.
    Ended,
    /// Its process stands still.
    Paused,
    /// Its packets are dropped.
    Cut(NetworkCut),
    /// Nothing: it is there, and this volume of it fails.
    Disk(Failing),
    /// Nothing: it is there, and compacts.
    Compacting(Compacting),
    /// Nothing: it is there, and this node of the caches in front of it is not.
    Cache(u32),
}

/// A compaction under way.
pub(super) struct Compacting(JoinHandle<(Result<(), ServerError>, f64)>);

impl Compacting {
    fn begin(node: &dyn RunningNode) -> Self {
        let work = node.maintenance(KEYSPACE);
        Self(std::thread::spawn(move || (work(), unix_ms())))
    }

    /// Waits until it is done; gives when that was, Unix milliseconds. One that is not awaited ends with its node.
    pub fn end(self, outbox: &Outbox) -> Result<f64> {
        while !self.0.is_finished() {
            if outbox.is_cancelled() {
                return Err(RequestError::cancelled());
            }
            std::thread::sleep(LOOK);
        }
        let (result, done_unix_ms) =
            self.0.join().map_err(|_| RequestError::new("the compaction's thread has failed"))?;
        result?;
        Ok(done_unix_ms)
    }
}

/// Takes a node away, now; says how it went otherwise than was asked for.
pub(super) fn begin(
    action: FaultAction,
    node: &Arc<Mutex<Box<dyn RunningNode>>>,
    host: &Host,
    (database, caches): (&Database, Option<&mut CacheTier>),
    volumes: &Volumes,
) -> Result<(Absence, Moments, Option<String>)> {
    let began_unix_ms = unix_ms();
    let mut problem = None;
    let absence = match action {
        FaultAction::NodeStop => {
            let drained = with(node, |n| n.stop(DRAIN_PATIENCE).map(|()| n.stopped_cleanly()))?;
            let took_s = (unix_ms() - began_unix_ms) / 1e3;
            problem = (!drained).then(|| {
                format!("it had not stopped in order when its process ended or was killed, after {took_s:.0} s")
            });
            Absence::Ended
        }
        FaultAction::NodeKill => {
            with(node, |n| n.kill());
            Absence::Ended
        }
        FaultAction::NodePause => {
            with(node, |n| n.pause());
            Absence::Paused
        }
        FaultAction::HostCut => {
            let table = Host::cgroup_name("cut").replace('-', "_");
            let cut = NetworkCut::begin(&host.ledger, &table, database.addresses(), &database.tcp_ports());
            Absence::Cut(cut?)
        }
        FaultAction::Compaction => Absence::Compacting(with(node, |n| Compacting::begin(&**n))),
        FaultAction::CacheKill { cache_node } => {
            let caches = caches.ok_or_else(|| RequestError::new("no caches are in front of this database"))?;
            caches.kill(cache_node)?;
            Absence::Cache(cache_node)
        }
        FaultAction::DiskStall { volume }
        | FaultAction::DiskSlow { volume, .. }
        | FaultAction::DiskError { volume, .. }
        | FaultAction::DiskFull { volume } => {
            let (failing, moments) = disk_fault::begin(action, volume, volumes)?;
            return Ok((Absence::Disk(failing), moments, None));
        }
    };
    let done_unix_ms = unix_ms();
    Ok((absence, Moments { began_unix_ms, done_unix_ms }, problem))
}
