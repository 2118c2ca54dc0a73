//! How late samples are when the controller comes to them.

use evidence::HostSample;
use hdrhistogram::Histogram;

/// Latest that is counted, microseconds: an hour.
const LATEST_US: u64 = 3_600_000_000;

/// From the moment that samples were taken, by the clocks of their hosts, to the moment that they were handled here.
/// Figures of the trial do not depend on it, because a sample carries its moment; a controller that has more to carry
/// than it can is seen by it.
pub(super) struct Lag {
    us: Option<Histogram<u64>>,
}

impl Lag {
    /// Of no sample yet.
    pub fn new() -> Self {
        Self { us: Histogram::new_with_bounds(1, LATEST_US, 3).ok() }
    }

    /// A sample is handled now; `offset_ms` is what its host's clock shows beyond ours.
    pub fn handled(&mut self, sample: &HostSample, offset_ms: f64, now_unix_ms: f64) {
        let late_ms = now_unix_ms - (sample.unix_ms as f64 - offset_ms);
        if let Some(us) = &mut self.us {
            us.saturating_record((late_ms * 1e3).max(1.0) as u64);
        }
    }

    /// Into the log, for who asks for it (`IOPSLAB_LOG=iopslab=info`).
    pub fn log(&self) {
        let Some(us) = &self.us else { return };
        let ms = |us: u64| us as f64 / 1e3;
        tracing::info!(
            samples = us.len(),
            lag_p50_ms = ms(us.value_at_quantile(0.5)),
            lag_p99_ms = ms(us.value_at_quantile(0.99)),
            lag_max_ms = ms(us.max()),
            "the load has ended"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_as_late_as_it_is_by_the_clock_of_its_host() {
        let sample = HostSample { unix_ms: 1_003_000, ..HostSample::default() };
        let mut lag = Lag::new();
        // The host's clock is 3 s ahead: the sample was taken at 1,000 s of ours, 25 ms ago.
        lag.handled(&sample, 3_000.0, 1_000_025.0);
        let us = lag.us.unwrap();
        assert_eq!(us.len(), 1);
        assert!((24_900..=25_100).contains(&us.max()), "{}", us.max());
    }
}
