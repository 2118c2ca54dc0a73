//! What this machine has, and what its clock shows.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// CPUs that this process may use; 1 where that is not known.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many CPUs of a machine, its first ones, are left whole beside databases that take `taken` from its end. `None`:
/// none is, or nothing is taken.
pub fn left_beside(taken: f64, machine: usize) -> Option<usize> {
    let left = machine.saturating_sub(taken.ceil() as usize);
    (taken > 0.0 && left > 0).then_some(left)
}

/// The first so many CPUs.
pub fn first_cpus(cpus: usize) -> CpuSet {
    let mut set = CpuSet::new();
    (0..cpus.min(CpuSet::MAX_CPU)).for_each(|cpu| set.set(cpu));
    set
}

/// While it lives, the thread that made it and those that this one begins run on the first CPUs of the machine alone.
#[derive(Debug)]
pub struct OnFirstCpus {
    before: CpuSet,
}

impl OnFirstCpus {
    /// `None`, with a line in the log, where the system refuses.
    pub fn new(cpus: usize) -> Option<Self> {
        let place = || {
            let before = sched_getaffinity(None)?;
            sched_setaffinity(None, &first_cpus(cpus))?;
            Ok(Self { before })
        };
        place()
            .inspect_err(|error: &rustix::io::Errno| {
                tracing::info!("the client may run on the database's CPUs: {error}")
            })
            .ok()
    }
}

impl Drop for OnFirstCpus {
    fn drop(&mut self) {
        // It has been allowed before.
        let _ = sched_setaffinity(None, &self.before);
    }
}

/// What this program and all that it starts make can be written by its user alone, whatever else the umask allows: a
/// run that goes on has to be its user's own, and nobody says who else is in a group.
pub fn make_own() {
    let others = rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH;
    let allowed = rustix::process::umask(others);
    rustix::process::umask(allowed | others);
}

/// What is made from here on can be read by others where its directory lets them: the database runs as another user.
pub fn make_readable() {
    rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_beside_databases_is_whole_cpus() {
        let cases = [
            (1.0, 2, Some(1)),
            (0.5, 2, Some(1)),
            (1.5, 2, None),
            (2.0, 2, None),
            (3.0, 2, None),
            (6.0, 8, Some(2)),
            (0.0, 8, None),
        ];
        for (taken, machine, left) in cases {
            assert_eq!(left_beside(taken, machine), left, "{taken} of {machine}");
        }
    }

    #[test]
    fn threads_that_begin_meanwhile_stay_there_and_later_ones_do_not() {
        let count = || std::thread::spawn(|| sched_getaffinity(None).unwrap().count()).join().unwrap();
        let before = count();
        let place = OnFirstCpus::new(1).unwrap();
        assert_eq!(count(), 1);
        drop(place);
        assert_eq!(count(), before);
    }
}
