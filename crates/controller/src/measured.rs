//! The evidence of a run directory, measured: what `report` and `compare` start from.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use analysis::{Latencies, RunEvidence, SkippedCell, TrialMeasurement};
use archive::{RunDirectory, RunError};
use evidence::{Cause, DataSetOrigin, ModifiedVolume, NodeFacts, RateProbe, TrialRecord, Validity};
use experiment::{Job, Plan, PlannedTrial};
use process::failure::Failure;
use process::machine;

/// A run's trials, each reduced to its figures.
pub struct Measured {
    job: Job,
    environment: serde_json::Value,
    trials: Vec<TrialMeasurement>,
    probes: Vec<RateProbe>,
    origins: Vec<DataSetOrigin>,
    modifications: Vec<ModifiedVolume>,
    skipped: Vec<SkippedCell>,
}

impl Measured {
    /// Reads and measures all trials, on all CPUs.
    pub fn read(directory: &RunDirectory) -> Result<Self, Failure> {
        Self::read_after(directory, Vec::new())
    }

    /// The same where some of them were measured already: a trial that is in place does not change.
    pub fn read_after(directory: &RunDirectory, known: Vec<TrialMeasurement>) -> Result<Self, Failure> {
        let mut job = directory.job().clone();
        let plan = &mut job.plan;
        plan.trials = directory.called_for().map_err(Failure::work)?;
        plan.adaptive = directory.adaptive().map_err(Failure::work)?;
        let mut done = directory.done();
        let called: HashSet<&PlannedTrial> = plan.trials.iter().collect();
        done.retain(|t| called.contains(t));
        let skipped = skipped(plan, &directory.skipped().map_err(Failure::work)?, &done);
        plan.trials.retain(|t| skipped.iter().all(|of| of.cell != t.cell) || done.contains(t));
        let mut known: BTreeMap<(String, u32), TrialMeasurement> =
            known.into_iter().map(|t| ((t.record.cell.clone(), t.record.block), t)).collect();
        let mut measured = Vec::with_capacity(done.len());
        let mut missing = Vec::new();
        for (index, trial) in done.iter().enumerate() {
            match known.remove(&(trial.cell.clone(), trial.block)) {
                Some(before) => measured.push((index, Ok(before))),
                None => missing.push((index, trial)),
            }
        }
        keep_freed_memory();
        let next = AtomicUsize::new(0);
        let measured: Mutex<Vec<(usize, Result<TrialMeasurement, Failure>)>> = Mutex::new(measured);
        let threads = machine::cpus();
        std::thread::scope(|scope| {
            for _ in 0..threads.min(missing.len()) {
                scope.spawn(|| {
                    while let Some((index, trial)) = missing.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                        let result = directory
                            .trial(trial)
                            .and_then(|stored| measure(&stored))
                            .or_else(|error| unreadable(&job.plan, trial, &error));
                        measured.lock().expect("no thread panics while it holds the lock").push((index, result));
                    }
                });
            }
        });
        let mut measured = measured.into_inner().expect("no thread panics while it holds the lock");
        measured.sort_by_key(|(index, _)| *index);
        Ok(Self {
            job,
            environment: directory.environment().map_err(Failure::work)?,
            trials: measured.into_iter().map(|(_, trial)| trial).collect::<Result<_, _>>()?,
            probes: directory.probes().map_err(Failure::work)?,
            origins: directory.origins().map_err(Failure::work)?,
            modifications: directory.modifications().map_err(Failure::work)?,
            skipped,
        })
    }

    /// The measurements.
    pub fn trials(&self) -> &[TrialMeasurement] {
        &self.trials
    }

    /// The same, given away.
    pub fn into_trials(self) -> Vec<TrialMeasurement> {
        self.trials
    }

    /// What the analysis takes.
    pub fn evidence<'a>(&'a self, directory: &'a RunDirectory) -> RunEvidence<'a> {
        RunEvidence {
            run: directory.name(),
            plan: &self.job.plan,
            setups: &self.job.setups,
            environment: self.environment.clone(),
            trials: &self.trials,
            probes: &self.probes,
            origins: &self.origins,
            modifications: &self.modifications,
            skipped: &self.skipped,
        }
    }
}

/// The cells that the user skips, of those that would have more trials.
fn skipped(plan: &Plan, cells: &BTreeSet<String>, done: &[PlannedTrial]) -> Vec<SkippedCell> {
    let of = |trials: &[PlannedTrial], cell: &str| trials.iter().filter(|trial| trial.cell == cell).count() as u64;
    let all = plan.cells.iter().filter(|cell| cells.contains(&cell.id));
    let all = all.map(|cell| SkippedCell {
        cell: cell.id.clone(),
        done: of(done, &cell.id),
        planned: of(&plan.trials, &cell.id),
    });
    all.filter(|of| of.done < of.planned).collect()
}

fn measure(stored: &archive::StoredTrial) -> Result<TrialMeasurement, RunError> {
    let mut latencies = Latencies::of(&stored.record);
    stored.latencies.for_each(|interval| latencies.add(&interval))?;
    Ok(latencies.measure(&stored.record, &stored.samples))
}

/// A trial whose evidence cannot be used is an invalid one: nothing of it counts, and the others are reported.
fn unreadable(plan: &Plan, trial: &PlannedTrial, error: &RunError) -> Result<TrialMeasurement, Failure> {
    let mut cells = plan.cells.iter();
    let cell = cells
        .find(|c| c.id == trial.cell)
        .ok_or_else(|| Failure::work(format!("plan.json is not whole: there is no cell {}", trial.cell)))?;
    let record = TrialRecord {
        validity: Validity::Invalid { cause: Cause::Unreadable, reason: error.to_string(), log_tail: Vec::new() },
        nodes: vec![NodeFacts::UNKNOWN],
        ..TrialRecord::of(cell, trial.block)
    };
    Ok(Latencies::of(&record).measure(&record, &BTreeMap::new()))
}

/// Histograms of 128 KiB come and go by the hundred thousand. glibc gives blocks of that size back to the kernel each
/// time, and the page faults of getting them again are a third of a report's time; once a larger block has been freed
/// it keeps them (mallopt(3), M_MMAP_THRESHOLD: "dynamically adjusted"). Other allocators ignore this.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(16 << 20)));
}
