//! A finding: a machine-made remark, data first.
//!
//! Rules, thresholds and figures live in [`crate::rules`]; sentences for people are made from the figures by crate
//! `report`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rule::{Remark, Rule, RuleFigures, Severity};
use crate::seen::{Seen, SeenOn};

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these variants are")]
pub enum Scope {
    Run(String),
    Configuration(String),
    Cell(String),
    /// A trial: `<cell>/<block>`, its directory under `trials/`.
    Trial(String),
}

impl Scope {
    /// What it names.
    pub fn name(&self) -> &str {
        match self {
            Self::Run(name) | Self::Configuration(name) | Self::Cell(name) | Self::Trial(name) => name,
        }
    }

    /// The scope of a trial.
    pub fn trial(cell: &str, block: u32) -> Self {
        Self::Trial(format!("{cell}/{block}"))
    }
}

/// A machine-made remark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule that made it, with the figures that made it fire.
    #[serde(flatten)]
    pub remark: Remark,
    /// How much it weighs.
    pub severity: Severity,
    /// What it is about.
    pub scope: Scope,
    /// Where it was seen; `None` where the database has one node, or nodes have nothing to do with it.
    pub nodes: Option<SeenOn>,
}

impl Finding {
    /// A finding with the weight of its rule.
    pub fn new(scope: Scope, remark: impl Into<Remark>) -> Self {
        let remark = remark.into();
        Self { severity: remark.rule().severity(), remark, scope, nodes: None }
    }

    /// What a rule saw, as a finding on this.
    pub(crate) fn seen<F: Into<Remark>>(scope: Scope, seen: Seen<F>) -> Self {
        Self { nodes: seen.nodes, ..Self::new(scope, seen.figures) }
    }

    /// The rule that made it.
    pub fn rule(&self) -> Rule {
        self.remark.rule()
    }

    /// The figures of a rule; `None` where another rule made it.
    pub fn figures<F: RuleFigures>(&self) -> Option<&F> {
        F::of(&self.remark)
    }

    /// Its numbers by name, for tables of whatever was seen.
    pub fn numbers(&self) -> BTreeMap<String, f64> {
        let mut found = BTreeMap::new();
        if let Ok(value) = serde_json::to_value(&self.remark) {
            collect(&value, &mut found);
        }
        found.extend(self.nodes.as_ref().map(|nodes| ("nodes".to_owned(), nodes.of as f64)));
        found
    }
}

/// The numbers of an object and of the objects in it.
fn collect(value: &Value, found: &mut BTreeMap<String, f64>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        found.extend(value.as_f64().map(|number| (name.clone(), number)));
        collect(value, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::burst::{BurstOnly, CreditsSpent};
    use crate::{Dimension, HostId, VolumeRole};

    #[test]
    fn numbers_are_found_wherever_they_stand() {
        let burst = BurstOnly {
            volume: VolumeRole::Data,
            unit: Dimension::Requests,
            spent: Some(CreditsSpent { credits_start: 5.0, credits_end: 4.0 }),
            lasts: None,
        };
        let nodes = Some(SeenOn::some(vec![HostId::database(1)], 3));
        let found = Finding { nodes, ..Finding::new(Scope::trial("a.w.c1", 1), burst) }.numbers();
        let reported: Vec<(&str, f64)> = found.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(reported, [("credits_end", 4.0), ("credits_start", 5.0), ("nodes", 3.0)]);
    }
}
