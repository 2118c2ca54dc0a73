//! The store of data sets: what hosts lack is looked for there before it is loaded, and kept there afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use archive::JournalEvent;
use evidence::{DataSetOrigin, HostId, KeptDataSet, SnapshotFacts};
use experiment::{Cluster, DataSetFiles, DataSetPlace, DataSetStore, Database, Job, Plan, Snapshot, Started};
use process::{failure, human_duration};
use wire::{DatabaseRequest, Reply, Request, Transfer};

use super::hosts;
use super::run::Run;
use super::run_failure::{Result, answer};
use super::s3::Bucket;

/// What to do about a snapshot of the user's own that machines elsewhere cannot restore, and a store does not have.
pub(super) const RESTORE_HERE: &str = "restore it once on this machine with the same [dataset.store] and keep = true";

/// Names of nodes' snapshots.
pub(super) type Keys = BTreeMap<HostId, String>;

/// A data set that the nodes of a cluster share.
pub(super) struct OfCluster<'c> {
    pub cluster: &'c Cluster,
    /// What it is called for people.
    pub name: String,
    pub keys: Keys,
}

/// A store that answers.
pub(super) struct Store<'p> {
    stated: &'p DataSetStore,
    /// `None`: a directory of the hosts.
    bucket: Option<Bucket>,
}

/// What a store has of the nodes of a cluster.
enum StoreContents {
    Nothing,
    /// What cannot be used, and why.
    Unusable(String),
    /// The store did not say.
    Refused(failure::Failure),
    All(BTreeMap<HostId, KeptDataSet>),
}

/// What became of restoring a cluster's data set.
pub(super) enum Restored {
    /// The store does not have it.
    Nothing,
    /// What the store has is of no use; that was reported.
    Damaged,
    /// All nodes have it.
    All(Vec<SnapshotFacts>, DataSetOrigin),
}

/// The answer that is read so, or what is wrong with the store.
fn or_problem<R>(read: impl Fn(Reply) -> Result<R>) -> impl Fn(Reply) -> Result<Result<R, String>> {
    move |reply| match reply {
        Reply::StoreProblem(why) => Ok(Err(why)),
        reply => read(reply).map(Ok),
    }
}

impl<'p> Store<'p> {
    /// That of a plan, if it has one.
    pub fn of(plan: &'p Plan) -> Result<Option<Self>, failure::Failure> {
        let Some(stated) = &plan.data_set_store else { return Ok(None) };
        let bucket = Bucket::open(&stated.place)?;
        Ok(Some(Self { stated, bucket }))
    }

    /// Refuses what would fail only when hours of loading are over. Directories are looked at by their hosts.
    pub fn check(&self) -> Result<(), failure::Failure> {
        self.bucket.as_ref().map_or(Ok(()), |bucket| bucket.check(self.stated.keep))
    }

    /// Refuses a snapshot of the user's own that the bucket does not have restored, for machines that are made for the
    /// run, in these batches: they can have it from nowhere else. Asked before any of them costs money.
    pub fn check_restored(&self, Job { plan, setups }: &Job, batches: &[u32]) -> Result<(), failure::Failure> {
        let (Some(bucket), Database::Started(started)) = (&self.bucket, &plan.target.database) else { return Ok(()) };
        let Some(snapshot) = plan.own.as_ref().and_then(|own| own.snapshot.as_ref()) else { return Ok(()) };
        let made = setups.iter().filter(|setup| batches.contains(&setup.at.batch()));
        let all: BTreeSet<DataSetFiles> = made.map(DataSetFiles::of).collect();
        for files in &all {
            let version = files.version.as_ref().unwrap_or(&started.version).clone();
            let server = database::server(&Started { product: started.product, version }, None);
            let server = server.map_err(failure::Failure::work)?;
            let key = server.data_set_key(&plan.dataset, plan.own.as_ref(), files);
            let why = match bucket.find(&key)? {
                Some(Ok(_)) => continue,
                Some(Err(why)) => why,
                None => format!("{key} is not there"),
            };
            return Err(self.lacks(snapshot, &why));
        }
        Ok(())
    }

