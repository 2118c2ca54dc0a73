//! `kill -9` at any moment, then resume: no trial lost, none twice, nothing half.

use std::fs;
use std::io::Write;

use crate::story::{CELLS, create, intervals, job, record, samples, write};
use archive::{JournalEvent, RunDirectory, RunError};
use evidence::{FORMAT_VERSION, ModifiedVolume};
use experiment::{Adaptive, Aim, NextBlock, Resting, RestsBecause};

#[test]
fn what_remains_is_the_planned_order_minus_the_trials_in_place() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    assert_eq!(run.remaining().unwrap(), run.plan().trials);
    write(&run, CELLS[0], 1);
    let left: Vec<_> = run.remaining().unwrap().into_iter().map(|t| (t.block, t.cell)).collect();
    assert_eq!(left, [(1, CELLS[1].into()), (2, CELLS[0].into()), (2, CELLS[1].into())]);
}

#[test]
fn a_cell_that_the_user_skips_is_left_out_until_it_is_taken_up_again() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 1);
    let left = || run.remaining().unwrap().into_iter().map(|t| (t.block, t.cell)).collect::<Vec<_>>();
    run.journal(JournalEvent::CellSkipped { cell: CELLS[0].into() }).unwrap();
    assert_eq!(left(), [(1, CELLS[1].into()), (2, CELLS[1].into())]);
    assert_eq!(run.done().len(), 1, "what was measured of it stays");
    // A run that is opened anew skips it, too.
    let again = RunDirectory::open(run.path()).unwrap();
    assert_eq!(again.skipped().unwrap().into_iter().collect::<Vec<_>>(), [CELLS[0]]);
    run.journal(JournalEvent::CellTakenUp { cell: CELLS[0].into() }).unwrap();
    assert_eq!(left(), [(1, CELLS[1].into()), (2, CELLS[0].into()), (2, CELLS[1].into())]);
}

#[test]
fn a_kill_between_rename_and_journal_loses_no_trial_and_repeats_none() {
    let parent = tempfile::tempdir().unwrap();
    let path = {
        let run = create(parent.path());
        run.journal(JournalEvent::TrialStarted { cell: CELLS[1].into(), block: 1 }).unwrap();
        write(&run, CELLS[1], 1);
        run.path().to_owned()
    };
    // The kill also tore a line and left a trial half written aside.
    fs::OpenOptions::new()
        .append(true)
        .open(path.join("journal.jsonl"))
        .unwrap()
        .write_all(b"{\"at\":\"2026-01")
        .unwrap();
    let half = path.join(".aside").join(format!("{}.1", CELLS[0]));
    fs::create_dir_all(&half).unwrap();
    fs::write(half.join("trial.json"), "{\"format_ver").unwrap();

    let run = RunDirectory::open(&path).unwrap();
    assert_eq!(run.journal_entries().unwrap().len(), 2, "a reader skips the torn line");
    assert!(half.exists(), "a reader changes nothing: the writer may be alive");
    assert_eq!(run.remaining().unwrap().len(), 3);

    let _lock = run.lock().unwrap();
    assert!(!half.exists());
    run.journal(JournalEvent::Resumed).unwrap();
    let events: Vec<_> = run.journal_entries().unwrap().into_iter().map(|e| e.event).collect();
    assert_eq!(events[2], JournalEvent::TrialDone { cell: CELLS[1].into(), block: 1, valid: true });
    assert_eq!(events[3], JournalEvent::Resumed);
    assert_eq!(events.len(), 4);
    for trial in run.remaining().unwrap() {
        write(&run, &trial.cell, trial.block);
    }
    assert!(run.remaining().unwrap().is_empty());
    assert_eq!(run.trials().count(), 4);
}

