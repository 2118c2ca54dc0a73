//! How often reads miss the page cache: in the model of 1:N, and at full scale.
//!
//! A model has the same share of its data in the page cache as full scale has. Of uniform keys, or of a hot set that is
//! a share of all records, as many requests miss then. Of zipfian keys more do: how many records get most of the
//! requests does not depend on how many there are, so that among fewer chunks of records fewer are without a popular
//! one, and a cache of the same share holds fewer of these. `docs/model.md` has a table.

use std::collections::BTreeMap;

use product::{Lack, Product};
use workload::{Definition, Distribution, PageCache};

use crate::scale::LEAST_PAGE_CACHE;
use crate::warming::budget_bytes;
use crate::{CacheState, Caches, Configuration, Database, Dataset, Experiment, Model, PageCacheKeeps, Place, Setup};

/// Misses that differ by no more are the same: the usual margin of what matters (threshold: ours).
const SAME_MISSES: f64 = 0.05;
/// So few misses for each operation are as good as none: volumes are hardly read (threshold: ours).
pub const LEAST_MISSES: f64 = 0.01;

/// How often a configuration misses its page cache under a workload, as expected by [`PageCache`].
#[derive(Debug, Clone, PartialEq)]
pub struct ModelMisses {
    /// Its name.
    pub configuration: String,
    /// That of the workload.
    pub workload: String,
    /// Reads of one replica that miss for each operation of the clients, of the records and the page cache of the
    /// model, ...
    pub in_model: f64,
    /// ... and of those at full scale.
    pub at_full_scale: f64,
    /// The share of the data that is in the page cache of the model, ...
    pub share_in_model: f64,
    /// ... and at full scale.
    pub share_at_full_scale: f64,
    /// The page cache with which a node of the model misses as often as at full scale, bytes; the least that one may
    /// have, where that is more.
    pub same_misses_bytes: f64,
    /// Whether `page_cache = "same-misses"`, which is not stated, would give it that, and it is no more.
    pub can_be_kept: bool,
}

impl ModelMisses {
    /// How many times as often the model misses: what its volumes are asked for above what they should be.
    pub fn factor(&self) -> f64 {
        self.in_model.max(LEAST_MISSES) / self.at_full_scale.max(LEAST_MISSES)
    }

    /// Whether that is more or less than what counts as the same.
    pub fn differ(&self) -> bool {
        !((1.0 - SAME_MISSES)..=(1.0 + SAME_MISSES)).contains(&self.factor())
    }
}

/// The memory of a product that keeps pages of its own besides, without which misses are reckoned, as its tables call
/// it; what its updates read is left out then, too. `None`: its main memory is a heap, and nothing has to be read
/// before it is changed.
pub fn own_buffers(product: &Product) -> Option<&'static str> {
    product.lacks(Lack::Heap).then_some(product.reports.main_memory)
}

/// What of an experiment decides how often its reads miss.
#[derive(Debug, Clone, Copy)]
pub struct Misses<'a> {
    pub(crate) place: &'a Place,
    pub(crate) database: &'a Database,
    /// The data set on this machine.
    pub(crate) dataset: &'a Dataset,
    /// Records at full scale.
    pub(crate) full_records: u64,
    pub(crate) caches: &'a Caches,
    pub(crate) configurations: &'a [Configuration],
    pub(crate) workloads: &'a [Definition],
}

impl<'a> Misses<'a> {
    /// Those of an experiment, whose data set this is on this machine, with these page caches.
    pub(crate) fn of(experiment: &'a Experiment, dataset: &'a Dataset, caches: &'a Caches) -> Self {
        Self {
            place: &experiment.place,
            database: &experiment.target.database,
            dataset,
            full_records: experiment.stands_for_records.unwrap_or(experiment.dataset.records),
            caches,
            configurations: &experiment.configurations,
            workloads: &experiment.workloads,
        }
    }

    /// Each configuration under each workload, where something is known of it: rows are chosen by YCSB's keys, the page
    /// cache is full when a trial begins and is what is in front of the volumes, and the model has other records, or
    /// another share of them in it, than full scale. None of a page cache that was calibrated: what production reads is
    /// known better than this.
    pub fn all(&self, setups: &[Setup]) -> Vec<ModelMisses> {
        let mut tables = Tables::default();
        let mut all = Vec::new();
        let is_calibrated = self.place.model().page_cache == PageCacheKeeps::Calibrated;
        for configuration in self.configurations.iter().filter(|_| !is_calibrated) {
            let setup = setups.iter().find(|setup| setup.configuration == configuration.name);
            let Some(setup) = setup.filter(|setup| setup.at.is_started() && setup.cache_tier.is_none()) else {
                continue;
            };
            let each = self.workloads.iter();
            all.extend(each.filter_map(|workload| self.of_one(configuration, setup, workload, &mut tables)));
        }
        all
    }

