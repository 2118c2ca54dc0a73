//! How long limits held requests of a volume back, as Amazon EBS counts it of its volumes.

use crate::gate::Counts;

/// Seconds, since a volume was added, in which at least one of its requests waited for a limit. EBS counts these as the
/// time in which more was asked for than there was (EBS user guide, "Amazon EBS detailed performance statistics").
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Exceeded {
    /// For the volume's IOPS.
    pub volume_iops_s: f64,
    /// For the volume's throughput.
    pub volume_bytes_s: f64,
    /// For the IOPS of the instance that it shares.
    pub instance_iops_s: f64,
    /// For the throughput of that instance.
    pub instance_bytes_s: f64,
}

/// The waits of a volume's requests for one floor, the volume's own or the instance's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waits {
    requests: Covered,
    bytes: Covered,
}

impl Waits {
    /// A request that could begin at `from` begins at `begin`, held back by a bucket of `by`.
    pub fn wait(&mut self, from: f64, begin: f64, by: Option<Counts>) {
        match by {
            Some(Counts::Requests) => self.requests.cover(from, begin),
            Some(Counts::Bytes) => self.bytes.cover(from, begin),
            None => {}
        }
    }

    /// Seconds up to `now` with a wait for requests, and with one for bytes.
    pub fn seconds(&self, now: f64) -> (f64, f64) {
        (self.requests.seconds(now), self.bytes.seconds(now))
    }
}

/// The time that spans cover, each of which begins no earlier than the one before.
#[derive(Debug, Clone, Default)]
struct Covered {
    seconds: f64,
    /// Where the last one ends.
    until: Option<f64>,
}

impl Covered {
    fn cover(&mut self, from: f64, to: f64) {
        let from = self.until.map_or(from, |until| until.max(from));
        if to > from {
            self.seconds += to - from;
            self.until = Some(to);
        }
    }

    /// What lies before `now`. A request waits from a moment that is past, so that what is to come is covered.
    fn seconds(&self, now: f64) -> f64 {
        self.seconds - self.until.map_or(0.0, |until| (until - now).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_at_the_same_time_count_once_and_what_is_to_come_does_not_yet() {
        let mut waits = Waits::default();
        assert_eq!(waits.seconds(1.0), (0.0, 0.0));
        for (from, begin) in [(1.0, 1.5), (1.25, 2.0), (4.0, 5.0)] {
            waits.wait(from, begin, Some(Counts::Requests));
        }
        waits.wait(4.0, 4.0, None);
        assert_eq!(waits.seconds(4.5), (1.5, 0.0));
        assert_eq!(waits.seconds(9.0), (2.0, 0.0));
        waits.wait(9.0, 9.25, Some(Counts::Bytes));
        assert_eq!(waits.seconds(10.0), (2.0, 0.25));
    }
}
