//! The logs of a trial's nodes come home piece by piece.

use std::collections::BTreeMap;

use archive::TrialLogs;
use evidence::HostId;
use experiment::PlannedTrial;
use wire::{DatabaseRequest, LOG_MOST_BYTES, LogFile, Reply, Request, StoppedTrial};

use crate::failure::{Failure, answer};
use crate::run::Run;

/// Most logs of a database's process. Cassandra's has two: its own and that of its garbage collector.
const LOGS_OF_A_PROCESS: usize = 4;

/// Fetches all logs into the run directory, aside until the trial is stored.
pub(super) fn fetch(
    run: &mut Run<'_>,
    planned: &PlannedTrial,
    stopped: &BTreeMap<HostId, StoppedTrial>,
) -> Result<TrialLogs, Failure> {
    let mut logs = run.directory.logs(&planned.cell, planned.block)?;
    let most = most_logs(run.plan().faults.len());
    for (host, stopped) in stopped {
        check_number(*host, stopped.logs.len(), most)?;
        for log in &stopped.logs {
            let name = name(*host, log);
            check(*host, log)?;
            let (mut offset, end) = (0, log.bytes.min(LOG_MOST_BYTES));
            // An empty log is evidence too.
            logs.append(&name, &[])?;
            while offset < end {
                if offset > 0 {
                    let share = format!("{:.0} %", 100.0 * offset as f64 / log.bytes as f64);
                    run.agents.screen.doing(&format!("fetching {name}"), &share);
                }
                let request = DatabaseRequest::ReadLog { name: log.name.clone(), offset };
                let piece = answer!(Reply::LogPiece(piece) => piece);
                let piece = run.agents.call(*host, Request::Database(request), piece)?;
                let piece = piece.bytes().map_err(Failure::work)?;
                if piece.is_empty() {
                    // It was cut after the database had ended; what there was is here.
                    break;
                }
                let piece = &piece[..piece.len().min((end - offset) as usize)];
                logs.append(&name, piece)?;
                offset += piece.len() as u64;
            }
            if log.bytes > end {
                let rest = format!("\niopslab: {} more bytes of this log are not kept\n", log.bytes - end);
                logs.append(&name, rest.as_bytes())?;
            }
        }
    }
    Ok(logs)
}

/// Most logs that a node leaves of a trial with so many planned faults: each may end its process, and the next one
/// begins logs of its own.
fn most_logs(faults: usize) -> usize {
    LOGS_OF_A_PROCESS * (1 + faults)
}

/// Each log takes up to [`LOG_MOST_BYTES`] of the disk, or at least a file.
fn check_number(host: HostId, logs: usize, most: usize) -> Result<(), Failure> {
    match logs <= most {
        true => Ok(()),
        false => Err(Failure::work(format!("the {host} agent has {logs} logs of a trial, more than {most}"))),
    }
}

/// A log takes the name of no other file of a trial.
fn check(host: HostId, log: &LogFile) -> Result<(), Failure> {
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
    use super::*;

    #[test]
    fn a_host_has_as_many_logs_as_its_node_had_processes_and_no_others() {
        let check = |logs, faults| check_number(HostId::DATABASE, logs, most_logs(faults));
        assert!(check(2, 0).is_ok() && check(2 + 2 * 3, 3).is_ok());
        let refused = check(1_000_000, 3).unwrap_err().message();
        assert_eq!(refused, "the database agent has 1000000 logs of a trial, more than 16");
    }
}
