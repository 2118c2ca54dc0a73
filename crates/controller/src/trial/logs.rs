//! The logs of a trial's nodes come home piece by piece.

use std::collections::BTreeMap;

use archive::TrialLogs;
use evidence::HostId;
use experiment::PlannedTrial;
use wire::{DatabaseRequest, LOG_MOST_BYTES, LogFile, Reply, Request, StoppedTrial};

use crate::run::Run;
use crate::run_failure::{Failure, Result, answer};

/// Most logs of a database's process. Cassandra's has two: its own and that of its garbage collector.
const LOGS_OF_A_PROCESS: usize = 4;

/// Fetches all logs into the run directory, aside until the trial is stored.
pub(super) fn fetch(
    run: &mut Run<'_>,
    planned: &PlannedTrial,
    stopped: &BTreeMap<HostId, StoppedTrial>,
) -> Result<TrialLogs> {
    let mut logs = run.directory.logs(&planned.cell, planned.block)?;
    let most = most_logs(run.plan().faults.len());
    for (host, stopped) in stopped {
        check_number(*host, stopped.logs.len(), most)?;
        for log in &stopped.logs {
            let name = name(*host, log);
            check(*host, log)?;
            let read = |offset: u64| {
                if offset > 0 {
                    let share = format!("{:.0} %", 100.0 * offset as f64 / log.bytes as f64);
                    run.agents.screen.doing(&format!("fetching {name}"), &share);
                }
                let request = DatabaseRequest::ReadLog { name: log.name.clone(), offset };
                let piece = answer!(Reply::LogPiece(piece) => piece);
                let piece = run.agents.call(*host, Request::Database(request), piece)?;
                piece.bytes().map_err(Failure::work)
            };
            fetch_one(log.bytes, read, |bytes| Ok(logs.append(&name, bytes)?))?;
        }
    }
    Ok(logs)
}

/// Fetches a log of so many bytes, if its host is right: `read` gives the piece at an offset, `keep` takes what
/// follows. Of one that is longer than [`LOG_MOST_BYTES`] the beginning is kept, and at its end how much is not.
fn fetch_one(
    bytes: u64,
    mut read: impl FnMut(u64) -> Result<Vec<u8>>,
    mut keep: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let (mut offset, end) = (0, bytes.min(LOG_MOST_BYTES));
    // An empty log is evidence too.
    keep(&[])?;
    while offset < end {
        let piece = read(offset)?;
        if piece.is_empty() {
            // It was cut after the database had ended; what there was is here.
            break;
        }
        let piece = &piece[..piece.len().min((end - offset) as usize)];
        keep(piece)?;
        offset += piece.len() as u64;
    }
    match bytes - end {
        0 => Ok(()),
        more => keep(format!("\niopslab: {more} more bytes of this log are not kept\n").as_bytes()),
    }
}

/// Most logs that a node leaves of a trial with so many planned faults: each may end its process, and the next one
/// begins logs of its own.
fn most_logs(faults: usize) -> usize {
    LOGS_OF_A_PROCESS * (1 + faults)
}

/// Each log takes up to [`LOG_MOST_BYTES`] of the disk, or at least a file.
fn check_number(host: HostId, logs: usize, most: usize) -> Result<()> {
    match logs <= most {
        true => Ok(()),
        false => Err(Failure::work(format!("the {host} agent has {logs} logs of a trial, more than {most}"))),
    }
}

/// A log takes the name of no other file of a trial.
fn check(host: HostId, log: &LogFile) -> Result<()> {
    match log.name.ends_with(".log") {
        true => Ok(()),
        false => Err(Failure::work(format!("the {host} agent has a log called {:?}", log.name))),
    }
}

/// `database.log` of the first host, `database-2.database.log` of the second.
fn name(host: HostId, log: &LogFile) -> String {
    match host.index {
        0 => log.name.clone(),
        _ => format!("{host}.{}", log.name),
    }
}

#[cfg(test)]
mod tests {
    use wire::LOG_PIECE_BYTES;

    use super::*;

    /// How many bytes are kept of a log that is said to have so many, of a host that always has a piece more; the last
    /// that is kept.
    fn kept(bytes: u64, piece: u64) -> (u64, String) {
        let (mut kept, mut last) = (0, Vec::new());
        let piece = vec![b'x'; piece as usize];
        let read = |offset: u64| {
            assert!(offset < LOG_MOST_BYTES, "{offset} is asked for, and nobody would keep it");
            Ok(piece.clone())
        };
        let keep = |bytes: &[u8]| {
            kept += bytes.len() as u64;
            last = bytes.to_vec();
            Ok(())
        };
        fetch_one(bytes, read, keep).unwrap();
        (kept, String::from_utf8(last).unwrap())
    }

    /// A node that logs in a loop, or a host that says so, could fill the controller's disk.
    #[test]
    fn a_log_that_is_longer_than_any_is_kept_up_to_its_bound_and_says_so_at_its_end() {
        // The last piece goes beyond the bound.
        for (bytes, piece) in [(LOG_MOST_BYTES + 7, LOG_PIECE_BYTES - 1), (u64::MAX, LOG_PIECE_BYTES)] {
            let (kept, last) = kept(bytes, piece);
            let words = format!("\niopslab: {} more bytes of this log are not kept\n", bytes - LOG_MOST_BYTES);
            assert_eq!((kept, last.as_str()), (LOG_MOST_BYTES + words.len() as u64, words.as_str()));
        }
        // A host that sends more than it has announced.
        assert_eq!(kept(10, LOG_PIECE_BYTES), (10, "x".repeat(10)));
        assert_eq!(kept(0, LOG_PIECE_BYTES), (0, String::new()));
    }

    #[test]
    fn a_host_has_as_many_logs_as_its_node_had_processes_and_no_others() {
        let check = |logs, faults| check_number(HostId::DATABASE, logs, most_logs(faults));
        assert!(check(2, 0).is_ok() && check(2 + 2 * 3, 3).is_ok());
        let refused = check(1_000_000, 3).unwrap_err().message();
        assert_eq!(refused, "the database agent has 1000000 logs of a trial, more than 16");
    }
}
