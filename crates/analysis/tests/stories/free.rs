//! What a step for no money costs besides, worked out by hand.

use analysis::{Course, FreeStep, Need, Spending, TrialMeasurement, Verdict, analyse};
use evidence::HostId;
use experiment::{Basis, ConfigurationMoney, CostLine, Money};
use reported::cassandra::{COMPACTED_BYTES, COMPRESSION_METADATA_BYTES, FLUSHED_BYTES};

use crate::story::{Reported, job, measured, record, run};

/// Bytes of SSTables that an operation had written by flushes and by compactions.
type Written = (f64, f64);

fn trial(
    configuration: &'static str,
    block: u32,
    operations: u64,
    reads: [f64; 3],
    written: Option<Written>,
) -> TrialMeasurement {
    let device_reads = operations as f64 * reads[block as usize - 1];
    let reported = Reported { configuration, block, operations, device_reads, probe_read_iops: 60.1 };
    let mut trial = measured(&record(reported), device_reads);
    let host = trial.hosts.get_mut(&HostId::DATABASE).unwrap();
    let mut reported = |series, total| host.work.set(series, Course::from_zero(total));
    reported(&FLUSHED_BYTES, written.map(|(flushed, _)| flushed * operations as f64));
    reported(&COMPACTED_BYTES, written.map(|(_, compacted)| compacted * operations as f64));
    reported(&COMPRESSION_METADATA_BYTES, Some(if configuration == "gp2-320" { 1e5 } else { 4e5 }));
    trial
}

/// `io1-10000` stands for the same machine as `gp2-320` with an option of the JVM, for the same price, and twice as
/// fast.
fn step(before: Option<Written>, after: Option<Written>) -> FreeStep {
    step_of([[0.125; 3]; 2], before, after)
}

/// The same with these device reads of an operation in each block, before and after.
fn step_of(reads: [[f64; 3]; 2], before: Option<Written>, after: Option<Written>) -> FreeStep {
    let mut job = job();
    let volume = job.setups[0].data.clone();
    job.setups[1].data = volume;
    let options = experiment::Section::Options(vec!["-XX:+UseZGC".to_owned()]);
    job.setups[1].settings.sections.insert("jvm".to_owned(), options);
    let money = |setup: &experiment::Setup| ConfigurationMoney {
        configuration: setup.configuration.clone(),
        usd_per_month: Some(100.0),
        lines: vec![CostLine::stated("a month", 100.0, "an offer of 2026-01-01")],
        missing: None,
    };
    job.plan.money = Money { basis: Basis::default(), configurations: job.setups.iter().map(money).collect() };
    let of_block = |block: u32, operations: u64| {
        [
            trial("gp2-320", block, operations, reads[0], before),
            trial("io1-10000", block, 2 * operations, reads[1], after),
        ]
    };
    let trials = [of_block(1, 30_000), of_block(2, 33_000), of_block(3, 31_500)].concat();
    let mut steps = analyse(&run(&job, &trials)).free_steps;
    assert_eq!(steps.len(), 1, "{steps:?}");
    steps.swap_remove(0)
}

/// One of five operations updates one field of 100 bytes: clients write 20 bytes an operation.
#[test]
fn sstables_are_written_for_each_byte_of_the_clients() {
    let step = step(Some((20.0, 10.0)), Some((25.0, 0.0)));
    assert_eq!(step.throughput_ratio.verdict, Verdict::Faster);
    assert_eq!((step.from.as_str(), step.to.as_str()), ("gp2-320", "io1-10000"));
    assert_eq!(step.needs, [Need::Restart]);
    let of = |what: Spending| step.elsewhere.iter().find(|s| s.what == what).unwrap();
    let amplification = of(Spending::WriteAmplification);
    assert!((amplification.before - 1.5).abs() < 1e-9 && (amplification.after - 1.25).abs() < 1e-9);
    let offsets = of(Spending::ChunkOffsetBytes);
    assert_eq!((offsets.before, offsets.after), (1e5, 4e5));
    let disk = of(Spending::DiskBytes);
    assert_eq!((disk.before, disk.after), (345e6, 345e6));
}

#[test]
fn without_a_flush_nothing_is_known_of_what_becomes_of_a_byte() {
    for (before, after) in [
        (Some((0.0, 0.0)), Some((25.0, 0.0))),
        (Some((20.0, 10.0)), Some((0.0, 0.0))),
        (Some((20.0, 10.0)), None),
        (None, None),
    ] {
        let reported = step(before, after);
        let all: Vec<Spending> = reported.elsewhere.iter().map(|s| s.what).collect();
        assert_eq!(all, [Spending::DiskBytes, Spending::ChunkOffsetBytes], "{before:?} {after:?}");
    }
}

/// Medians that differ in three digits were reported as what a step costs, whatever its trials spread by.
#[test]
fn what_varies_from_trial_to_trial_is_no_cost_of_a_step() {
    let noise = [[0.125, 0.130, 0.120], [0.100, 0.130, 0.140]];
    let half = [[0.125, 0.130, 0.120], [0.0625, 0.065, 0.062]];
    for (reads, is_shown) in [(noise, false), (half, true)] {
        let step = step_of(reads, None, None);
        assert_eq!(step.throughput_ratio.verdict, Verdict::Faster);
        for what in [Spending::DeviceReads, Spending::DeviceReadBytes] {
            let mut all = step.per_operation.iter();
            assert_eq!(all.any(|of| of.what == what), is_shown, "{reads:?}: {:?}", step.per_operation);
        }
    }
}
