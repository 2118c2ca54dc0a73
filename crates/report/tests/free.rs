//! What costs no money, as people read it: what has to be done for it, and what it costs besides.

use crate::page;
use analysis::{
    Analysis, BandwidthWeighting, Candidate, FreeStep, Meets, Need, NotTried, Replaced, Section, Setting, Settings,
    Spending, SpendingChange, Status, Untried, Verdict,
};
use report::{answer, markdown};

fn spent(what: Spending, before: f64, after: f64) -> SpendingChange {
    SpendingChange { what, before, after }
}

fn step() -> FreeStep {
    FreeStep {
        workload: "read-heavy".into(),
        load: page::LOADS[0],
        usd_per_month: 500.0,
        from: "gp3".into(),
        to: "gp3-4k".into(),
        tried: vec!["gp3-4k".into()],
        throughput_ratio: page::ratio("gp3", 1.6),
        per_operation: vec![
            spent(Spending::DeviceReads, 1.9, 1.1),
            spent(Spending::DeviceReadBytes, 27.0 * 1024.0, 12.0 * 1024.0),
            spent(Spending::DeviceWriteBytes, 100.0, 100.0),
            spent(Spending::DatabaseCpuUs, 290.0, 310.0),
        ],
        elsewhere: vec![
            spent(Spending::DiskBytes, 230.0 * 1_048_576.0, 276.0 * 1_048_576.0),
            spent(Spending::ChunkOffsetBytes, 240_000.0, 960_000.0),
        ],
        needs: vec![Need::AlterTable, Need::Rewrite],
        replaces: Vec::new(),
    }
}

/// The sentence of these steps, which are of one pair of configurations.
fn reported(steps: Vec<FreeStep>) -> String {
    let (mut analysis, _) = page::run(&["gp3", "gp3-4k", "gp3-6000"], &["read-heavy", "mixed"], 3);
    analysis.free_steps = steps;
    told_of(&analysis)
}

fn told_of(analysis: &Analysis) -> String {
    let sentences = answer(analysis).sentences;
    sentences.into_iter().find(|s| s.contains("or no money")).unwrap()
}

#[test]
fn what_a_step_costs_besides_money_stands_behind_it() {
    assert_eq!(
        reported(vec![step()]),
        "First, for no money: gp3-4k instead of gp3, 1.60 times (1.52 to 1.68) its throughput under read-heavy at 100 \
         in flight. \
         It needs ALTER TABLE and the SSTables that exist rewritten (nodetool upgradesstables -a); no node is \
         restarted. The data set takes 1.20 times the disk space (276 MiB instead of 230 MiB). \
         Where its chunks begin takes 938 KiB of memory outside the heap instead of 234 KiB. \
         An operation takes 1.10 device reads instead of 1.90, 12.0 KiB read from volumes instead of 27.0 KiB and 310 \
         us of the database's CPU instead of 290 us."
    );
}

/// Two instructions on one screen: the answer has chosen between the two by what was asked.
#[test]
fn no_free_step_leaves_what_is_run_or_leads_to_what_misses_the_objective() {
    let is_advised = |run: &str, meets: Option<Meets>| {
        let (mut analysis, _) = page::run(&["gp3", "gp3-4k", "gp3-6000"], &["read-heavy"], 3);
        analysis.free_steps = vec![step()];
        analysis.recommendation.run = Some(run.to_owned());
        let candidate = |meets| Candidate {
            configuration: "gp3-4k".into(),
            usd_per_month: Some(500.0),
            meets,
            checks: Vec::new(),
            fleet: None,
        };
        analysis.recommendation.places[0].candidates = meets.map(candidate).into_iter().collect();
        answer(&analysis).sentences.iter().any(|s| s.contains("or no money"))
    };
    assert!(is_advised("gp3-4k", Some(Meets::Yes)) && is_advised("gp3-6000", None));
    assert!(!is_advised("gp3", Some(Meets::NotDecided)) && !is_advised("gp3-6000", Some(Meets::No)));
}

#[test]
fn what_two_repetitions_show_is_not_tested() {
    let mut untested = step();
    untested.throughput_ratio.verdict = Verdict::TooFew;
    assert_eq!(
        reported(vec![untested]),
        "For no money, not tested: gp3-4k has 1.60 times (1.52 to 1.68 observed) the throughput of gp3 under \
         read-heavy at 100 in flight."
    );
}

#[test]
fn what_has_to_be_done_is_reported_with_what_is_spared() {
    let needs = |needs: &[Need]| {
        let needs = needs.to_vec();
        let text = reported(vec![FreeStep { needs, ..step() }]);
        text.find("It needs ").map(|at| text[at..].split_once('.').unwrap().0.to_owned())
    };
    assert_eq!(needs(&[]), None);
    for (of, said) in [
        (vec![Need::Restart], "It needs a restart of each node; no SSTable is rewritten"),
        (
            vec![Need::Host],
            "It needs the read-ahead of each host's volumes set; no node is restarted and no SSTable rewritten",
        ),
        (
            vec![Need::AlterTable, Need::Recompaction],
            "It needs ALTER TABLE and the SSTables that exist compacted anew, which Cassandra does by itself; no node \
             is restarted",
        ),
        (
            vec![Need::AlterTable, Need::Restart, Need::Rewrite, Need::Recompaction],
            "It needs ALTER TABLE, a restart of each node and the SSTables that exist rewritten (nodetool \
             upgradesstables -a)",
        ),
    ] {
        assert_eq!(needs(&of).as_deref(), Some(said));
    }
}

