//! What a volume of the model does, seen from outside; buckets against one that ticks.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use catalog::{Burst, IoLimits, Latency, MIB};
use proptest::prelude::*;
use volume::{
    Answer, Array, Bucket, ByteBurst, Direction, Effect, Exceeded, Model, Request, RequestOutcome, Unit, VolumeFault,
};

const READ: Direction = Direction::Read;
const WRITE: Direction = Direction::Write;

fn request(direction: Direction, offset: u64, bytes: u64) -> Request {
    Request { direction, offset, bytes }
}

fn iops(iops: f64) -> Model {
    Model::limited(IoLimits::symmetric(Some(iops), None))
}

/// All answers up to a moment, in their order.
fn answers(array: &mut Array, until_s: f64) -> Vec<Answer> {
    std::iter::from_fn(|| array.due(until_s)).collect()
}

/// So many requests are always under way, request `n` being `ask(n)`; returns the answers of `seconds`.
fn saturate(array: &mut Array, volume: usize, seconds: f64, ask: impl Fn(u64) -> Request) -> Vec<Answer> {
    let depth = 32;
    let mut sent = 0;
    for tag in 0..depth {
        array.submit(0.0, volume, ask(tag), tag);
        sent += 1;
    }
    let mut all = Vec::new();
    while let Some(at_s) = array.next_at_s().filter(|at_s| *at_s <= seconds) {
        while let Some(answer) = array.due(at_s) {
            all.push(answer);
            array.submit(answer.at_s, volume, ask(sent), sent);
            sent += 1;
        }
    }
    all
}

fn small(direction: impl Fn(u64) -> Direction) -> impl Fn(u64) -> Request {
    move |n| request(direction(n), n * 8192, 4096)
}

proptest! {
    /// A bucket that ticks: each microsecond it earns, up to its depth, and lets go what waits while it owes nothing.
    #[test]
    fn a_bucket_is_one_that_ticks(
        rate in 50.0..2000.0_f64,
        depth in 0.5..40.0_f64,
        fill in 0.0..1.0_f64,
        asked in proptest::collection::vec((0_u64..20_000, 0.2..4.0_f64), 1..40),
    ) {
        const TICK_S: f64 = 1e-6;
        let mut bucket = Bucket::new(rate, depth, depth * fill, 0.0);
        let (mut level, mut ticks, mut arrival) = (depth * fill, 0_u64, 0_u64);
        for (after, units) in asked {
            arrival += after;
            let begin = bucket.begins_at(arrival as f64 * TICK_S);
            bucket.take(begin, units);
            while ticks < arrival || level < -1e-9 {
                ticks += 1;
                level = (level + rate * TICK_S).min(depth);
            }
            level -= units;
            let ticked = ticks as f64 * TICK_S;
            prop_assert!((begin - ticked).abs() <= 2.0 * TICK_S, "begins at {begin} s, ticking at {ticked} s");
            // The next one cannot begin before this one.
            arrival = arrival.max(ticks);
        }
    }

    /// However requests come: in no time span more of them are served than the limit, what was saved, and one.
    #[test]
    fn no_span_sees_more_than_the_limit(
        limit in 20.0..5000.0_f64,
        asked in proptest::collection::vec((0.0..0.02_f64, any::<bool>(), 1_u64..600_000), 2..200),
    ) {
        let mut array = Array::new(1);
        let volume = array.add(iops(limit), 0.0);
        let mut now = 0.0;
        let mut counts = Vec::new();
        for (tag, (after, writes, bytes)) in asked.into_iter().enumerate() {
            now += after;
            let direction = if writes { WRITE } else { READ };
            array.submit(now, volume, request(direction, 0, bytes), tag as u64);
            counts.push(Unit::SSD.count(bytes) as f64);
        }
        let answered = answers(&mut array, f64::MAX);
        prop_assert_eq!(answered.len(), counts.len());
        for from in 0..answered.len() {
            let mut sum = 0.0;
            for to in from..answered.len() {
                let span_s = answered[to].at_s - answered[from].at_s;
                let saved = limit * 0.020;
                prop_assert!(sum <= limit * span_s + saved + 3.0 + 1e-6, "{} in {} s", sum, span_s);
                sum += counts[answered[to].tag as usize];
            }
        }
    }
}

