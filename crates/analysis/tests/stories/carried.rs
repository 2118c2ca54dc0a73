//! What carries over from this machine: the same figures, limited by what is emulated, or by what is not.

use analysis::{
    Analysis, Bound, BoundIs, Doubt, HostId, LimitedHere, OfThisMachine, Provider, Ratio, TrialMeasurement,
    ValueVerdict, Verdict, VolumeRole, analyse, precision, rules,
};
use experiment::{Basis, ConfigurationMoney, CpuShare, Job, Money};

use crate::story::{Reported, SECONDS, job, measured, place, record, run};

/// What the trials of a configuration showed.
#[derive(Clone, Copy)]
struct Seen {
    /// Operations of a trial, of 60 s; the three trials differ by a percent.
    operations: u64,
    /// Requests of its data volume a second.
    iops: f64,
    /// CPUs in use, of one.
    cpus: f64,
    /// What fio read of its volume before.
    probed: f64,
    /// Share of the time in which its served volume was late.
    late: Option<f64>,
}

/// gp2 does its 60 IOPS, and has CPU left.
const AT_ITS_VOLUME: Seen = Seen { operations: 30_000, iops: 59.8, cpus: 0.2, probed: 60.1, late: None };
/// io1 does four times as much, a third of what its volume would let through, on all of its CPU.
const AT_ITS_CPU: Seen = Seen { operations: 120_000, iops: 200.0, cpus: 0.97, probed: 620.0, late: None };

fn trials(configuration: &'static str, seen: Seen) -> Vec<TrialMeasurement> {
    let trial = |block: u32| {
        let reported = Reported {
            configuration,
            block,
            operations: seen.operations * (99 + u64::from(block)) / 100,
            device_reads: seen.iops * SECONDS,
            probe_read_iops: seen.probed,
        };
        let mut trial = measured(&record(reported), seen.iops * SECONDS);
        let host = trial.hosts.get_mut(&HostId::DATABASE).unwrap();
        host.cpus_used = Some(seen.cpus);
        let data = host.volumes.get_mut(&VolumeRole::Data).unwrap();
        (data.disk_floor_share, data.cpu_floor_share) = (seen.late, seen.late);
        // Short trials at a full CPU are judged where the code was seen compiled.
        trial.record.nodes[0].rest = Some(evidence::Rest { code_is_warm: true, ..evidence::Rest::default() });
        trial.forbidden = rules::forbidden(&trial);
        trial
    };
    (1..=3).map(trial).collect()
}

/// gp2 for 100 dollars and io1 for `usd`, as this provider measured them.
fn analysed(provider: Provider, gp2: Seen, io1: Seen, usd: f64, change: fn(&mut Job)) -> Analysis {
    let mut job = job();
    let price = |name: &str, usd: f64| ConfigurationMoney {
        configuration: name.to_owned(),
        usd_per_month: Some(usd),
        lines: Vec::new(),
        missing: None,
    };
    job.plan.money =
        Money { basis: Basis::default(), configurations: vec![price("gp2-320", 100.0), price("io1-10000", usd)] };
    job.plan.place = place(provider);
    change(&mut job);
    let all = [trials("gp2-320", gp2), trials("io1-10000", io1)].concat();
    analyse(&run(&job, &all))
}

fn here(gp2: Seen, io1: Seen) -> Analysis {
    analysed(Provider::Local, gp2, io1, 300.0, |_| {})
}

/// io1 over gp2.
fn ratio(analysis: &Analysis) -> Ratio {
    analysis.cells[1].ratio_to_baseline.clone().unwrap()
}

fn bound(analysis: &Analysis) -> Option<BoundIs> {
    ratio(analysis).bound.map(|bound| bound.is)
}

/// A step that pays by what is shown at the least is worth it. That it does not pay is never said of a machine that
/// could do more than this one's CPU lets it do, nor is how many repetitions would show it: none would.
#[test]
fn money_counts_what_is_shown_at_the_least() {
    let of = |provider: Provider, usd: f64| {
        let analysis = analysed(provider, AT_ITS_VOLUME, AT_ITS_CPU, usd, |_| {});
        let step = &analysis.value_of_money[0];
        (step.verdict, step.repetitions_to_decide, analysis.recommendation.run.clone())
    };
    let worth_it = (ValueVerdict::WorthIt, None, Some("io1-10000".to_owned()));
    let not_worth_it = (ValueVerdict::NotWorthIt, None, Some("gp2-320".to_owned()));
    let open = (ValueVerdict::NotDecided, None, None);
    for provider in [Provider::Local, Provider::Aws, Provider::Simulated] {
        assert_eq!(of(provider, 300.0), worth_it, "{provider}");
    }
    assert_eq!(of(Provider::Local, 500.0), open);
    assert_eq!(of(Provider::Hosts, 500.0), open, "hosts with limits are emulated, too");
    // Machines that are what they are, and a stated truth.
    assert_eq!(of(Provider::Aws, 500.0), not_worth_it);
    assert_eq!(of(Provider::Simulated, 500.0), not_worth_it);
}

