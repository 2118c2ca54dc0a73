//! What a reader must know before believing the answer.

use analysis::{
    AnswerOutcome, Candidate, Check, Criterion, DecidedBy, DiskTooSmall, Doubt, Finding, GainAboveResource,
    GainBecause, GainExplained, LimitKind, Meets, MissesInModel, NotConsidered, NotJudged, PageCacheKeeps, Range, Rule,
    Runtime, Scope,
};
use report::{TerminalOptions, answer, html, markdown, terminal};

use super::{run, said, story, with};

#[test]
fn what_was_not_considered_stands_beside_the_answer() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    analysis.recommendation.not_considered =
        vec![NotConsidered { configuration: "nvme".into(), why: NotJudged::NoPriceThoughFaster }];
    let answer = said(&analysis);
    let expected = "Not considered: nvme (no price, although it is faster than every configuration that has one).";
    assert!(answer.doubts.iter().any(|s| s == expected), "{answer:#?}");
}

#[test]
fn a_single_node_is_distinguished_from_what_production_runs() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    analysis.recommendation.doubts = vec![Doubt::OneCopy];
    let words = |analysis: &analysis::Analysis| said(analysis).doubts[0].clone();
    let expected = "Each configuration is a single node without replicas (consistency one). With 3 replicas and \
                    LOCAL_QUORUM, as production usually has, 3 nodes do each write and 2 each read";
    assert!(words(&analysis).starts_with(expected), "{}", words(&analysis));
    for configuration in &mut analysis.configurations {
        configuration.consistency = Some(analysis::ConsistencyLevels::all(analysis::Consistency::LocalOne));
    }
    assert!(words(&analysis).contains("(consistency local_one)"));
}

#[test]
fn a_run_beside_others_says_so_and_beside_whom() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    let others = vec!["process 7, run gp3-20261125T120000Z".to_owned()];
    analysis.recommendation.doubts = vec![Doubt::Beside { others }];
    let answer = said(&analysis);
    assert_eq!(
        answer.doubts[0],
        "The run was allowed to go on beside others that measure on the same machine (--beside). When it began, \
         process 7, run gp3-20261125T120000Z did. Each finds a slower machine, so that figures are lower bounds, and \
         differences between trials may be those of the others."
    );
    analysis.recommendation.doubts = vec![Doubt::Beside { others: Vec::new() }];
    assert!(!said(&analysis).doubts[0].contains("When it began"));
}

#[test]
fn options_that_a_java_adds_are_named() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    analysis.recommendation.doubts = vec![Doubt::RuntimeOptions { options: vec!["TieredStopAtLevel=1".to_owned()] }];
    assert_eq!(
        said(&analysis).doubts[0],
        "What ran the database adds options of its own (TieredStopAtLevel=1): production without them may do \
         otherwise, above all where the CPU is the limit. A Java by its own program (JAVA_HOME) adds none."
    );
}

/// A run that was resumed with the same Java in another script.
#[test]
fn what_ran_a_version_before_and_after_a_resume_is_named() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    let java = |options: Vec<String>| Runtime { name: "openjdk 17".to_owned(), options };
    let runtimes = vec![java(Vec::new()), java(vec!["TieredStopAtLevel=1".to_owned()])];
    analysis.recommendation.doubts = vec![Doubt::RuntimesDiffer { version: "5.0.5".to_owned(), runtimes }];
    assert_eq!(
        said(&analysis).doubts[0],
        "Not all trials of 5.0.5 ran on the same: openjdk 17 and openjdk 17 with options of its own \
         (TieredStopAtLevel=1). Hosts differ in it, or the run was resumed with another; differences between trials \
         may be those of what ran them."
    );
}

#[test]
fn a_node_that_would_not_hold_the_data_says_so() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    let of = |name: &str, is_compacted: bool| DiskTooSmall {
        configuration: name.to_owned(),
        volume: "gp3".to_owned(),
        data_bytes: 920e9,
        room_bytes: 537e9,
        is_compacted,
    };
    analysis.recommendation.doubts = vec![Doubt::DiskTooSmall { configurations: vec![of("io2", true)] }];
    assert_eq!(
        said(&analysis).doubts[0],
        "At full scale 920 GB of data do not fit the 537 GB of disks of a node of io2, half of which compaction \
         needs: its price is that of a node that would not hold them."
    );
    let configurations = vec![of("gp2", false), of("io2", false)];
    analysis.recommendation.doubts = vec![Doubt::DiskTooSmall { configurations }];
    let both = &said(&analysis).doubts[0];
    assert!(both.contains("a node of gp2 and 920 GB") && !both.contains("compaction"), "{both}");
}

#[test]
fn local_disks_whose_bytes_were_not_limited_are_named_with_what_they_did() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    let configurations = vec![("io2".to_owned(), Some(3.2e9)), ("gp2".to_owned(), None)];
    analysis.recommendation.doubts = vec![Doubt::LocalBytesUnknown { configurations }];
    let doubt = &said(&analysis).doubts[0];
    assert!(doubt.contains("io2 (a node did up to 3,200 MB/s at full scale) and gp2 are not known"), "{doubt}");
}

