//! What more of a resource gave, and what is named then.

use std::collections::BTreeMap;

use experiment::{Burst, Setup};

use super::made::{Disk, Machine, cell, gained, with};
use crate::limit::LimitKind::{BurstSpent, Cpu, InstanceEbsBandwidth, NoneFound, OfferedRate, VolumeIops};
use crate::limit::{CellLimit, Intervention, InterventionOutcome, Limit, Resource, by_intervention, interventions};
use crate::story::job;

/// Throughput of one cell over that of the first.
type Gain = (f64, f64, f64);

/// A matrix of one workload: name, machine, gain over the first; the first one's limit as reported.
fn first(matrix: &[(&str, Machine, Gain)]) -> Limit {
    let setups: Vec<Setup> = matrix
        .iter()
        .map(|(name, machine, _)| Setup { configuration: (*name).to_owned(), ..machine.setup() })
        .collect();
    let limits: Vec<Limit> = matrix.iter().map(|(_, machine, _)| machine.limit()).collect();
    reported(&setups, &limits, matrix).remove(0)
}

fn reported(setups: &[Setup], limits: &[Limit], matrix: &[(&str, Machine, Gain)]) -> Vec<Limit> {
    let gains: BTreeMap<&str, Gain> = matrix.iter().map(|(name, _, gain)| (*name, *gain)).collect();
    let gain = |from: &str, to: &str| {
        let (from, to) = (gains.get(from)?, gains.get(to)?);
        Some(gained(to.0 / from.0, to.1 / from.0, to.2 / from.0))
    };
    let each = matrix.iter().zip(limits);
    let cells: Vec<CellLimit<'_>> = each.map(|((name, machine, _), limit)| cell(name, &machine.data, limit)).collect();
    let found = interventions(&job().plan, setups, &cells, &gain);
    limits.iter().cloned().zip(found).map(|(limit, found)| by_intervention(limit, found)).collect()
}

/// One CPU and a volume, both at these rates.
fn machine(cpus: f64, reads: f64, iops: f64, mib_per_s: f64) -> Machine {
    with(|m| {
        (m.given, m.used, m.host_cpus) = (1.0, cpus, 2.0);
        m.data = Disk::of(reads, 0.0, iops, mib_per_s);
    })
}

const SAME: Gain = (1.0, 1.0, 1.0);

fn of(limit: &Limit, resource: Resource) -> &Intervention {
    limit.interventions.iter().find(|i| i.more[0].resource == resource).unwrap_or_else(|| panic!("{limit:?}"))
}

/// README's demo: 1.003 CPUs of one, 958 of 960 IOPS; 3,000 IOPS gave 1.64 times, and the repetitions show it.
#[test]
fn more_that_gave_more_is_named_before_a_fuller_resource() {
    let limit = first(&[
        ("gp2-960", machine(1.003, 958.0, 960.0, 160.0), SAME),
        ("gp2-3000", machine(1.0, 1500.0, 3000.0, 160.0), (1.64, 1.50, 1.79)),
        ("io1-10000", machine(1.0, 1500.0, 10_000.0, 320.0), (1.68, 1.5, 1.9)),
    ]);
    assert_eq!((limit.kind, limit.also.as_slice()), (VolumeIops, &[Cpu][..]));
    let step = of(&limit, Resource::DataIops);
    assert_eq!((step.to.as_str(), step.outcome), ("gp2-3000", InterventionOutcome::Confirmed));
    assert_eq!((step.more[0].from, step.more[0].to), (Some(960.0), Some(3000.0)));
    assert_eq!((step.gain.median, step.gain.low, step.gain.high), (1.64, 1.50, 1.79));
    assert_eq!(limit.interventions.len(), 1, "the smallest step that decides");
}

/// Data and log behind an instance of 3,000 IOPS, and the same volumes behind one of 6,000.
#[test]
fn more_of_the_path_that_volumes_share_is_a_step_of_its_own() {
    let behind = |path: f64, reads: f64, log: f64| {
        with(|m| {
            m.data = Disk::of(reads, 0.0, 3000.0, 250.0);
            m.log = Some(Disk::of(0.0, log, 3000.0, 250.0));
            m.path = Some(experiment::IoLimits::symmetric(Some(path), Some(1000.0)));
        })
    };
    let matrix =
        |gain| [("narrow", behind(3000.0, 1950.0, 1000.0), SAME), ("wide", behind(6000.0, 2400.0, 1250.0), gain)];
    let confirmed = first(&matrix((1.25, 1.15, 1.35)));
    assert_eq!(confirmed.kind, InstanceEbsBandwidth);
    let step = of(&confirmed, Resource::InstanceIops);
    assert_eq!(step.outcome, InterventionOutcome::Confirmed);
    assert_eq!((step.more[0].from, step.more[0].to), (Some(3000.0), Some(6000.0)));
    let contradicted = first(&matrix((1.0, 0.98, 1.02)));
    assert_eq!(contradicted.kind, NoneFound);
}

