//! Gates on a comparison, for continuous integration: `throughput < -5%` fails when any cell lost more than 5 % of its throughput.
//!
//! A gate must not fail by noise, nor pass because nobody looked. So a cell fails it when its change is beyond the threshold *and* is
//! shown (Holm, [`stats::LEVEL`]); where there are too few repetitions for a test, the plain change decides and the reason says so; and
//! a gate on a comparison without any cell fails.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::comparison::{Change, Comparison, METRICS};
use crate::document::Verdict;

/// A condition under which a comparison fails: metric, direction, threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    metric: &'static str,
    below: bool,
    threshold_percent: f64,
}

/// How a gate was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// As it was written.
    pub expression: String,
    /// Whether it failed.
    pub failed: bool,
    /// Which cells failed it, with their numbers; or why nothing could be decided.
    pub reasons: Vec<String>,
}

/// A gate that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot read the gate {given:?}: {problem}; write METRIC < -N% or METRIC > N% with METRIC one of {metrics}, for example 'throughput < -5%'", metrics = names())]
pub struct GateError {
    given: String,
    problem: String,
}

fn names() -> String {
    METRICS.map(|(name, _)| name).join(", ")
}

impl Gate {
    /// Reads `throughput < -5%` or `p99 > 10%`.
    pub fn parse(text: &str) -> Result<Self, GateError> {
        let error = |problem: &str| GateError {
            given: text.to_owned(),
            problem: problem.to_owned(),
        };
        let at = text.find(['<', '>']).ok_or_else(|| error("it has neither < nor >"))?;
        let name = text[..at].trim();
        let metric = METRICS
            .iter()
            .map(|(metric, _)| *metric)
            .find(|metric| *metric == name)
            .ok_or_else(|| error(&format!("there is no metric {name:?}")))?;
        let number = text[at + 1..].trim();
        let threshold_percent = number
            .strip_suffix('%')
            .ok_or_else(|| error("the threshold has no %"))?
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
            .ok_or_else(|| error(&format!("{number:?} is not a percentage")))?;
        Ok(Self {
            metric,
            below: text[at..].starts_with('<'),
            threshold_percent,
        })
    }

    /// Decides on a comparison.
    pub fn decide(&self, comparison: &Comparison) -> GateResult {
        let changes: Vec<(&str, &Change)> = comparison
            .cells
            .iter()
            .filter_map(|cell| Some((cell.cell.as_str(), cell.metrics.get(self.metric)?)))
            .collect();
        if changes.is_empty() {
            return GateResult {
                expression: self.to_string(),
                failed: true,
                reasons: vec!["the two runs have no valid cell in common: nothing was compared".to_owned()],
            };
        }
        let reasons: Vec<String> = changes
            .into_iter()
            .filter(|(_, change)| self.is_beyond(change) && change.verdict != Verdict::NoDifferenceShown)
            .map(|(cell, change)| {
                let test = match change.p_adjusted {
                    Some(p) => format!(
                        "95 % interval {:+.1} to {:+.1} %, p = {p:.3}",
                        change.low_percent, change.high_percent
                    ),
                    None => "not tested: fewer than two valid trials on a side".to_owned(),
                };
                format!("{cell}: {} {:+.1} % ({test})", self.metric, change.change_percent)
            })
            .collect();
        GateResult {
            expression: self.to_string(),
            failed: !reasons.is_empty(),
            reasons,
        }
    }

    fn is_beyond(&self, change: &Change) -> bool {
        match self.below {
            true => change.change_percent < self.threshold_percent,
            false => change.change_percent > self.threshold_percent,
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.below { '<' } else { '>' };
        write!(f, "{} {sign} {}%", self.metric, self.threshold_percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read_and_written_alike() {
        for text in ["throughput < -5%", "p99 > 10%", "p999 > 0.5%"] {
            assert_eq!(Gate::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Gate::parse(" throughput<-5 % ").unwrap().to_string(),
            "throughput < -5%"
        );
    }

    #[test]
    fn a_gate_that_cannot_be_read_says_what_is_wrong() {
        for (text, problem) in [
            ("throughput -5%", "neither < nor >"),
            ("speed < -5%", "no metric \"speed\""),
            ("p99 > 10", "no %"),
            ("p99 > ten%", "not a percentage"),
            ("p99 > NaN%", "not a percentage"),
        ] {
            let message = Gate::parse(text).unwrap_err().to_string();
            assert!(message.contains(problem), "{text}: {message}");
            assert!(message.contains("'throughput < -5%'"), "{message}");
        }
    }
}
