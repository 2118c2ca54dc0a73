//! Findings in words: what was seen, and what to do about it. Made from a finding's rule, numbers and facts alone.
//!
//! The words of `analysis.json` ([`crate::document()`]), the terminal, Markdown and HTML are the same.

pub mod limits;
mod load;
mod machine;
mod storage;
mod trial;

use analysis::{Finding, Rule};

/// What was seen, with its numbers and units.
pub fn message(finding: &Finding) -> String {
    words(finding).0
}

/// What to do.
pub fn advice(finding: &Finding) -> String {
    words(finding).1
}

fn words(finding: &Finding) -> (String, String) {
    let of = Of(finding);
    let (message, advice) = match finding.rule {
        Rule::TrialInvalid
        | Rule::DatabaseRestarted
        | Rule::ErrorsAbove
        | Rule::NotFound
        | Rule::CountsDisagree
        | Rule::NoSteadyState
        | Rule::TooShortToJudge
        | Rule::SlowChangePossible
        | Rule::Stall
        | Rule::TooFewSamples
        | Rule::RepetitionsSpread => trial::words(&of),
        Rule::ServedFromPageCache
        | Rule::DataFitsPageCache
        | Rule::DataSetSmaller
        | Rule::VolumeAtCap
        | Rule::ThrottleSlices
        | Rule::SeparateReadWriteLimits
        | Rule::LimitsCountSeparately
        | Rule::BurstChanged
        | Rule::BurstOnly
        | Rule::EmulationOffLimit
        | Rule::VolumeAboveInstance => storage::words(&of),
        Rule::ClientSaturated | Rule::SendLag | Rule::OfferedNotAchieved | Rule::BacklogDrained | Rule::Little => {
            load::words(&of)
        }
        Rule::ClockDrift
        | Rule::CpuSteal
        | Rule::CpuThrottled
        | Rule::GcPauses
        | Rule::CompactionDebt
        | Rule::DroppedMessages
        | Rule::NetworkRetransmits => machine::words(&of),
    };
    (message, advice.to_owned())
}

/// A finding's numbers, put into words.
struct Of<'a>(&'a Finding);

impl Of<'_> {
    /// A number; where a document of an older version lacks it, nothing better than 0 can be said.
    fn number(&self, name: &str) -> f64 {
        self.0.number(name).unwrap_or(0.0)
    }

    /// A count with thousands separators: `1,234,567`.
    fn count(&self, name: &str) -> String {
        count(self.number(name))
    }

    /// A share: `12.3 %`.
    fn percent(&self, name: &str) -> String {
        percent(self.number(name))
    }

    fn fact(&self, name: &str) -> &str {
        self.0.fact(name).unwrap_or("?")
    }
}

fn percent(share: f64) -> String {
    format!("{:.*} %", if share.abs() < 0.1 { 2 } else { 1 }, share * 100.0)
}

/// A change: `+12.3 %`.
fn signed(share: f64) -> String {
    format!("{}{}", if share > 0.0 { "+" } else { "" }, percent(share))
}

fn count(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 && digits != "0" { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time that people read: `45 s`, `33 minutes`, `5.2 hours`.
fn duration(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 7200.0 {
        format!("{:.0} minutes", seconds / 60.0)
    } else {
        format!("{:.1} hours", seconds / 3600.0)
    }
}

/// `read_modify_write` becomes `read-modify-write`.
fn operation(name: &str) -> String {
    name.replace('_', "-")
}
