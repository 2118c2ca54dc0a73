//! What the rules say on series whose truth is known; the rates that the documentation quotes are printed.

use super::*;
use crate::noise::Noise;

const SEEDS: u64 = 400;
/// 5 % of the seeds.
const FIVE_PERCENT: usize = 20;
/// 1 % of the seeds.
const ONE_PERCENT: usize = 4;

/// `level` of each second, times 1 + stationary first-order autoregressive noise of this deviation and correlation.
fn series(seconds: usize, seed: u64, (phi, deviation): (f64, f64), level: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut noise = Noise::new(seed);
    let mut state = noise.normal();
    (0..seconds)
        .map(|t| {
            state = phi * state + (1.0 - phi * phi).sqrt() * noise.normal();
            level(t as f64) * (1.0 + deviation * state)
        })
        .collect()
}

const WHITE: (f64, f64) = (0.0, 0.05);

fn judged(make: impl Fn(u64) -> Vec<f64>) -> Vec<SteadyState> {
    (0..SEEDS).map(|seed| steady_state(&make(seed))).collect()
}

fn count(judged: &[SteadyState], verdict: SteadyVerdict) -> usize {
    judged.iter().filter(|j| j.verdict == verdict).count()
}

#[test]
fn a_series_at_rest_is_rarely_called_transient_however_its_seconds_hang_together() {
    for phi in [0.0, 0.5, 0.9, 0.95, 0.98] {
        for seconds in [120, 300] {
            let all = judged(|seed| series(seconds, seed, (phi, 0.05), |_| 1000.0));
            let [steady, transient, short] =
                [SteadyVerdict::Steady, SteadyVerdict::Transient, SteadyVerdict::TooShort].map(|v| count(&all, v));
            println!(
                "at rest, autocorrelation {phi}, {seconds} s: steady {steady}, transient {transient}, \
                 too short {short} of {SEEDS}"
            );
            assert!(transient <= FIVE_PERCENT, "{phi} {seconds} {transient}");
            // Where seconds are nearly independent, there is enough to judge.
            assert!(phi > 0.5 || short <= FIVE_PERCENT, "{phi} {seconds} {short}");
        }
    }
    let short = count(&judged(|seed| series(60, seed, WHITE, |_| 1000.0)), SteadyVerdict::TooShort);
    println!("at rest, 60 s: too short {short} of {SEEDS}");
    assert!(short <= 2 * FIVE_PERCENT, "{short}");
}

#[test]
fn a_drift_of_30_percent_is_not_called_steady_up_or_down() {
    for seconds in [60, 120, 300] {
        for sign in [-1.0, 1.0] {
            let level = |t: f64| 1000.0 * (1.0 + sign * 0.3 * (t / seconds as f64 - 0.5));
            let all = judged(|seed| series(seconds, seed, WHITE, level));
            let (steady, transient) = (count(&all, SteadyVerdict::Steady), count(&all, SteadyVerdict::Transient));
            println!("{:+} % over {seconds} s: steady {steady}, transient {transient} of {SEEDS}", sign * 30.0);
            assert!(steady <= ONE_PERCENT, "{seconds} {sign} {steady}");
            assert!(transient >= 380, "{seconds} {sign} {transient}");
        }
    }
}

#[test]
fn a_start_up_transient_is_cut_and_the_rest_is_steady() {
    for seconds in [120, 300] {
        let all = judged(|seed| series(seconds, seed, WHITE, |t| 1000.0 * (1.0 - 0.8 * (-t / 4.0).exp())));
        let cut = all.iter().filter(|j| j.verdict == SteadyVerdict::Steady && j.from >= 5).count();
        println!("start-up of 4 s, {seconds} s: cut and steady in {cut} of {SEEDS}");
        assert!(cut >= 340, "{seconds} {cut}");
    }
}

/// 35 % with a time constant of 600 s is 6.5 % over two minutes: it is found, or the interval of the change says that
/// as much could hide.
#[test]
fn a_decay_slower_than_the_trial_is_found_or_its_size_is_not_excluded() {
    let decay = |t: f64| 1000.0 * (1.0 - 0.35 * (1.0 - (-t / 600.0).exp()));
    for noise in [(0.0, 0.01), WHITE, (0.5, 0.05), (0.9, 0.05)] {
        let all = judged(|seed| series(120, seed, noise, decay));
        let steady: Vec<&SteadyState> = all.iter().filter(|j| j.verdict == SteadyVerdict::Steady).collect();
        let excluded = steady.iter().filter(|j| j.change_low > -0.04).count();
        println!(
            "decay of 6.5 % over 120 s, noise {noise:?}: steady {} of {SEEDS}, \
             of these with less than 4 % as the largest fall {excluded}",
            steady.len()
        );
        assert!(excluded <= FIVE_PERCENT / 2, "{noise:?} {excluded}");
    }
}