/// What is fast because a crash may cost data is not for nothing.
#[test]
fn what_a_setting_of_postgresql_risks_is_reported_with_it() {
    let (mut analysis, _) = page::run(&["gp3", "gp3-4k"], &["read-heavy"], 3);
    analysis.free_steps = vec![FreeStep { needs: vec![Need::Settings], ..step() }];
    let risk = "It needs other settings of the server (pg_settings.context says which take a restart). A crash may \
                lose writes that were acknowledged just before (synchronous_commit = off). The data set takes";
    assert!(!told_of(&analysis).contains("A crash"), "nothing is off");
    let off = || {
        let keys = [("synchronous_commit".to_owned(), Setting::Value("off".to_owned()))].into();
        Settings::default().with("postgresql", Section::Keys(keys))
    };
    analysis.configurations[1].settings = off();
    assert!(told_of(&analysis).contains(risk), "{}", told_of(&analysis));
    let lead = "First, for no money but safety at a crash: gp3-4k instead of gp3";
    assert!(told_of(&analysis).starts_with(lead), "{}", told_of(&analysis));
    analysis.configurations[0].settings = off();
    assert!(!told_of(&analysis).contains("A crash"), "both risk it");
}

/// A version costs no money: an upgrade has its own word, and the way back is none.
#[test]
fn an_upgrade_is_named_with_both_versions() {
    let (mut analysis, _) = page::run(&["gp3", "gp3-4k"], &["read-heavy"], 3);
    for (facts, version) in analysis.configurations.iter_mut().zip(["4.1.10", "5.0.9"]) {
        facts.version = Some(version.to_owned());
    }
    let mut reported = |needs: &[Need]| {
        analysis.free_steps = vec![FreeStep { needs: needs.to_vec(), ..step() }];
        told_of(&analysis)
    };
    let text = reported(&[Need::Upgrade, Need::Rewrite]);
    let upgrade = "It needs an upgrade of each node from 4.1.10 to 5.0.9 and the SSTables that exist rewritten";
    assert!(text.contains(upgrade), "{text}");
    assert!(!text.contains("no node is restarted"), "{text}");
    let text = reported(&[Need::Upgrade, Need::StorageMode, Need::Rewrite]);
    assert!(text.contains("5.0.9, storage_compatibility_mode NONE on each node once all are upgraded"), "{text}");
    let text = reported(&[Need::SetBack]);
    assert!(text.contains("It needs each node set back from 4.1.10 to 5.0.9; no SSTable is rewritten."), "{text}");
    let text = reported(&[Need::EarlierVersion]);
    assert!(text.contains("It needs new nodes of the earlier version 5.0.9"), "{text}");
}

/// Where no Java runs both versions, it is not the version alone that differs.
#[test]
fn a_java_that_differs_with_the_version_is_reported() {
    let (mut analysis, _) = page::run(&["gp3", "gp3-4k"], &["read-heavy"], 3);
    for (facts, version) in analysis.configurations.iter_mut().zip(["4.1.10", "6.0-alpha2"]) {
        facts.version = Some(version.to_owned());
    }
    let mut page_with = |of_6_0: &str| {
        let java = |name: &str| serde_json::json!([{ "name": name, "options": [] }]);
        let runtimes = serde_json::json!({ "4.1.10": java("Java 11"), "6.0-alpha2": java(of_6_0) });
        analysis.environment = serde_json::json!({ "runtimes": runtimes });
        markdown(&analysis)
    };
    let said = "What runs them differs besides, and is part of what is compared: 4.1.10 on Java 11 and 6.0-alpha2 on";
    let page = page_with("Java 21");
    assert!(page.contains(said), "{page}");
    assert!(!page_with("Java 11").contains("What runs them"));
}

/// Money is not all that bandwidth weighting costs, and no sentence says so.
#[test]
fn what_takes_network_is_not_free() {
    let weighted = FreeStep { needs: vec![Need::NetworkBandwidth], ..step() };
    let text = reported(vec![weighted.clone()]);
    assert!(text.starts_with("First, for no money but network bandwidth: gp3-4k instead of gp3, "), "{text}");
    assert!(
        text.contains(
            "It needs bandwidth weighting ebs-1, by which the network of each instance loses a quarter of what its \
             path to EBS sustains (no emulation has that loss). "
        ),
        "{text}"
    );
    let mut untested = weighted;
    untested.throughput_ratio.verdict = Verdict::TooFew;
    let text = reported(vec![untested]);
    assert!(text.starts_with("For no money but network bandwidth, not tested: gp3-4k has "), "{text}");
    let (mut analysis, _) = page::run(&["gp3", "gp3-weighted"], &["read-heavy"], 3);
    analysis.configurations[1].bandwidth_weighting = Some(BandwidthWeighting::Ebs1);
    let page = markdown(&analysis);
    let said = "Bandwidth weighting of gp3-weighted: ebs-1, a quarter more MB/s for its volumes, and as much less for";
    assert!(page.contains(said), "{page}");
}

