//! One machine each: what fills, what does not, and on either side of the thresholds.

use experiment::{Burst, IoLimits};

use super::made::{Disk, KIB, MIB, Machine, idle, with};
use crate::limit::LimitKind::{
    self, BurstSpent, Client, CommitLog, Compaction, Cpu, Gc, InstanceEbsBandwidth, NoneFound, OfferedRate, VolumeIops,
    VolumeThroughput,
};
use crate::limit::{Counted, of_cell};
use crate::story::existing;

fn named(machine: &Machine) -> (LimitKind, Vec<LimitKind>) {
    let limit = machine.limit();
    (limit.kind, limit.also)
}

fn check(cases: &[(&str, Machine, LimitKind, &[LimitKind])]) {
    for (case, machine, kind, also) in cases {
        let got = named(machine);
        assert_eq!(got, (*kind, also.to_vec()), "{case}: {:?}", machine.limit());
    }
}

const FULL: f64 = 2990.0;

#[test]
fn a_client_or_pauses_do_not_stand_before_a_full_resource() {
    let full = Disk::of(FULL, 0.0, 3000.0, 160.0);
    check(&[
        ("client at 83 %, volume full", with(|m| (m.client, m.data) = (0.83, full)), VolumeIops, &[]),
        ("client at 83 % alone", with(|m| m.client = 0.83), Client, &[]),
        ("client at 78 %", with(|m| m.client = 0.78), NoneFound, &[]),
        ("client and volume full", with(|m| (m.client, m.data) = (0.99, full)), VolumeIops, &[Client]),
        ("pauses of 7 %, CPUs idle", with(|m| m.gc = 0.07), NoneFound, &[]),
        ("pauses of 19 %, CPUs idle", with(|m| m.gc = 0.19), NoneFound, &[]),
        ("pauses of 21 %, CPUs idle", with(|m| m.gc = 0.21), Gc, &[]),
        ("pauses of 7 %, CPUs busy between them", with(|m| (m.gc, m.used) = (0.07, 3.4)), Gc, &[]),
        ("pauses of 7 %, CPUs at 80 %", with(|m| (m.gc, m.used) = (0.07, 3.2)), NoneFound, &[]),
        ("pauses of 7 %, CPUs full", with(|m| (m.gc, m.used) = (0.07, 3.8)), Cpu, &[Gc]),
        ("pauses of 25 %, CPUs full", with(|m| (m.gc, m.used) = (0.25, 3.8)), Gc, &[Cpu]),
        ("pauses of 7 %, volume full", with(|m| (m.gc, m.data) = (0.07, full)), VolumeIops, &[Gc]),
        (
            "pauses of 8 %, volume full between them",
            with(|m| (m.gc, m.data) = (0.08, Disk::of(2750.0, 0.0, 3000.0, 160.0))),
            VolumeIops,
            &[Gc],
        ),
        (
            "pauses of 8 %, room between them",
            with(|m| (m.gc, m.data) = (0.08, Disk::of(2500.0, 0.0, 3000.0, 160.0))),
            NoneFound,
            &[],
        ),
        (
            "no pauses, the same volume",
            with(|m| (m.gc, m.data) = (0.0, Disk::of(2750.0, 0.0, 3000.0, 160.0))),
            NoneFound,
            &[],
        ),
        ("pauses of 15 %, client full between them", with(|m| (m.gc, m.client) = (0.15, 0.84)), Client, &[Gc]),
    ]);
}

