//! Is it worth paying for more? From the cheapest configuration to each dearer one.
//!
//! The measure is throughput for money, because the alternative to a faster machine is more of the cheap one: a Cassandra cluster
//! grows by nodes. A step is *worth it* when throughput grows at least as much as cost. It is *not worth it* when it is slower, or when
//! even the upper end of its interval stays below the growth in cost. What lies between is not decided by the evidence.

use spec::Plan;

use crate::cells::CONFIDENCE;
use crate::decision::load_levels;
use crate::document::{CellAnalysis, Ratio, ValueOfMoney, Verdict};
use crate::ratios::{Measured, Metric, judge, ratio};

/// Throughput has grown at least as much as cost.
pub const WORTH_IT: &str = "worth it";
/// It has not.
pub const NOT_WORTH_IT: &str = "not worth it";
/// The evidence does not decide.
pub const NO_DIFFERENCE_SHOWN: &str = "no difference shown";
/// Nothing could be tested.
pub const NOT_COMPARABLE: &str = "not comparable";

/// All steps, by workload and load level, cheapest first.
pub fn of_money(plan: &Plan, cells: &[CellAnalysis], measured: &Measured<'_>) -> Vec<ValueOfMoney> {
    plan.workloads
        .iter()
        .flat_map(|workload| of_workload(plan, cells, &workload.name, measured))
        .collect()
}

fn of_workload(plan: &Plan, cells: &[CellAnalysis], workload: &str, measured: &Measured<'_>) -> Vec<ValueOfMoney> {
    let mut steps: Vec<(&CellAnalysis, &CellAnalysis, Ratio)> = Vec::new();
    for level in load_levels(cells, workload) {
        let mut priced: Vec<(&CellAnalysis, f64)> = cells
            .iter()
            .filter(|c| c.workload == workload && c.load == level)
            .filter_map(|c| Some((c, c.usd_per_month?)))
            .collect();
        priced.sort_by(|a, b| a.1.total_cmp(&b.1));
        let Some((cheapest, _)) = priced.first().copied() else {
            continue;
        };
        let base = measured.by_block(cheapest, Metric::Throughput);
        for (dearer, _) in &priced[1..] {
            let theirs = measured.by_block(dearer, Metric::Throughput);
            if let Some(ratio) = ratio(&cheapest.configuration, &theirs, &base) {
                steps.push((cheapest, dearer, ratio));
            }
        }
    }
    judge(&mut steps.iter_mut().map(|(_, _, r)| r).collect::<Vec<_>>(), true);
    let kind = measured.main_kind(workload);
    let mut values: Vec<ValueOfMoney> = steps
        .into_iter()
        .filter_map(|(from, to, ratio)| {
            let p99 = |cell: &CellAnalysis| Some(cell.latency_us.get(&kind?)?.p99);
            let p99_ratio = p99(to).zip(p99(from)).and_then(|(a, b)| stats::ratio(a, b));
            step(plan, from, to, ratio, p99_ratio)
        })
        .collect();
    mark_knees(&mut values, |from, to, load| {
        let cell = |name: &str| {
            let of = |c: &&CellAnalysis| c.configuration == name && c.workload == workload && c.load == load;
            cells.iter().find(of)
        };
        let (from, to) = (cell(from)?, cell(to)?);
        let by_block = |cell| measured.by_block(cell, Metric::Throughput);
        let mut ratio = ratio(&from.configuration, &by_block(to), &by_block(from))?;
        judge(&mut [&mut ratio], true);
        let cost_ratio = stats::ratio(to.usd_per_month?, from.usd_per_month?)?;
        Some(ratio.verdict == Verdict::Faster && ratio.median >= cost_ratio)
    });
    values
}

fn step(
    plan: &Plan,
    from: &CellAnalysis,
    to: &CellAnalysis,
    throughput_ratio: Ratio,
    p99_ratio: Option<f64>,
) -> Option<ValueOfMoney> {
    let (cheap, dear) = (from.usd_per_month?, to.usd_per_month?);
    let cost_ratio = stats::ratio(dear, cheap)?;
    let (verdict, reason) = verdict(&throughput_ratio, cost_ratio);
    let gained = to.throughput_ops_per_s?.median - from.throughput_ops_per_s?.median;
    let gains = matches!(throughput_ratio.verdict, Verdict::Faster | Verdict::NotComparable) && gained > 0.0;
    Some(ValueOfMoney {
        workload: to.workload.clone(),
        load: to.load,
        from: from.configuration.clone(),
        to: to.configuration.clone(),
        extra_usd_per_month: dear - cheap,
        cost_ratio,
        p99_ratio,
        verdict: verdict.to_owned(),
        reason,
        usd_per_extra_op_per_s: stats::ratio(dear - cheap, gained * plan.scale).filter(|_| gains),
        throughput_ratio,
        knee: false,
    })
}

fn verdict(ratio: &Ratio, cost_ratio: f64) -> (&'static str, String) {
    let interval = format!(
        "{:.0} % interval {:.2} to {:.2}",
        CONFIDENCE * 100.0,
        ratio.low,
        ratio.high
    );
    let cost = format!("{cost_ratio:.2} times the cost");
    match ratio.verdict {
        Verdict::NotComparable | Verdict::Reference => (
            NOT_COMPARABLE,
            format!(
                "{:.2} times the throughput for {cost} in {} pair(s): two or more are needed for a test",
                ratio.median, ratio.pairs
            ),
        ),
        Verdict::Slower => (
            NOT_WORTH_IT,
            format!(
                "slower: {:.2} times the throughput ({interval}) for {cost}",
                ratio.median
            ),
        ),
        Verdict::Faster if ratio.median >= cost_ratio => (
            WORTH_IT,
            format!("{:.2} times the throughput ({interval}) for {cost}", ratio.median),
        ),
        Verdict::Faster => (
            NOT_WORTH_IT,
            format!(
                "faster, {:.2} times the throughput ({interval}), but for {cost}: the same money in more of the cheapest buys more, if it scales",
                ratio.median
            ),
        ),
        Verdict::NoDifferenceShown if ratio.high < cost_ratio => (
            NOT_WORTH_IT,
            format!("no difference shown ({interval}), and even its upper end is less than {cost}"),
        ),
        Verdict::NoDifferenceShown => (
            NO_DIFFERENCE_SHOWN,
            format!(
                "{interval}; these repetitions would have shown a factor of {:.2}",
                ratio.smallest_detectable.unwrap_or(f64::INFINITY)
            ),
        ),
    }
}

/// The knee of each load level: from the cheapest step that is worth it upwards, as long as the next one is worth *its* extra money.
/// `pays(from, to, load)` compares two configurations with each other.
fn mark_knees(values: &mut [ValueOfMoney], pays: impl Fn(&str, &str, spec::LoadLevel) -> Option<bool>) {
    let mut knees: Vec<usize> = Vec::new();
    for (i, value) in values.iter().enumerate().filter(|(_, v)| v.verdict == WORTH_IT) {
        match knees.iter_mut().find(|knee| values[**knee].load == value.load) {
            None => knees.push(i),
            Some(knee) if pays(&values[*knee].to, &value.to, value.load) == Some(true) => *knee = i,
            Some(_) => {}
        }
    }
    for knee in knees {
        values[knee].knee = true;
    }
}
