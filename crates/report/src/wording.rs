//! Findings in words: what was seen, and what to do about it. Made from a finding's figures alone.
//!
//! The words of `analysis.json` ([`crate::document()`]), the terminal, Markdown and HTML are the same.

mod amounts;
pub mod cassandra;
pub mod faults;
mod hosts;
mod imported;
pub mod limits;
mod load;
mod machine;
mod nodes;
mod postgresql;
pub mod rest;
pub mod scaling;
mod storage;
mod trial;

use analysis::rules::cassandra::compaction_backlog::{CompactionBacklog, CompactionBacklogLeft};
use analysis::rules::offered_rate::{BacklogDrained, OfferedNotAchieved};
use analysis::{Analysis, Finding, Provider, Remark, Rule};

use amounts::Words;

/// What was seen, with its numbers and units.
pub fn message(finding: &Finding) -> String {
    let (message, _) = words(&finding.remark);
    match &finding.nodes {
        Some(seen_on) => format!("{message} {}", nodes::seen_on(seen_on)),
        None => message,
    }
}

/// What to do.
pub fn advice(finding: &Finding) -> String {
    words(&finding.remark).1.to_owned()
}

/// The same in a report: nothing is to be done about the machines of a simulation, and an imported run has no
/// experiment file.
pub fn advice_in(analysis: &Analysis, finding: &Finding) -> String {
    match analysis.provider {
        Provider::Simulated if OF_A_MACHINE.contains(&finding.rule()) => {
            "No machine did this: the simulated truth states it ([provider.simulated]).".to_owned()
        }
        Provider::Imported => imported::advice(&finding.remark).unwrap_or_else(|| advice(finding)),
        _ => advice(finding),
    }
}

/// Rules whose advice is about disk, CPUs, clock or network of a real machine.
const OF_A_MACHINE: [Rule; 10] = [
    Rule::EmulationOffLimit,
    Rule::EmulationFloor,
    Rule::EbsDisagrees,
    Rule::ClockDrift,
    Rule::ClientsApart,
    Rule::CpuSteal,
    Rule::CpuThrottled,
    Rule::OtherWork,
    Rule::NetworkRetransmits,
    Rule::UnequalHosts,
];

#[deny(clippy::wildcard_enum_match_arm)]
fn words(remark: &Remark) -> Words {
    match remark {
        Remark::TrialInvalid(of) => trial::invalid(of),
        Remark::DatabaseRestarted(of) => trial::restarted(of),
        Remark::ErrorsAbove(of) => trial::errors(of),
        Remark::NotFound(of) => trial::not_found(of),
        Remark::CountsDisagree(of) => trial::counts_disagree(of),
        Remark::NoSteadyState(of) => trial::no_steady_state(of),
        Remark::TooShortToJudge(of) => trial::too_short(of),
        Remark::SlowChangePossible(of) => trial::slow_change(of),
        Remark::Stall(of) => trial::stall(of),
        Remark::TooFewSamples(of) => trial::few_samples(of),
        Remark::RepetitionsSpread(of) => trial::spread(of),
        Remark::ServedFromPageCache(of) => storage::from_page_cache(of),
        Remark::DataFitsPageCache(of) => storage::fits_page_cache(of),
        Remark::CacheWarmed(of) => storage::cache_warmed(of),
        Remark::DataSetSmaller(of) => storage::data_set_smaller(of),
        Remark::VolumeAtCap(of) => storage::volume_at_cap(of),
        Remark::ThrottleSlices(of) => storage::slices(of),
        Remark::SeparateReadWriteLimits(of) => storage::separate_limits(of),
        Remark::BurstChanged(of) => storage::burst_changed(of),
        Remark::BurstOnly(of) => storage::burst_only(of),
        Remark::EmulationOffLimit(of) => storage::off_limit(of),
        Remark::EmulationFloor(of) => storage::floor(of),
        Remark::EbsDisagrees(of) => storage::ebs_disagrees(of),
        Remark::UnbalancedMembers(of) => storage::unbalanced_members(of),
        Remark::SlowMember(of) => storage::slow_member(of),
        Remark::VolumeAboveInstance(of) => storage::above_instance(of),
        Remark::StillRising(of) => rest::still_rising(of),
        Remark::CacheNotSettled(of) => rest::cache_not_settled(of),
        Remark::GainAboveResource(of) => rest::gain(of),
        Remark::CpuPerOperation(of) => rest::cpu_per_operation(of),
        Remark::ReadsPerOperation(of) => rest::reads_per_operation(of),
        Remark::ClientSaturated(of) => load::saturated(of),
        Remark::SendLag(of) => load::send_lag(of),
        Remark::ThroughDriver(of) => load::through_driver(of),
        Remark::OfferedNotAchieved(OfferedNotAchieved(of)) => load::not_achieved(of),
        Remark::BacklogDrained(BacklogDrained(of)) => load::drained(of),
        Remark::LittlesLaw(of) => load::little(of),
        Remark::ImportedProgress(of) => imported::progress(of),
        Remark::ImportedDrift(of) => imported::drift(of),
        Remark::ImportedClocks(of) => imported::clocks(of),
        Remark::CoordinatedOmission(of) => imported::waits(of),
        Remark::ImportedPartly(of) => imported::left_out(of),
        Remark::WindowsUnlike(of) => imported::windows(of),
        Remark::ClockDrift(of) => machine::clock_drift(of),
        Remark::ClientsApart(of) => machine::clients_apart(of),
        Remark::CpuSteal(of) => machine::steal(of),
        Remark::CpuThrottled(of) => machine::throttled(of),
        Remark::OtherWork(of) => machine::other_work(of),
        Remark::NetworkRetransmits(of) => machine::retransmits(of),
        Remark::CodeNotWarm(of) => cassandra::code_not_warm(of),
        Remark::GcPauses(of) => cassandra::gc_pauses(of),
        Remark::CompactionDebt(of) => cassandra::compaction_debt(of),
        Remark::CompactionBacklog(CompactionBacklog(of)) => cassandra::compacted_backlog(of),
        Remark::CompactionBacklogLeft(CompactionBacklogLeft(of)) => cassandra::backlog_left(of),
        Remark::DroppedMessages(of) => cassandra::dropped_messages(of),
        Remark::WritesNotFlushed(of) => cassandra::writes_not_flushed(of),
        Remark::CheckpointsRequested(of) => postgresql::checkpoints_requested(of),
        Remark::UnequalNodes(of) => nodes::unequal(of),
        Remark::UnequalHosts(of) => hosts::unequal(of),
        Remark::SeveralVolumes(of) => hosts::several_volumes(of),
        Remark::TableBloat(of) => storage::table_bloat(of),
        Remark::FaultsPlanned(of) => faults::faults_planned(of),
        Remark::FaultNotAsPlanned(of) => faults::not_as_planned(of),
        Remark::WritesLost(of) => faults::writes_lost(of),
        Remark::WritesUnread(of) => faults::writes_unread(of),
    }
}
