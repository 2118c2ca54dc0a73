//! Which charts of a trial over time there are, and which lines each has: the moment when memory fills and the disk
//! wakes up is to be seen. `report` draws whatever lines a [`Panel`] has.
//!
//! Counters become rates between neighbouring samples; gauges stay. Each line is averaged down to [`POINTS`] points,
//! because no screen shows more and a run has hundreds of trials.

use std::collections::BTreeMap;

use evidence::{HostFigures, HostId, HostSample, NodeFacts, TrialRecord, VolumeFigures, VolumeRole};
use reported::{Chart, Kind};

use crate::host::database_cpu_s;
use crate::latencies::{Latencies, Seconds as Points};
use crate::node;

/// Most points of a line.
pub const POINTS: usize = 240;

/// One chart of a trial; time runs from `-warmup_s` to `measured_s`.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// `Throughput`, `Latency`, `Data volume IOPS`, `Data volume MB/s`, `Memory`, `CPU`, what the product states, ...
    pub title: String,
    /// Unit of the vertical axis.
    pub unit: String,
    /// Lines.
    pub lines: Vec<Line>,
    /// Horizontal lines with a label: limits in force.
    pub limits: Vec<(String, f64)>,
}

impl Panel {
    /// Title of the throughput of all operations.
    pub const THROUGHPUT: &'static str = "Throughput";
    /// Title of the latencies by kind.
    pub const LATENCY: &'static str = "Latency";
    /// Title of the data volume's requests.
    pub const DATA_IOPS: &'static str = "Data volume IOPS";
    /// Title of the data volume's bytes.
    pub const DATA_BYTES: &'static str = "Data volume MB/s";
    /// Title of the CPUs.
    pub const CPU: &'static str = "CPU";
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// (seconds from the start of measurement, value); `None` is a gap.
    pub points: Vec<(f64, Option<f64>)>,
}

const MIB: f64 = 1_048_576.0;
/// Bytes per second are drawn in MB/s of 10^6 bytes; limits in MiB/s are converted.
const MB: f64 = 1e6;

/// Every panel that has data.
pub fn of_trial(
    record: &TrialRecord,
    latencies: &Latencies,
    by_host: &BTreeMap<HostId, Vec<HostSample>>,
) -> Vec<Panel> {
    let mut panels = load(latencies);
    let nodes = node::hosts(record).into_iter().map(|host| {
        let facts = record.nodes.iter().find(|n| n.host == host);
        let samples = by_host.get(&host).map_or(&[][..], Vec::as_slice);
        (host, of_node(facts.unwrap_or(&NodeFacts::UNKNOWN), samples))
    });
    panels.extend(together(nodes.collect()));
    for panel in &mut panels {
        panel.lines.retain(has_data);
        for line in &mut panel.lines {
            line.points = thinned(&line.points);
        }
    }
    panels.retain(|panel| !panel.lines.is_empty());
    panels
}

fn has_data(line: &Line) -> bool {
    line.points.iter().any(|(_, v)| v.is_some())
}

fn of_node(facts: &NodeFacts, samples: &[HostSample]) -> Vec<Panel> {
    let of_role = |role| volume(facts, samples, role);
    let mut panels: Vec<Panel> = VolumeRole::ALL.into_iter().flat_map(of_role).collect();
    panels.extend(host(facts, samples));
    panels
}

/// Lines that a chart can distinguish by colour.
const COLOURS: usize = 8;

