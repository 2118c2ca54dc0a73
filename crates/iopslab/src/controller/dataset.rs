//! Loading the data set: once per (data set, database version, schema, cluster); later runs find its snapshots.

use std::collections::BTreeMap;
use std::time::Instant;

use archive::{JournalEvent, RunDirectory};
use evidence::HostId;
use experiment::{BacklogFiles, Consistency, ConsistencyLevels, Job, KeyFormat, Plan, Setup, part_of};
use wire::{ClientRequest, DatabaseRequest, Endpoint, ExistingDataset, Reply, Request, SnapshotFacts};

use super::agents::{Agents, unexpected};
use super::hosts::{self, Cluster};
use super::journal::note;
use super::store::{Restored, Store};
use super::target::Target;
use crate::failure::Failure;
use crate::progress::{Screen, human_duration};

/// Requests in flight while loading.
const LOAD_CONCURRENCY: u32 = 128;
/// Loading may wait for a flush; a trial's timeout would be too strict.
const LOAD_TIMEOUT_S: f64 = 30.0;

/// Names of the nodes' snapshots, and the snapshots.
type FoundHere = (BTreeMap<HostId, String>, Option<Vec<SnapshotFacts>>);

/// Makes sure that every node of every cluster of the plan has its snapshot of the data set.
pub(super) fn provide(
    directory: &RunDirectory,
    target: &Target,
    agents: &mut Agents,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let plan = directory.plan();
    let store = Store::of(plan)?;
    initialise(directory.setups(), agents, screen)?;
    for cluster in hosts::clusters(directory.setups()) {
        let cluster = &cluster;
        let of = match cluster.files.label() {
            label if label.is_empty() => "data set".to_owned(),
            label => format!("data set of {label}"),
        };
        let (keys, found) = find(cluster, agents, screen)?;
        let restored = match (&found, &store) {
            (None, Some(store)) => store.restore(cluster, &keys, &of, agents, screen)?,
            _ => Restored::Nothing,
        };
        let anew = matches!(restored, Restored::Damaged);
        let (parts, from) = match (found, restored) {
            (Some(found), _) => {
                let records = plan.dataset.records;
                screen.say(&format!("{of}: {records} records from an earlier run's snapshot"));
                (found, None)
            }
            (None, Restored::All(restored, origin)) => (restored, Some(origin)),
            (None, Restored::Nothing | Restored::Damaged) => {
                (load(directory.job(), target, cluster, &of, agents, screen)?, None)
            }
        };
        if let (Some(store), None) = (&store, &from) {
            store.keep(directory, cluster, &keys, (&of, anew), agents, screen)?;
        }
        let bytes = parts.iter().map(|part| part.table_bytes).sum();
        screen.say(&format!(
            "{of}: {:.0} MiB payload, {:.0} MiB on disk",
            plan.dataset.payload_bytes() as f64 / catalog::MIB,
            bytes as f64 / catalog::MIB
        ));
        note(
            directory,
            JournalEvent::DatasetReady {
                records: plan.dataset.records,
                bytes,
                from,
            },
        )?;
    }
    Ok(())
}

/// Data volumes that were made from a snapshot of EBS have each of their blocks read: on all machines at the same time.
fn initialise(setups: &[Setup], agents: &mut Agents, screen: &mut Screen) -> Result<(), Failure> {
    let mut requests = Vec::new();
    for cluster in hosts::clusters(setups) {
        let files = &cluster.files;
        let made = |host: &HostId| hosts::is_restored(agents.machine_use(*host).as_ref());
        for host in cluster.nodes().into_iter().filter(made) {
            let files = files.clone();
            requests.push((host, Request::Database(DatabaseRequest::Initialise { files })));
        }
    }
    if requests.is_empty() {
        return Ok(());
    }
    for (host, reply) in agents.call_all(requests, screen)? {
        let Reply::Initialised { how, before } = reply else {
            return Err(unexpected(&reply));
        };
        let (machine, gib) = (agents.place(host).machine, how.bytes as f64 / catalog::MIB / 1_024.0);
        screen.say(&match before {
            true => format!(
                "{machine}: every block of the volume made from {} was read before, on {}",
                how.snapshot, how.done_at
            ),
            false => format!(
                "{machine}: every block of the volume made from {} was read: {gib:.1} GiB in {}, {:.0} MiB/s",
                how.snapshot,
                human_duration(how.seconds),
                how.bytes_per_s() / catalog::MIB
            ),
        });
    }
    Ok(())
}

