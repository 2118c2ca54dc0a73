//! Run directories on real file systems. One program, because writing Parquet takes longest to compile.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod disk_full;
mod evidence;
mod large_logs;
mod resume;
mod stored_trial;
mod story;
