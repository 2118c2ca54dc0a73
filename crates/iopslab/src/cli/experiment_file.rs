//! Experiment files, as commands read them.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use ::catalog::Catalog;
use archive::RunDirectory;
use clap::Args;
use database::{ReadRecording, TableSnapshot};
use experiment::{
    Assignment, Changed, DataSetPlace, Experiment, FoundSnapshot, ParseContext, ReadFor, Recording, ThisMachine,
};
use process::failure::Failure;
use process::machine;

use super::{client_cost, quotas};

/// Most bytes of an experiment, or of a YCSB file that it names.
const MOST_BYTES: u64 = 4 << 20;

/// What is otherwise than the file says.
#[derive(Debug, Default, Args)]
pub struct OtherwiseArgs {
    /// Set a key of the experiment, such as load.repetitions=5 or configuration.NAME.nodes=3 (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Assignment>,
    /// Measure only this configuration or cell: CONFIGURATION, or CONFIGURATION.WORKLOAD.LOAD (repeatable, or with
    /// commas)
    #[arg(long, value_name = "CELL", value_delimiter = ',')]
    only: Vec<String>,
}

impl OtherwiseArgs {
    /// Whether the file holds as it is.
    pub fn is_nothing(&self) -> bool {
        self.set.is_empty() && self.only.is_empty()
    }

    /// The text with what is otherwise.
    fn applied(&self, text: &str) -> Result<Changed, Failure> {
        let only = (!self.only.is_empty()).then(|| Assignment::only(&self.only));
        let all: Vec<Assignment> = self.set.iter().cloned().chain(only).collect();
        experiment::set(text, &all).map_err(Failure::input)
    }
}

#[derive(Debug)]
pub struct ReadExperiment {
    /// The text of the file, with what is set beside it.
    pub text: String,
    /// The texts of the files that it names, by the names that it gives them; of a recording and of a snapshot what
    /// the experiment knows of it, as JSON.
    pub beside: BTreeMap<String, String>,
    /// What it says.
    pub experiment: Experiment,
}

/// Reads and checks an experiment file; YCSB files are found relative to it, and AWS is asked for quotas where it says
/// so.
pub fn read_experiment(catalog: &Catalog, file: &Path, purpose: ReadFor) -> Result<ReadExperiment, Failure> {
    read_otherwise(catalog, file, &OtherwiseArgs::default(), purpose)
}

/// The same with what is otherwise than the file says; a mistake in that is one of its flag.
pub fn read_otherwise(
    catalog: &Catalog,
    file: &Path,
    otherwise: &OtherwiseArgs,
    purpose: ReadFor,
) -> Result<ReadExperiment, Failure> {
    refuse_run(file)?;
    let text = guarded::text(file, MOST_BYTES)
        .map_err(|e| Failure::input(format!("cannot read the experiment {}: {e}", file.display())))?;
    let changed = otherwise.applied(&text)?;
    let directory = file.parent().unwrap_or(Path::new(".")).to_owned();
    let texts = RefCell::new(BTreeMap::new());
    let read = |name: &str| {
        let path = directory.join(name);
        let text = guarded::text(&path, MOST_BYTES).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        texts.borrow_mut().insert(name.to_owned(), text.clone());
        Ok(text)
    };
    let there = |name: &str| {
        let path = directory.join(name);
        std::fs::metadata(&path).map(drop).map_err(|e| format!("cannot find {}: {e}", path.display()))
    };
    // An experiment may be checked twice, and a recording may be large.
    let recordings: RefCell<BTreeMap<String, Recording>> = RefCell::default();
    let recording = |name: &str| -> Result<Recording, String> {
        if let Some(known) = recordings.borrow().get(name) {
            return Ok(known.clone());
        }
        let recording = ReadRecording::read(&directory.join(name))?.recording();
        texts.borrow_mut().insert(name.to_owned(), serde_json::json!(recording).to_string());
        recordings.borrow_mut().insert(name.to_owned(), recording.clone());
        Ok(recording)
    };
    let found: OnceCell<FoundSnapshot> = OnceCell::new();
    let snapshot = |place: &DataSetPlace| -> Result<Option<FoundSnapshot>, String> {
        if let Some(known) = found.get() {
            return Ok(Some(known.clone()));
        }
        let read = match (place, purpose) {
            (DataSetPlace::Directory { path }, _) => TableSnapshot::read(&directory.join(path))?.found(),
            (DataSetPlace::S3 { .. }, ReadFor::Run(_)) => {
                controller::find_in_bucket(place).map_err(|failure| failure.message)?
            }
            // Who only plans asks nothing of a network.
            (DataSetPlace::S3 { .. }, _) => return Ok(None),
        };
        texts.borrow_mut().insert(place.to_string(), serde_json::json!(read).to_string());
        Ok(Some(found.get_or_init(|| read).clone()))
    };
    let name = file.display().to_string();
    let beside = ParseContext {
        file: &read,
        there: &there,
        recording: &recording,
        snapshot: &snapshot,
        quotas: &quotas::read,
        client: client_cost::known(),
        machine: Some(this_machine()),
    };
    let parse = |text: &str| experiment::parse(catalog, &name, text, &beside, purpose);
    let experiment = parse(&changed.text)
        .map_err(|mistakes| Failure::mistakes(changed.explain(&name, mistakes, |text| parse(text).err())))?;
    Ok(ReadExperiment { text: changed.text, beside: texts.into_inner(), experiment })
}

/// Whoever names a run instead of an experiment may want to go on with it.
fn refuse_run(file: &Path) -> Result<(), Failure> {
    if !file.join("plan.json").is_file() {
        return Ok(());
    }
    let run = file.display();
    let failure = Failure::input(format!("{run} is a run, and an experiment file was expected"));
    let go_on = format!("iopslab run --resume {}", guarded::shell_path(file));
    Err(failure.help(format!("go on with it: {go_on}; its own experiment is {run}/experiment.toml")))
}

/// What this machine has for an experiment that it carries out.
pub(super) fn this_machine() -> ThisMachine {
    ThisMachine {
        cpus: machine::cpus() as f64,
        cannot_serve: served::available().err().map(|error| error.to_string()),
        cannot_stripe: storage::Array::problems().into_iter().next().map(|problem| problem.what),
    }
}

/// Refuses to go on with a run that began before what it cannot measure was refused, at the place in its frozen
/// experiment.
pub fn check_measurable(directory: &RunDirectory) -> Result<(), Failure> {
    if let Ok(text) = directory.experiment_text() {
        let file = directory.path().join("experiment.toml").display().to_string();
        experiment::refuse_unmeasurable(&file, &text, directory.job()).map_err(Failure::mistakes)?;
    }
    Ok(())
}