#[test]
fn reads_and_writes_share_a_limit_and_leave_at_an_even_pace() {
    for limit in [60.0, 960.0, 3000.0, 16_000.0] {
        let mut array = Array::new(1);
        let volume = array.add(iops(limit), 0.0);
        let answered = saturate(&mut array, volume, 2.0, small(|n| if n % 2 == 0 { READ } else { WRITE }));
        let rate = (answered.len() as f64 - 0.02 * limit) / 2.0;
        assert!((rate / limit - 1.0).abs() < 0.02, "{rate} of {limit}");
        let gaps = answered.windows(2).map(|pair| pair[1].at_s - pair[0].at_s);
        let widest = gaps.fold(0.0, f64::max);
        assert!(widest < 1.01 / limit, "no steps: the widest gap is {widest} s at {limit} IOPS");
    }
}

#[test]
fn limits_apart_let_a_mix_have_both() {
    let mut array = Array::new(1);
    let model = Model { together: false, ..iops(1000.0) };
    let volume = array.add(model, 0.0);
    let answered = saturate(&mut array, volume, 2.0, small(|n| if n % 2 == 0 { READ } else { WRITE }));
    assert!(answered.len() > 3900, "{}", answered.len());
}

#[test]
fn large_requests_count_as_several_on_ssd_and_neighbours_as_one_on_hdd() {
    let of = |model: Model, bytes: u64| {
        let mut array = Array::new(1);
        let volume = array.add(model, 0.0);
        let sequential = |n: u64| request(WRITE, n * bytes, bytes);
        saturate(&mut array, volume, 10.0, sequential).len() as f64 / 10.0
    };
    assert!((of(iops(100.0), 256 << 10) - 100.0).abs() < 1.0);
    assert!((of(iops(100.0), 1 << 20) - 25.0).abs() < 1.0, "1 MiB is four of 256 KiB");
    let hdd = || Model { unit: Unit::HDD, ..iops(100.0) };
    assert!((of(hdd(), 1 << 20) - 100.0).abs() < 1.0);
    let merged = of(hdd(), 64 << 10);
    assert!(merged > 1500.0, "sixteen of 64 KiB that follow one another are one: {merged}");
    let mut array = Array::new(1);
    let volume = array.add(hdd(), 0.0);
    let scattered = saturate(&mut array, volume, 10.0, |n| request(READ, n * (7 << 20), 64 << 10));
    assert!((scattered.len() as f64 / 10.0 - 100.0).abs() < 1.0, "{}", scattered.len());
}

#[test]
fn bytes_are_limited_too() {
    let mut array = Array::new(1);
    let volume = array.add(Model::limited(IoLimits::symmetric(Some(3000.0), Some(125.0))), 0.0);
    let answered = saturate(&mut array, volume, 4.0, |n| request(READ, n << 18, 128 << 10));
    assert!((answered.len() as f64 / 4.0 / 1000.0 - 1.0).abs() < 0.02, "{}", answered.len());
}

/// EBS user guide, gp2: a full bucket of a 100 GiB volume lasts 5,400,000 / (3,000 - 300) = 2,000 s.
#[test]
fn credits_of_gp2_last_as_long_as_documented_and_come_back() {
    // Divided by 30, rates and credits alike: the same times.
    let burst = Burst { baseline_iops: 300.0, burst_iops: 3000.0, credits_max: 5.4e6, credits_start: 5.4e6 };
    let burst = burst.scaled(30.0);
    let model = Model { burst: Some(burst), ..iops(100.0) };
    let mut array = Array::new(1);
    let volume = array.add(model, 0.0);
    let answered = saturate(&mut array, volume, 2100.0, small(|_| READ));
    let in_span = |from: f64, to: f64| answered.iter().filter(|a| a.at_s >= from && a.at_s < to).count() as f64;
    assert!((in_span(0.0, 1990.0) / 1990.0 - 100.0).abs() < 0.5);
    assert!((in_span(2010.0, 2100.0) / 90.0 - 10.0).abs() < 0.2);
    assert!(array.credits(volume, 2100.0).0.unwrap() < 1.0);
    let (earned, _) = array.credits(volume, 2200.0);
    assert!((earned.unwrap() - 1000.0).abs() < 40.0, "100 s at 10 a second: {earned:?}");
}

#[test]
fn an_empty_bucket_of_bytes_leaves_the_baseline() {
    let model = Model {
        byte_burst: Some(ByteBurst {
            baseline_bytes_per_s: 20.0 * MIB,
            burst_bytes_per_s: 125.0 * MIB,
            credits_max: 1050.0 * MIB,
            credits_start: 1050.0 * MIB,
        }),
        unit: Unit::HDD,
        ..Model::unlimited()
    };
    let mut array = Array::new(1);
    let volume = array.add(model, 0.0);
    let answered = saturate(&mut array, volume, 20.0, |n| request(READ, n << 20, 1 << 20));
    let in_span = |from: f64, to: f64| answered.iter().filter(|a| a.at_s >= from && a.at_s < to).count() as f64;
    assert!((in_span(0.0, 9.0) / 9.0 - 125.0).abs() < 2.0, "1050 / (125 - 20) = 10 s at full burst");
    assert!((in_span(11.0, 20.0) / 9.0 - 20.0).abs() < 0.5);
}