    fn of_one(
        &self,
        configuration: &Configuration,
        setup: &Setup,
        workload: &Definition,
        tables: &mut Tables,
    ) -> Option<ModelMisses> {
        let (reads, name) = (workload.mix.reads(), workload.name.as_str());
        let held = self.dataset.bytes_on_disk() * setup.placement.share_per_node();
        let is_known = reads > 0.0 && !workload.is_own() && self.caches.state(name) == CacheState::Warm && held > 0.0;
        if !is_known {
            return None;
        }
        let share = self.caches.setup(setup, name, self.dataset).page_cache_budget_bytes as f64 / held;
        let full_share = self.full_budget_bytes(configuration, setup, name) / (held * self.place.scale());
        let records = self.dataset.records;
        if records == self.full_records && (share - full_share).abs() < 1e-6 {
            return None;
        }
        let record_bytes = self.dataset.record_bytes();
        let chunk_bytes = match self.place.truth() {
            Some(truth) => truth.chunk_bytes,
            None => self.database.product().unit_bytes_of(&setup.settings),
        };
        let keys = |records: u64| (workload.distribution, records, record_bytes, chunk_bytes);
        let full_hits = tables.of(keys(self.full_records)).hit_ratio(full_share);
        let of_model = tables.of(keys(records));
        // Where all of it fits, that which is left stays.
        let same_share = if full_share < 1.0 { of_model.share_for(full_hits) } else { full_share };
        let (wanted, least) = (same_share * held, LEAST_PAGE_CACHE.min(setup.page_cache_budget_bytes as f64));
        Some(ModelMisses {
            configuration: configuration.name.clone(),
            workload: workload.name.clone(),
            in_model: reads * (1.0 - of_model.hit_ratio(share)),
            at_full_scale: reads * (1.0 - full_hits),
            share_in_model: share.min(1.0),
            share_at_full_scale: full_share.min(1.0),
            same_misses_bytes: wanted.max(least),
            can_be_kept: self.may_ask_for_same_misses() && wanted >= least,
        })
    }

    /// Whether `page_cache = "same-misses"` would be in force, and is not.
    fn may_ask_for_same_misses(&self) -> bool {
        self.place.is_modelled()
            && self.place.model().page_cache == PageCacheKeeps::SameShare
            && self.caches.are_unswept()
    }

    /// The page cache of a node at full scale. One that is stated for the model stands for N times as much.
    fn full_budget_bytes(&self, configuration: &Configuration, setup: &Setup, workload: &str) -> f64 {
        let Model { scale, page_cache_bytes, .. } = self.place.model();
        let ratio = self.caches.conditions.get(workload).and_then(|condition| condition.ratio);
        match ratio {
            Some(ratio) => budget_bytes(self.dataset, setup.placement, ratio) * scale,
            None if page_cache_bytes.is_some() || scale == 1.0 => setup.page_cache_budget_bytes as f64 * scale,
            None => {
                let rules = &self.database.product().memory;
                rules.page_cache_bytes(configuration.memory_limit_bytes, &configuration.settings).unwrap_or(0.0)
            }
        }
    }
}

/// The page caches before trials: of the sizes that miss as often as at full scale, where that is asked for.
pub(crate) fn caches_of(experiment: &Experiment, dataset: &Dataset, setups: &[Setup]) -> Caches {
    let mut caches = experiment.caches.clone();
    if experiment.place.model().page_cache == PageCacheKeeps::SameMisses {
        let mut same: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        for of in Misses::of(experiment, dataset, &experiment.caches).all(setups) {
            same.entry(of.configuration).or_default().insert(of.workload, of.same_misses_bytes as u64);
        }
        caches.same_misses_bytes = same;
    }
    caches
}

/// By what hit ratios depend on: distribution, records, bytes of a record and of a chunk.
type Keys = (Distribution, u64, f64, f64);

/// Hit ratios that were reckoned already: each table takes a moment.
#[derive(Default)]
struct Tables(Vec<(Keys, PageCache)>);

impl Tables {
    fn of(&mut self, keys: Keys) -> &PageCache {
        let known = self.0.iter().position(|(known, _)| *known == keys);
        let at = known.unwrap_or_else(|| {
            let (distribution, records, record_bytes, chunk_bytes) = keys;
            self.0.push((keys, PageCache::new(distribution, records, record_bytes, chunk_bytes)));
            self.0.len() - 1
        });
        &self.0[at].1
    }
}
