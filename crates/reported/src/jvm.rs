//! What is seen of any product that runs in a Java virtual machine: its collector's log, its compiler threads.

use crate::statement::{Chart, Meaning, Series, series};

series! {
    /// The part of it that a JVM's compiler threads used (C1 and C2), those that have ended included, seconds.
    COMPILER_CPU_S "compiler_cpu_s" counter.means(Meaning::CompilerCpuS);
    /// Stop-the-world pauses of the Java garbage collector.
    GC_PAUSES "gc_pauses" counter;
    /// Their total, seconds.
    GC_PAUSE_S "gc_pause_s" counter.means(Meaning::PausedS);
    /// The longest so far, seconds.
    GC_LONGEST_PAUSE_S "gc_longest_pause_s" level.means(Meaning::LongestPauseS);
}

/// Pauses over time.
pub static COLLECTION: Chart =
    Chart { title: "Garbage collection", unit: "% of time paused", lines: &[("pauses", &GC_PAUSE_S, 100.0)] };