#[test]
fn volumes_of_an_instance_share_its_limit_and_a_slow_one_does_not_hold_up_another() {
    let mut array = Array::new(1);
    let slow = array.add(iops(10.0), 0.0);
    let fast = array.add(Model::unlimited(), 0.0);
    array.share(&[slow, fast], iops(1000.0), 0.0);
    for tag in 0..50 {
        array.submit(0.0, slow, request(READ, tag << 20, 4096), tag);
    }
    let answered = saturate(&mut array, fast, 2.0, |n| request(READ, n * 8192, 4096));
    let of_fast = answered.iter().filter(|a| a.tag >= 32).count() as f64 / 2.0;
    assert!((of_fast - 990.0).abs() < 30.0, "1,000 less the 10 of the slow one: {of_fast}");
}

/// 100 IOPS, of which 20 ms are saved: request 0, 1 and 2 begin at once, request 52 half a second later. Of a MiB a
/// second each quarter of it takes a quarter of a second.
#[test]
fn a_volume_counts_the_time_in_which_its_limits_hold_requests_back() {
    let exceeded = |model: Model, requests: u64, bytes: u64, now: f64| {
        let mut array = Array::new(1);
        let volume = array.add(model, 0.0);
        for tag in 0..requests {
            array.submit(0.0, volume, request(READ, tag << 20, bytes), tag);
        }
        array.exceeded(volume, now)
    };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let half = exceeded(iops(100.0), 53, 4096, 0.25);
    assert!(close(half.volume_iops_s, 0.25), "so far: {half:?}");
    let whole = exceeded(iops(100.0), 53, 4096, 9.0);
    assert!(close(whole.volume_iops_s, 0.5) && whole.volume_bytes_s == 0.0, "{whole:?}");
    assert_eq!(exceeded(iops(100.0), 3, 4096, 9.0), Exceeded::default(), "none of these waits");
    let narrow = Model::limited(IoLimits::symmetric(Some(1000.0), Some(1.0)));
    let bytes = exceeded(narrow, 4, 256 << 10, 9.0);
    assert!(close(bytes.volume_bytes_s, 0.73) && bytes.volume_iops_s == 0.0, "{bytes:?}");
}

#[test]
fn what_an_instance_holds_back_is_counted_apart_and_what_a_fault_does_is_not_counted() {
    let mut array = Array::new(1);
    let volumes = [array.add(iops(1000.0), 0.0), array.add(iops(1000.0), 0.0)];
    array.share(&volumes, iops(100.0), 0.0);
    for tag in 0..24 {
        array.submit(0.0, volumes[tag as usize % 2], request(READ, tag << 20, 4096), tag);
    }
    answers(&mut array, 9.0);
    for volume in volumes {
        let seen = array.exceeded(volume, 9.0);
        assert!((0.19..0.22).contains(&seen.instance_iops_s), "{seen:?}");
        assert_eq!((seen.volume_iops_s, seen.instance_bytes_s), (0.0, 0.0));
    }
    let mut array = Array::new(1);
    let volume = array.add(iops(100.0), 0.0);
    array.set_faults(
        volume,
        vec![VolumeFault { from_s: 0.0, until_s: None, effect: Effect::Slow { times: 10.0 } }],
        0.0,
    );
    for tag in 0..20 {
        array.submit(0.0, volume, request(READ, tag << 20, 4096), tag);
    }
    assert_eq!(array.exceeded(volume, 9.0), Exceeded::default());
}

/// How many of each volume are answered in two seconds, each asked for as much as it gives.
fn both_saturated(array: &mut Array, volumes: [usize; 2]) -> [f64; 2] {
    let mut next = 0;
    let mut submit = |array: &mut Array, now: f64, of: usize| {
        next += 1;
        let tag = next * 2 + of as u64;
        array.submit(now, volumes[of], request(READ, next << 20, 4096), tag);
    };
    for _ in 0..32 {
        submit(array, 0.0, 0);
        submit(array, 0.0, 1);
    }
    let mut answered = [0.0; 2];
    while let Some(now) = array.next_at_s().filter(|at_s| *at_s < 2.0) {
        while let Some(answer) = array.due(now) {
            let of = (answer.tag % 2) as usize;
            answered[of] += 1.0;
            submit(array, now, of);
        }
    }
    answered
}

