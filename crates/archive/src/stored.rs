//! One trial's directory: how it is filled and read back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use evidence::{HostId, HostSample, Interval, MOST_SAMPLES, TrialRecord};
use reported::Reports;

use crate::files::{parse_json, versioned_json, write_synced};
use crate::hlog::LatencyLog;
use crate::{Result, RunError, TrialLogs, files, hlog, manifest, samples};

/// The file whose presence makes a directory a trial.
pub const RECORD: &str = "trial.json";
const LATENCIES: &str = "latency.hlog";
const RECORD_MOST_BYTES: u64 = 16 << 20;
/// Most values of a record, each of which takes up to 160 bytes of memory while it is read, on all CPUs at the same
/// time. The most in one are the rounds that brought a node to rest, of a second or two and seven values: 100,000
/// values of 60 nodes that were not at rest within two minutes.
const RECORD_MOST_VALUES: usize = 1 << 20;
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

/// Fills an empty directory with a trial of this product; every file is on the device when this returns. Gives the hash
/// of each file by its name, that of the record last.
pub fn fill(
    directory: &Path,
    reports: &Reports,
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
        hashes.push(put(&name, &samples::encode(&directory.join(&name), reports, of_host)?)?);
    }
    hashes.extend(logs.place(directory)?);
    hashes.push(put(RECORD, &versioned_json(&directory.join(RECORD), record)?)?);
    Ok(hashes)
}

/// Reads the record alone; its times and numbers are those of a trial.
pub fn record(directory: &Path) -> Result<TrialRecord> {
    let path = directory.join(RECORD);
    let bytes = files::read(&path, RECORD_MOST_BYTES)?;
    // Those of a list or an object have a comma between them; in texts there are some more.
    if bytes.iter().filter(|byte| **byte == b',').count() > RECORD_MOST_VALUES {
        return Err(RunError::damaged(&path, format!("it has more than {RECORD_MOST_VALUES} values")));
    }
    let record: TrialRecord = parse_json(&path, &bytes)?;
    record.check().map_err(|problem| RunError::damaged(&path, problem))?;
    Ok(record)
}

/// Reads a trial's directory back.
pub fn read(directory: &Path) -> Result<StoredTrial> {
    let record = record(directory)?;
    let latencies = LatencyLog::read(&directory.join(LATENCIES))?;
    let samples = samples_of(directory, MOST_SAMPLES)?;
    Ok(StoredTrial { record, latencies, samples })
}

/// The samples of all hosts, which are no more than so many together, however small their files are.
fn samples_of(directory: &Path, most_rows: usize) -> Result<BTreeMap<HostId, Vec<HostSample>>> {
    let (mut by_host, mut rows) = (BTreeMap::new(), 0);
    let entries = fs::read_dir(directory).map_err(|e| RunError::file("list", directory, e))?;
    for entry in entries {
        let path = entry.map_err(|e| RunError::file("list", directory, e))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if let Some(host) = name.strip_prefix("host-").and_then(|n| n.strip_suffix(".parquet")) {
            let host: HostId = host.parse().map_err(|e| RunError::damaged(&path, e))?;
            let bytes = files::read(&path, SAMPLES_MOST_BYTES)?;
            let of_host = samples::decode(&path, bytes, most_rows - rows)?;
            rows += of_host.len();
            by_host.insert(host, of_host);
        }
    }
    Ok(by_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_a_trial_have_no_more_samples_together_than_it_can_have() {
        let directory = tempfile::tempdir().unwrap();
        let sample = |second: u32| HostSample { t_s: f64::from(second), ..HostSample::default() };
        let of_host: Vec<HostSample> = (0..50).map(sample).collect();
        for host in ["database", "database-2", "client"] {
            let path = directory.path().join(format!("host-{host}.parquet"));
            fs::write(&path, samples::encode(&path, &reported::cassandra::REPORTS, &of_host).unwrap()).unwrap();
        }
        let read = samples_of(directory.path(), 150).unwrap();
        assert!(read.len() == 3 && read.values().all(|samples| *samples == of_host));
        let refused = samples_of(directory.path(), 149).unwrap_err().to_string();
        assert!(refused.contains("is damaged: it has 50 rows, and the hosts of a trial have"), "{refused}");
    }
}
