//! The rates that docs/method.md quotes. `make truth` measures all of them; `make test` a part of them, with wider
//! bounds.

use analysis::{Gate, GateOutcome, ValueVerdict, compare};

use crate::story::{Story, each_seed, evidence, iops, is_shown, measured, noisy, over_seeds, priced, share};

/// Experiments for a rate: (short, whole).
///
/// What the short ones still find: of 12, 20 and 40 experiments 3, 4 and 7 that are wrong are more than [`at_most`]
/// allows where 5 % may be. Where 40 % are wrong, that comes about in 92, 98 and more than 99 of 100 (binomial).
pub fn seeds(short: u64, whole: u64) -> u64 {
    if is_whole() { whole } else { short }
}

pub fn is_whole() -> bool {
    std::env::var_os("IOPSLAB_TRUTH").is_some()
}

/// A bound that holds for the whole table, wider where few experiments were made: three standard errors of a share.
pub fn at_most(rate: f64, bound: f64, n: u64) -> bool {
    let slack = if is_whole() { 0.0 } else { 3.0 * (bound * (1.0 - bound) / n as f64).sqrt() };
    rate <= bound + slack + 1e-9
}

pub fn at_least(rate: f64, bound: f64, n: u64) -> bool {
    let slack = if is_whole() { 0.0 } else { 3.0 * (bound * (1.0 - bound) / n as f64).sqrt() };
    rate >= bound - slack - 1e-9
}

pub const THREE: &str = "[[workload]]\nname = \"reads\"\nread = 0.8\nupdate = 0.2\n[[workload]]\nname = \"mixed\"\n\
                         read = 0.5\nupdate = 0.5\n\
                     [[workload]]\nname = \"writes\"\nread = 0.2\nupdate = 0.8\n";

/// One of the two kinds of experiment: bounded by IOPS (the second configuration with `more` times as many), or by CPU.
fn kind(io_bound: bool, more: f64, three_workloads: bool, run_noise: f64, repetitions: u32) -> Story {
    let second = if io_bound { iops("b", (600.0 * more).round() as u32) } else { iops("b", 200_000) };
    let first = iops("a", if io_bound { 600 } else { 200_000 });
    let mut story = noisy(&[first, second], run_noise, repetitions);
    if three_workloads {
        story.workload = THREE.into();
    }
    if !io_bound && more != 1.0 {
        story = story.truth(&format!("speed = {{ b = {more} }}"));
    }
    story
}

fn name(io_bound: bool) -> &'static str {
    if io_bound { "IOPS-bound" } else { "CPU-bound" }
}

/// Configuration b against a, in each workload.
fn shown(analysis: &analysis::Analysis) -> Vec<bool> {
    let of_b = analysis.cells.iter().filter(|c| c.configuration == "b");
    of_b.map(|c| is_shown(c.ratio_to_baseline.as_ref())).collect()
}

#[test]
fn equal_configurations_are_called_different_in_at_most_5_percent() {
    for io_bound in [true, false] {
        for repetitions in [3, 5] {
            for three in [false, true] {
                let n = seeds(40, 400);
                if !is_whole() && (three != (repetitions == 3)) {
                    continue;
                }
                let job = kind(io_bound, 1.0, three, 0.08, repetitions).job();
                let any = share(&over_seeds(n, &job, |a| shown(a).contains(&true)));
                println!(
                    "| A/A, {}, 2 x {}, {repetitions} repetitions, 8 % noise, {n} seeds | called different anywhere: \
                     {:.1} % |",
                    name(io_bound),
                    if three { 3 } else { 1 },
                    any * 100.0
                );
                assert!(at_most(any, 0.05, n), "{any}");
            }
        }
    }
}

#[test]
fn thirty_percent_at_8_percent_noise_is_shown_with_three_repetitions() {
    for io_bound in [true, false] {
        for repetitions in [3, 5] {
            if !is_whole() && repetitions == 5 {
                continue;
            }
            let n = seeds(24, 100);
            let job = kind(io_bound, 1.3, true, 0.08, repetitions).job();
            let seen = over_seeds(n, &job, shown);
            let rate = share(&seen.into_iter().flatten().collect::<Vec<_>>());
            println!(
                "| true +30 %, {}, 2 x 3, {repetitions} repetitions, 8 % noise, {n} seeds | shown: {:.0} % of cells |",
                name(io_bound),
                rate * 100.0
            );
            assert!(at_least(rate, 0.70, n), "{rate}");
        }
    }
}

