//! The rules by name, with what others need to know of each.

use serde::{Deserialize, Serialize};

use crate::remark::{cassandra, faults, load, machine, nodes, rest, storage, trial};

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

/// The figures of one rule.
pub trait RuleFigures: Sized {
    /// Those of a remark; `None` where it is another rule's.
    fn of(remark: &Remark) -> Option<&Self>;
}

/// A line for each rule: what its findings carry, its name in JSON, how much they weigh.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident($figures:ty) $name:tt $severity:ident,)*) => {
        /// A rule that makes findings. Its constants, logic and cases are in the file of [`crate::rules`] named beside
        /// it (or of `physics/`, `rules/cassandra/`), its figures in [`crate::remark`].
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
    /// The trial did not run to its end (`trial_invalid.rs`). Its figures enter nothing, so that nothing is left to
    /// withhold.
    TrialInvalid(trial::TrialInvalid) "trial_invalid" Invalid,
    /// The database process changed in the window (`database_restarted.rs`). As above.
    DatabaseRestarted(trial::DatabaseRestarted) "database_restarted" Invalid,
    /// Failed operations above the allowed share (`errors_above.rs`). As above.
    ErrorsAbove(trial::ErrorsAbove) "errors_above" Invalid,
    /// Reads found no row where one must exist (`not_found.rs`). Withheld: the rows asked for are a sample of the data
    /// set, so that one that is missing stands for an unknown number; less data fits the page cache better.
    NotFound(trial::NotFound) "not_found" Suspect,
    /// Counters and histograms contradict each other (`counts_disagree.rs`). Withheld: one of the two is wrong and
    /// nobody knows which.
    CountsDisagree(trial::CountsDisagree) "counts_disagree" Suspect,
    /// Throughput was still changing while it was measured (`no_steady_state.rs`). Withheld: of two configurations the
    /// slower is further from where it comes to. Not of a workload that inserts, which never has a steady state, nor of
    /// a page cache that fills by plan.
    NoSteadyState(trial::NoSteadyState) "no_steady_state" Suspect,
    /// Too short to tell a steady state from a passing one (`too_short_to_judge.rs`). A doubt: nothing wrong was seen.
    /// Withheld where the CPU was the limit and nobody saw that the code was compiled: a database that wakes up looks
    /// like that.
    TooShortToJudge(trial::TooShortToJudge) "too_short_to_judge" Note,
    /// The compilers used much of the database's CPU (`code_not_warm.rs`). Withheld where no volume was the limit: code
    /// that is not compiled costs a multiple of the CPU.
    CodeNotWarm(cassandra::CodeNotWarm) "code_not_warm" Suspect,
    /// Throughput went one way by more than its noise explains (`still_rising.rs`). Withheld, as for `NoSteadyState`.
    StillRising(rest::StillRising) "still_rising" Suspect,
    /// A configuration gained more than it has more of what limits both (`physics/gain.rs`). Withheld where
    /// nothing that was bought explains it: it cannot be at rest.
    GainAboveResource(rest::GainAboveResource) "gain_above_resource" Suspect,
    /// An operation cost far more of the database's CPU than in another cell of its workload (`physics/costs.rs`).
    /// Withheld where the CPU was the limit and nobody saw that the code was compiled: its throughput is too low by
    /// that factor.
    CpuPerOperation(rest::CpuPerOperation) "cpu_per_operation" Suspect,
    /// An operation took more device reads than in another cell with the same page cache (`physics/reads.rs`).
    /// Withheld where a volume was the limit: its page cache is not what it will be.
    ReadsPerOperation(rest::ReadsPerOperation) "reads_per_operation" Suspect,
    /// No trend was shown, but a large one could hide (`slow_change_possible.rs`). A doubt: nothing wrong was seen.
    SlowChangePossible(trial::SlowChangePossible) "slow_change_possible" Note,
    /// The server stopped answering for a while (`stall.rs`). A doubt: that it stops may well be a property of this
    /// configuration; what it cost is in the figures.
    Stall(trial::Stall) "stall" Suspect,
    /// Memory answered, not the volume (`served_from_page_cache.rs`). Withheld: the storage was not measured.
    ServedFromPageCache(storage::ServedFromPageCache) "served_from_page_cache" Suspect,
    /// The whole data set fits the page cache (`data_fits_page_cache.rs`). Withheld: once the cache has filled, the
    /// storage is not read.
    DataFitsPageCache(storage::DataFitsPageCache) "data_fits_page_cache" Suspect,
    /// The page cache was warm by plan (`cache_warmed.rs`). Not a doubt: memory was asked to answer.
    CacheWarmed(storage::CacheWarmed) "cache_warmed" Note,
    /// The page cache was not at rest (`cache_not_settled.rs`). Withheld: the figure is that of a cache on its way, and
    /// a faster volume is further on it.
    CacheNotSettled(rest::CacheNotSettled) "cache_not_settled" Suspect,
    /// Less on disk than the data set takes (`data_set_smaller.rs`). Withheld: less data fits the page cache better
    /// than what was asked for.
    DataSetSmaller(storage::DataSetSmaller) "data_set_smaller" Suspect,
    /// A volume was at its limit (`volume_at_cap.rs`). Not a doubt at all: this is what one wants to know.
    VolumeAtCap(storage::VolumeAtCap) "volume_at_cap" Note,
    /// The kernel's throttle shows in the tail latency (`throttle_slices.rs`). A doubt about tails; throughput is not
    /// concerned.
    ThrottleSlices(storage::ThrottleSlices) "throttle_slices" Note,
    /// Reads and writes together got more than EBS gives (`separate_read_write_limits.rs`). A doubt: the figure is an
    /// upper bound, whose size the finding tells.
    SeparateReadWriteLimits(storage::SeparateReadWriteLimits) "separate_read_write_limits" Suspect,
    /// Emulated volumes limit reads and writes apart (`limits_count_separately.rs`). A doubt: cells that it concerns
    /// carry the finding above.
    LimitsCountSeparately(storage::LimitsCountSeparately) "limits_count_separately" Note,
    /// Burst credits ran out inside the window (`burst.rs`). Withheld: the trial mixes two speeds, in a proportion that
    /// its length chose.
    BurstChanged(storage::BurstChanged) "burst_changed" Suspect,
    /// The volume ran on burst credits (`burst.rs`). Withheld: what was measured is not the sustained state. Where
    /// bursting is what was asked for, the reader is told for how long it lasts instead.
    BurstOnly(storage::BurstOnly) "burst_only" Note,
    /// fio measured a volume off its limit (`emulation_off_limit.rs`). A doubt: limits are judged by what fio measured,
    /// and the workload's own requests may still have met the right one.
    EmulationOffLimit(storage::EmulationOffLimit) "emulation_off_limit" Suspect,
    /// A served volume was slower than its model (`emulation_floor.rs`). A doubt: this machine was measured instead.
    EmulationFloor(storage::EmulationFloor) "emulation_floor" Suspect,
    /// One of several data volumes does more than another, or takes longer (`members.rs`). Not a doubt: it is what this
    /// layout does with this data.
    UnbalancedMembers(storage::UnbalancedMembers) "unbalanced_members" Note,
    /// One of several data volumes takes longer than the others at no more requests (`members.rs`). A doubt: what was
    /// measured is that volume.
    SlowMember(storage::SlowMember) "slow_member" Suspect,
    /// More bought than the instance lets through (`volume_above_instance.rs`). Not a doubt about the measurement.
    VolumeAboveInstance(storage::VolumeAboveInstance) "volume_above_instance" Note,
    /// The load generator was out of CPU (`client_saturated.rs`). Withheld: the client was measured.
    ClientSaturated(load::ClientSaturated) "client_saturated" Suspect,
    /// Open loop: requests were sent late (`send_lag.rs`). Withheld: response times contain the client's own delay.
    SendLag(load::SendLag) "send_lag" Suspect,
    /// Open loop: less than the offered rate was achieved (`offered_rate.rs`). Withheld: beyond saturation, latency is
    /// a property of the trial's length.
    OfferedNotAchieved(load::OfferedNotAchieved) "offered_not_achieved" Suspect,
    /// Open loop: more than the offered rate was achieved (`offered_rate.rs`). Withheld: what was measured is a backlog
    /// from before.
    BacklogDrained(load::BacklogDrained) "backlog_drained" Suspect,
    /// Little's law does not hold (`little.rs`). A doubt: the load was not quite what was asked for; what was achieved
    /// is what was achieved.
    LittlesLaw(load::LittlesLaw) "little" Suspect,
    /// A host's clock moved during the trial (`clock_drift.rs`). A doubt: its samples stand beside other seconds than
    /// their own; throughput and latency come from the client's own clock.
    ClockDrift(machine::ClockDrift) "clock_drift" Suspect,
    /// Clients that share a load did not begin together.
    ClientsApart(machine::ClientsApart) "clients_apart" Suspect,
    /// Requests went through the CQL driver (`through_driver.rs`). Not a doubt: they cost the client more CPU, and what
    /// that does shows in `client_saturated` and `send_lag`.
    ThroughDriver(load::ThroughDriver) "through_driver" Note,
    /// The hypervisor took CPU time (`cpu_steal.rs`). A doubt: blocks spread a neighbour over all configurations.
    CpuSteal(machine::CpuSteal) "cpu_steal" Suspect,
    /// A CPU quota that nobody asked for (`cpu_throttled.rs`). A doubt, as above.
    CpuThrottled(machine::CpuThrottled) "cpu_throttled" Suspect,
    /// Programs that are no part of the run used the CPUs of a database's host (`other_work.rs`). A doubt: what a
    /// volume limits they cost little, and an operation that the CPU limits may take half as long again beside them.
    OtherWork(machine::OtherWork) "other_work" Suspect,
    /// Garbage collection took long (`gc_pauses.rs`). A doubt: the heap is part of the configuration.
    GcPauses(cassandra::GcPauses) "gc_pauses" Suspect,
    /// Compactions fell behind (`compaction_debt.rs`). A doubt: Cassandra's number of pending tasks is an estimate that
    /// grows in nearly every short trial with writes.
    CompactionDebt(cassandra::CompactionDebt) "compaction_debt" Suspect,
    /// The trial began with a backlog of compaction, which was compacted before its end (`compaction_backlog.rs`). Not
    /// a doubt: this is what was asked for; it says that the figures are of no steady state.
    CompactionBacklog(cassandra::CompactionBacklog) "compaction_backlog" Note,
    /// The same, and it was still being compacted at the end (`compaction_backlog.rs`). A doubt: how the trial would
    /// have gone on is not known.
    CompactionBacklogLeft(cassandra::CompactionBacklogLeft) "compaction_backlog_left" Suspect,
    /// The database shed load (`dropped_messages.rs`). A doubt: failed operations, where there were any, are counted by
    /// `errors_above`.
    DroppedMessages(cassandra::DroppedMessages) "dropped_messages" Suspect,
    /// TCP segments were sent again (`network_retransmits.rs`). A doubt, as for steal.
    NetworkRetransmits(machine::NetworkRetransmits) "network_retransmits" Suspect,
    /// The nodes of a configuration differ (`unequal_nodes.rs`). A doubt: the cluster is as fast as its slowest node,
    /// and what was measured is this inequality.
    UnequalNodes(nodes::UnequalNodes) "unequal_nodes" Suspect,
    /// The machines of a configuration's nodes differ (`unequal_hosts.rs`). A doubt: what they did was measured as it
    /// is, and `unequal_nodes` says whether their figures differ.
    UnequalHosts(nodes::UnequalHosts) "unequal_hosts" Suspect,
    /// A percentile rests on few samples (`too_few_samples.rs`). A doubt about that percentile.
    TooFewSamples(trial::TooFewSamples) "too_few_samples" Note,
    /// Repetitions lie far apart (`repetitions_spread.rs`). A doubt: intervals already contain it.
    RepetitionsSpread(trial::RepetitionsSpread) "repetitions_spread" Suspect,
    /// Nodes were taken away by plan (`faults_planned.rs`). Not a doubt: this is what was asked for; it says which
    /// figures it is in.
    FaultsPlanned(faults::FaultsPlanned) "faults_planned" Note,
    /// A planned fault did not happen, or not as planned (`fault_not_as_planned.rs`). A doubt: the trial is not quite
    /// the one that was asked for.
    FaultNotAsPlanned(faults::FaultNotAsPlanned) "fault_not_as_planned" Suspect,
    /// Acknowledged writes were gone (`writes_lost.rs`). The configuration is excluded from the recommendation.
    WritesLost(faults::WritesLost) "writes_lost" Failed,
    /// Acknowledged writes could not be read back (`writes_lost.rs`). A doubt: whether they are lost is not known.
    WritesUnread(faults::WritesUnread) "writes_unread" Suspect,
    /// Writes that matter to the data volume were hardly flushed in the window (`writes_not_flushed.rs`). A doubt: what
    /// they cost the volume later is not in the throughput.
    WritesNotFlushed(cassandra::WritesNotFlushed) "writes_not_flushed" Suspect,
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