#[test]
fn stolen_and_withheld_cpus_were_not_there() {
    check(&[
        ("20 % stolen", with(|m| (m.used, m.stolen) = (3.15, 0.86)), Cpu, &[]),
        ("20 % stolen, CPUs at 60 % of the rest", with(|m| (m.used, m.stolen) = (1.9, 0.5)), NoneFound, &[]),
        (
            "a quota of 80 % of the time",
            with(|m| (m.used, m.throttled_s, m.throttled_periods) = (3.2, Some(0.8), 1.0)),
            Cpu,
            &[],
        ),
        ("a fifth of the periods", with(|m| (m.used, m.throttled_periods) = (3.15, 0.2)), Cpu, &[]),
        ("a fifth of the periods, CPUs at 60 %", with(|m| (m.used, m.throttled_periods) = (1.9, 0.2)), NoneFound, &[]),
        ("a full host", with(|m| (m.used, m.client, m.host_cpus) = (3.3, 0.6, 4.0)), Cpu, &[]),
        ("89 %", with(|m| m.used = 3.56), NoneFound, &[]),
        ("91 %", with(|m| m.used = 3.64), Cpu, &[]),
        ("CPU 95 % and IOPS 99 %", with(|m| (m.used, m.data.reads) = (3.8, 2920.0)), VolumeIops, &[Cpu]),
    ]);
}

/// 16 KiB reads under 21 MiB/s are 1,344 a second; fio's 4 KiB reads were 5,376 a second under the same cap.
#[test]
fn bytes_are_not_called_requests() {
    let capped = |reads: f64, bytes: f64| Disk {
        probe: Some(5376.0),
        read_bytes: reads * bytes,
        ..Disk::of(reads, 0.0, 20_000.0, 21.0)
    };
    check(&[
        ("16 KiB", with(|m| m.data = capped(1340.0, 16.0 * KIB)), VolumeThroughput, &[]),
        ("4 KiB", with(|m| m.data = capped(5370.0, 4.0 * KIB)), VolumeThroughput, &[]),
        ("4 KiB, half full", with(|m| m.data = capped(2700.0, 4.0 * KIB)), NoneFound, &[]),
        (
            "requests are narrower: 1,000 of 16 KiB are 15.6 MiB",
            with(|m| m.data = Disk { probe: Some(1000.0), ..Disk::of(999.0, 0.0, 1000.0, 21.0) }),
            VolumeIops,
            &[],
        ),
        ("both are met", with(|m| m.data = Disk::of(999.0, 0.0, 1000.0, 16.0)), VolumeIops, &[VolumeThroughput]),
        (
            "a disk that fio found slower",
            with(|m| m.data = Disk { probe: Some(500.0), ..Disk::of(495.0, 0.0, 1000.0, 160.0) }),
            VolumeIops,
            &[],
        ),
        (
            "fio met a busy disk, the trial went beyond it",
            with(|m| m.data = Disk { probe: Some(500.0), ..Disk::of(700.0, 0.0, 1000.0, 160.0) }),
            NoneFound,
            &[],
        ),
    ]);
}

#[test]
fn reads_and_writes_count_apart_or_together() {
    let small =
        |reads: f64, writes: f64| Disk { write_bytes: writes * 16.0 * KIB, ..Disk::of(reads, writes, 3000.0, 160.0) };
    check(&[
        ("together full", with(|m| m.data = small(1800.0, 1180.0)), VolumeIops, &[]),
        ("together at 93 %", with(|m| m.data = small(1700.0, 1090.0)), NoneFound, &[]),
        ("together beyond: then apart", with(|m| m.data = small(2000.0, 1500.0)), NoneFound, &[]),
        ("reads alone full, together beyond", with(|m| m.data = small(2980.0, 900.0)), VolumeIops, &[]),
        (
            "requests of 1 MiB count as four",
            with(|m| m.data = Disk { read_bytes: 740.0 * MIB, ..Disk::of(740.0, 10.0, 3000.0, 1000.0) }),
            VolumeIops,
            &[],
        ),
        (
            "an instance counts 16 KiB",
            with(|m| {
                m.data = Disk {
                    own: Some(IoLimits::symmetric(Some(9000.0), Some(500.0))),
                    ..Disk::of(1000.0, 490.0, 3000.0, 160.0)
                }
            }),
            InstanceEbsBandwidth,
            &[],
        ),
    ]);
    let sum = with(|m| m.data = small(1800.0, 1180.0)).limit();
    let used = sum.uses.iter().find(|u| u.kind == VolumeIops).unwrap();
    assert_eq!(used.counted, Some(Counted::Together));
    assert!((used.used / 2980.0 - 1.0).abs() < 0.01, "{used:?}");
    assert_eq!(used.capacity, 3000.0);
}

