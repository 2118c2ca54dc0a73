//! Random clear cases: one resource, or two, at 97 to 100 % of what was there while garbage collection, of 0 to 30 % of
//! the time, did not stop the database; the others at 5 to 70 %.

use experiment::IoLimits;

use stats::SplitMix;

use super::made::{Disk, KIB, MIB, Machine, idle};
use crate::limit::LimitKind;

const CASES: u64 = 300;
/// Right in at least this share of them: the test prints what was reached.
const RIGHT: f64 = 0.98;

/// Resources that can be filled without another.
const FILLED: [LimitKind; 7] = [
    LimitKind::Cpu,
    LimitKind::VolumeIops,
    LimitKind::VolumeThroughput,
    LimitKind::InstanceEbsBandwidth,
    LimitKind::CommitLog,
    LimitKind::Client,
    LimitKind::NoneFound,
];

fn between(random: &mut SplitMix, low: f64, high: f64) -> f64 {
    low + (high - low) * random.uniform()
}

fn one_of<T: Copy>(random: &mut SplitMix, all: &[T]) -> T {
    all[random.below(all.len() as u64) as usize]
}

/// Pauses that are clearly on one side of the shares from which they count.
fn pauses(random: &mut SplitMix) -> f64 {
    match random.below(3) {
        0 => between(random, 0.0, 0.045),
        1 => between(random, 0.055, 0.19),
        _ => between(random, 0.21, 0.3),
    }
}

/// A machine with these resources full between pauses of this share.
fn machine(random: &mut SplitMix, full: &[LimitKind], gc: f64) -> Machine {
    // A volume and the client have nothing to do in a pause; the collector uses CPUs.
    let running = 1.0 - gc;
    let mut level = |kind: LimitKind| match full.contains(&kind) {
        true => between(random, 0.972, 1.0),
        false => between(random, 0.05, 0.7),
    };
    let (cpu, client, log) =
        (level(LimitKind::Cpu), level(LimitKind::Client) * running, level(LimitKind::CommitLog) * running);
    let is_instance = full.contains(&LimitKind::InstanceEbsBandwidth);
    let requests = level(if is_instance { LimitKind::InstanceEbsBandwidth } else { LimitKind::VolumeIops }) * running;
    let bytes = level(LimitKind::VolumeThroughput) * running;
    let given = f64::from(one_of(random, &[1, 2, 4, 8, 16]));
    let client_cpus = 1.0;
    // Steal, a quota or nothing takes away up to a quarter.
    let lost = between(random, 0.05, 0.25);
    let (left, stolen, throttled, periods) = match random.below(4) {
        // Stolen from whoever runs, in the same measure.
        0 => (1.0 - lost, lost * given, None, 0.0),
        1 => (1.0 - lost, 0.0, Some(lost * given), 1.0),
        _ => (1.0, 0.0, None, 0.0),
    };
    let used = cpu * left * given;
    // Time is stolen, or withheld, only from those that want it.
    let wanted = if full.contains(&LimitKind::Cpu) { 1.0 } else { cpu };
    let iops = between(random, 100.0, 20_000.0);
    // Together as on EBS, or apart as by cgroups.
    let write_part = between(random, 0.0, 0.5);
    let rate = requests * iops;
    let (reads, writes) = match random.below(2) {
        0 => (rate * (1.0 - write_part), rate * write_part),
        _ => (rate, rate * between(random, 0.1, 0.25)),
    };
    let size = one_of(random, &[4.0, 16.0, 64.0]) * KIB;
    let (read_bytes, write_bytes) = (reads * size, writes * size);
    let limit_bytes = read_bytes.max(write_bytes) / bytes;
    let limits = IoLimits::symmetric(Some(iops), Some(limit_bytes / MIB));
    let own = is_instance.then(|| IoLimits::symmetric(Some(2.0 * iops), Some(2.0 * limit_bytes / MIB)));
    let data = Disk {
        byte_burst: None,
        reads,
        writes,
        read_bytes,
        write_bytes,
        limits,
        own,
        probe: Some((0.99 * iops).min(limit_bytes / 4096.0)),
        burst: None,
    };
    Machine {
        given,
        host_cpus: given + client_cpus + 1.0,
        used,
        stolen: stolen * wanted * (used + client) / used,
        throttled_s: throttled.map(|t| t * wanted),
        throttled_periods: periods * wanted,
        gc,
        client,
        data,
        log: Some(Disk::of(0.0, log * 3000.0, 3000.0, 400.0)),
        rate: None,
        seconds: one_of(random, &[10, 20, 60, 120]),
        jitter: between(random, 0.0, 0.02),
        seed: random.below(1_000_000),
        ..idle()
    }
}

#[test]
fn random_clear_cases_are_named_right() {
    let (mut right, mut first, mut of_two, mut right_of_two) = (0_u64, 0_u64, 0_u64, 0_u64);
    for case in 0..CASES {
        let mut random = SplitMix::new(case + 1);
        let one = one_of(&mut random, &FILLED);
        let other = one_of(&mut random, &FILLED[..FILLED.len() - 1]);
        // Two of the data volume would be one on top of the other.
        let is_pair = random.below(4) == 0
            && one != LimitKind::NoneFound
            && [LimitKind::Cpu, LimitKind::Client, LimitKind::CommitLog].contains(&other);
        let full: Vec<LimitKind> = if is_pair && one != other { vec![one, other] } else { vec![one] };
        let gc = pauses(&mut random);
        let limit = machine(&mut random, &full, gc).limit();
        let mut named: Vec<LimitKind> = std::iter::once(limit.kind).chain(limit.also.iter().copied()).collect();
        let mut expected = full.clone();
        // From a fifth of the time on collection is a limit by itself; before, with what is full beside it.
        if gc > 0.2 || (gc > 0.05 && one != LimitKind::NoneFound) {
            expected.retain(|kind| *kind != LimitKind::NoneFound);
            expected.push(LimitKind::Gc);
        }
        named.sort();
        expected.sort();
        let is_right = named == expected;
        if !is_right {
            println!("case {case}: {full:?} named {limit:?}");
        }
        right += u64::from(is_right);
        first += u64::from(expected.contains(&limit.kind));
        of_two += u64::from(full.len() == 2);
        right_of_two += u64::from(is_right && full.len() == 2);
    }
    println!("random clear cases: {right} of {CASES} named exactly, of them two at once {right_of_two} of {of_two}");
    println!("the first named is full in {first} of {CASES}");
    assert!(right as f64 >= RIGHT * CASES as f64, "{right} of {CASES}");
}
