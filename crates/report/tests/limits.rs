//! Limits in words: what bounded a cell, what else was full, and what more of a resource gave.

use analysis::{
    Counted, Intervention, InterventionOutcome, Limit, LimitKind, Range, Resource, ResourceChange, ResourceUse, Unit,
};
use report::limit_message;

fn used(kind: LimitKind, unit: Unit, used: f64, capacity: f64) -> ResourceUse {
    ResourceUse {
        is_shared: false,
        node: None,
        kind,
        unit,
        used,
        capacity,
        windows_at_cap: 1.0,
        at_cap: used >= 0.9 * capacity,
        counted: None,
    }
}

/// (resource, from, to) that gave a factor.
fn step(more: &[(Resource, f64, f64)], gain: [f64; 3], outcome: InterventionOutcome) -> Intervention {
    let more = more.iter().map(|(resource, from, to)| ResourceChange {
        resource: *resource,
        from: Some(*from),
        to: Some(*to),
        factor: Some(to / from),
    });
    let [median, low, high] = gain;
    Intervention {
        to: "io2".into(),
        more: more.collect(),
        beside: Vec::new(),
        gain: Range { median, low, high },
        outcome,
    }
}

fn limit(kind: LimitKind, uses: Vec<ResourceUse>, interventions: Vec<Intervention>) -> Limit {
    Limit { kind, uses, interventions, ..Limit::default() }
}

#[test]
fn a_limit_is_reported_with_its_use_and_with_what_more_of_it_gave() {
    let volume = used(LimitKind::VolumeIops, Unit::Iops, 958.0, 960.0);
    let more = [(Resource::DataIops, 960.0, 3000.0)];
    let confirmed = step(&more, [1.64, 1.5, 1.79], InterventionOutcome::Confirmed);
    let mut reported = limit(LimitKind::VolumeIops, vec![volume], vec![confirmed]);
    assert_eq!(
        limit_message(&reported),
        "data volume: 958 of 960 IOPS (100 %). 3,000 instead of 960 IOPS (io2) gave 1.64 times (1.50 to 1.79): IOPS, \
         confirmed."
    );
    // The CPUs beside it.
    reported.also = vec![LimitKind::Cpu];
    reported.uses.push(used(LimitKind::Cpu, Unit::Cpus, 0.99, 1.0));
    let words = limit_message(&reported);
    assert!(words.contains("At the same time: database: 0.990 of 1.00 CPUs (99 %)."), "{words}");
}

#[test]
fn reads_and_writes_that_count_together_are_told_so() {
    let sum =
        ResourceUse { counted: Some(Counted::Together), ..used(LimitKind::VolumeIops, Unit::Iops, 2980.0, 3000.0) };
    let words = limit_message(&limit(LimitKind::VolumeIops, vec![sum], Vec::new()));
    assert_eq!(words, "data volume: 2,980 of 3,000 IOPS, reads and writes together (99 %).");
}

#[test]
fn where_nothing_was_full_the_closest_is_reported() {
    let cpu = used(LimitKind::Cpu, Unit::Cpus, 2.0, 4.0);
    let volume = used(LimitKind::VolumeIops, Unit::Iops, 100.0, 3000.0);
    assert_eq!(
        limit_message(&limit(LimitKind::NoneFound, vec![volume, cpu], Vec::new())),
        "No watched resource was at its cap. Closest: database: 2.00 of 4.00 CPUs (50 %)."
    );
    assert_eq!(limit_message(&Limit::default()), "No valid trial.");
}

#[test]
fn a_full_resource_of_which_more_gave_nothing_was_not_the_limit() {
    let volume = used(LimitKind::VolumeIops, Unit::Iops, 2990.0, 3000.0);
    let more = [(Resource::DataIops, 3000.0, 10_000.0)];
    let nothing = step(&more, [1.0, 0.97, 1.03], InterventionOutcome::Contradicted);
    let words = limit_message(&limit(LimitKind::NoneFound, vec![volume], vec![nothing]));
    assert!(words.starts_with("At its cap, and yet not the limit"), "{words}");
    assert!(
        words.ends_with("10,000 instead of 3,000 IOPS (io2) gave 1.00 times (0.970 to 1.03): IOPS was not the limit."),
        "{words}"
    );
}

#[test]
fn several_changes_at_once_decide_nothing_about_one_of_them() {
    let volume = used(LimitKind::VolumeIops, Unit::Iops, 2990.0, 3000.0);
    let more = [(Resource::DataIops, 3000.0, 10_000.0), (Resource::Cpus, 0.5, 4.0)];
    let both = step(&more, [2.0, 1.8, 2.2], InterventionOutcome::NotDecided);
    let words = limit_message(&limit(LimitKind::VolumeIops, vec![volume], vec![both]));
    assert!(words.contains("10,000 instead of 3,000 IOPS and 4 instead of 0.5 CPUs (io2)"), "{words}");
    assert!(words.ends_with("which of these was the limit is not decided."), "{words}");
}

#[test]
fn a_rate_that_was_missed_is_reported_beside_the_limit() {
    let volume = used(LimitKind::VolumeIops, Unit::Iops, 2990.0, 3000.0);
    let rate = used(LimitKind::OfferedRate, Unit::OpsPerS, 6900.0, 7350.0);
    let words = limit_message(&limit(LimitKind::VolumeIops, vec![volume, rate], Vec::new()));
    assert!(words.ends_with("The rate was not held: 6,900 of 7,350 operations/s (94 %)."), "{words}");
}
