//! The store of data sets: what hosts lack is looked for there before it is loaded, and kept there afterwards.

use std::collections::BTreeMap;
use std::time::Instant;

use archive::{JournalEvent, RunDirectory};
use evidence::{DataSetOrigin, HostId, KeptDataSet};
use experiment::{DataSetPlace, DataSetStore, Plan};
use wire::{DatabaseRequest, Reply, Request, SnapshotFacts, Transfer};

use super::agents::{Agents, unexpected};
use super::bucket::Bucket;
use super::hosts::Cluster;
use super::journal::note;
use crate::failure::Failure;
use crate::progress::{Screen, human_duration};

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
    Refused(Failure),
    All(BTreeMap<HostId, KeptDataSet>),
}

/// What became of restoring a cluster's data set.
pub(super) enum Restored {
    /// The store does not have it.
    Nothing,
    /// What the store has is of no use; that was told.
    Damaged,
    /// All nodes have it.
    All(Vec<SnapshotFacts>, DataSetOrigin),
}

impl<'p> Store<'p> {
    /// That of a plan, if it has one.
    pub fn of(plan: &'p Plan) -> Result<Option<Self>, Failure> {
        let Some(stated) = &plan.data_set_store else {
            return Ok(None);
        };
        let bucket = Bucket::open(&stated.place)?;
        Ok(Some(Self { stated, bucket }))
    }

    /// Refuses what would fail only when hours of loading are over. Directories are looked at by their hosts.
    pub fn check(&self) -> Result<(), Failure> {
        self.bucket
            .as_ref()
            .map_or(Ok(()), |bucket| bucket.check(self.stated.keep))
    }

    /// Restores the data set on all nodes of a cluster, where the store has it; what is wrong with it is told, and it
    /// is loaded then.
    pub fn restore(
        &self,
        cluster: &Cluster,
        keys: &BTreeMap<HostId, String>,
        of: &str,
        agents: &mut Agents,
        screen: &mut Screen,
    ) -> Result<Restored, Failure> {
        let (place, began) = (&self.stated.place, Instant::now());
        let kept = match self.find(cluster, keys, agents, screen)? {
            StoreContents::All(kept) => kept,
            StoreContents::Nothing => {
                screen.say(&format!("{of}: not in {place}"));
                return Ok(Restored::Nothing);
            }
            StoreContents::Refused(failure) => return Err(failure),
            StoreContents::Unusable(why) => {
                screen.say(&format!("warning: {of}: what {place} has cannot be used: {why}"));
                return Ok(Restored::Damaged);
            }
        };
        let mut requests = Vec::new();
        for (host, kept) in &kept {
            let parts: Vec<String> = kept.parts.iter().map(|part| part.name.clone()).collect();
            let request = DatabaseRequest::Restore {
                files: cluster.files.clone(),
                from: self.transfer(false, &kept.key, &parts)?,
                kept: Box::new(kept.clone()),
            };
            requests.push((*host, Request::Database(request)));
        }
        let mut restored = Vec::new();
        for reply in agents.call_all(requests, screen)?.into_values() {
            match reply {
                Reply::Snapshot(facts) => restored.push(facts),
                Reply::StoreProblem(why) => {
                    screen.say(&format!("warning: {of}: what {place} has cannot be used: {why}"));
                    return Ok(Restored::Damaged);
                }
                other => return Err(unexpected(&other)),
            }
        }
        let Some(first) = kept.into_values().next() else {
            return Ok(Restored::Nothing);
        };
        let origin = DataSetOrigin {
            store: place.to_string(),
            made_by: first.made_by,
            made_at: first.made_at,
        };
        screen.say(&format!(
            "{of}: {} records restored from {place}, where the run {} kept it on {}; {} in all",
            first.records,
            origin.made_by,
            origin.made_at,
            human_duration(began.elapsed().as_secs_f64())
        ));
        Ok(Restored::All(restored, origin))
    }

