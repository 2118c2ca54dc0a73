//! Sentences about money that were wrong once. Each story is a kind, with values around what decides; it failed before
//! its rule was mended.

use analysis::{
    AnswerOutcome, DecidedBy, Doubt, LatencyFigure, Meets, NotJudged, Reason, Status, ValueVerdict, Verdict, Withheld,
};

use crate::story::{cell, configuration, gp2, iops, noisy, priced, sound, step};

/// 100 GiB of gp2 lasts 33 minutes at 3,000 IOPS and then has 300. What lasts decides.
#[test]
fn a_burst_does_not_flatter_a_volume() {
    let io1 = "[[configuration]]\nname = \"io1\"\ninstance = \"r4.4xlarge\"\nmemory_limit_gib = 4\n\
               data_volume = { type = \"io1\", size_gib = 100, iops = 3000, era = \"2018\" }\n\
               price_usd_per_month = 1100.0\n";
    let story = |burst: &str| {
        let mut story = noisy(&[gp2("gp2", 100, burst) + "price_usd_per_month = 1000.0\n", io1.to_owned()], 0.03, 3);
        story.local = String::new();
        story
    };
    // By default the bucket starts empty.
    let sustained = story("").analysis();
    let ratio = &step(&sustained, "io1").throughput_ratio;
    assert!(ratio.median > 6.0, "{ratio:?}");
    assert_eq!(step(&sustained, "io1").verdict, ValueVerdict::WorthIt);
    assert_eq!(sustained.recommendation.run.as_deref(), Some("io1"));
    // On credits the two look alike: nothing is decided by that, and the time until they end is known.
    let burst = story(", burst = \"full\"").analysis();
    assert_eq!(burst.recommendation.run, None);
    let Some(Withheld::Burst { burst_iops, baseline_iops, lasts_s }) = cell(&burst, "gp2").withheld else {
        panic!("{:?}", cell(&burst, "gp2").withheld);
    };
    assert!((burst_iops - 3000.0).abs() < 1.0 && (baseline_iops - 300.0).abs() < 1e-9, "{burst_iops} {baseline_iops}");
    // 5.4 million I/O at 3,000 a second, 300 of which are earned: 2,000 s; the load may use a little less.
    assert!((1990.0..2300.0).contains(&lasts_s.unwrap()), "{lasts_s:?}");
    assert!(
        burst.recommendation.doubts.iter().any(|d| matches!(d, Doubt::BurstStart { .. })),
        "{:?}",
        burst.recommendation.doubts
    );
}

/// 115 GB in files, and as much room for compaction: 200 GiB have none for that. The answer that recommends them says
/// that first.
#[test]
fn a_node_that_would_not_hold_the_data_is_not_recommended_without_saying_so() {
    let story = |usd: f64| {
        let one = |name: &str, gib: u32, usd: f64| gp2(name, gib, "") + &format!("price_usd_per_month = {usd:.2}\n");
        let mut story = noisy(&[one("small", 200, 100.0), one("large", 1000, usd)], 0.03, 3);
        story.records = 100_000_000;
        story.analysis()
    };
    for (usd, run, position) in [(10_000.0, "small", 0), (110.0, "large", 1)] {
        let analysis = story(usd);
        assert_eq!(analysis.recommendation.run.as_deref(), Some(run), "{usd}");
        let mut doubts = analysis.recommendation.doubts.iter();
        let found = doubts.position(|doubt| matches!(doubt, Doubt::DiskTooSmall { .. })).unwrap();
        assert_eq!(found.min(1), position, "{:?}", analysis.recommendation.doubts);
        let Doubt::DiskTooSmall { configurations } = &analysis.recommendation.doubts[found] else { unreachable!() };
        let [only] = configurations.as_slice() else { panic!("{configurations:?}") };
        assert_eq!((only.configuration.as_str(), only.room_bytes), ("small", 200.0 * 1_073_741_824.0));
        assert!((only.data_bytes / 115e9 - 1.0).abs() < 0.01, "{only:?}");
    }
}

