//! How far a long piece of work on bytes is, how fast it goes, and how long it still takes: for people.

use std::time::{Duration, Instant};

use catalog::MIB;
use process::human_duration;

use super::outbox::Outbox;

/// Between two reports.
const REPORT: Duration = Duration::from_millis(250);

/// Tells how far it is, and how fast it goes.
pub(super) struct Pace<'o> {
    outbox: &'o Outbox,
    doing: String,
    bytes: u64,
    began: Instant,
    reported: Option<Instant>,
}

impl<'o> Pace<'o> {
    /// Begins to do this with so many bytes.
    pub fn new(outbox: &'o Outbox, doing: String, bytes: u64) -> Self {
        Self { outbox, doing, bytes, began: Instant::now(), reported: None }
    }

    /// `false` where somebody asked for the end.
    pub fn goes_on(&mut self, done: u64) -> bool {
        if self.reported.is_none_or(|reported| reported.elapsed() >= REPORT) {
            self.reported = Some(Instant::now());
            let doing = format!("{}: {}", self.doing, how_far(done, self.bytes, self.began.elapsed()));
            self.outbox.progress(doing, Some((done, self.bytes)));
        }
        !self.outbox.is_cancelled()
    }
}

/// Such as `1200 of 5000 MiB, 130 MiB/s, 29s left`.
fn how_far(done: u64, of: u64, spent: Duration) -> String {
    let (done, of, seconds) = (done as f64 / MIB, of as f64 / MIB, spent.as_secs_f64());
    let speed = match done / seconds {
        speed if seconds > 1.0 && done > 0.0 => {
            format!(", {speed:.0} MiB/s, {} left", human_duration((of - done) / speed))
        }
        _ => String::new(),
    };
    format!("{done:.0} of {of:.0} MiB{speed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_says_how_fast_it_goes_and_how_long_it_takes() {
        let reported = |done: u64, seconds| how_far(done << 20, 102_400 << 20, Duration::from_secs_f64(seconds));
        assert_eq!(reported(0, 0.3), "0 of 102400 MiB");
        // Nothing so far is no speed.
        assert_eq!(reported(0, 5.0), "0 of 102400 MiB");
        assert_eq!(reported(12_800, 100.0), "12800 of 102400 MiB, 128 MiB/s, 11m 40s left");
        assert_eq!(reported(102_400, 800.0), "102400 of 102400 MiB, 128 MiB/s, 0s left");
    }
}
