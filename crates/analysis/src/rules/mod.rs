//! The rules that make findings. Thresholds are engineering practice unless a source is named; each stands beside its
//! rule.
//!
//! A rule looks at one trial ([`of_trial`]), at a trial among the others of its run ([`of_trial_in_run`]), at a cell
//! ([`of_cell`]), or at the whole run ([`of_run`], [`of_setups`]). It fires on numbers that it then carries, so that a
//! reader can disagree with the threshold and still use the finding. One rule is one file: constants, logic, a table of
//! cases. What it saw is a value of [`crate::remark`]; what others need to know of a rule is a method of [`Rule`];
//! sentences for people are made by crate `report`. What only Cassandra does is in `cassandra/`.

mod burst;
mod cache_not_settled;
mod cache_warmed;
mod cassandra;
mod client_saturated;
mod clients_apart;
mod clock_drift;
mod counts_disagree;
mod cpu_steal;
mod cpu_throttled;
mod data_fits_page_cache;
mod data_set_smaller;
mod database_restarted;
mod emulation_floor;
mod emulation_off_limit;
mod errors_above;
mod fault_not_as_planned;
mod faults_planned;
mod limits_count_separately;
mod little;
mod members;
mod network_retransmits;
mod no_steady_state;
mod nodes;
mod not_found;
mod offered_rate;
mod other_work;
mod repetitions_spread;
mod scope;
mod send_lag;
mod separate_read_write_limits;
mod served_from_page_cache;
mod slow_change_possible;
mod stall;
mod still_rising;
mod throttle_slices;
mod through_driver;
mod too_few_samples;
mod too_short_to_judge;
mod trajectory;
mod trial_invalid;
mod unequal_hosts;
mod unequal_nodes;
mod volume_above_instance;
mod volume_at_cap;
mod writes_lost;

use std::collections::BTreeMap;

use evidence::{HostId, ProbeResult};
use experiment::{Dataset, Plan, Provider, Setups, VolumeRole};

use crate::document::{CellAnalysis, ConfigurationFacts};
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;

pub use crate::rule::Rule;
pub(crate) use cassandra::code_not_warm::is_warm as code_is_warm;
pub(crate) use client_saturated::CLIENT_CPU_MAX;
pub(crate) use emulation_off_limit::findings as off_limit;
pub use emulation_off_limit::{expected_read_iops, expected_write_bytes_per_s};
pub use faults_planned::of_plan as faults_of_plan;
pub(crate) use offered_rate::{OFF_MAX, POISSON_DEVIATIONS};
pub use repetitions_spread::{LEVEL as OUTLIER_LEVEL, finding as repetitions_spread};
pub(crate) use send_lag::SEND_LAG_SHARE;
pub use slow_change_possible::CHANGE_HIDDEN_MAX;
pub use too_few_samples::{PERCENTILES, SAMPLES_BEYOND};
pub use unequal_hosts::findings as unequal_hosts;
pub use unequal_nodes::findings as unequal_nodes;
pub use volume_above_instance::of_setups;
pub(crate) use volume_at_cap::{AT_CAP as VOLUME_AT_CAP, AT_CAP_WINDOWS};

/// All findings on one trial.
///
/// Where nodes were taken away by plan, what that does is no finding: errors, missing rows, steadiness, stops, the rate,
/// machines and volumes are judged by the trial before the first fault. The client, clocks and counters are judged by the
/// whole trial: a fault of a node excuses nothing there.
pub fn of_trial(trial: &TrialMeasurement) -> Vec<Finding> {
    let before = trial.undisturbed();
    let mut found: Vec<Finding> = [
        trial_invalid::finding(trial),
        database_restarted::finding(before),
        errors_above::finding(before),
        not_found::finding(before),
        counts_disagree::finding(trial),
        no_steady_state::finding(before),
        too_short_to_judge::finding(before).filter(|_| trial.backlog.is_none()),
        slow_change_possible::finding(before),
        cassandra::code_not_warm::finding(before),
        stall::finding(before),
        client_saturated::finding(trial),
        send_lag::finding(trial),
        offered_rate::finding(before),
        little::finding(before),
        clock_drift::finding(trial),
        clients_apart::finding(trial),
        through_driver::finding(trial),
        cpu_steal::finding(before),
        cpu_throttled::finding(before),
        cassandra::gc_pauses::finding(before),
        cassandra::compaction_backlog::finding(trial),
        cassandra::compaction_debt::finding(before).filter(|_| trial.backlog.is_none()),
        cassandra::dropped_messages::finding(before),
        network_retransmits::finding(before),
        cache_warmed::finding(before),
        data_fits_page_cache::finding(before).filter(|_| !cache_warmed::is_warmed(trial)),
        served_from_page_cache::finding(before).filter(|_| !cache_warmed::is_warmed(trial)),
    ]
    .into_iter()
    .flatten()
    .collect();
    found.extend(members::findings(trial));
    for role in VolumeRole::ALL {
        found.extend(burst::findings(trial, role));
        found.extend(throttle_slices::finding(before, role));
        found.extend(volume_at_cap::finding(before, role));
        found.extend(emulation_floor::finding(before, role));
        found.extend(separate_read_write_limits::finding(before, role));
    }
    found
}

/// What a trial is seen beside: the plan, and what the run's other trials have in common with it.
#[derive(Debug, Clone, Copy)]
pub struct RunContext<'a> {
    plan: &'a Plan,
    setups: &'a Setups,
    provider: Provider,
    /// Median over the run's trials of the bytes on disk of one replica of the data set.
    data_bytes: Option<f64>,
}

impl<'a> RunContext<'a> {
    /// What the trials of a run have in common.
    pub fn of(plan: &'a Plan, setups: &'a Setups, provider: Provider, trials: &[&TrialMeasurement]) -> Self {
        Self {
            plan,
            setups,
            provider,
            data_bytes: data_set_smaller::typical(setups, trials),
        }
    }
}

