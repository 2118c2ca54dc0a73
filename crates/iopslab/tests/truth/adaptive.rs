//! Runs that rest cells and stop early (`repetitions = "adaptive"`) beside ten repetitions of every cell: whole runs,
//! look after look, on cells that spread by 1.5 and 15 %, on machines that drift and whose trials resemble those before
//! them.
//!
//! Both see the same trials, as far as each goes. The simulator knows neither looks nor levels nor margins.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use analysis::{
    Analysis, LoadLevel, Metric, Next, Ratio, Status, StopsBecause, TrialMeasurement, Verdict, analyse, next_block,
};
use experiment::{Adaptive, Aim, Job, PlannedTrial};
use simulator::Simulation;
use workload::Random;

use crate::matrices::{Dice, Truths, key, truths};
use crate::rates::{at_least, at_most, is_whole, seeds};
use crate::story::{Story, each_seed, evidence, is_shown, measured_trial, noisy, priced, share};

/// Repetitions that an adaptive run is held against, and those that it has at the most.
const FIXED: u32 = 10;
const MOST: u32 = 12;
/// What is run is wrong where something else gives this much more for its money: the margin of practical importance.
const MARGIN: f64 = 1.05;
/// A volume that is never the limit, so that a CPU is.
const NEVER: u32 = 200_000;

/// What a run came to.
struct Outcome {
    analysis: Analysis,
    trials: usize,
    because: Option<StopsBecause>,
}

impl Outcome {
    /// What to run, where that is decided.
    fn run(&self) -> (Status, Option<&str>) {
        let answer = &self.analysis.recommendation;
        (answer.status, answer.run.as_deref())
    }
}

/// Ten repetitions of everything.
fn fixed(whole: &Job) -> (Outcome, Vec<TrialMeasurement>) {
    let simulation = Simulation::new(whole, whole.plan.place.truth().unwrap());
    let mut job = whole.clone();
    job.plan.trials.retain(|trial| trial.block <= FIXED);
    let trials: Vec<TrialMeasurement> =
        job.plan.trials.iter().map(|planned| measured_trial(&simulation, planned)).collect();
    let analysis = analyse(&evidence("fixed", &job, &trials));
    (Outcome { analysis, trials: trials.len(), because: None }, trials)
}

/// A run that looks at its evidence and goes on with what still matters. It sees trials that are `known` as they were.
fn adaptive(whole: &Job, known: &[TrialMeasurement]) -> Outcome {
    let simulation = Simulation::new(whole, whole.plan.place.truth().unwrap());
    let mut so_far = Adaptive {
        aim: Aim::Answer { horizon_months: None },
        blocks_min: 2,
        blocks_max: MOST,
        budget_s: None,
        budget_usd: None,
        called: Vec::new(),
        stopped: None,
        resting: Vec::new(),
    };
    let mut trials: Vec<TrialMeasurement> = Vec::new();
    loop {
        let mut job = whole.clone();
        job.plan.trials.retain(|trial| so_far.calls_for(trial.block, &trial.cell));
        job.plan.adaptive = Some(so_far.clone());
        let new: Vec<TrialMeasurement> = job
            .plan
            .trials
            .iter()
            .filter(|planned| found(&trials, planned).is_none())
            .map(|planned| found(known, planned).cloned().unwrap_or_else(|| measured_trial(&simulation, planned)))
            .collect();
        trials.extend(new);
        match next_block(&evidence("adaptive", &job, &trials), 0.0, &BTreeSet::new()).unwrap() {
            Next::Block(next) => so_far.called.push(next),
            Next::Stop { because, .. } => {
                let analysis = analyse(&evidence("adaptive", &job, &trials));
                return Outcome { analysis, trials: trials.len(), because: Some(because) };
            }
        }
    }
}

fn found<'a>(trials: &'a [TrialMeasurement], planned: &PlannedTrial) -> Option<&'a TrialMeasurement> {
    trials.iter().find(|trial| (trial.record.block, &trial.record.cell) == (planned.block, &planned.cell))
}

