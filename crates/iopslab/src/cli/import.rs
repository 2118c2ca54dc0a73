//! `iopslab import`: results of other tools as a run directory, which `report` and `compare` take.

mod args;
mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use archive::{JournalEvent, RunDirectory};
use evidence::{ClientResult, Imported, TrialRecord};
use experiment::{ImportedConfiguration, ImportedRun, Job, OperationKind, mix_of};
use process::failure::Failure;
use process::output::Format;
use serde_json::json;

pub use self::args::ImportArgs;
use self::read::ReadFile;
use super::report;
use super::run::args::DEFAULT_OUT;

pub fn run(args: &ImportArgs, format: Format) -> Result<(), Failure> {
    let (study, files) = read::study(args)?;
    for file in &files {
        // What cannot stand in a record cannot be read back.
        record(file).check().map_err(|problem| Failure::input(format!("{}: {problem}", file.path.display())))?;
    }
    let import = Import { study: &study.study, files: &files };
    let directory = import.write(args, &study.text)?;
    if format == Format::Human {
        eprintln!("writing results to {}", directory.path().display());
    }
    report::rebuild(&directory, format).map(|_| ())
}

struct Import<'a> {
    study: &'a imports::Study,
    files: &'a [ReadFile],
}

impl Import<'_> {
    fn job(&self) -> Job {
        let mut configurations: Vec<ImportedConfiguration> = Vec::new();
        for entry in &self.study.entries {
            match configurations.iter_mut().find(|known| known.name == entry.configuration) {
                Some(known) => known.usd_per_month = known.usd_per_month.or(entry.usd_per_month),
                None => configurations.push(ImportedConfiguration {
                    name: entry.configuration.clone(),
                    usd_per_month: entry.usd_per_month,
                }),
            }
        }
        let workloads = self.files.iter().map(|file| &file.entry.workload).collect::<BTreeSet<_>>();
        ImportedRun {
            name: self.study.name.clone(),
            question: self.study.question.clone(),
            baseline: self.study.baseline.clone(),
            configurations,
            workloads: workloads.into_iter().map(|name| (name.clone(), mix_of(&self.counts(name)))).collect(),
            trials: self.files.iter().map(ReadFile::trial).collect(),
        }
        .job()
    }

    /// Operations of a workload in all of its files.
    fn counts(&self, workload: &str) -> BTreeMap<OperationKind, u64> {
        let mut counts = BTreeMap::new();
        for file in self.files.iter().filter(|file| file.entry.workload == workload) {
            for (kind, n) in &file.results.completed {
                *counts.entry(*kind).or_insert(0) += n;
            }
        }
        counts
    }

    /// Writes the run: what the files state as records, and each file beside its own.
    fn write(&self, args: &ImportArgs, text: &str) -> Result<RunDirectory, Failure> {
        let job = self.job();
        let environment = json!({ "provider": job.plan.place.provider(), "iopslab": env!("CARGO_PKG_VERSION") });
        let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let directory = RunDirectory::create(
            args.out.as_deref().unwrap_or(Path::new(DEFAULT_OUT)),
            (&self.study.name, &stamp, args.shared),
            (text, &BTreeMap::new()),
            &job,
            &json!({ "format_version": evidence::FORMAT_VERSION, "instances": [] }),
            &environment,
        );
        let directory = directory.map_err(|e| Failure::work(e).help("choose another place with --out DIR"))?;
        for file in self.files {
            let record = record(file);
            let mut logs = directory.logs(&record.cell, record.block).map_err(Failure::work)?;
            for (name, text) in file.kept() {
                logs.append(&name, text.as_bytes()).map_err(Failure::work)?;
            }
            directory.write_trial(&record, &[], &BTreeMap::new(), logs).map_err(Failure::work)?;
            let done = JournalEvent::TrialDone { cell: record.cell, block: record.block, valid: true };
            directory.journal(done).map_err(Failure::work)?;
        }
        directory.journal(JournalEvent::RunDone).map_err(Failure::work)?;
        Ok(directory)
    }
}

/// What a file leaves as a trial.
fn record(file: &ReadFile) -> TrialRecord {
    let results = &file.results;
    let operations = results.completed.values().chain(results.failed.values()).sum();
    let client = ClientResult {
        measured_s: results.measured_s,
        operations_sent: operations,
        completed: results.completed.clone(),
        errors: results.failed.clone(),
        threads: 1,
        imported: Some(Box::new(Imported {
            tool: results.tool,
            version: results.version.clone(),
            file: file.name(),
            histograms: file.histograms.iter().map(|(name, _)| name.clone()).collect(),
            sha256: file.sha256.clone(),
            stated_ops_per_s: results.stated_ops_per_s,
            counted_from: results.counted_from,
            latencies: results.latencies.clone(),
            progress: results.progress.clone(),
            clocks: results.clocks,
            left_out: results.left_out.clone(),
        })),
        ..ClientResult::default()
    };
    TrialRecord {
        // No tool states it with a zone.
        started_at: jiff::Timestamp::UNIX_EPOCH.to_string(),
        client: Some(client),
        ..TrialRecord::of(&file.trial().cell(), file.entry.repetition)
    }
}
