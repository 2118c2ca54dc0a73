//! What an experiment file is taken for, and how it is refused. One program: two dozen would be linked one by one.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod aws;
mod aws_caches;
mod aws_pairs;
mod backlog;
mod behaviour;
mod burst;
mod cache;
mod cache_tier;
mod clients;
mod cpu_speed;
mod data_set_store;
mod disk_faults;
mod draft;
mod effect;
mod examples;
mod faults;
mod flags;
mod hosts;
mod log_space;
mod main_memory;
mod members;
mod mistakes;
mod model_misses;
mod notes;
mod objective;
mod of_instance;
mod own_sql;
mod own_statements;
mod plans;
mod replay;
mod served_default;
mod settings;
mod snapshot;
mod story;
mod stress_profiles;
mod variants;
mod versions;
mod watched;
