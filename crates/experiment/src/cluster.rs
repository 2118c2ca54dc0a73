//! Clusters that a run starts.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::{DataSetFiles, Setup};

/// A cluster that a run starts: configurations with the same hosts, the same placement, and settings that make the same
/// files, share its data set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cluster {
    /// Number of its first node's host among the database hosts of the run, from 0.
    pub first_host: u32,
    /// Its data set's.
    pub files: DataSetFiles,
}

impl Cluster {
    /// That of a configuration.
    pub fn of(setup: &Setup) -> Self {
        Self { first_host: setup.at.first_host(), files: DataSetFiles::of(setup) }
    }

    /// The clusters of these configurations, each once.
    pub fn all_of(setups: &[Setup]) -> Vec<Self> {
        let clusters: BTreeSet<Self> = setups.iter().filter(|setup| setup.at.is_started()).map(Self::of).collect();
        clusters.into_iter().collect()
    }

    /// Numbers of its nodes' hosts among the database hosts of the run.
    pub fn hosts(&self) -> Range<u32> {
        self.first_host..self.first_host + self.files.placement.nodes
    }
}
