//! The database agent: what the controller asks of it, in the order in which it may ask.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use database::Renewal;
use experiment::{CacheState, DataSetFiles, Setup};
use wire::{DatabaseRequest, MachineUse, Reply, RequestError, Result, UnderTest};

use super::backing::{Store, is_limited};
use super::cache_tier::CacheTier;
use super::check::problems;
use super::foreign_node::Watching;
use super::fork::Fork;
use super::host::{self, Host};
use super::limits::Limits;
use super::loading::Loading;
use super::logs::KeptLog;
use super::outbox::Outbox;
use super::restored::Restored;
use super::server::Database;
use super::store;
use super::trial::{Stopwatch, Trial};
use super::volumes::Volumes;
use super::warming::SettledCaches;

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
    /// Those that were prepared.
    prepared: Vec<Prepared>,
    /// The data volume, where it was made from a snapshot of EBS and is initialised.
    restored: Option<Restored>,
    loading: Option<Loading>,
    trial: Option<Trial>,
    /// The database that was kept from the trial before, with the configuration of that.
    kept: Option<(Setup, Fork)>,
    /// The block of the last trial.
    block: Option<u32>,
    /// What workloads have left in page caches.
    settled: SettledCaches,
    /// What the trial that was stopped last has left to read.
    logs: Vec<KeptLog>,
    /// Number of this host among those of its machine.
    on_machine: u32,
}

/// The volumes of configurations that share a process.
struct Prepared {
    setup: Setup,
    others: Vec<Setup>,
    volumes: Volumes,
}

impl Prepared {
    fn is_of(&self, configuration: &str) -> bool {
        let mut sharers = std::iter::once(&self.setup).chain(&self.others);
        sharers.any(|setup| setup.configuration == configuration)
    }
}

impl DatabaseHost {
    pub fn new(outbox: Outbox, ledger: Arc<OnceLock<PathBuf>>) -> Self {
        Self { outbox, opened: None, watching: None, ledger }
    }

    pub fn handle(&mut self, request: DatabaseRequest) -> Result<Reply> {
        match (request, &mut self.watching) {
            (DatabaseRequest::Check(needs), _) => Ok(Reply::Checked(problems(&needs))),
            (DatabaseRequest::Open(task), _) => self.open(*task),
            (DatabaseRequest::Close, _) => {
                self.close();
                Ok(Reply::Closed)
            }
            (DatabaseRequest::Watch(task), _) => {
                let (watching, facts) = Watching::begin(task)?;
                self.watching = Some(watching);
                Ok(Reply::Watched(facts))
            }
            (DatabaseRequest::StartTrial { setup, .. }, Some(watching)) => watching.start_trial(&setup, &self.outbox),
            (DatabaseRequest::StopTrial { .. }, Some(watching)) => Ok(watching.stop_trial()),
            (DatabaseRequest::Observe, Some(watching)) => watching.observe(&self.outbox),
            (DatabaseRequest::EndObservation, Some(watching)) => Ok(watching.end_observation()),
            (DatabaseRequest::Observe | DatabaseRequest::EndObservation, None) => {
                Err(RequestError::new("there is no node to observe: none was looked for"))
            }
            (other, Some(_)) => Err(RequestError::new(format!("an agent that only watches cannot do {other:?}"))),
            (request, None) => {
                let opened = self.opened.as_mut();
                let opened = opened.ok_or_else(|| RequestError::new("the database agent was not opened first"))?;
                let reply = opened.handle(request);
                if self.outbox.is_cancelled() { reply.map_err(|_| RequestError::cancelled()) } else { reply }
            }
        }
    }

    fn open(&mut self, task: UnderTest) -> Result<Reply> {
        let outbox = &self.outbox;
        let path = host::work_directory(&task.work_directory);
        let machine = host::take_machine(&task, outbox)?;
        let needed = (task.needed_bytes, task.log_bytes);
        let (work, cleaned) = host::take(&path, needed, task.machine_use.as_ref(), outbox)?;
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
        let reply = Reply::Opened { cleaned, software: database.software() };
        let store = Store::new(&host.ledger, host.run_directory(), &host.run, task.machine_use.clone());
        self.opened = Some(Opened {
            host,
            store,
            machine_use: task.machine_use,
            database,
            prepared: Vec::new(),
            restored: None,
            loading: None,
            trial: None,
            kept: None,
            block: None,
            settled: SettledCaches::default(),
            logs: Vec::new(),
            on_machine: task.on_machine,
        });
        Ok(reply)
    }