#[test]
fn what_one_probe_excludes_is_said_to_be_measured_once() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    analysis.recommendation.doubts = vec![Doubt::ClosedLoopOnce { configurations: vec!["gp2".into(), "gp3".into()] }];
    let doubt = &said(&analysis).doubts[0];
    assert!(doubt.starts_with("gp2 and gp3 cannot carry more at full scale than the closed loop"), "{doubt}");
    assert!(doubt.ends_with("by one short probe of each: the error of that figure is not known."), "{doubt}");
}

/// What stands in the headline as a capacity at full scale is not said to be of no use there.
#[test]
fn a_model_says_what_of_it_carries_over() {
    let mut analysis = with(DecidedBy::Objective, run("io2"));
    analysis.recommendation.doubts = vec![Doubt::Scale { scale: 16.0 }];
    let before = said(&analysis).doubts[0].clone();
    assert!(before.contains("1:16 model: ratios between volumes carry over, absolute figures do not"), "{before}");
    let check = Check {
        what: Criterion::Throughput { demand: 3000.0 },
        measured: Some(Range { median: 6340.0, low: 6100.0, high: 6500.0 }),
        level: None,
        meets: Meets::Yes,
        repetitions: None,
    };
    analysis.recommendation.places[0].candidates = vec![Candidate {
        configuration: "io2".to_owned(),
        usd_per_month: Some(500.0),
        meets: Meets::Yes,
        checks: vec![check],
        fleet: None,
    }];
    let answer = said(&analysis);
    assert!(answer.headline().contains("6,340/s"), "{}", answer.headline());
    assert!(
        answer.doubts[0].contains("throughput times N does where volumes limit it, latencies do not"),
        "{answer:#?}"
    );
}

#[test]
fn simulated_results_carry_a_banner_before_everything() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    analysis.provider = analysis::Provider::Simulated;
    analysis.recommendation.doubts.push(Doubt::Simulated);
    said(&analysis);
    let options = TerminalOptions { width: 80, color: false };
    let page = html(&analysis, &analysis::Charts::default());
    for (what, text) in [
        ("terminal", terminal(&analysis, options)),
        ("markdown", markdown(&analysis)),
        ("html", page.split_once("<header>").unwrap().1.to_owned()),
    ] {
        let (banner, headline) = (text.find("SIMULATED").unwrap(), text.find("Run io2").unwrap());
        assert!(banner < headline, "{what}");
    }
}

/// Not "Warnings: gain above resource x1": what was gained, of what, and what it means.
#[test]
fn a_gain_beyond_what_was_bought_is_a_doubt_with_its_numbers() {
    let mut analysis = with(DecidedBy::Value, run("io2"));
    let gain = |over: &str| GainAboveResource {
        over: over.to_owned(),
        resource: LimitKind::VolumeIops,
        gain: 4.3,
        gain_low: 4.25,
        gain_high: 4.35,
        resource_ratio: 4.0,
        threshold: 4.2,
        device_reads_per_operation: Some(0.5),
        device_reads_per_operation_over: Some(0.54),
        device_writes_per_operation: None,
        device_writes_per_operation_over: None,
        because: GainBecause::PageCache,
        explained_by: Some(GainExplained::Memory),
    };
    let cell = |name: &str| analysis.cells.iter().find(|c| c.configuration == name).unwrap().id.clone();
    let (of_run, of_other) = (cell("io2"), cell("gp3"));
    analysis.findings.push(Finding::new(Scope::Cell(of_other), gain("gp2")));
    analysis.findings.push(Finding::new(Scope::Cell(of_run), gain("gp2")));
    analysis.recommendation.doubts =
        vec![Doubt::Findings { rules: vec![(Rule::GainAboveResource, 2), (Rule::GcPauses, 1)] }];
    let answer = said(&analysis);
    let doubt = answer.doubts.iter().find(|doubt| doubt.contains("Warnings")).unwrap();
    assert!(
        doubt.starts_with(
            "io2 did 4.30 times (4.25 to 4.35) what gp2 did, although volume IOPS limited both and it has 4.00 times \
             as much: an operation took 0.500 instead of 0.540 device reads. It has more memory for files"
        ),
        "{doubt}"
    );
    assert!(doubt.ends_with("Warnings: gain above resource x1 and gc pauses x1."), "the other pair: {doubt}");
}

#[test]
fn a_cell_that_the_user_skipped_is_a_doubt_with_how_far_it_had_come() {
    let mut analysis = story();
    let skipped = |cell: &str, done| analysis::SkippedCell { cell: cell.to_owned(), done, planned: 4 };
    let cells = vec![skipped("gp2.read-heavy.c64", 1), skipped("io2.read-heavy.c64", 0)];
    analysis.recommendation.doubts = vec![Doubt::Skipped { cells }];
    let said = "Skipped by the user while the run was under way: gp2.read-heavy.c64 after 1 of 4 trials and \
                io2.read-heavy.c64 before the first of 4 trials.";
    assert!(answer(&analysis).doubts.iter().any(|doubt| doubt == said), "{:?}", answer(&analysis).doubts);
}

