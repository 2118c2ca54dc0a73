//! From the evidence of a trial to its figures, and whether they may enter comparisons.

use std::collections::BTreeMap;

use evidence::{ClientResult, CountedFrom, FaultRecord, HostId, HostSample, Imported, Role, Series, TrialRecord};
use experiment::{LoadLevel, NodeFaultKind};
use hdrhistogram::Histogram;

use crate::host::{DatabaseHost, database_host};
use crate::latencies::Latencies;
use crate::latency::{self, SeriesLatency};
use crate::measurement::{Background, TrialEvidence, TrialMeasurement};
use crate::phases::{self, Aftermath};
use crate::steady::Window;
use crate::stretch::window;
use crate::work::DatabaseWork;
use crate::{backlog, cache_machines, node, panels, rules, steady};

/// Reduces a trial to its figures.
pub fn measure(trial: &TrialEvidence<'_>) -> TrialMeasurement {
    let mut latencies = Latencies::of(trial.record);
    for interval in trial.intervals {
        latencies.add(&interval.into());
    }
    latencies.measure(trial.record, trial.samples)
}

impl Latencies {
    /// The same as [`measure`], once all intervals of the trial have been added.
    pub fn measure(&self, record: &TrialRecord, by_host: &BTreeMap<HostId, Vec<HostSample>>) -> TrialMeasurement {
        let with_tier = cache_machines::added_up(record.clocks.keys(), by_host);
        let by_host = with_tier.as_ref().unwrap_or(by_host);
        let measured_s = record.client.as_ref().map_or(0.0, |c| c.measured_s);
        let undisturbed_s = phases::undisturbed_s(record);
        // Steadiness is judged, and machines are looked at, up to here.
        let judged_s = undisturbed_s.unwrap_or(measured_s);
        let imported = record.client.as_ref().and_then(|client| client.imported.as_deref());
        // Of an imported trial nothing is known by the second.
        let seconds = if imported.is_some() { Vec::new() } else { self.seconds(measured_s) };
        let backlog = backlog::of_trial(record, by_host, measured_s);
        let judged = match backlog {
            // What becomes of it is what is measured, from its first second.
            Some(_) => Window::whole(judged_s),
            // A tool's figures are of the whole, its start included.
            None if imported.is_some() => Window::whole(judged_s),
            None => {
                let judged: Vec<f64> = self.seconds(judged_s).iter().map(|s| s.completed as f64).collect();
                self.aligned(steady::window(&judged, judged_s))
            }
        };
        let window = Window { to_s: measured_s, ..judged };
        let samples = |host| by_host.get(&host).map_or(&[][..], Vec::as_slice);
        let is_client = |host: &&HostId| host.role == Role::Client;
        let client = by_host.keys().find(is_client).copied().unwrap_or(HostId::CLIENT);
        let client = database_host(samples(client), judged.from_s, judged.to_s);
        let hosts = node::hosts(record).into_iter();
        let hosts = hosts.map(|host| (host, shown(record, host, samples(host), judged, measured_s))).collect();
        let mut measurement = TrialMeasurement {
            late: self.late(),
            recorded: self.recorded(),
            background: background(record, by_host, measured_s),
            backlog,
            client_cpu_pressure: client.cpu_pressure,
            panels: panels::of_trial(record, self, by_host).into(),
            phases: self.phases.measured_with(by_host),
            aftermaths: self.aftermaths(record, by_host),
            ..TrialMeasurement::of(record.clone(), window, seconds, hosts)
        };
        measurement.add_latencies(self.merged(window.from_s));
        if let Some(imported) = imported {
            measurement.take_stated(imported);
        }
        measurement.before = undisturbed_s.map(|_| Box::new(self.before(&measurement, judged)));
        measurement.forbidden = rules::forbidden(&measurement);
        // Whoever looks at the part alone reads the same of it.
        if let Some(before) = &mut measurement.before {
            before.forbidden.clone_from(&measurement.forbidden);
        }
        measurement
    }

    /// A trial with planned faults as if it had ended at the end of `window`, just before the first.
    fn before(&self, trial: &TrialMeasurement, window: Window) -> TrialMeasurement {
        let mut record = trial.record.clone();
        record.client = record.client.map(|client| self.client_before(client, window.to_s));
        let mut before = TrialMeasurement {
            backlog: trial.backlog,
            client_cpu_pressure: trial.client_cpu_pressure,
            ..TrialMeasurement::of(record, window, self.seconds(window.to_s), trial.hosts.clone())
        };
        before.add_latencies(self.undisturbed(window.from_s));
        before.recorded = before.counted();
        before
    }

    /// What the client would have counted if it had measured for `seconds`. Its CPU time by second is not known: it is
    /// taken to be used evenly, so that its share is that of the whole measurement.
    fn client_before(&self, whole: ClientResult, seconds: f64) -> ClientResult {
        let mut client = ClientResult {
            measured_s: seconds,
            client_cpu_s: whole.client_cpu_s * stats::ratio(seconds, whole.measured_s).unwrap_or(0.0),
            completed: BTreeMap::new(),
            errors: BTreeMap::new(),
            operations_sent: 0,
            ..whole
        };
        for (series, histogram) in self.undisturbed(0.0) {
            match series {
                Series::Response(kind) => drop(client.completed.insert(kind, histogram.len())),
                Series::Failed(kind) => drop(client.errors.insert(kind, histogram.len())),
                Series::Service(_) | Series::Cache(_) | Series::Unmet(_) => {}
            }
        }
        client.operations_sent = client.completed.values().chain(client.errors.values()).sum();
        client
    }