/// More IOPS and other settings at once: the gain may be that of the settings.
#[test]
fn a_step_that_changes_settings_too_decides_nothing() {
    let matrix = [
        ("gp2-960", machine(1.003, 958.0, 960.0, 160.0), SAME),
        ("gp2-3000", machine(1.0, 1500.0, 3000.0, 160.0), (1.64, 1.50, 1.79)),
    ];
    assert_eq!(first(&matrix).interventions.len(), 1);
    let mut setups =
        matrix.each_ref().map(|(name, machine, _)| Setup { configuration: (*name).to_owned(), ..machine.setup() });
    let options = experiment::Section::Options(vec!["-XX:TieredStopAtLevel=1".to_owned()]);
    setups[1].settings.sections.insert("jvm".to_owned(), options);
    let limits = matrix.each_ref().map(|(_, machine, _)| machine.limit());
    let limit = reported(&setups, &limits, &matrix).remove(0);
    assert_eq!((limit.kind, limit.interventions.len()), (Cpu, 0));
}

/// An instance store with 16,500 read and 7,500 write IOPS behind a volume of 3,000 for both.
#[test]
fn a_step_is_reported_in_the_direction_that_bounded_the_cell() {
    let apart = |(reads, writes): (f64, f64), (read_iops, write_iops): (f64, f64)| {
        with(|m| {
            m.data = Disk::of(reads, writes, read_iops, 10_000.0);
            m.data.limits.write_iops = Some(write_iops);
        })
    };
    let both = (3000.0, 3000.0);
    let reported = |asked: (f64, f64), now: (f64, f64), then: (f64, f64)| {
        let limit = first(&[("gp3-3000", apart(asked, now), SAME), ("nvme", apart(asked, then), (1.6, 1.5, 1.7))]);
        assert_eq!(limit.kind, VolumeIops, "{limit:?}");
        let more = &of(&limit, Resource::DataIops).more[0];
        (more.from, more.to)
    };
    let store = (16_500.0, 7500.0);
    // Reads alone full, beside writes that a limit for both together would not leave room for.
    assert_eq!(reported((2990.0, 500.0), both, store), (Some(3000.0), Some(16_500.0)));
    // Nearly only reads: the limit may count both together, and reads fill the store first.
    assert_eq!(reported((2985.0, 10.0), both, store), (Some(3000.0), Some(16_500.0)));
    assert_eq!(reported((10.0, 2985.0), both, store), (Some(3000.0), Some(7500.0)));
    assert_eq!(reported((500.0, 2990.0), both, store), (Some(3000.0), Some(7500.0)));
    // More reads and fewer writes than before: what is more of it is not known.
    assert_eq!(reported((2990.0, 500.0), (3000.0, 8000.0), store), (Some(3000.0), Some(7500.0)));
}

#[test]
fn a_larger_step_decides_where_the_smallest_does_not() {
    let limit = first(&[
        ("gp2-960", machine(1.003, 958.0, 960.0, 160.0), SAME),
        ("gp2-3000", machine(1.0, 1500.0, 3000.0, 160.0), (1.64, 0.345, 7.78)),
        ("io1-10000", machine(1.0, 1500.0, 10_000.0, 320.0), (1.68, 1.23, 2.30)),
    ]);
    let step = of(&limit, Resource::DataIops);
    assert_eq!((step.to.as_str(), step.outcome), ("io1-10000", InterventionOutcome::Confirmed));
    // Twice the MiB/s came with it, of which a tenth was used.
    assert_eq!(step.beside[0].resource, Resource::DataBytesPerS);
    assert_eq!(limit.kind, VolumeIops);
}

#[test]
fn more_that_gave_nothing_was_not_the_limit() {
    let only = |gain: Gain| {
        first(&[("a", machine(0.6, 2990.0, 3000.0, 160.0), SAME), ("b", machine(0.6, 2990.0, 10_000.0, 160.0), gain)])
    };
    let limit = only((1.0, 0.97, 1.03));
    assert_eq!(limit.kind, NoneFound);
    assert_eq!(of(&limit, Resource::DataIops).outcome, InterventionOutcome::Contradicted);
    let volume = limit.uses.iter().find(|u| u.kind == VolumeIops).unwrap();
    assert!(volume.at_cap, "at its cap, and yet not the limit: {limit:?}");
    // Around the thresholds: a gain of 5 %, and a single pair.
    for (gain, kind, outcome) in [
        ((1.02, 0.99, 1.049), NoneFound, InterventionOutcome::Contradicted),
        ((1.02, 0.99, 1.051), VolumeIops, InterventionOutcome::NotDecided),
        ((1.1, 1.049, 1.15), VolumeIops, InterventionOutcome::NotDecided),
        ((1.1, 1.051, 1.15), VolumeIops, InterventionOutcome::Confirmed),
        ((1.0, 1.0, 1.0), VolumeIops, InterventionOutcome::NotDecided),
    ] {
        let limit = only(gain);
        assert_eq!((limit.kind, of(&limit, Resource::DataIops).outcome), (kind, outcome), "{gain:?}");
    }
}

