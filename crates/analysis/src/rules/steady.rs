//! Had the database come to rest before it was measured?

use spec::OperationKind;
use stats::SteadyVerdict;

use super::{percent, scope};
use crate::finding::{Finding, Severity};
use crate::measurement::TrialMeasurement;

pub fn findings(trial: &TrialMeasurement) -> Vec<Finding> {
    steady_state(trial).into_iter().collect()
}

fn steady_state(trial: &TrialMeasurement) -> Option<Finding> {
    let client = trial.record.client.as_ref()?;
    let too_short = |numbers: [(&str, f64); 2], why: &str| {
        Finding::new(
            "too_short_to_judge",
            Severity::Note,
            scope(trial),
            numbers,
            format!(
                "{:.0} s of measurement are too short to tell a steady state from a passing one: {why}.",
                client.measured_s
            ),
            "Lengthen [load] duration_s (60 s at least; published series of Cassandra still drift after minutes). All measured \
             seconds count.",
        )
    };
    let Some(judged) = trial.window.judged else {
        return Some(too_short(
            [("measured_s", client.measured_s), ("needed_s", 20.0)],
            "fewer than 20 s",
        ));
    };
    match judged.verdict {
        SteadyVerdict::Steady => None,
        SteadyVerdict::TooShort => Some(too_short(
            [("measured_s", client.measured_s), ("cut_s", judged.from as f64)],
            "MSER-5 would cut half of it, or fewer than 40 s would remain",
        )),
        SteadyVerdict::Transient => {
            let inserts = client.completed.get(&OperationKind::Insert).is_some_and(|n| *n > 0);
            Some(Finding::new(
                "no_steady_state",
                Severity::Suspect,
                scope(trial),
                [
                    ("measured_s", client.measured_s),
                    ("cut_s", judged.from as f64),
                    ("change_over_window_share", judged.change),
                    ("trend_p_value", judged.trend_p),
                    ("rounds_range_share", judged.rounds_range),
                ],
                format!(
                    "Throughput was still changing while it was measured: {} over the window, five rounds lie {} apart.",
                    signed(judged.change),
                    percent(judged.rounds_range)
                ),
                if inserts {
                    "A workload that inserts has a trajectory, never a steady state: compare equal amounts of work ([load] \
                     operations), not this throughput with another's."
                } else {
                    "Lengthen [load] warmup_s (or use warmup = \"auto\") and duration_s: this figure depends on when it was measured."
                },
            ))
        }
    }
}

fn signed(share: f64) -> String {
    format!("{}{}", if share > 0.0 { "+" } else { "" }, percent(share))
}
