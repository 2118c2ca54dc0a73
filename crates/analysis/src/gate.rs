//! Gates on a comparison, for continuous integration: `throughput < -5%` fails when a cell is shown to have lost more
//! than 5 % of its throughput.
//!
//! A gate must not fail by noise, nor pass because nobody could have seen a loss. So the interval of each change is
//! held against the threshold: wholly beyond it in one cell fails, wholly on the good side in all cells passes, and
//! anything else is inconclusive, with the number of repetitions that would decide. Single repetitions, runs of other
//! work or on different machines, a run against itself, and a comparison without any cell are inconclusive too; and so
//! are cells without the figure in one of the runs, and those of which something else was measured than their storage
//! (memory, the client), unless one is shown to have lost.

use std::fmt;

use thiserror::Error;

use crate::comparisons::is_open;
use crate::document::{CellChange, Change, Comparison, GateCell, GateOutcome, GateResult, Metric, Obstacle};

/// A condition under which a comparison fails: metric, direction, threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    metric: Metric,
    below: bool,
    threshold_percent: f64,
}

/// A gate that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot read the gate {given:?}: {problem}; write METRIC < -N% or METRIC > N% with METRIC one of {metrics}, \
         for example 'throughput < -5%'", metrics = names())]
pub struct GateError {
    given: String,
    problem: String,
}

fn names() -> String {
    Metric::CHANGES.map(Metric::name).join(", ")
}

impl Gate {
    /// Reads `throughput < -5%` or `p99 > 10%`.
    pub fn parse(text: &str) -> Result<Self, GateError> {
        let error = |problem: &str| GateError { given: text.to_owned(), problem: problem.to_owned() };
        let at = text.find(['<', '>']).ok_or_else(|| error("it has neither < nor >"))?;
        let name = text[..at].trim();
        let metric = Metric::CHANGES.into_iter().find(|metric| metric.name() == name).ok_or_else(|| {
            let near = experiment::nearest(name, Metric::CHANGES.map(Metric::name));
            let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            error(&format!("there is no metric {name:?}{near}"))
        })?;
        let number = text[at + 1..].trim();
        let threshold_percent = number
            .strip_suffix('%')
            .ok_or_else(|| error("the threshold has no %"))?
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
            .ok_or_else(|| error(&format!("{number:?} is not a percentage")))?;
        Ok(Self { metric, below: text[at..].starts_with('<'), threshold_percent })
    }

    /// Decides on a comparison.
    pub fn decide(&self, comparison: &Comparison) -> GateResult {
        let judged: Vec<GateCell> = comparison
            .cells
            .iter()
            .filter_map(|cell| {
                let change = cell.metrics.get(&self.metric)?;
                Some(GateCell {
                    cell: cell.cell.clone(),
                    metric: self.metric,
                    outcome: self.judge(change),
                    change: change.clone(),
                })
            })
            .collect();
        let mut obstacles = Vec::new();
        if judged.is_empty() {
            obstacles.push(Obstacle::NothingCompared);
        } else if !comparison.not_compared.is_empty() {
            obstacles.push(Obstacle::CellsMissing { cells: comparison.not_compared.len() as u64 });
        }
        // At a given rate nobody asks for throughput.
        let lacks = |cell: &&CellChange| {
            let is_asked = self.metric != Metric::Throughput || !is_open(cell.load);
            is_asked && !cell.metrics.contains_key(&self.metric)
        };
        let without = comparison.cells.iter().filter(lacks).count();
        if without > 0 && !judged.is_empty() {
            obstacles.push(Obstacle::FiguresMissing { cells: without as u64 });
        }
        let is_withheld = |cell: &&CellChange| {
            (cell.withheld_a.is_some() || cell.withheld_b.is_some()) && cell.metrics.contains_key(&self.metric)
        };
        let withheld = comparison.cells.iter().filter(is_withheld).count();
        if withheld > 0 {
            obstacles.push(Obstacle::Withheld { cells: withheld as u64 });
        }
        if comparison.same_run {
            obstacles.push(Obstacle::SameRun);
        }
        if comparison.scales_differ.is_some() {
            obstacles.push(Obstacle::DifferentScales);
        }
        let unlike = comparison.unlike();
        if !unlike.is_empty() {
            obstacles.push(Obstacle::DifferentWork { facts: unlike });
        }
        if !comparison.hosts_differ.is_empty() {
            obstacles.push(Obstacle::DifferentHosts { facts: comparison.hosts_differ.clone() });
        }
        let worst = judged.iter().map(|c| c.outcome).max().unwrap_or(GateOutcome::Inconclusive);
        let outcome = if obstacles.is_empty() { worst } else { worst.max(GateOutcome::Inconclusive) };
        let open = || judged.iter().filter(|c| c.outcome == GateOutcome::Inconclusive);
        let needed: Option<Vec<u32>> = open().map(|c| self.repetitions(&c.change)).collect();
        GateResult {
            expression: self.to_string(),
            outcome,
            would_decide_repetitions: needed
                .filter(|_| outcome == GateOutcome::Inconclusive && obstacles.is_empty())
                .and_then(|all| all.into_iter().max()),
            cells: judged.into_iter().filter(|c| c.outcome != GateOutcome::Passed).collect(),
            obstacles,
        }
    }

    fn judge(&self, change: &Change) -> GateOutcome {
        if change.contrast.is_none() {
            return GateOutcome::Inconclusive;
        }
        // What lies on the threshold is not beyond it.
        let (near, far) = match self.below {
            true => (change.low_percent, change.high_percent),
            false => (-change.high_percent, -change.low_percent),
        };
        let threshold = if self.below { self.threshold_percent } else { -self.threshold_percent };
        if far < threshold {
            GateOutcome::Failed
        } else if near >= threshold {
            GateOutcome::Passed
        } else {
            GateOutcome::Inconclusive
        }
    }

    fn repetitions(&self, change: &Change) -> Option<u32> {
        match change.contrast {
            Some(contrast) => contrast.repetitions_to_refute(1.0 + self.threshold_percent / 100.0, change.level),
            None => u32::try_from(stats::REPETITIONS_MIN).ok(),
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.below { '<' } else { '>' };
        write!(f, "{} {sign} {}%", self.metric.name(), self.threshold_percent)
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
        assert_eq!(Gate::parse(" throughput<-5 % ").unwrap().to_string(), "throughput < -5%");
    }

    #[test]
    fn a_gate_that_cannot_be_read_says_what_is_wrong() {
        for (text, problem) in [
            ("throughput -5%", "neither < nor >"),
            ("speed < -5%", "no metric \"speed\""),
            ("througput < -5%", "no metric \"througput\" (did you mean `throughput`?)"),
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
