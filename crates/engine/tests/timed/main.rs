//! Loops, loads, recordings and checked writes against a database that does what a script says. One program, but for
//! what counts the CPU time of its whole process (`client_cpu`).

mod closed_loop;
#[path = "../fake/mod.rs"]
mod fake;
mod load_phase;
mod open_loop;
mod replay;
mod write_check;
