//! Experiment files with the usual parts; each test replaces what it is about.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use analysis::{
    Analysis, CellAnalysis, LimitKind, Ratio, RunEvidence, TrialEvidence, TrialMeasurement, ValueOfMoney, Verdict,
    analyse, measure,
};
use experiment::{Job, PlannedTrial};
use simulator::Simulation;

/// An experiment file in parts.
#[derive(Clone)]
pub struct Story {
    pub records: u64,
    pub configurations: String,
    pub workload: String,
    pub load: String,
    pub repetitions: u32,
    pub local: String,
    pub rest: String,
    pub truth: String,
}

/// A volume that never is the limit.
pub const NVME: &str = "data_volume = { iops = 100000, mib_per_s = 2000, size_gib = 100 }";

pub fn configuration(name: &str, rest: &str) -> String {
    format!(
        "[[configuration]]\nname = \"{name}\"\ninstance = {{ vcpus = 4, memory_gib = 16 }}\nmemory_limit_gib = 4\n\
         {rest}\n"
    )
}

/// A volume of so many IOPS.
pub fn iops(name: &str, iops: u32) -> String {
    configuration(name, &format!("data_volume = {{ iops = {iops}, mib_per_s = 2000, size_gib = 100 }}"))
}

/// The same for so many dollars a month.
pub fn priced(name: &str, iops: u32, usd: f64) -> String {
    configuration(
        name,
        &format!("data_volume = {{ iops = {iops}, mib_per_s = 2000, size_gib = 100 }}\nprice_usd_per_month = {usd:.2}"),
    )
}

/// A catalog instance with a gp2 volume of the years when it had a burst bucket.
pub fn gp2(name: &str, gib: u32, rest: &str) -> String {
    format!(
        "[[configuration]]\nname = \"{name}\"\ninstance = \"r4.4xlarge\"\nmemory_limit_gib = 4\n\
         data_volume = {{ type = \"gp2\", size_gib = {gib}, era = \"2015-2018\"{rest} }}\n"
    )
}

/// A database without noise and faults on a fast volume: nothing to find but that its CPU is the limit.
pub fn sound() -> Story {
    Story {
        records: 20_000_000,
        configurations: configuration("a", NVME),
        workload: "read = 0.5\nupdate = 0.5".into(),
        load: "concurrency = [64]\nwarmup_s = 5\nduration_s = 60".into(),
        repetitions: 3,
        local: String::new(),
        rest: String::new(),
        truth: "read_cpu_us = 400\nwrite_cpu_us = 300\nrun_noise = 0.01\nblock_noise = 0.01\nsecond_noise = 0.01"
            .into(),
    }
}

/// The usual noise of a cloud: this much from trial to trial, 8 % from block to block.
pub fn noisy(configurations: &[String], run_noise: f64, repetitions: u32) -> Story {
    Story {
        configurations: configurations.concat(),
        workload: "read = 0.95\nupdate = 0.05".into(),
        load: "concurrency = [64]\nwarmup_s = 2\nduration_s = 45".into(),
        repetitions,
        truth: format!("read_cpu_us = 400\nwrite_cpu_us = 300\nrun_noise = {run_noise}\nblock_noise = 0.08"),
        ..sound()
    }
}

impl Story {
    /// The experiment file.
    pub fn text(&self) -> String {
        let workload = match self.workload.contains("[[workload]]") {
            true => self.workload.clone(),
            false => format!("[[workload]]\nname = \"w\"\n{}", self.workload),
        };
        // Stories begin with an empty page cache unless they say otherwise: what they expect is reckoned from there.
        let states_cache = self.load.contains("cache") || self.rest.contains("cache_ratio");
        let cache = if states_cache { "" } else { "cache = \"cold\"" };
        format!(
            "name = \"truth\"\n[dataset]\nrecords = {}\n{}\n{workload}\n[load]\n{}\n{cache}\nrepetitions = {}\n{}\n\
             [provider.local]\n{}\n[provider.simulated]\n{}\n",
            self.records, self.configurations, self.load, self.repetitions, self.rest, self.local, self.truth
        )
    }

