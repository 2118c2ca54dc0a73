//! A server with one queue, seen through the client's seconds: what a stop of each length leaves behind.

use experiment::Arrivals;
use stats::SplitMix;

use super::*;
use crate::rules::cases::{changed, seen};

fn exponential(random: &mut SplitMix, mean: f64) -> f64 {
    -mean * random.uniform().ln()
}

fn normal(random: &mut SplitMix) -> f64 {
    (-2.0 * random.uniform().ln()).sqrt() * (std::f64::consts::TAU * random.uniform()).cos()
}

const SECONDS: usize = 60;

/// (end, response) of each request become seconds.
fn seconds(requests: &[(f64, f64)]) -> Vec<Second> {
    let mut seconds = vec![Second::default(); SECONDS];
    for longest in [true, false] {
        for (end, response) in requests {
            let Some(second) = seconds.get_mut(*end as usize) else { continue };
            let us = (response * 1e6) as u64;
            if longest {
                second.completed += 1;
                second.longest_us = second.longest_us.max(us);
            } else if 2 * us > second.longest_us {
                second.late += 1;
            }
        }
    }
    seconds
}

/// A server with exponential service times whose speed varies log-normally by `noise` from second to second; it stands
/// still for `stop_s` from `at_s` on.
struct Server {
    service_s: f64,
    noise: f64,
    stop: (f64, f64),
    random: SplitMix,
    speeds: Vec<f64>,
}

impl Server {
    fn new(seed: u64, rate: f64, noise: f64, stop: (f64, f64)) -> Self {
        let mut random = SplitMix::new(seed);
        let speeds = (0..10 * SECONDS).map(|_| (noise * normal(&mut random)).exp()).collect();
        Self { service_s: 1.0 / rate, noise, stop, random, speeds }
    }

    /// When a request that gets the server at `start` leaves it.
    fn end(&mut self, start: f64) -> f64 {
        let speed = self.speeds.get(start as usize).copied().unwrap_or(1.0);
        let work = if self.noise == 0.0 { self.service_s } else { exponential(&mut self.random, self.service_s) };
        let (at, length) = self.stop;
        // Whoever is inside when it stops waits as well.
        let start = if start >= at && start < at + length { at + length } else { start };
        let end = start + work / speed;
        if start < at && end > at { end + length } else { end }
    }
}

/// Poisson arrivals at `rate`, served at 1 / 0.7 of it.
fn open(seed: u64, rate: f64, noise: f64, stop: (f64, f64)) -> (Vec<Second>, LoadLevel) {
    served(seed, rate, rate / 0.7, noise, stop)
}

fn served(seed: u64, rate: f64, capacity: f64, noise: f64, stop: (f64, f64)) -> (Vec<Second>, LoadLevel) {
    let mut server = Server::new(seed, capacity, noise, stop);
    let (mut due, mut free) = (0.0, 0.0_f64);
    let mut requests = Vec::new();
    while due < SECONDS as f64 {
        due += exponential(&mut server.random, 1.0 / rate);
        free = server.end(free.max(due));
        requests.push((free, free - due));
    }
    let load = LoadLevel::Rate { operations_per_s: rate, arrivals: Arrivals::Poisson };
    (seconds(&requests), load)
}

/// `in_flight` requests that queue again as soon as they are answered.
fn closed(seed: u64, rate: f64, in_flight: u32, noise: f64, stop: (f64, f64)) -> (Vec<Second>, LoadLevel) {
    let mut server = Server::new(seed, rate, noise, stop);
    let mut queued: std::collections::VecDeque<f64> = (0..in_flight).map(|_| 0.0).collect();
    let mut now = 0.0;
    let mut requests = Vec::new();
    while now < SECONDS as f64 {
        let due = queued.pop_front().unwrap();
        now = server.end(now);
        requests.push((now, now - due));
        queued.push_back(now);
    }
    (seconds(&requests), LoadLevel::Concurrency(in_flight))
}

fn reported((seconds, load): (Vec<Second>, LoadLevel)) -> Vec<Stop> {
    stops(&seconds, 0, &[], load)
}

const SEEDS: u64 = 8;
/// Where in a second a stop begins decides what is left of it.
const STARTS: [f64; 5] = [30.0, 30.2, 30.5, 30.7, 30.99];

/// (seeds and starts in which exactly the stop was found, in which nothing was).
fn counts(make: impl Fn(u64, (f64, f64)) -> (Vec<Second>, LoadLevel), length: f64) -> (u64, u64) {
    let (mut right, mut none) = (0, 0);
    for seed in 0..SEEDS {
        for at in STARTS {
            let stops = reported(make(seed, (at, length)));
            none += u64::from(stops.is_empty());
            let is_it = |s: &Stop| (s.from_s - at).abs() <= 1.2 && (s.length_s - length).abs() <= 1.1;
            right += u64::from(stops.len() == 1 && is_it(&stops[0]));
        }
    }
    (right, none)
}

const ALL: u64 = SEEDS * STARTS.len() as u64;

