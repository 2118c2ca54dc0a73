//! What an agent on another machine, and its ssh, write to stderr: passed on line by line, in bounds, as a terminal may
//! be given it. So is what one of this machine writes there where a terminal has lines that stay in their place.

use std::io::{BufReader, Write as _};
use std::process::ChildStderr;
use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use process::output::Log;

use crate::LastWords;

/// Most bytes of a line; a longer one is cut into several.
const LINE_MOST_BYTES: usize = 4 << 10;
/// Last lines that are kept to say why an agent was lost.
const LAST_WORDS: usize = 5;
/// Most lines of an agent that are shown in a [`PERIOD`]: far more than a healthy one writes, which warns now and then,
/// and few enough that what others say can still be read.
const SHOWN_MOST_LINES: u64 = 200;
const PERIOD: Duration = Duration::from_secs(60);

/// A line about a machine. Nobody may be there to read it. It is written at once: others write there, too.
pub(crate) fn say(name: &str, line: &str) {
    let line = match name {
        "" => guarded::shown_line(line),
        name => guarded::shown_line(&format!("{name}: {line}")),
    };
    let _ = Log.write_all(format!("{line}\n").as_bytes());
}

/// Passes on what comes `from` a machine of this name (empty: this one) until it ends, in a thread, and keeps the last
/// of it. Everything is read, so that whoever writes more than is shown does not wait.
pub(crate) fn forward(name: String, from: ChildStderr, last_words: LastWords) {
    thread::spawn(move || pass_on(&name, from, &last_words));
}

fn pass_on(name: &str, from: ChildStderr, last_words: &LastWords) {
    let mut from = BufReader::new(from);
    let mut shown = Shown::since(Instant::now());
    while let Ok((line, _)) = wire::line(&mut from, LINE_MOST_BYTES) {
        if line.is_empty() {
            break;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        for line in shown.lines(line, Instant::now()) {
            say(name, &line);
        }
        let mut words = last_words.lock().unwrap_or_else(PoisonError::into_inner);
        words.push_back(line.to_owned());
        if words.len() > LAST_WORDS {
            words.pop_front();
        }
    }
    if let Some(line) = shown.left_out() {
        say(name, &line);
    }
}

/// What was shown of an agent in the period that goes on.
#[derive(Debug)]
struct Shown {
    began: Instant,
    lines: u64,
}

impl Shown {
    fn since(began: Instant) -> Self {
        Self { began, lines: 0 }
    }

    /// What is shown when it writes a line now: that line, unless there were too many before it; and that some are left
    /// out, when that begins and when it is known how many they were.
    fn lines(&mut self, line: &str, now: Instant) -> Vec<String> {
        let mut shown = Vec::new();
        if now.saturating_duration_since(self.began) >= PERIOD {
            shown.extend(self.left_out());
            *self = Self::since(now);
        }
        self.lines += 1;
        if self.lines <= SHOWN_MOST_LINES {
            shown.push(line.to_owned());
        } else if self.lines == SHOWN_MOST_LINES + 1 {
            let period_s = PERIOD.as_secs();
            shown.push(format!(
                "it writes more than {SHOWN_MOST_LINES} lines to stderr within {period_s} s: the others are left out"
            ));
        }
        shown
    }

    /// How many were left out since the period began, for people; `None`: none.
    fn left_out(&self) -> Option<String> {
        let lines = self.lines.saturating_sub(SHOWN_MOST_LINES);
        (lines > 0).then(|| format!("{lines} lines that it wrote to stderr were left out"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_written_too_much_is_shown_again_when_the_period_is_over() {
        let began = Instant::now();
        let mut shown = Shown::since(began);
        let most = SHOWN_MOST_LINES as usize;
        let first: Vec<String> = (0..most + 50).flat_map(|_| shown.lines("x", began + PERIOD / 2)).collect();
        assert_eq!(first.len(), most + 1);
        let next = shown.lines("y", began + PERIOD);
        assert_eq!(next, ["50 lines that it wrote to stderr were left out", "y"]);
        // One that writes little is shown whole, however long that takes.
        let mut calm = (2..500).map(|minute| shown.lines("z", began + PERIOD * minute));
        assert!(calm.all(|lines| lines == ["z"]));
    }
}
