//! The logs of a trial's nodes come home piece by piece.

use std::collections::BTreeMap;

use archive::TrialLogs;
use evidence::HostId;
use experiment::PlannedTrial;
use wire::{DatabaseRequest, LOG_MOST_BYTES, LogFile, Reply, Request, StoppedTrial};

use crate::controller::failure::{Failure, answer};
use crate::controller::run::Run;

/// Fetches all logs into the run directory, aside until the trial is stored.
pub(super) fn fetch(
    run: &mut Run<'_>,
    planned: &PlannedTrial,
    stopped: &BTreeMap<HostId, StoppedTrial>,
) -> Result<TrialLogs, Failure> {
    let mut logs = run.directory.logs(&planned.cell, planned.block)?;
    for (host, stopped) in stopped {
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