/// What `slow_change_possible` rests on: where 5 % hide, a change of 4 % is not excluded; where there is little noise,
/// it is.
#[test]
fn the_interval_of_the_change_is_neither_too_narrow_nor_too_wide() {
    for (seconds, noise) in [(60, (0.0, 0.01)), (120, (0.0, 0.01)), (120, WHITE), (300, WHITE), (300, (0.9, 0.05))] {
        let level = |t: f64| 1000.0 * (1.0 - 0.05 * (t / seconds as f64 - 0.5));
        let hidden = judged(|seed| series(seconds, seed, noise, level))
            .iter()
            .filter(|j| j.verdict == SteadyVerdict::Steady && j.change_low > -0.04)
            .count();
        println!("-5 % over {seconds} s, noise {noise:?}: steady and 4 % excluded in {hidden} of {SEEDS}");
        assert!(hidden <= FIVE_PERCENT, "{seconds} {noise:?} {hidden}");
    }
    for (seconds, allowed) in [(60, 40), (120, ONE_PERCENT)] {
        let loud = judged(|seed| series(seconds, seed, (0.0, 0.01), |_| 1000.0))
            .iter()
            .filter(|j| j.verdict == SteadyVerdict::Steady && j.change_low.abs().max(j.change_high) > 0.04)
            .count();
        println!("at rest with 1 % noise, {seconds} s: 4 % not excluded in {loud} of {SEEDS}");
        assert!(loud <= allowed, "{seconds} {loud}");
    }
}

#[test]
fn too_little_is_not_judged() {
    for n in [0, 5, 20, 39] {
        assert_eq!(steady_state(&vec![1.0; n]).verdict, SteadyVerdict::TooShort, "{n}");
    }
}

/// A step leaves residuals that hang together around any line; it is no noise all the same.
#[test]
fn a_step_is_no_steady_state() {
    for (seconds, to) in [(60, 2.0), (60, 0.7), (120, 0.7), (300, 0.7)] {
        let step = |t: f64| if t < 0.6 * seconds as f64 { 1000.0 } else { 1000.0 * to };
        let transient = count(&judged(|seed| series(seconds, seed, WHITE, step)), SteadyVerdict::Transient);
        println!("step to {to} in {seconds} s: transient {transient} of {SEEDS}");
        assert!(transient >= 390, "{seconds} {to} {transient}");
    }
}

/// Five operations a second: rounds of twelve seconds lie 30 % apart by chance alone.
#[test]
fn the_counting_noise_of_a_slow_rate_is_no_trend() {
    let slow = |seed: u64| -> Vec<f64> {
        let mut noise = Noise::new(seed);
        (0..60)
            .map(|_| {
                // Knuth's Poisson generator, mean 5.
                let (mut product, mut events) = (noise.uniform(), 0.0);
                while product > (-5.0_f64).exp() {
                    product *= noise.uniform();
                    events += 1.0;
                }
                events
            })
            .collect()
    };
    let transient = count(&judged(slow), SteadyVerdict::Transient);
    println!("5 operations/s at rest, 60 s: transient {transient} of {SEEDS}");
    assert!(transient <= FIVE_PERCENT, "{transient}");
}

#[test]
fn one_stall_is_no_trend() {
    for seconds in [60, 120, 300] {
        let transient = count(
            &judged(|seed| {
                let mut stalled = series(seconds, seed, WHITE, |_| 1000.0);
                let at = seconds / 4 + seed as usize % (seconds / 2);
                stalled[at..at + 4].fill(0.0);
                stalled
            }),
            SteadyVerdict::Transient,
        );
        println!("a stall of 4 s in {seconds} s: transient {transient} of {SEEDS}");
        // Four of sixty seconds put one of five rounds 33 % below the others: that is the rounds rule, and so it should
        // be.
        assert!(seconds == 60 || transient <= FIVE_PERCENT, "{seconds} {transient}");
    }
}

#[test]
fn a_constant_series_is_steady_from_its_first_second() {
    let judged = steady_state(&[7.0; 60]);
    assert_eq!((judged.from, judged.verdict, judged.rounds_range), (0, SteadyVerdict::Steady, 0.0));
    assert_eq!((judged.change_low, judged.change_high), (0.0, 0.0));
}