    /// Undoes everything except the snapshot and the downloads.
    pub fn close(&mut self) {
        self.watching = None;
        let Some(mut opened) = self.opened.take() else { return };
        if let Err(request_error) = opened.stop_trial(false) {
            tracing::warn!("{}", request_error.message);
        }
        if let Some(mut loading) = opened.loading.take() {
            loading.kill();
        }
        for Prepared { mut volumes, .. } in opened.prepared.drain(..) {
            // Those of its volumes that can be unmounted are not held back, whoever keeps another.
            let _ = volumes.relax();
            // Each attempt waits for whoever keeps a volume: the ledger's is the last one.
            let kept = volumes.held_elsewhere();
            let problem = kept.or_else(|| volumes.detach().err().map(|error| error.to_string()));
            if let Some(problem) = problem {
                tracing::warn!("{problem}");
                std::mem::forget(volumes);
            }
        }
        drop(opened.store);
        opened.host.close();
    }
}

impl Opened {
    fn handle(&mut self, request: DatabaseRequest) -> Result<Reply> {
        let (host, database) = (&self.host, &self.database);
        match request {
            DatabaseRequest::Initialise { files } => self.initialise(&files),
            DatabaseRequest::FindSnapshot { files } => self.find_snapshot(&files),
            DatabaseRequest::FindKept { files, directory } => store::find(database, &files, &directory),
            DatabaseRequest::Restore { files, kept, from } => store::restore(host, database, &files, &kept, &from),
            DatabaseRequest::MeasureArchive { files } => store::measure(host, database, &files),
            DatabaseRequest::KeepInStore { files, to, run } => store::keep(host, database, &files, &to, run),
            DatabaseRequest::StartLoading { files, loading } => self.start_loading(files, loading),
            DatabaseRequest::ImportSnapshot { directory } => self
                .loading_with(|loading, host, database| loading.import(host, database, Path::new(&directory)))
                .map(|()| Reply::Imported),
            DatabaseRequest::SampleSnapshot { requests } => {
                let sample =
                    |loading: &mut Loading, host: &Host, database: &Database| loading.sample(host, database, requests);
                self.loading_with(sample).map(|(rows, statements)| Reply::Sampled { rows, statements })
            }
            DatabaseRequest::FinishLoading => self.loading_with(Loading::finish).map(|()| Reply::AtRest),
            DatabaseRequest::FlushBacklog => {
                let flush = |loading: &mut Loading, host: &Host, _: &Database| loading.flush_backlog(host);
                self.loading_with(flush).map(|()| Reply::Flushed)
            }
            DatabaseRequest::KeepSnapshot => {
                let facts = self.loading_with(Loading::keep)?;
                self.loading = None;
                Ok(Reply::Snapshot(facts))
            }
            DatabaseRequest::Prepare { setup, others } => self.prepare(&setup, &others),
            DatabaseRequest::StartTrial { trial, setup, workload, sample_keys, database_cpus } => {
                self.enter_block(trial.block)?;
                self.start_or_undo(&setup, database_cpus, (&sample_keys, &workload))
            }
            DatabaseRequest::Usage => self.trial_with(|trial, host, _, volumes| trial.usage(host, volumes)),
            DatabaseRequest::Empty => self.trial_with(|trial, _, database, _| trial.empty(database)),
            DatabaseRequest::Renew { cache, workload } => self.renew(cache, &workload),
            DatabaseRequest::NoteCache { workload, again, reads_per_operation } => {
                self.note_cache(&workload, (again, reads_per_operation))
            }
            DatabaseRequest::LookUp { sample_keys } => {
                self.trial_with(|trial, _, database, _| trial.look_up(database, &sample_keys))
            }
            DatabaseRequest::Hold => self.trial_with(|trial, host, _, volumes| trial.hold(host, volumes)),
            DatabaseRequest::CompactBacklog => self.trial_with(|trial, _, _, _| trial.compact_backlog()),
            DatabaseRequest::StartFault(action) => {
                self.trial_with(|trial, host, database, volumes| trial.start_fault(action, host, database, volumes))
            }
            DatabaseRequest::EndFault => self.trial_with(Trial::end_fault),
            DatabaseRequest::StopTrial { keeps } => self.stop_trial(keeps),
            DatabaseRequest::ReadLog { name, offset } => self.read_log(&name, offset),
            DatabaseRequest::Check(_)
            | DatabaseRequest::Open(_)
            | DatabaseRequest::Close
            | DatabaseRequest::Watch(_)
            | DatabaseRequest::Observe
            | DatabaseRequest::EndObservation => {
                unreachable!("handled before")
            }
        }
    }