/// A run whose cells may rest is called to its first blocks, then to what its journal says. It is finished once that
/// says that it is enough: before, a look is due.
#[test]
fn an_adaptive_run_has_to_do_what_its_journal_calls_for() {
    let parent = tempfile::tempdir().unwrap();
    let whole = create(parent.path());
    let mut job = job();
    job.plan.adaptive = Some(Adaptive {
        aim: Aim::Answer { horizon_months: None },
        blocks_min: 1,
        blocks_max: 2,
        budget_s: None,
        budget_usd: None,
        called: Vec::new(),
        stopped: None,
        resting: Vec::new(),
    });
    let run = whole.part(job);
    let left = || -> Vec<(u32, String)> { run.remaining().unwrap().into_iter().map(|t| (t.block, t.cell)).collect() };
    assert_eq!(left(), [(1, CELLS[1].to_owned()), (1, CELLS[0].to_owned())]);
    for cell in CELLS {
        write(&run, cell, 1);
    }
    assert!(left().is_empty() && !run.is_finished().unwrap(), "a look is due");

    let resting = vec![Resting { cell: CELLS[1].to_owned(), why: RestsBecause::Beaten { by: "gp2-320".to_owned() } }];
    let next = NextBlock { block: 2, cells: vec![CELLS[0].to_owned()], resting: resting.clone() };
    run.journal(JournalEvent::NextBlock(next.clone())).unwrap();
    assert_eq!(left(), [(2, CELLS[0].to_owned())]);
    write(&run, CELLS[0], 2);
    let reason = "after 2 blocks there were as many as there may be".to_owned();
    run.journal(JournalEvent::Enough { blocks: 2, reason: reason.clone(), resting: resting.clone() }).unwrap();
    assert!(run.is_finished().unwrap());
    assert_eq!(run.called_for().unwrap().len(), 3);
    let adaptive = run.adaptive().unwrap().unwrap();
    assert_eq!((adaptive.called, adaptive.stopped, adaptive.resting), (vec![next], Some(reason), resting.clone()));

    // It stopped without a cell that the user wants after all: another look is due.
    run.journal(JournalEvent::CellTakenUp { cell: CELLS[1].into() }).unwrap();
    assert!(run.enough().unwrap().is_none() && !run.is_finished().unwrap());
    assert_eq!(run.adaptive().unwrap().unwrap().stopped, None);
    let reason = "after 2 blocks the budget of 1 minutes was spent".to_owned();
    run.journal(JournalEvent::Enough { blocks: 2, reason: reason.clone(), resting: resting.clone() }).unwrap();
    assert_eq!(run.enough().unwrap(), Some((2, reason, resting)));
    assert!(run.is_finished().unwrap());
}

/// A controller asks for another level of a volume, and ends before a trial could have it.
#[test]
fn a_modification_of_a_volume_is_one_with_the_moments_that_are_known() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    let asked = |asked_at: &str| -> ModifiedVolume {
        let level = serde_json::json!({ "kind": "gp3", "iops": 6000, "mib_per_s": 125 });
        let document = serde_json::json!({ "host": "database-2", "volume": "vol-1", "from": null, "to": level,
            "asked_at": asked_at, "in_force_at": null });
        serde_json::from_value(document).unwrap()
    };
    let (first, second) = (asked("2026-11-27T01:00:00Z"), asked("2026-11-27T03:00:00Z"));
    run.journal(JournalEvent::VolumeModified(first.clone())).unwrap();
    run.journal(JournalEvent::VolumeModified(second.clone())).unwrap();
    let again = || RunDirectory::open(run.path()).unwrap().modifications().unwrap();
    assert_eq!(again(), [first.clone(), second.clone()]);
    let first = ModifiedVolume { in_force_at: Some("2026-11-27T02:00:00Z".to_owned()), ..first };
    run.journal(JournalEvent::VolumeModified(first.clone())).unwrap();
    assert_eq!(again(), [first, second]);
}

#[test]
fn evidence_is_written_once() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    write(&run, CELLS[0], 1);
    let again = run.write_trial(&record(CELLS[0], 1), &intervals(), &samples(), run.logs(CELLS[0], 1).unwrap());
    assert!(matches!(again, Err(RunError::TrialExists { .. })), "{again:?}");
}

#[test]
fn two_processes_cannot_write_one_run() {
    let parent = tempfile::tempdir().unwrap();
    let first = create(parent.path());
    // A second handle stands for a second process: flock belongs to the open file, not to the process.
    let second = RunDirectory::open(first.path()).unwrap();
    let refused = second.journal(JournalEvent::Resumed).unwrap_err();
    assert!(matches!(refused, RunError::Locked { .. }), "{refused}");
    assert_eq!(second.remaining().unwrap().len(), 4, "reading goes on");
    drop(first);
    second.journal(JournalEvent::Resumed).unwrap();
}

#[test]
fn any_other_format_is_refused_with_both_versions_before_its_shape_is_looked_at() {
    let parent = tempfile::tempdir().unwrap();
    let path = create(parent.path()).path().to_owned();
    for file in ["plan.json", "setups.json"] {
        let whole = fs::read_to_string(path.join(file)).unwrap();
        for other in [FORMAT_VERSION - 1, FORMAT_VERSION + 1] {
            fs::write(path.join(file), format!("{{\"format_version\": {other}}}")).unwrap();
            let refused = RunDirectory::open(&path).unwrap_err();
            let expected = format!(
                "{file} has format_version {other}, this iopslab reads {FORMAT_VERSION}; measure again with this one, \
                 or use the iopslab that wrote it"
            );
            assert!(refused.to_string().ends_with(&expected), "{refused}");
        }
        fs::write(path.join(file), whole).unwrap();
    }
    assert!(RunDirectory::open(&path).is_ok());
}

