//! The logs of a trial's nodes come home piece by piece.

use std::collections::BTreeMap;

use archive::{RunDirectory, TrialLogs};
use evidence::HostId;
use spec::PlannedTrial;
use wire::{DatabaseRequest, LogFile, Reply, Request, StoppedTrial};

use crate::controller::crew::{Crew, unexpected};
use crate::failure::Failure;
use crate::progress::Screen;

/// Fetches all logs into the run directory, aside until the trial is stored.
pub(super) fn fetch(
    crew: &mut Crew,
    directory: &RunDirectory,
    planned: &PlannedTrial,
    stopped: &BTreeMap<HostId, StoppedTrial>,
    screen: &mut Screen,
) -> Result<TrialLogs, Failure> {
    let mut logs = directory.logs(&planned.cell, planned.block).map_err(Failure::work)?;
    for (host, stopped) in stopped {
        for log in &stopped.logs {
            let name = name(*host, log);
            let mut offset = 0;
            // An empty log is evidence too.
            logs.append(&name, &[]).map_err(Failure::work)?;
            while offset < log.bytes {
                if offset > 0 {
                    let share = format!("{:.0} %", 100.0 * offset as f64 / log.bytes as f64);
                    screen.doing(&format!("fetching {name}"), &share);
                }
                let request = DatabaseRequest::ReadLog {
                    name: log.name.clone(),
                    offset,
                };
                let piece = match crew.call(*host, Request::Database(request), screen)? {
                    Reply::LogPiece(piece) => piece.bytes().map_err(Failure::work)?,
                    other => return Err(unexpected(&other)),
                };
                if piece.is_empty() {
                    // It was cut after the database had ended; what there was is here.
                    break;
                }
                logs.append(&name, &piece).map_err(Failure::work)?;
                offset += piece.len() as u64;
            }
        }
    }
    Ok(logs)
}

/// `database.log` of the first host, `database-2.database.log` of the second.
fn name(host: HostId, log: &LogFile) -> String {
    match host.index {
        0 => log.name.clone(),
        _ => format!("{host}.{}", log.name),
    }
}
