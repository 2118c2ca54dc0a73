//! A finding: a machine-made remark, data first.
//!
//! Rules and thresholds live in [`crate::rules`]; sentences for people are made from the numbers by crate `report`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fact::NODES;
use crate::rule::{Rule, Severity};

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The whole run.
    Run(String),
    /// A configuration, by name.
    Configuration(String),
    /// A cell, by its identity.
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
    /// The rule that made it.
    pub rule: Rule,
    /// How much it weighs.
    pub severity: Severity,
    /// What it is about.
    pub scope: Scope,
    /// The numbers that made the rule fire, with their units in the names.
    pub numbers: BTreeMap<String, f64>,
    /// What numbers cannot say: a volume's role, kinds of errors.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

impl Finding {
    pub(crate) fn new<const N: usize>(rule: Rule, scope: Scope, numbers: [(&str, f64); N]) -> Self {
        Self {
            rule,
            severity: rule.severity(),
            scope,
            numbers: numbers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            facts: BTreeMap::new(),
        }
    }

    /// The same with a fact in words.
    pub(crate) fn with(mut self, name: &str, fact: impl Into<String>) -> Self {
        self.facts.insert(name.to_owned(), fact.into());
        self
    }

    /// The same, seen on these of `all` nodes.
    pub(crate) fn on_nodes(mut self, names: &[String], all: usize) -> Self {
        self.numbers.insert(NODES.to_owned(), all as f64);
        self.with(NODES, names.join(", "))
    }

    /// A number by its name; `None` where the finding has none.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    /// A fact by its name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }
}
