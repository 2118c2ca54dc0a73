//! Served volumes that fail by plan: what of their slowness is this machine's.

use crate::story::faults::{Trial, kill};
use analysis::rules::{self, emulation_floor::EmulationFloor};
use evidence::FaultRecord;
use experiment::{NodeFaultKind, VolumeRole};

const FAST: &str = "io1-10000";

/// The data volume of node 2 from 20 to 40 s.
fn failing(kind: NodeFaultKind) -> FaultRecord {
    FaultRecord { kind, volume: Some(VolumeRole::Data), ..kill(20.0, Some(40.0), Some(40.0)) }
}

/// What `emulation_floor` says of a trial whose volumes were late from the one moment to the other.
fn found(planned: Option<NodeFaultKind>, late_s: (f64, f64)) -> Option<EmulationFloor> {
    let mut trial = Trial::new(FAST, 1, planned.map(failing).into_iter().collect());
    trial.late_s = Some(late_s);
    let measured = trial.measured();
    assert!(measured.is_valid(), "{:?}", measured.invalid_reason());
    let findings = rules::of_trial(&measured);
    let mut all = findings.iter();
    all.find_map(analysis::Finding::figures::<EmulationFloor>).cloned()
}

const SLOWED: [NodeFaultKind; 2] = [NodeFaultKind::DiskStall, NodeFaultKind::DiskSlow];

/// What waits when the fault is lifted is late for some seconds more.
#[test]
fn a_volume_that_is_late_because_its_disk_fails_by_plan_is_no_finding() {
    for kind in SLOWED {
        for late_s in [(20.0, 40.0), (20.0, 50.0)] {
            assert_eq!(found(Some(kind), late_s), None, "{kind:?}, late {late_s:?}");
        }
    }
}

#[test]
fn the_same_lateness_without_a_plan_is_this_machine_s() {
    for late_s in [(20.0, 40.0), (20.0, 50.0)] {
        let reported = found(None, late_s).unwrap();
        assert_eq!(reported.volume, VolumeRole::Data);
        let share = reported.disk_floor_share;
        assert!((share - 0.5 * (late_s.1 - late_s.0) / 60.0).abs() < 0.02, "{share}");
    }
}

/// A plan excuses nothing that was so before its fault.
#[test]
fn a_volume_that_is_late_before_its_fault_is_this_machine_s() {
    for kind in SLOWED {
        let reported = found(Some(kind), (5.0, 40.0)).unwrap();
        let share = reported.disk_floor_share;
        assert!((share - 0.5 * 14.0 / 19.0).abs() < 0.05, "of the time before it: {share}");
    }
}
