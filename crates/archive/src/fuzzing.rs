//! Decoders of files that a received run may have, for the fuzzers alone: bytes in, and whatever is wrong with them
//! out.

use std::path::Path;

use evidence::{HostSample, MOST_SAMPLES};

use crate::journal::JournalEntry;
use crate::{LatencyLog, Result, journal, manifest, samples};

const NAME: &str = "fuzz";

/// `journal.jsonl`.
pub fn journal(bytes: &[u8]) -> Result<Vec<JournalEntry>> {
    journal::parse(Path::new(NAME), bytes)
}

/// `run.sha256`: how many files it lists.
pub fn hashes(bytes: &[u8]) -> Result<usize> {
    manifest::parse(Path::new(NAME), bytes.to_vec()).map(|listed| listed.len())
}

/// `latency.hlog`: how many intervals it has.
pub fn latencies(bytes: &[u8]) -> Result<usize> {
    let mut intervals = 0;
    LatencyLog::of(Path::new(NAME), bytes.to_vec()).for_each(|_| intervals += 1)?;
    Ok(intervals)
}

/// `host-*.parquet`.
pub fn samples(bytes: &[u8]) -> Result<Vec<HostSample>> {
    samples::decode(Path::new(NAME), bytes.to_vec(), MOST_SAMPLES)
}
