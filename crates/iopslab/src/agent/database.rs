//! The database agent: what the controller asks of it, in the order in which it may ask.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use experiment::{DataSetFiles, Setup};
use wire::{DatabaseRequest, MachineUse, PreparedConfiguration, Reply, RequestError, StoppedTrial, UnderTest};

use super::backing::{Store, is_limited};
use super::check::problems;
use super::fork::Fork;
use super::host::{self, Host};
use super::limits::Limits;
use super::loading::Loading;
use super::logs::KeptLog;
use super::outbox::{Outbox, cancelled, request_error};
use super::restored::Restored;
use super::server::Database;
use super::store;
use super::trial::{Stopwatch, Trial};
use super::volumes::Volumes;
use super::watching::Watching;

pub(super) struct DatabaseHost {
    outbox: Outbox,
    opened: Option<Opened>,
    /// The node of somebody else's, where this agent only looks.
    watching: Option<Watching>,
    /// Where the ledger is, once there is one: for the watchdog.
    ledger: Arc<OnceLock<PathBuf>>,
}

/// Everything after `Open`.
struct Opened {
    host: Host,
    store: Store,
    machine_use: Option<MachineUse>,
    database: Database,
    /// By the first configuration of those that share them.
    volumes: BTreeMap<String, Volumes>,
    /// Of each configuration, by which name its volumes are found.
    shared_with: BTreeMap<String, String>,
    /// The configurations whose volumes those of a name are: the one of this name, and others.
    sharers: BTreeMap<String, (Setup, Vec<Setup>)>,
    /// The data volume, where it was made from a snapshot of EBS and is initialised.
    restored: Option<Restored>,
    loading: Option<Loading>,
    trial: Option<Trial>,
    /// The database that was kept from the trial before, with the configuration of that.
    kept: Option<(Setup, Fork)>,
    /// What the trial that was stopped last has left to read.
    logs: Vec<KeptLog>,
    /// Number of this host among those of its machine.
    on_machine: u32,
}

impl DatabaseHost {
    pub fn new(outbox: Outbox, ledger: Arc<OnceLock<PathBuf>>) -> Self {
        Self {
            outbox,
            opened: None,
            watching: None,
            ledger,
        }
    }

    pub fn handle(&mut self, request: DatabaseRequest) -> Result<Reply, RequestError> {
        if let DatabaseRequest::Check(needs) = &request {
            return Ok(Reply::Checked(problems(needs)));
        }
        if let DatabaseRequest::Open(task) = request {
            return self.open(task);
        }
        if matches!(request, DatabaseRequest::Close) {
            self.close();
            return Ok(Reply::Closed);
        }
        if let DatabaseRequest::Watch(task) = request {
            let (watching, facts) = Watching::begin(task)?;
            self.watching = Some(watching);
            return Ok(Reply::Watched(facts));
        }
        if let Some(watching) = &mut self.watching {
            return match request {
                DatabaseRequest::StartTrial { setup, .. } => watching.start_trial(&setup, &self.outbox),
                DatabaseRequest::StopTrial { .. } => Ok(watching.stop_trial()),
                other => Err(request_error(format!("an agent that only watches cannot do {other:?}"))),
            };
        }
        let opened = self
            .opened
            .as_mut()
            .ok_or_else(|| request_error("the database agent was not opened first"))?;
        let reply = match request {
            DatabaseRequest::Initialise { files } => opened.initialise(&files),
            DatabaseRequest::FindSnapshot { files } => Ok(opened.find_snapshot(&files)),
            DatabaseRequest::FindKept { files, directory } => store::find(&opened.database, &files, &directory),
            DatabaseRequest::Restore { files, kept, from } => {
                store::restore(&opened.host, &opened.database, &files, &kept, &from)
            }
            DatabaseRequest::MeasureArchive { files } => store::measure(&opened.host, &opened.database, &files),
            DatabaseRequest::KeepInStore { files, to, run } => {
                store::keep(&opened.host, &opened.database, &files, &to, run)
            }
            DatabaseRequest::StartLoading { files, loading } => opened.start_loading(files, loading),
            DatabaseRequest::FinishLoading => opened.finish_loading(),
            DatabaseRequest::FlushBacklog => opened.flush_backlog(),
            DatabaseRequest::KeepSnapshot => opened.keep_snapshot(),
            DatabaseRequest::Prepare { setup, others } => opened.prepare(&setup, &others),
            DatabaseRequest::StartTrial {
                setup,
                workload,
                sample_keys,
                database_cpus,
                ..
            } => {
                opened.replace_held(&setup)?;
                let mut started = opened.start_trial(&setup, database_cpus, (&sample_keys, &workload));
                if started.is_err() && !self.outbox.is_cancelled() && opened.replace_held(&setup)? {
                    started = opened.start_trial(&setup, database_cpus, (&sample_keys, &workload));
                }
                if let Err(request_error) = &mut started {
                    let lost = opened.volumes_of(&setup.configuration).and_then(Volumes::lost);
                    if let Some(how) = lost {
                        request_error.message = format!("{how}; {}", request_error.message);
                    }
                    // Its logs are in the fault; what it had started must not stay.
                    let _ = opened.stop_trial(false);
                }
                started
            }
            DatabaseRequest::Usage => opened.trial_with(|trial, host, _, volumes| trial.usage(host, volumes)),
            DatabaseRequest::Empty => opened.trial_with(|trial, _, _, _| trial.empty()),
            DatabaseRequest::Renew { cache } => {
                opened.trial_with(|trial, host, database, volumes| trial.renew(host, database, volumes, cache))
            }
            DatabaseRequest::LookUp { sample_keys } => opened.trial_with(|trial, _, _, _| trial.look_up(&sample_keys)),
            DatabaseRequest::Hold => opened.trial_with(|trial, host, _, volumes| trial.hold(host, volumes)),
            DatabaseRequest::CompactBacklog => opened.trial_with(|trial, _, _, _| trial.compact_backlog()),
            DatabaseRequest::StartFault(action) => {
                opened.trial_with(|trial, host, database, volumes| trial.start_fault(action, host, database, volumes))
            }
            DatabaseRequest::EndFault => {
                opened.trial_with(|trial, host, database, volumes| trial.end_fault(host, database, volumes))
            }
            DatabaseRequest::StopTrial { keeps } => opened.stop_trial(keeps),
            DatabaseRequest::ReadLog { name, offset } => opened.read_log(&name, offset),
            DatabaseRequest::Check(_)
            | DatabaseRequest::Open(_)
            | DatabaseRequest::Close
            | DatabaseRequest::Watch(_) => {
                unreachable!("handled above")
            }
        };
        if self.outbox.is_cancelled() && reply.is_err() {
            Err(cancelled())
        } else {
            reply
        }
    }

