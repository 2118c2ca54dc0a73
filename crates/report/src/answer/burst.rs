//! Until when burst credits last, where they carried what was measured.

use analysis::{Analysis, Withheld};

use super::doubts;

/// Configurations that burst credits carried, each with the time after which a full bucket is empty, as clauses behind
/// a headline that does not tell them yet.
pub fn ends(analysis: &Analysis, headline: &str) -> String {
    let mut shortest: Vec<(&str, Withheld)> = Vec::new();
    let cells = analysis.cells.iter().filter_map(|c| Some((&c.configuration, c.withheld?)));
    for (name, why) in cells {
        let Some(lasts_s) = lasts_s(why) else { continue };
        match shortest.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) if self::lasts_s(*known).is_some_and(|known| known > lasts_s) => *known = why,
            Some(_) => {}
            None => shortest.push((name, why)),
        }
    }
    let reported = |name: &str| headline.contains(&format!("burst credits carried {name} "));
    let clauses = shortest.iter().filter(|(name, _)| !reported(name));
    clauses.map(|(name, why)| format!("; {}", doubts::withheld(analysis, &[((*name).to_owned(), *why)]))).collect()
}

fn lasts_s(why: Withheld) -> Option<f64> {
    match why {
        Withheld::Burst { lasts_s, .. } | Withheld::BurstOfBytes { lasts_s, .. } => lasts_s,
        _ => None,
    }
}
