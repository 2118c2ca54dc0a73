//! What keeps a database that has just started from being at rest: its code is compiled while it runs, and its
//! memtables have never been flushed.
//!
//! The figures of [`WakingUp`] are given; how the way from one to the other looks is chosen here: compilers slow down
//! with the square root of what is left, so that they end after a time, and what is compiled first is what costs most.

use experiment::{Truth, WakingUp};

/// How much faster than the code that is left the cost of an operation falls: the hottest methods are compiled first.
const HOTTEST_FIRST: f64 = 1.5;

/// A node on its way to rest.
#[derive(Debug, Clone, Copy)]
pub struct Waking {
    how: Option<WakingUp>,
    /// CPUs that its compilers take at first.
    compilers: f64,
    /// CPU seconds that are left to compile.
    left_s: f64,
    /// Bytes written to it so far.
    written: f64,
}

impl Waking {
    /// A process of a node with so many CPUs that has just started; at rest where the truth says nothing else.
    pub fn new(truth: &Truth, cpus: f64) -> Self {
        let how = truth.waking_up;
        Self {
            how,
            compilers: how.map_or(0.0, |how| how.compiler_share * cpus),
            left_s: how.map_or(0.0, |how| how.compile_cpu_s),
            written: 0.0,
        }
    }

    /// Share of the code that is not compiled yet.
    fn left(&self) -> f64 {
        let all = self.how.map_or(0.0, |how| how.compile_cpu_s);
        if all > 0.0 { self.left_s / all } else { 0.0 }
    }

    /// CPU time of an operation now, against that when everything is compiled.
    pub fn cost(&self) -> f64 {
        let slower = self.how.map_or(0.0, |how| how.cold_cost - 1.0);
        1.0 + slower * self.left().powf(HOTTEST_FIRST)
    }

    /// CPUs that compilers use now.
    pub fn compiling_cpus(&self) -> f64 {
        self.compilers * self.left().sqrt()
    }

    /// Whether what is written reaches the data volume.
    pub fn flushes(&self) -> bool {
        self.how.is_none_or(|how| self.written >= how.first_flush_bytes)
    }

    /// Time goes on, in which so many bytes were written to the node. Returns the CPU seconds of its compilers.
    pub fn pass(&mut self, seconds: f64, written: f64) -> f64 {
        let compiled_s = (self.compiling_cpus() * seconds).min(self.left_s);
        self.left_s -= compiled_s;
        self.written += written;
        compiled_s
    }
}
