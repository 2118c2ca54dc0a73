//! What each configuration carries under the objective: the same words and rows for every kind of report.

use analysis::{
    Analysis, Capacity, CapacityLimit, CapacityOutcome, Criterion, LatencyFigure, LatencyObjective, Missed,
};

use crate::answer;
use crate::figures::{MISSING, duration, given, given_percent, listed, ms, number, percent, several};
use crate::labels;

/// Over tables.
pub const TITLE: &str = "What each carries";

/// How to read it.
pub const METHOD: &str = "Carries: where the objective begins to be missed, with its 95 % interval, from whole trials at rates around \
     it. Short probes only said where to look.";

/// Whether something was searched for.
pub fn any(analysis: &Analysis) -> bool {
    !analysis.capacities.is_empty()
}

/// What is asked, as where a rate stands: `p99 at most 10 ms`.
pub fn bounds(analysis: &Analysis) -> String {
    let Some(objective) = &analysis.objective else {
        return "the objective".to_owned();
    };
    let latency = |bound: &LatencyObjective| {
        let kind = bound
            .operation
            .map_or_else(String::new, |kind| format!("{} ", labels::operation(kind)));
        format!(
            "{kind}{} at most {} ms",
            figure(bound.figure),
            given(bound.limit_us / 1e3)
        )
    };
    let errors = objective
        .error_share
        .map(|share| format!("errors at most {}", given_percent(share)));
    listed(&objective.latency.iter().map(latency).chain(errors).collect::<Vec<_>>())
}

fn figure(figure: LatencyFigure) -> &'static str {
    match figure {
        LatencyFigure::P999 => "p99.9",
        other => other.name(),
    }
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

/// One configuration in a clause: `gp3-6000 carries 3,900 (3,700 to 4,100) operations/s for $91.00`.
pub fn clause(analysis: &Analysis, capacity: &Capacity) -> String {
    let name = &capacity.configuration;
    match capacity.outcome {
        CapacityOutcome::Floor => format!("{name} {}", at_floor(capacity)),
        CapacityOutcome::Withheld { why } => answer::withheld(analysis, &[(name.clone(), why)]),
        CapacityOutcome::NotMeasured => format!("{name} has no valid trial"),
        _ => {
            let price = capacity
                .usd_per_month
                .map_or_else(String::new, |usd| format!(" for {} a month", labels::usd(usd)));
            format!("{name} carries {} operations/s{price}", rate(capacity))
        }
    }
}

/// An objective that next to no load misses already.
fn at_floor(capacity: &Capacity) -> String {
    let Some(missed) = &capacity.missed else {
        return "answers nothing".to_owned();
    };
    format!(
        "misses it at any rate: at {} operations/s {}",
        number(missed.at_ops_per_s),
        measured(missed)
    )
}

/// What was measured of a part that is missed: `p99 is 14.2 ms`.
fn measured(missed: &Missed) -> String {
    match (missed.of, missed.measured) {
        (
            Criterion::Latency {
                operation, figure: of, ..
            },
            Some(us),
        ) => {
            let kind = operation.map_or_else(String::new, |kind| format!("{} ", labels::operation(kind)));
            format!("{kind}{} is {} ms", figure(of), ms(us))
        }
        (Criterion::ErrorShare { .. }, Some(share)) => format!("{} of the operations fail", percent(share)),
        _ => "the rate is not held".to_owned(),
    }
}

/// What keeps it from more: `at 4,100 operations/s read p99 is 14.2 ms; limit there: data volume IOPS`.
fn above(capacity: &Capacity) -> Option<String> {
    let missed = capacity
        .missed
        .as_ref()
        .filter(|_| capacity.outcome != CapacityOutcome::Floor)?;
    let limit = capacity
        .limit
        .as_ref()
        .map_or_else(String::new, |limit| format!("; fullest there: {}", used(limit)));
    Some(format!(
        "at {} operations/s {}{limit}",
        number(missed.at_ops_per_s),
        measured(missed)
    ))
}

