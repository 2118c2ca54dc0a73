//! Loading the data set: once per (data set, database version, schema, cluster); later runs find its snapshots.

use std::time::Instant;

use archive::JournalEvent;
use evidence::{HostId, SnapshotFacts};
use experiment::{
    BacklogFiles, Cluster, Consistency, ConsistencyLevels, KeyFormat, Own, Plan, Setup, Snapshot, part_of,
};
use process::{failure, human_duration};
use wire::{ClientRequest, DatabaseRequest, Endpoint, ExistingDataset, LoadedDataset, OwnRows, Reply, Request};

use super::bucket_snapshot;
use super::hosts;
use super::own_snapshot;
use super::run::Run;
use super::run_failure::{Result, answer};
use super::store::{Keys, OfCluster, Restored, Store, counted};

/// Requests in flight while loading.
const LOAD_CONCURRENCY: u32 = 128;
/// Loading may wait for a flush; a trial's timeout would be too strict.
const LOAD_TIMEOUT_S: f64 = 30.0;

/// Makes sure that every node of every cluster of the plan has its snapshot of the data set.
pub(super) fn provide(run: &mut Run<'_>) -> Result<()> {
    let plan = run.plan();
    let store = Store::of(plan)?;
    initialise(run)?;
    for cluster in &Cluster::all_of(run.setups()) {
        let name = match cluster.files.label() {
            label if label.is_empty() => "data set".to_owned(),
            label => format!("data set of {label}"),
        };
        let (keys, found) = find(run, cluster)?;
        let of = OfCluster { cluster, name, keys };
        let restored = match (&found, &store) {
            (None, Some(store)) => store.restore(run, &of)?,
            _ => Restored::Nothing,
        };
        let anew = matches!(restored, Restored::Damaged);
        let (parts, from) = match (found, restored) {
            (Some(found), _) => {
                let records = counted(plan, plan.dataset.records);
                run.say(&format!("{}: {records} from an earlier run's snapshot", of.name));
                (found, None)
            }
            (None, Restored::All(restored, origin)) => (restored, Some(origin)),
            (None, Restored::Nothing | Restored::Damaged) => match (snapshot_of(plan), &store) {
                (Some((_, snapshot)), Some(store)) if plan.place.aws().is_some() => {
                    let why = format!("there is no {} that can be used", of.name);
                    return Err(store.lacks(snapshot, &why).into());
                }
                (Some(snapshot), _) => (own_snapshot::restore(run, &of, snapshot)?, None),
                (None, _) => (load(run, &of)?, None),
            },
        };
        if let (Some(store), None) = (&store, &from) {
            store.keep(run, &of, anew)?;
        }
        let bytes = parts.iter().map(|part| part.table_bytes).sum();
        let payload = match snapshot_of(plan) {
            Some((_, snapshot)) => format!("{:.0} MiB in the snapshot", snapshot.bytes() as f64 / catalog::MIB),
            None => format!(
                "{}{:.0} MiB payload",
                if plan.own.is_some() { "about " } else { "" },
                plan.dataset.payload_bytes() as f64 / catalog::MIB
            ),
        };
        run.say(&format!("{}: {payload}, {:.0} MiB on disk", of.name, bytes as f64 / catalog::MIB));
        run.note(JournalEvent::DatasetReady { records: plan.dataset.records, bytes, from })?;
    }
    snapshot_of(plan).map_or(Ok(()), |(_, snapshot)| bucket_snapshot::remove_copy(run, snapshot))
}

/// The snapshot of the user's own that the data set is.
fn snapshot_of(plan: &Plan) -> Option<(&Own, &Snapshot)> {
    let own = plan.own.as_ref()?;
    Some((own, own.snapshot.as_ref()?))
}