/// The same charts of several nodes in one another; each line says whose it is. Where they are more than can be kept
/// apart, only the first line of each node is kept: reads before writes. Levels are those of the first node: the nodes
/// of a configuration are given the same.
fn together(mut nodes: Vec<(HostId, Vec<Panel>)>) -> Vec<Panel> {
    let is_alone = nodes.len() == 1;
    for panel in nodes.iter_mut().flat_map(|(_, panels)| panels) {
        panel.lines.retain(has_data);
    }
    let lines = |at: usize| nodes.iter().map(|(_, panels)| panels[at].lines.len()).sum::<usize>();
    let panels = nodes.first().map_or(0, |(_, panels)| panels.len());
    let is_crowded: Vec<bool> = (0..panels).map(|at| !is_alone && lines(at) > COLOURS).collect();
    let mut together: Vec<Panel> = Vec::new();
    for (host, panels) in nodes {
        for (at, mut panel) in panels.into_iter().enumerate() {
            if is_crowded[at] {
                panel.lines.truncate(1);
            }
            for line in panel.lines.iter_mut().filter(|_| !is_alone) {
                line.name = format!("{host} {}", line.name);
            }
            match together.get_mut(at) {
                Some(known) => known.lines.extend(panel.lines),
                None => together.push(panel),
            }
        }
    }
    together
}

/// What the client saw: completed and failed operations, latencies by kind.
fn load(latencies: &Latencies) -> Vec<Panel> {
    let points = |counts: &BTreeMap<i64, f64>| counts.iter().map(|(s, n)| (*s as f64, Some(*n))).collect();
    vec![
        panel(
            Panel::THROUGHPUT,
            "operations/s",
            vec![
                line("completed", points(&latencies.completed_per_second)),
                line("failed", points(&latencies.failed_per_second)),
            ],
        ),
        panel(
            Panel::LATENCY,
            "ms",
            latencies
                .percentiles
                .iter()
                .map(|((kind, name), points)| {
                    line(&format!("{} {name}", kind.name().replace('_', "-")), points.clone())
                })
                .collect(),
        ),
    ]
}

/// `samples` where one of them has something to draw: of nothing a line has no points.
fn known(samples: &[HostSample], has: impl Fn(&HostSample) -> bool) -> &[HostSample] {
    if samples.iter().any(has) { samples } else { &[] }
}

fn volume(facts: &NodeFacts, samples: &[HostSample], role: VolumeRole) -> Vec<Panel> {
    let samples = known(samples, |s| s.volumes.contains_key(&role));
    let of = |s: &HostSample, figure: fn(&VolumeFigures) -> Option<f64>| figure(s.volumes.get(&role)?);
    let rate = |figure: fn(&VolumeFigures) -> Option<f64>, unit: f64| -> Points {
        rates(samples, |s| of(s, figure)).into_iter().map(|(t, v)| (t, v.map(|v| v / unit))).collect()
    };
    let gauge = |figure: fn(&VolumeFigures) -> Option<f64>| -> Points {
        samples.iter().map(|s| (s.t_s, of(s, figure))).collect()
    };
    let [iops_title, bytes_title, credits_title] = match role {
        VolumeRole::Data => [Panel::DATA_IOPS, Panel::DATA_BYTES, "Data volume burst credits"].map(str::to_owned),
        VolumeRole::Commitlog => ["IOPS", "MB/s", "burst credits"].map(|what| format!("Commit-log volume {what}")),
        member => ["IOPS", "MB/s", "burst credits"].map(|what| format!("Volume {} {what}", member.name())),
    };
    let limits = facts.volumes.iter().find(|v| v.role == role).map(|v| v.limits);
    let limit = |read: Option<f64>, write: Option<f64>, unit: f64| -> Vec<(String, f64)> {
        match (read, write) {
            (Some(r), Some(w)) if r == w => vec![("limit".to_owned(), r / unit)],
            (r, w) => [("read limit", r), ("write limit", w)]
                .into_iter()
                .filter_map(|(what, v)| Some((what.to_owned(), v? / unit)))
                .collect(),
        }
    };
    let mut iops = panel(
        &iops_title,
        "requests/s",
        vec![line("reads", rate(|v| v.reads, 1.0)), line("writes", rate(|v| v.writes, 1.0))],
    );
    // A bucket that moves the limit is drawn as the line that it is; otherwise the limit is a level.
    let moving = gauge(|v| v.iops_limit);
    if moving.iter().any(|(_, v)| v.is_some()) {
        iops.lines.push(line("limit in force", moving));
    } else {
        iops.limits = limits.map_or_else(Vec::new, |l| limit(l.read_iops, l.write_iops, 1.0));
    }
    let mut bytes = panel(
        &bytes_title,
        "MB/s",
        vec![line("read", rate(|v| v.read_bytes, MB)), line("written", rate(|v| v.write_bytes, MB))],
    );
    let scaled = |points: Points, unit: f64| -> Points {
        points.into_iter().map(|(t, value)| (t, value.map(|v| v / unit))).collect()
    };
    let moving = gauge(|v| v.bytes_limit);
    if moving.iter().any(|(_, v)| v.is_some()) {
        bytes.lines.push(line("limit in force", scaled(moving, MB)));
    } else {
        bytes.limits = limits.map_or_else(Vec::new, |l| limit(l.read_bytes_per_s, l.write_bytes_per_s, MB));
    }
    // A volume has one bucket at the most.
    let of_bytes = gauge(|v| v.byte_credits);
    let (unit, points) = if of_bytes.iter().any(|(_, v)| v.is_some()) {
        ("MB", scaled(of_bytes, MB))
    } else {
        ("I/O operations", gauge(|v| v.burst_credits))
    };
    let credits = panel(&credits_title, unit, vec![line("credits", points)]);
    vec![iops, bytes, credits]
}