/// Volumes repeat within 1.5 %, CPUs within 15 %.
fn unequal(configurations: &[String], workload: &str, more: &str) -> Story {
    let mut story = noisy(configurations, 0.15, MOST);
    story.workload = workload.to_owned();
    story.truth = story.truth.replace("block_noise = 0.08", "block_noise = 0.02");
    story.truth(&format!("device_noise = 0.015\ndevice_block_noise = 0.002\n{more}"))
}

/// The same without any noise and drift, once.
fn without_noise(story: &Story, speeds: &str) -> Story {
    let truth = "read_cpu_us = 400\nwrite_cpu_us = 300\nrun_noise = 0.0\nblock_noise = 0.0\nsecond_noise = 0.0\n";
    Story { truth: format!("{truth}{speeds}"), repetitions: 1, ..story.clone() }
}

const PLACES: [&str; 3] = [
    "[[workload]]\nname = \"reads\"\nread = 0.95\nupdate = 0.05\n",
    "[[workload]]\nname = \"mixed\"\nread = 0.8\nupdate = 0.2\n",
    "[[workload]]\nname = \"even\"\nread = 0.6\nupdate = 0.4\n",
];

/// 6 to 24 cells: two to twenty configurations under one to three workloads. Half of them are limited by their volume
/// and half by their CPU; the best gives up to four times of the worst for its money, and in every fourth matrix two of
/// them give about the same.
fn matrix(seed: u64) -> (Story, Story) {
    let mut dice = Dice(Random::from_seed(seed.wrapping_mul(104_729) + 11));
    let (places, configurations) = loop {
        let (places, configurations) = (dice.pick(&[1_u64, 2, 3]), dice.pick(&[2_u64, 3, 4, 5, 6, 8, 12, 20]));
        if (6..=24).contains(&(places * configurations)) {
            break (places, configurations);
        }
    };
    let (mut all, mut speeds) = (Vec::new(), String::new());
    let mut value = 0.0;
    for i in 0..configurations {
        let is_volume = i % 2 == 0;
        let iops = if is_volume { dice.pick(&[400, 600, 900, 1300, 1900, 2700]) } else { NEVER };
        let speed = if is_volume { 1.0 } else { 0.7 + dice.0.next_unit() * 0.7 };
        // About what 4 CPUs do.
        let about = if is_volume { f64::from(iops) } else { 9_000.0 * speed };
        if !(i == 1 && dice.one_in(4)) {
            value = 4.0_f64.powf(dice.0.next_unit());
        }
        let name = format!("c{i}");
        all.push(priced(&name, iops, about / value));
        if !is_volume {
            write!(speeds, "{}{name} = {speed:.3}", if speeds.is_empty() { "" } else { ", " }).unwrap();
        }
    }
    let speeds = format!("speed = {{ {speeds} }}");
    let drift = dice.pick(&[0.0, 0.1, -0.1, 0.2]);
    let correlation = dice.pick(&[0.0, 0.5, 0.7]);
    let more = format!("{speeds}\ndrift = {drift:.1}\nrun_autocorrelation = {correlation:.1}");
    let mut story = unequal(&all, &PLACES[..places as usize].concat(), &more);
    write!(story.load, "\nseed = {}", 1 + seed % 1000).unwrap();
    let truth = without_noise(&story, &speeds);
    (story, truth)
}

/// Whether what is run gives less for its money than something else, in some place, by more than the margin.
fn is_wrong(outcome: &Outcome, truths: &Truths) -> bool {
    let (_, Some(run)) = outcome.run() else {
        return false;
    };
    let usd: BTreeMap<&str, f64> =
        outcome.analysis.cells.iter().filter_map(|c| Some((c.configuration.as_str(), c.usd_per_month?))).collect();
    let value = |name: &str, workload: &str, load: LoadLevel| truths[&key(name, workload, load)].rate / usd[name];
    outcome.analysis.cells.iter().any(|c| {
        let ours = value(run, &c.workload, c.load);
        value(&c.configuration, &c.workload, c.load) > ours * MARGIN
    })
}