/// What the snapshot of each node is called, and the snapshots of all nodes, where all of them are there and come from the
/// same loading.
fn find(cluster: &Cluster, agents: &mut Agents, screen: &mut Screen) -> Result<FoundHere, Failure> {
    let files = cluster.files.clone();
    let request = DatabaseRequest::FindSnapshot { files };
    let replies = agents.ask_each(&cluster.nodes(), &request, screen)?;
    let (mut keys, mut found) = (BTreeMap::new(), Vec::new());
    for (host, reply) in replies {
        match reply {
            Reply::Found { key, snapshot } => {
                keys.insert(host, key);
                found.push(snapshot);
            }
            other => return Err(unexpected(&other)),
        }
    }
    let found: Option<Vec<SnapshotFacts>> = found.into_iter().collect();
    let found = found.filter(|parts| parts.windows(2).all(|pair| pair[0].loading == pair[1].loading));
    Ok((keys, found))
}

fn load(
    job: &Job,
    target: &Target,
    cluster: &Cluster,
    of: &str,
    agents: &mut Agents,
    screen: &mut Screen,
) -> Result<Vec<SnapshotFacts>, Failure> {
    let began = Instant::now();
    let nodes = cluster.nodes();
    let start = DatabaseRequest::StartLoading {
        files: cluster.files.clone(),
        loading: jiff::Timestamp::now().to_string(),
    };
    let mut contact_points = Vec::new();
    for reply in agents.ask_each(&nodes, &start, screen)?.into_values() {
        match reply {
            Reply::Loading {
                contact_points: of_node,
            } => contact_points.extend(of_node),
            other => return Err(unexpected(&other)),
        }
    }
    // Every replica has every record, so that no hint is left to deliver and no trial finds one missing.
    let levels = ConsistencyLevels::all(Consistency::All);
    let endpoint = target.endpoint(contact_points, levels, LOAD_TIMEOUT_S);
    let (records, seconds) = write(job, &endpoint, Records::all(&job.plan), agents, screen)?;
    for reply in agents
        .ask_each(&nodes, &DatabaseRequest::FinishLoading, screen)?
        .into_values()
    {
        if !matches!(reply, Reply::AtRest) {
            return Err(unexpected(&reply));
        }
    }
    if let Some(backlog) = cluster.files.backlog {
        overwrite(job, &endpoint, (&nodes, backlog, of), agents, screen)?;
    }
    let mut parts = Vec::new();
    for reply in agents
        .ask_each(&nodes, &DatabaseRequest::KeepSnapshot, screen)?
        .into_values()
    {
        match reply {
            Reply::Snapshot(facts) => parts.push(facts),
            other => return Err(unexpected(&other)),
        }
    }
    screen.say(&format!(
        "{of}: loaded {} records ({:.0} records/s), kept as a snapshot; {} in all",
        records,
        records as f64 / seconds,
        human_duration(began.elapsed().as_secs_f64())
    ));
    Ok(parts)
}

/// Writes so many records again for each SSTable of a backlog, and has all nodes flush them.
fn overwrite(
    job: &Job,
    endpoint: &Endpoint,
    (nodes, backlog, of): (&[HostId], BacklogFiles, &str),
    agents: &mut Agents,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let began = Instant::now();
    for part in 0..u64::from(backlog.sstables) {
        let records = Records {
            first: part * backlog.records,
            count: backlog.records,
            exist: true,
        };
        write(job, endpoint, records, agents, screen)?;
        let flushed = agents.ask_each(nodes, &DatabaseRequest::FlushBacklog, screen)?;
        if let Some(other) = flushed.into_values().find(|reply| !matches!(reply, Reply::Flushed)) {
            return Err(unexpected(&other));
        }
    }
    screen.say(&format!(
        "{of}: wrote {} records again, in {} SSTables more of each data directory, in {}",
        backlog.all_records(),
        backlog.sstables,
        human_duration(began.elapsed().as_secs_f64())
    ));
    Ok(())
}