    /// From here on the data volume's own data set is the snapshot.
    fn initialise(&mut self, files: &DataSetFiles) -> Result<Reply> {
        let machine_use = self.machine_use.as_ref();
        let machine_use =
            machine_use.ok_or_else(|| RequestError::new("this host has no volume of its own to initialise"))?;
        let (key, records) = (self.database.snapshot_key(files)?, self.database.dataset.records);
        let (restored, before) = Restored::initialise(&self.host, machine_use, (&key, records))?;
        let how = restored.how.clone();
        self.restored = Some(restored);
        Ok(Reply::Initialised { how, before })
    }

    fn find_snapshot(&self, files: &DataSetFiles) -> Result<Reply> {
        let key = self.database.snapshot_key(files)?;
        let restored = self.restored.as_ref().filter(|restored| restored.facts.key == key);
        let snapshot = match restored {
            Some(restored) => Some(restored.facts.clone()),
            None => self.host.snapshot(&key),
        };
        Ok(Reply::Found { snapshot, key })
    }

    fn start_loading(&mut self, files: DataSetFiles, name: String) -> Result<Reply> {
        let loading = Loading::start(&self.host, &self.database, files, name)?;
        let loading = self.loading.insert(loading);
        loading.make_ready(&self.host, &self.database)?;
        Ok(Reply::Loading { contact_points: self.database.contact_points() })
    }

    /// Acts on the database that loads.
    fn loading_with<R>(&mut self, act: impl FnOnce(&mut Loading, &Host, &Database) -> Result<R>) -> Result<R> {
        let loading = self.loading.as_mut();
        let loading = loading.ok_or_else(|| RequestError::new("no database is loading"))?;
        act(loading, &self.host, &self.database)
    }

    /// Volumes with the data set on them, measured by the probe. Where the process that answers for them is lost
    /// meanwhile they are made once more: no trial has begun that would have seen it.
    ///
    /// `others` are the configurations that share the process of this one, and so its volumes.
    fn prepare(&mut self, setup: &Setup, others: &[Setup]) -> Result<Reply> {
        let name = &setup.configuration;
        if self.volumes_of(name).is_none() {
            let volumes = match self.make_volumes(setup, others) {
                Err(request_error) if !self.host.outbox.is_cancelled() && self.store.is_server_lost() => {
                    tracing::warn!("the volumes of {name} are made once more: {}", request_error.message);
                    self.make_volumes(setup, others)?
                }
                made => made?,
            };
            let (setup, others) = (setup.clone(), others.to_vec());
            self.prepared.push(Prepared { setup, others, volumes });
        }
        Ok(Reply::Prepared { note: self.store.note() })
    }

