//! What leads under a workload and load level of a run, as far as the model can be compared with it.

use analysis::{AnswerOutcome, DecidedBy, RunEvidence, WorkloadAnswer};
use experiment::{Cell, Configuration, Definition};

use super::cluster::LEAST_HALF_WIDTH;
use super::learned::learned;
use crate::document::{LeadingPlace, NotPredictedBecause};
use crate::observation::Observation;

/// What leads in a place, and what is learned of it.
pub(super) struct Lead<'a> {
    pub place: LeadingPlace,
    pub workload: &'a Definition,
    pub configuration: &'a Configuration,
    pub observations: Vec<Observation<'a>>,
}

/// The leader of a place, where throughput for money decides and the model can be compared with it.
pub(super) fn lead<'a>(run: &'a RunEvidence<'a>, answer: &WorkloadAnswer) -> Result<Lead<'a>, NotPredictedBecause> {
    use NotPredictedBecause as Because;
    let load = answer.load.filter(|_| answer.by == DecidedBy::Value).ok_or(Because::DecidedBy { by: answer.by })?;
    let (leader, others): (&String, &[String]) = match &answer.outcome {
        AnswerOutcome::Run { configuration, .. } => (configuration, &[]),
        AnswerOutcome::Between { configurations, .. } => configurations.split_first().ok_or(Because::NoLeader)?,
        _ => return Err(Because::NoLeader),
    };
    let plan = run.plan;
    let mut priced = plan.money.configurations.iter();
    let usd = priced.find(|money| money.configuration == *leader).and_then(|money| money.usd_per_month);
    let workload = plan.workloads.iter().find(|workload| workload.name == answer.workload);
    let is_its = |cell: &&Cell| cell.configuration == *leader && cell.workload == answer.workload && cell.load == load;
    let (Some(usd_per_month), Some(workload), Some(configuration), Some(cell)) =
        (usd, workload, plan.configuration(leader), plan.cells.iter().find(is_its))
    else {
        return Err(Because::NoLeader);
    };
    let observations = learned(run, workload.distribution);
    let Some(observed) = observations.iter().find(|o| o.cell == cell.id) else {
        return Err(Because::NotLearned { leader: leader.clone() });
    };
    if !observed.is_capacity() {
        return Err(Because::NotAtLimit { leader: leader.clone() });
    }
    // One trial has no interval, and leads nowhere.
    let half_width = observed.half_width.ok_or(Because::NoLeader)?.max(LEAST_HALF_WIDTH);
    let place = LeadingPlace {
        workload: workload.name.clone(),
        load,
        leader: leader.clone(),
        not_decided_against: others.to_vec(),
        operations_per_s: observed.throughput * observed.scale,
        half_width,
        usd_per_month,
    };
    Ok(Lead { place, workload, configuration, observations })
}
