//! What is meant where nothing is named: the experiment of this folder, the latest of its runs.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use process::failure::Failure;

use super::run::args::DEFAULT_OUT;

/// The experiment that commands look for, and that `init` writes.
pub(super) const EXPERIMENT: &str = "experiment.toml";

/// The experiment that was named, or that of this folder.
pub(super) fn experiment(named: Option<&Path>, else_give: &str) -> Result<PathBuf, Failure> {
    let of_folder = || Path::new(EXPERIMENT).is_file().then_some(Path::new(EXPERIMENT));
    let found = named.or_else(of_folder).map(Path::to_owned);
    found.ok_or_else(|| {
        Failure::input(format!("no experiment is named, and this folder has no {EXPERIMENT}"))
            .help(format!("give {else_give}; iopslab init writes {EXPERIMENT} from a few answers"))
    })
}

/// The last runs of this folder, at least `least`, the latest first: those whose journals were written last.
pub(super) fn runs(least: usize, else_give: &str) -> Result<Vec<PathBuf>, Failure> {
    let runs = of(Path::new(DEFAULT_OUT));
    if runs.len() < least {
        let message = match runs.len() {
            0 => format!("no run is named, and this folder has none in {DEFAULT_OUT}/"),
            _ => format!("no two runs are named, and this folder has one in {DEFAULT_OUT}/ alone"),
        };
        return Err(Failure::input(message).help(format!("give {else_give}")));
    }
    Ok(runs)
}

/// The latest run of this folder, which is said: nobody named it.
pub(super) fn run(else_give: &str) -> Result<PathBuf, Failure> {
    let latest = runs(1, else_give)?.swap_remove(0);
    eprintln!("the latest run: {}", latest.display());
    Ok(latest)
}

/// The runs in a directory, the latest first.
fn of(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let written = |path: &Path| path.join("journal.jsonl").metadata().and_then(|journal| journal.modified()).ok();
    let mut runs: Vec<(SystemTime, PathBuf)> =
        entries.filter_map(|entry| Some((written(&entry.path())?, entry.path()))).collect();
    runs.sort();
    runs.into_iter().rev().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_latest_run_is_the_one_that_was_written_last_and_what_is_no_run_is_none() {
        let directory = tempfile::tempdir().unwrap();
        for (name, seconds) in [("b-20260101T000000Z", 300), ("a-20260102T000000Z", 100), ("resumed", 500)] {
            let run = directory.path().join(name);
            std::fs::create_dir(&run).unwrap();
            let journal = std::fs::File::create(run.join("journal.jsonl")).unwrap();
            journal.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
        std::fs::create_dir(directory.path().join("no-run")).unwrap();
        let names: Vec<String> = of(directory.path())
            .iter()
            .filter_map(|run| Some(run.file_name()?.to_string_lossy().into_owned()))
            .collect();
        assert_eq!(names, ["resumed", "b-20260101T000000Z", "a-20260102T000000Z"]);
        assert_eq!(of(&directory.path().join("nowhere")), Vec::<PathBuf>::new());
    }
}
