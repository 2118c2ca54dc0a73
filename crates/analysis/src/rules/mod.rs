//! The rules that make findings. Thresholds are engineering practice unless a source is named; each stands beside its rule.
//!
//! A rule looks at one trial ([`of_trial`]), at a cell ([`of_cell`]), or at the whole run ([`of_run`]). It fires on numbers
//! that it then carries, so that a reader can disagree with the threshold and still use the finding.

mod cell;
mod configuration;
mod emulation;
mod host;
mod load;
mod outcome;
mod steady;
mod storage;

use crate::finding::{Finding, Scope};
use crate::measurement::TrialMeasurement;

pub use cell::{PERCENTILES, SAMPLES_BEYOND, of_cell};
pub use configuration::of_plan;
pub use emulation::{expected_read_iops, expected_write_bytes_per_s, of_run, probe_of};

/// All findings on one trial.
pub fn of_trial(trial: &TrialMeasurement) -> Vec<Finding> {
    [
        outcome::findings(trial),
        steady::findings(trial),
        load::findings(trial),
        host::findings(trial),
        storage::findings(trial),
    ]
    .concat()
}

fn scope(trial: &TrialMeasurement) -> Scope {
    Scope::trial(&trial.record.cell, trial.record.block)
}

/// A share as text: `12.3 %`.
fn percent(share: f64) -> String {
    format!("{:.*} %", if share.abs() < 0.1 { 2 } else { 1 }, share * 100.0)
}

/// A count as text with thousands separators: `1,234,567`.
fn count(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
