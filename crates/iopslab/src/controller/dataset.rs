//! Loading the data set: once per (data set, database version, schema); later runs find its snapshot.

use std::time::Instant;

use evidence::HostId;
use spec::Plan;
use wire::{ClientRequest, DatabaseRequest, Endpoint, Reply, Request, SnapshotFacts};

use super::crew::{Crew, unexpected};
use crate::failure::Failure;
use crate::progress::{Screen, human_duration};

/// Requests in flight while loading.
const LOAD_CONCURRENCY: u32 = 128;
/// Loading may wait for a flush; a trial's timeout would be too strict.
const LOAD_TIMEOUT_S: f64 = 30.0;

pub(super) fn load(plan: &Plan, crew: &mut Crew, screen: &mut Screen) -> Result<SnapshotFacts, Failure> {
    let began = Instant::now();
    let reply = crew.call(
        HostId::DATABASE,
        Request::Database(DatabaseRequest::StartLoading),
        screen,
    )?;
    let Reply::Loading { contact_points } = reply else {
        return Err(unexpected(&reply));
    };
    let workload = plan.workloads.first();
    let keys = workload
        .map(|workload| workload.keys)
        .ok_or_else(|| Failure::input("the plan has no workload"))?;
    let request = ClientRequest::Load {
        endpoint: endpoint(plan, contact_points, LOAD_TIMEOUT_S),
        dataset: plan.dataset,
        hashed_keys: keys.hashed,
        zero_padding: keys.zero_padding,
        concurrency: LOAD_CONCURRENCY,
    };
    let reply = crew.call(HostId::CLIENT, Request::Client(request), screen)?;
    let Reply::Loaded(loaded) = reply else {
        return Err(unexpected(&reply));
    };
    let reply = crew.call(
        HostId::DATABASE,
        Request::Database(DatabaseRequest::FinishLoading),
        screen,
    )?;
    let Reply::Snapshot(facts) = reply else {
        return Err(unexpected(&reply));
    };
    screen.say(&format!(
        "data set: loaded {} records ({:.0} records/s), kept as a snapshot; {} in all",
        loaded.records,
        loaded.records as f64 / loaded.seconds,
        human_duration(began.elapsed().as_secs_f64())
    ));
    Ok(facts)
}

/// Where the database of this plan answers.
pub(super) fn endpoint(plan: &Plan, contact_points: Vec<String>, request_timeout_s: f64) -> Endpoint {
    Endpoint {
        contact_points,
        keyspace: "ycsb".to_owned(),
        table: "usertable".to_owned(),
        consistency: plan.target.consistency,
        request_timeout_s,
    }
}