/// Data at 1,900 and log at 1,050 of 3,000 each, behind an instance of 3,000: neither volume is full.
#[test]
fn volumes_that_share_the_path_of_their_instance_are_at_its_limit_together() {
    let both = |path: Option<f64>| {
        with(|m| {
            m.data = Disk::of(1500.0, 400.0, 3000.0, 250.0);
            m.log = Some(Disk::of(0.0, 1050.0, 3000.0, 250.0));
            m.path = path.map(|iops| IoLimits::symmetric(Some(iops), Some(500.0)));
        })
    };
    check(&[
        ("shared", both(Some(3000.0)), InstanceEbsBandwidth, &[]),
        ("a wide path", both(Some(6000.0)), NoneFound, &[]),
        ("each for itself", both(None), NoneFound, &[]),
    ]);
    let limit = both(Some(3000.0)).limit();
    let shared: Vec<_> = limit.uses.iter().filter(|u| u.kind == InstanceEbsBandwidth).collect();
    assert_eq!(shared.len(), 2, "requests and bytes: {shared:?}");
    assert!(shared.iter().all(|u| u.is_shared && u.counted == Some(Counted::Together)));
    assert!((shared[0].used - 2950.0).abs() < 10.0, "{shared:?}");
}

/// The same volumes behind an EBS card of 3,000, or behind one each.
#[test]
fn volumes_of_one_ebs_card_are_at_its_limit_together_and_those_of_two_are_not() {
    let on = |cards: [u32; 2]| {
        with(|m| {
            m.data = Disk::of(1500.0, 400.0, 3000.0, 250.0);
            m.log = Some(Disk::of(0.0, 1050.0, 3000.0, 250.0));
            m.path = Some(IoLimits::symmetric(Some(3000.0), Some(500.0)));
            m.cards = Some(cards);
        })
    };
    check(&[("one card", on([1, 1]), InstanceEbsBandwidth, &[]), ("two cards", on([0, 1]), NoneFound, &[])]);
    let uses = on([0, 1]).limit().uses;
    let fullest = uses.iter().find(|u| u.kind == InstanceEbsBandwidth).unwrap();
    assert!((fullest.used - 1900.0).abs() < 10.0, "of the fuller card: {fullest:?}");
}

/// A data volume that is bought with more than its instance lets through: the path is reported once, with the log's
/// part.
#[test]
fn a_shared_path_is_reported_once() {
    let limit = with(|m| {
        m.data = Disk::of(2400.0, 0.0, 3000.0, 250.0);
        m.data.own = Some(IoLimits::symmetric(Some(10_000.0), Some(500.0)));
        m.log = Some(Disk::of(0.0, 560.0, 2000.0, 250.0));
        m.path = Some(IoLimits::symmetric(Some(3000.0), Some(250.0)));
    })
    .limit();
    assert_eq!(limit.kind, InstanceEbsBandwidth);
    let iops: Vec<_> =
        limit.uses.iter().filter(|u| u.kind == InstanceEbsBandwidth && u.unit == crate::limit::Unit::Iops).collect();
    assert!(iops.len() == 1 && (iops[0].used - 2960.0).abs() < 10.0, "{iops:?}");
}

/// st1 whose credits are spent, at the 20 MiB/s that last; then at half of that.
#[test]
fn a_spent_bucket_of_bytes_is_reported_as_one() {
    let st1 = |reads: f64| {
        with(|m| {
            m.data = Disk {
                byte_burst: Some(experiment::ByteBurst {
                    baseline_bytes_per_s: 20.0 * MIB,
                    burst_bytes_per_s: 125.0 * MIB,
                    credits_max: 512_000.0 * MIB,
                    credits_start: 0.0,
                }),
                ..Disk::of(reads, 0.0, 5000.0, 125.0)
            }
        })
    };
    check(&[("at its baseline", st1(1270.0), BurstSpent, &[]), ("below", st1(640.0), NoneFound, &[])]);
    let limit = st1(1270.0).limit();
    let used = limit.uses.iter().find(|u| u.kind == BurstSpent).unwrap();
    assert_eq!((used.unit, used.capacity), (crate::limit::Unit::BytesPerS, 20.0 * MIB));
}

