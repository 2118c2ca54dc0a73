//! One trial's directory: how it is filled and read back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use evidence::{HostId, HostSample, Interval, TrialRecord};

use crate::files::{read_json, versioned_json, write_synced};
use crate::hlog::LatencyLog;
use crate::{Result, RunError, TrialLogs, files, hlog, manifest, samples};

/// The file whose presence makes a directory a trial.
pub const RECORD: &str = "trial.json";
const LATENCIES: &str = "latency.hlog";
/// Most bytes of a host's samples: a day, a hundred figures of 8 bytes a second.
const SAMPLES_MOST_BYTES: u64 = 128 << 20;

/// A trial as it was stored.
#[derive(Debug, Clone)]
pub struct StoredTrial {
    /// `trial.json`.
    pub record: TrialRecord,
    /// `latency.hlog`.
    pub latencies: LatencyLog,
    /// `host-<host>.parquet`, by host.
    pub samples: BTreeMap<HostId, Vec<HostSample>>,
}

/// Fills an empty directory with a trial; every file is on the device when this returns. Gives the hash of each file by
/// its name, that of the record last.
pub fn fill(
    directory: &Path,
    record: &TrialRecord,
    intervals: &[Interval],
    by_host: &BTreeMap<HostId, Vec<HostSample>>,
    logs: TrialLogs,
) -> Result<Vec<(String, String)>> {
    let mut hashes = Vec::new();
    let put = |name: &str, bytes: &[u8]| {
        write_synced(&directory.join(name), bytes)?;
        Ok((name.to_owned(), manifest::hash(bytes)))
    };
    hashes.push(put(LATENCIES, &hlog::encode(&directory.join(LATENCIES), record, intervals)?)?);
    for (host, of_host) in by_host {
        let name = format!("host-{host}.parquet");
        hashes.push(put(&name, &samples::encode(&directory.join(&name), of_host)?)?);
    }
    hashes.extend(logs.place(directory)?);
    hashes.push(put(RECORD, &versioned_json(&directory.join(RECORD), record)?)?);
    Ok(hashes)
}

/// Reads the record alone; its times and numbers are those of a trial.
pub fn record(directory: &Path) -> Result<TrialRecord> {
    let path = directory.join(RECORD);
    let record: TrialRecord = read_json(&path)?;
    record.check().map_err(|problem| RunError::damaged(&path, problem))?;
    Ok(record)
}

/// Reads a trial's directory back.
pub fn read(directory: &Path) -> Result<StoredTrial> {
    let record = record(directory)?;
    let latencies = LatencyLog::read(&directory.join(LATENCIES))?;
    let mut by_host = BTreeMap::new();
    let entries = fs::read_dir(directory).map_err(|e| RunError::file("list", directory, e))?;
    for entry in entries {
        let path = entry.map_err(|e| RunError::file("list", directory, e))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if let Some(host) = name.strip_prefix("host-").and_then(|n| n.strip_suffix(".parquet")) {
            let host: HostId = host.parse().map_err(|e| RunError::damaged(&path, e))?;
            let bytes = files::read(&path, SAMPLES_MOST_BYTES)?;
            by_host.insert(host, samples::decode(&path, bytes)?);
        }
    }
    Ok(StoredTrial { record, latencies, samples: by_host })
}
