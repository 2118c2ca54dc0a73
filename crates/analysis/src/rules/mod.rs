//! The rules that make findings. Thresholds are engineering practice unless a source is named; each stands beside its
//! rule.
//!
//! A rule looks at one trial ([`of_trial`]), at a trial among the others of its run ([`of_trial_in_run`]), at a cell
//! ([`of_cell`]), at a configuration ([`of_configurations`]), or at the whole run ([`of_setups`]). It fires on numbers
//! that it then carries, so that a reader can disagree with the threshold and still use the finding. One rule is one
//! file: figures, constants, logic, a table of cases. It gives what it saw, and knows no other rule; here it becomes a
//! finding on something. What others need to know of a rule is a method of [`Rule`]; sentences for people are made by
//! crate `report`. What only Cassandra does is in `cassandra/`, what only PostgreSQL does in `postgresql/`.

pub mod burst;
pub mod cache_not_settled;
pub mod cache_warmed;
pub mod cassandra;
pub mod client_saturated;
pub mod clients_apart;
pub mod clock_drift;
pub mod counts_disagree;
pub mod cpu_steal;
pub mod cpu_throttled;
pub mod data_fits_page_cache;
pub mod data_set_smaller;
pub mod database_restarted;
pub mod ebs_disagrees;
pub mod emulation_floor;
pub mod emulation_off_limit;
pub mod errors_above;
pub mod fault_not_as_planned;
pub mod faults_planned;
pub mod imported;
pub mod little;
pub mod members;
pub mod network_retransmits;
pub mod no_steady_state;
mod nodes;
pub mod not_found;
pub mod offered_rate;
pub mod other_work;
pub mod postgresql;
pub mod repetitions_spread;
pub mod send_lag;
pub mod separate_read_write_limits;
pub mod served_from_page_cache;
pub mod several_volumes;
pub mod slow_change_possible;
pub mod stall;
pub mod still_rising;
pub mod table_bloat;
pub mod throttle_slices;
pub mod through_driver;
pub mod too_few_samples;
pub mod too_short_to_judge;
mod trajectory;
pub mod trial_invalid;
pub mod unequal_hosts;
pub mod unequal_nodes;
pub mod volume_above_instance;
pub mod volume_at_cap;
pub mod writes_lost;

use std::collections::BTreeMap;

use evidence::{HostId, ProbeResult};
use experiment::{Dataset, Plan, Setup, Setups, VolumeRole};
use serde_json::Value;
use stats::Outlier;

use self::errors_above::ErrorsAbove;
use self::imported::windows::Length;
use self::trial_invalid::TrialInvalid;
use crate::document::{CellAnalysis, ConfigurationFacts, NodeAnalysis};
use crate::fact::CpuTakenBy;
use crate::finding::{Finding, Scope};
use crate::measurement::TrialMeasurement;
use crate::rule::{Remark, Severity};
use crate::seen::{Seen, SeenOn};

pub use crate::rule::Rule;
pub(crate) use cassandra::code_not_warm::is_warm as code_is_warm;
pub(crate) use client_saturated::CLIENT_CPU_MAX;
pub use emulation_off_limit::{expected_read_iops, expected_write_bytes_per_s};
pub(crate) use offered_rate::{OFF_MAX, off_by_chance};
pub use repetitions_spread::LEVEL as OUTLIER_LEVEL;
pub(crate) use send_lag::SEND_LAG_SHARE;
pub use slow_change_possible::CHANGE_HIDDEN_MAX;
pub use too_few_samples::{PERCENTILES, SAMPLES_BEYOND};
pub(crate) use volume_at_cap::AT_CAP_WINDOWS;

/// What rules saw of one thing.
struct Found {
    scope: Scope,
    findings: Vec<Finding>,
}

impl Found {
    fn on(scope: Scope) -> Self {
        let findings = Vec::new();
        Self { scope, findings }
    }

    fn add<F: Into<Remark>>(&mut self, seen: impl IntoIterator<Item = Seen<F>>) {
        self.findings.extend(on(&self.scope, seen));
    }
}

/// What one rule saw of one thing.
fn on<F: Into<Remark>>(scope: &Scope, seen: impl IntoIterator<Item = Seen<F>>) -> Vec<Finding> {
    seen.into_iter().map(|seen| Finding::seen(scope.clone(), seen)).collect()
}

fn of(trial: &TrialMeasurement) -> Scope {
    Scope::trial(&trial.record.cell, trial.record.block)
}