/// A run that repeats until it is known does not repeat what this machine leaves open.
#[test]
fn what_no_repetition_would_decide_keeps_no_run_going() {
    let analysis = analysed(Provider::Local, AT_ITS_VOLUME, AT_ITS_CPU, 500.0, |_| {});
    assert_eq!(analysis.value_of_money[0].verdict, ValueVerdict::NotDecided);
    assert!(precision(&analysis, 0.05, 3).enough);
    let mut by_luck = analysis;
    by_luck.value_of_money[0].throughput_ratio.bound = None;
    assert!(!precision(&by_luck, 0.05, 3).enough, "more would decide it");
}

/// What was measured stays in the document; what of it carries over stands beside it.
#[test]
fn the_faster_side_at_its_cpu_is_shown_at_the_least() {
    let analysis = here(AT_ITS_VOLUME, AT_ITS_CPU);
    let ratio = ratio(&analysis);
    let expected = Bound {
        is: BoundIs::AtLeast,
        by: vec![LimitedHere { configuration: "io1-10000".to_owned(), by: OfThisMachine::Cpu }],
    };
    assert_eq!((ratio.bound, ratio.verdict), (Some(expected), Verdict::Faster));
    assert!(ratio.low > 3.8 && ratio.high < 4.2);
    assert_eq!(analysis.value_of_money[0].usd_per_extra_op_per_s, None, "nobody knows how many more it would be");
    assert_eq!(analysis.cells.iter().map(|c| c.limited_here).collect::<Vec<_>>(), [None, Some(OfThisMachine::Cpu)]);
}

/// The CPU of the cheaper, slower one is full: bought, it might do as much as the other.
#[test]
fn the_slower_side_at_its_cpu_leaves_a_gain_open() {
    let slow = Seen { operations: 30_000, iops: 24.0, cpus: 0.97, ..AT_ITS_VOLUME };
    let fast = Seen {
        // As many device reads for each operation.
        iops: 96.0,
        cpus: 0.3,
        ..AT_ITS_CPU
    };
    let analysis = here(slow, fast);
    assert_eq!(bound(&analysis), Some(BoundIs::AtMost));
    assert_eq!(ratio(&analysis).verdict, Verdict::NotCarriedOver);
    assert_eq!(analysis.value_of_money[0].verdict, ValueVerdict::NotDecided);
    // Four times for five times the money is no bargain, and would be less of one.
    let dear = analysed(Provider::Local, slow, fast, 500.0, |_| {});
    assert_eq!(dear.value_of_money[0].verdict, ValueVerdict::NotWorthIt);
}

/// A volume that lets no more through limits it everywhere, whatever else is full.
#[test]
fn a_full_cpu_beside_a_full_volume_carries_over() {
    let with_iops = |iops: f64| bound(&here(AT_ITS_VOLUME, Seen { iops, ..AT_ITS_CPU }));
    assert_eq!(with_iops(618.0), None);
    assert_eq!(with_iops(560.0), Some(BoundIs::AtLeast));
}

/// Where nothing is full, it is what comes nearest: from four fifths of the CPU on, if its volume is less used.
#[test]
fn a_cpu_that_is_nearly_full_counts_from_four_fifths_on() {
    let with = |cpus: f64, iops: f64| bound(&here(AT_ITS_VOLUME, Seen { cpus, iops, ..AT_ITS_CPU }));
    assert_eq!(with(0.79, 200.0), None);
    assert_eq!(with(0.81, 200.0), Some(BoundIs::AtLeast));
    assert_eq!(with(0.81, 540.0), None, "the volume is nearer");
}

/// A disk that does not come to the limit of the volume on it is what was measured.
#[test]
fn a_disk_below_the_limit_of_its_volume_is_this_machines() {
    let with = |probed: f64, late: Option<f64>, iops: f64| {
        let analysis = here(AT_ITS_VOLUME, Seen { probed, late, iops, cpus: 0.3, ..AT_ITS_CPU });
        (bound(&analysis), analysis.cells[1].limited_here)
    };
    let disk = (Some(BoundIs::AtLeast), Some(OfThisMachine::Disk));
    assert_eq!(with(500.0, None, 498.0), disk, "500 of 625");
    assert_eq!(with(600.0, None, 598.0), (None, None), "within a tenth of it");
    // Late answers count where nothing else is full.
    assert_eq!(with(620.0, Some(0.06), 300.0), disk);
    assert_eq!(with(620.0, Some(0.04), 300.0), (None, None));
    assert_eq!(with(620.0, Some(0.06), 618.0), (None, None), "its volume is full all the same");
}

