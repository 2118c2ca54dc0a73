//! What every process of the program has, be it a command, an agent or a server: the machine that it runs on, where its
//! files live, signals, what it prints, and how it ends.
//!
//! | module | idea |
//! |---|---|
//! | [`machine`] | CPUs, clock, rights of new files, this program started again |
//! | [`paths`] | where things live on this machine, and the variables that move them |
//! | [`interrupt`] | Ctrl-C and its relatives |
//! | [`output`] | the one place that writes to stdout and stderr; the macros of this crate do it so |
//! | [`failure`] | why a command did not do what was asked, with its exit code |
//! | `human` | durations and latencies in words |

#[macro_use]
pub mod output;

pub mod failure;
mod human;
pub mod interrupt;
pub mod machine;
pub mod paths;

pub use human::{human_duration, human_us};
