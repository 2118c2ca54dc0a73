//! Nodes taken away by plan, as people read it: in the terminal, in Markdown, on the page and in `faults.csv`.

pub mod lost;

use crate::page;
use crate::page::faults::{killed, phase, range};
use analysis::rules::faults_planned::FaultsPlanned;
use analysis::rules::too_short_to_judge::TooShortToJudge;
use analysis::{
    Analysis, CellAnalysis, Charts, Consistency, ErrorKind, FaultAction, FaultAnalysis, FaultsAnalysis, Finding,
    HostId, LoadLevel, NodeFault, NodeFaultKind, PhaseKind, RecoveryAnalysis, Scope, VolumeRole, WritesAnalysis,
};
use report::{TerminalOptions, faults_csv, html, markdown, message, terminal};

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

/// The same, with its faults changed in each cell.
fn changed(change: impl Fn(&mut FaultsAnalysis)) -> (Analysis, Charts) {
    let (mut analysis, charts) = run();
    analysis.cells.iter_mut().for_each(|cell| change(cell.faults.as_mut().unwrap()));
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
    let (analysis, _) = lost::run_with_loss();
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

/// The sentence on faults that were planned.
fn planned(faults: u64, disk_faults: u64, cache_kills: u64) -> String {
    let figures = FaultsPlanned {
        faults,
        disk_faults,
        compactions: 0,
        cache_kills,
        first_at_s: 20.0,
        away_s: 20.0,
        measured_s: 60.0,
    };
    message(&Finding::new(Scope::Run("r".into()), figures))
}

#[test]
fn findings_say_which_figures_hold_the_fault() {
    let away = planned(1, 0, 0);
    assert!(
        away.starts_with(
            "A node was taken away by plan, for 20 of 60 measured seconds, first at 20 s. Throughput, latency and \
             errors of the cells are those of the whole measurement"
        ),
        "{away}"
    );
    for (faults, disks, said) in [
        (1, 1, "A disk failed by plan, for 20 of 60"),
        (2, 2, "Disks failed by plan 2 times, for"),
        (3, 2, "Nodes were taken away by plan and disks failed 3 times in all, for"),
    ] {
        assert!(planned(faults, disks, 0).starts_with(said), "{}", planned(faults, disks, 0));
    }
    let short =
        TooShortToJudge { measured_s: 19.0, needed_s: 40.0, judged: None, until_fault: true, code_is_warm: false };
    let short = Finding::new(Scope::Trial("c/1".into()), short);
    assert!(message(&short).starts_with("19 s before the first planned fault are too short"), "{}", message(&short));
}

#[test]
fn a_disk_that_failed_is_reported_as_one() {
    let (mut analysis, charts) = changed(|faults| {
        let fault = &mut faults.faults[0];
        (fault.kind, fault.volume) = (NodeFaultKind::DiskStall, Some(VolumeRole::Data));
        let action = FaultAction::DiskStall { volume: VolumeRole::Data };
        fault.planned = Some(NodeFault { action, node: 2, at_s: 20.0, for_s: Some(20.0) });
    });
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
    let (mut analysis, charts) = changed(|faults| {
        let answered = [(0.8, 100.0), (0.3, 450.0), (0.6, 220.0)];
        for (phase, (hits, reads)) in faults.phases.iter_mut().zip(answered) {
            phase.hit_ratio = range(hits, hits, hits);
            phase.device_reads_per_s = range(reads, reads, reads);
        }
        let fault = &mut faults.faults[0];
        (fault.kind, fault.node) = (NodeFaultKind::CacheKill, HostId::DATABASE);
        let action = FaultAction::CacheKill { cache_node: 2 };
        fault.planned = Some(NodeFault { action, node: 1, at_s: 20.0, for_s: Some(20.0) });
    });
    for text in [html(&analysis, &charts), markdown(&analysis), at(&analysis, 200)] {
        assert!(text.contains("When a cache was lost") && !text.contains("When a node was away"), "{text}");
    }
    let text = markdown(&analysis);
    assert!(text.contains("| Hits, % of reads | Device reads/s |"), "{text}");
    let expected = "* Planned was cache-kill of cache node 2 at 20 s for 20 s: cache node 2 was gone at 20.1 s";
    assert!(text.contains(expected), "{text}");
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
    let said = planned(1, 0, 1);
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

#[test]
fn a_compaction_is_reported_as_what_the_node_did_and_not_as_its_absence() {
    let (analysis, charts) = changed(|faults| {
        let fault = &mut faults.faults[0];
        fault.kind = NodeFaultKind::Compaction;
        fault.planned = Some(NodeFault { action: FaultAction::Compaction, node: 2, at_s: 20.0, for_s: None });
        fault.hint_files = None;
        fault.compacted_bytes = range(98.0 * 1_048_576.0, 98.0 * 1_048_576.0, 98.0 * 1_048_576.0);
    });
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
