//! The files of an import: read, and held against what is said of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use experiment::{Arrivals, ImportedTrial, LoadLevel, OperationKind, mix_of};
use imports::{Entry, Refusal, Results, Study};
use process::failure::Failure;

use super::args::ImportArgs;

/// Most bytes of a file: a million raw points of YCSB have 30 MB.
const MOST_BYTES: u64 = 256 << 20;
const MAP_MOST_BYTES: u64 = 4 << 20;
/// What a file that has no map is of.
const WITHOUT_MAP: &str = "imported";
/// Shares of an operation that lie further apart are not of one workload.
const MIX_APART: f64 = 0.05;
/// A rate that is stated twice may be rounded once.
const RATE_APART: f64 = 0.001;

/// A map with its text.
pub struct ReadStudy {
    pub study: Study,
    pub text: String,
}

pub struct ReadFile {
    pub path: PathBuf,
    pub text: String,
    pub sha256: String,
    /// The HdrHistogram logs beside it: name and text.
    pub histograms: Vec<(String, String)>,
    pub entry: Entry,
    pub load: LoadLevel,
    pub results: Results,
}

impl ReadFile {
    /// The last part of its path.
    pub fn name(&self) -> String {
        name(&self.path)
    }

    /// What it and its logs are called beside the record that was made of them, with their text.
    pub fn kept(&self) -> impl Iterator<Item = (String, &str)> {
        let logs = self.histograms.iter().enumerate();
        let logs = logs.map(|(i, (_, text))| (format!("imported-{}.hdr", i + 1), text.as_str()));
        std::iter::once(("imported.log".to_owned(), self.text.as_str())).chain(logs)
    }

    pub fn trial(&self) -> ImportedTrial {
        ImportedTrial {
            configuration: self.entry.configuration.clone(),
            workload: self.entry.workload.clone(),
            load: self.load,
            block: self.entry.repetition,
            measured_s: self.results.measured_s,
        }
    }
}

/// The last part of a path.
fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Reads all that was named; what is wrong is reported together.
pub fn study(args: &ImportArgs) -> Result<(ReadStudy, Vec<ReadFile>), Failure> {
    let (study, beside, map) = match &args.map {
        Some(map) => (of_map(map)?, map.parent().unwrap_or(Path::new("")).to_owned(), Some(map.as_path())),
        None => (of_one(args)?, PathBuf::new(), None),
    };
    let mut wrong = Vec::new();
    let mut files = Vec::new();
    for entry in &study.study.entries {
        match file(entry, &beside, map) {
            Ok(file) => files.push(file),
            Err(message) => wrong.push(message),
        }
    }
    if wrong.is_empty() {
        wrong.extend(together(&files, map));
    }
    if wrong.is_empty() { Ok((study, files)) } else { Err(Failure::input(wrong.join("\n"))) }
}

fn of_map(map: &Path) -> Result<ReadStudy, Failure> {
    let text = guarded::text(map, MAP_MOST_BYTES)
        .map_err(|error| Failure::input(format!("cannot read the map {}: {error}", map.display())))?;
    let study = Study::read(&text).map_err(|wrong| {
        let lines: Vec<String> = wrong.iter().map(|refusal| at(map, refusal)).collect();
        Failure::input(lines.join("\n")).help("iopslab import --help shows a map")
    })?;
    Ok(ReadStudy { study, text })
}

/// One file without a map: the map that it would have.
fn of_one(args: &ImportArgs) -> Result<ReadStudy, Failure> {
    let [file] = args.file.as_slice() else {
        let message = format!("{} files, and nothing says which cell each of them is of", args.file.len());
        return Err(Failure::input(message).help("name them in a map: iopslab import --map FILE; --help shows one"));
    };
    let operation = args.operation.as_deref().map(|given| {
        imports::operation(given)
            .ok_or_else(|| Failure::input(format!("--operation {given}: expected one of {}", imports::operations())))
    });
    let rate = args.rate.map(|operations_per_s| LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Constant });
    let entry = Entry {
        file: file.to_string_lossy().into_owned(),
        line: 0,
        configuration: WITHOUT_MAP.to_owned(),
        workload: WITHOUT_MAP.to_owned(),
        load: args.threads.map(LoadLevel::Concurrency).or(rate),
        operation: operation.transpose()?,
        counted_from: args.counted_from,
        histograms: args.histograms.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        repetition: 1,
        usd_per_month: None,
    };
    let text = format!(
        "# Made by iopslab import: one file without a map.\n[[result]]\nfile = \
         {:?}\nconfiguration = \"{WITHOUT_MAP}\"\n\
         workload = \"{WITHOUT_MAP}\"\n",
        entry.file
    );
    let study = Study { name: WITHOUT_MAP.to_owned(), question: None, baseline: None, entries: vec![entry] };
    Ok(ReadStudy { study, text })
}

/// `FILE:LINE: message (help)`.
fn at(file: &Path, refusal: &Refusal) -> String {
    let line = refusal.line.map_or_else(String::new, |line| format!("{line}:"));
    let help = refusal.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
    format!("{}:{line} {}{help}", file.display(), refusal.message)
}