/// Makes sure that every existing cluster of the plan has the data set.
pub(super) fn provide_existing(
    job: &Job,
    target: &Target,
    agents: &mut Agents,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let Job { plan, setups } = job;
    let mut seen: Vec<&Vec<String>> = Vec::new();
    for setup in setups.iter() {
        let Some(hosts) = setup.existing.as_ref().filter(|hosts| !seen.contains(hosts)) else {
            continue;
        };
        seen.push(hosts);
        let of = format!("data set in {}", hosts.join(", "));
        let levels = setup.consistency.unwrap_or(plan.target.consistency);
        let wanted = ExistingDataset {
            endpoint: target.endpoint(hosts.clone(), levels, LOAD_TIMEOUT_S),
            dataset: plan.dataset,
            keys: keys(plan)?,
            replication_factor: setup.placement.replication_factor,
        };
        screen.doing("looking for the data set", "");
        let reply = agents.call(
            HostId::CLIENT,
            Request::Client(ClientRequest::Take(Box::new(wanted.clone()))),
            screen,
        )?;
        let Reply::Taken { whole, left_out } = reply else {
            return Err(unexpected(&reply));
        };
        for node in left_out {
            screen.say(&format!(
                "warning: no connection to node {node}: the other nodes get its load"
            ));
        }
        if whole {
            screen.say(&format!("{of}: {} records, loaded before", plan.dataset.records));
            continue;
        }
        let began = Instant::now();
        // As many replicas as can be reached: a node that is down does not stop somebody else's cluster.
        let everywhere = ConsistencyLevels::all(Consistency::Quorum);
        let endpoint = target.endpoint(hosts.clone(), everywhere, LOAD_TIMEOUT_S);
        let (records, seconds) = write(job, &endpoint, Records::all(plan), agents, screen)?;
        let reply = agents.call(
            HostId::CLIENT,
            Request::Client(ClientRequest::Loaded(Box::new(wanted))),
            screen,
        )?;
        if !matches!(reply, Reply::Marked) {
            return Err(unexpected(&reply));
        }
        screen.say(&format!(
            "{of}: loaded {records} records ({:.0} records/s); {} in all",
            records as f64 / seconds,
            human_duration(began.elapsed().as_secs_f64())
        ));
    }
    Ok(())
}

/// How keys are written: the same for all workloads.
fn keys(plan: &Plan) -> Result<KeyFormat, Failure> {
    let workload = plan.workloads.first();
    workload
        .map(|workload| workload.keys)
        .ok_or_else(|| Failure::input("the plan has no workload"))
}

/// What the clients of a run write together.
#[derive(Clone, Copy)]
struct Records {
    /// Number of the first; of those that exist its place in their even order.
    first: u64,
    count: u64,
    /// They get new values; else they are inserted.
    exist: bool,
}

impl Records {
    /// The whole data set.
    fn all(plan: &Plan) -> Self {
        Self {
            first: 0,
            count: plan.dataset.records,
            exist: false,
        }
    }
}

/// Has the clients write records, each its part; gives how many and the seconds of the slowest client.
fn write(
    job: &Job,
    endpoint: &Endpoint,
    records: Records,
    agents: &mut Agents,
    screen: &mut Screen,
) -> Result<(u64, f64), Failure> {
    let plan = &job.plan;
    let keys = keys(plan)?;
    let clients = hosts::clients(job);
    let part = |(client, number): (HostId, u32)| {
        let of = clients.len() as u32;
        let part = |number| part_of(records.count, number, of);
        let request = ClientRequest::Load {
            endpoint: endpoint.clone(),
            dataset: plan.dataset,
            keys,
            first_record: records.first + (0..number).map(part).sum::<u64>(),
            records: part(number),
            concurrency: LOAD_CONCURRENCY.div_ceil(of),
            overwrites: records.exist,
        };
        (client, Request::Client(request))
    };
    let requests = clients.iter().copied().zip(0..).map(part).collect();
    let (mut records, mut seconds) = (0, 0.0_f64);
    for reply in agents.call_all(requests, screen)?.into_values() {
        let Reply::Loaded(loaded) = reply else {
            return Err(unexpected(&reply));
        };
        records += loaded.records;
        seconds = seconds.max(loaded.seconds);
    }
    Ok((records, seconds))
}
