//! Did the machine itself stay out of the way?

use evidence::VolumeRole;

use super::{count, percent, scope};
use crate::finding::{Finding, Severity};
use crate::measurement::TrialMeasurement;

/// CPU time taken by the hypervisor: mean of the window (METHODS: > 1 %) ...
const STEAL_MAX: f64 = 0.01;
/// ... or of any 10 s (METHODS: > 3 %).
const STEAL_WORST_MAX: f64 = 0.03;
/// Periods in which a CPU quota held the database back, where the quota is not the configuration's own (METHODS: > 1 %).
const THROTTLED_MAX: f64 = 0.01;
/// Garbage collection above this share of the window (METHODS: pauses > 2 % of time).
const GC_SHARE_MAX: f64 = 0.02;
/// One pause longer than this, seconds (METHODS: > 500 ms).
const GC_PAUSE_MAX_S: f64 = 0.5;
/// Compaction debt: more waiting at the end than at the start, by this share (METHODS: end > start + 10 %) and by two tasks: one
/// task more or less is how compaction works.
const COMPACTION_GROWTH: f64 = 0.1;
const COMPACTION_TASKS: f64 = 2.0;
/// TCP segments sent again for each megabyte: 0.1 % of segments of 1,448 bytes (METHODS: retransmits > 0.1 %).
const RETRANSMITS_PER_MB: f64 = 0.001 * 1e6 / 1448.0;

pub fn findings(trial: &TrialMeasurement) -> Vec<Finding> {
    [
        steal(trial),
        throttled(trial),
        gc_pauses(trial),
        compaction_debt(trial),
        dropped_messages(trial),
        retransmits(trial),
        fits_page_cache(trial),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn steal(trial: &TrialMeasurement) -> Option<Finding> {
    let mean = trial.host.steal_share?;
    let worst = trial.host.steal_share_worst.unwrap_or(mean);
    (mean > STEAL_MAX || worst > STEAL_WORST_MAX).then(|| {
        Finding::new(
            "cpu_steal",
            Severity::Suspect,
            scope(trial),
            [
                ("steal_share", mean),
                ("steal_share_worst_10_s", worst),
                ("threshold", STEAL_MAX),
                ("threshold_10_s", STEAL_WORST_MAX),
            ],
            format!(
                "The hypervisor took {} of the host's CPU time ({} in the worst 10 s).",
                percent(mean),
                percent(worst)
            ),
            "A neighbour on the same hardware slowed this trial. Repeat it, or use dedicated or larger instances.",
        )
    })
}

fn throttled(trial: &TrialMeasurement) -> Option<Finding> {
    // A fraction of a CPU can only be given by a quota: then being held back is the configuration.
    let share = trial.host.cpu_throttled_share?;
    let is_whole = trial.record.database.cpus.fract() == 0.0;
    (is_whole && share > THROTTLED_MAX).then(|| {
        Finding::new(
            "cpu_throttled",
            Severity::Suspect,
            scope(trial),
            [("throttled_periods_share", share), ("threshold", THROTTLED_MAX)],
            format!(
                "A CPU quota that nobody asked for held the database back in {} of its periods.",
                percent(share)
            ),
            "Look for a CPU limit on the service, container or slice in which this runs.",
        )
    })
}

fn gc_pauses(trial: &TrialMeasurement) -> Option<Finding> {
    let share = trial.host.gc_pause_share.unwrap_or(0.0);
    let longest = trial.host.gc_longest_pause_s.unwrap_or(0.0);
    (share > GC_SHARE_MAX || longest > GC_PAUSE_MAX_S).then(|| {
        Finding::new(
            "gc_pauses",
            Severity::Suspect,
            scope(trial),
            [
                ("gc_pause_share", share),
                ("threshold", GC_SHARE_MAX),
                ("longest_pause_s", longest),
                ("threshold_s", GC_PAUSE_MAX_S),
            ],
            if longest > GC_PAUSE_MAX_S {
                format!(
                    "Garbage collection paused the database for {} of the window, once for {:.0} ms.",
                    percent(share),
                    longest * 1e3
                )
            } else {
                format!(
                    "Garbage collection paused the database for {} of the window.",
                    percent(share)
                )
            },
            "Look at gc.log; a heap too small for the load hides what the storage could do.",
        )
    })
}

fn compaction_debt(trial: &TrialMeasurement) -> Option<Finding> {
    let (start, end) = trial.host.compactions?;
    (end > start * (1.0 + COMPACTION_GROWTH) && end - start >= COMPACTION_TASKS).then(|| {
        Finding::new(
            "compaction_debt",
            Severity::Suspect,
            scope(trial),
            [("compactions_start", start), ("compactions_end", end)],
            format!("Compactions waiting or running grew from {start:.1} to {end:.1} in the window."),
            "The database wrote faster than it can compact: this throughput is on credit. Measure longer, until the number \
             stays level.",
        )
    })
}

fn dropped_messages(trial: &TrialMeasurement) -> Option<Finding> {
    let dropped = trial.host.dropped_messages.filter(|n| *n > 0.0)?;
    Some(Finding::new(
        "dropped_messages",
        Severity::Suspect,
        scope(trial),
        [("dropped_messages", dropped)],
        format!(
            "The database dropped {} messages: it shed load to survive.",
            count(dropped)
        ),
        "The load level is beyond what this configuration sustains; its throughput includes work that was thrown away.",
    ))
}

fn retransmits(trial: &TrialMeasurement) -> Option<Finding> {
    let rate = trial.host.retransmits_per_mb.filter(|r| *r > RETRANSMITS_PER_MB)?;
    Some(Finding::new(
        "network_retransmits",
        Severity::Suspect,
        scope(trial),
        [("retransmits_per_mb", rate), ("threshold_per_mb", RETRANSMITS_PER_MB)],
        format!("{rate:.2} TCP segments were sent again for each megabyte sent."),
        "The network lost or delayed packets: look at the instance's network allowance before judging its storage.",
    ))
}

fn fits_page_cache(trial: &TrialMeasurement) -> Option<Finding> {
    let facts = &trial.record.database;
    let (data, budget) = (facts.data_bytes_on_disk as f64, facts.page_cache_budget_bytes as f64);
    // A volume must be there to speak of.
    trial.host.volumes.get(&VolumeRole::Data)?;
    (data > 0.0 && budget > 0.0 && data <= budget).then(|| {
        Finding::new(
            "data_fits_page_cache",
            Severity::Suspect,
            scope(trial),
            [("data_bytes_on_disk", data), ("page_cache_budget_bytes", budget)],
            "The whole data set fits the page cache.".to_owned(),
            "Reads will be served from memory once it has filled: conclude nothing about IOPS; load more records or allow less \
             memory.",
        )
    })
}