#[test]
fn a_stop_is_told_from_half_a_second_on_in_open_and_in_closed_loop() {
    for length in [0.3, 0.7, 1.0, 2.0, 5.0] {
        for rate in [200.0, 1000.0] {
            let open = counts(|seed, stop| open(seed, rate, 0.1, stop), length);
            let closed = counts(|seed, stop| closed(seed, rate, 64, 0.1, stop), length);
            println!("stop of {length} s at {rate}/s: (found, nothing) of {ALL}: open {open:?}, closed {closed:?}");
            for (loop_, (right, none)) in [("open", open), ("closed", closed)] {
                if length < STOP_MIN_S {
                    assert_eq!(none, ALL, "{loop_} {length} {rate}");
                    continue;
                }
                // In closed loop, 64 in flight at 200/s wait a third of a second anyway, in which a stop of 0.7 s
                // drowns.
                let drowns = loop_ == "closed" && rate < 500.0 && length < 1.0;
                assert!(drowns || right * 100 >= ALL * 95, "{loop_} {length} {rate}: {right} of {ALL}");
            }
        }
    }
}

#[test]
fn noise_is_no_stop() {
    type Make<'a> = &'a dyn Fn(u64) -> (Vec<Second>, LoadLevel);
    let cases: [(&str, Make<'_>); 8] = [
        ("open, 20 % from second to second", &|s| open(s, 300.0, 0.2, (99.0, 0.0))),
        ("closed, 20 % from second to second", &|s| closed(s, 300.0, 64, 0.2, (99.0, 0.0))),
        ("open, 5/s", &|s| open(s, 5.0, 0.1, (99.0, 0.0))),
        ("closed, 5/s, one in flight", &|s| closed(s, 5.0, 1, 0.1, (99.0, 0.0))),
        ("closed, 5/s, 16 in flight", &|s| closed(s, 5.0, 16, 0.2, (99.0, 0.0))),
        ("open, 95 % busy", &|s| served(s, 285.0, 300.0, 0.1, (99.0, 0.0))),
        ("open, 20/s, 90 % busy", &|s| served(s, 18.0, 20.0, 0.1, (99.0, 0.0))),
        ("open, saturated", &|s| served(s, 300.0, 210.0, 0.1, (99.0, 0.0))),
    ];
    for (what, make) in cases {
        let false_alarms = (0..100).filter(|seed| !reported(make(*seed)).is_empty()).count();
        println!("{what}: a stop found in {false_alarms} of 100");
        assert!(false_alarms <= 1, "{what}: {false_alarms}");
    }
}

/// Even at five a second, five seconds without an answer are no chance.
#[test]
fn at_a_slow_rate_only_long_stops_are_reported() {
    let (right, none) = counts(|seed, stop| open(seed, 5.0, 0.1, stop), 5.0);
    println!("stop of 5 s at 5/s: found {right}, nothing {none} of {ALL}");
    assert!(none * 10 <= ALL, "{none}");
}

/// Saturation that begins inside the window: waits grow and never decline.
#[test]
fn a_volume_that_becomes_slower_is_no_stop() {
    for seed in 0..20 {
        let mut server = Server::new(seed, 2000.0, 0.1, (99.0, 0.0));
        for speed in &mut server.speeds[40..] {
            *speed *= 0.35;
        }
        let (mut due, mut free) = (0.0, 0.0_f64);
        let mut requests = Vec::new();
        while due < SECONDS as f64 {
            due += exponential(&mut server.random, 1e-3);
            free = server.end(free.max(due));
            requests.push((free, free - due));
        }
        let load = LoadLevel::Rate { operations_per_s: 1000.0, arrivals: Arrivals::Poisson };
        let reported = stops(&seconds(&requests), 0, &[], load);
        assert!(reported.is_empty(), "{seed}: {reported:?}");
    }
}

#[test]
fn two_stops_are_two_and_what_the_window_leaves_out_is_none() {
    let (first, load) = closed(1, 1000.0, 64, 0.1, (10.3, 2.0));
    let (second, _) = closed(2, 1000.0, 64, 0.1, (40.6, 3.0));
    let both: Vec<Second> = first[..25].iter().chain(&second[25..]).copied().collect();
    let all = stops(&both, 0, &[], load);
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(stops(&both, 20, &[], load).len(), 1);
    assert!((stops(&both, 20, &[], load)[0].from_s - 40.6).abs() < 1.2);
}

#[test]
fn a_stop_carries_when_how_long_and_how_much_of_the_window() {
    let (seconds, load) = open(7, 2000.0, 0.1, (30.0, 4.0));
    let trial = changed(|t| (t.seconds, t.record.load) = (seconds, load));
    let reported = seen::<Stall>(&trial).unwrap();
    assert_eq!(reported.stops, 1);
    let near = |number: f64, value: f64, off: f64| assert!((number - value).abs() <= off, "{reported:?}");
    near(reported.longest_s, 4.0, 0.2);
    near(reported.longest_at_s, 30.0, 1.0);
    near(reported.window_share, 4.0 / 60.0, 0.01);
    near(reported.median_ops_per_s, 2000.0, 50.0);
}

/// 250 in flight at 88 a second: what is answered in the first three seconds was sent before the measurement and does
/// not count in it. A stop of the same length later on is one.
#[test]
fn what_was_under_way_at_the_start_of_a_closed_loop_is_no_stop() {
    let second = |completed| Second { completed, longest_us: 2_900_000, late: 0 };
    let load = LoadLevel::Concurrency(250);
    let mut seconds = vec![second(88); 60];
    seconds[..3].fill(second(0));
    assert!(stops(&seconds, 0, &[], load).is_empty());
    seconds[30..33].fill(second(0));
    let found = stops(&seconds, 0, &[], load);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].from_s, found[0].length_s), (30.0, 3.0));
}
