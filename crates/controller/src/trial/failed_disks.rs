//! What the load of a trial and the faults in it share: when measurement began, and whose disks have failed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use evidence::{HostId, ProcessEnd};

/// When measurement began, as far as the seconds that a client reports show.
#[derive(Debug, Default)]
pub(super) struct MeasurementStart(Cell<Option<Instant>>);

impl MeasurementStart {
    /// When so many seconds of it are over.
    pub fn at(&self, seconds: f64) -> Option<Instant> {
        Some(self.0.get()? + Duration::from_secs_f64(seconds))
    }

    /// Seconds of measurement until now.
    pub fn seconds_to(&self, now: Instant) -> Option<f64> {
        Some(now.checked_duration_since(self.0.get()?)?.as_secs_f64())
    }

    /// A client reports a second that is over, `t_s` of the measurement; negative in warm-up. It does so at once, and
    /// never early: of several reports the earliest start is the best.
    pub fn second_over(&self, t_s: f64, now: Instant) {
        if t_s < 0.0 {
            return;
        }
        let over = Duration::try_from_secs_f64(t_s + 1.0).ok();
        let reported = over.and_then(|over| now.checked_sub(over));
        let best = self.0.get().into_iter().chain(reported).min();
        self.0.set(best);
    }
}

/// Nodes with a disk that has failed. What becomes of them is what the fault was planned to show: their end is none
/// that spoils the trial.
#[derive(Debug, Default)]
pub(super) struct FailedDisks {
    hosts: RefCell<BTreeSet<HostId>>,
    ends: RefCell<Vec<(HostId, ProcessEnd)>>,
}

impl FailedDisks {
    /// A disk of this node fails now.
    pub fn add(&self, host: HostId) {
        self.hosts.borrow_mut().insert(host);
    }

    /// How processes of such nodes have ended.
    pub fn take_ends(&self) -> Vec<(HostId, ProcessEnd)> {
        self.ends.take()
    }

    /// A database's process has ended on its own; whether that is such a node's.
    pub fn ended(&self, host: HostId, how: &str, measurement_start: &MeasurementStart, now: Instant) -> bool {
        let has_failed_disk = self.hosts.borrow().contains(&host);
        if let Some(at_s) = measurement_start.seconds_to(now).filter(|_| has_failed_disk) {
            let how = how.to_owned();
            self.ends.borrow_mut().push((host, ProcessEnd { at_s, how }));
        }
        has_failed_disk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_that_no_measurement_has_says_nothing_of_its_start() {
        let start = MeasurementStart::default();
        let now = Instant::now();
        for t_s in [1e300, f64::INFINITY, f64::NAN] {
            start.second_over(t_s, now);
            assert_eq!(start.at(0.0), None, "{t_s}");
        }
        start.second_over(0.0, now);
        assert_eq!(start.at(1.0), Some(now));
    }
}
