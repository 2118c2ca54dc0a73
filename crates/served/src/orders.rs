//! Orders to the server on stdin and its answers on stdout: JSON, a line each, one answer to each order.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use volume::{Model, VolumeFault};

/// An order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Serve an image as the file `at`, which exists and is empty.
    Serve {
        /// What the volume is called in later orders.
        name: String,
        /// Its bytes.
        image: PathBuf,
        /// Where; a regular file.
        at: PathBuf,
        /// How it behaves.
        model: Box<Model>,
    },
    /// A volume behaves like this from now on; its buckets are as at the model's start, and it shares with no other.
    Change {
        /// Which.
        name: String,
        /// How.
        model: Box<Model>,
    },
    /// These volumes share, besides what each may do by itself, what their instance lets through to all of them.
    Share {
        /// Which.
        names: Vec<String>,
        /// How much that is.
        model: Box<Model>,
    },
    /// So long is an answer on its way: service times are shorter by it from now on.
    TakeOff {
        /// Seconds.
        seconds: f64,
    },
    /// A volume has these faults, instead of those before; times count from this order.
    SetFaults {
        /// Which.
        name: String,
        /// Which ones.
        faults: Vec<VolumeFault>,
    },
    /// Tell what was done so far.
    Count {
        /// Of which volume.
        name: String,
    },
    /// Tell what was done so far, and what a volume counts of itself, as EBS's volumes do: both of one moment.
    Sample {
        /// Which.
        name: String,
    },
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The server is there.
    Ready(Hardening),
    /// It is served.
    Serving {
        /// Number of the connection below `/sys/fs/fuse/connections`.
        connection: u32,
    },
    /// It is done.
    Done,
    /// What was done so far.
    Counted(Counts),
    /// What was done so far, and the page.
    Sampled {
        /// What was done.
        counts: Counts,
        /// The page in words of 64 bits, little-endian there.
        words: Vec<u64>,
    },
    /// It cannot be done.
    Refused {
        /// Why.
        reason: String,
    },
}

/// How far the server could protect itself from the load that it serves; a text says what was refused.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hardening {
    /// What could not be had, in words.
    pub missing: Vec<String>,
}

impl Hardening {
    /// All of that in a sentence; `None`: nothing was refused.
    pub fn note(&self) -> Option<String> {
        let what = "the volume server is less protected from the load that it serves than it can be";
        (!self.missing.is_empty()).then(|| format!("{what}: {}", self.missing.join("; ")))
    }
}

/// What a volume did since it is served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Reads answered.
    pub reads: u64,
    /// Writes answered.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Requests answered with an error, by a fault or by the host's disk.
    pub errors: u64,
    /// Requests under way.
    pub waiting: u64,
    /// Seconds in which a due answer waited for the host's disk, of a volume whose model says how long it may take.
    pub disk_floor_s: f64,
    /// Seconds by which due answers were late for want of CPU (more than a millisecond late).
    pub cpu_floor_s: f64,
    /// Credits of requests left, where there are such.
    pub request_credits: Option<f64>,
    /// Credits of bytes left, where there are such.
    pub byte_credits: Option<f64>,
    /// Seconds since it is served.
    pub seconds: f64,
    /// CPU seconds of the whole server, of all of its volumes.
    pub server_cpu_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_refuses_is_one_note_and_nothing_is_none() {
        let refused = |missing: &[&str]| Hardening { missing: missing.iter().map(|&one| one.to_owned()).collect() };
        assert_eq!(refused(&[]).note(), None);
        let note = refused(&["its memory cannot be locked: no", "it has no real-time priority: no"]).note().unwrap();
        let all = ": its memory cannot be locked: no; it has no real-time priority: no";
        assert!(note.starts_with("the volume server is less protected") && note.ends_with(all), "{note}");
    }
}