/// A resource and how much of it was used: `volume IOPS at 97 %`.
fn used(limit: &CapacityLimit) -> String {
    format!("{} at {}", limit.kind.words(), percent(limit.share))
}

/// Sentences below the headline: each configuration that it does not tell, and what keeps each from more.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let several_workloads = analysis.workloads.len() > 1;
    let each = analysis.capacities.iter().map(|capacity| {
        let place = match several_workloads {
            true => format!(" under {}", capacity.workload),
            false => String::new(),
        };
        let more = above(capacity).map_or_else(String::new, |above| format!(": {above}"));
        let bounded = match (capacity.outcome, &capacity.missed, capacity.closed_loop_ops_per_s) {
            (CapacityOutcome::AtLeast, None, Some(closed)) => format!(
                "; no rate that was measured misses the objective (a closed loop reached {} operations/s)",
                number(closed)
            ),
            _ => String::new(),
        };
        format!("{}{place}{more}{bounded}.", clause(analysis, capacity))
    });
    each.chain(steps(analysis)).collect()
}

/// What the next more expensive one carries more, and what that costs.
fn steps(analysis: &Analysis) -> Vec<String> {
    let mut sentences = Vec::new();
    for workload in &analysis.workloads {
        let own = analysis.capacities.iter().filter(|c| c.workload == workload.name);
        let mut priced: Vec<(&Capacity, f64, f64)> = own
            .filter(|c| c.outcome == CapacityOutcome::Found)
            .filter_map(|c| Some((c, c.usd_per_month?, c.ops_per_s?)))
            .collect();
        priced.sort_by(|a, b| a.1.total_cmp(&b.1));
        for pair in priced.windows(2) {
            let ((cheap, low_usd, low), (dear, high_usd, high)) = (pair[0], pair[1]);
            let (usd, more) = (high_usd - low_usd, high - low);
            // Apart by more than what is not known of them.
            let is_shown = dear.low_ops_per_s > cheap.high_ops_per_s;
            let at = match analysis.workloads.len() {
                1 => String::new(),
                _ => format!(" under {}", workload.name),
            };
            sentences.push(if is_shown && usd > 0.0 {
                format!(
                    "From {} to {}{at}: {} operations/s more for {} a month more, {} each.",
                    cheap.configuration,
                    dear.configuration,
                    number(more),
                    labels::usd(usd),
                    labels::usd(usd / more)
                )
            } else {
                format!(
                    "From {} to {}{at}, {} a month more: it is not shown to carry more.",
                    cheap.configuration,
                    dear.configuration,
                    labels::usd(usd)
                )
            });
        }
    }
    sentences
}

/// Head and rows of the table.
pub fn rows(analysis: &Analysis) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let head = vec![
        "Configuration",
        "Workload",
        "Carries, operations/s",
        "$/month",
        "Operations/s per $",
        "Missed above",
        "Fullest there",
        "Closed loop",
        "Probes",
    ];
    let row = |c: &Capacity| {
        let per_usd = c
            .ops_per_s
            .zip(c.usd_per_month.filter(|usd| *usd > 0.0))
            .map(|(rate, usd)| rate / usd);
        let or_missing = |text: Option<String>| text.unwrap_or_else(|| MISSING.to_owned());
        let is_known = !matches!(
            c.outcome,
            CapacityOutcome::Withheld { .. } | CapacityOutcome::NotMeasured
        );
        vec![
            c.configuration.clone(),
            c.workload.clone(),
            match c.outcome {
                CapacityOutcome::Floor => "nothing".to_owned(),
                _ => rate(c),
            },
            or_missing(c.usd_per_month.map(labels::usd)),
            or_missing(per_usd.filter(|_| is_known).map(number)),
            or_missing(c.missed.as_ref().map(measured)),
            or_missing(c.limit.as_ref().map(used)),
            or_missing(c.closed_loop_ops_per_s.map(number)),
            format!("{}, {}", several(c.probes, "probe"), duration(c.probe_s)),
        ]
    };
    (head, analysis.capacities.iter().map(row).collect())
}