#[test]
fn what_is_bought_and_how_it_is_built_are_documents_of_their_own() {
    let parent = tempfile::tempdir().unwrap();
    let path = create(parent.path()).path().to_owned();
    let run = RunDirectory::open(&path).unwrap();
    assert_eq!(*run.job(), crate::story::job());
    assert!(!fs::read_to_string(path.join("plan.json")).unwrap().contains("setups"));
}

#[test]
fn a_run_without_its_setups_or_its_configurations_is_damaged_and_says_where() {
    let parent = tempfile::tempdir().unwrap();
    let path = create(parent.path()).path().to_owned();
    let setups = fs::read(path.join("setups.json")).unwrap();
    let refused = |what: [&str; 2]| {
        let error = RunDirectory::open(&path).unwrap_err().to_string();
        assert!(what.iter().all(|word| error.contains(word)), "{error}");
    };
    fs::remove_file(path.join("setups.json")).unwrap();
    refused(["setups.json", "No such file"]);
    fs::write(path.join("setups.json"), setups).unwrap();
    let plan = fs::read_to_string(path.join("plan.json")).unwrap();
    fs::write(path.join("plan.json"), plan.replace("\"configurations\"", "\"other\"")).unwrap();
    refused(["plan.json", "configurations"]);
}

#[test]
fn a_directory_without_a_plan_is_not_a_run() {
    let parent = tempfile::tempdir().unwrap();
    let refused = RunDirectory::open(parent.path()).unwrap_err();
    assert!(matches!(refused, RunError::NotARun { .. }), "{refused}");
}

/// Two runs of one experiment within a second: the second failed by the first one's name.
#[test]
fn runs_that_begin_in_one_second_have_directories_of_their_own() {
    let parent = tempfile::tempdir().unwrap();
    let runs = [create(parent.path()), create(parent.path()), create(parent.path())];
    let names = runs.each_ref().map(|run| run.path().file_name().unwrap().to_str().unwrap());
    assert_eq!(names, ["story-20260102T030405Z", "story-20260102T030405Z-2", "story-20260102T030405Z-3"]);
}

#[test]
fn a_path_that_cannot_be_written_fails_at_once() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("runs");
    fs::write(&file, "not a directory").unwrap();
    let made = RunDirectory::create(
        &file,
        ("a", "b", false),
        ("", &std::collections::BTreeMap::new()),
        &crate::story::job(),
        &serde_json::json!({}),
        &serde_json::json!({}),
    );
    assert!(made.unwrap_err().to_string().contains("runs"));
}

#[test]
fn made_files_are_replaced_whole() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    run.write_file("report.md", b"one").unwrap();
    let path = run.write_file("report.md", b"two").unwrap();
    assert_eq!(fs::read(path).unwrap(), b"two");
    assert!(run.write_file("../outside", b"").is_err());
}

/// A run goes on with another Java, or with the same one in another script: both are kept, and what was there before is
/// returned, so that it can be said.
#[test]
fn what_ran_a_version_before_a_resume_is_kept_beside_what_runs_it_now() {
    let parent = tempfile::tempdir().unwrap();
    let run = create(parent.path());
    let java = |options: &[&str]| evidence::Runtime {
        name: "openjdk version \"17\"".into(),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
    };
    let (plain, script) = (java(&[]), java(&["TieredStopAtLevel=1"]));
    let of = |version: &str, runtime: &evidence::Runtime| vec![(version.to_owned(), runtime.clone())];
    assert!(run.add_runtimes(&of("5.0.5", &script)).unwrap().is_empty());
    // Of another batch of the same run.
    let before = run.add_runtimes(&of("4.1.10", &plain)).unwrap();
    assert_eq!(before.get("4.1.10"), None);
    let before = run.add_runtimes(&of("5.0.5", &plain)).unwrap();
    assert_eq!(before["5.0.5"], std::slice::from_ref(&script));
    run.add_runtimes(&of("5.0.5", &plain)).unwrap();
    let kept = evidence::runtimes(&run.environment().unwrap());
    assert_eq!((&kept["5.0.5"], &kept["4.1.10"]), (&vec![script, plain.clone()], &vec![plain]));
}
