//! Did the trial run to its end, and did the operations succeed?

use evidence::{ErrorKind, OperationKind, Validity};

use super::{percent, scope};
use crate::finding::{Finding, Severity};
use crate::measurement::TrialMeasurement;

/// More failed operations than this share make a trial invalid (METHODS, "Findings": errors > 0.1 %): what failed fast or
/// timed out did not do the work whose speed is compared.
const ERROR_SHARE_MAX: f64 = 0.001;
/// The counters and the histograms of a trial must agree within this share; a response in flight at the edge of the window
/// may be counted on one side only.
const COUNT_MISMATCH_MAX: f64 = 0.01;

pub fn findings(trial: &TrialMeasurement) -> Vec<Finding> {
    [
        trial_invalid(trial),
        database_restarted(trial),
        errors_above(trial),
        not_found(trial),
        counts_disagree(trial),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn trial_invalid(trial: &TrialMeasurement) -> Option<Finding> {
    let reason = match &trial.record.validity {
        Validity::Invalid { reason, .. } => reason.clone(),
        Validity::Valid if trial.record.client.is_none() => "the client measured nothing".to_owned(),
        Validity::Valid => return None,
    };
    Some(Finding::new(
        "trial_invalid",
        Severity::Invalid,
        scope(trial),
        [],
        reason,
        "Read the last lines of the log in trial.json and database.log. The trial is kept as evidence and left out of every \
         comparison; delete its directory and use `iopslab run --resume` to measure it again.",
    ))
}

fn database_restarted(trial: &TrialMeasurement) -> Option<Finding> {
    let restarts = trial.host.restarts.filter(|n| *n > 0)?;
    Some(Finding::new(
        "database_restarted",
        Severity::Invalid,
        scope(trial),
        [("restarts", restarts as f64)],
        format!("The database process changed {restarts} time(s) in the measured window."),
        "Read database.log for the reason (out of memory, disk failure policy); a trial across a restart measures a start.",
    ))
}

fn errors_above(trial: &TrialMeasurement) -> Option<Finding> {
    let client = trial.record.client.as_ref()?;
    let failed: u64 = client
        .errors
        .iter()
        .filter(|(kind, _)| **kind != ErrorKind::NotFound)
        .map(|(_, n)| n)
        .sum();
    let all = trial.counted() + trial.failed_operations();
    let share = stats::ratio(failed as f64, all as f64)?;
    if share <= ERROR_SHARE_MAX {
        return None;
    }
    let kinds: Vec<String> = client
        .errors
        .iter()
        .filter(|(kind, n)| **kind != ErrorKind::NotFound && **n > 0)
        .map(|(kind, n)| format!("{n} {}", kind.name()))
        .collect();
    Some(Finding::new(
        "errors_above",
        Severity::Invalid,
        scope(trial),
        [
            ("errors", failed as f64),
            ("operations", all as f64),
            ("error_share", share),
            ("threshold", ERROR_SHARE_MAX),
        ],
        format!(
            "{failed} of {all} operations failed ({}): {}.",
            percent(share),
            kinds.join(", ")
        ),
        "Lower the load level, or raise [load] request_timeout_s if the question allows slower answers; throughput and \
         latency of the rest are not those of the whole workload.",
    ))
}

fn not_found(trial: &TrialMeasurement) -> Option<Finding> {
    let client = trial.record.client.as_ref()?;
    let missing = *client.errors.get(&ErrorKind::NotFound)?;
    let reads = missing
        + [OperationKind::Read, OperationKind::Scan, OperationKind::ReadModifyWrite]
            .iter()
            .filter_map(|kind| client.completed.get(kind))
            .sum::<u64>();
    (missing > 0).then(|| {
        Finding::new(
            "not_found",
            Severity::Suspect,
            scope(trial),
            [("not_found", missing as f64), ("reads", reads as f64)],
            format!("{missing} of {reads} reads returned no row where one must exist."),
            "Check that the data set was loaded and restored whole (trial.json: restored_keys_checked) and that the \
             workload's record count and key order are those of the data set.",
        )
    })
}

fn counts_disagree(trial: &TrialMeasurement) -> Option<Finding> {
    let (counted, recorded) = (trial.counted(), trial.recorded);
    let apart = stats::ratio(counted.abs_diff(recorded) as f64, counted.max(recorded) as f64)?;
    (apart > COUNT_MISMATCH_MAX).then(|| {
        Finding::new(
            "counts_disagree",
            Severity::Suspect,
            scope(trial),
            [
                ("completed", counted as f64),
                ("recorded_latencies", recorded as f64),
                ("difference_share", apart),
            ],
            format!("{counted} operations were counted but {recorded} latencies recorded in the measured window."),
            "The evidence contradicts itself: do not use this trial, and report it as a defect with its directory.",
        )
    })
}