fn host(facts: &NodeFacts, samples: &[HostSample]) -> Vec<Panel> {
    let gauge = |figure: fn(&HostFigures) -> Option<f64>, unit: f64| -> Points {
        samples.iter().map(|s| (s.t_s, figure(&s.host).map(|v| v / unit))).collect()
    };
    let rate = |figure: fn(&HostFigures) -> Option<f64>, unit: f64| -> Points {
        rates(samples, |s| figure(&s.host)).into_iter().map(|(t, v)| (t, v.map(|v| v / unit))).collect()
    };
    let mut memory = panel(
        "Memory of the database",
        "MiB",
        vec![
            line("page cache", gauge(|h| h.cgroup_file_bytes, MIB)),
            line("anonymous", gauge(|h| h.cgroup_anonymous_bytes, MIB)),
        ],
    );
    let budget = facts.page_cache_budget_bytes;
    if budget > 0 {
        memory.limits = vec![("page-cache budget".to_owned(), budget as f64 / MIB)];
    }
    let mut cpu = panel(
        Panel::CPU,
        "CPUs",
        vec![
            line("database", rate(database_cpu_s, 1.0)),
            line("whole host", rate(|h| Some(h.cpu_user_s? + h.cpu_system_s?), 1.0)),
            line("stolen", rate(|h| h.cpu_steal_s, 1.0)),
        ],
    );
    if facts.cpus > 0.0 {
        cpu.limits = vec![("database's CPUs".to_owned(), facts.cpus)];
    }
    let mut panels = vec![
        memory,
        panel("Free memory of the host", "MiB", vec![line("available", gauge(|h| h.memory_available_bytes, MIB))]),
        cpu,
    ];
    panels.extend(reported::charts().into_iter().map(|chart| reported(chart, samples)));
    panels.push(panel(
        "Network of the host",
        "MB/s",
        vec![
            line("received", rate(|h| h.network_received_bytes, MB)),
            line("sent", rate(|h| h.network_sent_bytes, MB)),
        ],
    ));
    panels
}

/// What a database reported over time, as its product states the chart.
fn reported(chart: &Chart, samples: &[HostSample]) -> Panel {
    let lines = chart.lines.iter().map(|(name, series, times)| {
        let of = |sample: &HostSample| sample.database.get(series);
        let samples = known(samples, |sample| of(sample).is_some());
        let points: Points = match series.kind {
            Kind::Counter => rates(samples, of),
            Kind::Steps | Kind::Level => samples.iter().map(|s| (s.t_s, of(s))).collect(),
        };
        line(name, points.into_iter().map(|(t, value)| (t, value.map(|v| v * times))).collect())
    });
    panel(chart.title, chart.unit, lines.collect())
}

fn panel(title: &str, unit: &str, lines: Vec<Line>) -> Panel {
    Panel { title: title.to_owned(), unit: unit.to_owned(), lines, limits: Vec::new() }
}

fn line(name: &str, points: Points) -> Line {
    Line { name: name.to_owned(), points }
}