/// All findings on one trial.
///
/// Where nodes were taken away by plan, what that does is no finding: errors, missing rows, steadiness, stops, the
/// rate, machines and volumes are judged by the trial before the first fault. The client, clocks and counters are
/// judged by the whole trial: a fault of a node excuses nothing there.
pub fn of_trial(trial: &TrialMeasurement) -> Vec<Finding> {
    let before = trial.undisturbed();
    let mut found = Found::on(of(trial));
    found.add(trial_invalid::finding(trial));
    found.add(database_restarted::finding(before));
    found.add(errors_above::finding(before));
    found.add(not_found::finding(before));
    found.add(counts_disagree::finding(trial));
    found.add(no_steady_state::finding(before));
    found.add(too_short_to_judge::finding(before).filter(|_| trial.backlog.is_none() && trial.imported().is_none()));
    found.add(slow_change_possible::finding(before));
    found.add(cassandra::code_not_warm::finding(before));
    found.add(stall::finding(before));
    found.add(client_saturated::finding(trial));
    found.add(send_lag::finding(trial));
    found.add(offered_rate::not_achieved(before));
    found.add(offered_rate::drained(before));
    found.add(little::finding(before));
    found.add(clock_drift::finding(trial));
    found.add(clients_apart::finding(trial));
    found.add(through_driver::finding(trial));
    found.add(imported::progress::broken(trial));
    found.add(imported::progress::drifts(trial));
    found.add(imported::clocks::finding(trial));
    found.add(imported::waits::finding(trial));
    found.add(imported::left_out::finding(trial));
    found.add(cpu_steal::finding(before));
    found.add(cpu_throttled::finding(before));
    found.add(cassandra::gc_pauses::finding(before));
    found.add(cassandra::compaction_backlog::compacted(trial));
    found.add(cassandra::compaction_backlog::left(trial));
    found.add(cassandra::compaction_debt::finding(before).filter(|_| trial.backlog.is_none()));
    found.add(cassandra::dropped_messages::finding(before));
    found.add(postgresql::checkpoints_requested::finding(before));
    found.add(network_retransmits::finding(before));
    found.add(cache_warmed::finding(before));
    let is_warmed = cache_warmed::is_warmed(trial);
    found.add(data_fits_page_cache::finding(before).filter(|_| !is_warmed));
    found.add(served_from_page_cache::finding(before).filter(|_| !is_warmed));
    found.add(members::slow_member(trial));
    found.add(members::unbalanced_members(trial));
    for role in VolumeRole::ALL {
        found.add(burst::changed(trial, role));
        found.add(burst::only(trial, role));
        found.add(throttle_slices::finding(before, role));
        found.add(volume_at_cap::finding(before, role));
        found.add(emulation_floor::finding(before, role));
        found.add(separate_read_write_limits::finding(before, role));
    }
    found.findings
}

/// The first rule that keeps a trial out of comparisons, with what it saw.
pub fn forbidden(trial: &TrialMeasurement) -> Option<String> {
    let findings = of_trial(trial);
    let finding = findings.iter().find(|f| f.severity == Severity::Invalid)?;
    let reason = finding.figures::<TrialInvalid>().map(|found| found.reason.clone());
    let errors = || finding.figures::<ErrorsAbove>().map(ErrorsAbove::by_kind);
    let nodes = || finding.nodes.as_ref().map(SeenOn::listed);
    let rule = finding.rule().name();
    Some(match reason.or_else(errors).or_else(nodes) {
        None => rule.to_owned(),
        Some(seen) => format!("{rule}: {seen}"),
    })
}

/// What a trial is seen beside: the plan, and what the run's other trials have in common with it.
#[derive(Debug, Clone, Copy)]
pub struct RunContext<'a> {
    plan: &'a Plan,
    setups: &'a Setups,
    /// Median over the run's trials of the bytes on disk of one replica of the data set.
    data_bytes: Option<f64>,
}

impl<'a> RunContext<'a> {
    /// What the trials of a run have in common.
    pub fn of(plan: &'a Plan, setups: &'a Setups, trials: &[&TrialMeasurement]) -> Self {
        Self { plan, setups, data_bytes: data_set_smaller::typical(setups, trials) }
    }
}