/// Two volumes of 800 behind an instance of 1,000: one has its 800, both have 1,000 in equal parts.
#[test]
fn two_volumes_get_no_more_together_than_their_instance() {
    let mut array = Array::new(1);
    let volumes = [array.add(iops(800.0), 0.0), array.add(iops(800.0), 0.0)];
    array.share(&volumes, iops(1000.0), 0.0);
    let [one, other] = both_saturated(&mut array, volumes).map(|n| n / 2.0);
    assert!((one + other - 1010.0).abs() < 15.0, "{one} and {other}");
    assert!((one / other - 1.0).abs() < 0.05, "{one} and {other}");
    let mut array = Array::new(1);
    let volumes = [array.add(iops(800.0), 0.0), array.add(iops(800.0), 0.0)];
    array.share(&volumes, iops(1000.0), 0.0);
    let alone = saturate(&mut array, volumes[0], 10.0, small(|_| READ)).len() as f64 / 10.0;
    assert!(alone > 790.0, "a volume alone has what it is: {alone}");
}

#[test]
fn volumes_of_two_instances_do_not_share_and_a_volume_that_changes_has_left() {
    let mut array = Array::new(1);
    let volumes = [array.add(iops(800.0), 0.0), array.add(iops(800.0), 0.0)];
    array.share(&volumes[..1], iops(500.0), 0.0);
    array.share(&volumes[1..], iops(300.0), 0.0);
    let [one, other] = both_saturated(&mut array, volumes).map(|n| n / 2.0);
    assert!((one - 505.0).abs() < 10.0 && (other - 303.0).abs() < 10.0, "{one} and {other}");
    let mut array = Array::new(1);
    let volumes = [array.add(iops(800.0), 0.0), array.add(iops(800.0), 0.0)];
    array.share(&volumes, iops(100.0), 0.0);
    for volume in volumes {
        array.change(volume, iops(800.0), 0.0);
    }
    let [one, other] = both_saturated(&mut array, volumes).map(|n| n / 2.0);
    assert!(one > 790.0 && other > 790.0, "{one} and {other}");
}

#[test]
fn service_times_are_log_normal_on_top_of_waiting() {
    let model = Model { latency: Some(Latency { median_us: 700.0, sigma: 0.3 }), ..Model::unlimited() };
    let mut array = Array::new(7);
    let volume = array.add(model, 0.0);
    for tag in 0..20_000 {
        array.submit(tag as f64, volume, request(READ, 0, 4096), tag);
    }
    let mut times: Vec<f64> = answers(&mut array, f64::MAX).iter().map(|a| (a.at_s - a.tag as f64) * 1e6).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[(share * times.len() as f64) as usize];
    assert!((at(0.5) / 700.0 - 1.0).abs() < 0.02, "{}", at(0.5));
    // exp(0.3 * 2.326) = 2.009
    assert!((at(0.99) / (700.0 * 2.009) - 1.0).abs() < 0.05, "{}", at(0.99));
}

#[test]
fn what_the_way_takes_is_taken_off_service_and_nothing_else() {
    let model = Model { latency: Some(Latency { median_us: 700.0, sigma: 0.0 }), ..iops(100.0) };
    let mut array = Array::new(7);
    let volume = array.add(model, 0.0);
    array.take_off(0.0001);
    for tag in 0..100 {
        array.submit(0.0, volume, request(READ, 0, 4096), tag);
    }
    let all = answers(&mut array, 10.0);
    assert!((all[0].at_s - 0.0006).abs() < 1e-9);
    assert!((all[99].at_s - all[89].at_s - 0.1).abs() < 1e-6, "the limit stays what it is");
    array.take_off(0.01);
    array.submit(20.0, volume, request(READ, 0, 4096), 100);
    assert_eq!(array.due(20.0).map(|a| a.at_s), Some(20.0), "never before it came");
}

