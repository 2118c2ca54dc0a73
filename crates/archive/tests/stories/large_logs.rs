//! A database that writes hundreds of MiB of log must not cost the controller as much memory.

use super::story::{CELLS, create, intervals, record, samples};

const PIECE: usize = 1 << 20;
const PIECES: usize = 64;
/// Far below the log, far above what the other stories of this program take at the same time.
const MEMORY_KIB: u64 = 32 << 10;

/// The most memory that this process has ever had, KiB (`VmHWM`, proc(5)).
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
fn a_log_arrives_is_stored_and_verified_in_pieces() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    let before = peak_kib();
    let mut logs = run.logs(CELLS[0], 1).unwrap();
    let mut piece = vec![b'x'; PIECE];
    for number in 0..PIECES {
        piece[0] = number as u8;
        logs.append("database.log", &piece).unwrap();
    }
    let trial = run.write_trial(&record(CELLS[0], 1), &intervals(), &samples(), logs).unwrap();
    let stored = trial.join("database.log");
    assert_eq!(stored.metadata().unwrap().len(), (PIECE * PIECES) as u64);
    let verified = run.verify().unwrap();
    assert!(verified.is_whole(), "{verified:?}");
    let grown = peak_kib() - before;
    println!("{grown} KiB more for a log of {} KiB", (PIECE * PIECES) >> 10);
    assert!(grown < MEMORY_KIB, "{grown} KiB more");
    // Nothing stays aside, whether the logs were taken or not.
    let mut forgotten = run.logs(CELLS[1], 1).unwrap();
    forgotten.append("gc.log", b"x").unwrap();
    assert!(forgotten.append("../gc.log", b"x").is_err());
    drop(forgotten);
    let aside = std::fs::read_dir(run.path().join(".aside")).unwrap();
    assert_eq!(aside.count(), 0);
}