    /// That machines of AWS can have a snapshot of the user's own from nowhere.
    pub fn lacks(&self, snapshot: &Snapshot, why: &str) -> failure::Failure {
        let (place, store) = (&snapshot.place, &self.stated.place);
        let message = format!("machines of AWS do not restore {place}, and {store} does not have it: {why}");
        failure::Failure::input(message).help(RESTORE_HERE)
    }

    /// Restores the data set on all nodes of a cluster, where the store has it; what is wrong with it is reported, and
    /// it is loaded then.
    pub fn restore(&self, run: &mut Run<'_>, of: &OfCluster<'_>) -> Result<Restored> {
        let (place, name, began) = (&self.stated.place, &of.name, Instant::now());
        let kept = match self.find(run, of)? {
            StoreContents::All(kept) => kept,
            StoreContents::Nothing => {
                run.say(&format!("{name}: not in {place}"));
                return Ok(Restored::Nothing);
            }
            StoreContents::Refused(failure) => return Err(failure.into()),
            StoreContents::Unusable(why) => return Ok(self.damaged(run, of, &why)),
        };
        let mut requests = Vec::new();
        for (host, kept) in &kept {
            let parts: Vec<String> = kept.parts.iter().map(|part| part.name.clone()).collect();
            let request = DatabaseRequest::Restore {
                files: of.cluster.files.clone(),
                from: self.transfer(false, &kept.snapshot.key, &parts)?,
                kept: Box::new(kept.clone()),
            };
            requests.push((*host, Request::Database(request)));
        }
        let restored = run.agents.call_all(requests, or_problem(answer!(Reply::Snapshot(facts) => facts)))?;
        let restored = match restored.into_values().collect::<Result<Vec<_>, String>>() {
            Ok(restored) => restored,
            Err(why) => return Ok(self.damaged(run, of, &why)),
        };
        let Some(first) = kept.into_values().next() else { return Ok(Restored::Nothing) };
        let origin = DataSetOrigin { store: place.to_string(), made_by: first.made_by, made_at: first.made_at };
        run.say(&format!(
            "{name}: {} restored from {place}, where the run {} kept it on {}; {} in all",
            counted(run.plan(), first.snapshot.records),
            origin.made_by,
            origin.made_at,
            human_duration(began.elapsed().as_secs_f64())
        ));
        Ok(Restored::All(restored, origin))
    }

    fn damaged(&self, run: &Run<'_>, of: &OfCluster<'_>, why: &str) -> Restored {
        let (name, place) = (&of.name, &self.stated.place);
        run.say(&format!("warning: {name}: what {place} has cannot be used: {why}"));
        Restored::Damaged
    }

    /// Keeps the data set of all nodes of a cluster, where that is wanted and the store does not have it, or has one of
    /// no use (`anew`). A store that refuses it costs the run nothing but a warning, which the journal keeps.
    pub fn keep(&self, run: &mut Run<'_>, of: &OfCluster<'_>, anew: bool) -> Result<()> {
        if !self.stated.keep {
            return Ok(());
        }
        let (place, name, began) = (&self.stated.place, &of.name, Instant::now());
        // Loading may have taken longer than temporary credentials are good for.
        let brought = match Bucket::open(place) {
            Ok(bucket) => {
                let stated = self.stated;
                Self { stated, bucket }.bring(run, of, anew)?
            }
            Err(failure) => Err(failure.message),
        };
        match brought {
            // It is there.
            Ok(0) => {}
            Ok(bytes) => {
                let (mib, seconds) = (bytes as f64 / catalog::MIB, began.elapsed().as_secs_f64());
                run.say(&format!("{name}: kept in {place}: {mib:.0} MiB, {:.0} MiB/s", mib / seconds.max(0.001)));
            }
            Err(why) => {
                let text = format!("{name} could not be kept in {place}: {why}");
                run.say(&format!("warning: {text}"));
                run.note(JournalEvent::Note { text })?;
            }
        }
        Ok(())
    }

