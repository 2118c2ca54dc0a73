//! Facts, prices and arithmetic. One program: seven would be linked one by one.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod caps;
mod corrections;
mod costs;
mod google_cloud;
mod instances;
mod money;
mod other_clouds;
mod rds;
mod sources;
mod stranger;
mod volumes;
mod weighting;
