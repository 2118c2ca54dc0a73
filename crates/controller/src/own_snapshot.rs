//! A snapshot of the user's own as data set of a cluster: taken in by its nodes, counted, and tried with the statements
//! of the run.

use std::time::Instant;

use evidence::{HostId, SnapshotFacts};
use experiment::{CountedRows, DataSetPlace, Own, Snapshot, StatementSample};
use process::{failure, human_duration};
use wire::{DatabaseRequest, Reply};

use super::bucket_snapshot;
use super::hosts;
use super::run::Run;
use super::run_failure::{Result, answer};
use super::store::OfCluster;

/// Requests of each statement that are tried: one in a hundred that finds nothing is seen with a chance of 99 %.
const TRIED: u32 = 500;

/// Restores it on all nodes of a cluster, and keeps what became of it. What requests do not find there ends the run,
/// once it is kept: it need not be copied again.
pub(super) fn restore(
    run: &mut Run<'_>,
    of: &OfCluster<'_>,
    (own, snapshot): (&Own, &Snapshot),
) -> Result<Vec<SnapshotFacts>> {
    let began = Instant::now();
    let (nodes, files) = (hosts::nodes_of_cluster(of.cluster), of.cluster.files.clone());
    let start = DatabaseRequest::StartLoading { files, loading: jiff::Timestamp::now().to_string() };
    run.agents.ask_each(&nodes, &start, answer!(Reply::Loading { .. } => ()))?;
    // What the server says of a statement it says before anything is copied.
    sample(run, &nodes, 0)?;
    let directory = match &snapshot.place {
        DataSetPlace::Directory { path } => path.clone(),
        DataSetPlace::S3 { .. } => bucket_snapshot::fetch(run, snapshot, nodes.len() as u64)?.display().to_string(),
    };
    let import = DatabaseRequest::ImportSnapshot { directory };
    run.agents.ask_each(&nodes, &import, answer!(Reply::Imported => ()))?;
    run.agents.ask_each(&nodes, &DatabaseRequest::FinishLoading, answer!(Reply::AtRest => ()))?;
    let (rows, statements) = sample(run, &nodes, TRIED)?;
    let kept = answer!(Reply::Snapshot(facts) => facts);
    let parts = run.agents.ask_each(&nodes, &DatabaseRequest::KeepSnapshot, kept)?;
    let rows: Vec<String> = rows.iter().map(|one| format!("{} {} rows", one.table, one.rows)).collect();
    run.say(&format!(
        "{}: {} restored from {}; {} in all",
        of.name,
        rows.join(", "),
        snapshot.place,
        human_duration(began.elapsed().as_secs_f64())
    ));
    for one in &statements {
        run.say(&match one.asked {
            0 => format!("{}: not tried: its requests have no whole partition key", one.statement),
            asked => format!("{}: {} of {asked} requests find something", one.statement, one.found),
        });
    }
    own.check_sample(&statements).map_err(|why| {
        failure::Failure::input(why).help(
            "state `columns` of the key and `partitions` in [workload.tables.NAME] so that requests ask for keys that \
             the snapshot has, `missing` where some are not to be there, or another `least_found` in [dataset]; what \
             was restored is kept",
        )
    })?;
    Ok(parts.into_values().collect())
}

/// The rows of its tables, and what so many requests of each statement find; of none the statements are prepared alone.
fn sample(run: &mut Run<'_>, nodes: &[HostId], requests: u32) -> Result<(Vec<CountedRows>, Vec<StatementSample>)> {
    let request = DatabaseRequest::SampleSnapshot { requests };
    let sampled = answer!(Reply::Sampled { rows, statements } => (rows, statements));
    let first = &nodes[..nodes.len().min(1)];
    Ok(run.agents.ask_each(first, &request, sampled)?.into_values().next().unwrap_or_default())
}
