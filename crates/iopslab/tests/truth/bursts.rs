//! Burst credits: what a demand above the baseline shows, however full the bucket is. 100 GiB of gp2 have 300 IOPS for
//! good, and 3,000 while 5.4 million credits last: a minute at twice the baseline spends 0.3 % of them.

use analysis::rules::stall::Stall;
use analysis::{Analysis, Finding, OperationKind, Rule, Status, ValueVerdict, Withheld};

use crate::story::{Story, cell, gp2, noisy, sound, step};

/// gp2 with a full bucket, and io1 of 3,000 IOPS for one and a half times the money.
fn pair(truth: &str) -> Story {
    let full = gp2("gp2", 100, ", burst = \"full\"") + "price_usd_per_month = 100.0\n";
    let io1 = "[[configuration]]\nname = \"io1\"\ninstance = \"r4.4xlarge\"\nmemory_limit_gib = 4\n\
               data_volume = { type = \"io1\", size_gib = 100, iops = 3000, era = \"2018\" }\n\
               price_usd_per_month = 150.0\n";
    let mut story = noisy(&[full, io1.to_owned()], 0.02, 3);
    story.truth = story.truth.replace("read_cpu_us = 400\nwrite_cpu_us = 300", truth);
    story.local = String::new();
    story
}

/// Requests a second that the data volume of gp2 was asked for.
fn asked(analysis: &Analysis) -> f64 {
    let gp2 = cell(analysis, "gp2");
    gp2.device_read_iops.unwrap() + gp2.device_write_iops.unwrap()
}

/// The CPU is the limit of both, so that they are equally fast for as long as credits last.
#[test]
fn a_bucket_that_is_hardly_touched_supports_no_verdict_either() {
    for (cpu_us, above) in [(29_000, true), (62_000, false)] {
        let analysis = pair(&format!("read_cpu_us = {cpu_us}\nwrite_cpu_us = {cpu_us}")).analysis();
        let iops = asked(&analysis);
        println!("{cpu_us} us: {iops:.0} IOPS, {:?}", cell(&analysis, "gp2").withheld);
        let io1 = step(&analysis, "io1");
        match above {
            true => {
                assert!((300.0 * 1.1..300.0 * 2.0).contains(&iops), "{iops}");
                let Some(Withheld::Burst { lasts_s, .. }) = cell(&analysis, "gp2").withheld else {
                    panic!("{:?}", cell(&analysis, "gp2"));
                };
                let hours = 5.4e6 / (iops - 300.0) / 3600.0;
                assert!((lasts_s.unwrap() / 3600.0 / hours - 1.0).abs() < 0.3, "{lasts_s:?} {hours}");
                assert_eq!(io1.verdict, ValueVerdict::NotDecided);
                let headline = report::answer(&analysis).headline();
                assert!(
                    headline.contains("burst credits carried gp2 (") && headline.contains(" hours, then 300)"),
                    "{headline}"
                );
            }
            false => {
                assert!(iops < 300.0 * 0.97, "{iops}");
                assert_eq!(cell(&analysis, "gp2").withheld, None);
                let is_reported = matches!(io1.verdict, ValueVerdict::Same | ValueVerdict::NotWorthIt);
                assert!(is_reported, "{io1:?}");
                assert_eq!(analysis.recommendation.run.as_deref(), Some("gp2"));
            }
        }
    }
}

/// Large requests cost several credits each: fewer than the baseline a second, they spend a full bucket all the same.
#[test]
fn a_full_bucket_is_spent_by_large_requests_below_the_baseline() {
    let truth = "read_cpu_us = 62000\nwrite_cpu_us = 62000";
    for (io_unit_bytes, spends) in [(4_096.0, true), (262_144.0, false)] {
        let analysis = pair(&format!("{truth}\nio_unit_bytes = {io_unit_bytes:.1}")).analysis();
        let gp2 = cell(&analysis, "gp2");
        assert!(asked(&analysis) < 300.0 * 0.97, "{}", asked(&analysis));
        let units = |bytes: f64| (bytes / io_unit_bytes).ceil();
        let credits =
            gp2.device_read_iops.unwrap() * units(16_384.0) + gp2.device_write_iops.unwrap() * units(65_536.0);
        println!("units of {io_unit_bytes}: {credits:.0} credits a second, {:?}", gp2.withheld);
        assert_eq!(credits > 300.0, spends, "{credits}");
        match gp2.withheld {
            Some(Withheld::Burst { lasts_s: Some(lasts_s), .. }) if spends => {
                let expected = 5.4e6 / (credits - 300.0);
                assert!((lasts_s / expected - 1.0).abs() < 0.2, "{lasts_s} {expected}");
            }
            withheld => assert!(!spends && withheld.is_none(), "{withheld:?}"),
        }
    }
}

