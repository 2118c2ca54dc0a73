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
use experiment::{CacheOf, Setup};
use process::failure::Failure;
use storage::{FilePages, ReadFiles, Resident};
use wire::{RequestError, Result};

use super::limits::Limits;
use super::outbox::Outbox;
use super::pace::Pace;

/// Pieces of at most 1 MiB between two reports of how far it is.
const REPORT_EVERY: u64 = 16;
/// Noted pages are put back where so much of what the page cache may hold is found: written data takes some of it
/// (measured: 0.42 after a minute of updates by half of all operations).
const FOUND_MIN: f64 = 0.5;

/// How `read-files` is started.
#[derive(Debug, Args)]
pub struct ReadFilesArgs {
    /// Read about so many bytes at most
    #[arg(long, required_unless_present = "pages")]
    bytes: Option<u64>,
    /// Read the pages that stand on stdin
    #[arg(long, conflicts_with = "bytes")]
    pages: bool,
    /// Directories whose files are read
    #[arg(conflicts_with = "pages")]
    directories: Vec<PathBuf>,
}

/// What is read into a page cache.
pub(super) enum Reads {
    /// Of the files below these directories as much as fits.
    Evenly(Vec<PathBuf>),
    /// What a workload has left there.
    Pages {
        pages: Vec<FilePages>,
        /// Bytes of all files of the data set.
        data_bytes: u64,
        /// Device reads for each operation with these pages; `None`: it had not settled yet.
        reads_per_operation: Option<f64>,
    },
}

/// The pages that workloads have left in the page cache when it had settled. So trials begin alike, however fast their
/// volumes are, and none has to wait for what was seen before.
#[derive(Debug, Default)]
pub(super) struct SettledCaches(Vec<SettledCache>);

#[derive(Debug, Clone)]
pub(super) struct SettledCache {
    workload: String,
    of: CacheOf,
    resident: Resident,
    /// Device reads for each operation; `None`: it has not settled yet.
    reads_per_operation: Option<f64>,
}

impl SettledCaches {
    /// Notes what is in the page cache of the data set below these directories now, for the first time or again, and
    /// how many device reads an operation takes.
    pub fn note(
        &mut self,
        (setup, workload): (&Setup, &str),
        directories: &[PathBuf],
        (again, reads_per_operation): (bool, Option<f64>),
    ) -> Result<()> {
        let of = CacheOf::new(setup);
        let before = self.0.iter().position(|settled| settled.is_of(&of, workload)).map(|place| self.0.remove(place));
        let resident = match before {
            Some(mut before) if again => {
                before.resident.look_again(directories)?;
                before.resident
            }
            _ => Resident::of(directories)?,
        };
        self.0.push(SettledCache { workload: workload.to_owned(), of, resident, reads_per_operation });
        Ok(())
    }

    /// What was noted for trials of this workload.
    pub fn find(&self, setup: &Setup, workload: &str) -> Option<&SettledCache> {
        let of = CacheOf::new(setup);
        self.0.iter().find(|settled| settled.is_of(&of, workload))
    }
}

impl SettledCache {
    fn is_of(&self, of: &CacheOf, workload: &str) -> bool {
        self.of == *of && self.workload == workload
    }
}

impl Reads {
    /// The pages that were noted, in the data set below these directories. Where too little of them is found they are
    /// none: a compaction had replaced the files by then.
    pub fn of(noted: Option<&SettledCache>, directories: Vec<PathBuf>) -> Result<Self> {
        let Some(settled) = noted else { return Ok(Self::Evenly(directories)) };
        let pages = settled.resident.found_below(&directories)?;
        let found: u64 = pages.iter().map(FilePages::bytes).sum();
        let data_bytes = bytes_below(&directories);
        let may_hold = data_bytes.min(settled.of.budget_bytes());
        Ok(match found > 0 && found as f64 >= FOUND_MIN * may_hold as f64 {
            true => Self::Pages { pages, data_bytes, reads_per_operation: settled.reads_per_operation },
            false => Self::Evenly(directories),
        })
    }
}

/// Reads files into the page cache; on stdout how far it is, as JSON Lines. The last one is the result. Errors: when a
/// file cannot be read, or nobody listens any more.
pub fn serve(args: &ReadFilesArgs) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let mut report =
        |so_far: ReadFiles| serde_json::to_writer(&mut stdout, &so_far).is_ok() && writeln!(stdout).is_ok();
    let mut pieces = 0;
    let mut goes_on = |so_far| {
        pieces += 1;
        pieces % REPORT_EVERY != 0 || report(so_far)
    };
    let read = match args.bytes {
        Some(bytes) => storage::read_files(&args.directories, bytes, &mut goes_on),
        None => {
            let pages: Vec<FilePages> = serde_json::from_reader(std::io::stdin().lock()).map_err(Failure::work)?;
            storage::read_pages(&pages, &mut goes_on)
        }
    };
    report(read.map_err(Failure::work)?);
    Ok(())
}

/// Fills the page cache of the database's cgroup with what is to be read, or with as much of it as `budget_bytes` hold.
pub(super) fn warm(reads: &Reads, budget_bytes: u64, limits: &Limits, outbox: &Outbox) -> Result<Warmed> {
    let of_bytes: u64 = match reads {
        Reads::Evenly(directories) => bytes_below(directories),
        Reads::Pages { pages, .. } => pages.iter().map(FilePages::bytes).sum(),
    };
    let began = Instant::now();
    let mut reader = start(reads, budget_bytes, limits)?;
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
            settled_reads_per_operation: match reads {
                Reads::Evenly(_) => None,
                Reads::Pages { reads_per_operation, .. } => *reads_per_operation,
            },
            bytes: read.bytes,
            of_bytes: match reads {
                Reads::Evenly(_) => read.of_bytes,
                Reads::Pages { data_bytes, .. } => *data_bytes,
            },
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

/// Bytes of all files below these directories.
fn bytes_below(directories: &[PathBuf]) -> u64 {
    let bytes = directories.iter().map(|directory| storage::tree_bytes(directory));
    bytes.fold(0, u64::saturating_add)
}

/// This program again, in the database's cgroup.
fn start(reads: &Reads, budget_bytes: u64, limits: &Limits) -> Result<Child> {
    let program = std::env::current_exe()?;
    let mut words = limits.launch_prefix();
    words.extend([program.display().to_string(), "read-files".to_owned()]);
    match reads {
        Reads::Evenly(directories) => {
            words.extend(["--bytes".to_owned(), budget_bytes.to_string(), "--".to_owned()]);
            words.extend(directories.iter().map(|directory| directory.display().to_string()));
        }
        Reads::Pages { .. } => words.push("--pages".to_owned()),
    }
    let (first, rest) = words.split_first().ok_or_else(|| RequestError::new("no command"))?;
    let mut reader = Command::new(first)
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(RequestError::new)?;
    // It reads all of them before it says anything.
    if let (Reads::Pages { pages, .. }, Some(stdin)) = (reads, reader.stdin.take()) {
        // One that does not take them has ended, and says why: it is waited for as any other.
        let _ = serde_json::to_writer(std::io::BufWriter::new(stdin), pages);
    }
    Ok(reader)
}
