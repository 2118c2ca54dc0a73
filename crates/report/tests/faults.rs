//! Nodes taken away by plan, as people read it: in the terminal, in Markdown, on the page and in `faults.csv`.

use crate::page;
use crate::page::faults::{killed, phase, range};
use analysis::rules::faults_planned::FaultsPlanned;
use analysis::rules::too_short_to_judge::TooShortToJudge;
use analysis::rules::writes_lost::WritesLost;
use analysis::{
    Analysis, AnswerOutcome, CellAnalysis, Charts, Consistency, DecidedBy, ErrorKind, FaultAction, FaultAnalysis,
    FaultsAnalysis, Finding, HostId, LoadLevel, NodeFault, NodeFaultKind, NotConsidered, NotJudged, PhaseKind,
    RecoveryAnalysis, Scope, VolumeRole, WorkloadAnswer, WritesAnalysis,
};
use report::{TerminalOptions, answer, document, faults_csv, html, markdown, message, terminal};

fn kept() -> WritesAnalysis {
    WritesAnalysis {
        consistency: Consistency::Quorum,
        trials: 3,
        trials_with_loss: 0,
        acknowledged: 48_210,
        unacknowledged: 1_203,
        values: 31_004,
        intact: 31_004,
        older: 0,
        missing: 0,
        foreign: 0,
        unreadable: 0,
        example: None,
    }
}

fn lost() -> WritesAnalysis {
    WritesAnalysis {
        consistency: Consistency::One,
        trials_with_loss: 2,
        intact: 30_790,
        older: 200,
        missing: 14,
        unacknowledged: 0,
        ..kept()
    }
}

/// One workload under one load: `rf3` kept its writes.
fn run() -> (Analysis, Charts) {
    let (mut analysis, mut charts) = page::run(&["rf3-quorum", "rf1-one"], &["read-heavy"], 3);
    analysis.cells.retain(|c| matches!(c.load, LoadLevel::Concurrency(_)));
    let keeps = |cell: &str| analysis.cells.iter().any(|c| c.id == cell);
    charts.trials.retain(|t| keeps(&t.cell));
    charts.curves.retain(|t| keeps(&t.cell));
    for (block, trial) in charts.trials.iter_mut().enumerate() {
        trial.fault_spans = vec![(100.0, 160.0 + 5.0 * block as f64)];
    }
    for cell in &mut analysis.cells {
        cell.faults = Some(killed());
        cell.writes = Some(kept());
    }
    analysis.findings.clear();
    (analysis, charts)
}

/// `rf1-one` lost some.
fn run_with_loss() -> (Analysis, Charts) {
    let (mut analysis, charts) = run();
    analysis.cells[1].writes = Some(lost());
    let scope = Scope::Cell(analysis.cells[1].id.clone());
    let figures = WritesLost {
        consistency: Consistency::One,
        values: 31_004,
        lost: 214,
        older: 200,
        missing: 14,
        foreign: 0,
        trials: 3,
        trials_with_loss: 2,
        example: Some("block 1, key user17, field 3: 105 was acknowledged, 98 was found".to_owned()),
    };
    analysis.findings = vec![Finding::new(scope, figures)];
    let recommendation = &mut analysis.recommendation;
    recommendation.run = Some("rf3-quorum".into());
    recommendation.places = vec![WorkloadAnswer {
        workload: "read-heavy".into(),
        load: Some(page::LOADS[0]),
        by: DecidedBy::Writes,
        by_money: false,
        outcome: AnswerOutcome::Run { configuration: "rf3-quorum".into(), same: Vec::new(), settings: None },
        candidates: Vec::new(),
    }];
    recommendation.not_considered = vec![NotConsidered {
        configuration: "rf1-one".into(),
        why: NotJudged::LostWrites { lost: 214, values: 31_004 },
    }];
    analysis.value_of_money.clear();
    (analysis, charts)
}

fn at(analysis: &Analysis, width: usize) -> String {
    terminal(analysis, TerminalOptions { width, color: false })
}