    /// Where somebody else keeps a volume of this configuration, its volumes are made anew under other names, and the
    /// old ones left in the ledger: a copy of a mount in a stranger's namespace costs a volume, not the run. Whether it
    /// was so. There is no other disk than the one that was given: that one has to become free, and until then trials
    /// say who keeps it.
    fn replace_held(&mut self, setup: &Setup) -> Result<bool> {
        let mut all = self.prepared.iter();
        let Some(place) = all.position(|prepared| prepared.is_of(&setup.configuration)) else {
            return Ok(false);
        };
        let volumes = &self.prepared[place].volumes;
        let Some(how) = volumes.held_elsewhere().filter(|_| volumes.can_be_made_anew()) else {
            return Ok(false);
        };
        let name = self.prepared[place].setup.configuration.clone();
        tracing::warn!("{how}: the volumes of {name} are made anew");
        let _ = self.stop_trial(false);
        let Prepared { setup, others, volumes } = self.prepared.swap_remove(place);
        // It would wait for them once more.
        std::mem::forget(volumes);
        self.store.give_up();
        let volumes = self.make_volumes(&setup, &others)?;
        self.prepared.push(Prepared { setup, others, volumes });
        Ok(true)
    }

    fn volumes_of(&self, configuration: &str) -> Option<&Volumes> {
        let mut all = self.prepared.iter();
        all.find(|prepared| prepared.is_of(configuration)).map(|prepared| &prepared.volumes)
    }

    fn make_volumes(&mut self, setup: &Setup, others: &[Setup]) -> Result<Volumes> {
        // The volumes of another process are in nobody's way once that has ended.
        self.end_kept()?;
        let (host, name) = (&self.host, &setup.configuration);
        let directory = host.run_directory();
        if !directory.exists() {
            host.claim_directory(&directory)?;
        }
        let doing = format!("creating the volumes of {name} and copying the data set");
        host.outbox.progress(doing, None);
        let key = self.database.snapshot_key(&DataSetFiles::of(setup))?;
        let restored = self.restored.as_ref().filter(|restored| restored.facts.key == key);
        let snapshot = restored.map_or_else(|| host.snapshot_directory(&key), |r| r.directory.clone());
        let initialised = restored.map(|restored| &restored.how);
        let data = snapshot.join("data");
        let mut volumes = Volumes::create(&mut self.store, (setup, others), Some(&data), initialised)?;
        if let Some(account) = &host.account {
            volumes.hand_to(account)?;
        }
        let cgroup = is_limited(self.machine_use.as_ref()).then(|| Host::cgroup_name("probe"));
        for measured in others.iter().chain([setup]) {
            let doing = format!("measuring the volumes of {}", measured.configuration);
            host.outbox.progress(doing, None);
            if let Err(error) = volumes.probe(measured, cgroup.as_deref()) {
                let how = volumes.lost().map_or_else(String::new, |how| format!("{how}; "));
                return Err(RequestError::new(format!("{how}{error}")));
            }
        }
        volumes.detach()?;
        Ok(volumes)
    }

    /// Starts a trial; where that fails, what it had started does not stay.
    fn start_or_undo(&mut self, setup: &Setup, database_cpus: f64, how: (&[String], &str)) -> Result<Reply> {
        self.replace_held(setup)?;
        let mut started = self.start_trial(setup, database_cpus, how);
        if started.is_err() && !self.host.outbox.is_cancelled() && self.replace_held(setup)? {
            started = self.start_trial(setup, database_cpus, how);
        }
        if let Err(request_error) = &mut started {
            if let Some(how) = self.volumes_of(&setup.configuration).and_then(Volumes::lost) {
                request_error.message = format!("{how}; {}", request_error.message);
            }
            // Its logs are in the fault.
            let _ = self.stop_trial(false);
        }
        started
    }

    fn start_trial(&mut self, setup: &Setup, database_cpus: f64, how: (&[String], &str)) -> Result<Reply> {
        let serves = |(before, fork): &(Setup, Fork)| before.shares_process_with(setup) && fork.ended().is_none();
        let fork = match self.kept.take_if(|kept| serves(kept)) {
            Some((_, fork)) => fork.goes_on(setup, self.on_machine, database_cpus),
            None => {
                self.end_kept()?;
                let limits = match is_limited(self.machine_use.as_ref()) {
                    true => Limits::for_start(&self.host.ledger, setup, self.on_machine, database_cpus)?,
                    false => Limits::none(),
                };
                Fork::new(limits, self.database.tables())
            }
        };
        let name = &setup.configuration;
        let prepared = self.prepared.iter_mut().find(|prepared| prepared.is_of(name));
        let prepared = prepared.ok_or_else(|| RequestError::new(format!("configuration {name} was not prepared")))?;
        let volumes = &mut prepared.volumes;
        let trial = self.trial.insert(Trial::prepare(&self.host, volumes, setup, fork)?);
        // By SSH they have machines of their own.
        let has_caches = self.database.is_first() && self.machine_use.is_none();
        if let Some(caches) = setup.cache_tier.as_ref().filter(|_| has_caches) {
            let beside = self.database.address();
            trial.caches = Some(CacheTier::start(&self.host, caches, beside, database_cpus)?);
        }
        let started = trial.start(&self.host, &self.database, volumes, how)?;
        Ok(Reply::Started(Box::new(started)))
    }

