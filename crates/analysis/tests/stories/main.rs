//! Made-up trials, and what is said of them. One program, because writing a whole analysis takes longest to compile;
//! the tests of `report` read it back.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod alike;
mod analyse;
mod batches;
mod carried;
mod checkpoints;
mod compare;
mod disk_faults;
mod faults;
mod findings;
mod free;
mod local_disks;
mod scaling;
mod story;
mod value_levels;
