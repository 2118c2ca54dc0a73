//! From what happened in a trial to its stored evidence.

use std::collections::BTreeMap;
use std::time::Instant;

use archive::{JournalEvent, TrialLogs};
use evidence::{Clock, ClockReading, HostId, HostSample, NodeFacts, Overhead, TrialRecord, Validity, VolumeFigures};
use experiment::{Cell, PlannedTrial, SettingsInForce, Setup};
use wire::StoppedTrial;

use super::state::TrialState;
use crate::hosts;
use crate::run::Run;
use crate::run_failure::Result;

/// The record of a trial.
pub(super) fn record(
    (planned, cell, setup): (&PlannedTrial, &Cell, &Setup),
    state: &TrialState,
    stopped: &BTreeMap<HostId, StoppedTrial>,
) -> TrialRecord {
    let measured = state.measured.as_ref();
    // The slowest host is what the trial waits for.
    let overheads = state.started.iter().filter_map(|(host, started)| {
        let stop_s = stopped.get(host).map_or(0.0, |s| s.stop_s);
        let rest_s = state.rest_s;
        started.overhead.map(|o| Overhead { rest_s, stop_s, ..o })
    });
    let slowest = |a: Overhead, b: Overhead| Overhead {
        restore_s: a.restore_s.max(b.restore_s),
        start_s: a.start_s.max(b.start_s),
        settle_s: a.settle_s.max(b.settle_s),
        rest_s: a.rest_s.max(b.rest_s),
        stop_s: a.stop_s.max(b.stop_s),
    };
    let clock = |(host, start): (&HostId, &ClockReading)| {
        let end = state.clocks_at_end.get(host).copied();
        (*host, Clock { start: *start, end })
    };
    TrialRecord {
        validity: state.validity.clone(),
        started_at: state.warmup_began().to_string(),
        modified: state.modified.clone(),
        data_volumes: state.data_volumes.clone(),
        client: measured.and_then(|m| m.result.clone()),
        clients: measured.map(|m| m.parts.clone()).unwrap_or_default(),
        nodes: hosts::nodes_of(setup).into_iter().map(|host| node(host, setup, state, stopped.get(&host))).collect(),
        clocks: state.clocks_at_start.iter().map(clock).collect(),
        faults: state.faults.clone(),
        writes: measured.and_then(|m| m.writes.clone()),
        overhead: overheads.reduce(slowest),
        fork: state.started.values().next().and_then(|started| started.fork),
        table: state.table.clone(),
        ..TrialRecord::of(cell, planned.block)
    }
}

fn node(host: HostId, setup: &Setup, state: &TrialState, stopped: Option<&StoppedTrial>) -> NodeFacts {
    let started = state.started.get(&host);
    let mut volumes = started.map(|s| s.volumes.clone()).unwrap_or_default();
    let began_ms = state.measurement_began_ms(host);
    let samples = state.samples.of(host);
    for volume in &mut volumes {
        let credits = |of: fn(&VolumeFigures) -> Option<f64>| {
            let in_sample = |sample: &HostSample| sample.volumes.get(&volume.role).and_then(of);
            let first =
                samples.iter().find(|s| began_ms.is_none_or(|began| s.unix_ms as f64 >= began)).and_then(in_sample);
            first.zip(samples.iter().rev().find_map(in_sample))
        };
        (volume.burst_credits, volume.byte_credits) = (credits(|v| v.burst_credits), credits(|v| v.byte_credits));
    }
    let given = started.and_then(|s| s.given);
    let own = match setup.at.is_started() {
        true => NodeFacts {
            cpus: setup.cpus,
            heap_bytes: setup.heap_bytes,
            memory_limit_bytes: setup.memory_limit_bytes,
            page_cache_budget_bytes: setup.page_cache_budget_bytes,
            ..NodeFacts::UNKNOWN
        },
        // Of a node that is only watched nobody knows its heap, or what the page cache may take.
        false => NodeFacts {
            cpus: given.map_or(0.0, |given| given.cpus),
            memory_limit_bytes: given.map_or(0, |given| given.memory_bytes),
            ..NodeFacts::UNKNOWN
        },
    };
    NodeFacts {
        host,
        program_cache_bytes: stopped.and_then(|s| s.program_cache_bytes),
        data_bytes_on_disk: match (started, stopped) {
            (Some(started), _) => started.data_bytes_on_disk,
            (None, Some(stopped)) => stopped.data_bytes_on_disk,
            (None, None) => 0,
        },
        restored_keys_checked: started.map_or(0, |s| s.keys_checked),
        volumes,
        settings: started.map_or(SettingsInForce::NONE, |s| s.settings.clone()),
        warmed: started.and_then(|s| s.warmed),
        rest: state.rests.get(&host).cloned(),
        others: stopped.map(|s| s.others.clone()).unwrap_or_default(),
        backlog: state.backlogs.get(&host).copied(),
        ..own
    }
}

