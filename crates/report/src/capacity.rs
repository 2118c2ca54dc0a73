//! What each configuration carries under the objective, in words.

use analysis::{Analysis, Capacity, CapacityLimit, CapacityOutcome, Criterion, LatencyObjective, Missed};

use crate::figures::{MISSING, given, given_percent, listed, ms, number, percent, several, when};
use crate::labels;

/// How to read it.
pub fn method(analysis: &Analysis) -> String {
    let scale = if analysis.scale == 1.0 {
        String::new()
    } else {
        format!(
            " Rates here are at full scale, {} times those of this machine, which stand everywhere else.",
            given(analysis.scale)
        )
    };
    format!(
        "Carries: where the objective begins to be missed, with its 95 % interval, from whole trials at rates around \
         it. Short probes only said where to look.{scale}"
    )
}

/// Whether something was searched for.
pub fn any(analysis: &Analysis) -> bool {
    !analysis.capacities.is_empty()
}

/// What is asked, as where a rate stands: `p99 at most 10 ms`, or `p99 at most 10 ms in the 1:16 model`.
pub fn bounds(analysis: &Analysis) -> String {
    let Some(objective) = &analysis.objective else { return "the objective".to_owned() };
    let latency = |bound: &LatencyObjective| {
        let of = labels::latency(bound.operation, bound.figure);
        format!("{of} at most {} ms", given(bound.limit_us / 1e3))
    };
    let errors = objective.error_share.map(|share| format!("errors at most {}", given_percent(share)));
    let in_model = when(!objective.latency.is_empty(), || labels::in_model(analysis.scale));
    format!("{}{in_model}", listed(objective.latency.iter().map(latency).chain(errors)))
}

/// The rate with what is shown of it: `3,900 (3,700 to 4,100)`.
pub fn rate(capacity: &Capacity) -> String {
    let ends = (capacity.low_ops_per_s, capacity.high_ops_per_s);
    match (capacity.outcome, capacity.ops_per_s, ends) {
        (CapacityOutcome::Withheld { .. } | CapacityOutcome::NotMeasured, _, _) | (_, None, _) => MISSING.to_owned(),
        (_, Some(rate), (Some(low), Some(high))) => format!("{} ({} to {})", number(rate), number(low), number(high)),
        (_, Some(rate), (Some(low), None)) if rate > low => format!("about {} ({} or more)", number(rate), number(low)),
        (_, Some(rate), (None, Some(high))) if rate < high => {
            format!("about {} (less than {})", number(rate), number(high))
        }
        (_, _, (Some(low), None)) => format!("{} or more", number(low)),
        (_, _, (None, Some(high))) => format!("less than {}", number(high)),
        (_, Some(rate), (None, None)) => format!("about {}, not shown", number(rate)),
    }
}

/// What was measured of a part that is missed: `p99 is 14.2 ms`; where fewer than half of the trials miss it, in how
/// many: `p99 is above 10 ms in 1 of 3 trials`.
pub fn measured(missed: &Missed) -> String {
    let trials = format!("in {} of {}", missed.missing, several(missed.trials, "trial"));
    match (missed.of, missed.measured) {
        (Criterion::Latency { operation, figure, limit_us }, Some(us)) => {
            let of = labels::latency(operation, figure);
            match us > limit_us {
                true => format!("{of} is {} ms", ms(us)),
                false => format!("{of} is above {} ms {trials}", given(limit_us / 1e3)),
            }
        }
        (Criterion::ErrorShare { limit }, Some(share)) => match share > limit {
            true => format!("{} of the operations fail", percent(share)),
            false => format!("more than {} of the operations fail {trials}", given_percent(limit)),
        },
        _ => "the rate is not held".to_owned(),
    }
}

/// A resource and how much of it was used: `volume IOPS at 97 %`.
pub fn used(limit: &CapacityLimit) -> String {
    format!("{} at {}", limit.kind.words(), percent(limit.share))
}

#[cfg(test)]
mod tests {
    use analysis::{LatencyFigure, OperationKind};

    use super::*;

    /// The table of latencies shows the median of all trials, and so does what is said of them.
    #[test]
    fn a_median_below_its_bound_is_not_called_a_miss() {
        let of = |us: f64, missing: u64| {
            measured(&Missed {
                of: Criterion::Latency {
                    operation: Some(OperationKind::Read),
                    figure: LatencyFigure::P99,
                    limit_us: 50_000.0,
                },
                at_ops_per_s: 2_600.0,
                measured: Some(us),
                trials: 3,
                missing,
            })
        };
        assert_eq!(of(55_800.0, 2), "read p99 is 55.8 ms");
        assert_eq!(of(42_000.0, 1), "read p99 is above 50 ms in 1 of 3 trials");
    }
}