    fn aftermaths(&self, record: &TrialRecord, by_host: &BTreeMap<HostId, Vec<HostSample>>) -> Vec<Aftermath> {
        let phases = phases::of(record);
        // Before the first; then during and after each.
        let pairs = phases.get(1..).unwrap_or_default().chunks_exact(2);
        let recoveries = self.phases.recoveries(record, |second| self.completed_in(second));
        let of_fault = |((pair, recovery), fault): ((&[phases::Phase], _), &FaultRecord)| Aftermath {
            recovery,
            hint_files: phases::hint_files(by_host, &pair[0], &pair[1]),
            compacted_bytes: by_host
                .get(&fault.host)
                .filter(|_| fault.kind == NodeFaultKind::Compaction && fault.back_s.is_some())
                .and_then(|samples| phases::compacted_bytes(samples, &pair[0])),
        };
        pairs.zip(recoveries).zip(&record.faults).map(of_fault).collect()
    }
}

impl TrialMeasurement {
    /// What another tool states instead of histograms. At a given rate latencies that count from the sending are
    /// service times: how long a request waited for its turn is not in them.
    fn take_stated(&mut self, imported: &Imported) {
        let waits_are_missing =
            matches!(self.record.load, LoadLevel::Rate { .. }) && imported.counted_from == CountedFrom::Sent;
        let stated = imported.latencies.iter().map(|(kind, stated)| (*kind, SeriesLatency::stated(stated)));
        match waits_are_missing {
            true => self.service = stated.collect(),
            false => self.response = stated.collect(),
        }
        let Some(client) = &self.record.client else { return };
        let by_rate = (imported.stated_ops_per_s * client.measured_s).round() as u64;
        let completed = client.completed.iter();
        let samples = completed.map(|(kind, n)| imported.latencies.get(kind).map_or(*n, |stated| stated.samples));
        let by_latencies: u64 = samples.sum();
        // Whichever contradicts the counts more.
        let counted = self.counted();
        let is_rate = by_rate.abs_diff(counted) >= by_latencies.abs_diff(counted);
        self.recorded = if is_rate { by_rate } else { by_latencies };
    }

    fn add_latencies(&mut self, merged: BTreeMap<Series, Histogram<u64>>) {
        for (series, histogram) in merged {
            let figures = SeriesLatency::of(&histogram);
            match series {
                Series::Response(kind) => {
                    self.response.insert(kind, figures);
                    self.curves.insert(kind, latency::curve(&histogram));
                }
                Series::Service(kind) => drop(self.service.insert(kind, figures)),
                Series::Failed(kind) => drop(self.failed.insert(kind, figures)),
                Series::Cache(answer) => drop(self.cache.insert(answer, figures)),
                Series::Unmet(kind) => drop(self.unmet.insert(kind, figures)),
            }
        }
    }
}

/// What all nodes did in the background in the whole measurement, with what was planned in it.
fn background(record: &TrialRecord, by_host: &BTreeMap<HostId, Vec<HostSample>>, measured_s: f64) -> Vec<Background> {
    let of_host = |host: HostId| Some(DatabaseWork::of(window(by_host.get(&host)?, 0.0, measured_s), measured_s));
    let nodes: Option<Vec<DatabaseWork>> = node::hosts(record).into_iter().map(of_host).collect();
    let nodes = nodes.unwrap_or_default();
    let of_product = |product: &&reported::Reports| {
        let each = product.background.iter().map(|(series, one, several)| {
            let times: Option<f64> = nodes.iter().map(|work| work.total(series)).sum();
            Some(Background { times: times?, one, several })
        });
        each.collect::<Option<Vec<_>>>().filter(|known| !known.is_empty())
    };
    if nodes.is_empty() { Vec::new() } else { reported::ALL.iter().find_map(of_product).unwrap_or_default() }
}

/// What a database host showed up to the first planned fault. Restarts are counted to the end of measurement, without
/// those that were planned: a process that ends by itself later on is as bad as one that ends before.
fn shown(record: &TrialRecord, host: HostId, samples: &[HostSample], judged: Window, measured_s: f64) -> DatabaseHost {
    let mut shown = database_host(samples, judged.from_s, judged.to_s);
    if judged.to_s < measured_s {
        let ends = |kind| matches!(kind, NodeFaultKind::NodeStop | NodeFaultKind::NodeKill);
        let returns = record.faults.iter().filter(|f| f.host == host && ends(f.kind));
        let planned = returns.filter(|f| f.return_began_s.is_some()).count() as u64;
        let all = database_host(samples, judged.from_s, measured_s);
        shown.restarts = all.restarts.map(|n| n.saturating_sub(planned));
        shown.members = all.members;
    }
    shown
}
