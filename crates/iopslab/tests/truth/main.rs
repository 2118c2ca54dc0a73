//! Are the conclusions true? Simulated experiments whose truth is known, through the same analysis as real ones.
//!
//! Each rate that the documentation quotes is measured here and printed: `make truth` for the whole table, `make test`
//! for a part of it.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod adaptive;
mod bounds;
mod bursts;
mod caches;
mod capacity;
mod clusters;
mod cold;
mod durability;
mod findings;
mod free;
mod limits;
mod logs;
mod margin;
mod matrices;
mod model;
mod money;
mod neighbours;
mod places;
mod plants;
mod rates;
mod rest;
mod settings;
mod sickness;
mod spreads;
mod story;
mod words;
