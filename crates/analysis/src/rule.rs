//! The rules by name, with what others need to know of each.

use serde::{Deserialize, Serialize};

experiment::word_enum! {
    /// How much a finding weighs.
    #[derive(PartialOrd, Ord)]
    pub enum Severity by name {
        /// Worth knowing.
        Note = "note",
        /// The figure may not mean what it seems to.
        Suspect = "suspect",
        /// The trial may not enter a comparison.
        Invalid = "invalid",
        /// The configuration did not do what a database must; its figures count, and it is not recommended.
        Failed = "failed",
    }
}

/// The figures of one rule.
pub trait RuleFigures: Sized {
    /// Those of a remark; `None` where it is another rule's.
    fn of(remark: &Remark) -> Option<&Self>;
}

/// A line for each rule: what its findings carry, its name in JSON, how much they weigh.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident($figures:ty) $name:tt $severity:ident,)*) => {
        /// A rule that makes findings. Its figures, constants, logic and cases are in the file that its line names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Rule {
            $($(#[$doc])* #[serde(rename = $name)] $rule,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$rule),*];

            /// The name, as in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)*
                }
            }

            /// How much its findings weigh.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$rule => Severity::$severity,)*
                }
            }
        }

        /// What a rule saw: the rule with its figures.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "rule", content = "figures")]
        pub enum Remark {
            $(#[doc = concat!("See [`Rule::", stringify!($rule), "`].")] #[serde(rename = $name)] $rule($figures),)*
        }

        impl Remark {
            /// Which rule.
            pub fn rule(&self) -> Rule {
                match self {
                    $(Self::$rule(_) => Rule::$rule,)*
                }
            }
        }

        $(
            impl From<$figures> for Remark {
                fn from(figures: $figures) -> Self {
                    Self::$rule(figures)
                }
            }

            impl RuleFigures for $figures {
                fn of(remark: &Remark) -> Option<&Self> {
                    let Remark::$rule(figures) = remark else { return None };
                    Some(figures)
                }
            }
        )*
    };
}