/// A bucket of 3,000 over 300 IOPS.
fn bursting(credits_start: f64, wanted: f64) -> Machine {
    with(|m| {
        m.data = Disk {
            burst: Some(Burst { baseline_iops: 300.0, burst_iops: 3000.0, credits_max: 5.4e6, credits_start }),
            ..Disk::of(wanted, 0.0, 3000.0, 160.0)
        }
    })
}

#[test]
fn each_window_is_judged_by_the_limit_that_was_in_force_in_it() {
    // 2,700 credits a second are spent beyond the baseline.
    let lasting = |seconds: f64| bursting(2700.0 * seconds, 9000.0);
    check(&[
        ("credits for all", lasting(500.0), VolumeIops, &[]),
        ("none", lasting(0.0), BurstSpent, &[]),
        ("ended after 13.4 of 60 s", lasting(13.4), BurstSpent, &[]),
        ("ended 4.4 s before the end", lasting(55.6), VolumeIops, &[]),
        ("half of what the bucket allows", bursting(1e6, 1500.0), NoneFound, &[]),
        ("below the baseline", bursting(0.0, 200.0), NoneFound, &[]),
    ]);
    for ended in [0.0, 7.3, 13.4, 29.7, 35.0, 52.9, 55.6, 58.1, 60.0] {
        let limit = lasting(ended).limit();
        let volume = limit.uses.iter().find(|u| u.kind == limit.kind).unwrap();
        assert!(volume.share() < 1.01 && volume.windows_at_cap > 0.99, "{ended}: {limit:?}");
    }
}

/// A real record states the limit in force at the start, which is the baseline of an empty bucket, and the volume's own
/// limit is the burst: that is no narrower instance. What trickles into the bucket lifts the mean limit of a window a
/// little.
#[test]
fn an_empty_bucket_is_not_taken_for_a_narrow_instance() {
    let mut machine = bursting(0.0, 9000.0);
    machine.data.own = Some(machine.data.limits);
    let mut trial = machine.trial();
    trial.record.nodes[0].volumes[0].limits = IoLimits::symmetric(Some(300.0), Some(160.0));
    let data = trial
        .hosts
        .get_mut(&evidence::HostId::DATABASE)
        .unwrap()
        .volumes
        .get_mut(&experiment::VolumeRole::Data)
        .unwrap();
    for limit in &mut data.windows.iops_limit {
        *limit *= 1.0017;
    }
    let limit = crate::limit::of_cell(Some(&machine.setup()), &[&trial]);
    assert_eq!(limit.kind, BurstSpent, "{limit:?}");
}

#[test]
fn a_commit_log_and_an_instance_are_told_from_the_data_volume() {
    let own = IoLimits::symmetric(Some(9000.0), Some(500.0));
    check(&[
        ("log requests", with(|m| m.log = Some(Disk::of(0.0, 995.0, 1000.0, 500.0))), CommitLog, &[]),
        ("log bytes", with(|m| m.log = Some(Disk::of(0.0, 158.0, 1000.0, 10.0))), CommitLog, &[]),
        (
            "the instance",
            with(|m| {
                m.data = Disk { own: Some(own), ..Disk::of(FULL, 0.0, 3000.0, 160.0) };
            }),
            InstanceEbsBandwidth,
            &[],
        ),
    ]);
}

