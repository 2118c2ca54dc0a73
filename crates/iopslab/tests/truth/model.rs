//! What a model of 1:N says of full scale: the same experiment at both, and what stands in the answer where they
//! differ. The simulator reckons what page caches miss as the program does; that this is what an LRU does, at both
//! scales, is tested in `crates/workload/src/page_cache.rs`.

use analysis::{Analysis, Doubt, OfThisMachine, ValueVerdict};

use crate::story::{Story, sound, step};

/// Disks that never are the limit beside a volume of 7,000 IOPS, on so many vCPUs.
fn disks_and_volume(vcpus: u32, disks_usd: f64) -> String {
    let one = |name: &str, iops: u32, usd: f64| {
        format!(
            "[[configuration]]\nname = \"{name}\"\ninstance = {{ vcpus = {vcpus}, memory_gib = 64 }}\n\
             data_volume = {{ iops = {iops}, mib_per_s = 2000, size_gib = 100 }}\nprice_usd_per_month = {usd:.2}\n"
        )
    };
    one("gp3", 7_000, 100.0) + &one("nvme", 100_000, disks_usd)
}

/// 16 million records at 1:`scale`, three tenths of which a page cache holds.
fn at(scale: f64, configurations: String, distribution: &str, local: &str) -> Story {
    let page_cache_mib = 16e6 / scale * 1_150.0 * 0.3 / 1_048_576.0;
    Story {
        records: 16_000_000,
        configurations,
        workload: format!("read = 0.8\nupdate = 0.2\ndistribution = \"{distribution}\""),
        load: "concurrency = [64]\nwarmup_s = 5\nduration_s = 60\ncache = \"warm\"".into(),
        local: format!("scale = {scale}\npage_cache_mib = {page_cache_mib}\n{local}"),
        truth: "read_cpu_us = 400\nwrite_cpu_us = 300\nbackground_cpus = 0\nrun_noise = 0.005\nblock_noise = 0.01\n\
                second_noise = 0.01"
            .into(),
        ..sound()
    }
}

/// With zipfian keys, on 16 vCPUs; the disks cost 2.05 times as much.
fn zipfian(scale: f64, local: &str) -> Story {
    at(scale, disks_and_volume(16, 205.0), "zipfian", local)
}

const SAME_MISSES: &str = "page_cache = \"same-misses\"";

/// How many times the throughput of the volume the disks give.
fn ratio(analysis: &Analysis) -> f64 {
    step(analysis, "nvme").throughput_ratio.median
}

fn of_misses(analysis: &Analysis) -> Option<&Doubt> {
    analysis.recommendation.doubts.iter().find(|doubt| matches!(doubt, Doubt::ModelMisses { .. }))
}

/// At 1:16 the same share of the data misses 1.22 times as often, and disks look 1.22 times as good: enough to be worth
/// their money. A page cache that keeps the misses gives the ratio of full scale, and its verdict.
#[test]
fn disks_look_no_better_than_they_are_where_a_model_misses_more_often() {
    let full = zipfian(1.0, "").analysis();
    assert_eq!((step(&full, "nvme").verdict, of_misses(&full)), (ValueVerdict::NotWorthIt, None));
    assert_eq!(full.recommendation.run.as_deref(), Some("gp3"));

    let model = zipfian(16.0, "").analysis();
    let off = ratio(&model) / ratio(&full);
    println!("nvme over gp3: {:.2} at 1:1, {:.2} at 1:16", ratio(&full), ratio(&model));
    assert!((1.15..1.30).contains(&off), "{off}");
    let Some(Doubt::ModelMisses { all, can_be_kept: true, own_buffers: None }) = of_misses(&model) else {
        panic!("{:?}", model.recommendation.doubts)
    };
    assert_eq!(all.len(), 2, "both configurations");
    assert!(all.iter().all(|of| (of.factor / off - 1.0).abs() < 0.05), "{all:?} {off}");
    let undecided = step(&model, "nvme");
    assert_eq!((undecided.verdict, undecided.repetitions_to_decide), (ValueVerdict::NotDecided, None));
    let by = &undecided.throughput_ratio.bound.as_ref().unwrap().by;
    assert!(by.iter().all(|of| of.by == OfThisMachine::PageCache) && !by.is_empty(), "{by:?}");
    assert_eq!(model.recommendation.run, None);
    let headline = report::answer(&model).headline();
    assert!(headline.starts_with("Not decided: ") && headline.contains(SAME_MISSES), "{headline}");

    let kept = zipfian(16.0, SAME_MISSES).analysis();
    println!("with the same misses {:.2}", ratio(&kept));
    assert!((ratio(&kept) / ratio(&full) - 1.0).abs() < 0.05, "{} {}", ratio(&kept), ratio(&full));
    assert_eq!((step(&kept, "nvme").verdict, of_misses(&kept)), (ValueVerdict::NotWorthIt, None));
    assert_eq!(kept.recommendation.run.as_deref(), Some("gp3"));
}

