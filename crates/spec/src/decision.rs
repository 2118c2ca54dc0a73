//! `[decision]`: the rules by which an answer is made, where they are a matter of taste.

use serde::{Deserialize, Serialize};

/// Run-to-run noise of public clouds alone is 6 to 12 % (Hulen 2010): a smaller difference is seldom worth a migration.
/// Practice.
const DEFAULT_MARGIN: f64 = 0.05;

/// How an answer is made.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DecisionRules {
    /// The margin of practical importance, as a share: differences within it are "the same". 0.05 is 5 %.
    pub margin: f64,
}

impl Default for DecisionRules {
    fn default() -> Self {
        Self { margin: DEFAULT_MARGIN }
    }
}
