//! What this machine has.

/// CPUs that this process may use; 1 where that is not known.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