/// What one matrix showed.
struct Study {
    cells: usize,
    same: bool,
    /// Whether ten other repetitions say the same as the ten: what nobody can be held to exceed by much.
    again: Option<bool>,
    contradict: bool,
    decided: (bool, bool),
    wrong: (bool, bool),
    time: f64,
    because: StopsBecause,
    seed: u64,
}

fn study(seed: u64, noise_seed: u64) -> Study {
    let (story, truth) = matrix(seed);
    let mut job = story.job();
    job.plan.place.truth_mut().unwrap().seed = noise_seed;
    let (fixed, trials) = fixed(&job);
    let adaptive = adaptive(&job, &trials);
    let truths = truths(&truth);
    let (one, other) = (fixed.run(), adaptive.run());
    let again = is_whole().then(|| {
        job.plan.place.truth_mut().unwrap().seed = noise_seed + 1_000_000;
        self::fixed(&job).0.run() == one
    });
    Study {
        cells: job.plan.cells.len(),
        same: one == other,
        again,
        contradict: one.1.is_some() && other.1.is_some() && one.1 != other.1,
        decided: (one.1.is_some(), other.1.is_some()),
        wrong: (is_wrong(&fixed, &truths), is_wrong(&adaptive, &truths)),
        time: adaptive.trials as f64 / fixed.trials as f64,
        because: adaptive.because.unwrap(),
        seed,
    }
}

fn percent(all: &[Study], is: impl Fn(&Study) -> bool) -> f64 {
    100.0 * share(&all.iter().map(is).collect::<Vec<_>>())
}

#[test]
fn an_adaptive_run_says_what_ten_repetitions_say_as_often_as_ten_others_and_sooner() {
    let n = seeds(6, 600);
    let only = std::env::var("IOPSLAB_MATRIX").ok().and_then(|seed| seed.parse::<u64>().ok());
    // Each has noise of its own, from 1000 on.
    let first = unequal(&[priced("a", 400, 100.0)], PLACES[0], "").job();
    let all: Vec<Study> = match only {
        Some(seed) => vec![study(seed, 1000 + seed)],
        None => each_seed(n, &first, |job| {
            let noise_seed = job.plan.place.truth().unwrap().seed;
            study(noise_seed - 1000, noise_seed)
        }),
    };
    let mut times: Vec<f64> = all.iter().map(|s| s.time).collect();
    times.sort_by(f64::total_cmp);
    let (median, mean) = (times[times.len() / 2], times.iter().sum::<f64>() / times.len() as f64);
    let cells = all.iter().map(|s| s.cells);
    let stopped = |is: fn(StopsBecause) -> bool| percent(&all, |s| is(s.because));
    println!(
        "| {n} matrices of {} to {} cells at 1.5 and 15 % noise, drift up to 20 %, autocorrelation up to 0.7: \
         adaptive, at most {MOST} blocks, beside {FIXED} repetitions | same verdict: {:.1} % (ten other repetitions: \
         {:.1} %); decided {:.1} and {:.1} %; another configuration: {:.1} %; runs what is more than 5 % worse: {:.1} \
         and {:.1} %; time: median {:.1} %, mean {:.1} %; stopped as decided {:.1} %, as out of reach {:.1} %, after \
         {MOST} blocks {:.1} % |",
        cells.clone().min().unwrap_or(0),
        cells.max().unwrap_or(0),
        percent(&all, |s| s.same),
        percent(&all, |s| s.again == Some(true)),
        percent(&all, |s| s.decided.1),
        percent(&all, |s| s.decided.0),
        percent(&all, |s| s.contradict),
        percent(&all, |s| s.wrong.1),
        percent(&all, |s| s.wrong.0),
        median * 100.0,
        mean * 100.0,
        stopped(|b| b == StopsBecause::Decided),
        stopped(|b| matches!(b, StopsBecause::OutOfReach { .. })),
        stopped(|b| b == StopsBecause::MostBlocks),
    );
    for s in all.iter().filter(|s| !s.same) {
        println!("seed {}: decided {:?} (fixed, adaptive), {:?} after {:.2}", s.seed, s.decided, s.because, s.time);
    }
    // Near ties are among them: what ten other repetitions say is what anybody can be held to.
    let others = if is_whole() { percent(&all, |s| s.again == Some(true)) / 100.0 } else { 0.9 };
    assert!(at_least(percent(&all, |s| s.same) / 100.0, others, n));
    assert!(at_most(percent(&all, |s| s.contradict) / 100.0, 0.01, n));
    assert!(at_most(percent(&all, |s| s.wrong.1) / 100.0, 0.05, n));
    assert!(!is_whole() || median <= 1.0 / 3.0, "{median}");
}

