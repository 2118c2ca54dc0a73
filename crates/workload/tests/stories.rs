//! What generators produce, beside YCSB and beside laws that were planted. One program, linked once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod operations;
mod skew;
mod ycsb_files;
mod ycsb_vectors;
