//! Emulated volumes, cgroup limits, burst credits, ledger.
