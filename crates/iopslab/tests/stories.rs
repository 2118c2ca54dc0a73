//! What a user sees of the program, without a database. One program, but for those that `make check` builds alone.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod adaptive_stories;
mod aws_clean_stories;
mod aws_policy;
mod aws_quota_stories;
mod beside_stories;
mod bucket_stories;
mod by_hand_stories;
mod cache_stories;
mod catalog_shown_stories;
mod catalog_stories;
mod closed_pipes;
mod doctor_stories;
mod folder_stories;
mod foreign_words;
mod gate_action;
mod google_cloud_stories;
mod hostile_hosts;
mod hostile_stories;
mod hostile_words;
mod import_stories;
mod init_stories;
mod interrupt_stories;
mod irregular_files;
mod log_stories;
mod mutants;
mod packages;
mod received_aws;
mod received_runs;
mod refresh_stories;
mod resume_stories;
mod simulated_capacity_stories;
mod simulated_stories;
mod small_machine_stories;
mod support;
mod unused_hosts;
mod watch_stories;
mod workflows;
