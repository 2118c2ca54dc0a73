//! The lines of `-s`: `2017-06-19 22:46:23:938 10 sec: 1000 operations; 3636.36 current ops/sec; ...`

use evidence::{Progress, TwoClocks};
use jiff::civil::{self, Date};

use crate::{Refusal, lines};

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
            of_day_s: date.zip(time).and_then(|(date, time)| seconds(date, time)),
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

/// `2017-06-19 22:46:23` and what may follow after `:`, `.` or `,` (milliseconds), as seconds from some day on. Without
/// a zone: only differences are used.
fn seconds(date: &str, time: &str) -> Option<f64> {
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (date.next()?.parse().ok()?, date.next()?.parse().ok()?, date.next()?.parse().ok()?);
    let date = Date::new(year, month, day).ok().filter(|date| date.year() >= 1970)?;
    let mut time = time.splitn(4, [':', '.', ',']).map(str::parse::<u32>);
    let (hour, minute, second) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
    let ms = time.next().and_then(Result::ok).unwrap_or(0);
    if hour > 23 || minute > 59 || second > 60 || ms > 999 {
        return None;
    }
    let of_day = f64::from(hour * 3600 + minute * 60 + second) + f64::from(ms) / 1e3;
    Some(date.duration_since(civil::date(1970, 1, 1)).as_secs_f64() + of_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_hold_over_midnight_and_a_leap_day() {
        for (from, to, seconds_between) in [
            (("2017-06-19", "22:46:23:688"), ("2017-06-19", "22:46:33:938"), 10.25),
            (("2020-01-10", "23:59:50:000"), ("2020-01-11", "00:00:00:000"), 10.0),
            (("2020-02-28", "00:00:00"), ("2020-03-01", "00:00:00"), 2.0 * 86_400.0),
            (("2019-12-31", "23:59:59,500"), ("2020-01-01", "00:00:00,500"), 1.0),
        ] {
            let between = seconds(to.0, to.1).unwrap() - seconds(from.0, from.1).unwrap();
            assert!((between - seconds_between).abs() < 1e-6, "{from:?} {to:?}: {between}");
        }
        for (date, time) in [("2017-13-19", "22:46:23"), ("17-06", "22:46:23"), ("2017-06-19", "25:46:23"), ("", "")] {
            assert_eq!(seconds(date, time), None, "{date} {time}");
        }
    }
}