/// Data volumes that were made from a snapshot of EBS have each of their blocks read: on all machines at the same time.
fn initialise(run: &mut Run<'_>) -> Result<()> {
    let mut requests = Vec::new();
    for cluster in Cluster::all_of(run.setups()) {
        let files = &cluster.files;
        let made = |host: &HostId| hosts::is_restored(run.agents.machine_use(*host).as_ref());
        for host in hosts::nodes_of_cluster(&cluster).into_iter().filter(made) {
            let files = files.clone();
            requests.push((host, Request::Database(DatabaseRequest::Initialise { files })));
        }
    }
    let initialised = answer!(Reply::Initialised { how, before } => (how, before));
    for (host, (how, before)) in run.agents.call_all(requests, initialised)? {
        let (machine, gib) = (run.agents.place(host).machine, how.bytes as f64 / catalog::MIB / 1_024.0);
        run.say(&match before {
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

/// What the snapshot of each node is called, and the snapshots of all nodes, where all of them are there and come from
/// the same loading.
fn find(run: &mut Run<'_>, cluster: &Cluster) -> Result<(Keys, Option<Vec<SnapshotFacts>>)> {
    let files = cluster.files.clone();
    let request = DatabaseRequest::FindSnapshot { files };
    let found = answer!(Reply::Found { key, snapshot } => (key, snapshot));
    let found = run.agents.ask_each(&hosts::nodes_of_cluster(cluster), &request, found)?.into_iter();
    let (keys, found): (_, Vec<_>) = found.map(|(host, (key, snapshot))| ((host, key), snapshot)).unzip();
    let found: Option<Vec<SnapshotFacts>> = found.into_iter().collect();
    let found = found.filter(|parts| parts.windows(2).all(|pair| pair[0].loading == pair[1].loading));
    Ok((keys, found))
}

fn load(run: &mut Run<'_>, of: &OfCluster<'_>) -> Result<Vec<SnapshotFacts>> {
    let began = Instant::now();
    let (nodes, files) = (hosts::nodes_of_cluster(of.cluster), &of.cluster.files);
    let start = DatabaseRequest::StartLoading { files: files.clone(), loading: jiff::Timestamp::now().to_string() };
    let loading = answer!(Reply::Loading { contact_points } => contact_points);
    let contact_points = run.agents.ask_each(&nodes, &start, loading)?.into_values().flatten();
    // Every replica has every record, so that no hint is left to deliver and no trial finds one missing.
    let levels = ConsistencyLevels::all(Consistency::All);
    let endpoint = run.target.endpoint(contact_points.collect(), levels, LOAD_TIMEOUT_S);
    let (records, seconds) = write(run, &endpoint, Records::all(run.plan()))?;
    let finish = DatabaseRequest::FinishLoading;
    run.agents.ask_each(&nodes, &finish, answer!(Reply::AtRest => ()))?;
    if let Some(backlog) = files.backlog {
        overwrite(run, &endpoint, of, backlog)?;
    }
    let keep = DatabaseRequest::KeepSnapshot;
    let parts = run.agents.ask_each(&nodes, &keep, answer!(Reply::Snapshot(facts) => facts))?;
    run.say(&format!(
        "{}: loaded {records} records ({:.0} records/s), kept as a snapshot; {} in all",
        of.name,
        records as f64 / seconds,
        human_duration(began.elapsed().as_secs_f64())
    ));
    Ok(parts.into_values().collect())
}

/// Writes so many records again for each SSTable of a backlog, and has all nodes flush them.
fn overwrite(run: &mut Run<'_>, endpoint: &Endpoint, of: &OfCluster<'_>, backlog: BacklogFiles) -> Result<()> {
    let began = Instant::now();
    for part in 0..u64::from(backlog.sstables) {
        let records = Records { first: part * backlog.records, count: backlog.records, exist: true };
        write(run, endpoint, records)?;
        let flush = DatabaseRequest::FlushBacklog;
        run.agents.ask_each(&hosts::nodes_of_cluster(of.cluster), &flush, answer!(Reply::Flushed => ()))?;
    }
    run.say(&format!(
        "{}: wrote {} records again, in {} SSTables more of each data directory, in {}",
        of.name,
        backlog.all_records(),
        backlog.sstables,
        human_duration(began.elapsed().as_secs_f64())
    ));
    Ok(())
}

/// Makes sure that every existing cluster of the plan has the data set.
pub(super) fn provide_existing(run: &mut Run<'_>) -> Result<()> {
    let mut seen: Vec<&[String]> = Vec::new();
    for setup in run.setups() {
        let Some(hosts) = setup.at.contact_points().filter(|hosts| !seen.contains(hosts)) else { continue };
        seen.push(hosts);
        let wanted = existing(run, setup, hosts)?;
        provide_in(run, hosts, wanted)?;
    }
    Ok(())
}

/// The data set in the cluster with these contact points, as a configuration has it.
pub(super) fn existing(run: &Run<'_>, setup: &Setup, hosts: &[String]) -> Result<ExistingDataset> {
    let plan = run.plan();
    let levels = setup.consistency.unwrap_or(plan.target.consistency);
    Ok(ExistingDataset {
        endpoint: run.target.endpoint(hosts.to_vec(), levels, LOAD_TIMEOUT_S),
        dataset: plan.dataset,
        keys: keys(plan)?,
        replication_factor: setup.placement.replication_factor,
    })
}

/// Makes sure that the cluster with these contact points has the data set.
fn provide_in(run: &mut Run<'_>, hosts: &[String], wanted: ExistingDataset) -> Result<()> {
    let plan = run.plan();
    let of = format!("data set in {}", hosts.join(", "));
    run.agents.screen.doing("looking for the data set", "");
    let take = Request::Client(ClientRequest::Take(Box::new(wanted.clone())));
    let taken = answer!(Reply::Taken { whole, left_out } => (whole, left_out));
    let (is_whole, left_out) = run.agents.call(HostId::CLIENT, take, taken)?;
    for node in left_out {
        run.say(&format!("warning: no connection to node {node}: the other nodes get its load"));
    }
    if is_whole {
        run.say(&format!("{of}: {} records, loaded before", plan.dataset.records));
        return Ok(());
    }
    let began = Instant::now();
    // As many replicas as can be reached: a node that is down does not stop somebody else's cluster.
    let everywhere = ConsistencyLevels::all(Consistency::Quorum);
    let endpoint = run.target.endpoint(hosts.to_vec(), everywhere, LOAD_TIMEOUT_S);
    let (records, seconds) = write(run, &endpoint, Records::all(plan))?;
    let loaded = Request::Client(ClientRequest::Loaded(Box::new(wanted)));
    run.agents.call(HostId::CLIENT, loaded, answer!(Reply::Marked => ()))?;
    run.say(&format!(
        "{of}: loaded {records} records ({:.0} records/s); {} in all",
        records as f64 / seconds,
        human_duration(began.elapsed().as_secs_f64())
    ));
    Ok(())
}

/// How keys are written: the same for all workloads.
fn keys(plan: &Plan) -> Result<KeyFormat, failure::Failure> {
    let workload = plan.workloads.first();
    workload.map(|workload| workload.keys).ok_or_else(|| failure::Failure::input("the plan has no workload"))
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
        Self { first: 0, count: plan.dataset.records, exist: false }
    }
}

/// Has the clients write records, each its part; gives how many and the seconds of the slowest client.
fn write(run: &mut Run<'_>, endpoint: &Endpoint, records: Records) -> Result<(u64, f64)> {
    let plan = run.plan();
    let keys = keys(plan)?;
    let clients = hosts::clients(run.job());
    let part = |(client, number): (HostId, u32)| {
        let of = clients.len() as u32;
        let part = |number| part_of(records.count, number, of);
        let request = ClientRequest::Load {
            endpoint: Box::new(endpoint.clone()),
            dataset: plan.dataset,
            keys,
            first_record: records.first + (0..number).map(part).sum::<u64>(),
            records: part(number),
            concurrency: LOAD_CONCURRENCY.div_ceil(of),
            overwrites: records.exist,
            own: plan.own.clone().map(|own| Box::new(OwnRows { own, number, clients: of })),
        };
        (client, Request::Client(request))
    };
    let requests = clients.iter().copied().zip(0..).map(part).collect();
    let loaded = run.agents.call_all(requests, answer!(Reply::Loaded(loaded) => loaded))?;
    let add =
        |(records, seconds): (u64, f64), loaded: LoadedDataset| (records + loaded.records, seconds.max(loaded.seconds));
    Ok(loaded.into_values().fold((0, 0.0), add))
}
