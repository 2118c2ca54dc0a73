//! What was not tried and may be worth it, after all that was measured: hypotheses, each with its source.

use std::mem::discriminant;

use analysis::{Analysis, NotTried, Untried};

use super::places;
use crate::figures::{bytes, number};

/// Settings that are named; the document has them all.
const SHOWN: usize = 2;

/// Each setting once, of the first place that shows it.
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let mut first: Vec<&NotTried> = Vec::new();
    for one in &analysis.not_tried {
        let is_reported = |reported: &&NotTried| discriminant(&reported.setting) == discriminant(&one.setting);
        if !first.iter().any(is_reported) {
            first.push(one);
        }
    }
    let reported = first.into_iter().take(SHOWN);
    reported.map(|one| sentence(analysis, one)).collect()
}

/// The setting, what was seen, and who expects what. The sources stand in docs/method.md.
fn sentence(analysis: &Analysis, one: &NotTried) -> String {
    let at = places::at(analysis, &one.workload, Some(one.load));
    let with = format!("with {}{at}", one.configuration);
    let (what, seen, expected) = match one.setting {
        Untried::ChunkLength { read_bytes_per_read, record_bytes, chunk_bytes } => (
            "smaller compression chunks (table compression chunk_length_in_kb = 4)",
            format!(
                "a read {with} takes {} from the volumes for a record of {}, in chunks of {}",
                bytes(read_bytes_per_read),
                bytes(record_bytes),
                bytes(chunk_bytes)
            ),
            "less is expected by Cassandra's documentation on compression: a chunk is read whole",
        ),
        Untried::CompactionStrategy { sstables_per_read } => (
            "leveled or unified compaction (table compaction class = LeveledCompactionStrategy or UnifiedCompactionStrategy)",
            format!("a read {with} merges {} SSTables", number(sstables_per_read)),
            "fewer are expected by Cassandra's documentation on compaction",
        ),
        Untried::ReadAhead { read_bytes_per_request, chunk_bytes } => (
            "less read-ahead (host read_ahead_kb = 8)",
            format!(
                "a read request {with} takes {} from its volume, where a chunk has {}",
                bytes(read_bytes_per_request),
                bytes(chunk_bytes)
            ),
            "less is expected by the check that Cassandra does when it starts, which recommends 8 KB on SSDs",
        ),
    };
    format!("Not tried here: {what}; {seen}; {expected}.")
}