/// An objective at a given rate, and a demand: met on credits is not met.
#[test]
fn an_objective_is_not_met_on_credits() {
    for (rate, objective) in [(650.0, "p99_ms = 40"), (300.0, "p99_ms = 40")] {
        let mut story = pair("read_cpu_us = 400\nwrite_cpu_us = 300").open(rate);
        story.rest = format!("[objective]\n{objective}");
        let analysis = story.analysis();
        let (iops, run) = (asked(&analysis), analysis.recommendation.run.as_deref());
        let p99 = cell(&analysis, "gp2").latency_us[&OperationKind::Read].figures.p99.unwrap();
        println!("{rate}/s: {iops:.0} IOPS, p99 {p99:.0} us, {run:?}");
        assert!(p99 < 40_000.0, "met while credits last: {p99}");
        match iops > 300.0 {
            true => {
                assert_eq!(run, None, "{iops}");
                let headline = report::answer(&analysis).headline();
                assert!(headline.contains(" hours, then 300)"), "{headline}");
            }
            false => assert_eq!(run, Some("gp2"), "{iops}"),
        }
    }
    // The closed loop at half the speed of the burst.
    let mut demand = pair("read_cpu_us = 16000\nwrite_cpu_us = 16000");
    demand.rest = "[objective]\nthroughput = 600".into();
    let analysis = demand.analysis();
    assert!(asked(&analysis) > 600.0);
    assert_eq!(analysis.recommendation.status, Status::NotDecided);
    // Nor do so many of them carry it.
    let fleet = |name: &str| {
        let mut candidates = analysis.recommendation.places[0].candidates.iter();
        candidates.find(|c| c.configuration == name).unwrap().fleet
    };
    assert!(fleet("gp2").is_none() && fleet("io1").is_some(), "{:?}", analysis.recommendation.places);
}

/// What is under way when credits end waits longer, and nothing stands still; a stop before that, or after it, is
/// reported.
#[test]
fn credits_that_end_are_no_stall() {
    let story = |in_flight: u32, share: f64| {
        let mut story = sound();
        story.configurations = gp2("a", 50, "");
        story.load = format!("concurrency = [{in_flight}]\nwarmup_s = 5\nduration_s = 60");
        story.local = format!("burst_credits_start = {share}");
        story.repetitions = 1;
        story
    };
    let stalls = |story: &Story| {
        let analysis = story.analysis();
        let stall = analysis.findings.iter().find_map(Finding::figures::<Stall>);
        let ended = analysis.findings.iter().any(|f| f.rule() == Rule::BurstChanged);
        (ended, stall.map(|stall| stall.longest_s))
    };
    for in_flight in [64, 256, 1000] {
        // After 14, 35 and 46 seconds.
        for share in [0.01, 0.021, 0.027] {
            let (ended, stall) = stalls(&story(in_flight, share));
            assert_eq!(stall, None, "{in_flight} in flight, {share}");
            // What was before the steady part is cut off, the first 14 s perhaps.
            assert!(ended || share < 0.02, "{in_flight} in flight, {share}");
        }
    }
    let stopped = |share: f64| stalls(&story(64, share).fault("kind = \"stall\"\namount = 5.0"));
    for share in [0.01, 0.027] {
        let (ended, longest) = stopped(share);
        assert!(ended || share < 0.02, "{share}");
        assert!(longest.is_some_and(|s| (4.0..=6.0).contains(&s)), "{share}: {longest:?}");
    }
}