rules! {
    /// The trial did not run to its end. Its figures enter nothing, so that nothing is left to
    /// withhold.
    TrialInvalid(crate::rules::trial_invalid::TrialInvalid) "trial_invalid" Invalid,
    /// The database process changed in the window. As above.
    DatabaseRestarted(crate::rules::database_restarted::DatabaseRestarted) "database_restarted" Invalid,
    /// Failed operations above the allowed share. As above.
    ErrorsAbove(crate::rules::errors_above::ErrorsAbove) "errors_above" Invalid,
    /// Reads found no row where one must exist. Withheld: the rows asked for are a sample of the data
    /// set, so that one that is missing stands for an unknown number; less data fits the page cache better.
    NotFound(crate::rules::not_found::NotFound) "not_found" Suspect,
    /// Counters and histograms contradict each other. Withheld: one of the two is wrong and
    /// nobody knows which.
    CountsDisagree(crate::rules::counts_disagree::CountsDisagree) "counts_disagree" Suspect,
    /// Throughput was still changing while it was measured. Withheld: of two configurations the
    /// slower is further from where it comes to. Not of a workload that inserts, which never has a steady state, nor of
    /// a page cache that fills by plan.
    NoSteadyState(crate::rules::no_steady_state::NoSteadyState) "no_steady_state" Suspect,
    /// Too short to tell a steady state from a passing one. A doubt: nothing wrong was seen.
    /// Withheld where the CPU was the limit and nobody saw that the code was compiled: a database that wakes up looks
    /// like that.
    TooShortToJudge(crate::rules::too_short_to_judge::TooShortToJudge) "too_short_to_judge" Note,
    /// The compilers used much of the database's CPU. Withheld where no volume was the limit: code
    /// that is not compiled costs a multiple of the CPU. Where a volume was, a note, or a doubt of latencies that are
    /// judged.
    CodeNotWarm(crate::rules::cassandra::code_not_warm::CodeNotWarm) "code_not_warm" Suspect,
    /// Throughput went one way by more than its noise explains. Withheld, as for `NoSteadyState`.
    StillRising(crate::rules::still_rising::StillRising) "still_rising" Suspect,
    /// A configuration gained more than it has more of what limits both. Withheld where
    /// nothing that was bought explains it: it cannot be at rest.
    GainAboveResource(crate::physics::figures::GainAboveResource) "gain_above_resource" Suspect,
    /// An operation cost far more of the database's CPU than in another cell of its workload.
    /// Withheld where the CPU was the limit and nobody saw that the code was compiled: its throughput is too low by
    /// that factor.
    CpuPerOperation(crate::physics::figures::CpuPerOperation) "cpu_per_operation" Suspect,
    /// An operation took more device reads than in another cell with the same page cache.
    /// Withheld where a volume was the limit: its page cache is not what it will be.
    ReadsPerOperation(crate::physics::figures::ReadsPerOperation) "reads_per_operation" Suspect,
    /// No trend was shown, but a large one could hide. A doubt: nothing wrong was seen.
    SlowChangePossible(crate::rules::slow_change_possible::SlowChangePossible) "slow_change_possible" Note,
    /// The server stopped answering for a while. A doubt: that it stops may well be a property of this
    /// configuration; what it cost is in the figures.
    Stall(crate::rules::stall::Stall) "stall" Suspect,
    /// Memory answered, not the volume. Withheld: the storage was not measured.
    ServedFromPageCache(crate::rules::served_from_page_cache::ServedFromPageCache) "served_from_page_cache" Suspect,
    /// The whole data set fits the page cache. Withheld: once the cache has filled, the
    /// storage is not read.
    DataFitsPageCache(crate::rules::data_fits_page_cache::DataFitsPageCache) "data_fits_page_cache" Suspect,
    /// The page cache was warm by plan. Not a doubt: memory was asked to answer.
    CacheWarmed(crate::rules::cache_warmed::CacheWarmed) "cache_warmed" Note,
    /// The page cache, or a cache tier, was not at rest. Withheld: the figure is that of a cache on its way, and
    /// a faster volume is further on it.
    CacheNotSettled(crate::rules::cache_not_settled::CacheNotSettled) "cache_not_settled" Suspect,
    /// Less on disk than the data set takes. Withheld: less data fits the page cache better
    /// than what was asked for.
    DataSetSmaller(crate::rules::data_set_smaller::DataSetSmaller) "data_set_smaller" Suspect,
    /// A volume was at its limit. Not a doubt at all: this is what one wants to know.
    VolumeAtCap(crate::rules::volume_at_cap::VolumeAtCap) "volume_at_cap" Note,
    /// The kernel's throttle shows in the tail latency. A doubt about tails; throughput is not
    /// concerned.
    ThrottleSlices(crate::rules::throttle_slices::ThrottleSlices) "throttle_slices" Note,
    /// Reads and writes together got more than EBS gives. A doubt: the figure is an
    /// upper bound, whose size the finding tells.
    SeparateReadWriteLimits(crate::rules::separate_read_write_limits::SeparateReadWriteLimits)
        "separate_read_write_limits" Suspect,
    /// Burst credits ran out inside the window. Withheld: the trial mixes two speeds, in a proportion that
    /// its length chose.
    BurstChanged(crate::rules::burst::BurstChanged) "burst_changed" Suspect,
    /// The volume ran on burst credits. Withheld: what was measured is not the sustained state. Where
    /// bursting is what was asked for, the report says for how long it lasts instead.
    BurstOnly(crate::rules::burst::BurstOnly) "burst_only" Note,
    /// fio measured a volume off its limit. A doubt: limits are judged by what fio measured,
    /// and the workload's own requests may still have met the right one.
    EmulationOffLimit(crate::rules::emulation_off_limit::EmulationOffLimit) "emulation_off_limit" Suspect,
    /// A served volume was slower than its model. A doubt: this machine was measured instead.
    EmulationFloor(crate::rules::emulation_floor::EmulationFloor) "emulation_floor" Suspect,
    /// A volume's own counters have it at other limits than we have it. A doubt: what was measured is what this
    /// volume gave, but what is said to limit it may not be what does.
    EbsDisagrees(crate::rules::ebs_disagrees::EbsDisagrees) "ebs_disagrees" Suspect,
    /// One of several data volumes does more than another, or takes longer. Not a doubt: it is what this
    /// layout does with this data.
    UnbalancedMembers(crate::rules::members::UnbalancedMembers) "unbalanced_members" Note,
    /// One of several data volumes takes longer than the others at no more requests. A doubt: what was
    /// measured is that volume.
    SlowMember(crate::rules::members::SlowMember) "slow_member" Suspect,
    /// More bought than the instance lets through. Not a doubt about the measurement.
    VolumeAboveInstance(crate::rules::volume_above_instance::VolumeAboveInstance) "volume_above_instance" Note,
    /// The load generator was out of CPU. Withheld: the client was measured.
    ClientSaturated(crate::rules::client_saturated::ClientSaturated) "client_saturated" Suspect,
    /// Open loop: requests were sent late. Withheld: response times contain the client's own delay.
    SendLag(crate::rules::send_lag::SendLag) "send_lag" Suspect,
    /// Open loop: less than the offered rate was achieved. Withheld: beyond saturation, latency is
    /// a property of the trial's length.
    OfferedNotAchieved(crate::rules::offered_rate::OfferedNotAchieved) "offered_not_achieved" Suspect,
    /// Open loop: more than the offered rate was achieved. Withheld: what was measured is a backlog
    /// from before.
    BacklogDrained(crate::rules::offered_rate::BacklogDrained) "backlog_drained" Suspect,
    /// Little's law does not hold. A doubt: the load was not quite what was asked for; what was achieved
    /// is what was achieved.
    LittlesLaw(crate::rules::little::LittlesLaw) "little" Suspect,
    /// A host's clock moved during the trial. A doubt: its samples were placed in the wrong seconds
    /// of the window; throughput and latency come from the client's own clock.
    ClockDrift(crate::rules::clock_drift::ClockDrift) "clock_drift" Suspect,
    /// Clients that share a load did not begin together.
    ClientsApart(crate::rules::clients_apart::ClientsApart) "clients_apart" Suspect,
    /// Requests went through the CQL driver. Not a doubt: they cost the client more CPU, and what
    /// that does shows in `client_saturated` and `send_lag`.
    ThroughDriver(crate::rules::through_driver::ThroughDriver) "through_driver" Note,
    /// The hypervisor took CPU time. A doubt: blocks spread a neighbour over all configurations.
    CpuSteal(crate::rules::cpu_steal::CpuSteal) "cpu_steal" Suspect,
    /// A CPU quota that nobody asked for. A doubt, as above.
    CpuThrottled(crate::rules::cpu_throttled::CpuThrottled) "cpu_throttled" Suspect,
    /// Programs that are no part of the run used the CPUs of a database's host. A doubt: what a
    /// volume limits they cost little, and an operation that the CPU limits may take half as long again beside them.
    OtherWork(crate::rules::other_work::OtherWork) "other_work" Suspect,
    /// Garbage collection took long. A doubt: the heap is part of the configuration.
    GcPauses(crate::rules::cassandra::gc_pauses::GcPauses) "gc_pauses" Suspect,
    /// Compactions fell behind. A doubt: Cassandra's number of pending tasks is an estimate that
    /// grows in nearly every short trial with writes.
    CompactionDebt(crate::rules::cassandra::compaction_debt::CompactionDebt) "compaction_debt" Suspect,
    /// The trial began with a backlog of compaction, which was compacted before its end. Not
    /// a doubt: this is what was asked for; it says that the figures are of no steady state.
    CompactionBacklog(crate::rules::cassandra::compaction_backlog::CompactionBacklog) "compaction_backlog" Note,
    /// The same, and it was still being compacted at the end. A doubt: how the trial would
    /// have gone on is not known.
    CompactionBacklogLeft(crate::rules::cassandra::compaction_backlog::CompactionBacklogLeft)
        "compaction_backlog_left" Suspect,
    /// The database shed load. A doubt: failed operations, where there were any, are counted by
    /// `errors_above`.
    DroppedMessages(crate::rules::cassandra::dropped_messages::DroppedMessages) "dropped_messages" Suspect,
    /// Checkpoints followed each other because the write-ahead log was full. A doubt: how much space it has is part of
    /// the configuration, and what the checkpoints cost is in the figures.
    CheckpointsRequested(crate::rules::postgresql::checkpoints_requested::CheckpointsRequested)
        "checkpoints_requested" Suspect,
    /// TCP segments were sent again. A doubt, as for steal.
    NetworkRetransmits(crate::rules::network_retransmits::NetworkRetransmits) "network_retransmits" Suspect,
    /// The nodes of a configuration differ. A doubt: the cluster is as fast as its slowest node,
    /// and what was measured is this inequality.
    UnequalNodes(crate::rules::unequal_nodes::UnequalNodes) "unequal_nodes" Suspect,
    /// The machines of a configuration's nodes differ. A doubt: what they did was measured as it
    /// is, and `unequal_nodes` says whether their figures differ.
    UnequalHosts(crate::rules::unequal_hosts::UnequalHosts) "unequal_hosts" Suspect,
    /// Configurations that share a volume had several within a block. A doubt: what machines and volumes differ by is
    /// in that block's ratios, as it is where each has machines of its own.
    SeveralVolumes(crate::rules::several_volumes::SeveralVolumes) "several_volumes" Suspect,
    /// The table of a database that exists grew from trial to trial. A doubt: blocks spread it over all configurations,
    /// and what it costs is in the intervals.
    TableBloat(crate::rules::table_bloat::TableBloat) "table_bloat" Suspect,
    /// A percentile rests on few samples. A doubt about that percentile.
    TooFewSamples(crate::rules::too_few_samples::TooFewSamples) "too_few_samples" Note,
    /// Repetitions lie far apart. A doubt: intervals already contain it.
    RepetitionsSpread(crate::rules::repetitions_spread::RepetitionsSpread) "repetitions_spread" Suspect,
    /// Nodes were taken away by plan. Not a doubt: this is what was asked for; it says which
    /// figures it is in.
    FaultsPlanned(crate::rules::faults_planned::FaultsPlanned) "faults_planned" Note,
    /// A planned fault did not happen, or not as planned. A doubt: the trial is not quite
    /// the one that was asked for.
    FaultNotAsPlanned(crate::rules::fault_not_as_planned::FaultNotAsPlanned) "fault_not_as_planned" Suspect,
    /// Acknowledged writes were gone. The configuration is excluded from the recommendation.
    WritesLost(crate::rules::writes_lost::WritesLost) "writes_lost" Failed,
    /// Acknowledged writes could not be read back. A doubt: whether they are lost is not known.
    WritesUnread(crate::rules::writes_lost::WritesUnread) "writes_unread" Suspect,
    /// Lines are missing in the progress of an imported trial, or it goes backwards. Withheld where it goes backwards:
    /// a counter is wrong, and nobody knows which.
    ImportedProgress(crate::rules::imported::progress::ImportedProgress) "imported_progress" Suspect,
    /// Throughput of an imported trial went one way. Withheld, as for `NoSteadyState`: its mean is that of its length.
    ImportedDrift(crate::rules::imported::progress::ImportedDrift) "imported_drift" Suspect,
    /// The two clocks of an imported file disagree. A doubt: all of its rates are by one of them.
    ImportedClocks(crate::rules::imported::clocks::ImportedClocks) "imported_clocks" Suspect,
    /// Latencies at a given rate that count from the sending (coordinated omission). A doubt about latencies alone:
    /// they are shown as service times, and enter no comparison and no objective.
    CoordinatedOmission(crate::rules::imported::waits::CoordinatedOmission) "coordinated_omission" Suspect,
    /// Parts of an imported file that were understood and not taken. Not a doubt about those that were.
    ImportedPartly(crate::rules::imported::left_out::ImportedPartly) "imported_partly" Note,
    /// An imported trial is much longer than those that it would be compared with. Not withheld: it is not compared.
    WindowsUnlike(crate::rules::imported::windows::WindowsUnlike) "windows_unlike" Suspect,
    /// Writes that matter to the data volume were hardly flushed in the window. A doubt: what
    /// they cost the volume later is not in the throughput.
    WritesNotFlushed(crate::rules::cassandra::writes_not_flushed::WritesNotFlushed) "writes_not_flushed" Suspect,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_those_of_json_and_no_two_are_alike() {
        let unique: BTreeSet<&str> = Rule::ALL.into_iter().map(Rule::name).collect();
        assert_eq!(unique.len(), Rule::ALL.len());
        for rule in Rule::ALL {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
        }
    }
}
