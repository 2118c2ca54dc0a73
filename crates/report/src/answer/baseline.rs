//! The configuration to run against the baseline that the experiment states: what the reader has today, and the first
//! thing that they ask about.

use analysis::{Analysis, DecidedBy, LoadLevel, Ratio, Verdict, WorkloadAnswer};

use super::{places, ratio};
use crate::labels;

/// Places that are named one by one.
const PLACES: usize = 4;

/// Throughput of what is run over that of the stated baseline, in one place.
#[derive(Debug, Clone, Copy)]
pub struct ToBaseline<'a> {
    pub workload: &'a String,
    pub load: LoadLevel,
    pub ratio: &'a Ratio,
}

/// In each of these places where throughput for money decides and both were measured; none where no baseline is
/// stated, or where it is the one to run.
pub fn ratios<'a>(
    analysis: &'a Analysis,
    run: &str,
    places: impl IntoIterator<Item = &'a WorkloadAnswer>,
) -> Vec<ToBaseline<'a>> {
    let of_place = |place: &'a WorkloadAnswer| {
        let load = place.load.filter(|_| place.by == DecidedBy::Value)?;
        let cell = analysis.cell(run, &place.workload, load)?;
        let ratio = cell.ratio_to_baseline.as_ref()?;
        let baseline = analysis.cell(&ratio.to, &place.workload, load)?;
        let is_said = ratio.to != run && ratio.verdict != Verdict::NotComparable;
        let is_held = cell.withheld.is_some() || baseline.withheld.is_some();
        (is_said && !is_held).then_some(ToBaseline { workload: &place.workload, load, ratio })
    };
    places.into_iter().filter(|_| analysis.is_baseline_stated).filter_map(of_place).collect()
}

/// `3.00 times (2.85 to 3.15) the throughput of gp2, the baseline, for $1,000.00 instead of $500.00 a month`; `None`
/// where there is no ratio.
pub fn clause(analysis: &Analysis, run: &str, all: &[ToBaseline<'_>], with_places: bool) -> Option<String> {
    let at = |one: &ToBaseline<'_>| match with_places {
        true => places::at(analysis, one.workload, Some(one.load)),
        false => String::new(),
    };
    let baseline = labels::throughput_of(&analysis.baseline);
    let first = |one: &ToBaseline<'_>| format!("{} {baseline}, {}", ratio::times(one.ratio), named(&at(one)));
    let further = |one: &ToBaseline<'_>| format!("{}{}", ratio::times(one.ratio), at(one));
    let mut sorted = all.to_vec();
    sorted.sort_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
    let factors = match (all, sorted.as_slice()) {
        ([one, others @ ..], _) if others.len() < PLACES => {
            let others: Vec<String> = others.iter().map(further).collect();
            [vec![first(one)], others].concat().join(", ")
        }
        (_, [least, .., most]) => format!("{} up to {}, in {} places", first(least), further(most), all.len()),
        _ => return None,
    };
    let cost = match (usd(analysis, run), usd(analysis, &analysis.baseline)) {
        (Some(run), Some(baseline)) => match (labels::usd(run), labels::usd(baseline)) {
            (run, baseline) if run == baseline => ", for the same cost".to_owned(),
            (run, baseline) => format!(", for {run} instead of {baseline} a month"),
        },
        _ => String::new(),
    };
    Some(format!("{factors}{cost}{}", ratio::beyond(all.iter().map(|one| one.ratio))))
}

/// What it is called behind its name, and where: `the baseline`, `the baseline, under reads`.
pub fn named(at: &str) -> String {
    if at.is_empty() { "the baseline".to_owned() } else { format!("the baseline,{at}") }
}

/// What a configuration costs a month; `None`: not known.
pub fn usd(analysis: &Analysis, name: &str) -> Option<f64> {
    analysis.configurations.iter().find(|c| c.name == name)?.usd_per_month
}
