//! What a lost node costs, where configurations differ in it: stated in the headline, and beside each comparison across
//! it.

use analysis::{Analysis, BestOfAlike, ConfigurationFacts, Durability, each_once, grouped};

use crate::figures::listed;
use crate::labels;

/// Said behind a comparison of two configurations that keep unlike things; else nothing.
pub fn beside(analysis: &Analysis, one: &str, other: &str) -> &'static str {
    if differ(analysis, one, other) { "; they differ in what a lost node costs" } else { "" }
}

/// What the configuration to run keeps beside the others: `a keeps 1 replica (...), b 3 replicas (...)`; `None` where
/// all keep alike.
pub fn differences(analysis: &Analysis, run: &str) -> Option<String> {
    let own = analysis.configurations.iter().filter(|c| c.name == run);
    let others = analysis.configurations.iter().filter(|c| c.name != run && is_measured(analysis, &c.name));
    let groups = grouped(own.chain(others).map(|facts| (Durability::of(facts), facts)));
    let each: Vec<String> = groups
        .iter()
        .map(|(_, members)| format!("{} {}", listed(members.iter().map(|facts| &facts.name)), kept(members[0])))
        .collect();
    (each.len() > 1).then(|| format!("what a lost node costs differs: {}", each.join("; ")))
}

/// The best of each kind, with what it keeps.
pub fn each(analysis: &Analysis, best: &[BestOfAlike]) -> Vec<String> {
    let of_kind = |best: &BestOfAlike| {
        let first = analysis.configurations.iter().find(|c| best.configurations.contains(&c.name));
        let kept = first.map_or_else(String::new, |facts| format!(" {}", kept(facts)));
        format!("{}{kept}", best.configurations.join(" or "))
    };
    best.iter().map(of_kind).collect()
}

/// Whether two configurations keep unlike things.
pub fn differ(analysis: &Analysis, one: &str, other: &str) -> bool {
    of(analysis, one) != of(analysis, other)
}

fn of(analysis: &Analysis, name: &str) -> Option<Durability> {
    let facts = analysis.configurations.iter().find(|c| c.name == name)?;
    Some(Durability::of(facts))
}

fn is_measured(analysis: &Analysis, name: &str) -> bool {
    let mut cells = analysis.cells.iter().filter(|c| c.configuration == name);
    cells.any(|c| c.valid_trials > 0)
}

/// `(3 nodes, 3 replicas, consistency quorum: a node may be lost without losing data or answers)`.
fn kept(facts: &ConfigurationFacts) -> String {
    let durability = Durability::of(facts);
    let (what, cost) = if durability.is_one_node {
        ("one node".to_owned(), "with it all data is lost")
    } else {
        (labels::nodes(facts), cost(&durability))
    };
    format!("({what}: {cost})")
}

fn cost(durability: &Durability) -> &'static str {
    match durability {
        d if d.replicas == 1 => "with a node its part of the data is lost",
        d if d.write_waits_for <= 1 => "with a node writes may be lost that it alone had acknowledged",
        d if !d.survives_a_node() => "no data is lost with a node, but requests fail without it",
        _ => "a node may be lost without losing data or answers",
    }
}

/// What production does for an operation, and a single node does not.
pub fn one_copy(analysis: &Analysis) -> String {
    let level = |of: &ConfigurationFacts| of.consistency.map_or_else(|| "one".to_owned(), |levels| levels.label());
    let levels = each_once(analysis.configurations.iter().map(level));
    format!(
        "Each configuration is a single node without replicas (consistency {}). With 3 replicas and LOCAL_QUORUM, as \
         production usually has, 3 nodes do each write and 2 each read: an operation costs more. Measure a cluster \
         (nodes = 3) for what one carries.",
        listed(levels)
    )
}
