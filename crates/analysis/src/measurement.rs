//! One trial, reduced to figures: what is left when its histograms and samples have been looked at once.
//!
//! A run's histograms do not fit in memory, a trial's do. Callers read trials one by one, [`measure`] each, and hand the
//! measurements to [`crate::analyse`].

use std::collections::BTreeMap;

use evidence::{ErrorKind, HostSample, Interval, OperationKind, Series, TrialRecord, Validity};

use crate::finding::{Finding, Severity};
use crate::host::{DatabaseHost, database_host};
use crate::latency::{LatencyFigures, by_kind, figures};
use crate::rules;

/// The evidence of one trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialEvidence<'a> {
    /// `trial.json`.
    pub record: &'a TrialRecord,
    /// `latency.hlog`, warm-up included.
    pub intervals: &'a [Interval],
    /// `host-<role>.parquet` by role.
    pub samples: &'a BTreeMap<String, Vec<HostSample>>,
}

/// The figures of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialMeasurement {
    /// `trial.json`.
    pub record: TrialRecord,
    /// Response times by kind.
    pub response: BTreeMap<OperationKind, LatencyFigures>,
    /// Open loop: service times by kind.
    pub service: BTreeMap<OperationKind, LatencyFigures>,
    /// Response times of failed operations.
    pub failed: BTreeMap<ErrorKind, LatencyFigures>,
    /// What the database host showed in the measured window.
    pub host: DatabaseHost,
    /// Findings on this trial.
    pub findings: Vec<Finding>,
}

/// Reduces a trial to its figures and judges it by every rule that needs nothing but the trial.
pub fn measure(trial: &TrialEvidence<'_>) -> TrialMeasurement {
    let all = figures(trial.intervals);
    let measured_s = trial.record.client.as_ref().map_or(0.0, |c| c.measured_s);
    let database = trial.samples.get("database").map_or(&[][..], Vec::as_slice);
    let mut measurement = TrialMeasurement {
        record: trial.record.clone(),
        response: by_kind(&all, |s| {
            if let Series::Response(kind) = s {
                Some(kind)
            } else {
                None
            }
        }),
        service: by_kind(&all, |s| {
            if let Series::Service(kind) = s {
                Some(kind)
            } else {
                None
            }
        }),
        failed: all
            .iter()
            .filter_map(|(s, f)| {
                if let Series::Failed(e) = s {
                    Some((*e, *f))
                } else {
                    None
                }
            })
            .collect(),
        host: database_host(database, measured_s),
        findings: Vec::new(),
    };
    measurement.findings = rules::of_trial(&measurement);
    measurement
}

impl TrialMeasurement {
    /// Whether it may enter comparisons: it ran to its end, measured something, and no rule forbids it.
    pub fn is_valid(&self) -> bool {
        self.record.validity == Validity::Valid
            && self.record.client.is_some()
            && self.findings.iter().all(|f| f.severity != Severity::Invalid)
    }

    /// Why not, if it is not.
    pub fn invalid_reason(&self) -> Option<String> {
        match &self.record.validity {
            Validity::Invalid { reason, .. } => Some(reason.clone()),
            Validity::Valid if self.record.client.is_none() => Some("the client measured nothing".to_owned()),
            Validity::Valid => self
                .findings
                .iter()
                .find(|f| f.severity == Severity::Invalid)
                .map(|f| f.message.clone()),
        }
    }

    /// Operations completed without error.
    pub fn completed(&self) -> u64 {
        self.record.client.as_ref().map_or(0, |c| c.completed.values().sum())
    }

    /// Operations that failed.
    pub fn failed_operations(&self) -> u64 {
        self.record.client.as_ref().map_or(0, |c| c.errors.values().sum())
    }

    /// Completed operations that read from the database.
    pub fn completed_reads(&self) -> u64 {
        use OperationKind::{Read, ReadModifyWrite, Scan};
        let client = self.record.client.as_ref();
        client.map_or(0, |c| {
            [Read, Scan, ReadModifyWrite]
                .iter()
                .filter_map(|k| c.completed.get(k))
                .sum()
        })
    }

    /// Completed operations per second of the measured window.
    pub fn throughput(&self) -> Option<f64> {
        let client = self.record.client.as_ref()?;
        stats::ratio(self.completed() as f64, client.measured_s)
    }

    /// CPU time of the client for each operation it sent and finished, microseconds.
    pub fn client_cpu_us_per_operation(&self) -> Option<f64> {
        let client = self.record.client.as_ref()?;
        stats::ratio(
            client.client_cpu_s * 1e6,
            (self.completed() + self.failed_operations()) as f64,
        )
    }

    /// `figure` of the host for each completed operation.
    pub fn per_operation(&self, figure: Option<f64>) -> Option<f64> {
        stats::ratio(figure?, self.completed() as f64)
    }

    /// Page cache at the end / bytes of the data set on disk.
    pub fn page_cache_share(&self) -> Option<f64> {
        stats::ratio(
            self.host.page_cache_bytes?,
            self.record.database.data_bytes_on_disk as f64,
        )
    }
}