    fn open(&mut self, task: UnderTest) -> Result<Reply, RequestError> {
        let outbox = &self.outbox;
        let path = host::work_directory(&task.work_directory);
        let machine = host::take_machine(&task, outbox)?;
        let (work, cleaned) = host::take(&path, task.needed_bytes, task.machine_use.as_ref(), outbox)?;
        // It was set before only if the same directory was opened before.
        let _ = self.ledger.set(work.ledger_path());
        let host = Host::open(work, machine, task.run.clone(), outbox.clone())?;
        let database = match Database::install(&task, &host) {
            Ok(database) => database,
            Err(request_error) => {
                host.close();
                return Err(request_error);
            }
        };
        let reply = Reply::Opened {
            cleaned,
            software: Some(database.software()),
        };
        let store = Store::new(&host.ledger, host.run_directory(), &host.run, task.machine_use.clone());
        self.opened = Some(Opened {
            host,
            store,
            machine_use: task.machine_use,
            database,
            volumes: BTreeMap::new(),
            shared_with: BTreeMap::new(),
            sharers: BTreeMap::new(),
            restored: None,
            loading: None,
            trial: None,
            kept: None,
            logs: Vec::new(),
            on_machine: task.on_machine,
        });
        Ok(reply)
    }

    /// Undoes everything except the snapshot and the downloads.
    pub fn close(&mut self) {
        self.watching = None;
        let Some(mut opened) = self.opened.take() else { return };
        let _ = opened.stop_trial(false);
        if let Some(mut loading) = opened.loading.take() {
            loading.kill();
        }
        for volumes in opened.volumes.values_mut() {
            if let Err(error) = volumes.detach() {
                tracing::warn!("{error}");
            }
        }
        opened.volumes.clear();
        drop(opened.store);
        opened.host.close();
    }
}

impl Opened {
    /// From here on the data volume's own data set is the snapshot.
    fn initialise(&mut self, files: &DataSetFiles) -> Result<Reply, RequestError> {
        let machine_use = self.machine_use.as_ref();
        let machine_use =
            machine_use.ok_or_else(|| request_error("this host has no volume of its own to initialise"))?;
        let (key, records) = (self.database.snapshot_key(files), self.database.dataset.records);
        let (restored, before) = Restored::initialise(&self.host, machine_use, (&key, records))?;
        let how = restored.how.clone();
        self.restored = Some(restored);
        Ok(Reply::Initialised { how, before })
    }

    fn find_snapshot(&self, files: &DataSetFiles) -> Reply {
        let key = self.database.snapshot_key(files);
        let restored = self.restored.as_ref().filter(|restored| restored.facts.key == key);
        Reply::Found {
            snapshot: match restored {
                Some(restored) => Some(restored.facts.clone()),
                None => self.host.snapshot(&key),
            },
            key,
        }
    }