/// What the bias would not change is decided all the same: disks at twice and at four times the price.
#[test]
fn a_verdict_that_the_misses_would_not_change_stands() {
    for (usd, verdict) in
        [(130.0, ValueVerdict::WorthIt), (205.0, ValueVerdict::NotDecided), (400.0, ValueVerdict::NotWorthIt)]
    {
        let analysis = at(16.0, disks_and_volume(16, usd), "zipfian", "").analysis();
        assert_eq!(step(&analysis, "nvme").verdict, verdict, "{usd}");
        assert!(of_misses(&analysis).is_some(), "it is said all the same");
    }
}

/// A demand that the volume carries at full scale, and does not in the model.
#[test]
fn a_demand_is_not_refused_for_what_the_model_misses() {
    let run = |scale: f64, local: &str, demand: u32| {
        let story = Story { rest: format!("[objective]\nthroughput = {demand}"), ..zipfian(scale, local) };
        let analysis = story.analysis();
        (analysis.recommendation.run.clone(), report::answer(&analysis).headline())
    };
    let gp3 = Some("gp3".to_owned());
    assert_eq!(run(1.0, "", 14_500).0, gp3);
    let (open, headline) = run(16.0, "", 14_500);
    assert!(open.is_none() && headline.contains(SAME_MISSES), "{headline}");
    assert_eq!(run(16.0, SAME_MISSES, 14_500).0, gp3);
    // Far enough from what the misses explain it is decided.
    assert_eq!(run(16.0, "", 10_000).0, gp3);
    assert_eq!(run(16.0, "", 20_000).0, Some("nvme".to_owned()));
}

/// Uniform keys miss as often at any scale.
#[test]
fn uniform_keys_need_no_other_page_cache() {
    let [full, model] = [1.0, 16.0].map(|scale| at(scale, disks_and_volume(16, 205.0), "uniform", "").analysis());
    assert!((ratio(&model) / ratio(&full) - 1.0).abs() < 0.05, "{} {}", ratio(&model), ratio(&full));
    assert_eq!(of_misses(&model), None);
}

/// Eight vCPUs at 1:32 are a quarter of a CPU, the least that a database is given. At 1:64 they would be an eighth, and
/// what CPUs limit does twice as much as its part beside what a volume limits.
#[test]
fn no_verdict_rests_on_cpus_that_were_raised() {
    let of = |scale: f64| at(scale, disks_and_volume(8, 250.0), "uniform", "").analysis();
    let raised = |analysis: &Analysis| {
        analysis.recommendation.doubts.iter().find_map(|doubt| match doubt {
            Doubt::CpusRaised { configurations, most_scale } => Some((configurations.clone(), *most_scale)),
            _ => None,
        })
    };
    let full = of(1.0);
    for scale in [1.0, 32.0, 33.0] {
        let analysis = of(scale);
        assert!((ratio(&analysis) / ratio(&full) - 1.0).abs() < 0.06, "1:{scale}: {}", ratio(&analysis));
        assert_eq!((step(&analysis, "nvme").verdict, raised(&analysis)), (ValueVerdict::NotWorthIt, None), "1:{scale}");
    }
    for scale in [36.0, 64.0] {
        let analysis = of(scale);
        let both = vec!["gp3".to_owned(), "nvme".to_owned()];
        assert_eq!(raised(&analysis), Some((both, 32.0)), "1:{scale}");
        assert_eq!(step(&analysis, "nvme").verdict, ValueVerdict::NotDecided, "1:{scale}");
        assert_eq!(analysis.recommendation.run, None, "1:{scale}");
        let headline = report::answer(&analysis).headline();
        assert!(headline.contains("scale = 32 or less in [provider.local]"), "{headline}");
    }
    assert!(ratio(&of(64.0)) / ratio(&full) > 1.9, "what would have been reported");
}