#[test]
fn promised_power_is_kept() {
    for io_bound in [true, false] {
        for (repetitions, three) in [(3, false), (3, true), (5, false), (5, true)] {
            // Both kinds of limit, and both numbers of workloads.
            if !is_whole() && (repetitions, three) != (3, io_bound) {
                continue;
            }
            let n = seeds(20, 100);
            let job = kind(io_bound, 1.0, three, 0.08, repetitions).job();
            let promised: Vec<f64> = over_seeds(n, &job, |a| {
                let of_b = a.cells.iter().find(|c| c.configuration == "b").unwrap();
                of_b.ratio_to_baseline.as_ref().unwrap().smallest_detectable.unwrap()
            });
            // Each experiment's promise is planted in an experiment of its own.
            let kept: Vec<bool> = (0..n as usize)
                .map(|i| {
                    let mut job = kind(io_bound, promised[i], three, 0.08, repetitions).job();
                    job.plan.place.truth_mut().unwrap().seed = 50_000 + i as u64;
                    job
                })
                .map(|job| shown(&crate::story::analysed(&job))[0])
                .collect();
            let rate = share(&kept);
            let mut sorted = promised.clone();
            sorted.sort_by(f64::total_cmp);
            println!(
                "| promised power, {}, 2 x {}, {repetitions} repetitions, 8 % noise, {n} seeds | \"would be shown in \
                 80 of 100\" (median promise {:.2} times): shown in {:.0} |",
                name(io_bound),
                if three { 3 } else { 1 },
                sorted[sorted.len() / 2],
                rate * 100.0
            );
            assert!(at_least(rate, 0.70, n) && at_most(rate, 0.90, n), "{rate}");
        }
    }
}

/// A gain of about 1.5 for `price` times the money that it is worth: the true gain is that of the same experiment
/// without noise, because a faster volume also fills memory faster.
fn money(io_bound: bool, price: f64, repetitions: u32, n: u64) -> (f64, f64) {
    let volume = |more: f64| {
        if io_bound { (600.0 * more).round() as u32 } else { 200_000 }
    };
    let story = |noise: f64, repetitions: u32, usd: f64| {
        let story = noisy(&[priced("a", volume(1.0), 100.0), priced("b", volume(1.5), usd)], noise, repetitions);
        if io_bound { story } else { story.truth("speed = { b = 1.5 }") }
    };
    let mut quiet = story(0.0, 3, 150.0);
    quiet.truth = quiet.truth.replace("block_noise = 0.08", "block_noise = 0.0\nsecond_noise = 0.0");
    let gain = quiet.analysis().value_of_money[0].throughput_ratio.median;
    assert!((1.4..1.6).contains(&gain), "{gain}");
    let seen = over_seeds(n, &story(0.05, repetitions, 100.0 * gain * price).job(), |a| a.value_of_money[0].verdict);
    let of = |verdict| share(&seen.iter().map(|v| *v == verdict).collect::<Vec<_>>());
    (of(ValueVerdict::WorthIt), of(ValueVerdict::NotWorthIt) + of(ValueVerdict::Dominated))
}

#[test]
fn break_even_is_not_decided_and_wrong_verdicts_are_rare() {
    for io_bound in [true, false] {
        for repetitions in [3, 5] {
            if !is_whole() && repetitions == 5 {
                continue;
            }
            let n = seeds(24, 100);
            let (worth, not) = money(io_bound, 1.0, repetitions, n);
            println!(
                "| gain 1.5 at price 1.5, {}, {repetitions} repetitions, 5 % noise, {n} seeds | decided: {:.0} % |",
                name(io_bound),
                (worth + not) * 100.0
            );
            assert!(at_most(worth + not, 0.10, n), "{worth} {not}");
            let (worth, _) = money(io_bound, 1.6 / 1.5, repetitions, n);
            let (_, not) = money(io_bound, 1.4 / 1.5, repetitions, n);
            println!(
                "| gain 1.5 at price 1.6 and at 1.4, {}, {repetitions} repetitions, 5 % noise, {n} seeds | wrong \
                 \"worth it\" {:.0} %, wrong \"not worth it\" {:.0} % |",
                name(io_bound),
                worth * 100.0,
                not * 100.0
            );
            assert!(at_most(worth, 0.05, n) && at_most(not, 0.05, n), "{worth} {not}");
        }
    }
}

