//! How long a run will still take: what the plan expects of each trial, corrected by what trials took.

use std::time::Instant;

/// Until all trials are done: counts down within a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeLeft {
    /// When the trial under way began.
    pub began: Instant,
    /// What it is expected to take, seconds.
    pub trial_s: f64,
    /// What those after it are.
    pub then_s: f64,
}

impl TimeLeft {
    /// Seconds. A trial that takes longer than expected leaves what those after it take.
    pub fn seconds(&self, now: Instant) -> f64 {
        let elapsed_s = now.saturating_duration_since(self.began).as_secs_f64();
        (self.trial_s - elapsed_s).max(0.0) + self.then_s
    }

    /// How much of the trial under way is over, 0 to 1.
    pub fn share_of_trial(&self, now: Instant) -> f64 {
        let elapsed_s = now.saturating_duration_since(self.began).as_secs_f64();
        if self.trial_s > 0.0 { (elapsed_s / self.trial_s).min(1.0) } else { 0.0 }
    }
}

/// So many trials that took what was expected are thought of before the first one: one that is over says little, and
/// the first makes volumes and compiles code besides.
const BEFORE_THE_FIRST: usize = 2;

/// How long trials took beside what the plan expects of them.
#[derive(Debug, Default)]
pub struct Pace {
    /// Of each trial that is over.
    factors: Vec<f64>,
}

impl Pace {
    /// A trial is over.
    pub fn took(&mut self, seconds: f64, expected_s: f64) {
        if expected_s > 0.0 {
            self.factors.push(seconds / expected_s);
        }
    }

    /// By how much longer the next ones will take than expected: the median, so that one that hung moves nothing.
    pub fn factor(&self) -> f64 {
        let mut all: Vec<f64> = self.factors.iter().copied().chain([1.0; BEFORE_THE_FIRST]).collect();
        all.sort_by(f64::total_cmp);
        let middle = all.len() / 2;
        if all.len().is_multiple_of(2) { f64::midpoint(all[middle - 1], all[middle]) } else { all[middle] }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_time_left_counts_down_within_a_trial_and_waits_for_one_that_takes_longer() {
        let began = Instant::now();
        let left = TimeLeft { began, trial_s: 60.0, then_s: 120.0 };
        let after = |s| began + Duration::from_secs(s);
        let seen: Vec<f64> = [0, 1, 59, 60, 90].map(|s| left.seconds(after(s))).into();
        assert_eq!(seen, [180.0, 179.0, 121.0, 120.0, 120.0]);
        assert_eq!((left.share_of_trial(after(30)), left.share_of_trial(after(90))), (0.5, 1.0));
    }

    /// It rose from 5:45 to 8:08 when four trials were over.
    #[test]
    fn a_slow_first_trial_does_not_raise_the_time_left_and_a_slow_machine_does_by_and_by() {
        let mut pace = Pace::default();
        assert_eq!(pace.factor(), 1.0);
        pace.took(300.0, 60.0);
        assert_eq!(pace.factor(), 1.0, "the first one makes the volumes");
        let mut factors = Vec::new();
        for _ in 0..6 {
            pace.took(90.0, 60.0);
            factors.push(pace.factor());
        }
        assert_eq!(factors, [1.25, 1.5, 1.5, 1.5, 1.5, 1.5]);
    }
}
