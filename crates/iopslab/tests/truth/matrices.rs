//! Random matrices with bursts, several places, clusters, objectives, sick machines and variants: does any sentence of
//! the document contradict the document, or what is true?
//!
//! What is true is what the same simulation does without noise, without anything that is sick, and from empty buckets:
//! counted from its own records, by none of the rules of the analysis. A verdict contradicts it where it is wrong by
//! more than the margin of practical importance.

use std::collections::BTreeMap;

use analysis::{
    Analysis, AnswerOutcome, Criterion, DecidedBy, LoadLevel, Meets, OperationKind, Status, ValueVerdict, Verdict,
};
use evidence::Series;
use hdrhistogram::Histogram;
use simulator::{SimulatedTrial, Simulation};
use workload::Random;

use crate::rates::seeds;
use crate::story::{Story, analysed, gp2, noisy, priced};
use crate::words::contradictions::contradictions;

/// A verdict is wrong beyond this factor: the margin.
const MARGIN: f64 = 1.05;
/// What is called the same may differ by the margin, and by what noise explains.
const SAME: f64 = 1.12;
/// Tails spread more than throughput, and lie higher with noise than without.
const TAIL: f64 = 1.4;

/// An experiment, and the same without noise and sickness.
struct Matrix {
    story: Story,
    truth: Story,
    what: Vec<&'static str>,
}

/// Numbers below `n` from a seed.
pub struct Dice(pub Random);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        (self.0.next_unit() * n as f64) as u64
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A configuration of the kinds that there are; its text with what its bucket starts with.
fn configuration(name: &str, dice: &mut Dice, what: &mut Vec<&'static str>) -> String {
    let usd = 100.0 + dice.below(40) as f64 * 10.0;
    let volume = dice.pick(&[600, 600, 1200, 2400, 6000, 100_000]);
    match dice.below(5) {
        0 => {
            let burst = dice.pick(&["", ", burst = \"full\"", ", burst = \"full\""]);
            what.push("burst");
            gp2(name, dice.pick(&[100, 200, 500]), burst) + &format!("price_usd_per_month = {usd:.2}\n")
        }
        1 => {
            what.push("cluster");
            let level = dice.pick(&["one", "quorum"]);
            priced(name, volume, usd) + &format!("nodes = 3\nconsistency = \"{level}\"\n")
        }
        _ => priced(name, volume, usd),
    }
}

fn workloads(dice: &mut Dice, what: &mut Vec<&'static str>) -> String {
    const READS: &str = "[[workload]]\nname = \"reads\"\nread = 0.95\nupdate = 0.05\n";
    const MIXED: &str = "[[workload]]\nname = \"mixed\"\nread = 0.5\nupdate = 0.5\n";
    match dice.below(3) {
        0 => READS.to_owned(),
        1 => MIXED.to_owned(),
        _ => {
            what.push("workloads");
            format!("{READS}{MIXED}")
        }
    }
}

/// The load, and an objective or none.
fn load(dice: &mut Dice, what: &mut Vec<&'static str>) -> (String, String) {
    let rate = 200 + 50 * dice.below(40);
    let loads = match dice.below(4) {
        0 => format!("rate = [{rate}.0]"),
        1 => {
            what.push("rates");
            format!("rate = [{rate}.0, {}.0]", 2 * rate)
        }
        2 => "concurrency = [64]".to_owned(),
        _ => "concurrency = [16, 64]".to_owned(),
    };
    let objective = match dice.below(3) {
        0 => format!("[objective]\np99_ms = {}", 2 + dice.below(80)),
        1 if loads.starts_with("concurrency") => format!("[objective]\nthroughput = {}", 200 + 100 * dice.below(60)),
        _ => String::new(),
    };
    if !objective.is_empty() {
        what.push("objective");
    }
    (format!("{loads}\nwarmup_s = 5\nduration_s = 45\ncache = \"warm\""), objective)
}

/// Something that goes wrong with the machine of one configuration, or of all.
fn sickness(names: &[String], dice: &mut Dice) -> String {
    let (kind, amount) = dice.pick(&[
        ("slow_disk", 0.5),
        ("slow_disk", 0.8),
        ("steal", 0.15),
        ("throttle", 0.4),
        ("garbage_collection", 0.1),
        ("garbage_collection", 0.4),
        ("stall", 3.0),
    ]);
    let of = match dice.one_in(4) {
        true => String::new(),
        false => format!("configuration = \"{}\"\n", names[dice.below(names.len() as u64) as usize]),
    };
    let blocks = if dice.one_in(3) { "blocks = [1, 2]\n" } else { "" };
    format!("kind = \"{kind}\"\namount = {amount}\n{of}{blocks}")
}

