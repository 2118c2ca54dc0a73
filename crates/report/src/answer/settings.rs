//! Which of the settings of the recommended hardware to run: they cost nothing, so that this follows what is paid
//! for.

use analysis::{Analysis, AnswerOutcome, DecidedBy, OtherSettings, WorkloadAnswer, WorseSettings, each_once};

use super::{places, ratio};
use crate::figures::{given_percent, listed, number, several};
use crate::labels;

/// Settings that are shown to be slower and are named one by one.
const SHOWN: usize = 3;

/// The settings of the hardware to run: any of which, which not, and of which neither is shown.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let Some(run) = &analysis.recommendation.run else { return Vec::new() };
    let is_own = |name: &String| name == run || analysis.recommendation.hardware.contains(name);
    let reported: Vec<(&WorkloadAnswer, &OtherSettings)> = analysis
        .recommendation
        .places
        .iter()
        .filter_map(|place| match &place.outcome {
            AnswerOutcome::Run { configuration, settings: Some(settings), .. } if is_own(configuration) => {
                Some((place, settings))
            }
            _ => None,
        })
        .collect();
    let all = [any(analysis), slower(analysis, &reported), open(analysis, run, &reported)];
    all.into_iter().flatten().collect()
}

/// Those that may be run as well, and how far apart they may be.
fn any(analysis: &Analysis) -> Option<String> {
    let any = analysis.recommendation.any_of.as_ref()?;
    let names = listed(&any.configurations);
    let margin = analysis.margin;
    Some(match any.apart {
        // A rounding in the last digit is no difference.
        Some(apart) if apart <= 1.0 + margin + 1e-9 => {
            format!("Settings, which cost nothing: {names} give the same throughput within {}.", given_percent(margin))
        }
        Some(apart) => format!(
            "Settings, which cost nothing: none of {names} is shown to be faster than another; by the \
             widest of their intervals two of them differ by at most {} times.",
            number(apart)
        ),
        None if is_by_demand(analysis) => {
            format!("Settings, which cost nothing: each of {names} meets the objective.")
        }
        None => format!("Settings, which cost nothing: none of {names} is shown to carry more than another."),
    })
}

/// Whether an objective or a demand decides, of which each configuration by itself is known to meet it.
fn is_by_demand(analysis: &Analysis) -> bool {
    let mut places = analysis.recommendation.places.iter();
    places.any(|p| matches!(p.by, DecidedBy::Objective | DecidedBy::Capacity) && !p.candidates.is_empty())
}

/// Those that are shown to be slower, each with its factor; of many the least and the largest.
fn slower(analysis: &Analysis, reported: &[(&WorkloadAnswer, &OtherSettings)]) -> Option<String> {
    let of = |(place, settings): &(&WorkloadAnswer, &OtherSettings)| {
        let at = places::at(analysis, &place.workload, place.load);
        let each = settings.worse.iter().filter_map(|worse: &WorseSettings| {
            let ratio = worse.throughput_ratio.as_ref()?;
            let (times, beyond) = (ratio::times(ratio), ratio::beyond([ratio]));
            let words = format!("{times} {}{at}{beyond}", labels::throughput_of(&ratio.to));
            Some((worse.configuration.clone(), ratio.median, words))
        });
        each.collect::<Vec<_>>()
    };
    let mut all: Vec<(String, f64, String)> = reported.iter().flat_map(of).collect();
    let names = each_once(all.iter().map(|(name, ..)| name.clone()));
    if all.len() <= SHOWN {
        let each: Vec<String> = all.iter().map(|(name, _, words)| format!("{name} has {words}")).collect();
        let first = (!each.is_empty()).then(|| listed(&each));
        return first.map(|each| format!("Not {}, shown to be slower: {each}.", listed(&names)));
    }
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (least, most) = (all.first()?, all.last()?);
    Some(format!(
        "Not {}, shown to be slower: from {} ({}) to {} ({}), in {}.",
        listed(&names),
        least.2,
        least.0,
        most.2,
        most.0,
        several(all.len() as u64, "comparison")
    ))
}

/// Those of which nothing is shown in some place, and that are slower in none.
fn open(analysis: &Analysis, run: &str, reported: &[(&WorkloadAnswer, &OtherSettings)]) -> Option<String> {
    let any = analysis.recommendation.any_of.iter().flat_map(|any| &any.configurations);
    let worse = reported.iter().flat_map(|(_, settings)| &settings.worse);
    let known = any.chain(worse.map(|worse| &worse.configuration));
    let known: Vec<&str> = known.map(String::as_str).chain([run]).collect();
    let open = reported.iter().flat_map(|(_, settings)| &settings.open);
    let names = each_once(open.filter(|name| !known.contains(&name.as_str())).cloned());
    (!names.is_empty()).then(|| {
        format!("Open, on the same hardware: {}, not shown to be worse, nor to be as good a choice.", listed(&names))
    })
}