    /// Each block has processes of its own, also where the trial that one was kept for was skipped.
    fn enter_block(&mut self, block: u32) -> Result<()> {
        if self.block != Some(block) {
            self.end_kept()?;
            self.block = Some(block);
        }
        Ok(())
    }

    /// The database that was kept from the trial before is ended, and its volumes are detached.
    fn end_kept(&mut self) -> Result<()> {
        if let Some((_, fork)) = self.kept.take() {
            fork.end()?;
            self.detach()?;
        }
        Ok(())
    }

    /// Those that somebody else keeps are left: they are made anew, or asked for again, when they are needed.
    fn detach(&mut self) -> Result<()> {
        for Prepared { volumes, .. } in &mut self.prepared {
            match volumes.detach() {
                Err(error) if volumes.held_elsewhere().is_some() => tracing::warn!("{error}"),
                detached => detached?,
            }
        }
        Ok(())
    }

    /// Acts on the trial under way.
    fn trial_with<R>(&mut self, act: impl FnOnce(&mut Trial, &Host, &Database, &Volumes) -> Result<R>) -> Result<R> {
        let trial = self.trial.as_mut();
        let trial = trial.ok_or_else(|| RequestError::new("no trial is under way"))?;
        let mut all = self.prepared.iter();
        let prepared = all.find(|prepared| prepared.is_of(trial.configuration()));
        let prepared = prepared.ok_or_else(|| RequestError::new("the trial under way has no volumes"))?;
        act(trial, &self.host, &self.database, &prepared.volumes)
    }

    /// The data set as it was loaded; the page cache as the workload leaves it, where that was seen before.
    fn renew(&mut self, cache: CacheState, workload: &str) -> Result<Reply> {
        let trial = self.trial.as_ref();
        let noted = trial.and_then(|trial| self.settled.find(trial.setup(), workload)).cloned();
        self.trial_with(|trial, host, database, volumes| trial.renew(host, database, volumes, (cache, noted.as_ref())))
    }

    /// Notes which pages of the data set are in the page cache now.
    fn note_cache(&mut self, workload: &str, how: (bool, Option<f64>)) -> Result<Reply> {
        let (setup, directories) = self.trial_with(|trial, _, database, volumes| {
            Ok((trial.setup().clone(), database.data_set_directories(&volumes.data_directories())))
        })?;
        self.settled.note((&setup, workload), &directories, how).map(|()| Reply::CacheNoted)
    }

    fn read_log(&self, name: &str, offset: u64) -> Result<Reply> {
        let log = self.logs.iter().find(|log| log.name == name);
        let log = log.ok_or_else(|| RequestError::new(format!("the trial has left no log {name}")))?;
        log.piece(offset).map(Reply::LogPiece)
    }

    fn stop_trial(&mut self, keeps: bool) -> Result<Reply> {
        let mut clock = Stopwatch::start();
        let mut stopped = self.trial.as_mut().map(Trial::seen).unwrap_or_default();
        if let Some(trial) = self.trial.take() {
            let setup = trial.setup().clone();
            let volumes = self.volumes_of(&setup.configuration);
            stopped.volumes_lost = volumes.and_then(Volumes::lost);
            let data = volumes.map(Volumes::data_directories);
            // One that cannot take its data set in anew is of no use to another trial.
            let keeps = keeps && self.database.renewal() == Renewal::InPlace;
            let keeps = keeps && stopped.volumes_lost.is_none() && stopped.page_cache_off.is_none();
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