    /// Bytes of all archives, or why they are not all in the store; 0 where they were there before. What was loaded or
    /// found here takes the place of what cannot be used.
    fn bring(&self, run: &mut Run<'_>, of: &OfCluster<'_>, anew: bool) -> Result<Result<u64, String>> {
        match self.find(run, of)? {
            StoreContents::All(_) if !anew => return Ok(Ok(0)),
            StoreContents::Refused(failure) => return Ok(Err(failure.message)),
            StoreContents::All(_) | StoreContents::Nothing | StoreContents::Unusable(_) => {}
        }
        let (nodes, files) = (hosts::nodes_of_cluster(of.cluster), of.cluster.files.clone());
        let measure = DatabaseRequest::MeasureArchive { files: files.clone() };
        let archive = answer!(Reply::Archive { parts, bytes } => (parts, bytes));
        let (mut requests, mut all_bytes) = (Vec::new(), 0);
        for (host, (parts, bytes)) in run.agents.ask_each(&nodes, &measure, archive)? {
            all_bytes += bytes;
            let key = of.keys.get(&host).map_or("", String::as_str);
            let request = DatabaseRequest::KeepInStore {
                files: files.clone(),
                to: self.transfer(true, key, &parts)?,
                run: run.directory.name(),
            };
            requests.push((host, Request::Database(request)));
        }
        let kept = run.agents.call_all(requests, or_problem(answer!(Reply::Kept(Some(one)) => *one)))?;
        let kept: Vec<KeptDataSet> = match kept.into_values().collect() {
            Ok(kept) => kept,
            Err(why) => return Ok(Err(why)),
        };
        // All parts of all nodes are there.
        let written = self.bucket.iter().flat_map(|bucket| kept.iter().map(|one| bucket.write_down(one)));
        let written: Result<(), failure::Failure> = written.collect();
        Ok(written.map(|()| all_bytes).map_err(|failure| failure.message))
    }

    fn find(&self, run: &mut Run<'_>, of: &OfCluster<'_>) -> Result<StoreContents> {
        let mut found = BTreeMap::new();
        match (&self.bucket, &self.stated.place) {
            (None, DataSetPlace::Directory { path }) => {
                let request = DatabaseRequest::FindKept { files: of.cluster.files.clone(), directory: path.clone() };
                let kept = or_problem(answer!(Reply::Kept(kept) => kept));
                for (host, kept) in run.agents.ask_each(&hosts::nodes_of_cluster(of.cluster), &request, kept)? {
                    match kept {
                        Ok(kept) => found.extend(kept.map(|kept| (host, *kept))),
                        Err(why) => return Ok(StoreContents::Unusable(why)),
                    }
                }
            }
            (Some(bucket), _) => {
                for (host, key) in &of.keys {
                    match bucket.find(key) {
                        Ok(Some(Ok(kept))) => drop(found.insert(*host, kept)),
                        Ok(Some(Err(why))) => return Ok(StoreContents::Unusable(why)),
                        Ok(None) => {}
                        Err(failure) => return Ok(StoreContents::Refused(failure)),
                    }
                }
            }
            (None, DataSetPlace::S3 { .. }) => {}
        }
        let mut loadings = found.values().map(|kept| &kept.snapshot.loading);
        let first = loadings.next();
        Ok(match first.is_some() && loadings.all(|loading| Some(loading) == first) {
            _ if found.is_empty() => StoreContents::Nothing,
            true if found.len() == of.keys.len() => StoreContents::All(found),
            _ => StoreContents::Unusable(format!(
                "{} of {} nodes are there, or they come from different loadings",
                found.len(),
                of.keys.len()
            )),
        })
    }

    fn transfer(&self, is_written: bool, key: &str, parts: &[String]) -> Result<Transfer, failure::Failure> {
        match &self.bucket {
            Some(bucket) => bucket.transfer(is_written, key, parts),
            None => Ok(Transfer::Directory(self.stated.place.to_string())),
        }
    }
}

/// How much a data set has; of tables of the user's own that is an estimate.
pub(super) fn counted(plan: &Plan, records: u64) -> String {
    match &plan.own {
        Some(own) if own.snapshot.is_some() => "tables of a snapshot".to_owned(),
        Some(_) => format!("about {records} rows"),
        None => format!("{records} records"),
    }
}
