//! Evidence is what was stored: damage, wrong places and strangers are seen; what was invalid can be done again and
//! stays to be looked at.

use std::fs;
use std::process::Command;

use crate::story::{CELLS, create, write};
use archive::{JournalEvent, RunDirectory, RunError};
use experiment::PlannedTrial;

fn planned(cell: &str, block: u32) -> PlannedTrial {
    PlannedTrial { cell: cell.to_owned(), block }
}

#[test]
fn untouched_evidence_is_whole_for_us_and_for_sha256sum() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 1);
    write(&run, CELLS[1], 1);
    // Made from the evidence, and the journal: they may change.
    run.write_file("report.md", b"one").unwrap();
    run.journal(JournalEvent::RunDone).unwrap();
    let verified = run.verify().unwrap();
    assert!(verified.is_whole(), "{verified:?}");
    // Five inputs; two trials with a record, latencies, two hosts' samples and a log at most.
    assert!((5 + 2 * 4..=5 + 2 * 5).contains(&verified.same), "{verified:?}");
    let check = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", "run.sha256"])
        .current_dir(run.path())
        .output()
        .unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}

#[test]
fn every_kind_of_change_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 1);
    write(&run, CELLS[1], 1);
    let first = run.trial_path(CELLS[0], 1);
    let mut log = fs::read(first.join("latency.hlog")).unwrap();
    *log.last_mut().unwrap() ^= 1;
    fs::write(first.join("latency.hlog"), log).unwrap();
    fs::remove_file(first.join("host-database.parquet")).unwrap();
    fs::write(first.join("notes.txt"), "mine").unwrap();
    fs::write(run.path().join("plan.json"), "{}").unwrap();
    let here = |name: &str| format!("trials/{}/1/{name}", CELLS[0]);
    let verified = run.verify().unwrap();
    assert_eq!(verified.changed, ["plan.json".to_owned(), here("latency.hlog")]);
    assert_eq!(verified.missing, [here("host-database.parquet")]);
    assert_eq!(verified.unlisted, [here("notes.txt")]);
    assert!(!verified.is_whole());
}

#[test]
fn a_trial_copied_into_the_place_of_another_is_not_taken_for_it() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 1);
    let (from, to) = (run.trial_path(CELLS[0], 1), run.trial_path(CELLS[0], 2));
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(&from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    let refused = run.trial(&planned(CELLS[0], 2)).unwrap_err();
    assert!(matches!(refused, RunError::Misplaced { block: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("block 1: it was copied"), "{refused}");
    assert!(run.trial(&planned(CELLS[0], 1)).is_ok());
    assert!(!run.verify().unwrap().unlisted.is_empty());
    // It does not keep the run from going on either.
    drop(run.lock().unwrap());
}

#[test]
fn a_trial_set_aside_remains_to_be_done_and_can_be_looked_at() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    for n in 1..=2 {
        write(&run, CELLS[0], 1);
        let kept = run.set_aside(&planned(CELLS[0], 1), "the database did not start").unwrap();
        assert!(kept.ends_with(format!("set-aside/{}/1.{n}", CELLS[0])), "{}", kept.display());
        assert!(kept.join("trial.json").is_file());
        assert_eq!(run.remaining().unwrap().len(), 4);
        assert!(run.verify().unwrap().is_whole());
    }
    write(&run, CELLS[0], 1);
    let events: Vec<_> = run.journal_entries().unwrap().into_iter().map(|e| e.event).collect();
    let aside =
        JournalEvent::TrialSetAside { cell: CELLS[0].into(), block: 1, reason: "the database did not start".into() };
    assert_eq!(events.iter().filter(|e| **e == aside).count(), 2);
    assert!(run.verify().unwrap().is_whole());
}

/// A kill between the rename and the list, or in the middle of a line of it.
#[test]
fn a_list_that_a_kill_cut_off_is_completed_by_the_next_writer() {
    let parent = tempfile::tempdir().unwrap();
    let path = {
        let run = create(parent.path());
        write(&run, CELLS[0], 1);
        write(&run, CELLS[1], 1);
        run.path().to_owned()
    };
    let list = path.join("run.sha256");
    let whole = fs::read_to_string(&list).unwrap();
    for cut in 1..200 {
        fs::write(&list, &whole[..whole.len() - cut]).unwrap();
        let run = RunDirectory::open(&path).unwrap();
        drop(run.lock().unwrap());
        let verified = run.verify().unwrap();
        assert!(verified.is_whole(), "{cut} bytes cut off: {verified:?}");
    }
}

#[test]
fn a_run_whose_list_is_gone_says_so() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    fs::remove_file(run.path().join("run.sha256")).unwrap();
    let error = run.verify().unwrap_err().to_string();
    assert!(error.contains("cannot read") && error.contains("run.sha256"), "{error}");
}

/// Whatever became of a file, reading it is an answer or an error, never a panic.
#[test]
fn no_damaged_byte_brings_the_reader_down() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 1);
    let trial = planned(CELLS[0], 1);
    let read = || {
        let stored = run.trial(&trial).map_err(|error| error.to_string())?;
        stored.latencies.intervals().map_err(|error| error.to_string())
    };
    assert!(read().is_ok());
    let mut refused = 0;
    for name in ["trial.json", "latency.hlog", "host-database.parquet"] {
        let path = run.trial_path(CELLS[0], 1).join(name);
        let whole = fs::read(&path).unwrap();
        let step = (whole.len() / 400).max(1);
        for (at, mask) in (0..whole.len()).step_by(step).flat_map(|at| [(at, 0xff), (at, 0x01)]) {
            let mut damaged = whole.clone();
            damaged[at] ^= mask;
            fs::write(&path, damaged).unwrap();
            refused += usize::from(read().is_err());
        }
        fs::write(&path, &whole[..whole.len() / 3]).unwrap();
        assert!(read().is_err(), "{name} cut off");
        fs::write(&path, whole).unwrap();
    }
    assert!(refused > 100, "{refused}");
    assert!(read().is_ok());
}

/// 16 MiB of `[0,0,...]` took more than a gigabyte, on each CPU.
#[test]
fn a_record_has_no_more_values_than_one_can_have() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 1);
    let path = run.trial_path(CELLS[0], 1).join("trial.json");
    let zeros = "0,".repeat(1 << 20);
    fs::write(&path, format!("{{\"format_version\":{},\"zeros\":[{zeros}0,0]}}", experiment::FORMAT_VERSION)).unwrap();
    let refused = run.record(&planned(CELLS[0], 1)).unwrap_err();
    assert!(matches!(refused, RunError::Damaged { .. }), "{refused}");
    assert!(refused.to_string().contains("more than 1048576 values"), "{refused}");
    // It does not keep the run from going on.
    drop(run.lock().unwrap());
}