#[test]
fn a_small_step_without_gain_decides_nothing() {
    let limit = first(&[
        ("a", machine(0.6, 2990.0, 3000.0, 160.0), SAME),
        ("b", machine(0.6, 2990.0, 4000.0, 160.0), (1.0, 0.97, 1.03)),
    ]);
    assert_eq!(limit.kind, VolumeIops);
    assert_eq!(of(&limit, Resource::DataIops).outcome, InterventionOutcome::NotDecided);
}

/// Two that are full together hide each other: more of either alone gives nothing.
#[test]
fn of_two_full_resources_the_contradicted_one_stands_behind() {
    let both = machine(0.96, 2999.0, 3000.0, 160.0);
    assert_eq!(both.limit().kind, VolumeIops);
    let more_iops = ("b", machine(0.96, 2999.0, 10_000.0, 160.0), (1.0, 0.98, 1.02));
    let limit = first(&[("a", both.clone(), SAME), more_iops.clone()]);
    assert_eq!((limit.kind, limit.also.as_slice()), (Cpu, &[VolumeIops][..]));
    let more_cpus = with(|m| (m.given, m.used, m.data) = (4.0, 1.0, both.data));
    let limit = first(&[("a", both.clone(), SAME), more_iops, ("c", more_cpus, (1.0, 0.98, 1.02))]);
    assert_eq!((limit.kind, limit.also.as_slice()), (VolumeIops, &[Cpu][..]));
}

#[test]
fn several_at_once_are_reported_and_not_judged_apart() {
    let full = machine(0.97, 2990.0, 3000.0, 160.0);
    let larger = with(|m| (m.given, m.used, m.data) = (4.0, 1.9, Disk::of(5900.0, 0.0, 10_000.0, 160.0)));
    let limit = first(&[("a", full, SAME), ("b", larger, (2.0, 1.8, 2.2))]);
    let step = &limit.interventions[0];
    let resources: Vec<Resource> = step.more.iter().map(|c| c.resource).collect();
    assert_eq!(resources, [Resource::DataIops, Resource::Cpus]);
    assert_eq!(step.outcome, InterventionOutcome::NotDecided);
}

#[test]
fn less_of_what_matters_and_a_held_rate_say_nothing() {
    let full = machine(0.97, 2990.0, 3000.0, 160.0);
    let fewer_cpus = with(|m| (m.given, m.used, m.data) = (0.5, 0.49, Disk::of(2990.0, 0.0, 10_000.0, 160.0)));
    let limit = first(&[("a", full.clone(), SAME), ("b", fewer_cpus, (0.6, 0.5, 0.7))]);
    assert!(limit.interventions.is_empty(), "{limit:?}");

    let held = with(|m| m.rate = Some((5000.0, 5000.0)));
    assert_eq!(held.limit().kind, OfferedRate);
    let more = with(|m| (m.rate, m.data) = (Some((5000.0, 5000.0)), Disk::of(1000.0, 0.0, 10_000.0, 160.0)));
    assert!(first(&[("a", held, SAME), ("b", more.clone(), (1.0, 0.99, 1.01))]).interventions.is_empty());
    // The rate that was held there hides what more could have given.
    let missed = with(|m| (m.rate, m.data.reads) = (Some((5000.0, 4900.0)), 2940.0));
    let limit = first(&[("a", missed, SAME), ("b", more, (1.02, 1.01, 1.03))]);
    assert_eq!(of(&limit, Resource::DataIops).outcome, InterventionOutcome::NotDecided);
    assert_eq!(limit.kind, VolumeIops);
}

#[test]
fn below_its_cap_a_resource_is_named_when_more_of_it_alone_gave_more() {
    let waiting = |reads: f64| {
        first(&[
            ("a", machine(0.5, reads, 3000.0, 160.0), SAME),
            ("b", machine(0.6, reads, 10_000.0, 160.0), (1.2, 1.1, 1.3)),
        ])
    };
    assert_eq!(waiting(2700.0).kind, VolumeIops, "nothing else was found");
    let full_cpu = |reads: f64| {
        first(&[
            ("a", machine(0.97, reads, 3000.0, 160.0), SAME),
            ("b", machine(0.97, reads, 10_000.0, 160.0), (1.2, 1.1, 1.3)),
        ])
    };
    assert_eq!(full_cpu(2700.0).kind, VolumeIops);
    assert!(full_cpu(2200.0).kind == Cpu, "at 73 % of its cap it is reported, and not named");
}

#[test]
fn a_spent_bucket_is_measured_by_its_baseline() {
    let gp2 = |gib: f64, reads: f64| {
        with(|m| {
            m.data = Disk {
                burst: Some(Burst {
                    baseline_iops: 3.0 * gib,
                    burst_iops: 3000.0,
                    credits_max: 5.4e6,
                    credits_start: 0.0,
                }),
                ..Disk::of(reads, 0.0, 3000.0, 160.0)
            }
        })
    };
    let limit = first(&[("gp2-100", gp2(100.0, 400.0), SAME), ("gp2-300", gp2(300.0, 950.0), (2.9, 2.5, 3.2))]);
    let step = of(&limit, Resource::DataIops);
    assert_eq!((step.more[0].from, step.more[0].to), (Some(300.0), Some(900.0)));
    assert_eq!((limit.kind, step.outcome), (BurstSpent, InterventionOutcome::Confirmed));
}
