//! `[decision]`: the rules by which an answer is made, where they are a matter of taste.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Run-to-run noise of public clouds alone is 6 to 12 % (Hulen 2010): a smaller difference is seldom worth a migration.
/// Practice.
const DEFAULT_MARGIN: f64 = 0.05;

/// How an answer is made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DecisionRules {
    /// The margin of practical importance, as a share: differences within it are "the same". 0.05 is 5 %.
    pub margin: f64,
    /// What becomes of configurations that differ in what a lost node costs; left out of files where it is the default.
    pub durability: DurabilityRule,
}

/// What becomes of configurations that differ in what a lost node costs: in replicas, or in how many of them a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityRule {
    /// They are compared on speed and money, and none is recommended over one that keeps more.
    #[default]
    Separate,
    /// They are chosen from by speed and money alone; the difference is reported.
    Ignore,
}

impl Default for DecisionRules {
    fn default() -> Self {
        Self {
            margin: DEFAULT_MARGIN,
            durability: DurabilityRule::default(),
        }
    }
}
