//! What each configuration carries under the objective; the page draws it on its first screen.

use analysis::{Analysis, CapacityOutcome};

use crate::capacity::{any, measured, method, rate, used};
use crate::document::section::Section;
use crate::document::table::{column, rows};
use crate::figures::{duration, several};
use crate::labels;

/// Empty where nothing was searched for.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("capacity", "What each carries");
    if !any(analysis) {
        return section;
    }
    let table = rows("", &analysis.capacities)
        .text("Configuration", |c| c.configuration.clone())
        .text(column("Workload").varies(), |c| c.workload.clone())
        .number("Carries, operations/s", |c| match c.outcome {
            CapacityOutcome::Floor => "nothing".to_owned(),
            _ => rate(c),
        })
        .number("$/month", |c| c.usd_per_month.map(labels::dollars))
        .number(column("Operations/s per $").drop(3), |c| {
            let (rate, usd) = c.ops_per_s.zip(c.usd_per_month.filter(|usd| *usd > 0.0))?;
            let is_known = !matches!(c.outcome, CapacityOutcome::Withheld { .. } | CapacityOutcome::NotMeasured);
            is_known.then_some(rate / usd)
        })
        .text(column("Missed above").drop(1), |c| c.missed.as_ref().map(measured))
        .text(column("Fullest there").drop(2), |c| c.limit.as_ref().map(used))
        .number(column("Closed loop").drop(4), |c| c.closed_loop_ops_per_s)
        .text(column("Probes").drop(5), |c| format!("{}, {}", several(c.probes, "probe"), duration(c.probe_s)));
    section.table(table).key(method(analysis))
}
