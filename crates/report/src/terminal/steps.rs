//! What more expensive configurations give: one row for each step and place.

use analysis::{Analysis, ValueOfMoney};

use super::table::{Column, fitted, folded};
use crate::figures::number;
use crate::labels;

/// What is left out first where a terminal is narrow.
const DROPPED: [&str; 1] = ["value"];

/// The fullest table that fits.
pub fn table(analysis: &Analysis, width: usize) -> String {
    fitted(width, &DROPPED, |name| columns(analysis, name))
}

fn columns(analysis: &Analysis, name: usize) -> Vec<Column> {
    let steps = &analysis.value_of_money;
    let each = |show: &dyn Fn(&ValueOfMoney) -> String| steps.iter().map(show).collect::<Vec<String>>();
    let ends = |s: &ValueOfMoney| format!("{}\n-> {}", folded(&s.from, name), folded(&s.to, name));
    let mut columns = vec![Column::text("step", "Step", each(&ends))];
    if steps.iter().any(|s| s.workload != steps[0].workload) {
        columns.push(Column::text(
            "workload",
            "Workload",
            each(&|s| folded(&s.workload, name)),
        ));
    }
    if steps.iter().any(|s| s.load != steps[0].load) {
        columns.push(Column::text("load", "In flight", each(&|s| labels::short_load(s.load))));
    }
    let cost = |s: &ValueOfMoney| format!("{}x\n+{}", number(s.cost_ratio), labels::usd(s.extra_usd_per_month));
    let gain = |s: &ValueOfMoney| {
        let ratio = &s.throughput_ratio;
        carried(s, ratio.low, ratio.high).unwrap_or_else(|| factor(ratio.median, ratio.low, ratio.high))
    };
    let value = |s: &ValueOfMoney| {
        let value = s.value_ratio;
        carried(s, value.low, value.high).unwrap_or_else(|| factor(value.median, value.low, value.high))
    };
    columns.push(Column::numbers("cost", "Cost", each(&cost)));
    columns.push(Column::numbers("throughput", "Throughput", each(&gain)));
    columns.push(Column::numbers("value", "Throughput\n/ cost", each(&value)));
    columns.push(Column::text(
        "verdict",
        "Verdict",
        each(&|s| labels::value_verdict(s).replace(" (", "\n(")),
    ));
    columns
}

/// `at least` above the factor that carries over.
fn carried(step: &ValueOfMoney, low: f64, high: f64) -> Option<String> {
    let reported = labels::carried(&step.throughput_ratio, low, high)?;
    Some(reported.replace("least ", "least\n").replace("most ", "most\n"))
}

fn factor(middle: f64, low: f64, high: f64) -> String {
    match low < high {
        true => format!("{}x\n({}-{})", number(middle), number(low), number(high)),
        false => format!("{}x", number(middle)),
    }
}
