//! A finding: a machine-made remark, data first.
//!
//! The numbers decide; `message` and `advice` put them into words for people. Rules and thresholds live in
//! [`crate::rules`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The figure may not mean what it seems to.
    Suspect,
    /// The trial may not enter a comparison.
    Invalid,
}

impl Severity {
    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Suspect => "suspect",
            Self::Invalid => "invalid",
        }
    }
}

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
    /// Name of the rule.
    pub rule: String,
    /// How much it weighs.
    pub severity: Severity,
    /// What it is about.
    pub scope: Scope,
    /// The numbers that made the rule fire, with their units in the names.
    pub numbers: BTreeMap<String, f64>,
    /// What was seen.
    pub message: String,
    /// What to do.
    pub advice: String,
}

impl Finding {
    pub(crate) fn new<const N: usize>(
        rule: &str,
        severity: Severity,
        scope: Scope,
        numbers: [(&str, f64); N],
        message: String,
        advice: &str,
    ) -> Self {
        Self {
            rule: rule.to_owned(),
            severity,
            scope,
            numbers: numbers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            message,
            advice: advice.to_owned(),
        }
    }
}