/// What a database without a host of the run said of itself to its first client, as samples of its own: of its host
/// they have nothing.
fn said_to_client(samples: &mut BTreeMap<HostId, Vec<HostSample>>) -> Option<Vec<HostSample>> {
    let of_client = samples.get_mut(&HostId::CLIENT)?;
    let said = of_client.iter_mut().filter(|sample| !sample.database.is_empty()).map(|sample| HostSample {
        t_s: sample.t_s,
        unix_ms: sample.unix_ms,
        database: std::mem::take(&mut sample.database),
        ..HostSample::default()
    });
    let said: Vec<HostSample> = said.collect();
    (!said.is_empty()).then_some(said)
}

/// Stores a trial: it appears whole or not at all.
pub(super) fn store(run: &Run<'_>, record: &TrialRecord, mut state: TrialState, logs: TrialLogs) -> Result<()> {
    let mut samples = state.samples.take();
    for node in &record.nodes {
        samples.entry(node.host).or_default();
    }
    let mut intervals = Vec::new();
    if let Some(measured) = &mut state.measured {
        samples.append(&mut measured.samples);
        intervals.append(&mut measured.intervals);
    }
    for (host, of_host) in &mut samples {
        if let Some(began_ms) = state.measurement_began_ms(*host) {
            for sample in of_host {
                sample.t_s = (sample.unix_ms as f64 - began_ms) / 1e3;
            }
        }
    }
    if record.nodes.is_empty() {
        let said = said_to_client(&mut samples);
        samples.extend(said.map(|said| (HostId::DATABASE, said)));
    }
    let began = Instant::now();
    run.directory.write_trial(record, &intervals, &samples, logs)?;
    tracing::info!(seconds = began.elapsed().as_secs_f64(), "the trial is stored");
    run.note(JournalEvent::TrialDone {
        cell: record.cell.clone(),
        block: record.block,
        valid: record.validity == Validity::Valid,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sample(unix_ms: i64, database: Value) -> HostSample {
        HostSample { unix_ms, database: serde_json::from_value(database).unwrap(), ..HostSample::default() }
    }

    #[test]
    fn what_a_database_says_to_its_client_stands_in_samples_of_its_own() {
        let counted = json!({ "postgresql_wal_bytes": 7.0 });
        let mut asking = sample(2, counted.clone());
        asking.host.process_cpu_s = Some(3.0);
        let mut samples = BTreeMap::from([(HostId::CLIENT, vec![sample(1, json!({})), asking])]);
        assert_eq!(said_to_client(&mut samples), Some(vec![sample(2, counted)]));
        let of_client = &samples[&HostId::CLIENT];
        assert!(of_client.iter().all(|sample| sample.database.is_empty()));
        assert_eq!(of_client[1].host.process_cpu_s, Some(3.0));
        // Cassandra says nothing there.
        assert_eq!(said_to_client(&mut samples), None);
    }
}
