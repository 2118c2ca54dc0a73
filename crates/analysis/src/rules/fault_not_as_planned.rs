//! Did the planned faults happen as planned?

use experiment::Plan;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// A planned fault did not happen, or not as planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct FaultNotAsPlanned {
    pub planned: u64,
    pub happened: u64,
    pub problems: Vec<String>,
}

/// What the records of faults say of problems, and faults that have no record, of a trial that measured something.
pub(crate) fn finding(trial: &TrialMeasurement, plan: &Plan) -> Option<Seen<FaultNotAsPlanned>> {
    trial.record.client.as_ref()?;
    let (planned, happened) = (plan.faults.len(), trial.record.faults.len());
    let faults = trial.record.faults.iter();
    let problems: Vec<String> = faults.filter_map(|f| f.problem.clone()).collect();
    let is_off = happened < planned || !problems.is_empty();
    let figures = FaultNotAsPlanned { planned: planned as u64, happened: happened as u64, problems };
    is_off.then_some(figures.into())
}

#[cfg(test)]
mod tests {
    use evidence::{FaultRecord, HostId};
    use experiment::{FaultAction, NodeFault, NodeFaultKind};

    use super::*;
    use crate::rules::cases::recorded;
    use crate::story::job;

    #[test]
    fn a_fault_without_record_and_one_with_a_problem_are_reported() {
        let mut plan = job().plan;
        assert_eq!(finding(&recorded(|_| ()), &plan), None);
        plan.faults = vec![NodeFault { action: FaultAction::NodePause, node: 1, at_s: 20.0, for_s: Some(10.0) }];
        let with = |problem: Option<&str>| {
            recorded(|r| {
                r.faults = vec![FaultRecord {
                    kind: NodeFaultKind::NodePause,
                    host: HostId::DATABASE,
                    volume: None,
                    began_s: 20.0,
                    gone_s: 20.1,
                    return_began_s: Some(30.0),
                    back_s: Some(30.1),
                    problem: problem.map(str::to_owned),
                    failed_requests: None,
                    ended: None,
                }];
            })
        };
        assert_eq!(finding(&with(None), &plan), None);
        let reported = |trial: &TrialMeasurement| finding(trial, &plan).unwrap().figures;
        assert_eq!(reported(&with(Some("it did not stop"))).problems, ["it did not stop"]);
        let none = reported(&recorded(|_| ()));
        assert_eq!((none.planned, none.happened), (1, 0));
    }
}