/// At a given rate throughput is equal by construction. Without an objective nothing follows about value; with one, the
/// cheapest that meets it is run.
#[test]
fn at_a_given_rate_the_objective_decides() {
    let mut story =
        noisy(&[priced("slow", 300, 100.0), priced("middle", 2500, 120.0), priced("fast", 20_000, 300.0)], 0.03, 3)
            .open(1000.0);
    let plain = story.analysis();
    assert!(plain.value_of_money.is_empty(), "{:?}", plain.value_of_money);
    assert_eq!(plain.recommendation.reason, Reason::NoObjective);
    assert_eq!(plain.recommendation.run, None);

    // 1,000/s need about 800 reads of the device: 300 IOPS cannot.
    let p99 =
        |name: &str| cell(&plain, name).latency_us[&experiment::OperationKind::Read].figures.p99.unwrap() / 1000.0;
    println!("p99: slow {:.1}, middle {:.1}, fast {:.1} ms", p99("slow"), p99("middle"), p99("fast"));
    assert!(p99("slow") > 2.0 * p99("middle"));
    let between = (p99("slow") * p99("middle")).sqrt();
    story.rest = format!("[objective]\np99_ms = {between:.2}");
    let decided = story.analysis();
    assert_eq!(decided.recommendation.run.as_deref(), Some("middle"), "{:?}", decided.recommendation);
    let place = &decided.recommendation.places[0];
    assert_eq!(place.by, DecidedBy::Objective);
    let meets: Vec<Meets> = place.candidates.iter().map(|c| c.meets).collect();
    assert_eq!(meets, [Meets::No, Meets::Yes, Meets::Yes]);
    let headline = report::answer(&decided).headline();
    assert!(headline.contains(", 99.16 % interval)"), "2.5 % over the bounds of three cells: {headline}");

    // At the very p99 of the middle one it is not decided whether it meets.
    story.rest = format!("[objective]\np99_ms = {:.3}", p99("middle"));
    let open = story.analysis();
    assert_eq!(open.recommendation.status, Status::NotDecided, "{:?}", open.recommendation);
    // Nothing is fast enough for a hundredth of it.
    story.rest = format!("[objective]\np99_ms = {:.3}", p99("fast") / 100.0);
    assert!(matches!(story.analysis().recommendation.places[0].outcome, AnswerOutcome::NoneMeets));
}

/// A queue of a 1:4 model takes up to four times as long: what misses a bound by less may meet it at full scale.
#[test]
fn a_model_excludes_by_latency_what_misses_its_bound_by_more_than_its_scale() {
    let mut story = noisy(&[priced("slow", 1600, 100.0), priced("fast", 20_000, 300.0)], 0.01, 3).open(1000.0);
    story.local = "scale = 4".into();
    let plain = story.analysis();
    let p99_ms = cell(&plain, "slow").latency_us[&experiment::OperationKind::Read].figures.p99.unwrap() / 1000.0;
    for (beyond, meets) in [(0.5, Meets::Yes), (2.0, Meets::NotDecided), (8.0, Meets::No)] {
        story.rest = format!("[objective]\nread = {{ p99_ms = {:.3} }}", p99_ms / beyond);
        let bounded = story.analysis();
        let place = &bounded.recommendation.places[0];
        let slow = place.candidates.iter().find(|c| c.configuration == "slow").unwrap();
        assert_eq!(slow.meets, meets, "{beyond} times its bound: {slow:?}");
        assert_eq!(bounded.recommendation.doubts[0], Doubt::LatencyInModel { scale: 4.0 });
    }
    story.local = String::new();
    let at_full_scale = story.analysis();
    assert!(!at_full_scale.recommendation.doubts.iter().any(|d| matches!(d, Doubt::LatencyInModel { .. })));
}

