//! `iopslab clean`: removes what interrupted runs left on this machine.

use std::path::PathBuf;

use clap::Args;
use storage::WorkDirectory;

use crate::failure::Failure;
use crate::output::{Format, pretty};
use crate::paths::work_directory;

/// What was typed after `clean`.
#[derive(Debug, Args)]
pub struct CleanArgs {
    /// Remove the data-set snapshots too (they are loaded again when needed)
    #[arg(long)]
    snapshots: bool,
    /// The work directory to clean [default: $IOPSLAB_WORK or /var/tmp/iopslab]
    #[arg(long, value_name = "DIR")]
    work_directory: Option<PathBuf>,
}

pub fn run(args: &CleanArgs, format: Format) -> Result<(), Failure> {
    let path = args.work_directory.clone().unwrap_or_else(work_directory);
    let mut removed = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    if path.exists() {
        let work = WorkDirectory::lock(&path).map_err(|e| Failure::work(e).help("wait for that run, or stop it"))?;
        let cleaned = storage::clean(&work.ledger_path()).map_err(Failure::work)?;
        removed = cleaned.removed;
        failed = cleaned
            .failed
            .iter()
            .map(|(what, why)| format!("{what:?}: {why}"))
            .collect();
        let snapshots = path.join("snapshots");
        if args.snapshots && snapshots.exists() {
            storage::remove_tree(&snapshots).map_err(Failure::work)?;
            removed.push(format!("snapshots in {}", snapshots.display()));
        }
    }
    match format {
        Format::Json => println!(
            "{}",
            pretty(&serde_json::json!({ "removed": removed, "failed": failed }))
        ),
        Format::Human if removed.is_empty() && failed.is_empty() => println!("nothing to clean in {}", path.display()),
        Format::Human => {
            removed.iter().for_each(|what| println!("removed {what}"));
            failed.iter().for_each(|what| println!("could not remove {what}"));
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Failure::work(format!("{} things could not be removed", failed.len())))
    }
}