/// CPUs are emulated among each other. With faster ones the volume of which more is used would come to be the limit.
#[test]
fn two_cells_at_cpus_in_proportion_carry_over_while_their_volumes_have_room() {
    let with = |gp2_iops: f64, io1_iops: f64, change: fn(&mut Job)| {
        let full = |seen: Seen, iops: f64| Seen { iops, cpus: 0.97, ..seen };
        let (gp2, io1) = (full(AT_ITS_VOLUME, gp2_iops), full(AT_ITS_CPU, io1_iops));
        let analysis = analysed(Provider::Local, gp2, io1, 500.0, change);
        (bound(&analysis), analysis.value_of_money[0].verdict)
    };
    let same_cpus = |_: &mut Job| {};
    let all = (None, ValueVerdict::NotWorthIt);
    let at_least = (Some(BoundIs::AtLeast), ValueVerdict::NotDecided);
    let at_most = (Some(BoundIs::AtMost), ValueVerdict::NotWorthIt);
    assert_eq!(with(24.0, 200.0, same_cpus), all, "two fifths and a third of them");
    assert_eq!(with(42.0, 440.0, same_cpus), all, "0.70 and 0.71: alike");
    assert_eq!(with(42.0, 200.0, same_cpus), at_least, "gp2 would come to its volume first");
    assert_eq!(with(24.0, 440.0, same_cpus), at_most, "io1 would");
    // Two CPUs of one machine size are not two of another.
    let other_cpus = |job: &mut Job| job.setups[1].cpus = 2.0;
    let nothing = (Some(BoundIs::Nothing), ValueVerdict::NotDecided);
    assert_eq!(with(24.0, 200.0, other_cpus), nothing);
}

/// Both stand for so many vCPUs at 1:16; a database gets a quarter of a CPU at the least, which is that of four.
fn standing_for(job: &mut Job, vcpus: f64) {
    for setup in &mut job.setups.setups {
        setup.stands_for = Some(CpuShare { instance: "i".to_owned(), vcpus, speed: None, unit: None });
    }
}

/// CPUs that were raised to the least do more than their part beside a volume that does its own, wherever that is
/// emulated or simulated. Where both or neither are limited by them, nothing follows.
#[test]
fn what_raised_cpus_limit_is_not_carried_over() {
    let with = |provider: Provider, gp2: Seen, io1: Seen, change: fn(&mut Job)| {
        let analysis = analysed(provider, gp2, io1, 300.0, change);
        let raised = analysis.recommendation.doubts.iter().any(|doubt| matches!(doubt, Doubt::CpusRaised { .. }));
        (bound(&analysis), analysis.value_of_money[0].verdict, raised)
    };
    let four: fn(&mut Job) = |job| standing_for(job, 4.0);
    let three: fn(&mut Job) = |job| standing_for(job, 3.0);
    let nothing = (Some(BoundIs::Nothing), ValueVerdict::NotDecided, true);
    let (here, simulated) = (Provider::Local, Provider::Simulated);
    let at_least = (Some(BoundIs::AtLeast), ValueVerdict::WorthIt, false);
    assert_eq!(with(here, AT_ITS_VOLUME, AT_ITS_CPU, four), at_least);
    assert_eq!(with(here, AT_ITS_VOLUME, AT_ITS_CPU, three), nothing);
    assert_eq!(with(simulated, AT_ITS_VOLUME, AT_ITS_CPU, four), (None, ValueVerdict::WorthIt, false));
    assert_eq!(with(simulated, AT_ITS_VOLUME, AT_ITS_CPU, three), nothing);
    let at_volume = Seen { operations: 310_000, iops: 618.0, cpus: 0.3, ..AT_ITS_CPU };
    assert_eq!(with(here, AT_ITS_VOLUME, at_volume, three), (None, ValueVerdict::WorthIt, false));
    // Four fifths of a quarter of a CPU are more than three sixteenths of one.
    let near = Seen { cpus: 0.8, ..at_volume };
    assert_eq!(with(here, AT_ITS_VOLUME, near, three), nothing);
    assert_eq!(with(here, AT_ITS_VOLUME, Seen { cpus: 0.7, ..near }, three), (None, ValueVerdict::WorthIt, false));
    let full = |seen: Seen, iops: f64| Seen { iops, cpus: 0.97, ..seen };
    let (both, alike) = ((full(AT_ITS_VOLUME, 24.0), full(AT_ITS_CPU, 200.0)), (None, ValueVerdict::WorthIt, false));
    assert_eq!(with(here, both.0, both.1, three), alike);
}
