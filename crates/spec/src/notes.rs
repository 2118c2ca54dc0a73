//! What can be said about an experiment before anything runs.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::{Experiment, Volume, setups};

/// A static remark: worth knowing, not wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Note {
    /// Rule that made it.
    pub rule: &'static str,
    /// What it is about, in one sentence.
    pub message: String,
    /// The numbers behind it, units in their names.
    pub numbers: BTreeMap<&'static str, f64>,
    /// What to do, if anything.
    pub advice: &'static str,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "note: {}. {}", self.message, self.advice)
    }
}

/// All static remarks on an experiment.
pub fn static_notes(experiment: &Experiment) -> Vec<Note> {
    let mut notes = Vec::new();
    for configuration in &experiment.configurations {
        let volumes = std::iter::once(&configuration.data_volume).chain(&configuration.commitlog_volume);
        notes.extend(volumes.filter_map(|v| above_instance(&configuration.name, &configuration.instance.label, v)));
        let volume = &configuration.data_volume;
        if volume.effective_limits.read_iops.is_none() && volume.effective_limits.read_bytes_per_s.is_none() {
            notes.push(Note {
                rule: "volume_without_known_limits",
                message: format!(
                    "{}: the catalog knows no limits of {}, so none are emulated",
                    configuration.name, volume.label
                ),
                numbers: BTreeMap::new(),
                advice: "State iops and mib_per_s to emulate it",
            });
        }
        if configuration.commitlog_volume.is_none() {
            notes.push(Note {
                rule: "commitlog_on_data_volume",
                message: format!("{}: the commit log shares the data volume", configuration.name),
                numbers: BTreeMap::new(),
                advice: "Give commitlog_volume to separate them, as the published studies did",
            });
        }
    }
    for setup in setups(experiment) {
        let payload = experiment.dataset.payload_bytes() as f64 / experiment.local.scale;
        let budget = setup.page_cache_budget_bytes as f64;
        if payload <= budget {
            notes.push(Note {
                rule: "data_fits_page_cache",
                message: format!(
                    "{}: the data set ({:.0} MiB) fits the page cache ({:.0} MiB): reads will be served from memory",
                    setup.configuration,
                    payload / catalog::MIB,
                    budget / catalog::MIB
                ),
                numbers: BTreeMap::from([("payload_bytes", payload), ("page_cache_budget_bytes", budget)]),
                advice: "This is no test of storage; load more records or allow less memory",
            });
        }
    }
    notes
}

/// IOPS that are paid for and cannot be reached.
fn above_instance(configuration: &str, instance: &str, volume: &Volume) -> Option<Note> {
    let (bought, reachable) = (volume.volume_limits.read_iops?, volume.effective_limits.read_iops?);
    (bought > reachable).then(|| Note {
        rule: "volume_above_instance",
        message: format!(
            "{configuration}: {bought:.0} IOPS of {} bought, {reachable:.0} reachable through {instance}",
            volume.label
        ),
        numbers: BTreeMap::from([("bought_iops", bought), ("reachable_iops", reachable)]),
        advice: "The rest buys nothing; choose a larger instance or fewer IOPS",
    })
}
