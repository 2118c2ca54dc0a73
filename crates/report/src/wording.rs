//! Findings in words: what was seen, and what to do about it. Made from a finding's rule, numbers and facts alone.
//!
//! The words of `analysis.json` ([`crate::document()`]), the terminal, Markdown and HTML are the same.

pub mod away;
mod hosts;
pub mod limits;
mod load;
mod machine;
mod nodes;
mod of;
mod rest;
pub mod scaling;
mod storage;
mod trial;

use analysis::{Finding, Rule};

use of::Of;

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
    let (mut message, advice) = match finding.rule {
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
        | Rule::CacheWarmed
        | Rule::DataSetSmaller
        | Rule::VolumeAtCap
        | Rule::ThrottleSlices
        | Rule::SeparateReadWriteLimits
        | Rule::LimitsCountSeparately
        | Rule::BurstChanged
        | Rule::BurstOnly
        | Rule::EmulationOffLimit
        | Rule::EmulationFloor
        | Rule::UnbalancedMembers
        | Rule::SlowMember
        | Rule::VolumeAboveInstance => storage::words(&of),
        Rule::CodeNotWarm
        | Rule::StillRising
        | Rule::CacheNotSettled
        | Rule::GainAboveResource
        | Rule::CpuPerOperation
        | Rule::ReadsPerOperation => rest::words(&of),
        Rule::ClientSaturated
        | Rule::SendLag
        | Rule::ThroughDriver
        | Rule::OfferedNotAchieved
        | Rule::BacklogDrained
        | Rule::Little => load::words(&of),
        Rule::ClockDrift
        | Rule::ClientsApart
        | Rule::CpuSteal
        | Rule::CpuThrottled
        | Rule::OtherWork
        | Rule::GcPauses
        | Rule::CompactionDebt
        | Rule::WritesNotFlushed
        | Rule::CompactionBacklog
        | Rule::CompactionBacklogLeft
        | Rule::DroppedMessages
        | Rule::NetworkRetransmits => machine::words(&of),
        Rule::UnequalNodes => nodes::words(&of),
        Rule::UnequalHosts => hosts::words(&of),
        Rule::FaultsPlanned | Rule::FaultNotAsPlanned | Rule::WritesLost | Rule::WritesUnread => away::words(&of),
    };
    if let Some(where_seen) = nodes::seen_on(finding) {
        message = format!("{message} {where_seen}");
    }
    (message, advice.to_owned())
}