/// Differences between neighbouring samples over the time between them, at the later one. A counter that went backwards
/// (a restart) is a gap.
fn rates(samples: &[HostSample], counter: impl Fn(&HostSample) -> Option<f64>) -> Points {
    let mut readings = samples.iter().map(|sample| (sample.t_s, counter(sample)));
    let Some(mut before) = readings.next() else { return Points::new() };
    let since_before = |after: (f64, Option<f64>)| {
        let seconds = after.0 - before.0;
        let grown = after.1.zip(before.1).map(|(after, before)| after - before);
        let rate = grown.filter(|n| *n >= 0.0 && seconds > 0.0).map(|n| n / seconds);
        before = after;
        (after.0, rate)
    };
    readings.map(since_before).collect()
}

/// At most [`POINTS`] points.
fn thinned(points: &[(f64, Option<f64>)]) -> Points {
    averaged(points, points.len().div_ceil(POINTS).max(1)).collect()
}

/// Means of groups of so many neighbours; a gap is where nothing is known.
pub fn averaged(points: &[(f64, Option<f64>)], group: usize) -> impl Iterator<Item = (f64, Option<f64>)> + '_ {
    points.chunks(group).map(|chunk| {
        let known = || chunk.iter().filter_map(|(_, v)| *v);
        let time = chunk.iter().map(|(t, _)| t).sum::<f64>() / chunk.len() as f64;
        (time, stats::ratio(known().sum(), known().count() as f64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_averaged_and_gaps_stay_gaps() {
        let points: Points = (0..1000).map(|t| (f64::from(t), (t < 500).then_some(f64::from(t % 2)))).collect();
        let thin = thinned(&points);
        assert!(thin.len() <= POINTS, "{}", thin.len());
        assert_eq!(thin.last().unwrap().1, None);
        let means: Vec<f64> = thin.iter().filter_map(|(_, v)| *v).collect();
        assert!(means.iter().all(|m| (0.3..0.7).contains(m)), "{means:?}");
    }

    #[test]
    fn a_counter_that_falls_is_a_gap() {
        let sample = |t: f64, reads: f64| HostSample {
            t_s: t,
            host: HostFigures { cgroup_cpu_s: Some(reads), ..HostFigures::default() },
            ..HostSample::default()
        };
        let samples = [sample(0.0, 5.0), sample(1.0, 7.0), sample(2.0, 1.0)];
        let rates = rates(&samples, |s| s.host.cgroup_cpu_s);
        assert_eq!(rates, [(1.0, Some(2.0)), (2.0, None)]);
    }

    /// So many nodes, each reading and writing; how the lines of the data volume's requests are called.
    fn lines_of(nodes: u32) -> Vec<String> {
        let mut record = crate::rules::cases::sound_record();
        let facts = record.nodes[0].clone();
        record.nodes = (0..nodes).map(|index| NodeFacts { host: HostId::database(index), ..facts.clone() }).collect();
        let sample = |t: f64| {
            let figures = VolumeFigures { reads: Some(100.0 * t), writes: Some(t), ..VolumeFigures::default() };
            HostSample { t_s: t, volumes: BTreeMap::from([(VolumeRole::Data, figures)]), ..HostSample::default() }
        };
        let samples: Vec<HostSample> = (0..5).map(|t| sample(f64::from(t))).collect();
        let by_host = record.nodes.iter().map(|n| (n.host, samples.clone())).collect();
        let panels = of_trial(&record, &Latencies::of(&record), &by_host);
        panels.iter().find(|p| p.title == Panel::DATA_IOPS).unwrap().lines.iter().map(|l| l.name.clone()).collect()
    }

    #[test]
    fn lines_of_several_nodes_say_whose_they_are() {
        assert_eq!(lines_of(1), ["reads", "writes"]);
        assert_eq!(lines_of(2), ["database reads", "database writes", "database-2 reads", "database-2 writes"]);
        let many = lines_of(6);
        assert_eq!((many.len(), many[5].as_str()), (6, "database-6 reads"), "{many:?}");
    }
}
