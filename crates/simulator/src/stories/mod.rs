//! Stories: a truth is planted, and what it must leave in the evidence is looked for, with numbers from elsewhere.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod cluster;
mod disturbed;
mod noise;
mod open;
mod settings;
mod volume;
mod waking;

use evidence::{OperationKind, Series};
use experiment::{Job, VolumeRole};

use crate::{SimulatedTrial, Simulation};

/// An experiment of one cell; each story replaces what it is about.
#[derive(Clone)]
struct Story {
    configurations: String,
    records: u64,
    workload: &'static str,
    load: &'static str,
    repetitions: u32,
    local: &'static str,
    truth: String,
}

const FAST: &str = "data_volume = { iops = 100000, mib_per_s = 2000, size_gib = 100 }";
/// Nothing varies but what the story adds.
const QUIET: &str = "run_noise = 0\nblock_noise = 0\nsecond_noise = 0\n";

fn configuration(name: &str, volume: &str) -> String {
    format!(
        "[[configuration]]\nname = \"{name}\"\ninstance = {{ vcpus = 4, memory_gib = 16 }}\nmemory_limit_gib = \
         4\n{volume}\n"
    )
}

/// A quiet, fast machine on which only reads are done; the data set is far larger than its memory.
fn quiet(truth: &str) -> Story {
    Story {
        configurations: configuration("a", FAST),
        records: 20_000_000,
        workload: "read = 1.0\ndistribution = \"uniform\"",
        load: "concurrency = [64]\nwarmup_s = 2\nduration_s = 20",
        repetitions: 1,
        local: "",
        truth: format!("{QUIET}{truth}"),
    }
}

impl Story {
    fn volume(mut self, volume: &str) -> Self {
        self.configurations = configuration("a", volume);
        self
    }

    fn load(mut self, load: &'static str) -> Self {
        self.load = load;
        self
    }

    fn fault(mut self, fault: &str) -> Self {
        self.truth.push_str(&format!("\n[[provider.simulated.fault]]\n{fault}"));
        self
    }

    fn job(&self) -> Job {
        // From an empty page cache unless a story is about one that is full.
        let cold =
            if self.load.contains("cache") || self.local.contains("cache_ratio") { "" } else { "\ncache = \"cold\"" };
        let load = format!("{}{cold}", self.load);
        let text = format!(
            "name = \"story\"\n[dataset]\nrecords = {}\n{}\n[[workload]]\nname = \"w\"\n{}\n[load]\n{}\nrepetitions = \
             {}\n\
             [provider.local]\n{}\n[provider.simulated]\n{}\n",
            self.records, self.configurations, self.workload, load, self.repetitions, self.local, self.truth
        );
        experiment::testing::job(&text)
    }

    /// The first planned trial.
    fn trial(&self) -> SimulatedTrial {
        all(&self.job()).remove(0)
    }
}

/// Every planned trial, in the order in which they run.
fn all(job: &Job) -> Vec<SimulatedTrial> {
    let plan = &job.plan;
    let simulation = Simulation::new(job, plan.place.truth().unwrap());
    plan.trials.iter().map(|t| simulation.trial(t).unwrap()).collect()
}

impl SimulatedTrial {
    /// Successful operations a second.
    fn throughput(&self) -> f64 {
        let client = self.record.client.as_ref().unwrap();
        client.completed.values().sum::<u64>() as f64 / client.measured_s
    }

    /// Successful operations of each measured second.
    fn by_second(&self) -> Vec<u64> {
        let mut seconds = vec![0; self.record.client.as_ref().unwrap().measured_s.ceil() as usize];
        for interval in self.intervals.iter().filter(|i| i.start_s >= 0.0) {
            if let Series::Response(_) = interval.series {
                seconds[interval.start_s as usize] += interval.histogram.len();
            }
        }
        seconds
    }

    /// All measured latencies of a series.
    fn latencies(&self, series: Series) -> hdrhistogram::Histogram<u64> {
        let mut all = evidence::empty_histogram();
        for interval in self.intervals.iter().filter(|i| i.start_s >= 0.0 && i.series == series) {
            all.add(&interval.histogram).unwrap();
        }
        all
    }

    fn reads(&self) -> hdrhistogram::Histogram<u64> {
        self.latencies(Series::Response(OperationKind::Read))
    }

    /// Change of a figure of the database host over the measurement, a second.
    fn host(&self, figure: fn(&evidence::HostFigures) -> Option<f64>) -> f64 {
        self.change(|sample| figure(&sample.host))
    }

    /// The same of a series of the database.
    fn reported(&self, series: &reported::Series) -> f64 {
        self.change(|sample| sample.database.get(series))
    }

    fn change(&self, figure: impl Fn(&evidence::HostSample) -> Option<f64>) -> f64 {
        let samples: Vec<_> = self.samples[&evidence::HostId::DATABASE].iter().filter(|s| s.t_s >= 0.0).collect();
        let (first, last) = (samples.first().unwrap(), samples.last().unwrap());
        (figure(last).unwrap() - figure(first).unwrap()) / (last.t_s - first.t_s)
    }

    /// (read, write) requests a second of the data volume between two moments.
    fn iops(&self, from: f64, to: f64) -> (f64, f64) {
        let at = |t: f64| {
            let sample = self.samples[&evidence::HostId::DATABASE].iter().find(|s| s.t_s == t).unwrap();
            let data = &sample.volumes[&VolumeRole::Data];
            (data.reads.unwrap(), data.writes.unwrap())
        };
        let (start, end) = (at(from), at(to));
        ((end.0 - start.0) / (to - from), (end.1 - start.1) / (to - from))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation over mean.
fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt() / mean
}

/// Correlation of each value with the one before it.
fn autocorrelation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    products / squares
}

/// `found` is within this share of `expected`.
#[track_caller]
fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() <= share, "{found}, expected {expected}");
}