/// The demand: the cheapest that carries it with headroom, and more of a cheaper one beside it.
#[test]
fn a_demand_is_met_by_the_cheapest_that_carries_it() {
    let mut story = noisy(&[priced("a", 800, 100.0), priced("b", 3200, 350.0), priced("c", 6400, 500.0)], 0.02, 3);
    let throughput =
        |analysis: &analysis::Analysis, name: &str| cell(analysis, name).throughput_ops_per_s.unwrap().median;
    let plain = story.analysis();
    let (a, b, c) = (throughput(&plain, "a"), throughput(&plain, "b"), throughput(&plain, "c"));
    assert!(b > 3.0 * a && c > 1.5 * b, "{a} {b} {c}");
    let steps = |analysis: &analysis::Analysis| -> Vec<(String, String)> {
        analysis.value_of_money.iter().map(|step| (step.from.clone(), step.to.clone())).collect()
    };
    assert_eq!(steps(&plain)[0], ("a".to_owned(), "b".to_owned()));
    // 70 % of b's capacity with 30 % of headroom is at its edge; 60 % is clear, 80 % needs c.
    for (demand, run) in [(0.6 * b, "b"), (0.8 * b, "c")] {
        story.rest = format!("[objective]\nthroughput = {demand:.0}");
        let analysis = story.analysis();
        assert_eq!(analysis.recommendation.run.as_deref(), Some(run), "{:?}", analysis.recommendation.places);
        // More of a carries it, too.
        assert_eq!(steps(&analysis), steps(&plain));
    }
    story.rest = format!("[objective]\nthroughput = {:.0}", 0.68 * b);
    let near = story.analysis();
    let headline = report::answer(&near).headline();
    let needed = near.recommendation.would_decide.unwrap_or_else(|| panic!("{headline}")).repetitions;
    assert!(needed > 3, "{needed}");
    assert!(headline.contains(&format!("about {needed} repetitions of each cell would decide")), "{headline}");
    let of_b = near.recommendation.places[0].candidates.iter().find(|c| c.configuration == "b").unwrap();
    // At the edge itself none would.
    story.rest = format!("[objective]\nthroughput = {:.3}", of_b.checks[0].measured.unwrap().median);
    let open = story.analysis();
    assert_eq!((open.recommendation.status, open.recommendation.would_decide), (Status::NotDecided, None));
    let headline = report::answer(&open).headline();
    assert!(headline.contains("no affordable number of repetitions would decide"), "{headline}");
    // Three of a carry 1.6 a with headroom for 300 dollars where one b costs 350.
    story.rest = format!("[objective]\nthroughput = {:.0}", 1.6 * a);
    let fleet = story.analysis();
    assert_eq!(fleet.recommendation.run.as_deref(), Some("b"));
    assert!(
        fleet.recommendation.doubts.iter().any(
            |d| matches!(d, Doubt::FleetCheaper { configuration, fleet } if configuration == "a" && fleet.count == 3)
        ),
        "{:?}",
        fleet.recommendation.doubts
    );
    // What three carry by the estimate of one, and not by the least that is shown of it, takes four.
    let of_a = |analysis: &analysis::Analysis| {
        let mut candidates = analysis.recommendation.places[0].candidates.iter();
        candidates.find(|c| c.configuration == "a").cloned().unwrap()
    };
    let one = of_a(&fleet).checks[0].measured.unwrap();
    assert!(one.low < one.median, "{one:?}");
    story.rest = format!("[objective]\nthroughput = {:.3}", 1.5 * (one.low + one.median));
    let count = of_a(&story.analysis()).fleet.unwrap().count;
    assert!(count > 3, "{count}: {one:?}");
}

/// The same volume twice, twice the volume for 1.3 times the money, sixteen times for four times the money and no more
/// than 2.3 times the work.
#[test]
fn the_frontier_decides_and_not_the_distance_from_the_cheapest() {
    let configurations = [
        priced("v400", 400, 100.0),
        priced("w400", 400, 110.0),
        priced("v800", 800, 130.0),
        priced("v6400", 1900, 400.0),
    ];
    let analysis = noisy(&configurations, 0.01, 4).analysis();
    let seen: Vec<(&str, &str, ValueVerdict)> =
        analysis.value_of_money.iter().map(|v| (v.from.as_str(), v.to.as_str(), v.verdict)).collect();
    assert_eq!(
        seen,
        [
            ("v400", "w400", ValueVerdict::Same),
            ("v400", "v800", ValueVerdict::WorthIt),
            ("v800", "v6400", ValueVerdict::NotWorthIt)
        ]
    );
    assert_eq!(analysis.recommendation.run.as_deref(), Some("v800"));
    assert!(step(&analysis, "v800").knee && !step(&analysis, "v6400").knee);
}

/// An equal volume for a fifth of the money.
#[test]
fn what_an_equal_one_gives_for_a_fifth_is_not_worth_its_money() {
    let analysis =
        noisy(&[priced("cheap", 400, 50.0), priced("good", 1600, 100.0), priced("luxury", 1600, 150.0)], 0.01, 4)
            .analysis();
    assert_eq!(step(&analysis, "good").verdict, ValueVerdict::WorthIt);
    let luxury = step(&analysis, "luxury");
    assert_eq!((luxury.from.as_str(), luxury.verdict), ("good", ValueVerdict::Same));
    assert_eq!(analysis.recommendation.run.as_deref(), Some("good"));
    // Slower and more expensive.
    let analysis = noisy(&[priced("good", 1600, 100.0), priced("worse", 800, 150.0)], 0.01, 4).analysis();
    assert_eq!(step(&analysis, "worse").verdict, ValueVerdict::Dominated);
}

