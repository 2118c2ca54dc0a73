//! Stories whose nodes use all CPUs of the machine.

mod cluster;
mod fault;