    /// Keeps the data set of all nodes of a cluster, where that is wanted and the store does not have it, or has one of
    /// no use (`anew`). A store that
    /// refuses it costs the run nothing but a warning, which the journal keeps.
    pub fn keep(
        &self,
        directory: &RunDirectory,
        cluster: &Cluster,
        keys: &BTreeMap<HostId, String>,
        (of, anew): (&str, bool),
        agents: &mut Agents,
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        if !self.stated.keep {
            return Ok(());
        }
        let place = &self.stated.place;
        let began = Instant::now();
        // Loading may have taken longer than temporary credentials are good for.
        let brought = match Bucket::open(place) {
            Ok(bucket) => {
                let stated = self.stated;
                Self { stated, bucket }.bring(directory, cluster, keys, anew, agents, screen)?
            }
            Err(failure) => Err(failure.message()),
        };
        match brought {
            // It is there.
            Ok(0) => {}
            Ok(bytes) => {
                let (mib, seconds) = (bytes as f64 / catalog::MIB, began.elapsed().as_secs_f64());
                screen.say(&format!(
                    "{of}: kept in {place}: {mib:.0} MiB, {:.0} MiB/s",
                    mib / seconds.max(0.001)
                ));
            }
            Err(why) => {
                let text = format!("{of} could not be kept in {place}: {why}");
                screen.say(&format!("warning: {text}"));
                note(directory, JournalEvent::Note { text })?;
            }
        }
        Ok(())
    }

    /// Bytes of all archives, or why they are not all in the store; 0 where they were there before. What was loaded or
    /// found here takes the place of what cannot be used.
    fn bring(
        &self,
        directory: &RunDirectory,
        cluster: &Cluster,
        keys: &BTreeMap<HostId, String>,
        anew: bool,
        agents: &mut Agents,
        screen: &mut Screen,
    ) -> Result<Result<u64, String>, Failure> {
        match self.find(cluster, keys, agents, screen)? {
            StoreContents::All(_) if !anew => return Ok(Ok(0)),
            StoreContents::Refused(failure) => return Ok(Err(failure.message())),
            StoreContents::All(_) | StoreContents::Nothing | StoreContents::Unusable(_) => {}
        }
        let files = cluster.files.clone();
        let measure = DatabaseRequest::MeasureArchive { files: files.clone() };
        let (mut requests, mut all_bytes) = (Vec::new(), 0);
        for (host, reply) in agents.ask_each(&cluster.nodes(), &measure, screen)? {
            let Reply::Archive { parts, bytes } = reply else {
                return Err(unexpected(&reply));
            };
            all_bytes += bytes;
            let key = keys.get(&host).map_or("", String::as_str);
            let request = DatabaseRequest::KeepInStore {
                files: files.clone(),
                to: self.transfer(true, key, &parts)?,
                run: directory.name(),
            };
            requests.push((host, Request::Database(request)));
        }
        let mut kept = Vec::new();
        for reply in agents.call_all(requests, screen)?.into_values() {
            match reply {
                Reply::Kept(Some(one)) => kept.push(*one),
                Reply::StoreProblem(why) => return Ok(Err(why)),
                other => return Err(unexpected(&other)),
            }
        }
        // All parts of all nodes are there.
        if let Some(bucket) = &self.bucket {
            for one in &kept {
                if let Err(failure) = bucket.write_down(one) {
                    return Ok(Err(failure.message()));
                }
            }
        }
        Ok(Ok(all_bytes))
    }

    fn find(
        &self,
        cluster: &Cluster,
        keys: &BTreeMap<HostId, String>,
        agents: &mut Agents,
        screen: &mut Screen,
    ) -> Result<StoreContents, Failure> {
        let mut found = BTreeMap::new();
        match (&self.bucket, &self.stated.place) {
            (None, DataSetPlace::Directory { path }) => {
                let request = DatabaseRequest::FindKept {
                    files: cluster.files.clone(),
                    directory: path.clone(),
                };
                for (host, reply) in agents.ask_each(&cluster.nodes(), &request, screen)? {
                    match reply {
                        Reply::Kept(Some(kept)) => drop(found.insert(host, *kept)),
                        Reply::Kept(None) => {}
                        Reply::StoreProblem(why) => return Ok(StoreContents::Unusable(why)),
                        other => return Err(unexpected(&other)),
                    }
                }
            }
            (Some(bucket), _) => {
                for (host, key) in keys {
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
        let mut loadings = found.values().map(|kept| &kept.loading);
        let first = loadings.next();
        Ok(
            match first.is_some() && loadings.all(|loading| Some(loading) == first) {
                _ if found.is_empty() => StoreContents::Nothing,
                true if found.len() == keys.len() => StoreContents::All(found),
                _ => StoreContents::Unusable(format!(
                    "{} of {} nodes are there, or they come from different loadings",
                    found.len(),
                    keys.len()
                )),
            },
        )
    }

    fn transfer(&self, is_written: bool, key: &str, parts: &[String]) -> Result<Transfer, Failure> {
        match &self.bucket {
            Some(bucket) => bucket.transfer(is_written, key, parts),
            None => Ok(Transfer::Directory(self.stated.place.to_string())),
        }
    }
}
