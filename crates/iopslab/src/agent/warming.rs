//! A warm page cache: before the limits of a trial come into force, the data set's files are read by a process in the
//! database's cgroup.
//!
//! By a process and not through the database, for two reasons. Pages are charged to the cgroup of whoever brings them
//! in, so that the budget holds these as it holds the database's own. And the database has done nothing yet: a trial
//! that begins warm differs from one that begins cold by the cache alone.
//!
//! Of a data set that does not fit, that leaves any part of it. Which part a workload keeps in memory, its own keys
//! decide: a client reads by them after that, with no limit in force, until device reads for each operation are steady
//! (`controller/trial/rest.rs`). At the rate of a small volume this would take minutes, and small chunks, which fill a
//! page cache slowly, would look bad in a short trial.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use clap::Args;
use evidence::Warmed;
use storage::ReadFiles;
use wire::RequestError;

use super::limits::Limits;
use super::outbox::Outbox;
use super::pace::Pace;

/// Pieces of 1 MiB between two reports of how far it is.
const REPORT_EVERY: u64 = 16;

/// How `read-files` is started.
#[derive(Debug, Args)]
pub struct ReadFilesArgs {
    /// Read about so many bytes at most
    #[arg(long)]
    bytes: u64,
    /// Directories whose files are read
    directories: Vec<PathBuf>,
}

/// Reads files into the page cache; on stdout how far it is, as JSON Lines. The last one is the result.
///
/// # Errors
/// When a file cannot be read, or nobody listens any more.
pub fn serve(args: &ReadFilesArgs) -> Result<(), crate::failure::Failure> {
    let mut stdout = std::io::stdout().lock();
    let mut report =
        |so_far: ReadFiles| serde_json::to_writer(&mut stdout, &so_far).is_ok() && writeln!(stdout).is_ok();
    let mut pieces = 0;
    let read = storage::read_files(&args.directories, args.bytes, &mut |so_far| {
        pieces += 1;
        pieces % REPORT_EVERY != 0 || report(so_far)
    });
    report(read.map_err(crate::failure::Failure::work)?);
    Ok(())
}

/// Fills the page cache of the database's cgroup with the files below `directories`, or with as much of them as
/// `budget_bytes` hold.
pub(super) fn warm(
    directories: &[PathBuf],
    budget_bytes: u64,
    limits: &Limits,
    outbox: &Outbox,
) -> Result<Warmed, RequestError> {
    let of_bytes: u64 = directories.iter().map(|directory| storage::tree_bytes(directory)).sum();
    let began = Instant::now();
    let mut reader = start(directories, budget_bytes, limits)?;
    let doing = "reading the data set into the page cache".to_owned();
    let mut pace = Pace::new(outbox, doing, of_bytes.min(budget_bytes));
    let mut read = None;
    for line in reader.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
        let so_far: ReadFiles = serde_json::from_str(&line?)?;
        if !pace.goes_on(so_far.bytes) {
            // It may have ended by itself.
            let _ = reader.kill();
            let _ = reader.wait();
            return Err(RequestError::cancelled());
        }
        read = Some(so_far);
    }
    let status = reader.wait()?;
    let mut words = String::new();
    if let Some(mut stderr) = reader.stderr.take() {
        // What cannot be read of it is missing from a message.
        let _ = stderr.read_to_string(&mut words);
    }
    match read {
        Some(read) if status.success() => Ok(Warmed {
            is_asked_for: false,
            bytes: read.bytes,
            of_bytes: read.of_bytes,
            by_keys_bytes: 0,
            seconds: began.elapsed().as_secs_f64(),
            cached_bytes: limits.page_cache_bytes(),
        }),
        _ => Err(RequestError::new(format!(
            "the data set could not be read into the page cache ({status}): {}",
            words.trim()
        ))),
    }
}

/// This program again, in the database's cgroup.
fn start(directories: &[PathBuf], budget_bytes: u64, limits: &Limits) -> Result<Child, RequestError> {
    let program = std::env::current_exe()?;
    let mut words = limits.launch_prefix();
    words.extend([
        program.display().to_string(),
        "read-files".to_owned(),
        "--bytes".to_owned(),
        budget_bytes.to_string(),
        "--".to_owned(),
    ]);
    words.extend(directories.iter().map(|directory| directory.display().to_string()));
    let (first, rest) = words.split_first().ok_or_else(|| RequestError::new("no command"))?;
    Command::new(first)
        .args(rest)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(RequestError::new)
}
