//! The agent of a machine that is for a node of a cache tier alone: what the controller asks of it is what it asks of a
//! database's agent, as far as a cache has anything to do with it.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use database::memcached::{PROGRAM, can_listen};
use evidence::HostSample;
use experiment::{FaultAction, Setup};
use monitor::{Monitor, Sources};
use process::machine::unix_ms;
use wire::{DatabaseRequest, Event, Moments, Reply, RequestError, Result, StartedTrial, StoppedTrial, UnderTest};

use super::backing::is_limited;
use super::cache_tier::CacheTier;
use super::check;
use super::host::{self, Host};
use super::outbox::Outbox;
use super::sampling::Asked;
use super::trial::Stopwatch;

/// The only node of the tier that is here.
const OWN: u32 = 1;

pub(super) struct CacheHost {
    outbox: Outbox,
    opened: Option<Opened>,
    /// Where the ledger is, once there is one: for the watchdog.
    ledger: Arc<OnceLock<PathBuf>>,
}

/// Everything after `Open`.
struct Opened {
    host: Host,
    /// Where its node listens.
    address: Ipv4Addr,
    /// Whether it is held to what it was promised.
    limited: bool,
    /// The node of the trial under way.
    cache: Option<CacheTier>,
    monitor: Option<Monitor>,
}

impl CacheHost {
    pub fn new(outbox: Outbox, ledger: Arc<OnceLock<PathBuf>>) -> Self {
        Self { outbox, opened: None, ledger }
    }

    pub fn handle(&mut self, request: DatabaseRequest) -> Result<Reply> {
        match request {
            DatabaseRequest::Check(needs) => Ok(Reply::Checked(check::of_cache(&needs))),
            DatabaseRequest::Open(task) => self.open(*task),
            DatabaseRequest::Close => {
                self.close();
                Ok(Reply::Closed)
            }
            request => {
                let opened = self.opened.as_mut();
                opened.ok_or_else(|| RequestError::new("the agent of a cache was not opened first"))?.handle(request)
            }
        }
    }

    fn open(&mut self, task: UnderTest) -> Result<Reply> {
        let path = host::work_directory(&task.work_directory);
        let machine = host::take_machine(&task, &self.outbox)?;
        let (work, cleaned) = host::take_clean(&path, &self.outbox)?;
        let address = task.addresses.get(task.index as usize).copied();
        let address = address.ok_or_else(|| RequestError::new("a cache has no address to listen at"))?;
        // Here, when what an earlier run had left is gone, and before a data set is loaded for hours.
        can_listen(address).map_err(|error| {
            let fix = "end what listens there (a service of the same name may listen at all addresses), or state an \
                       `address` that this machine has in [provider.hosts] cache";
            RequestError::new(error).help(fix)
        })?;
        // It was set before only if the same directory was opened before.
        let _ = self.ledger.set(work.ledger_path());
        let host = Host::open(work, machine, task.run, self.outbox.clone())?;
        let limited = is_limited(task.machine_use.as_ref());
        self.opened = Some(Opened { host, address, limited, cache: None, monitor: None });
        Ok(Reply::Opened { cleaned, software: Vec::new() })
    }

    /// Undoes everything.
    pub fn close(&mut self) {
        let Some(mut opened) = self.opened.take() else { return };
        if let Err(request_error) = opened.stop_trial() {
            tracing::warn!("{}", request_error.message);
        }
        opened.host.close();
    }
}

impl Opened {
    fn handle(&mut self, request: DatabaseRequest) -> Result<Reply> {
        match request {
            DatabaseRequest::StartTrial { setup, .. } => self.start_trial(&setup),
            DatabaseRequest::Empty => {
                let cache = self.cache.as_mut().ok_or_else(no_trial)?;
                cache.empty(&self.host).map(|()| Reply::Emptied)
            }
            DatabaseRequest::Hold => {
                self.cache.as_ref().ok_or_else(no_trial)?.hold()?;
                self.watch().map(|()| Reply::Held)
            }
            DatabaseRequest::StartFault(FaultAction::CacheKill { .. }) => {
                let began_unix_ms = unix_ms();
                self.cache.as_mut().ok_or_else(no_trial)?.kill(OWN)?;
                let moments = Moments { began_unix_ms, done_unix_ms: unix_ms() };
                Ok(Reply::FaultStarted { moments, problem: None })
            }
            DatabaseRequest::EndFault => {
                let began_unix_ms = unix_ms();
                self.cache.as_mut().ok_or_else(no_trial)?.bring_back(&self.host, OWN)?;
                let moments = Moments { began_unix_ms, done_unix_ms: unix_ms() };
                // Another process is watched from here on.
                self.watch()?;
                Ok(Reply::FaultEnded { moments, failed_requests: None })
            }
            DatabaseRequest::StopTrial { .. } => self.stop_trial().map(|stopped| Reply::Stopped(Box::new(stopped))),
            other => Err(RequestError::new(format!("the agent of a cache cannot do {other:?}"))),
        }
    }

    /// An empty node that answers, and has all CPUs of its machine until it is held.
    fn start_trial(&mut self, setup: &Setup) -> Result<Reply> {
        let began_unix_ms = jiff::Timestamp::now().as_millisecond();
        // What a trial has left that was given up.
        self.stop_trial()?;
        let tier = setup.cache_tier.as_ref();
        let tier = tier.ok_or_else(|| RequestError::new("this configuration has no cache tier"))?;
        let cache = CacheTier::start_alone(&self.host, tier, self.address, self.limited)?;
        let caches = cache.addresses();
        self.cache = Some(cache);
        Ok(Reply::Started(Box::new(StartedTrial { began_unix_ms, caches, ..StartedTrial::default() })))
    }

    /// From now on this machine and its node are sampled once a second.
    fn watch(&mut self) -> Result<()> {
        // One after the other.
        drop(self.monitor.take());
        let cache = self.cache.as_ref().ok_or_else(no_trial)?;
        let (pid, cgroup) = cache.watched();
        let sources = Sources { root: PathBuf::from("/"), cgroup, pid, ..Sources::default() };
        let mut asked = Asked::of(Box::new(cache.stats()?));
        let annotate = move |sample: &mut HostSample| asked.note(&mut sample.database);
        let outbox = self.host.outbox.clone();
        let sink = move |sample| outbox.send(&Event::Sample(Box::new(sample)));
        self.monitor = Some(Monitor::start(sources, Some(Box::new(annotate)), Box::new(sink)));
        Ok(())
    }

    fn stop_trial(&mut self) -> Result<StoppedTrial> {
        let mut clock = Stopwatch::start();
        drop(self.monitor.take());
        let mut stopped = StoppedTrial::default();
        if let Some(mut cache) = self.cache.take() {
            stopped.caches_lost = cache.lost();
            cache.end()?;
        }
        stopped.stop_s = clock.lap_s();
        Ok(stopped)
    }
}

fn no_trial() -> RequestError {
    RequestError::new(format!("no trial is under way that has {PROGRAM} here"))
}
