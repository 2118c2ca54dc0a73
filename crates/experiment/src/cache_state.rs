//! `[load] cache`: how the page cache stands when a trial's warm-up begins.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// How the page cache stands when a trial's warm-up begins.
    #[derive(Default)]
    pub enum CacheState {
        /// Nothing of the data set is in it.
        Cold = "cold",
        /// It holds what the workload leaves in it: the data set's files have been read, and then what the workload's
        /// own keys ask for, until device reads for each operation were steady.
        #[default]
        Warm = "warm",
    }
}

/// The page cache before trials of a workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheCondition {
    /// What is in it.
    pub state: CacheState,
    /// Bytes of a node's data set over those of its page cache; `None`: it is what the configuration leaves.
    pub ratio: Option<f64>,
    /// What the experiment calls the workload, which was divided by conditions.
    pub of: String,
}

/// The page cache before the trials of each workload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Caches {
    /// By workload, where it is stated; one that is not named begins warm.
    pub conditions: BTreeMap<String, CacheCondition>,
    /// Page caches with which the model misses as often as full scale, bytes of a node, by configuration and workload;
    /// others are what the configuration leaves.
    pub same_misses_bytes: BTreeMap<String, BTreeMap<String, u64>>,
    /// Seconds that warming is expected to take before each trial, by configuration.
    pub warming_s: BTreeMap<String, f64>,
    /// Seconds that a page cache is expected to take until it has settled for the first time, by configuration and
    /// workload: its part, where several configurations begin with the same pages.
    pub settling_s: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Caches {
    /// Whether nothing is stated that is not so anyway.
    fn are_usual(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The page cache with which the model misses as often as full scale, bytes of a node; `None`: it was not asked
    /// for, or not reckoned.
    pub fn same_misses(&self, configuration: &str, workload: &str) -> Option<u64> {
        self.same_misses_bytes.get(configuration)?.get(workload).copied()
    }

    /// Whether page caches have the sizes that their configurations leave.
    pub(crate) fn are_unswept(&self) -> bool {
        self.conditions.values().all(|condition| condition.ratio.is_none())
    }

    /// Whether all trials begin with a warm page cache, or with one of a size that is asked for: that memory answers is
    /// no surprise then.
    pub(crate) fn ask_for_memory(&self) -> bool {
        let is_asked = |condition: &CacheCondition| condition.ratio.is_some() || condition.state == CacheState::Warm;
        !self.are_usual() && self.conditions.values().all(is_asked)
    }

    /// Whether a page cache that holds what the workload leaves in it was asked for: that memory answers is no surprise
    /// then.
    pub fn asks_for_warm(&self, workload: &str) -> bool {
        let condition = self.conditions.get(workload);
        condition.is_some_and(|condition| condition.state == CacheState::Warm)
    }

    /// The state before trials of a workload.
    pub fn state(&self, workload: &str) -> CacheState {
        self.conditions.get(workload).map_or(CacheState::default(), |condition| condition.state)
    }

    /// Workloads that differ by nothing but the state: the cold one and the warm one.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.conditions.iter().filter(|(_, one)| one.state == CacheState::Cold).filter_map(|(cold, one)| {
            let is_other = |other: &CacheCondition| {
                other.state == CacheState::Warm && other.of == one.of && other.ratio == one.ratio
            };
            let warm = self.conditions.iter().find(|(_, other)| is_other(other))?;
            Some((cold.as_str(), warm.0.as_str()))
        })
    }

    /// Expected seconds of warming before a trial of this configuration under this workload.
    pub fn seconds_of(&self, configuration: &str, workload: &str) -> f64 {
        match self.state(workload) {
            CacheState::Cold => 0.0,
            CacheState::Warm => self.warming_s.get(configuration).copied().unwrap_or(0.0),
        }
    }

    /// Its part of the expected seconds until the page cache has settled for this workload for the first time.
    pub(crate) fn first_seconds_of(&self, configuration: &str, workload: &str) -> f64 {
        match self.state(workload) {
            CacheState::Cold => 0.0,
            CacheState::Warm => {
                let of = self.settling_s.get(configuration).and_then(|of| of.get(workload));
                of.copied().unwrap_or(0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_warm_and_pairs_differ_by_the_state_alone() {
        let condition =
            |name: &str, state, of: &str| (name.to_owned(), CacheCondition { state, ratio: None, of: of.to_owned() });
        let caches = Caches {
            conditions: [
                condition("a-cold", CacheState::Cold, "a"),
                condition("a-warm", CacheState::Warm, "a"),
                condition("b", CacheState::Warm, "b"),
            ]
            .into(),
            warming_s: [("gp3".to_owned(), 12.0)].into(),
            settling_s: [("gp3".to_owned(), [("b".to_owned(), 15.0)].into())].into(),
            ..Caches::default()
        };
        assert!(!caches.are_usual() && Caches::default().are_usual());
        assert_eq!(caches.state("another"), CacheState::Warm);
        assert_eq!(caches.pairs().collect::<Vec<_>>(), [("a-cold", "a-warm")]);
        assert_eq!(
            ["a-cold", "a-warm", "another"].map(|workload| caches.seconds_of("gp3", workload)),
            [0.0, 12.0, 12.0]
        );
        assert_eq!(["a-cold", "b"].map(|workload| caches.first_seconds_of("gp3", workload)), [0.0, 15.0]);
    }
}
