//! The lines of `-s`: `2017-06-19 22:46:23:938 10 sec: 1000 operations; 3636.36 current ops/sec; ...`

use evidence::{Progress, TwoClocks};

use crate::{Refusal, lines, of_day};

/// The lines so far.
#[derive(Debug, Default)]
pub struct Status(Vec<Line>);

#[derive(Debug, Clone, Copy)]
struct Line {
    of_day_s: Option<f64>,
    elapsed_s: f64,
    /// Of all operations so far.
    operations: f64,
}

impl Status {
    /// Takes in a line; whether it is one of the progress.
    pub fn take(&mut self, at: usize, line: &str) -> Result<bool, Refusal> {
        let Some((when, rest)) = line.split_once(" sec: ") else { return Ok(false) };
        let Some((operations, _)) = rest.split_once(" operations;") else { return Ok(false) };
        let mut words = when.split_whitespace().rev();
        let (elapsed, time, date) = (words.next().unwrap_or(""), words.next(), words.next());
        self.0.push(Line {
            of_day_s: date.zip(time).and_then(|(date, time)| of_day::seconds(date, time)),
            elapsed_s: lines::number(at, elapsed, line)?,
            operations: lines::number(at, operations, line)?,
        });
        Ok(true)
    }

    /// What was done between the lines, and how long that took by both clocks.
    ///
    /// The seconds that a line states are whole ones; the time of day beside them has milliseconds, and is used where
    /// it is no further off than these may be.
    pub fn lines(&self) -> (Vec<Progress>, Option<TwoClocks>) {
        let Some((first, last)) = self.0.first().zip(self.0.last()) else { return (Vec::new(), None) };
        let of_day = |line: &Line| Some(line.of_day_s? - first.of_day_s? + first.elapsed_s);
        let clocks = of_day(last).map(|of_day_s| TwoClocks {
            elapsed_s: last.elapsed_s - first.elapsed_s,
            of_day_s: of_day_s - first.elapsed_s,
        });
        let at = |line: &Line| of_day(line).filter(|s| (s - line.elapsed_s).abs() <= 1.0).unwrap_or(line.elapsed_s);
        let mut progress = Vec::new();
        if first.elapsed_s > 0.0 {
            progress.push(Progress { from_s: 0.0, to_s: first.elapsed_s, operations: first.operations });
        }
        let mut from = *first;
        for line in &self.0[1..] {
            let (from_s, to_s) = (at(&from), at(line));
            // Two lines of one moment are one.
            if to_s > from_s {
                progress.push(Progress { from_s, to_s, operations: line.operations - from.operations });
                from = *line;
            }
        }
        (progress, clocks)
    }
}