#[test]
fn a_rate_is_the_limit_only_where_it_was_held_and_nothing_is_full() {
    let full = Disk::of(FULL, 0.0, 3000.0, 160.0);
    let open = |achieved: f64, disk: Option<Disk>| {
        with(|m| {
            m.rate = Some((7350.0, achieved));
            m.data = disk.unwrap_or(m.data);
        })
    };
    check(&[
        ("held", open(7350.0, None), OfferedRate, &[]),
        ("0.9 % less", open(7285.0, None), OfferedRate, &[]),
        ("1.1 % less, nothing full", open(7268.0, None), NoneFound, &[]),
        ("a backlog drains through a full volume", open(7620.0, Some(full)), VolumeIops, &[]),
        ("missed by a full volume", open(6900.0, Some(full)), VolumeIops, &[]),
        ("just held", open(7350.0, Some(full)), VolumeIops, &[OfferedRate]),
    ]);
}

#[test]
fn debt_is_named_last_and_idleness_says_what_was_closest() {
    check(&[
        ("debt", with(|m| m.compactions_per_s = 0.2), Compaction, &[]),
        ("debt and full CPUs", with(|m| (m.compactions_per_s, m.used) = (0.2, 3.9)), Cpu, &[]),
        ("idle", idle(), NoneFound, &[]),
    ]);
    let limit = idle().limit();
    let closest = limit.uses.iter().max_by(|a, b| a.share().total_cmp(&b.share())).unwrap();
    assert_eq!((closest.kind, closest.at_cap), (Cpu, false), "{limit:?}");
    assert!((closest.used - 2.0).abs() < 0.05 && closest.capacity == 4.0, "{closest:?}");
}

/// The demo measures ten seconds: one window, or the rest of one.
#[test]
fn a_short_trial_is_judged_by_what_there_is() {
    for seconds in [3, 7, 10, 20] {
        let full = with(|m| (m.seconds, m.data.reads) = (seconds, 2940.0));
        assert_eq!(named(&full).0, VolumeIops, "{seconds} s");
        assert_eq!(named(&with(|m| m.seconds = seconds)).0, NoneFound, "{seconds} s");
    }
}

/// Of a volume of an existing cluster nobody knows its credits: it is at its limit at the burst rate and at the
/// baseline.
#[test]
fn a_bursting_volume_of_an_existing_cluster_is_judged_by_both_of_its_rates() {
    let kind = |reads: f64, writes: f64| {
        let machine = with(|m| m.data = Disk::of(reads, writes, 3000.0, 500.0));
        let mut setup = machine.setup();
        setup.at = existing(Vec::new());
        setup.data.burst =
            Some(Burst { baseline_iops: 960.0, burst_iops: 3000.0, credits_max: 5.4e6, credits_start: 0.0 });
        let mut trial = machine.trial();
        trial.record.nodes[0].volumes[0].limits = IoLimits::default();
        of_cell(Some(&setup), &[&trial]).kind
    };
    for (reads, writes, expected) in [
        (950.0, 0.0, BurstSpent),
        (600.0, 350.0, BurstSpent),
        (880.0, 0.0, NoneFound),
        (1010.0, 0.0, NoneFound),
        (2000.0, 0.0, NoneFound),
        (FULL, 0.0, VolumeIops),
    ] {
        assert_eq!(kind(reads, writes), expected, "{reads} reads and {writes} writes a second");
    }
}

/// A cluster that exists: what is stated of its volume is not in force, and not of the record.
#[test]
fn a_volume_of_an_existing_cluster_is_judged_by_what_is_stated_of_it() {
    let kind = |reads: f64| {
        let machine = with(|m| m.data = Disk::of(reads, 0.0, 3000.0, 500.0));
        let mut setup = machine.setup();
        setup.at = existing(Vec::new());
        let mut trial = machine.trial();
        trial.record.nodes[0].volumes[0].limits = IoLimits::default();
        let limit = of_cell(Some(&setup), &[&trial]);
        let ours = of_cell(Some(&machine.setup()), &[&trial]);
        assert_eq!(ours.kind, NoneFound, "nothing is in force");
        (limit.kind, limit.uses.iter().any(|used| used.kind == VolumeIops && used.capacity == 3000.0))
    };
    assert_eq!(kind(FULL), (VolumeIops, true));
    assert_eq!(kind(1500.0), (NoneFound, true));
    // More than was stated: it is another volume, and nothing says that it is full.
    assert_eq!(kind(6000.0), (NoneFound, true));
}