#[test]
fn a_stall_holds_everything_back_and_then_lets_it_go_at_once() {
    let mut array = Array::new(1);
    let volume = array.add(Model::unlimited(), 0.0);
    let stall = |from_s: f64, until_s: Option<f64>| VolumeFault { from_s, until_s, effect: Effect::Stall };
    array.set_faults(volume, vec![stall(1.0, Some(3.0)), stall(2.5, Some(4.0))], 0.0);
    for tag in 0..6 {
        array.submit(tag as f64, volume, request(WRITE, 0, 4096), tag);
    }
    let ends: Vec<f64> = answers(&mut array, 100.0).iter().map(|a| a.at_s).collect();
    assert_eq!(ends, [0.0, 4.0, 4.0, 4.0, 4.0, 5.0]);

    // One without an end is over when it is taken away.
    array.set_faults(volume, vec![stall(10.0, None)], 9.0);
    array.submit(11.0, volume, request(READ, 0, 4096), 6);
    assert!(array.due(1e9).is_none());
    assert_eq!(array.next_at_s(), Some(f64::INFINITY));
    array.set_faults(volume, Vec::new(), 20.0);
    assert_eq!(array.due(20.0).map(|a| (a.tag, a.at_s)), Some((6, 20.0)));
}

#[test]
fn a_slow_volume_has_a_part_of_its_limits_and_takes_longer() {
    let mut array = Array::new(1);
    let latency = Some(Latency { median_us: 1000.0, sigma: 0.0 });
    let volume = array.add(Model { latency, ..iops(1000.0) }, 0.0);
    let slow = VolumeFault { from_s: 0.0, until_s: Some(2.0), effect: Effect::Slow { times: 10.0 } };
    array.set_faults(volume, vec![slow], 0.0);
    let answered = saturate(&mut array, volume, 4.0, small(|_| READ));
    let in_span = |from: f64, to: f64| answered.iter().filter(|a| a.at_s >= from && a.at_s < to).count() as f64;
    assert!((in_span(1.0, 2.0) - 100.0).abs() < 3.0, "{}", in_span(1.0, 2.0));
    assert!((in_span(3.0, 4.0) - 1000.0).abs() < 3.0, "{}", in_span(3.0, 4.0));
    assert!((answered[0].at_s - 0.010).abs() < 1e-9, "{}", answered[0].at_s);
}

#[test]
fn errors_hit_a_kind_a_range_and_a_share_and_a_full_volume_refuses_writes() {
    let ended = |effect: Effect, request: Request| {
        let mut array = Array::new(3);
        let volume = array.add(Model::unlimited(), 0.0);
        array.set_faults(volume, vec![VolumeFault { from_s: 0.0, until_s: None, effect }], 0.0);
        for tag in 0..1000 {
            array.submit(1.0, volume, request, tag);
        }
        let all = answers(&mut array, 2.0);
        let of = |outcome: RequestOutcome| all.iter().filter(|a| a.outcome == outcome).count();
        (of(RequestOutcome::Done), of(RequestOutcome::Error), of(RequestOutcome::NoSpace))
    };
    let errors = |range: Option<(u64, u64)>, share: f64| Effect::Error { reads: true, writes: false, range, share };
    assert_eq!(ended(errors(None, 1.0), request(READ, 0, 4096)), (0, 1000, 0));
    assert_eq!(ended(errors(None, 1.0), request(WRITE, 0, 4096)), (1000, 0, 0));
    let range = Some((8192, 12_288));
    assert_eq!(ended(errors(range, 1.0), request(READ, 4096, 4096)), (1000, 0, 0));
    assert_eq!(ended(errors(range, 1.0), request(READ, 4096, 4097)), (0, 1000, 0));
    assert_eq!(ended(errors(range, 1.0), request(READ, 12_288, 4096)), (1000, 0, 0));
    let (done, failed, _) = ended(errors(None, 0.1), request(READ, 0, 4096));
    assert!((70..130).contains(&failed) && done + failed == 1000, "{failed}");
    assert_eq!(ended(Effect::Full, request(WRITE, 0, 4096)), (0, 0, 1000));
    assert_eq!(ended(Effect::Full, request(READ, 0, 4096)), (1000, 0, 0));
}

#[test]
fn a_volume_that_is_changed_keeps_what_was_due_and_has_new_limits() {
    let mut array = Array::new(1);
    let volume = array.add(iops(1.0), 0.0);
    for tag in 0..3 {
        array.submit(0.0, volume, request(READ, 0, 4096), tag);
    }
    array.change(volume, Model::unlimited(), 0.5);
    array.submit(0.5, volume, request(READ, 0, 4096), 3);
    let ends: Vec<(u64, f64)> = answers(&mut array, 10.0).iter().map(|a| (a.tag, a.at_s)).collect();
    assert_eq!(ends.len(), 4);
    assert_eq!(ends[1], (3, 0.5), "{ends:?}");
    assert!(ends[3].1 > 1.5, "{ends:?}");
}
