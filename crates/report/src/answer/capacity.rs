//! The answer where the highest rates were found.

use analysis::{Analysis, Capacity, Outcome, Place};

use crate::capacity::{bounds, clause, rate};
use crate::figures::listed;
use crate::labels;

/// Why a place says to run this: its claim and the numbers that show it.
pub fn why(analysis: &Analysis, place: &Place, run: &str) -> (String, String) {
    let own = |c: &&Capacity| c.workload == place.workload;
    let Some(ours) = analysis.capacities.iter().filter(own).find(|c| c.configuration == run) else {
        return ("it meets the objective".to_owned(), String::new());
    };
    let price = ours
        .usd_per_month
        .map_or_else(String::new, |usd| format!(" for {} a month", labels::usd(usd)));
    let others = analysis
        .capacities
        .iter()
        .filter(own)
        .filter(|c| c.configuration != run);
    let others: Vec<String> = others.map(|c| clause(analysis, c)).collect();
    let is_demand = !place.candidates.is_empty();
    let claim = match (is_demand, ours.usd_per_month) {
        (true, Some(_)) => format!(
            "it is the cheapest that carries the demand with headroom at {}",
            bounds(analysis)
        ),
        (true, None) => format!("it carries the demand with headroom at {}", bounds(analysis)),
        (false, Some(_)) => format!("it carries the most for its money at {}", bounds(analysis)),
        (false, None) => format!("it carries the most at {}", bounds(analysis)),
    };
    let numbers = std::iter::once(format!("{} operations/s{price}", rate(ours))).chain(others);
    (claim, numbers.collect::<Vec<_>>().join("; "))
}

/// Why a place is between several, or none of them.
pub fn open(analysis: &Analysis, place: &Place) -> String {
    let own = analysis.capacities.iter().filter(|c| c.workload == place.workload);
    match &place.outcome {
        Outcome::Between { configurations, .. } => {
            let all: Vec<String> = own
                .filter(|c| configurations.contains(&c.configuration))
                .map(|c| clause(analysis, c))
                .collect();
            let what = match place.candidates.is_empty() {
                true => "which carries more for its money is not shown",
                false => "whether each carries the demand with headroom is not shown",
            };
            format!(
                "the choice is between {} at {}: {}; {what}",
                listed(configurations),
                bounds(analysis),
                all.join("; ")
            )
        }
        _ => {
            let all: Vec<String> = own.map(|c| clause(analysis, c)).collect();
            let what = match place.candidates.is_empty() {
                true => format!("no configuration meets {}", bounds(analysis)),
                false => format!(
                    "no configuration carries the demand with headroom at {}",
                    bounds(analysis)
                ),
            };
            format!("{what}: {}", all.join("; "))
        }
    }
}