/// Configurations with the same figures are in one clause, and what to do stands at the end.
#[test]
fn what_the_model_misses_is_reported_with_what_keeps_the_misses() {
    let mut analysis = with(DecidedBy::Value, run("gp2"));
    let of = |name: &str, in_model: f64, at_full_scale: f64, factor: f64| MissesInModel {
        configuration: name.to_owned(),
        workload: "read-heavy".to_owned(),
        in_model,
        at_full_scale,
        factor,
    };
    let all = vec![of("gp2", 0.322, 0.251, 1.283), of("gp3", 0.322, 0.251, 1.283), of("io2", 0.2, 0.16, 1.25)];
    let expected = |what_to_do: &str| {
        format!(
            "Page caches here do not miss as often as at full scale: under read-heavy 0.322 reads of \
             gp2 and gp3 are expected to miss for each operation, 0.251 at full scale, so that volumes are read 1.28 \
             times as often; under read-heavy 0.200 reads of io2 are expected to miss for each operation, 0.160 at \
             full scale, so that volumes are read 1.25 times as often. No verdict is given that this would change; \
             {what_to_do}"
        )
    };
    for (can_be_kept, what_to_do) in [
        (true, "page_cache = \"same-misses\" in [provider.local] keeps the misses."),
        (false, "more of the records, by a smaller scale or more of them in [dataset], would keep more of the misses."),
    ] {
        analysis.recommendation.doubts = vec![Doubt::ModelMisses { all: all.clone(), can_be_kept, own_buffers: None }];
        assert_eq!(said(&analysis).doubts[0], expected(what_to_do));
    }
    // PostgreSQL keeps pages in memory of its own, which the reckoning does not know.
    let (all, own_buffers) = (all[2..].to_vec(), Some("shared_buffers".to_owned()));
    analysis.recommendation.doubts = vec![Doubt::ModelMisses { all, can_be_kept: true, own_buffers }];
    let found = said(&analysis).doubts.remove(0);
    let expected = "so that volumes are read 1.25 times as often (reckoned without shared_buffers and without what \
                    updates read). No verdict is given that this would change;";
    assert!(found.contains(expected), "{found}");
    // So few reads are no figure, and neither is their ratio.
    let none = |in_model: f64| {
        let all = vec![of("gp2", in_model, 0.348, in_model.max(0.01) / 0.348)];
        analysis.recommendation.doubts = vec![Doubt::ModelMisses { all, can_be_kept: true, own_buffers: None }];
        said(&analysis).doubts[0].clone()
    };
    let [few, some] = [0.0, 0.01].map(none);
    let expected = "under read-heavy hardly any reads of gp2 are expected to miss for each operation, 0.348 at full \
                    scale, so that volumes are hardly read.";
    assert!(few.contains(expected), "{few}");
    assert!(some.contains("0.0100 reads of gp2") && some.contains("read 0.0287 times as often"), "{some}");
}

/// Nothing is doubted of a page cache that the user has calibrated; the answer says whose word that is.
#[test]
fn what_page_caches_rest_on_is_a_part_of_the_basis() {
    let mut analysis = with(DecidedBy::Value, run("gp2"));
    for (keeps, expected) in [
        (PageCacheKeeps::SameShare, None),
        (
            PageCacheKeeps::SameMisses,
            Some(
                "Page caches: of the sizes that are expected to miss as often as at full scale (page_cache = \
                 \"same-misses\").",
            ),
        ),
        (
            PageCacheKeeps::Calibrated,
            Some(
                "Page caches: taken to miss as often as at full scale, as the experiment states (page_cache = \
                 \"calibrated\"); that was not checked.",
            ),
        ),
    ] {
        analysis.page_cache = keeps;
        let basis = said(&analysis).basis;
        assert_eq!(basis.iter().map(String::as_str).find(|line| line.starts_with("Page caches: ")), expected);
    }
}

/// The headline says which scale avoids it, where nothing is decided; a decided one has its reason already.
#[test]
fn raised_cpus_are_reported_with_the_scale_that_raises_none() {
    for (outcome, is_open) in [(run("gp2"), false), (AnswerOutcome::Nothing, true)] {
        let mut analysis = with(DecidedBy::Value, outcome);
        let configurations = vec!["gp2".to_owned(), "gp3".to_owned()];
        analysis.recommendation.doubts = vec![Doubt::CpusRaised { configurations, most_scale: 8.0 }];
        let answer = said(&analysis);
        assert_eq!(
            answer.doubts[0],
            "At 1:16 the part of gp2 and gp3 is less CPU than a database can be given, and was raised: no verdict \
             rests on ratios to what CPUs limited. At scale = 8 or less in [provider.local] each has its part."
        );
        let clause = "; scale = 8 or less in [provider.local] gives each configuration its part of the CPUs.";
        assert_eq!(answer.headline().ends_with(clause), is_open, "{}", answer.headline());
    }
}
