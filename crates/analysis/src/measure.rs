//! From the evidence of a trial to its figures, judged by every rule that needs nothing but the trial.

use std::collections::BTreeMap;

use evidence::{HostId, HostSample, Series, TrialRecord};

use crate::host::database_host;
use crate::latencies::Latencies;
use crate::latency::{self, LatencyFigures};
use crate::measurement::{TrialEvidence, TrialMeasurement};
use crate::{node, panels, rules, steady};

/// Reduces a trial to its figures and judges it by every rule that needs nothing but the trial.
pub fn measure(trial: &TrialEvidence<'_>) -> TrialMeasurement {
    let mut latencies = Latencies::of(trial.record);
    for interval in trial.intervals {
        latencies.add(interval);
    }
    latencies.measure(trial.record, trial.samples)
}

impl Latencies {
    /// The same as [`measure`], once all intervals of the trial have been added.
    pub fn measure(&self, record: &TrialRecord, by_host: &BTreeMap<HostId, Vec<HostSample>>) -> TrialMeasurement {
        let measured_s = record.client.as_ref().map_or(0.0, |c| c.measured_s);
        let seconds = self.seconds(measured_s);
        let completed: Vec<f64> = seconds.iter().map(|s| s.completed as f64).collect();
        let window = self.aligned(steady::window(&completed, measured_s));
        let samples = |host| by_host.get(&host).map_or(&[][..], Vec::as_slice);
        let client = database_host(samples(HostId::CLIENT), window.from_s, window.to_s);
        let mut measurement = TrialMeasurement {
            record: record.clone(),
            window,
            seconds,
            late: self.late(),
            recorded: self.recorded(),
            response: BTreeMap::new(),
            service: BTreeMap::new(),
            failed: BTreeMap::new(),
            curves: BTreeMap::new(),
            hosts: node::hosts(record)
                .into_iter()
                .map(|host| (host, database_host(samples(host), window.from_s, window.to_s)))
                .collect(),
            client_cpu_pressure: client.cpu_pressure,
            panels: panels::of_trial(record, self, by_host),
            findings: Vec::new(),
        };
        for (series, histogram) in self.merged(window.from_s) {
            let figures = LatencyFigures::of(&histogram);
            match series {
                Series::Response(kind) => {
                    measurement.response.insert(kind, figures);
                    measurement.curves.insert(kind, latency::curve(&histogram));
                }
                Series::Service(kind) => drop(measurement.service.insert(kind, figures)),
                Series::Failed(kind) => drop(measurement.failed.insert(kind, figures)),
            }
        }
        measurement.findings = rules::of_trial(&measurement);
        measurement
    }
}
