//! What is read of a recording, and what a part of it says of the whole. One program, linked once.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod full_query_log;
mod json_lines;
mod support;
mod thinning;