/// What is not two clouds of one normal distribution: slow modes, drift, autocorrelation, and quiet cells beside noisy
/// ones.
#[test]
fn equal_configurations_under_noise_of_other_shapes() {
    if !is_whole() {
        return;
    }
    let n = 400;
    for (what, truth) in [
        ("a fifth of the trials at 0.8 of the speed", "slow_share = 0.2\nslow_factor = 0.8"),
        ("20 % drift over the run", "drift = 0.2"),
        ("autocorrelation 0.7 from trial to trial", "run_autocorrelation = 0.7"),
    ] {
        let job = kind(false, 1.0, true, 0.05, 3).truth(truth).job();
        let any = share(&over_seeds(n, &job, |a| shown(a).contains(&true)));
        println!(
            "| A/A, CPU-bound, 2 x 3, 3 repetitions, 5 % noise and {what}, {n} seeds | called different anywhere: \
             {:.1} % |",
            any * 100.0
        );
    }
    // Reads bounded by IOPS with 2 % of noise, writes by CPU with 8 %.
    let job = kind(true, 1.0, true, 0.08, 3).truth("device_noise = 0.02").job();
    let any = share(&over_seeds(n, &job, |a| shown(a).contains(&true)));
    println!(
        "| A/A, IOPS-bound reads at 2 % and CPU-bound writes at 8 % noise, 2 x 3, 3 repetitions, {n} seeds | called \
         different anywhere: {:.1} % |",
        any * 100.0
    );
}

#[test]
fn a_gate_is_inconclusive_where_it_could_not_see() {
    let story = |b: f64, noise: f64, repetitions: u32| {
        let mut story = noisy(&[iops("a", 200_000)], noise, repetitions);
        story.truth = story.truth.replace("block_noise = 0.08", &format!("block_noise = 0.02\nspeed = {{ a = {b} }}"));
        story.job()
    };
    let n = seeds(20, 200);
    for (change, noise, repetitions) in
        [(0.94, 0.04, 3), (0.94, 0.08, 5), (1.0, 0.04, 3), (1.0, 0.08, 1), (0.80, 0.04, 3), (1.0, 0.01, 5)]
    {
        let after = story(change, noise, repetitions);
        let before = story(1.0, noise, repetitions);
        let gate = Gate::parse("throughput < -5%").unwrap();
        let outcomes = each_seed(n, &after, |after| {
            let mut before = before.clone();
            before.plan.place.truth_mut().unwrap().seed = after.plan.place.truth().unwrap().seed + 700_000;
            let (a, b) = (measured(&before), measured(after));
            gate.decide(&compare(&evidence("a", &before, &a), &evidence("b", after, &b))).outcome
        });
        let of = |outcome| share(&outcomes.iter().map(|o| *o == outcome).collect::<Vec<_>>());
        let (passed, failed) = (of(GateOutcome::Passed), of(GateOutcome::Failed));
        println!(
            "| gate `throughput < -5%`, true {:+.0} %, {:.0} % noise, {repetitions} repetitions, {n} seeds | passed \
             {:.0} %, failed {:.0} %, inconclusive {:.0} % |",
            (change - 1.0) * 100.0,
            noise * 100.0,
            passed * 100.0,
            failed * 100.0,
            (1.0 - passed - failed) * 100.0
        );
        if change < 0.95 {
            assert!(at_most(passed, 0.05, n), "{passed}");
        } else {
            assert!(at_most(failed, 0.05, n), "{failed}");
        }
        if repetitions < 3 {
            assert_eq!((passed, failed), (0.0, 0.0), "single repetitions decide nothing");
        }
        if noise <= 0.01 {
            assert!(at_least(passed, 0.6, n), "a quiet machine passes: {passed}");
        }
    }
}