/// +0.3 % of throughput at +0.1 % of the price is the same, whatever a test says.
#[test]
fn a_difference_within_the_margin_is_the_same() {
    let mut story = noisy(&[priced("a", 100_000, 1000.0), priced("b", 100_000, 1001.0)], 0.0005, 6);
    story.truth =
        story.truth.replace("block_noise = 0.08", "block_noise = 0.01\nsecond_noise = 0.001\nspeed = { b = 1.003 }");
    let analysis = story.analysis();
    let b = step(&analysis, "b");
    assert!(b.throughput_ratio.low > 1.0, "a difference, and a certain one: {:?}", b.throughput_ratio);
    assert_eq!((b.verdict, b.throughput_ratio.verdict), (ValueVerdict::Same, Verdict::Same));
    assert_eq!(analysis.recommendation.run.as_deref(), Some("a"));
}

/// Around the margin of 5 %, at nearly one price: 2 % more is the same, 5 % more pays for itself and no more, 10 % more
/// is worth it.
#[test]
fn the_margin_of_practical_importance_is_where_it_is_stated() {
    for (speed, expected) in
        [(1.02, ValueVerdict::Same), (1.05, ValueVerdict::BreakEven), (1.10, ValueVerdict::WorthIt)]
    {
        let mut story = noisy(&[priced("a", 100_000, 100.0), priced("b", 100_000, 100.5)], 0.002, 6);
        story.truth = story.truth.replace(
            "block_noise = 0.08",
            &format!("block_noise = 0.01\nsecond_noise = 0.001\nspeed = {{ b = {speed} }}"),
        );
        let analysis = story.analysis();
        assert_eq!(step(&analysis, "b").verdict, expected, "{speed}: {:?}", step(&analysis, "b"));
    }
}

/// Three that cost what they bring: no number of repetitions is said to decide.
#[test]
fn three_that_cost_what_they_bring_are_break_even() {
    let three = [priced("one", 100_000, 100.0), priced("three", 100_000, 300.0), priced("six", 100_000, 600.0)];
    let mut story = noisy(&three, 0.002, 4);
    story.truth = story.truth.replace(
        "block_noise = 0.08",
        "block_noise = 0.01\nsecond_noise = 0.001\nspeed = { one = 1.0, three = 3.0, six = 6.0 }",
    );
    let sure = story.analysis();
    let AnswerOutcome::Between { configurations, break_even, alike, repetitions } =
        &sure.recommendation.places[0].outcome
    else {
        panic!("{:#?}", sure.recommendation);
    };
    assert_eq!((configurations.len(), *break_even, alike.len(), *repetitions), (3, true, 0, None));
}

/// Without a valid trial of the cheapest, the others are still compared; the fastest is named although nobody knows its
/// price.
#[test]
fn money_does_not_vanish_with_the_cheapest() {
    let configurations =
        [priced("broken", 400, 50.0), priced("a", 400, 100.0), priced("b", 1200, 150.0), iops("unpriced", 12_000)];
    let analysis = noisy(&configurations, 0.02, 3)
        .fault("kind = \"errors\"\nconfiguration = \"broken\"\namount = 0.05")
        .analysis();
    assert_eq!(step(&analysis, "b").verdict, ValueVerdict::WorthIt);
    assert_eq!(analysis.recommendation.run.as_deref(), Some("b"));
    let why =
        |name: &str| analysis.recommendation.not_considered.iter().find(|n| n.configuration == name).map(|n| n.why);
    assert_eq!(why("broken"), Some(NotJudged::NoValidTrial));
    assert_eq!(why("unpriced"), Some(NotJudged::NoPriceThoughFaster));
}

/// Where the client, or memory, was measured, nothing is said about the value of the storage.
#[test]
fn a_verdict_needs_the_storage_to_have_been_measured() {
    let pair = [priced("a", 1000, 100.0), priced("b", 100_000, 200.0)];
    let client = noisy(&pair, 0.02, 3).truth("client_cpu_us = 500").analysis();
    assert_eq!(cell(&client, "b").withheld, Some(Withheld::Client));
    assert_eq!(step(&client, "b").verdict, ValueVerdict::NotDecided);
    assert!(matches!(client.recommendation.places[0].outcome, AnswerOutcome::Withheld { .. }));

    let mut memory = noisy(&pair, 0.02, 3);
    memory.records = 500_000;
    let memory = memory.analysis();
    assert_eq!(cell(&memory, "a").withheld, Some(Withheld::PageCache));
    assert_eq!(memory.recommendation.run, None);

    let missing =
        noisy(&pair, 0.02, 3).fault("kind = \"small_dataset\"\namount = 0.8\nconfiguration = \"b\"").analysis();
    assert_eq!(cell(&missing, "b").withheld, Some(Withheld::Data), "a fifth of the records is missing");
}