/// The findings on a trial, completed by what only the plan knows, and those that only its fellows show.
pub fn of_trial_in_run(trial: &TrialMeasurement, together: &RunContext<'_>) -> Vec<Finding> {
    let RunContext { plan, setups, .. } = *together;
    let undisturbed = trial.undisturbed();
    let own = of_trial(trial).into_iter();
    let mut found =
        Found { scope: of(trial), findings: own.filter_map(|finding| completed(finding, trial, together)).collect() };
    if let Some(workload) = plan.workloads.iter().find(|w| w.name == trial.record.workload && w.is_own()) {
        let reads = undisturbed.completed_reads_of(workload);
        let is_warmed = cache_warmed::is_warmed(trial);
        found.add(served_from_page_cache::of_reads(undisturbed, reads).filter(|_| !is_warmed));
    }
    found.add(burst::unseen(trial, setups, plan.scale()));
    found.add(data_set_smaller::than_the_others(trial, setups, together.data_bytes));
    found.add(still_rising::finding(undisturbed, plan));
    found.add(cache_not_settled::finding(undisturbed, plan));
    found.add(ebs_disagrees::finding(undisturbed, setups));
    found.add(other_work::finding(undisturbed, plan.place.provider()));
    found.add(fault_not_as_planned::finding(trial, plan));
    found.add(cassandra::writes_not_flushed::finding(undisturbed, plan, setups));
    let taken_by = cpu_taken_by(&found.findings);
    for finding in &mut found.findings {
        match &mut finding.remark {
            Remark::NoSteadyState(found) => found.cpu_taken_by = taken_by,
            Remark::StillRising(found) => found.cpu_taken_by = taken_by,
            _ => {}
        }
    }
    found.findings
}

/// Who else took CPU time of a database's machine, by the findings on its trial.
fn cpu_taken_by(findings: &[Finding]) -> Option<CpuTakenBy> {
    let is_found = |rule: Rule| findings.iter().any(|finding| finding.rule() == rule);
    match (is_found(Rule::OtherWork), is_found(Rule::CpuSteal)) {
        (true, _) => Some(CpuTakenBy::Programs),
        (false, true) => Some(CpuTakenBy::Hypervisor),
        (false, false) => None,
    }
}

/// The finding with what only the plan knows; `None` where that shows that it is none.
fn completed(mut finding: Finding, trial: &TrialMeasurement, together: &RunContext<'_>) -> Option<Finding> {
    let known =
        burst::Known { trial, setups: together.setups, scale: together.plan.scale(), nodes: finding.nodes.as_ref() };
    let stays = match &mut finding.remark {
        Remark::NoSteadyState(found) => {
            no_steady_state::complete(found, trial, together.plan);
            true
        }
        Remark::BurstChanged(found) => {
            burst::complete_changed(found, &known);
            true
        }
        Remark::BurstOnly(found) => burst::complete_only(found, &known),
        // A simulated volume answers at an even pace: no throttle holds it.
        Remark::ThrottleSlices(_) => !together.plan.place.is_simulated(),
        Remark::CodeNotWarm(_) => together.plan.target.database.product().compiles_itself(),
        _ => true,
    };
    stays.then_some(finding)
}

/// Findings on a cell, from its figures, its valid trials, and the replicas of the data set that it should have had;
/// `None`: nobody knows how large that must be at the least.
pub fn of_cell(
    cell: &CellAnalysis,
    valid: &[&TrialMeasurement],
    dataset: Option<&Dataset>,
    replicas: u32,
) -> Vec<Finding> {
    let mut found = Found::on(Scope::Cell(cell.id.clone()));
    found.add(cell.writes.as_ref().and_then(writes_lost::lost));
    found.add(cell.writes.as_ref().and_then(writes_lost::unread));
    found.add(too_few_samples::findings(&cell.latency_us));
    found.add(dataset.and_then(|it| data_set_smaller::than_its_layout(cell.bytes_on_disk, it, replicas)));
    found.findings.extend(unequal_nodes(&cell.id, &cell.nodes, valid));
    found.findings
}

/// Imported cells whose trials are not of the same length as those of an earlier cell of their workload and load level,
/// by their numbers, each with the finding on the first such.
pub(crate) fn unlike_windows(cells: &[CellAnalysis], lengths: &[Option<Length>]) -> Vec<(usize, Vec<Finding>)> {
    let of_cell = |(at, cell): (usize, &CellAnalysis)| {
        let is_unlike = |other: &usize| {
            let (of_other, length) = (&cells[*other], lengths[*other]);
            (&cell.workload, cell.load) == (&of_other.workload, of_other.load) && !Length::are_like(lengths[at], length)
        };
        let other = (0..at).find(is_unlike)?;
        let unlike = lengths[at]?.unlike(lengths[other]?, &cells[other].configuration);
        Some((at, on(&Scope::Cell(cell.id.clone()), [Seen::from(unlike)])))
    };
    cells.iter().enumerate().filter_map(of_cell).collect()
}

