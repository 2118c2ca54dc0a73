//! What this machine has, and what its clock shows.

/// CPUs that this process may use; 1 where that is not known.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Its wall clock, Unix milliseconds with their fraction.
pub fn unix_ms() -> f64 {
    jiff::Timestamp::now().as_microsecond() as f64 / 1e3
}

/// How the volume server is started: this program, again.
pub fn volume_server() -> std::io::Result<Vec<String>> {
    let program = std::env::current_exe()?;
    Ok(vec![program.display().to_string(), "volume-server".to_owned()])
}
