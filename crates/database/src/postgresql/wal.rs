//! The WAL of a node: on its commit-log volume while it runs, inside its data directory while it rests.
//!
//! A data directory cannot be started without the WAL from its last checkpoint on. A trial begins with the data
//! directory as it was loaded and an empty commit-log volume. So a node that was stopped in order gets those segments
//! back into `pg_wal` (one of 16 MiB, or two), and its copy is whole by itself; a start moves them to the commit log
//! and leaves a link in their place.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::control_file::ControlFile;
use crate::account::{Account, run_as};

/// Bytes of a segment, as `initdb` makes them (`--wal-segsize`, 16 MB).
const SEGMENT_BYTES: u64 = 16 << 20;
/// More bytes than the record of a checkpoint has: it may end in the next segment.
const RECORD_BYTES: u64 = 8_192;

/// `pg_wal` of the data directory `$1` becomes a link to `$2`, which gets its segments and holds nothing else: they may
/// be on two volumes, where a file cannot be renamed. Directories in it are those that the server makes itself. A node
/// that ran here before has left the link.
const SEND_AWAY: &str = "set -eu
    if [ -L \"$1/pg_wal\" ]; then ln -sfn -- \"$2\" \"$1/pg_wal\"; exit 0; fi
    find \"$2\" -mindepth 1 -delete
    find \"$1/pg_wal\" -maxdepth 1 -type f -exec cp -t \"$2\" -- {} +
    rm -rf -- \"$1/pg_wal\"
    ln -s -- \"$2\" \"$1/pg_wal\"";

/// The segments `$3 ...` of the commit log `$2` become `pg_wal` of the data directory `$1`. The first of them has to be
/// there; the one in which a record would end need not exist.
const BRING_HOME: &str = "set -eu
    data=$1 log=$2 first=$3; shift 2
    rm -rf -- \"$data/pg_wal.at_rest\"
    mkdir -m 700 -- \"$data/pg_wal.at_rest\"
    for name; do if [ -f \"$log/$name\" ]; then cp -- \"$log/$name\" \"$data/pg_wal.at_rest/\"; fi; done
    if [ ! -f \"$data/pg_wal.at_rest/$first\" ]; then echo \"$log lacks $first, which a start needs\" >&2; exit 1; fi
    rm -rf -- \"$data/pg_wal\"
    mv -- \"$data/pg_wal.at_rest\" \"$data/pg_wal\"";

/// Moves the WAL of a data directory at rest to the commit log, which holds nothing else then.
pub(crate) fn send_away(account: Option<&Account>, data: &Path, commitlog: &Path) -> io::Result<()> {
    run_as(account, SEND_AWAY, [data.as_os_str(), commitlog.as_os_str()])
}

/// Copies what a start needs back into the data directory of a node that was stopped in order.
pub(crate) fn bring_home(
    account: Option<&Account>,
    (data, commitlog): (&Path, &Path),
    control: ControlFile,
) -> io::Result<()> {
    let segments = segments(control);
    let words = [data.as_os_str(), commitlog.as_os_str()]
        .into_iter()
        .chain(segments.iter().map(|name| OsStr::new(name.as_str())));
    run_as(account, BRING_HOME, words)
}

/// Names of the segments that a start reads.
fn segments(control: ControlFile) -> Vec<String> {
    let last = (control.checkpoint + RECORD_BYTES) / SEGMENT_BYTES;
    let all = control.redo / SEGMENT_BYTES..=last;
    all.map(|number| segment(control.timeline, number * SEGMENT_BYTES)).collect()
}

/// The name of the segment of a position (`XLogFileName`: timeline, and the number in two halves).
fn segment(timeline: u32, position: u64) -> String {
    let (number, each) = (position / SEGMENT_BYTES, (1 << 32) / SEGMENT_BYTES);
    format!("{timeline:08X}{:08X}{:08X}", number / each, number % each)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "000000010000000000000001";

    fn at(redo: u64, checkpoint: u64) -> ControlFile {
        ControlFile { is_shut_down: true, checkpoint, redo, timeline: 1 }
    }

    #[test]
    fn segments_are_named_as_postgresql_names_them() {
        assert_eq!(segment(1, 0x0100_0028), FIRST);
        assert_eq!(segment(1, 0x1_0000_0000), "000000010000000100000000");
        assert_eq!(segment(2, 0xFF00_0000), "0000000200000000000000FF");
        assert_eq!(segments(at(0x0100_0028, 0x0100_0028)), [FIRST]);
        let across = segments(at(0x01FF_FFF0, 0x01FF_FFF0));
        assert_eq!(across, [FIRST, "000000010000000000000002"]);
    }

    #[test]
    fn a_node_that_stopped_and_one_that_starts_from_its_copy_have_the_same_wal() {
        let place = tempfile::tempdir().unwrap();
        let (data, log) = (place.path().join("data"), place.path().join("log"));
        for directory in [data.join("pg_wal/archive_status"), log.join("leftover")] {
            std::fs::create_dir_all(directory).unwrap();
        }
        std::fs::write(data.join("pg_wal").join(FIRST), "wal").unwrap();
        send_away(None, &data, &log).unwrap();
        assert_eq!(std::fs::read_link(data.join("pg_wal")).unwrap(), log);
        assert_eq!(std::fs::read(log.join(FIRST)).unwrap(), b"wal");
        assert!(!log.join("leftover").exists(), "the commit log holds nothing else");
        send_away(None, &data, &log).unwrap();
        assert!(log.join(FIRST).exists(), "a second start moves nothing");

        std::fs::write(log.join("000000010000000000000009"), "recycled").unwrap();
        bring_home(None, (&data, &log), at(0x0100_0028, 0x0100_0028)).unwrap();
        assert!(!std::fs::symlink_metadata(data.join("pg_wal")).unwrap().is_symlink());
        let names: Vec<_> = std::fs::read_dir(data.join("pg_wal")).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(names, [FIRST]);
        let lacking = bring_home(None, (&data, &log), at(0x0500_0028, 0x0500_0028)).unwrap_err().to_string();
        assert!(lacking.contains("lacks 000000010000000000000005, which a start needs"), "{lacking}");
        assert!(data.join("pg_wal").join(FIRST).exists(), "and what was there stays");
    }
}
