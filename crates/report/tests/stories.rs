//! What people are shown. One program: a dozen would be linked one by one.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod answer;
mod browser;
mod clusters;
mod comparison;
mod contradictions;
mod document;
mod faults;
mod free;
mod html;
mod limits;
mod next;
mod openmetrics;
mod page;
mod shown;
mod sound;
mod width;
mod work;
