//! Throughput over data set / page cache in words.

use analysis::{Analysis, CacheCurve, CachePoint, Withheld, grouped};

use crate::figures::{given_percent, listed, number};
use crate::labels;

/// What a curve is of: `gp3, reads, 16 in flight, warm`.
pub fn title(curve: &CacheCurve) -> String {
    format!("{}, {}, {}, {}", curve.configuration, curve.workload, labels::load(curve.load), curve.state.name())
}

/// The most curves that are printed with the answer.
const WITH_ANSWER_MAX: usize = 3;

/// Whether there are so few that they belong to the answer: to the question that such an experiment asks they are it.
pub fn is_with_answer(analysis: &Analysis) -> bool {
    analysis.cache_curves.len() <= WITH_ANSWER_MAX
}

/// Where each curve tips over, one sentence each.
pub fn sentences(analysis: &Analysis) -> impl Iterator<Item = String> {
    analysis.cache_curves.iter().map(|curve| sentence(analysis, curve))
}

fn sentence(analysis: &Analysis, curve: &CacheCurve) -> String {
    let measured = match curve.measured_tipping_ratio {
        Some((last, next)) => {
            let first = curve.points.first().map_or(last, |point| point.ratio);
            let within = given_percent(analysis.margin);
            let holds = match last > first {
                true => format!(
                    "throughput holds up to a data set of {} times the page cache (within {within})",
                    number(last)
                ),
                false => {
                    format!("throughput holds up to a data set of {} times the page cache, the smallest", number(last))
                }
            };
            let between = curve.points.iter().filter(|p| p.ratio > last && p.ratio < next).count();
            let open = match between {
                0 => "",
                _ => "; between them neither is shown",
            };
            format!("{holds}, and is shown to be lower from {} times on{open}", number(next))
        }
        None => "no step is shown between the ratios that were measured".to_owned(),
    };
    let predicted = match (curve.predicted_tipping_ratio, curve.reads_per_miss) {
        (Some(ratio), Some(each)) => format!(
            "; the model, with {} device reads for each miss, has the volume bound it from {} times on",
            number(each),
            number(ratio)
        ),
        (None, Some(_)) if curve.most_ops_per_s.is_some() && curve.volume_iops.is_some() => {
            "; by the model there is none near them".to_owned()
        }
        _ => String::new(),
    };
    format!("{}: {measured}{predicted}{}.", title(curve), left_out(curve))
}

/// Ratios of which nothing is said, and why.
fn left_out(curve: &CacheCurve) -> String {
    let withheld = |point: &CachePoint| Some((instead(point.withheld.as_ref()?), number(point.ratio)));
    let groups = grouped(curve.points.iter().filter_map(withheld));
    groups.iter().map(|(why, ratios)| format!("; nothing is said of {} times: {why}", listed(ratios))).collect()
}

/// What was measured there instead of storage, in few words.
pub(crate) fn instead(why: &Withheld) -> &'static str {
    match why {
        Withheld::Burst { .. } | Withheld::BurstOfBytes { .. } => "burst credits carried it, and they end",
        Withheld::NotAtRest { .. } => "the database was not at rest",
        Withheld::Sick { .. } => "the machine was not well",
        Withheld::Client => "the client was at its limit",
        Withheld::Rate => "the rate was not held",
        Withheld::Data => "records were missing, or counters disagreed",
        Withheld::PageCache => "memory answered",
    }
}