/// Two repetitions: what was observed, nothing tested, and what would be enough.
#[test]
fn two_repetitions_are_too_few_to_test() {
    let analysis = noisy(&[priced("a", 800, 100.0), priced("b", 1600, 150.0)], 0.05, 2).analysis();
    assert_eq!(analysis.recommendation.reason, Reason::TooFewRepetitions);
    assert_eq!(analysis.recommendation.would_decide.unwrap().repetitions, 3);
    let ratio = cell(&analysis, "b").ratio_to_baseline.clone().unwrap();
    assert_eq!((ratio.verdict, ratio.p_value, ratio.pairs), (Verdict::TooFew, None, 2));
    assert!(ratio.low < ratio.median && ratio.median < ratio.high, "the observed range: {ratio:?}");
}

/// Fewer than half of the trials are valid: there is no answer yet, and nothing leads.
#[test]
fn with_five_of_twelve_trials_valid_there_is_no_answer_yet() {
    let mut story = noisy(&[priced("a", 800, 100.0), priced("b", 1600, 150.0)], 0.02, 6);
    story = story.fault("kind = \"errors\"\nblocks = [1, 2, 3]\namount = 0.05");
    story = story.fault("kind = \"restart\"\nblocks = [4]\nconfiguration = \"a\"");
    let analysis = story.analysis();
    assert_eq!((analysis.trials.valid, analysis.trials.planned), (5, 12));
    assert_eq!((analysis.recommendation.status, analysis.recommendation.run), (Status::NoAnswerYet, None));
}

/// 20 % reads of 90 ms and 80 % updates of 1 ms: the reads decide.
#[test]
fn latency_is_that_of_the_worst_kind() {
    let mut story = noisy(&[priced("slow", 400, 100.0), priced("fast", 20_000, 200.0)], 0.03, 3);
    story.workload = "read = 0.2\nupdate = 0.8".into();
    let analysis = story.analysis();
    let p99 = analysis.decision.iter().find(|d| d.metric == analysis::Metric::P99).unwrap();
    let slow = p99.ranking.iter().find(|r| r.configuration == "slow").unwrap();
    let latency = &cell(&analysis, "slow").latency_us;
    let p99 = |kind: experiment::OperationKind| latency[&kind].figures.p99.unwrap();
    let (reads, updates) = (p99(experiment::OperationKind::Read), p99(experiment::OperationKind::Update));
    assert!(reads > 5.0 * updates, "{reads} {updates}");
    assert_eq!(slow.operation, Some(experiment::OperationKind::Read));
    assert!((slow.value / reads - 1.0).abs() < 0.1, "{} {reads}", slow.value);
    // An objective on the worst kind is missed, one on updates is met.
    let limit = (reads * updates).sqrt() / 1000.0;
    for (objective, meets) in
        [(format!("p99_ms = {limit:.3}"), Meets::No), (format!("update = {{ p99_ms = {limit:.3} }}"), Meets::Yes)]
    {
        story.rest = format!("[objective]\n{objective}");
        let analysis = story.analysis();
        let place = &analysis.recommendation.places[0];
        let of = place.candidates.iter().find(|c| c.configuration == "slow").unwrap();
        assert_eq!(of.meets, meets, "{objective}: {of:?}");
    }
    assert_eq!(LatencyFigure::P99.name(), "p99");
}

