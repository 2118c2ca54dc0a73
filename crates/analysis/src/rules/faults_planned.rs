//! Nodes and caches are taken away and disks fail by plan: which figures that is in, and which not.

use experiment::{NodeFaultKind, Plan};
use serde::{Deserialize, Serialize};

use crate::seen::Seen;

/// Nodes were taken away by plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct FaultsPlanned {
    pub faults: u64,
    pub disk_faults: u64,
    pub compactions: u64,
    pub cache_kills: u64,
    /// When the first is to begin, seconds from the start of measurement.
    pub first_at_s: f64,
    /// Seconds of all faults but compactions: how long one takes is seen when it is done.
    pub away_s: f64,
    pub measured_s: f64,
}

/// Said once, of the run.
pub(crate) fn of_plan(plan: &Plan) -> Option<Seen<FaultsPlanned>> {
    let first_at_s = plan.faults.iter().map(|f| f.at_s).min_by(f64::total_cmp)?;
    let measured_s = plan.shape.duration_s;
    let away = |f: &experiment::NodeFault| f.until_s().unwrap_or(measured_s).min(measured_s) - f.at_s.min(measured_s);
    let of_disks = plan.faults.iter().filter(|f| f.kind().is_of_disk()).count();
    // How long one takes is seen when it is done.
    let is_compaction = |f: &&experiment::NodeFault| f.kind() == NodeFaultKind::Compaction;
    let compactions = plan.faults.iter().filter(is_compaction).count();
    let cache_kills = plan.faults.iter().filter(|f| f.kind() == NodeFaultKind::CacheKill).count();
    let lasting = plan.faults.iter().filter(|f| !is_compaction(f));
    let figures = FaultsPlanned {
        faults: plan.faults.len() as u64,
        disk_faults: of_disks as u64,
        compactions: compactions as u64,
        cache_kills: cache_kills as u64,
        first_at_s,
        away_s: lasting.map(away).sum(),
        measured_s,
    };
    Some(figures.into())
}

#[cfg(test)]
mod tests {
    use experiment::{FaultAction, NodeFault, VolumeRole};

    use super::*;
    use crate::story::job;

    /// One node for 20 s, another from 50 s to the end of the 60 s.
    #[test]
    fn the_seconds_of_all_faults_are_added() {
        let mut plan = job().plan;
        let reported = |plan: &Plan| of_plan(plan).map(|found| found.figures);
        assert_eq!(reported(&plan), None);
        let fault = |node, at_s, for_s| NodeFault { action: FaultAction::NodeKill, node, at_s, for_s };
        plan.faults = vec![fault(2, 50.0, None), fault(1, 20.0, Some(20.0))];
        let found = reported(&plan).unwrap();
        assert_eq!((found.first_at_s, found.away_s), (20.0, 30.0));
        assert_eq!(found.disk_faults, 0);
        plan.faults[1].action = FaultAction::DiskStall { volume: VolumeRole::Data };
        assert_eq!(reported(&plan).unwrap().disk_faults, 1);
        plan.faults[1].action = FaultAction::CacheKill { cache_node: 1 };
        assert_eq!(reported(&plan).unwrap().cache_kills, 1);
    }
}