/// The section of the text alone.
fn section(text: &str) -> String {
    let is_next = |line: &&str| line.starts_with("## ") || *line == "Results";
    let mut lines = text.lines().skip_while(|l| !l.contains("When a node was away"));
    lines.next().into_iter().chain(lines.take_while(|l| !is_next(l))).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_section_in_a_terminal_and_in_markdown() {
    let (analysis, _) = run_with_loss();
    insta::assert_snapshot!("faults_terminal_80", section(&at(&analysis, 80)));
    insta::assert_snapshot!("faults_markdown", section(&markdown(&analysis)));
}

#[test]
fn no_line_is_wider_than_the_terminal_and_missing_is_no_zero() {
    let (mut analysis, charts) = run();
    analysis.cells[0].faults = Some(FaultsAnalysis {
        phases: vec![
            phase(PhaseKind::Before, None, 20.0, 123_456.0, 1234.0, &[]),
            phase(PhaseKind::During, Some(1), 40.0, 98_765.0, 9876.0, &[(ErrorKind::ClientTimeout, 1_234_567)]),
            phase(PhaseKind::After, Some(1), 0.0, 0.0, 0.0, &[]),
        ],
        ..killed()
    });
    for width in [80, 100, 140] {
        let text = at(&analysis, width);
        let widest = text.lines().max_by_key(|l| l.chars().count()).unwrap();
        assert!(widest.chars().count() <= width, "{width}: {widest}");
        let after = text.lines().find(|l| l.contains(" after ")).unwrap();
        assert!(after.matches(" - ").count() + usize::from(after.trim_end().ends_with(" -")) >= 2, "{after}");
    }
    let row = markdown(&analysis);
    assert!(row.contains("| after | 0 | - | - | - | - | - | - |"), "{row}");
    assert!(
        html(&analysis, &charts).contains("<td class=\"t\">after</td><td class=\"num\">0</td><td class=\"num\">-</td>")
    );
}

#[test]
fn who_lost_writes_is_reported_in_the_headline() {
    let (analysis, charts) = run_with_loss();
    let reported = "Run rf3-quorum: it is the only configuration that lost no acknowledged write; rf1-one lost \
                    acknowledged writes (214 of 31,004 values).";
    assert_eq!(answer(&analysis).headline(), reported);
    let (_, doubts) = (reported, answer(&analysis).doubts);
    assert!(
        doubts.contains(&"Not considered: rf1-one (it lost acknowledged writes (214 of 31,004 values)).".to_owned()),
        "{doubts:?}"
    );
    let page = html(&analysis, &charts);
    assert!(page.contains("rf1-one lost acknowledged writes (214 of 31,004 values)"));
    assert!(page.contains("1 failed, 0 invalid") && page.contains("<span class=\"tag failed\">failed</span>"));
    let document = document(&analysis);
    assert_eq!(document["cells"][1]["writes"]["older"], 200);
    assert_eq!(
        document["recommendation"]["not_considered"][0]["why"],
        "it lost acknowledged writes (214 of 31,004 values)"
    );
}

#[test]
fn where_all_lost_writes_that_is_the_answer() {
    let (mut analysis, _) = run_with_loss();
    let recommendation = &mut analysis.recommendation;
    (recommendation.run, recommendation.status) = (None, analysis::Status::NotDecided);
    recommendation.reason = analysis::Reason::Undecided;
    recommendation.places[0].outcome = AnswerOutcome::AllLostWrites;
    let headline = answer(&analysis).headline();
    assert!(
        headline.starts_with("Not decided: every configuration lost acknowledged writes; rf1-one lost"),
        "{headline}"
    );
}

/// The sentences on a cell, as Markdown shows them.
fn reported(change: impl FnOnce(&mut CellAnalysis)) -> Vec<String> {
    let (mut analysis, _) = run();
    analysis.cells.truncate(1);
    change(&mut analysis.cells[0]);
    section(&markdown(&analysis)).lines().filter_map(|l| l.strip_prefix("* ")).map(str::to_owned).collect()
}

fn of_fault(change: impl FnOnce(&mut FaultAnalysis)) -> Vec<String> {
    reported(|cell| change(&mut cell.faults.as_mut().unwrap().faults[0]))
}

#[test]
fn a_node_that_stays_away_or_does_not_start_again() {
    let stays = of_fault(|f| {
        f.planned.as_mut().unwrap().for_s = None;
        (f.return_began_s, f.back_s, f.away_s, f.return_took_s) = (None, None, None, None);
        (f.left_away, f.recovery) = (3, RecoveryAnalysis::default());
    });
    assert_eq!(
        stays[0],
        "Planned was node-kill of node 2 at 20 s to the end: database-2 was gone at 20.1 s (20.0 to 20.3) and was not \
         brought back."
    );
    assert!(
        stays[1]
            .starts_with("Hint files that waited, all nodes together: at most 14 (12 to 15), 3 (0 to 4) at the end."),
        "{stays:?}"
    );
    let one_did_not = of_fault(|f| {
        (f.not_back, f.recovery.recovered) = (1, 2);
        f.recovery.never = 0;
    });
    assert!(
        one_did_not[0].ends_with(
            "12.1 s (10.2 to 25.3) later and did not answer clients before the trial ended in 1 of 3 trials."
        ),
        "{one_did_not:?}"
    );
    assert_eq!(one_did_not[1], "Throughput was back within 10 % of before 6 s (4 to 8) after the node was.");
}

#[test]
fn when_throughput_was_back_is_said_plainly() {
    let with = |recovered, seconds, never, too_short| {
        of_fault(|f| {
            f.recovery = RecoveryAnalysis { recovered, seconds, never, too_short };
        })
        .swap_remove(1)
    };
    assert_eq!(with(0, None, 3, 0), "Throughput was not back within 10 % of before when the trial ended.");
    assert_eq!(
        with(3, range(0.0, 0.0, 0.6), 0, 0),
        "Throughput was back within 10 % of before less than 1 s after the node was."
    );
    assert_eq!(
        with(1, range(6.0, 6.0, 6.0), 1, 1),
        "Throughput was back within 10 % of before 6 s after the node was, in 1 of 3 trials; in 1 of 3 trials it was \
         not back within 10 % of before when the trial ended; in 1 of 3 trials fewer than 5 s were left to judge it by."
    );
    assert_eq!(
        with(0, None, 1, 1),
        "In 1 of 2 trials throughput was not back within 10 % of before when the trial ended; in 1 of 2 trials fewer \
         than 5 s were left to judge it by."
    );
}

#[test]
fn what_became_of_acknowledged_writes() {
    let written = |writes: WritesAnalysis| reported(|cell| cell.writes = Some(writes)).pop().unwrap();
    assert_eq!(
        written(kept()),
        "48,210 acknowledged writes (31,004 values) read back at QUORUM in 3 trials: none lost. 1,203 more had no \
         known outcome and may be there or not."
    );
    let unread = WritesAnalysis { intact: 20_670, unreadable: 10_334, unacknowledged: 0, ..kept() };
    assert_eq!(
        written(unread),
        "48,210 acknowledged writes (31,004 values) read back at QUORUM in 3 trials: none seen lost, but 10,334 values \
         could not be read."
    );
    let old = written(lost());
    assert!(
        old.contains(
            "at ONE in 3 trials: 214 of 31,004 values lost (older 200, missing 14), in 2 of 3 trials. At this level"
        ),
        "{old}"
    );
    assert!(old.contains("the workload's own reads would have seen it"), "{old}");
    let nothing = WritesAnalysis { acknowledged: 0, values: 0, intact: 0, ..kept() };
    assert_eq!(written(nothing), "No write was acknowledged in 3 trials: nothing to read back.");
    assert_eq!(reported(|cell| cell.writes = None).pop().unwrap(), "Acknowledged writes were not read back.");
}

#[test]
fn findings_say_which_figures_hold_the_fault() {
    let by_plan = |faults, disk_faults| FaultsPlanned {
        faults,
        disk_faults,
        compactions: 0,
        cache_kills: 0,
        first_at_s: 20.0,
        away_s: 20.0,
        measured_s: 60.0,
    };
    let message_of = |faults, disks| message(&Finding::new(Scope::Run("r".into()), by_plan(faults, disks)));
    let planned = message_of(1, 0);
    assert!(
        planned.starts_with(
            "A node was taken away by plan, for 20 of 60 measured seconds, first at 20 s. Throughput, latency and \
             errors of the cells are those of the whole measurement"
        ),
        "{}",
        planned
    );
    for (faults, disks, said) in [
        (1, 1, "A disk failed by plan, for 20 of 60"),
        (2, 2, "Disks failed by plan 2 times, for"),
        (3, 2, "Nodes were taken away by plan and disks failed 3 times in all, for"),
    ] {
        assert!(message_of(faults, disks).starts_with(said), "{}", message_of(faults, disks));
    }
    let short =
        TooShortToJudge { measured_s: 19.0, needed_s: 40.0, judged: None, until_fault: true, code_is_warm: false };
    let short = Finding::new(Scope::Trial("c/1".into()), short);
    assert!(message(&short).starts_with("19 s before the first planned fault are too short"), "{}", message(&short));
}

/// The same fault as [`killed`], of a disk.
fn stalled() -> FaultsAnalysis {
    let mut faults = killed();
    let fault = &mut faults.faults[0];
    fault.kind = NodeFaultKind::DiskStall;
    fault.volume = Some(VolumeRole::Data);
    fault.planned = Some(NodeFault {
        action: FaultAction::DiskStall { volume: VolumeRole::Data },
        node: 2,
        at_s: 20.0,
        for_s: Some(20.0),
    });
    faults
}

#[test]
fn a_disk_that_failed_is_reported_as_one() {
    let (mut analysis, charts) = run();
    for cell in &mut analysis.cells {
        cell.faults = Some(stalled());
    }
    for text in [html(&analysis, &charts), markdown(&analysis), at(&analysis, 200)] {
        assert!(text.contains("When a disk failed"), "{text}");
        assert!(!text.contains("When a node was away"), "{text}");
    }
    let text = markdown(&analysis);
    for sentence in [
        "* Planned was disk-stall of node 2's data volume at 20 s for 20 s: the data volume of database-2 had it from \
         20.1 s (20.0 to 20.3) and was as before from 52.1 s (50.2 to 65.3).",
        "Throughput was back within 10 % of before 6 s (4 to 8) after the fault was lifted, in 2 of 3 trials",
        "at most 14 (12 to 15) until the fault was lifted, 3 (0 to 4) at the end.",
    ] {
        assert!(text.contains(sentence), "{sentence} in\n{text}");
    }
    assert!(!text.contains("ended by itself"), "{text}");
    let fault = &mut analysis.cells[0].faults.as_mut().unwrap().faults[0];
    fault.failed_requests = range(12.0, 10.0, 15.0);
    fault.ended = vec!["block 2: at 24.0 s, signal 7".to_owned()];
    let text = markdown(&analysis);
    let ended = "* The database's process ended by itself in 1 of 3 trials: block 2: at 24.0 s, signal 7.";
    assert!(text.contains(ended), "{text}");
    assert!(text.contains("* Requests to the volume that failed: 12 (10 to 15)."), "{text}");
    let fault = &mut analysis.cells[0].faults.as_mut().unwrap().faults[0];
    fault.failed_requests = range(0.0, 0.0, 0.0);
    assert!(markdown(&analysis).contains("* No request to the volume met it"));
    analysis.cells[1].faults = Some(killed());
    assert!(markdown(&analysis).contains("## When a node was away or a disk failed"));
}

#[test]
fn a_cache_that_was_lost_is_reported_with_what_was_left_to_the_database() {
    let (mut analysis, charts) = run();
    for cell in &mut analysis.cells {
        let mut faults = killed();
        let answered = [(0.8, 100.0), (0.3, 450.0), (0.6, 220.0)];
        for (phase, (hits, reads)) in faults.phases.iter_mut().zip(answered) {
            phase.hit_ratio = range(hits, hits, hits);
            phase.device_reads_per_s = range(reads, reads, reads);
        }
        let fault = &mut faults.faults[0];
        (fault.kind, fault.node) = (NodeFaultKind::CacheKill, HostId::DATABASE);
        let action = FaultAction::CacheKill { cache_node: 2 };
        fault.planned = Some(NodeFault { action, node: 1, at_s: 20.0, for_s: Some(20.0) });
        cell.faults = Some(faults);
    }
    for text in [html(&analysis, &charts), markdown(&analysis), at(&analysis, 200)] {
        assert!(text.contains("When a cache was lost") && !text.contains("When a node was away"), "{text}");
    }
    let text = markdown(&analysis);
    assert!(text.contains("| Hits, % of reads | Device reads/s |"), "{text}");
    let planned = "* Planned was cache-kill of cache node 2 at 20 s for 20 s: cache node 2 was gone at 20.1 s";
    assert!(text.contains(planned), "{text}");
    assert!(text.contains("after the cache was, in 2 of 3 trials"), "{text}");
    assert!(!text.contains("Hint files"), "no node was away that hints wait for: {text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("| during |")).collect();
    assert!(rows.iter().all(|row| row.contains("| 30.0 |") && row.contains("| 450 |")), "{rows:?}");
    let csv = faults_csv(&analysis).unwrap();
    let head = csv.lines().next().unwrap();
    assert!(head.contains(",hit_ratio,hit_ratio_low,hit_ratio_high,device_reads_per_s,"), "{head}");
    // Where nothing is planned, it is a cache all the same.
    analysis.cells[0].faults.as_mut().unwrap().faults[0].planned = None;
    assert!(markdown(&analysis).contains("* cache-kill: a cache node was gone at 20.1 s"));
    let of_plan = FaultsPlanned {
        faults: 1,
        disk_faults: 0,
        compactions: 0,
        cache_kills: 1,
        first_at_s: 20.0,
        away_s: 20.0,
        measured_s: 60.0,
    };
    let said = message(&Finding::new(Scope::Run("r".into()), of_plan));
    assert!(said.starts_with("A cache was killed by plan, for 20 of 60 measured seconds, first at 20 s."), "{said}");
}

#[test]
fn the_page_shades_the_seconds_in_which_a_node_was_away() {
    let (analysis, charts) = run();
    let page = html(&analysis, &charts);
    let section = page.split("<section id=\"away\"").nth(1).unwrap().split("</section>").next().unwrap();
    // Two cells, two panels, three repetitions.
    assert_eq!(section.matches("<rect class=\"gone\"").count(), 12);
    assert_eq!(section.matches("<figure>").count(), 4);
    assert!(page.contains("href=\"faults.csv\""));
}

#[test]
fn the_phases_as_a_table_of_numbers() {
    let (analysis, _) = run();
    let csv = faults_csv(&analysis).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 1 + 2 * 3);
    assert!(
        rows[0].starts_with("cell,configuration,workload,concurrency,rate_ops_per_s,phase,fault,seconds,"),
        "{}",
        rows[0]
    );
    assert!(rows[2].contains(",100,,during,1,32,29,34,612,"), "{}", rows[2]);
}

#[test]
fn without_faults_nothing_is_said() {
    let (analysis, charts) = page::run(&["one", "two"], &["read-heavy"], 3);
    assert_eq!(faults_csv(&analysis), None);
    for text in [html(&analysis, &charts), markdown(&analysis), at(&analysis, 80)] {
        assert!(
            !text.contains("When a node was away")
                && !text.contains("faults.csv")
                && !text.contains("<rect class=\"gone\"")
        );
    }
}

/// Nobody buys what forgets: it has no point, and so no part in the frontier, but its name and why.
#[test]
fn what_lost_writes_is_not_drawn_on_the_frontier() {
    let (mut analysis, charts) = page::run(&["rf3-quorum", "rf1-one", "rf3-all"], &["read-heavy"], 3);
    let drawn = |analysis: &Analysis| html(analysis, &charts).split("class=\"frontier\"").nth(1).unwrap().to_owned();
    assert!(drawn(&analysis).contains("<title>rf1-one:"));
    for cell in &mut analysis.cells {
        let is_loser = cell.configuration == "rf1-one" && matches!(cell.load, LoadLevel::Concurrency(_));
        cell.writes = Some(if is_loser { lost() } else { kept() });
    }
    let page = drawn(&analysis);
    assert!(!page.contains("<title>rf1-one:"), "{page}");
    assert!(page.contains("Not drawn: rf1-one (it lost acknowledged writes)."), "{page}");
    assert!(page.contains("<title>rf3-quorum:") && page.contains("<title>rf3-all:"));
}

#[test]
fn a_compaction_is_reported_as_what_the_node_did_and_not_as_its_absence() {
    let (mut analysis, charts) = run();
    for cell in &mut analysis.cells {
        let mut faults = killed();
        let fault = &mut faults.faults[0];
        fault.kind = NodeFaultKind::Compaction;
        fault.planned = Some(NodeFault { action: FaultAction::Compaction, node: 2, at_s: 20.0, for_s: None });
        fault.hint_files = None;
        fault.compacted_bytes = range(98.0 * 1_048_576.0, 98.0 * 1_048_576.0, 98.0 * 1_048_576.0);
        cell.faults = Some(faults);
    }
    let text = markdown(&analysis);
    let expected = "Planned was compaction on node 2 at 20 s: database-2 compacted from 20.1 s (20.0 to 20.3), was \
                    done at 52.1 s (50.2 to 65.3), 32.0 s (30.1 to 45.0) later and wrote 98.0 MiB.";
    assert!(text.contains("## While it compacted") && text.contains(expected), "{text}");
    assert!(text.contains("6 s (4 to 8) after the compaction was done"), "{text}");
    assert!(!text.contains("was away") && !text.contains("the node was"), "{text}");
    assert!(html(&analysis, &charts).contains("While it compacted"));
}

/// Two configurations that compacted: one in 32 s, the other in 8 and at the price of throughput; with nobody beside it
/// one has the phases alone.
#[test]
fn what_a_setting_did_to_a_compaction_is_seen_in_one_table() {
    const MIB: f64 = 1_048_576.0;
    let (mut analysis, charts) = run();
    for (cell, (took_s, during)) in analysis.cells.iter_mut().zip([(32.0, 900.0), (8.0, 400.0)]) {
        let mut faults = killed();
        faults.phases[1] = phase(PhaseKind::During, Some(1), took_s, during, 41.0, &[]);
        let fault = &mut faults.faults[0];
        (fault.kind, fault.hint_files) = (NodeFaultKind::Compaction, None);
        fault.away_s = range(took_s, took_s, took_s);
        fault.compacted_bytes = range(96.0 * MIB, 96.0 * MIB, 96.0 * MIB);
        cell.faults = Some(faults);
    }
    let row = |text: &str, name: &str| {
        let table = text.split_once("side by side").unwrap().1;
        let line = table.lines().find(|l| l.starts_with(&format!("| {name} |"))).unwrap();
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).skip(1).collect::<Vec<String>>()
    };
    let text = markdown(&analysis);
    let slow = row(&text, "rf3-quorum");
    assert_eq!(slow[..3], ["32.0", "96.0", "3.00"], "{text}");
    assert_eq!((slow[3].as_str(), slow[5].as_str()), ("1,000 (970-1,030)", "0.900"));
    let fast = row(&text, "rf1-one");
    assert_eq!(fast[..3], ["8.00", "96.0", "12.0"], "{text}");
    assert_eq!(fast[5..7], ["0.400", "948 (920-976)"]);
    assert_eq!(fast[7..], ["8.40 (7.56-9.24)", "41.0 (36.9-45.1)", "9.10 (8.19-10.0)"]);
    assert!(html(&analysis, &charts).contains("<caption><span>The compaction, configurations side by side"));
    for width in [80, 100, 140] {
        let text = at(&analysis, width);
        assert!(text.contains("during /"), "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= width), "{text}");
    }

    let fault = &mut analysis.cells[1].faults.as_mut().unwrap().faults[0];
    (fault.away_s, fault.back_s, fault.not_back) = (None, None, 3);
    assert_eq!(row(&markdown(&analysis), "rf1-one")[..3], ["not done", "96.0", "-"]);
    analysis.cells[1].faults = Some(killed());
    assert!(!markdown(&analysis).contains("side by side"));
}
