//! All that is said of a cluster, from all that was seen of it.

use catalog::{Basis, Catalog, ClusterRequest};
use serde::Serialize;

use crate::capacity::Allowed;
use crate::device::{DeviceUse, HostSeen, device};
use crate::log::{LogSeen, LogUse, log_use};
use crate::reading::{Cluster, CountedBy, NodeSeen, NotRead};
use crate::unknown::Unknown;
use crate::verdict::{Judged, Verdict, verdict};
use crate::workload::{Workload, workload};

/// All that was seen, and what is stated.
#[derive(Debug, Clone)]
pub struct Observation {
    /// What is true of the cluster.
    pub cluster: Cluster,
    /// Nodes that were read.
    pub nodes: Vec<NodeSeen>,
    /// Machines that were watched.
    pub hosts: Vec<HostSeen>,
    /// What one node runs on, as stated.
    pub today: Option<ClusterRequest>,
    /// A log of requests, where somebody has kept one.
    pub log: Option<LogSeen>,
    /// From the first reading to the last, seconds.
    pub seconds: f64,
    /// Whether it ended before its time.
    pub ended_early: bool,
}

/// What the watching itself cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnLoad {
    /// Statements for each node in a minute.
    pub statements_per_minute: f64,
    /// Milliseconds for which one of them was waited for, in the mean.
    pub statement_ms: Option<f64>,
    /// CPUs that the agent of the host with the most took; `None`: no agent said.
    pub agent_cpus: Option<f64>,
}

/// What is said of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// Of this document.
    pub format_version: u32,
    /// What is true of the cluster.
    pub cluster: Cluster,
    /// Seconds from the first reading to the last.
    pub seconds: f64,
    /// Whether it ended before its time.
    pub ended_early: bool,
    /// What can be said without a run.
    pub verdict: Verdict,
    /// What is done with it.
    pub workload: Workload,
    /// What a log of requests shows of their keys.
    pub log: Option<LogUse>,
    /// What volumes were asked for.
    pub devices: Vec<DeviceUse>,
    /// What nodes do not show.
    pub not_read: Vec<NotRead>,
    /// What could not be known.
    pub unknown: Vec<Unknown>,
    /// What the watching itself cost.
    pub own_load: OwnLoad,
    /// Configurations of an experiment besides today's: cheaper ones, then dearer ones.
    #[serde(skip)]
    pub(crate) around: (Vec<ClusterRequest>, Vec<ClusterRequest>),
}

/// The version of a [`Profile`] as a document.
const FORMAT_VERSION: u32 = 1;

/// Judges what was seen.
pub fn judge(catalog: &Catalog, basis: &Basis, seen: &Observation) -> Profile {
    let era = basis.price_date.as_deref();
    let today = seen.today.as_ref().map(|request| (request, Allowed::of(catalog, request, era)));
    let allowed = today.as_ref().and_then(|(_, allowed)| allowed.as_ref().ok());
    let devices: Vec<DeviceUse> = seen.hosts.iter().filter_map(|host| device(host, allowed)).collect();
    let workload = workload(&seen.cluster, &seen.nodes);
    let log = seen.log.as_ref().map(|log| log_use(log, &workload.tables, &seen.cluster, &seen.nodes));
    let unknown = unknown(seen, log.as_ref(), &devices);
    let Judged { verdict, dearer, cheaper } = verdict(catalog, basis, today, &devices);
    Profile {
        format_version: FORMAT_VERSION,
        cluster: seen.cluster.clone(),
        seconds: seen.seconds,
        ended_early: seen.ended_early,
        verdict,
        workload,
        log,
        not_read: not_read(seen, &devices),
        unknown,
        own_load: own_load(seen),
        around: (cheaper, dearer),
        devices,
    }
}

/// Of the cluster, of nodes and of hosts without a device; what is the same on several nodes is said once.
fn not_read(seen: &Observation, devices: &[DeviceUse]) -> Vec<NotRead> {
    let mut all = seen.cluster.not_read.clone();
    for node in &seen.nodes {
        for missing in &node.not_read {
            if !all.contains(missing) {
                all.push(missing.clone());
            }
        }
    }
    let lost = seen.log.iter().flat_map(|log| log.lost.iter().map(move |lost| (log.path.clone(), lost.clone())));
    all.extend(
        lost.map(|(path, why)| NotRead { what: format!("a part of the query log {path}"), why: format!("it {why}") }),
    );
    for host in seen.hosts.iter().filter(|host| devices.iter().all(|device| device.host != host.host)) {
        let why = match host.missing.as_slice() {
            [] => "its counters were not seen for a second".to_owned(),
            missing => missing.join("; "),
        };
        all.push(NotRead { what: format!("the device of {}", host.host), why });
    }
    all
}

fn unknown(seen: &Observation, log: Option<&LogUse>, devices: &[DeviceUse]) -> Vec<Unknown> {
    let known = seen.cluster.nodes;
    let by_node = seen.nodes.iter().flat_map(|node| &node.readings).any(|reading| !reading.calls.is_empty());
    let of_log = |log: &LogUse| !(log.calls_per_s.is_empty() && log.own.statements.is_empty());
    let shows_statements = by_node || log.is_some_and(of_log);
    let (statements, compressibility) = match seen.cluster.counted_by {
        CountedBy::Cassandra => (Unknown::Statements, Some(Unknown::Compressibility)),
        // Its pages are not compressed.
        CountedBy::Postgresql => (Unknown::SqlStatements, None),
    };
    let mut all: Vec<Unknown> = match log.map(LogUse::stated) {
        None => vec![Unknown::Skew],
        Some(None) => vec![Unknown::SkewOfLog],
        Some(Some((_, skew))) if skew.made.is_close() => Vec::new(),
        Some(Some((table, _))) => vec![Unknown::UnlikeAnyKeys(table.clone())],
    };
    all.extend((!shows_statements).then_some(statements));
    all.push(Unknown::InFlight);
    all.extend(compressibility);
    let wide = seen.cluster.tables.iter().filter(|table| table.clustering > 0);
    let wide: Vec<String> = wide.map(|table| table.name.to_string()).collect();
    // Statements of one's own ask for rows as they are written.
    let has_own = log.is_some_and(|log| !log.own.statements.is_empty());
    if !wide.is_empty() && !has_own {
        all.push(Unknown::Rows(wide));
    }
    all.push(Unknown::OtherHours);
    let read = seen.nodes.len() as u32;
    if known > read {
        all.push(Unknown::Nodes(known - read));
    }
    match devices.len() as u32 {
        0 => all.push(Unknown::Devices),
        watched => {
            all.push(Unknown::OtherDevices);
            if watched < known {
                all.push(Unknown::Hosts(watched, known));
            }
        }
    }
    all
}

fn own_load(seen: &Observation) -> OwnLoad {
    let readings = || seen.nodes.iter().flat_map(|node| &node.readings);
    let statements = readings().map(|reading| f64::from(reading.statements)).sum::<f64>();
    let waited_s = readings().map(|reading| reading.waited_s).sum::<f64>();
    let minutes = (seen.seconds / 60.0).max(1.0) * seen.nodes.len().max(1) as f64;
    let cpus = seen.hosts.iter().filter_map(|host| host.agent_cpu).filter_map(|(cpu, over)| stats::ratio(cpu, over));
    OwnLoad {
        statements_per_minute: statements / minutes,
        statement_ms: stats::ratio(waited_s * 1e3, statements),
        agent_cpus: cpus.reduce(f64::max),
    }
}