    pub fn job(&self) -> Job {
        experiment::testing::job(&self.text())
    }

    pub fn fault(mut self, fault: &str) -> Self {
        self.truth.push_str(&format!("\n[[provider.simulated.fault]]\n{fault}"));
        self
    }

    pub fn open(mut self, rate: f64) -> Self {
        self.load = format!("rate = [{rate:.1}]\nwarmup_s = 5\nduration_s = 60");
        self
    }

    pub fn workload(mut self, workload: &str) -> Self {
        self.workload = workload.into();
        self
    }

    pub fn truth(mut self, line: &str) -> Self {
        self.truth.push_str(&format!("\n{line}"));
        self
    }

    pub fn analysis(&self) -> Analysis {
        analysed(&self.job())
    }

    pub fn limit(&self) -> LimitKind {
        let analysis = self.analysis();
        println!("{}", report::limit_message(&analysis.cells[0].limit));
        analysis.cells[0].limit.kind
    }

    /// Names of the rules that fire.
    pub fn rules(&self) -> BTreeSet<String> {
        self.analysis().findings.iter().map(|f| f.rule().name().to_owned()).collect()
    }
}

/// All trials of a plan, measured.
pub fn measured(job: &Job) -> Vec<TrialMeasurement> {
    let simulation = Simulation::new(job, job.plan.place.truth().unwrap());
    job.plan.trials.iter().map(|planned| measured_trial(&simulation, planned)).collect()
}

/// One of them.
pub fn measured_trial(simulation: &Simulation, planned: &PlannedTrial) -> TrialMeasurement {
    let trial = simulation.trial(planned).unwrap();
    measure(&TrialEvidence { record: &trial.record, intervals: &trial.intervals, samples: &trial.samples })
}

pub fn evidence<'a>(run: &str, job: &'a Job, trials: &'a [TrialMeasurement]) -> RunEvidence<'a> {
    RunEvidence {
        run: run.into(),
        plan: &job.plan,
        setups: &job.setups,
        environment: serde_json::Value::Null,
        trials,
        probes: &[],
        origins: &[],
        modifications: &[],
        skipped: &[],
    }
}

pub fn analysed(job: &Job) -> Analysis {
    let trials = measured(job);
    analyse(&evidence("truth", job, &trials))
}

/// What `look` sees in `seeds` experiments that differ in their noise only, on all CPUs.
pub fn over_seeds<T: Send>(seeds: u64, job: &Job, look: impl Fn(&Analysis) -> T + Sync) -> Vec<T> {
    each_seed(seeds, job, |job| look(&analysed(job)))
}

/// The same for a look at the plan itself.
pub fn each_seed<T: Send>(seeds: u64, job: &Job, look: impl Fn(&Job) -> T + Sync) -> Vec<T> {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let seen: Vec<Vec<(u64, T)>> = std::thread::scope(|scope| {
        let work = || {
            let mut seen = Vec::new();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= seeds {
                    return seen;
                }
                let mut job = job.clone();
                job.plan.place.truth_mut().unwrap().seed = 1000 + seed;
                seen.push((seed, look(&job)));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|w| w.join().unwrap()).collect()
    });
    let mut seen: Vec<(u64, T)> = seen.into_iter().flatten().collect();
    seen.sort_by_key(|(seed, _)| *seed);
    seen.into_iter().map(|(_, seen)| seen).collect()
}

/// Share of what is true.
pub fn share(seen: &[bool]) -> f64 {
    seen.iter().filter(|s| **s).count() as f64 / seen.len().max(1) as f64
}

pub fn cell<'a>(analysis: &'a Analysis, configuration: &str) -> &'a CellAnalysis {
    analysis.cells.iter().find(|c| c.configuration == configuration).unwrap()
}

pub fn step<'a>(analysis: &'a Analysis, to: &str) -> &'a ValueOfMoney {
    analysis.value_of_money.iter().find(|v| v.to == to).unwrap()
}

/// A difference that is shown.
pub fn is_shown(ratio: Option<&Ratio>) -> bool {
    ratio.is_some_and(|r| matches!(r.verdict, Verdict::Faster | Verdict::Slower))
}