/// Where an entry was named.
fn of_entry(entry: &Entry, path: &Path, map: Option<&Path>) -> String {
    match map {
        Some(map) => format!("{}:{}", map.display(), entry.line),
        None => path.display().to_string(),
    }
}

/// Reads an entry's file, and the logs that were written beside it.
fn file(entry: &Entry, beside: &Path, map: Option<&Path>) -> Result<ReadFile, String> {
    let path = beside.join(&entry.file);
    let place = of_entry(entry, &path, map);
    let text = |path: &Path| {
        guarded::text(path, MOST_BYTES).map_err(|error| match map {
            Some(_) => format!("{place}: cannot read {}: {error}", path.display()),
            None => format!("cannot read {}: {error}", path.display()),
        })
    };
    let own = text(&path)?;
    let mut results = imports::read(&own, entry.operation).map_err(|refusal| at(&path, &refusal))?;
    if let Some(stated) = entry.counted_from {
        results.count_from(stated).map_err(|refusal| at(&path, &refusal))?;
    }
    let mut histograms = Vec::new();
    for log in entry.histograms.iter().map(|log| beside.join(log)) {
        let text = text(&log)?;
        imports::take_histograms(&mut results, &text).map_err(|refusal| at(&log, &refusal))?;
        histograms.push((name(&log), text));
    }
    let load = load(entry, &results).map_err(|problem| match map {
        Some(_) => format!("{place}: {}: {problem}", entry.file),
        None => format!("{place}: {problem}"),
    })?;
    let sha256 = guarded::sha256(own.as_bytes()).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(ReadFile { path, text: own, sha256, histograms, entry: entry.clone(), load, results })
}

/// The load level of a file: as it states it, as the map does, or both alike.
fn load(entry: &Entry, results: &Results) -> Result<LoadLevel, String> {
    let stated = results.load;
    let of_file = match (stated.rate_per_s, stated.in_flight) {
        (Some(operations_per_s), _) => Some(LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Constant }),
        (None, Some(threads)) => Some(LoadLevel::Concurrency(threads)),
        (None, None) => None,
    };
    match (entry.load, of_file) {
        (None, Some(of_file)) => Ok(of_file),
        (None, None) => {
            Err("the file states neither threads nor a rate: state `threads` (or `rate`), as --threads or in \
                             the map"
                .to_owned())
        }
        (Some(LoadLevel::Concurrency(given)), Some(LoadLevel::Concurrency(found))) if given != found => {
            Err(format!("{given} threads are given, and the file states {found}"))
        }
        (Some(LoadLevel::Concurrency(given)), Some(LoadLevel::Rate { operations_per_s, .. })) => Err(format!(
            "{given} threads are given, and the file was measured at a rate of {operations_per_s} operations/s: state \
             that rate, or nothing"
        )),
        (
            Some(LoadLevel::Rate { operations_per_s: given, .. }),
            Some(LoadLevel::Rate { operations_per_s: found, .. }),
        ) if (given / found - 1.0).abs() > RATE_APART => {
            Err(format!("a rate of {given} operations/s is given, and the file states {found}"))
        }
        (Some(given), _) => Ok(given),
    }
}

/// What is wrong with files beside each other.
fn together(files: &[ReadFile], map: Option<&Path>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut trials: BTreeMap<(String, u32), &ReadFile> = BTreeMap::new();
    let mut hashes: BTreeMap<&str, &ReadFile> = BTreeMap::new();
    let mut workloads: BTreeMap<&str, &ReadFile> = BTreeMap::new();
    for file in files {
        let place = of_entry(&file.entry, &file.path, map);
        if let Some(other) = hashes.insert(&file.sha256, file) {
            let (one, again) = (&other.entry.file, &file.entry.file);
            wrong.push(format!("{place}: {again} has the same content as {one}: one file is one trial"));
        }
        let (cell, repetition) = (file.trial().cell().id, file.entry.repetition);
        if let Some(other) = trials.insert((cell.clone(), repetition), file) {
            wrong.push(format!(
                "{place}: {} and {} are both repetition {repetition} of {cell}: number them with `repetition`",
                other.entry.file, file.entry.file
            ));
        }
        let first = *workloads.entry(&file.entry.workload).or_insert(file);
        if first.results.tool != file.results.tool {
            wrong.push(format!(
                "{place}: {} is of {}, {} of {}: what two tools measure is not one workload; name it otherwise",
                file.entry.file,
                file.results.tool.name(),
                first.entry.file,
                first.results.tool.name()
            ));
            continue;
        }
        let (one, other) = (mix_of(&first.results.completed), mix_of(&file.results.completed));
        for kind in OperationKind::YCSB {
            if (one.share(kind) - other.share(kind)).abs() > MIX_APART {
                wrong.push(format!(
                    "{place}: {:.0} % of the operations of {} are of kind {}, and {:.0} % of those of {}: that is not \
                     one workload; name it otherwise",
                    other.share(kind) * 100.0,
                    file.entry.file,
                    kind.name(),
                    one.share(kind) * 100.0,
                    first.entry.file
                ));
                break;
            }
        }
    }
    wrong
}
