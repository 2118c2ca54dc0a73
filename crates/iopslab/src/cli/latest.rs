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
    let entries = std::fs::read_dir(DEFAULT_OUT).into_iter().flatten().flatten();
    let written = |path: &Path| path.join("journal.jsonl").metadata().and_then(|journal| journal.modified()).ok();
    let mut runs: Vec<(SystemTime, PathBuf)> =
        entries.filter_map(|entry| Some((written(&entry.path())?, entry.path()))).collect();
    if runs.len() < least {
        let message = match runs.len() {
            0 => format!("no run is named, and this folder has none in {DEFAULT_OUT}/"),
            _ => format!("no two runs are named, and this folder has one in {DEFAULT_OUT}/ alone"),
        };
        return Err(Failure::input(message).help(format!("give {else_give}")));
    }
    runs.sort();
    Ok(runs.into_iter().rev().map(|(_, path)| path).collect())
}

/// The latest run of this folder, which is said: nobody named it.
pub(super) fn run(else_give: &str) -> Result<PathBuf, Failure> {
    let latest = runs(1, else_give)?.swap_remove(0);
    eprintln!("the latest run: {}", latest.display());
    Ok(latest)
}
