//! The command line, as YCSB repeats it or as it was typed.

use crate::{Refusal, lines};

/// What is known of the load by it.
#[derive(Debug, Default)]
pub struct Command {
    pub threads: Option<u32>,
    /// Operations a second of all threads.
    pub target: Option<f64>,
    /// Whether latencies count from when requests were due under their plain names; `None`: not stated in it.
    pub is_intended: Option<bool>,
}

impl Command {
    /// Takes in one; the last word on a setting counts, as with YCSB.
    pub fn take(&mut self, at: usize, line: &str) -> Result<(), Refusal> {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            let setting = match word {
                "-threads" => words.next().map(|value| ("threadcount", value)),
                "-target" => words.next().map(|value| ("target", value)),
                "-p" => words.next().and_then(|setting| setting.split_once('=')),
                _ => None,
            };
            let Some((name, value)) = setting else { continue };
            let value = value.trim_matches('"');
            match name {
                "threadcount" => {
                    let threads = lines::count(at, value, line)?;
                    self.threads = u32::try_from(threads).ok().filter(|n| *n > 0);
                }
                // No target is 0.
                "target" => self.target = Some(lines::number(at, value, line)?).filter(|rate| *rate > 0.0),
                "measurement.interval" => self.is_intended = Some(value == "intended"),
                _ => {}
            }
        }
        Ok(())
    }
}
