//! On how many nodes each configuration keeps how many replicas, and how many of these its requests wait for.

use analysis::{Analysis, ConsistencyLevels, Placement, Plan, grouped};

use crate::figures::listed;

/// Of a plan, such as `Database: 1 node, consistency one`; `None` where requests have no levels.
pub fn of_plan(plan: &Plan) -> Option<String> {
    let database = &plan.target.database;
    if !database.product().has_consistency {
        return None;
    }
    let is_started = database.version().is_some();
    let each = plan.configurations.iter().map(|configuration| {
        let levels = configuration.consistency.unwrap_or(plan.target.consistency);
        (placed(configuration.placement, is_started, Some(levels)), configuration.name.as_str())
    });
    of_each(each)
}

/// Of a run; `None` where all configurations are single nodes whose requests have the usual level, `one`.
pub fn of_run(analysis: &Analysis) -> Option<String> {
    let configurations = &analysis.configurations;
    if configurations.iter().all(|configuration| configuration.consistency.is_none()) {
        return None;
    }
    let each = configurations.iter().map(|configuration| {
        let is_started = configuration.exists_at.is_empty();
        (placed(configuration.placement, is_started, configuration.consistency), configuration.name.as_str())
    });
    of_each(each)
}

/// `3 nodes, 3 racks, 3 replicas, consistency quorum`. How many nodes a cluster that exists has is known only where
/// that is stated.
fn placed(placement: Placement, is_started: bool, levels: Option<ConsistencyLevels>) -> String {
    let nodes = match (placement.is_cluster(), is_started) {
        (true, _) => placement.label(),
        (false, true) => "1 node".to_owned(),
        (false, false) => "as it stands".to_owned(),
    };
    let levels = levels.map(|levels| format!("consistency {}", levels.label()));
    std::iter::once(nodes).chain(levels).collect::<Vec<String>>().join(", ")
}

/// What all have alike once, else with names: `Database of a and b: 1 node; of c: 3 nodes`.
fn of_each<'a>(each: impl Iterator<Item = (String, &'a str)>) -> Option<String> {
    let groups = grouped(each);
    match groups.as_slice() {
        [] => None,
        [(placed, _)] => Some(format!("Database: {placed}")),
        several => {
            let each: Vec<String> =
                several.iter().map(|(placed, names)| format!("of {}: {placed}", listed(names))).collect();
            Some(format!("Database {}", each.join("; ")))
        }
    }
}
