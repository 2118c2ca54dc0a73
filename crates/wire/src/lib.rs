//! Messages between controller and agents.
