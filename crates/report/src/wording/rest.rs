//! Was the database at rest, and can what was measured be?

use analysis::rules::cache_not_settled::CacheNotSettled;
use analysis::rules::still_rising::StillRising;
use analysis::{
    CpuPerOperation, CpuTakenBy, GainAboveResource, GainBecause, GainExplained, ReadsPerOperation, Trajectory,
};

use super::amounts::{Words, percent, signed};
use crate::figures::whole;

pub fn cpu_per_operation(of: &CpuPerOperation) -> Words {
    (
        format!(
            "An operation cost {} us of the database's CPU, and {} us with {}: the workload is the same.",
            whole(of.cpu_us_per_operation),
            whole(of.cpu_us_per_operation_of_other),
            of.other
        ),
        "Code that a JVM has not compiled costs a multiple of the CPU: lengthen [load] warmup_s, and look at \
         compiler_cpu_s in the trial's host samples. Machines with other processors, and work in the background, may \
         cost more as well.",
    )
}

pub fn reads_per_operation(of: &ReadsPerOperation) -> Words {
    (
        format!(
            "An operation took {:.3} device reads, and {:.3} with {}, which has the same page cache; in each block \
             {:.2} times as many or more.",
            of.device_reads_per_operation, of.device_reads_per_operation_of_other, of.other, of.least_ratio
        ),
        "Its page cache has not come as far: a faster volume fills it sooner. Lengthen [load] warmup_s until device \
         reads for each operation stay the same.",
    )
}

pub fn still_rising(of: &StillRising) -> Words {
    let change = of.change_share;
    let word = if change > 0.0 { "rose" } else { "fell" };
    let message = format!(
        "Throughput {word} while it was measured, from {} operations/s in the first third of {:.0} s to {} in the last \
         ({}), by more than its noise explains.",
        whole(of.first_third_ops_per_s),
        of.window_s,
        whole(of.last_third_ops_per_s),
        signed(change)
    );
    let advice = match of.trajectory {
        Some(Trajectory::Inserts) => {
            "A workload that inserts has a trajectory, never a steady state: compare equal amounts of work ([load] \
             operations)."
        }
        Some(Trajectory::ColdStart) => {
            "Asked for by cache = \"cold\" in [load], as far as the page cache is what fills: the figure is that of \
             these seconds after a cold start."
        }
        None => match of.cpu_taken_by {
            Some(by) => taken(by),
            None => "Lengthen [load] warmup_s (or use warmup = \"auto\"): this figure depends on when it was measured.",
        },
    };
    (message, advice)
}

/// What to do first where throughput was changing, and others took CPU time meanwhile.
pub fn taken(by: CpuTakenBy) -> &'static str {
    match by {
        CpuTakenBy::Programs => {
            "Programs that are no part of the run took CPU time meanwhile (other_work): stop them, or measure at \
             another hour. Where it changes without them, too, lengthen [load] warmup_s."
        }
        CpuTakenBy::Hypervisor => {
            "The hypervisor took CPU time meanwhile (cpu_steal): measure at another hour, or on a dedicated or larger \
             instance. Where it changes without that, too, lengthen [load] warmup_s."
        }
    }
}

pub fn cache_not_settled(of: &CacheNotSettled) -> Words {
    let message = match (&of.drift, &of.filling, &of.tier) {
        (None, None, Some(tier)) => format!(
            "The caches in front of the database went on changing while they were measured: they missed {:.1} % of the \
             reads in the first third of the window, {:.1} % in the last.",
            tier.misses_share_first_third * 100.0,
            tier.misses_share_last_third * 100.0
        ),
        (None, Some(filling), _) => format!(
            "The page cache was filling while it was measured: it grew by {} of what it may hold, to {}.",
            percent(filling.page_cache_grew_share),
            percent(filling.page_cache_filled_share)
        ),
        (Some(drift), ..) => format!(
            "The page cache went on changing while it was measured: {:.3} device reads for each operation in the first \
             third of the window, {:.3} in the last.",
            drift.device_reads_per_operation_first_third, drift.device_reads_per_operation_last_third
        ),
        (None, None, None) => "The preparation ended before the page cache had settled, and the trial is too short \
                               to show that it did later."
            .to_owned(),
    };
    (
        message,
        "Lengthen [load] warmup_s (or use warmup = \"auto\") until device reads for each operation, and hits of a \
         cache tier, stay the same: with skewed keys a cache has to find out what is popular. Where a cold start is \
         the question, say so with cache = \"cold\".",
    )
}

pub fn gain(of: &GainAboveResource) -> Words {
    gain_of("It", of)
}

/// The same of a cell by its name.
pub fn gain_of(who: &str, of: &GainAboveResource) -> Words {
    let needed = |now: Option<f64>, before: Option<f64>, what: &str| {
        Some(format!("an operation took {:.3} instead of {:.3} device {what}", now?, before?))
    };
    let reads = needed(of.device_reads_per_operation, of.device_reads_per_operation_over, "reads");
    let writes = needed(of.device_writes_per_operation, of.device_writes_per_operation_over, "writes");
    let why = match (&reads, &writes) {
        (Some(reads), _) => format!(": {reads}"),
        (None, Some(writes)) => format!(": {writes}"),
        (None, None) => ", and an operation took as much of it on both sides".to_owned(),
    };
    let message = format!(
        "{who} did {:.2} times ({:.2} to {:.2}) what {} did, although {} limited both and it has {:.2} times as \
         much{why}.",
        of.gain,
        of.gain_low,
        of.gain_high,
        of.over,
        of.resource.words(),
        of.resource_ratio
    );
    let advice = match (of.explained_by, of.because) {
        (Some(GainExplained::Memory), _) => {
            "It has more memory for files, which answers reads: that was bought as well."
        }
        (Some(GainExplained::ColdStart), _) => {
            "A faster volume fills a cold page cache sooner, and cache = \"cold\" asked for that. Measured warm, the \
             gain is at most the ratio of the resource."
        }
        (Some(GainExplained::Credits), _) => "It ran on burst credits: what lasts is its baseline.",
        (None, GainBecause::PageCache) => {
            "A faster volume fills the page cache sooner: the slower side had not come as far, and this gain cannot be \
             at rest. Lengthen [load] warmup_s."
        }
        (None, GainBecause::Compaction) => {
            "What is written later (flushes, compactions, checkpoints) is not in this window: lengthen [load] \
             duration_s until both sides write as much for an operation."
        }
        (None, GainBecause::Nothing) => {
            "At rest that cannot be: one of the two was not measured as it is. Look at the limits in force and at the \
             trial's host samples."
        }
    };
    (message, advice)
}