fn matrix(seed: u64) -> Matrix {
    let mut dice = Dice(Random::from_seed(seed.wrapping_mul(7919) + 17));
    let mut what = Vec::new();
    let names: Vec<String> = (0..2 + dice.below(3)).map(|i| format!("c{i}")).collect();
    let all: Vec<String> = names.iter().map(|name| configuration(name, &mut dice, &mut what)).collect();
    let noise = dice.pick(&[0.005, 0.02, 0.05]);
    let mut story = noisy(&all, noise, 3 + dice.pick(&[0, 0, 1, 2]));
    story.workload = workloads(&mut dice, &mut what);
    (story.load, story.rest) = load(&mut dice, &mut what);
    story.truth.push_str("\nsecond_noise = 0.02");
    if dice.one_in(3) {
        what.push("variant");
        let effect =
            dice.pick(&["speed = 1.3", "speed = 1.02", "misses = 0.5", "cpu = 1.3", "misses = 1.2\ncpu = 0.8"]);
        story.configurations.push_str(
            "[[variant]]\nname = \"v\"\nsettings = { table = { compression = { chunk_length_in_kb = 4 } } }\n",
        );
        story.truth.push_str(&format!("\n[provider.simulated.settings.v]\n{effect}"));
    }
    let mut truth = story.clone();
    truth.configurations = truth.configurations.replace(", burst = \"full\"", "");
    truth.repetitions = 1;
    truth.load = with_rates_beside(&truth.load);
    let quiet = |text: &str, key: &str| {
        let line = |line: &str| {
            if line.starts_with(key) { format!("{key} = 0.0") } else { line.to_owned() }
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    for key in ["run_noise", "block_noise", "second_noise"] {
        truth.truth = quiet(&truth.truth, key);
    }
    if dice.one_in(2) {
        what.push("sick");
        let fault = sickness(&names, &mut dice);
        if fault.contains("garbage_collection") && fault.contains("amount = 0.1\n") {
            // A database that collects for a tenth of the time does so on a sound machine, too: its tails are its own.
            truth = truth.fault(&fault.replace("blocks = [1, 2]\n", ""));
        }
        story = story.fault(&fault);
    }
    Matrix { story, truth, what }
}

/// The load with rates on both sides of each.
fn with_rates_beside(load: &str) -> String {
    let Some((rates, rest)) = load.strip_prefix("rate = [").and_then(|l| l.split_once(']')) else {
        return load.to_owned();
    };
    let given = rates.split(", ").map(|rate| rate.parse::<f64>().unwrap());
    let mut all: Vec<f64> = given.flat_map(|rate| [beside(rate, 0.9), rate, beside(rate, 1.1)]).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let all: Vec<String> = all.iter().map(|rate| format!("{rate:.1}")).collect();
    format!("rate = [{}]{rest}", all.join(", "))
}

/// What a cell truly does: operations a second, and p99 of the worst kind, microseconds.
#[derive(Debug, Clone, Copy)]
pub struct True {
    pub rate: f64,
    pub p99_us: f64,
}

pub type Truths = BTreeMap<(String, String, String), True>;

pub fn key(configuration: &str, workload: &str, load: LoadLevel) -> (String, String, String) {
    (configuration.to_owned(), workload.to_owned(), format!("{load:?}"))
}

/// A rate a little above or below another, as the experiment of the truth has it.
fn beside(rate: f64, slack: f64) -> f64 {
    match slack {
        s if s > 1.0 => (rate * MARGIN).round(),
        _ => (rate / MARGIN).round(),
    }
}

pub fn truths(story: &Story) -> Truths {
    let job = story.job();
    let simulation = Simulation::new(&job, job.plan.place.truth().unwrap());
    let of_trial = |trial: &SimulatedTrial| {
        let client = trial.record.client.as_ref().unwrap();
        let mut kinds: BTreeMap<OperationKind, Histogram<u64>> = BTreeMap::new();
        for interval in trial.intervals.iter().filter(|i| i.start_s >= 0.0) {
            if let Series::Response(kind) = interval.series {
                let all = kinds.entry(kind).or_insert_with(evidence::empty_histogram);
                all.add(&interval.histogram).unwrap();
            }
        }
        let worst = kinds.values().map(|all| all.value_at_quantile(0.99) as f64).fold(0.0, f64::max);
        let completed = client.completed.values().sum::<u64>() as f64;
        True { rate: completed / client.measured_s, p99_us: worst }
    };
    let trials = job.plan.trials.iter().map(|planned| simulation.trial(planned).unwrap());
    let all = trials.map(|t| (key(&t.record.configuration, &t.record.workload, t.record.load), of_trial(&t)));
    all.collect()
}

/// What the document says, beside what is true.
struct Said<'a> {
    analysis: &'a Analysis,
    truths: &'a Truths,
}

impl Said<'_> {
    fn rate(&self, configuration: &str, workload: &str, load: LoadLevel) -> f64 {
        self.truths[&key(configuration, workload, load)].rate
    }

    fn usd(&self, configuration: &str) -> f64 {
        let mut cells = self.analysis.cells.iter().filter(|c| c.configuration == configuration);
        cells.find_map(|c| c.usd_per_month).unwrap()
    }

    /// Verdicts on steps of money, and of no money.
    fn steps(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for s in self.analysis.value_of_money.iter().filter(|s| s.withheld.is_none()) {
            let gain = self.rate(&s.to, &s.workload, s.load) / self.rate(&s.from, &s.workload, s.load);
            let value = gain / s.cost_ratio;
            let is_wrong = match s.verdict {
                ValueVerdict::WorthIt => value < 1.0 / MARGIN,
                ValueVerdict::NotWorthIt => value > MARGIN,
                ValueVerdict::Dominated => gain > SAME,
                ValueVerdict::Same => !(1.0 / SAME..SAME).contains(&gain),
                ValueVerdict::BreakEven => !(1.0 / SAME..SAME).contains(&value),
                ValueVerdict::NotDecided => false,
            };
            if is_wrong {
                let (from, to, said) = (&s.from, &s.to, s.throughput_ratio.median);
                let at = (&s.workload, s.load);
                wrong.push(format!(
                    "{to} from {from} at {at:?}: {:?} by {said:.3}, truly {gain:.3} for {:.3}",
                    s.verdict, s.cost_ratio
                ));
            }
        }
        for s in &self.analysis.free_steps {
            let gain = self.rate(&s.to, &s.workload, s.load) / self.rate(&s.from, &s.workload, s.load);
            if s.throughput_ratio.verdict == Verdict::Faster && gain < 1.0 / MARGIN {
                wrong.push(format!("free: {} is not faster than {}: {gain:.3}", s.to, s.from));
            }
        }
        wrong
    }

    /// Whether a configuration truly meets a place's objective, clearly (`slack` above 1) or nearly (below 1): at a
    /// rate so many times the given one, beside a demand so many times the stated one.
    fn meets(&self, configuration: &str, workload: &str, load: Option<LoadLevel>, slack: f64) -> bool {
        let objective = self.analysis.objective.as_ref().unwrap();
        let of_load = |load: LoadLevel| {
            let (load, offered) = match load {
                LoadLevel::Rate { operations_per_s, arrivals } => {
                    let operations_per_s = beside(operations_per_s, slack);
                    (LoadLevel::Rate { operations_per_s, arrivals }, Some(operations_per_s))
                }
                LoadLevel::Concurrency(_) => (load, None),
            };
            let truth = self.truths[&key(configuration, workload, load)];
            let tail = if slack > 1.0 { TAIL } else { 1.0 / TAIL };
            let latency = objective.latency.iter().all(|bound| truth.p99_us * tail <= bound.limit_us);
            let held = offered.is_none_or(|offered| truth.rate >= offered * 0.98);
            let carries = |demand: f64| truth.rate * objective.usable_share() >= demand * slack;
            latency && held && objective.throughput.is_none_or(carries)
        };
        let mut here =
            self.analysis.cells.iter().filter(|c| c.configuration == configuration && c.workload == workload);
        here.any(|c| load.is_none_or(|load| load == c.load) && of_load(c.load))
    }

    /// Candidates of each place.
    fn candidates(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for place in &self.analysis.recommendation.places {
            for c in &place.candidates {
                let meets = |slack: f64| self.meets(&c.configuration, &place.workload, place.load, slack);
                let is_wrong = match c.meets {
                    Meets::Yes => !meets(1.0 / MARGIN),
                    Meets::No => meets(MARGIN),
                    Meets::NotDecided => false,
                };
                if is_wrong {
                    let at = (&place.workload, place.load);
                    wrong.push(format!("{} at {at:?}: meets {:?}, {:?}", c.configuration, c.meets, c.checks));
                }
            }
        }
        wrong
    }

    /// What may be run.
    fn run(&self) -> Vec<String> {
        let recommendation = &self.analysis.recommendation;
        let Some(run) = &recommendation.run else { return Vec::new() };
        assert_eq!(recommendation.status, Status::Decided);
        let any = recommendation.any_of.iter().flat_map(|any| &any.configurations);
        let mut wrong = Vec::new();
        let places = &recommendation.places;
        for name in any.chain([run]) {
            for place in places {
                let asks = matches!(place.by, DecidedBy::Objective | DecidedBy::Capacity);
                if asks && !self.meets(name, &place.workload, place.load, 1.0 / MARGIN) {
                    wrong.push(format!("run {name}, which does not meet it under {}", place.workload));
                }
                if place.by == DecidedBy::Value && matches!(place.outcome, AnswerOutcome::Run { .. }) {
                    let load = place.load.unwrap();
                    let value = |name: &str| self.rate(name, &place.workload, load) / self.usd(name);
                    let here = self.analysis.cells.iter().filter(|c| c.workload == place.workload && c.load == load);
                    let judged = here.filter(|c| c.valid_trials > 0).map(|c| c.configuration.as_str());
                    for better in judged.filter(|other| value(other) > value(name) * SAME) {
                        let by = value(better) / value(name);
                        wrong.push(format!(
                            "run {name}, but {better} gives {by:.3} of its value under {}",
                            place.workload
                        ));
                    }
                }
            }
        }
        let asks =
            places.iter().all(|p| p.by == DecidedBy::Objective && !matches!(p.load, Some(LoadLevel::Concurrency(_))));
        for cheaper in self.analysis.configurations.iter().map(|c| c.name.as_str()) {
            let is_judged = self.analysis.cells.iter().any(|c| c.configuration == cheaper && c.valid_trials > 0);
            let meets_all = || places.iter().all(|p| self.meets(cheaper, &p.workload, p.load, MARGIN));
            if asks && is_judged && self.usd(cheaper) < self.usd(run) - 0.01 && meets_all() {
                wrong.push(format!("run {run}, but {cheaper} meets it in every place for less"));
            }
        }
        wrong
    }

    /// What one part of the document says and another denies.
    fn document(&self) -> Vec<String> {
        let recommendation = &self.analysis.recommendation;
        let mut wrong = Vec::new();
        let any = recommendation.any_of.iter().flat_map(|any| &any.configurations);
        let run: Vec<&String> = any.chain(&recommendation.run).collect();
        for s in self.analysis.value_of_money.iter().filter(|s| s.verdict == ValueVerdict::Dominated) {
            let is_by_value = |p: &&analysis::WorkloadAnswer| {
                p.by == DecidedBy::Value
                    && p.workload == s.workload
                    && p.load == Some(s.load)
                    && matches!(p.outcome, AnswerOutcome::Run { .. })
            };
            if run.contains(&&s.to) && recommendation.places.iter().any(|p| is_by_value(&p)) {
                wrong.push(format!("{} may be run and is dominated by {}", s.to, s.from));
            }
        }
        if let Some(run) = &recommendation.run {
            for place in recommendation.places.iter().filter(|p| !p.candidates.is_empty()) {
                let own = place.candidates.iter().find(|c| c.configuration == *run);
                if own.is_none_or(|c| c.meets != Meets::Yes) {
                    wrong.push(format!("run {run}, which is not shown to meet it under {}", place.workload));
                }
            }
        }
        for capacity in recommendation.places.iter().flat_map(|p| &p.candidates).flat_map(|c| &c.checks) {
            if let (Criterion::Throughput { demand }, Some(range), Meets::Yes) =
                (capacity.what, capacity.measured, capacity.meets)
                && range.low < demand
            {
                wrong.push(format!("carries {demand} with {range:?}"));
            }
        }
        wrong
    }
}

