//! Are the conclusions true? Simulated experiments whose truth is known, through the same analysis as real ones.
//!
//! Each rate that the documentation quotes is measured here and printed: `make truth` for the whole table, `make test`
//! for a part of it.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod bursts;
mod capacity;
mod clusters;
mod cold;
mod findings;
mod free;
mod limits;
mod money;
mod places;
mod rates;
mod rest;
mod settings;
mod spreads;
mod story;
mod words;