#[test]
fn what_does_not_change_is_not_reported() {
    let text = reported(vec![FreeStep {
        elsewhere: vec![
            spent(Spending::DiskBytes, 230e6, 230.1e6),
            spent(Spending::ChunkOffsetBytes, 240_000.0, 240_000.0),
            spent(Spending::WriteAmplification, 1.1, 2.4),
        ],
        per_operation: vec![spent(Spending::DeviceReads, 1.9, 1.901)],
        ..step()
    }]);
    assert!(
        !["disk space", "outside the heap", "An operation takes"].iter().any(|reported| text.contains(reported)),
        "{text}"
    );
    assert!(
        text.ends_with("For each byte that clients write there are 2.40 bytes written to SSTables instead of 1.10."),
        "{text}"
    );
}

fn replaced(name: &str, usd: f64, factor: f64, verdict: Verdict) -> Replaced {
    let mut throughput_ratio = page::ratio(name, factor);
    throughput_ratio.verdict = verdict;
    Replaced { configuration: name.into(), extra_usd_per_month: usd, throughput_ratio }
}

/// Faster is one thing, the same within the margin another; which it is may differ from place to place.
#[test]
fn what_is_replaced_is_reported_by_what_is_shown() {
    let with = |workload: &str, replaces: Vec<Replaced>| FreeStep { workload: workload.into(), replaces, ..step() };
    let both = with(
        "read-heavy",
        vec![replaced("gp3-6000", 15.0, 1.01, Verdict::Same), replaced("gp2", 20.0, 1.5, Verdict::Faster)],
    );
    let text = reported(vec![both.clone()]);
    assert!(
        text.contains(
            "; it is shown to be faster than gp2 ($20.00 a month more) and the same as gp3-6000 ($15.00 a month more) \
             within 5 %."
        ),
        "{text}"
    );
    let elsewhere = with("mixed", vec![replaced("gp3-6000", 15.0, 1.2, Verdict::Faster)]);
    let text = reported(vec![both, elsewhere]);
    assert!(
        text.contains(
            "; it is shown to be faster than, or the same as, gp3-6000 ($15.00 a month more) within 5 %, by place."
        ),
        "gp2 is not replaced everywhere: {text}"
    );
}

fn not_tried(workload: &str, setting: Untried) -> NotTried {
    NotTried { configuration: "gp3".into(), workload: workload.into(), load: page::LOADS[0], setting }
}

fn chunk_length(read_bytes_per_read: f64) -> Untried {
    Untried::ChunkLength { read_bytes_per_read, record_bytes: 1000.0, chunk_bytes: 16_384.0 }
}

/// A hypothesis is named as one, with what was seen and who expects it, after all that was measured.
#[test]
fn what_was_not_tried_stands_last_and_says_so() {
    let (mut analysis, _) = page::run(&["gp3", "gp3-6000"], &["read-heavy", "mixed"], 3);
    let before = answer(&analysis).sentences;
    assert!(!before.iter().any(|s| s.contains("Not tried")), "{before:?}");
    analysis.not_tried = vec![
        not_tried("read-heavy", chunk_length(27.0 * 1024.0)),
        not_tried("mixed", chunk_length(20.0 * 1024.0)),
        not_tried("mixed", Untried::CompactionStrategy { sstables_per_read: 3.2 }),
        not_tried("mixed", Untried::ReadAhead { read_bytes_per_request: 65_536.0, chunk_bytes: 16_384.0 }),
    ];
    let after = answer(&analysis).sentences;
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(
        after[before.len()..],
        [
            "Not tried here: smaller compression chunks (table compression chunk_length_in_kb = 4); a read with gp3 \
             under read-heavy at 100 in flight takes 27.0 KiB from the volumes for a record of 1,000 B, in chunks of \
             16.0 KiB; less is expected by Cassandra's documentation on compression: a chunk is read whole.",
            "Not tried here: leveled or unified compaction (table compaction class = LeveledCompactionStrategy or \
             UnifiedCompactionStrategy); a read with gp3 under mixed at 100 in flight merges 3.20 SSTables; fewer are \
             expected by Cassandra's documentation on compaction.",
        ]
    );
    // Two lines, whatever else there is; the document has all.
    assert_eq!(report::document(&analysis)["not_tried"][3]["setting"], "read_ahead");
    analysis.not_tried.drain(..3);
    assert_eq!(
        answer(&analysis).sentences.last().unwrap(),
        "Not tried here: less read-ahead (host read_ahead_kb = 8); a read request with gp3 under mixed at 100 in \
         flight takes 64.0 KiB from its volume, where a chunk has 16.0 KiB; less is expected by the check that \
         Cassandra does when it starts, which recommends 8 KB on SSDs."
    );
    analysis.recommendation.status = Status::NoAnswerYet;
    assert!(answer(&analysis).sentences.is_empty());
}