#[test]
fn no_sentence_contradicts_the_document_or_the_truth() {
    let n = seeds(6, 300);
    let only = std::env::var("IOPSLAB_MATRIX").ok().and_then(|seed| seed.parse::<u64>().ok());
    let mut found: Vec<String> = Vec::new();
    let mut decided = 0;
    let seeds: Vec<u64> = only.map_or_else(|| (0..n).collect(), |seed| vec![seed]);
    for seed in &seeds {
        let Matrix { story, truth, what } = matrix(*seed);
        let analysis = analysed(&story.job());
        let truths = truths(&truth);
        decided += u32::from(analysis.recommendation.run.is_some());
        let lines = report::answer(&analysis).lines();
        let said = Said { analysis: &analysis, truths: &truths };
        let mut wrong = contradictions(&analysis, &lines);
        wrong.extend([said.steps(), said.candidates(), said.run(), said.document()].concat());
        if only.is_some() {
            println!("{}\n{lines:#?}\n{truths:#?}", story.text());
        }
        found.extend(wrong.iter().map(|wrong| format!("{seed} {what:?}: {wrong}")));
    }
    println!(
        "| {} random matrices with bursts, places, clusters, objectives, sick machines and variants, {decided} decided \
         | contradicted by the document or by the truth: {} |",
        seeds.len(),
        found.len()
    );
    assert!(found.is_empty(), "{found:#?}");
}