/// The findings that the trial came with, completed by what only the plan knows, and those that only its fellows show.
pub fn of_trial_in_run(trial: &TrialMeasurement, together: &RunContext<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = trial
        .findings
        .iter()
        .filter_map(|finding| burst::completed(finding.clone(), trial, together.setups, together.plan.scale))
        .map(|finding| no_steady_state::completed(finding, trial, together.plan))
        .collect();
    found.extend(burst::unseen(trial, together.setups, together.plan.scale));
    found.extend(data_set_smaller::than_the_others(
        trial,
        together.setups,
        together.data_bytes,
    ));
    found.extend(still_rising::finding(trial.undisturbed(), together.plan));
    found.extend(cache_not_settled::finding(trial.undisturbed(), together.plan));
    found.extend(other_work::finding(trial.undisturbed(), together.provider));
    found.extend(fault_not_as_planned::finding(trial, together.plan));
    found.extend(cassandra::writes_not_flushed::finding(
        trial.undisturbed(),
        together.plan,
        together.setups,
    ));
    found
}

/// Findings on a cell, from its figures, its valid trials, and the replicas of the data set that it should have had.
pub fn of_cell(cell: &CellAnalysis, valid: &[&TrialMeasurement], dataset: &Dataset, replicas: u32) -> Vec<Finding> {
    let mut found = writes_lost::findings(cell);
    found.extend(too_few_samples::findings(cell));
    found.extend(data_set_smaller::than_its_layout(cell, dataset, replicas));
    found.extend(unequal_nodes::findings(&cell.id, &cell.nodes, valid));
    found
}

/// Findings on configurations and on the run as a whole.
pub fn of_run(run: &str, provider: Provider, configurations: &[ConfigurationFacts]) -> Vec<Finding> {
    let mut found: Vec<Finding> = configurations.iter().flat_map(emulation_off_limit::findings).collect();
    found.extend(configurations.iter().flat_map(unequal_nodes::of_configuration));
    found.extend(limits_count_separately::finding(run, provider, configurations));
    found
}

/// What fio measured of a role's volume on each node: of several trials the first that tells.
pub fn probes_of<'a>(
    trials: impl Iterator<Item = &'a TrialMeasurement>,
    role: VolumeRole,
) -> BTreeMap<HostId, ProbeResult> {
    let mut probes = BTreeMap::new();
    for node in trials.flat_map(TrialMeasurement::nodes) {
        let volume = node.facts.volumes.iter().find(|v| v.role == role);
        if let Some(probe) = volume.and_then(|v| v.probe) {
            probes.entry(node.id).or_insert(probe);
        }
    }
    probes
}

/// A trial without fault and what makes others of it, for the tables of cases.
#[cfg(test)]
pub(crate) mod cases {
    use evidence::{ClientResult, TrialRecord};

    use super::{Finding, HostId, Rule, of_trial};
    use crate::host::DatabaseHost;
    use crate::measurement::TrialMeasurement;
    use crate::rule::RuleFigures;
    use crate::story::{Reported, measured, record};

    /// 2,000 operations/s for 60 s in closed loop, 0.1 device reads for each read, far below every limit.
    pub fn sound_record() -> TrialRecord {
        record(Reported {
            configuration: "io1-10000",
            block: 1,
            operations: 120_000,
            device_reads: 9_600.0,
            probe_read_iops: 625.0,
        })
    }

    pub fn sound() -> TrialMeasurement {
        measured(&sound_record(), 9_600.0)
    }

    /// The sound trial after a change to its record.
    pub fn recorded(change: impl FnOnce(&mut TrialRecord)) -> TrialMeasurement {
        let mut record = sound_record();
        change(&mut record);
        measured(&record, 9_600.0)
    }

    /// The sound trial after a change to what its client counted.
    pub fn counted(change: impl FnOnce(&mut ClientResult)) -> TrialMeasurement {
        recorded(|r| change(r.client.as_mut().unwrap()))
    }

    /// The sound trial after a change to what was measured.
    pub fn changed(change: impl FnOnce(&mut TrialMeasurement)) -> TrialMeasurement {
        let mut trial = sound();
        change(&mut trial);
        trial.findings = of_trial(&trial);
        trial
    }

    /// The sound trial after a change to what its database host showed.
    pub fn changed_host(change: impl FnOnce(&mut DatabaseHost)) -> TrialMeasurement {
        changed(|t| change(first_host(t)))
    }

    /// What the only database host showed.
    pub fn first_host(trial: &mut TrialMeasurement) -> &mut DatabaseHost {
        trial.hosts.get_mut(&HostId::DATABASE).unwrap()
    }

    /// What a rule found in a trial.
    pub fn found(trial: &TrialMeasurement, rule: Rule) -> Option<&Finding> {
        trial.findings.iter().find(|f| f.rule() == rule)
    }

    /// The figures of a rule in a trial.
    pub fn seen<F: RuleFigures>(trial: &TrialMeasurement) -> Option<&F> {
        trial.findings.iter().find_map(Finding::figures)
    }

    /// Each case fires or not, as its second part says.
    pub fn fires<C: std::fmt::Debug + Copy>(rule: Rule, cases: &[(C, bool)], make: impl Fn(C) -> TrialMeasurement) {
        for (case, expected) in cases {
            let trial = make(*case);
            assert_eq!(
                found(&trial, rule).is_some(),
                *expected,
                "{} at {case:?}: {:?}",
                rule.name(),
                trial.findings
            );
        }
    }

    #[test]
    fn a_sound_trial_has_no_findings() {
        assert_eq!(sound().findings, Vec::new());
    }
}