    fn start_loading(&mut self, files: DataSetFiles, name: String) -> Result<Reply, RequestError> {
        let loading = Loading::start(&self.host, &self.database, files, name)?;
        let loading = self.loading.insert(loading);
        loading.make_ready(&self.host, &self.database)?;
        Ok(Reply::Loading {
            contact_points: self.database.contact_points(),
        })
    }

    fn finish_loading(&mut self) -> Result<Reply, RequestError> {
        let loading = self
            .loading
            .as_mut()
            .ok_or_else(|| request_error("no database is loading"))?;
        loading.finish(&self.host, &self.database)?;
        Ok(Reply::AtRest)
    }

    fn flush_backlog(&mut self) -> Result<Reply, RequestError> {
        let loading = self
            .loading
            .as_mut()
            .ok_or_else(|| request_error("no database is loading"))?;
        loading.flush_backlog(&self.host)?;
        Ok(Reply::Flushed)
    }

    fn keep_snapshot(&mut self) -> Result<Reply, RequestError> {
        let loading = self
            .loading
            .as_mut()
            .ok_or_else(|| request_error("no database is loading"))?;
        let facts = loading.keep(&self.host, &self.database)?;
        self.loading = None;
        Ok(Reply::Snapshot(facts))
    }

    /// Volumes with the data set on them, measured by the probe. Where the process that answers for them is lost meanwhile
    /// they are made once more: no trial has begun that would have seen it.
    ///
    /// `others` are the configurations that share the process of this one, and so its volumes.
    fn prepare(&mut self, setup: &Setup, others: &[Setup]) -> Result<Reply, RequestError> {
        let name = &setup.configuration;
        if !self.shared_with.contains_key(name) {
            let volumes = match self.make_volumes(setup, others) {
                Err(request_error) if !self.host.outbox.is_cancelled() && self.store.is_server_lost() => {
                    tracing::warn!("the volumes of {name} are made once more: {}", request_error.message);
                    self.make_volumes(setup, others)?
                }
                made => made?,
            };
            self.volumes.insert(name.clone(), volumes);
            self.sharers.insert(name.clone(), (setup.clone(), others.to_vec()));
            for sharer in std::iter::once(setup).chain(others) {
                self.shared_with.insert(sharer.configuration.clone(), name.clone());
            }
        }
        Ok(Reply::Prepared(PreparedConfiguration {
            volumes: self.volumes_of(name).map(Volumes::facts).unwrap_or_default(),
        }))
    }

    /// Where somebody else keeps a volume of this configuration, its volumes are made anew under other names, and the old ones left in
    /// the ledger: a copy of a mount in a stranger's namespace costs a volume, not the run. Whether it was so.
    fn replace_held(&mut self, setup: &Setup) -> Result<bool, RequestError> {
        let Some(name) = self.shared_with.get(&setup.configuration).cloned() else {
            return Ok(false);
        };
        let held = self.volumes.get(&name).and_then(Volumes::held_elsewhere);
        let (Some(how), Some((first, others))) = (held, self.sharers.get(&name).cloned()) else {
            return Ok(false);
        };
        tracing::warn!("{how}: the volumes of {name} are made anew");
        let _ = self.stop_trial(false);
        // It would wait for them once more.
        std::mem::forget(self.volumes.remove(&name));
        self.store.give_up();
        let volumes = self.make_volumes(&first, &others)?;
        self.volumes.insert(name, volumes);
        Ok(true)
    }

    fn volumes_of(&self, configuration: &str) -> Option<&Volumes> {
        self.volumes.get(self.shared_with.get(configuration)?)
    }

    fn make_volumes(&mut self, setup: &Setup, others: &[Setup]) -> Result<Volumes, RequestError> {
        // The volumes of another process are in nobody's way once that has ended.
        self.end_kept()?;
        let (host, name) = (&self.host, &setup.configuration);
        let directory = host.run_directory();
        if !directory.exists() {
            host.claim_directory(&directory)?;
        }
        let doing = format!("creating the volumes of {name} and copying the data set");
        host.outbox.progress(doing, None);
        let key = self.database.snapshot_key(&DataSetFiles::of(setup));
        let restored = self.restored.as_ref().filter(|restored| restored.facts.key == key);
        let snapshot = restored.map_or_else(|| host.snapshot_directory(&key), |r| r.directory.clone());
        let initialised = restored.map(|restored| &restored.how);
        let data = snapshot.join("data");
        let mut volumes =
            Volumes::create(&mut self.store, (setup, others), Some(&data), initialised).map_err(request_error)?;
        if let Some(account) = &host.account {
            volumes.hand_to(account).map_err(request_error)?;
        }
        let cgroup = is_limited(self.machine_use.as_ref()).then(|| Host::cgroup_name("probe"));
        for measured in others.iter().chain([setup]) {
            let doing = format!("measuring the volumes of {}", measured.configuration);
            host.outbox.progress(doing, None);
            if let Err(error) = volumes.probe(measured, cgroup.as_deref()) {
                let how = volumes.lost().map_or_else(String::new, |how| format!("{how}; "));
                return Err(request_error(format!("{how}{error}")));
            }
        }
        volumes.detach().map_err(request_error)?;
        Ok(volumes)
    }

