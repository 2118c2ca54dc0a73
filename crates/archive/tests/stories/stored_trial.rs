//! What is written of a trial is what is read, in files that other programs read too.

use std::fs;

use crate::story::{CELLS, create, intervals, record, samples, write};

#[test]
fn a_trial_reads_back_as_it_was_written() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 2);
    let stored = run.trials().next().unwrap().unwrap();
    assert_eq!(stored.record, record(CELLS[0], 2));
    assert_eq!(stored.samples, samples());
    let read_back = stored.latencies.intervals().unwrap();
    assert_eq!(read_back.len(), intervals().len());
    for (read, written) in read_back.iter().zip(intervals()) {
        assert_eq!((read.series, read.start_s, read.length_s), (written.series, written.start_s, written.length_s));
        assert_eq!(read.histogram, evidence::LatencyCounts::of(&written.histogram));
    }
    assert_eq!(fs::read(run.trial_path(CELLS[0], 2).join("database.log")).unwrap(), b"INFO started\n");
}

/// The header that the Java tools look for, and whole seconds in it (see the module docs of `hlog`).
#[test]
fn the_latency_log_has_the_public_header() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 1);
    let log = fs::read_to_string(run.trial_path(CELLS[0], 1).join("latency.hlog")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[0], "#[Histogram log format version 1.3]");
    // 03:04:05.678901 + 2 s of warm-up, rounded down.
    assert!(log.contains("#[StartTime: 1767323047.000 "), "{log}");
    assert!(log.contains("#[BaseTime: 1767323045.000 "), "{log}");
    let first = lines.iter().find(|l| l.starts_with("Tag=")).unwrap();
    // 50,000 us recorded in a bucket that ends at 50,015 us: Interval_Max is milliseconds.
    assert!(first.starts_with("Tag=read,0.000,1.000,50.0"), "{first}");
}

#[test]
fn the_parquet_file_has_the_magic_of_parquet() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 1);
    let bytes = fs::read(run.trial_path(CELLS[0], 1).join("host-database.parquet")).unwrap();
    assert_eq!((&bytes[..4], &bytes[bytes.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
}
