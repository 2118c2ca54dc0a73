//! `iopslab clean`: removes what interrupted runs left.

use std::path::{Path, PathBuf};

use clap::Args;
use controller::NODE_DIRECTORY;
use process::failure::Failure;
use process::human_duration;
use process::output::{Format, pretty};
use process::paths::work_directory;
use storage::{LockHolder, StorageError, WorkDirectory};

use super::{by_hand, clean_aws, machines};

/// What was typed after `clean`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab clean                                      this machine
  iopslab clean --hosts pair.toml                    the machines that an experiment names
  iopslab clean --aws                                what runs have on AWS, by run; removes nothing
  iopslab clean --aws --run gp3-20261120T221500Z     what that run has made, even if its state is lost")]
pub struct CleanArgs {
    /// Remove the data-set snapshots too (they are loaded again when needed)
    #[arg(long)]
    snapshots: bool,
    /// The work directory to clean [default: $IOPSLAB_WORK, or /var/lib/iopslab for root]
    #[arg(long, value_name = "DIR")]
    work_directory: Option<PathBuf>,
    /// Clean the machines that [provider.hosts] or [[target.node]] of this experiment names, instead of this machine
    #[arg(long, value_name = "EXPERIMENT", conflicts_with = "work_directory")]
    hosts: Option<PathBuf>,
    #[command(flatten)]
    aws: clean_aws::AwsArgs,
}

/// Directories whose names begin like this.
fn below(path: &Path, beginning: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_meant =
        |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(beginning) && entry.path().is_dir();
    let mut found: Vec<PathBuf> = entries.filter(is_meant).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// The work directory itself, and those of further nodes below it.
fn nodes(path: &Path) -> Vec<PathBuf> {
    std::iter::once(path.to_owned()).chain(below(path, NODE_DIRECTORY)).collect()
}

/// The work directory. A run that was killed a moment ago may still be leaving it, so it gets some time.
fn lock(directory: &Path) -> Result<WorkDirectory, Failure> {
    let mut reported = false;
    let waiting = |what: &str| {
        if !std::mem::replace(&mut reported, true) {
            eprintln!("{what}, for {} s at most", WorkDirectory::PATIENCE.as_secs());
        }
        true
    };
    WorkDirectory::lock_when_free(directory, waiting)
        .map_err(|e| Failure::work(e).help(what_ends_it(WorkDirectory::holder(directory).as_ref())))
}

/// What to do about who holds a work directory. One that stands still hears no SIGTERM before it goes on.
fn what_ends_it(holder: Option<&LockHolder>) -> String {
    let Some(LockHolder { pid, command, held, is_stopped }) = holder else {
        return "wait for that run, or stop it".to_owned();
    };
    let who = format!("process {pid} ({command}) has had it for {}", human_duration(held.as_secs_f64()));
    match is_stopped {
        true => format!(
            "{who} and stands still (it was stopped, or a debugger holds it): `kill -TERM {pid}; kill -CONT {pid}` \
             lets it go on, undo what it has made and end; one that does not end goes with `kill -KILL {pid}`, and \
             then iopslab clean removes what it leaves"
        ),
        false => format!(
            "{who}; wait for that run, or stop it: after `kill -TERM {pid}` it undoes what it has made and ends; one \
             that does not end goes with `kill -KILL {pid}`, and then iopslab clean removes what it leaves"
        ),
    }
}

pub fn run(args: &CleanArgs, format: Format) -> Result<(), Failure> {
    if args.aws.aws {
        return clean_aws::run(&args.aws, format);
    }
    if let Some(experiment) = &args.hosts {
        return machines::clean(experiment, args.snapshots, format);
    }
    let path = match &args.work_directory {
        Some(path) => path.clone(),
        None => work_directory(),
    };
    let mut removed = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    if path.exists() {
        for directory in nodes(&path) {
            let work = lock(&directory)?;
            let cleaned = storage::clean(&work.ledger_path()).map_err(Failure::work)?;
            failed.extend(cleaned.left());
            removed.extend(cleaned.removed);
            let snapshots = directory.join("snapshots");
            if args.snapshots && snapshots.exists() {
                storage::remove_tree(&snapshots).map_err(Failure::work)?;
                removed.push(format!("snapshots in {}", snapshots.display()));
            }
        }
    }
    for directory in below(&path, by_hand::DIRECTORY) {
        let work = match WorkDirectory::lock(&directory) {
            Ok(work) => work,
            Err(StorageError::Locked { pid, .. }) => {
                let whom = pid.map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
                eprintln!("note: {} is served by {whom} and stays", directory.display());
                continue;
            }
            Err(error) => return Err(Failure::work(error)),
        };
        let cleaned = storage::clean(&work.ledger_path()).map_err(Failure::work)?;
        failed.extend(cleaned.left());
        removed.extend(cleaned.removed);
    }
    match format {
        Format::Json => println!("{}", pretty(&serde_json::json!({ "removed": removed, "failed": failed }))),
        Format::Human if removed.is_empty() && failed.is_empty() => println!("nothing to clean in {}", path.display()),
        Format::Human => {
            removed.iter().for_each(|what| println!("removed {what}"));
            failed.iter().for_each(|what| println!("could not remove {what}"));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::work(format!("{} things could not be removed", failed.len()))) }
}
