//! What the user sees while a run is under way: one live line on a terminal, plain lines elsewhere. All on stderr.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use crate::live_metrics::{Live, LiveMetrics};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Plain lines are written this often at most.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// The progress display.
pub struct Screen {
    bar: Option<ProgressBar>,
    last_plain: Option<Instant>,
    metrics: Option<LiveMetrics>,
}

impl Screen {
    /// A live line if stderr is a terminal, plain lines otherwise.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
            bar.set_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is a constant"));
            bar
        });
        Self {
            bar,
            last_plain: None,
            metrics: None,
        }
    }

    /// The same, told to scrapers as well.
    pub fn with_metrics(self, metrics: Option<LiveMetrics>) -> Self {
        Self { metrics, ..self }
    }

    /// Changes what scrapers are told, if there is an endpoint.
    pub fn publish(&self, change: impl FnOnce(&mut Live)) {
        if let Some(metrics) = &self.metrics {
            metrics.update(change);
        }
    }

    /// A line that stays.
    pub fn say(&mut self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{line}")),
            None => eprintln!("{line}"),
        }
        self.last_plain = None;
    }

    /// The line that is always up to date (on a terminal), or a plain one now and then.
    pub fn live(&mut self, line: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(line.to_owned());
            bar.tick();
        } else if self.last_plain.is_none_or(|last| last.elapsed() >= PLAIN_EVERY) {
            eprintln!("  {line}");
            self.last_plain = Some(Instant::now());
        }
    }

    /// Removes the live line.
    pub fn clear(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `1h 02m`, `3m 20s`, `45s`.
pub fn human_duration(seconds: f64) -> String {
    let s = seconds.max(0.0).round() as u64;
    match s {
        0..=59 => format!("{s}s"),
        60..=3599 => format!("{}m {:02}s", s / 60, s % 60),
        _ => format!("{}h {:02}m", s / 3600, s % 3600 / 60),
    }
}

/// Microseconds as people read them: `850 us`, `1.25 ms`, `2.1 s`.
pub fn human_us(us: u64) -> String {
    match us {
        0..=999 => format!("{us} us"),
        1_000..=999_999 => format!("{:.2} ms", us as f64 / 1e3),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn durations_and_latencies_carry_their_units() {
        assert_eq!(super::human_duration(44.6), "45s");
        assert_eq!(super::human_duration(200.0), "3m 20s");
        assert_eq!(super::human_duration(3725.0), "1h 02m");
        assert_eq!(super::human_us(850), "850 us");
        assert_eq!(super::human_us(1_250), "1.25 ms");
        assert_eq!(super::human_us(2_100_000), "2.10 s");
    }
}
