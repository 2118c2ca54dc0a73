//! The last lines of a server's log, for an error message.
//!
//! The server writes it, and its directory is its own: where a log should be there may be a link to a file of root's,
//! or a pipe to which nobody writes. It is read as a regular file, through no link, and no further than a bound.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// At most this much of a log's end is read for a tail.
const TAIL_BYTES: u64 = 64 * 1024;

/// Longest line of a tail: Cassandra logs its whole configuration in one of 20,000 characters.
const LINE_CHARACTERS: usize = 400;

/// The last `lines` lines of a file, long ones shortened; empty if it cannot be read.
pub(crate) fn tail(path: &Path, lines: usize) -> Vec<String> {
    let Ok(mut file) = guarded::open_no_link(path) else { return Vec::new() };
    let length = file.metadata().map_or(0, |m| m.len());
    let mut bytes = Vec::new();
    if file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).is_err()
        || file.take(TAIL_BYTES).read_to_end(&mut bytes).is_err()
    {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].iter().map(|line| shortened(line)).collect()
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARACTERS) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_has_the_last_lines_and_no_endless_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("system.log");
        std::fs::write(&path, format!("first\nConfiguration: {}\nlast\n", "ä".repeat(20_000))).unwrap();
        let found = tail(&path, 2);
        assert_eq!((found.len(), found[1].as_str()), (2, "last"));
        assert!(found[0].ends_with("ää ...") && found[0].chars().count() == LINE_CHARACTERS + 4, "{}", found[0]);
        assert!(tail(&directory.path().join("nothing"), 2).is_empty());
    }
}