/// Cells that are equal in pairs of one kind, at prices that leave the answer open, so that a run goes from look to
/// look: whatever it calls different is wrong.
#[test]
fn equal_cells_are_not_called_different_over_whole_adaptive_runs() {
    let speed = |name: &str| format!("{name} = 1.0");
    let (quiet, noisy) = (["a", "b", "c"], ["x", "y", "z"]);
    // What a CPU does for its price is about what a volume does for its own, and no two are one hardware.
    let volumes = quiet.iter().zip(0_u32..).map(|(name, i)| priced(name, 600, 100.0 + f64::from(i)));
    let cpus = noisy.iter().zip(0_u32..).map(|(name, i)| priced(name, NEVER, 1400.0 + 14.0 * f64::from(i)));
    let configurations: Vec<String> = volumes.chain(cpus).collect();
    let speeds = noisy.map(speed).join(", ");
    for (drift, correlation, places) in [(0.0, 0.0, 1), (0.2, 0.0, 1), (-0.2, 0.7, 1), (0.1, 0.5, 2)] {
        if !is_whole() && correlation != 0.7 {
            continue;
        }
        let n = seeds(12, 200);
        let more = format!("speed = {{ {speeds} }}\ndrift = {drift:.1}\nrun_autocorrelation = {correlation:.1}");
        let job = unequal(&configurations, &PLACES[..places].concat(), &more).job();
        let seen = each_seed(n, &job, |job| {
            let outcome = adaptive(job, &[]);
            let cells = outcome.analysis.cells.len() as f64 * f64::from(FIXED);
            (differs(&outcome.analysis, &quiet, &noisy), outcome.trials as f64 / cells)
        });
        let false_ones = share(&seen.iter().map(|s| s.0).collect::<Vec<_>>());
        let time = seen.iter().map(|s| s.1).sum::<f64>() / seen.len() as f64;
        println!(
            "| A/A, adaptive, three volumes at 1.5 % and three CPUs at 15 % noise x {places}, drift {:+.0} %, \
             autocorrelation {correlation:.1}, {n} seeds | equal cells called different anywhere: {:.1} %; time: mean \
             {:.1} % of {FIXED} repetitions |",
            drift * 100.0,
            false_ones * 100.0,
            time * 100.0
        );
        assert!(at_most(false_ones, 0.05, n), "{false_ones}");
    }
}

/// Whether any two of one kind are called different: against the baseline, against the best, or by a step of money.
fn differs(analysis: &Analysis, quiet: &[&str], noisy: &[&str]) -> bool {
    let are_alike = |a: &str, b: &str| [quiet, noisy].iter().any(|kind| kind.contains(&a) && kind.contains(&b));
    let shown = |a: &str, ratio: Option<&Ratio>| ratio.is_some_and(|r| are_alike(a, &r.to) && is_shown(Some(r)));
    let by_cells = analysis.cells.iter().any(|c| {
        shown(&c.configuration, c.ratio_to_baseline.as_ref()) || shown(&c.configuration, c.ratio_to_slowest.as_ref())
    });
    let by_steps = analysis.value_of_money.iter().any(|s| shown(&s.to, Some(&s.throughput_ratio)));
    let by_rank = analysis.decision.iter().filter(|d| d.metric == Metric::Throughput).any(|d| {
        let is_other = |verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
        d.ranking.iter().any(|r| are_alike(&r.configuration, &d.best) && is_other(r.verdict))
    });
    by_cells || by_steps || by_rank
}