/// What queued during warm-up and drains afterwards is no throughput: neither more nor less than the rate is a result.
#[test]
fn a_backlog_that_drains_is_not_throughput() {
    // A cold page cache sends nearly every read to the volume, a warm one little more than half. Memory fills in half a
    // minute; what has queued until then drains in the measured time of volumes between the two.
    let mut drained = 0;
    for volume in (700..1300).step_by(75) {
        let mut story = noisy(&[priced("cheap", volume, 100.0), priced("good", 20_000, 115.0)], 0.01, 3);
        story.records = 3_500_000;
        story.load = "rate = [1500.0]\nwarmup_s = 15\nduration_s = 45".into();
        story.rest = "[objective]\np99_ms = 50".into();
        story.local = "page_cache_mib = 500".into();
        let analysis = story.analysis();
        let cheap = cell(&analysis, "cheap");
        let achieved = cheap.throughput_ops_per_s.unwrap().median;
        println!("{volume} IOPS: {achieved:.0} of 1500, {:?}, {:?}", cheap.withheld, cheap.limit.kind);
        if (achieved / 1500.0 - 1.0).abs() > 0.02 {
            drained += u32::from(achieved > 1500.0);
            assert_eq!(cheap.withheld, Some(Withheld::Rate), "{:?}", analysis.findings);
            assert_ne!(cheap.limit.kind, analysis::LimitKind::OfferedRate);
            assert_eq!(analysis.recommendation.run.as_deref(), Some("good"), "{:?}", analysis.recommendation);
        }
    }
    assert!(drained > 0, "no volume drained a backlog");
}

/// The headline of two workloads that want different machines says so.
#[test]
fn an_answer_that_depends_on_the_workload_says_so() {
    let mut story = noisy(&[priced("slow", 400, 100.0), priced("fast", 20_000, 180.0)], 0.02, 3);
    story.workload =
        "[[workload]]\nname = \"reads\"\nread = 1.0\n[[workload]]\nname = \"writes\"\nupdate = 1.0\n".into();
    let analysis = story.analysis();
    assert_eq!(analysis.recommendation.reason, Reason::Depends, "{:?}", analysis.recommendation);
    assert_eq!(analysis.recommendation.run, None);
}

/// A configuration alone decides nothing.
#[test]
fn one_configuration_has_nothing_to_be_compared_with() {
    let mut story = sound();
    story.configurations = configuration("a", crate::story::NVME);
    assert_eq!(story.analysis().recommendation.reason, Reason::OneConfiguration);
}

/// Beyond the knee more money buys what the CPU cannot use, and the first sentence names the knee.
#[test]
fn the_knee_is_where_more_money_stops_paying() {
    let story = noisy(&[priced("a", 500, 100.0), priced("b", 100_000, 150.0), priced("c", 200_000, 300.0)], 0.01, 4);
    let analysis = story.analysis();
    assert_eq!((step(&analysis, "b").verdict, step(&analysis, "b").knee), (ValueVerdict::WorthIt, true));
    let c = step(&analysis, "c");
    assert!(
        matches!(c.verdict, ValueVerdict::Same | ValueVerdict::NotWorthIt | ValueVerdict::Dominated) && !c.knee,
        "{c:?}"
    );
    let answer = report::answer(&analysis);
    assert!(answer.headline().starts_with("Run b: "), "{answer:#?}");
}

/// Four identical configurations, one of which was spared what slowed the others once.
#[test]
fn one_lucky_trial_makes_no_winner() {
    let mut story = noisy(&["a", "b", "c", "d"].map(|name| priced(name, 100_000, 100.0)), 0.02, 4);
    for name in ["a", "b", "c"] {
        story = story.fault(&format!("kind = \"steal\"\nconfiguration = \"{name}\"\nblocks = [2]\namount = 0.3"));
    }
    let analysis = story.analysis();
    let throughput = analysis.decision.iter().find(|d| d.metric == analysis::Metric::Throughput).unwrap();
    assert_eq!(throughput.indistinguishable.len(), 3, "{throughput:?}");
    assert_eq!(analysis.recommendation.run, None, "{:?}", analysis.recommendation);
}

/// Cells without a common block have no ratio, and nothing is printed as one.
#[test]
fn without_a_common_block_there_is_no_ratio() {
    let analysis = noisy(&[priced("a", 800, 100.0), priced("b", 1600, 150.0)], 0.02, 6)
        .fault("kind = \"errors\"\nconfiguration = \"a\"\nblocks = [1, 2, 3]\namount = 0.05")
        .fault("kind = \"errors\"\nconfiguration = \"b\"\nblocks = [4, 5, 6]\namount = 0.05")
        .analysis();
    assert_eq!(cell(&analysis, "b").valid_trials, 3);
    assert_eq!(cell(&analysis, "b").ratio_to_baseline, None);
    assert!(analysis.value_of_money.is_empty(), "{:?}", analysis.value_of_money);
    assert_eq!(analysis.recommendation.run, None, "{:?}", analysis.recommendation);
    let document = report::document(&analysis).to_string();
    assert!(!document.contains("e+3") && !document.contains("e308"), "a number that is none");
}
