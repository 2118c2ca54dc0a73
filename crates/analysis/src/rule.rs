//! The rules by name, with what others need to know of each.

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
    /// The configuration did not do what a database must; its figures count, and it is not recommended.
    Failed,
}

impl Severity {
    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Suspect => "suspect",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
        }
    }
}

/// A rule that makes findings. Its name in JSON is the variant's in snake case; its constants, logic and cases are in
/// the file of [`crate::rules`] named beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The trial did not run to its end (`trial_invalid.rs`). Its figures enter nothing, so that nothing is left to
    /// withhold.
    TrialInvalid,
    /// The database process changed in the window (`database_restarted.rs`). As above.
    DatabaseRestarted,
    /// Failed operations above the allowed share (`errors_above.rs`). As above.
    ErrorsAbove,
    /// Reads found no row where one must exist (`not_found.rs`). Withheld: the rows asked for are a sample of the data
    /// set, so that one that is missing stands for an unknown number; less data fits the page cache better.
    NotFound,
    /// Counters and histograms contradict each other (`counts_disagree.rs`). Withheld: one of the two is wrong and
    /// nobody knows which.
    CountsDisagree,
    /// Throughput was still changing while it was measured (`no_steady_state.rs`). Withheld: of two configurations the slower is further
    /// from where it comes to. Not of a workload that inserts, which never has a steady state, nor of a page cache that fills by plan.
    NoSteadyState,
    /// Too short to tell a steady state from a passing one (`too_short_to_judge.rs`). A doubt: nothing wrong was seen. Withheld where the
    /// CPU was the limit and nobody saw that the code was compiled: a database that wakes up looks like that.
    TooShortToJudge,
    /// The compilers used much of the database's CPU (`code_not_warm.rs`). Withheld where no volume was the limit: code that is not compiled
    /// costs a multiple of the CPU.
    CodeNotWarm,
    /// Throughput went one way by more than its noise explains (`still_rising.rs`). Withheld, as for `NoSteadyState`.
    StillRising,
    /// A configuration gained more than it has more of what limits both (`gain_above_resource.rs`). Withheld where nothing that was bought
    /// explains it: it cannot be at rest.
    GainAboveResource,
    /// An operation cost far more of the database's CPU than in another cell of its workload (`cpu_per_operation.rs`). Withheld where the
    /// CPU was the limit and nobody saw that the code was compiled: its throughput is too low by that factor.
    CpuPerOperation,
    /// An operation took more device reads than in another cell with the same page cache (`reads_per_operation.rs`). Withheld where a
    /// volume was the limit: its page cache is not what it will be.
    ReadsPerOperation,
    /// No trend was shown, but a large one could hide (`slow_change_possible.rs`). A doubt: nothing wrong was seen.
    SlowChangePossible,
    /// The server stopped answering for a while (`stall.rs`). A doubt: that it stops may well be a property of this
    /// configuration; what it cost is in the figures.
    Stall,
    /// Memory answered, not the volume (`served_from_page_cache.rs`). Withheld: the storage was not measured.
    ServedFromPageCache,
    /// The whole data set fits the page cache (`data_fits_page_cache.rs`). Withheld: once the cache has filled, the
    /// storage is not read.
    DataFitsPageCache,
    /// The page cache was warm by plan (`cache_warmed.rs`). Not a doubt: memory was asked to answer.
    CacheWarmed,
    /// The page cache was not at rest (`cache_not_settled.rs`). Withheld: the figure is that of a cache on its way, and a faster volume is
    /// further on it.
    CacheNotSettled,
    /// Less on disk than the data set takes (`data_set_smaller.rs`). Withheld: less data fits the page cache better
    /// than what was asked for.
    DataSetSmaller,
    /// A volume was at its limit (`volume_at_cap.rs`). Not a doubt at all: this is what one wants to know.
    VolumeAtCap,
    /// The kernel's throttle shows in the tail latency (`throttle_slices.rs`). A doubt about tails; throughput is not
    /// concerned.
    ThrottleSlices,
    /// Reads and writes together got more than EBS gives (`separate_read_write_limits.rs`). A doubt: the figure is an
    /// upper bound, whose size the finding tells.
    SeparateReadWriteLimits,
    /// Emulated volumes limit reads and writes apart (`limits_count_separately.rs`). A doubt: cells that it concerns
    /// carry the finding above.
    LimitsCountSeparately,
    /// Burst credits ran out inside the window (`burst.rs`). Withheld: the trial mixes two speeds, in a proportion that
    /// its length chose.
    BurstChanged,
    /// The volume ran on burst credits (`burst.rs`). Withheld: what was measured is not the sustained state. Where
    /// bursting is what was asked for, the reader is told for how long it lasts instead.
    BurstOnly,
    /// fio measured a volume off its limit (`emulation_off_limit.rs`). A doubt: limits are judged by what fio measured,
    /// and the workload's own requests may still have met the right one.
    EmulationOffLimit,
    /// A served volume was slower than its model (`emulation_floor.rs`). A doubt: this machine was measured instead.
    EmulationFloor,
    /// One of several data volumes does more than another, or takes longer (`members.rs`). Not a doubt: it is what this layout
    /// does with this data.
    UnbalancedMembers,
    /// One of several data volumes takes longer than the others at no more requests (`members.rs`). A doubt: what was measured
    /// is that volume.
    SlowMember,
    /// More bought than the instance lets through (`volume_above_instance.rs`). Not a doubt about the measurement.
    VolumeAboveInstance,
    /// The load generator was out of CPU (`client_saturated.rs`). Withheld: the client was measured.
    ClientSaturated,
    /// Open loop: requests were sent late (`send_lag.rs`). Withheld: response times contain the client's own delay.
    SendLag,
    /// Open loop: less than the offered rate was achieved (`offered_rate.rs`). Withheld: beyond saturation, latency is
    /// a property of the trial's length.
    OfferedNotAchieved,
    /// Open loop: more than the offered rate was achieved (`offered_rate.rs`). Withheld: what was measured is a backlog
    /// from before.
    BacklogDrained,
    /// Little's law does not hold (`little.rs`). A doubt: the load was not quite what was asked for; what was achieved
    /// is what was achieved.
    Little,
    /// A host's clock moved during the trial (`clock_drift.rs`). A doubt: its samples stand beside other seconds than
    /// their own; throughput and latency come from the client's own clock.
    ClockDrift,
    /// Clients that share a load did not begin together.
    ClientsApart,
    /// Requests went through the CQL driver (`through_driver.rs`). Not a doubt: they cost the client more CPU, and what
    /// that does shows in `client_saturated` and `send_lag`.
    ThroughDriver,
    /// The hypervisor took CPU time (`cpu_steal.rs`). A doubt: blocks spread a neighbour over all configurations.
    CpuSteal,
    /// A CPU quota that nobody asked for (`cpu_throttled.rs`). A doubt, as above.
    CpuThrottled,
    /// Programs that are no part of the run used the CPUs of a database's host (`other_work.rs`). A doubt: what a volume limits they
    /// cost little, and an operation that the CPU limits may take half as long again beside them.
    OtherWork,
    /// Garbage collection took long (`gc_pauses.rs`). A doubt: the heap is part of the configuration.
    GcPauses,
    /// Compactions fell behind (`compaction_debt.rs`). A doubt: Cassandra's number of pending tasks is an estimate that
    /// grows in nearly every short trial with writes.
    CompactionDebt,
    /// The trial began with a backlog of compaction, which was compacted before its end (`compaction_backlog.rs`). Not a doubt: this
    /// is what was asked for; it says that the figures are of no steady state.
    CompactionBacklog,
    /// The same, and it was still being compacted at the end (`compaction_backlog.rs`). A doubt: how the trial would have gone on
    /// is not known.
    CompactionBacklogLeft,
    /// The database shed load (`dropped_messages.rs`). A doubt: failed operations, where there were any, are counted by
    /// `errors_above`.
    DroppedMessages,
    /// TCP segments were sent again (`network_retransmits.rs`). A doubt, as for steal.
    NetworkRetransmits,
    /// The nodes of a configuration differ (`unequal_nodes.rs`). A doubt: the cluster is as fast as its slowest node,
    /// and what was measured is this inequality.
    UnequalNodes,
    /// The machines of a configuration's nodes differ (`unequal_hosts.rs`). A doubt: what they did was measured as it
    /// is, and `unequal_nodes` says whether their figures differ.
    UnequalHosts,
    /// A percentile rests on few samples (`too_few_samples.rs`). A doubt about that percentile.
    TooFewSamples,
    /// Repetitions lie far apart (`repetitions_spread.rs`). A doubt: intervals already contain it.
    RepetitionsSpread,
    /// Nodes were taken away by plan (`faults_planned.rs`). Not a doubt: this is what was asked for; it says which figures
    /// it is in.
    FaultsPlanned,
    /// A planned fault did not happen, or not as planned (`fault_not_as_planned.rs`). A doubt: the trial is not quite the
    /// one that was asked for.
    FaultNotAsPlanned,
    /// Acknowledged writes were gone (`writes_lost.rs`). The configuration is excluded from the recommendation.
    WritesLost,
    /// Acknowledged writes could not be read back (`writes_lost.rs`). A doubt: whether they are lost is not known.
    WritesUnread,
    /// Writes that matter to the data volume were hardly flushed in the window (`writes_not_flushed.rs`). A doubt: what they cost the
    /// volume later is not in the throughput.
    WritesNotFlushed,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 56] = [
        Self::TrialInvalid,
        Self::DatabaseRestarted,
        Self::ErrorsAbove,
        Self::NotFound,
        Self::CountsDisagree,
        Self::NoSteadyState,
        Self::TooShortToJudge,
        Self::SlowChangePossible,
        Self::CodeNotWarm,
        Self::StillRising,
        Self::GainAboveResource,
        Self::CpuPerOperation,
        Self::ReadsPerOperation,
        Self::Stall,
        Self::ServedFromPageCache,
        Self::DataFitsPageCache,
        Self::CacheWarmed,
        Self::CacheNotSettled,
        Self::DataSetSmaller,
        Self::VolumeAtCap,
        Self::ThrottleSlices,
        Self::SeparateReadWriteLimits,
        Self::LimitsCountSeparately,
        Self::BurstChanged,
        Self::BurstOnly,
        Self::EmulationOffLimit,
        Self::EmulationFloor,
        Self::UnbalancedMembers,
        Self::SlowMember,
        Self::VolumeAboveInstance,
        Self::ClientSaturated,
        Self::SendLag,
        Self::OfferedNotAchieved,
        Self::BacklogDrained,
        Self::Little,
        Self::ClockDrift,
        Self::ClientsApart,
        Self::ThroughDriver,
        Self::CpuSteal,
        Self::CpuThrottled,
        Self::OtherWork,
        Self::GcPauses,
        Self::CompactionDebt,
        Self::CompactionBacklog,
        Self::CompactionBacklogLeft,
        Self::DroppedMessages,
        Self::NetworkRetransmits,
        Self::UnequalNodes,
        Self::UnequalHosts,
        Self::TooFewSamples,
        Self::RepetitionsSpread,
        Self::FaultsPlanned,
        Self::FaultNotAsPlanned,
        Self::WritesLost,
        Self::WritesUnread,
        Self::WritesNotFlushed,
    ];

    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::TrialInvalid => "trial_invalid",
            Self::DatabaseRestarted => "database_restarted",
            Self::ErrorsAbove => "errors_above",
            Self::NotFound => "not_found",
            Self::CountsDisagree => "counts_disagree",
            Self::NoSteadyState => "no_steady_state",
            Self::TooShortToJudge => "too_short_to_judge",
            Self::SlowChangePossible => "slow_change_possible",
            Self::CodeNotWarm => "code_not_warm",
            Self::StillRising => "still_rising",
            Self::GainAboveResource => "gain_above_resource",
            Self::CpuPerOperation => "cpu_per_operation",
            Self::ReadsPerOperation => "reads_per_operation",
            Self::Stall => "stall",
            Self::ServedFromPageCache => "served_from_page_cache",
            Self::DataFitsPageCache => "data_fits_page_cache",
            Self::CacheWarmed => "cache_warmed",
            Self::CacheNotSettled => "cache_not_settled",
            Self::DataSetSmaller => "data_set_smaller",
            Self::VolumeAtCap => "volume_at_cap",
            Self::ThrottleSlices => "throttle_slices",
            Self::SeparateReadWriteLimits => "separate_read_write_limits",
            Self::LimitsCountSeparately => "limits_count_separately",
            Self::BurstChanged => "burst_changed",
            Self::BurstOnly => "burst_only",
            Self::EmulationOffLimit => "emulation_off_limit",
            Self::EmulationFloor => "emulation_floor",
            Self::UnbalancedMembers => "unbalanced_members",
            Self::SlowMember => "slow_member",
            Self::VolumeAboveInstance => "volume_above_instance",
            Self::ClientSaturated => "client_saturated",
            Self::SendLag => "send_lag",
            Self::OfferedNotAchieved => "offered_not_achieved",
            Self::BacklogDrained => "backlog_drained",
            Self::Little => "little",
            Self::ClockDrift => "clock_drift",
            Self::ClientsApart => "clients_apart",
            Self::ThroughDriver => "through_driver",
            Self::CpuSteal => "cpu_steal",
            Self::CpuThrottled => "cpu_throttled",
            Self::OtherWork => "other_work",
            Self::GcPauses => "gc_pauses",
            Self::CompactionDebt => "compaction_debt",
            Self::CompactionBacklog => "compaction_backlog",
            Self::CompactionBacklogLeft => "compaction_backlog_left",
            Self::DroppedMessages => "dropped_messages",
            Self::NetworkRetransmits => "network_retransmits",
            Self::UnequalNodes => "unequal_nodes",
            Self::UnequalHosts => "unequal_hosts",
            Self::TooFewSamples => "too_few_samples",
            Self::RepetitionsSpread => "repetitions_spread",
            Self::FaultsPlanned => "faults_planned",
            Self::FaultNotAsPlanned => "fault_not_as_planned",
            Self::WritesLost => "writes_lost",
            Self::WritesUnread => "writes_unread",
            Self::WritesNotFlushed => "writes_not_flushed",
        }
    }

    /// How much its findings weigh.
    pub fn severity(self) -> Severity {
        match self {
            Self::WritesLost => Severity::Failed,
            Self::TrialInvalid | Self::DatabaseRestarted | Self::ErrorsAbove => Severity::Invalid,
            Self::TooShortToJudge
            | Self::SlowChangePossible
            | Self::VolumeAtCap
            | Self::ThrottleSlices
            | Self::LimitsCountSeparately
            | Self::BurstOnly
            | Self::UnbalancedMembers
            | Self::VolumeAboveInstance
            | Self::ThroughDriver
            | Self::TooFewSamples
            | Self::CacheWarmed
            | Self::CompactionBacklog
            | Self::FaultsPlanned => Severity::Note,
            Self::NotFound
            | Self::CountsDisagree
            | Self::NoSteadyState
            | Self::CodeNotWarm
            | Self::StillRising
            | Self::GainAboveResource
            | Self::CpuPerOperation
            | Self::ReadsPerOperation
            | Self::Stall
            | Self::ServedFromPageCache
            | Self::DataFitsPageCache
            | Self::CacheNotSettled
            | Self::DataSetSmaller
            | Self::SeparateReadWriteLimits
            | Self::BurstChanged
            | Self::EmulationOffLimit
            | Self::EmulationFloor
            | Self::SlowMember
            | Self::ClientSaturated
            | Self::SendLag
            | Self::OfferedNotAchieved
            | Self::BacklogDrained
            | Self::Little
            | Self::ClockDrift
            | Self::ClientsApart
            | Self::CpuSteal
            | Self::CpuThrottled
            | Self::OtherWork
            | Self::GcPauses
            | Self::CompactionDebt
            | Self::CompactionBacklogLeft
            | Self::DroppedMessages
            | Self::NetworkRetransmits
            | Self::UnequalNodes
            | Self::UnequalHosts
            | Self::RepetitionsSpread
            | Self::FaultNotAsPlanned
            | Self::WritesUnread
            | Self::WritesNotFlushed => Severity::Suspect,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_those_of_json_and_each_rule_is_listed_once() {
        let unique: BTreeSet<Rule> = Rule::ALL.into_iter().collect();
        assert_eq!(unique.len(), Rule::ALL.len());
        for rule in Rule::ALL {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
        }
    }
}