    fn start_trial(
        &mut self,
        setup: &Setup,
        database_cpus: f64,
        how: (&[String], &str),
    ) -> Result<Reply, RequestError> {
        let serves = |(before, fork): &(Setup, Fork)| before.shares_process_with(setup) && fork.ended().is_none();
        let fork = match self.kept.take_if(|kept| serves(kept)) {
            Some((_, fork)) => fork.goes_on(setup, self.on_machine, database_cpus),
            None => {
                self.end_kept()?;
                Fork::new(match is_limited(self.machine_use.as_ref()) {
                    true => Limits::for_start(&self.host.ledger, setup, self.on_machine, database_cpus)?,
                    false => Limits::none(),
                })
            }
        };
        let shared = self.shared_with.get(&setup.configuration);
        let volumes = shared.and_then(|name| self.volumes.get_mut(name));
        let volumes =
            volumes.ok_or_else(|| request_error(format!("configuration {} was not prepared", setup.configuration)))?;
        let trial = self.trial.insert(Trial::prepare(&self.host, volumes, setup, fork)?);
        let started = trial.start(&self.host, &self.database, volumes, how)?;
        Ok(Reply::Started(Box::new(started)))
    }

    /// The database that was kept from the trial before is ended, and its volumes are detached.
    fn end_kept(&mut self) -> Result<(), RequestError> {
        if let Some((_, fork)) = self.kept.take() {
            fork.end()?;
            self.detach()?;
        }
        Ok(())
    }

    /// Those that somebody else keeps are left: they are made anew when they are needed.
    fn detach(&mut self) -> Result<(), RequestError> {
        for volumes in self.volumes.values_mut() {
            match volumes.detach() {
                Err(error) if volumes.held_elsewhere().is_some() => tracing::warn!("{error}"),
                detached => detached.map_err(request_error)?,
            }
        }
        Ok(())
    }

    /// Acts on the trial under way.
    fn trial_with<R>(
        &mut self,
        act: impl FnOnce(&mut Trial, &Host, &Database, &Volumes) -> Result<R, RequestError>,
    ) -> Result<R, RequestError> {
        let trial = self
            .trial
            .as_mut()
            .ok_or_else(|| request_error("no trial is under way"))?;
        let shared = self.shared_with.get(trial.configuration());
        let volumes = shared.and_then(|name| self.volumes.get(name));
        let volumes = volumes.ok_or_else(|| request_error("the trial under way has no volumes"))?;
        act(trial, &self.host, &self.database, volumes)
    }

    fn read_log(&self, name: &str, offset: u64) -> Result<Reply, RequestError> {
        let log = self.logs.iter().find(|log| log.name == name);
        let log = log.ok_or_else(|| request_error(format!("the trial has left no log {name}")))?;
        log.piece(offset).map(Reply::LogPiece)
    }

    fn stop_trial(&mut self, keeps: bool) -> Result<Reply, RequestError> {
        let mut clock = Stopwatch::start();
        let mut stopped = StoppedTrial {
            logs: Vec::new(),
            data_bytes_on_disk: 0,
            stop_s: 0.0,
            volumes_lost: None,
            program_cache_bytes: self.trial.as_ref().and_then(Trial::program_cache_bytes),
            others: self.trial.as_ref().map(Trial::others).unwrap_or_default(),
        };
        if let Some(trial) = self.trial.take() {
            let setup = trial.setup().clone();
            let volumes = self.volumes_of(&setup.configuration);
            stopped.volumes_lost = volumes.and_then(Volumes::lost).or_else(|| trial.limits_lost());
            let data = volumes.map(Volumes::data_directories);
            let keeps = keeps && stopped.volumes_lost.is_none();
            let (logs, kept) = trial.stop(volumes, keeps)?;
            self.logs = logs;
            self.kept = kept.map(|fork| (setup, fork));
            stopped.logs = self.logs.iter().filter_map(KeptLog::facts).collect();
            stopped.data_bytes_on_disk = data.map_or(0, |data| self.database.data_set_bytes(&data));
        }
        if self.kept.is_none() {
            self.detach()?;
        } else if !keeps {
            self.end_kept()?;
        }
        stopped.stop_s = clock.lap_s();
        Ok(Reply::Stopped(Box::new(stopped)))
    }
}