/// In what the nodes of a cell, which are these, differ; `trials` are its valid ones.
pub fn unequal_nodes(cell: &str, nodes: &[NodeAnalysis], trials: &[&TrialMeasurement]) -> Vec<Finding> {
    on(&Scope::Cell(cell.to_owned()), unequal_nodes::of_cell(nodes, trials).into_iter().map(Seen::from))
}

/// The finding on a trial of a cell that [`stats::Layout::outliers`] names.
pub fn repetitions_spread(cell: &CellAnalysis, outlier: &Outlier) -> Vec<Finding> {
    on(&Scope::Cell(cell.id.clone()), repetitions_spread::finding(outlier))
}

/// Findings on configurations.
pub fn of_configurations(configurations: &[ConfigurationFacts]) -> Vec<Finding> {
    let unequal = |configuration: &ConfigurationFacts| {
        let seen = unequal_nodes::of_configuration(configuration).into_iter().map(Seen::from);
        on(&of_configuration(&configuration.name), seen)
    };
    configurations.iter().flat_map(off_limit).chain(configurations.iter().flat_map(unequal)).collect()
}

/// Findings on the volumes of a configuration.
pub(crate) fn off_limit(configuration: &ConfigurationFacts) -> Vec<Finding> {
    on(&of_configuration(&configuration.name), emulation_off_limit::of_configuration(configuration))
}

/// Findings on configurations, known before anything is measured.
pub fn of_setups(setups: &[Setup], scale: f64) -> Vec<Finding> {
    of_each(setups, |setup| volume_above_instance::of_setup(setup, scale))
}

/// Findings on configurations whose database hosts differ. `environment` is the run's `environment.json`; `trials` are
/// all of the run.
pub fn unequal_hosts(setups: &[Setup], environment: &Value, trials: &[&TrialMeasurement]) -> Vec<Finding> {
    of_each(setups, |setup| unequal_hosts::of_setup(setup, environment, trials))
}

/// Findings on configurations whose table has grown in a database that exists; `trials` are all of the run.
pub fn table_bloat(setups: &[Setup], trials: &[&TrialMeasurement]) -> Vec<Finding> {
    of_each(setups, |setup| table_bloat::of_configuration(&setup.configuration, trials))
}

fn of_each<F: Into<Remark>>(setups: &[Setup], seen: impl Fn(&Setup) -> Option<Seen<F>>) -> Vec<Finding> {
    setups.iter().flat_map(|setup| on(&of_configuration(&setup.configuration), seen(setup))).collect()
}

fn of_configuration(name: &str) -> Scope {
    Scope::Configuration(name.to_owned())
}

/// The findings on configurations that were to share volumes, and did not in all blocks; `trials` are all of the run.
pub fn several_volumes(run: &str, plan: &Plan, trials: &[&TrialMeasurement]) -> Vec<Finding> {
    let pairs = plan.place.aws().into_iter().flat_map(|aws| &aws.pairs);
    on(&Scope::Run(run.to_owned()), pairs.filter_map(|pair| several_volumes::of_pair(pair, trials)))
}

/// The finding on a run with planned faults.
pub fn faults_of_plan(run: &str, plan: &Plan) -> Vec<Finding> {
    on(&Scope::Run(run.to_owned()), faults_planned::of_plan(plan))
}

/// What fio measured of a role's volume on each node: of several trials the first that has it.
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

    use super::{Finding, HostId, Rule, VolumeRole, forbidden, of_trial};
    use crate::activity::VolumeActivity;
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
        trial.forbidden = forbidden(&trial);
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

    /// What its data volume did.
    pub fn first_data(trial: &mut TrialMeasurement) -> &mut VolumeActivity {
        first_host(trial).volumes.get_mut(&VolumeRole::Data).unwrap()
    }

    /// What a rule found in a trial.
    pub fn found(trial: &TrialMeasurement, rule: Rule) -> Option<Finding> {
        of_trial(trial).into_iter().find(|f| f.rule() == rule)
    }

    /// The figures of a rule in a trial.
    pub fn seen<F: RuleFigures + Clone>(trial: &TrialMeasurement) -> Option<F> {
        of_trial(trial).iter().find_map(Finding::figures).cloned()
    }

    /// Each case fires or not, as its second part says.
    pub fn fires<C: std::fmt::Debug + Copy>(rule: Rule, cases: &[(C, bool)], make: impl Fn(C) -> TrialMeasurement) {
        for (case, expected) in cases {
            let trial = make(*case);
            assert_eq!(found(&trial, rule).is_some(), *expected, "{} at {case:?}: {:?}", rule.name(), of_trial(&trial));
        }
    }

    #[test]
    fn a_sound_trial_has_no_findings() {
        assert_eq!(of_trial(&sound()), Vec::new());
    }
}
