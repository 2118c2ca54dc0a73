//! No sentence contradicts the document: random matrices through the whole way, from the truth to the words.

use workload::Random;

#[path = "../../../report/tests/contradictions/mod.rs"]
pub mod contradictions;

use crate::story::{NVME, Story, configuration, iops, noisy, priced};

/// A random experiment: two to four configurations (some without a price, some with others of the same hardware and
/// price, as settings make them), one or two workloads, closed loops or given rates, with an objective or none, one to
/// six repetitions, quiet and noisy, and now and then a fault.
fn random_story(seed: u64) -> Story {
    let mut random = Random::from_seed(seed);
    let mut below = move |n: u64| (random.next_unit() * n as f64) as u64;
    let configurations: Vec<String> = (0..2 + below(3))
        .map(|i| {
            let name = format!("c{i}");
            let volume = [300, 300, 600, 1200, 2400, 100_000][below(6) as usize];
            match below(5) {
                0 => iops(&name, volume),
                1 => configuration(&name, NVME),
                _ => priced(&name, volume, 50.0 + below(30) as f64 * 10.0),
            }
        })
        .collect();
    let noise = [0.005, 0.02, 0.05, 0.1][below(4) as usize];
    let mut story = noisy(&configurations, noise, 1 + below(6) as u32);
    story.load = story.load.replace("duration_s = 45", "duration_s = 30");
    let twins = (0..below(4)).map(|i| {
        let of = below(configurations.len() as u64) as usize;
        let twin = configurations[of].replace(&format!("\"c{of}\""), &format!("\"c{of}_{i}\""));
        let speed = [0.7, 0.97, 1.0, 1.0, 1.4][below(5) as usize];
        (twin, format!("c{of}_{i} = {speed:?}"))
    });
    let (twins, speeds): (Vec<String>, Vec<String>) = twins.unzip();
    story.configurations.push_str(&twins.concat());
    story = story.truth(&format!("speed = {{ {} }}", speeds.join(", ")));
    if below(3) == 0 {
        story.workload = "[[workload]]\nname = \"reads\"\nread = 0.9\nupdate = 0.1\n[[workload]]\nname = \"writes\"\n\
                          read = 0.1\nupdate = 0.9\n"
            .into();
    }
    if below(4) == 0 {
        story.load = format!("rate = [{}.0]\nwarmup_s = 2\nduration_s = 30", 200 + below(1000));
    }
    match below(5) {
        0 => story.rest = format!("[objective]\np99_ms = {}", 1 + below(60)),
        1 => story.rest = format!("[objective]\nthroughput = {}", 100 + below(6000)),
        _ => {}
    }
    match below(8) {
        0 => story = story.fault("kind = \"errors\"\nconfiguration = \"c0\"\namount = 0.05"),
        1 => story = story.fault("kind = \"errors\"\nblocks = [1, 2]\namount = 0.05"),
        2 => story = story.truth("client_cpu_us = 400"),
        3 => story.records = 300_000,
        4 => story = story.fault("kind = \"small_dataset\"\nconfiguration = \"c1\"\namount = 0.7"),
        _ => {}
    }
    story
}

#[test]
fn no_sentence_contradicts_the_document() {
    let n = if std::env::var_os("IOPSLAB_TRUTH").is_some() { 300 } else { 40 };
    let mut found = Vec::new();
    let mut decided = 0;
    for seed in 0..n {
        let analysis = random_story(seed).analysis();
        decided += u32::from(analysis.recommendation.run.is_some());
        let document = report::document(&analysis);
        let sentences: Vec<String> = serde_json::from_value(document["answer"].clone()).unwrap();
        assert!(!sentences.is_empty());
        found.extend(contradictions::contradictions(&analysis, &sentences).into_iter().map(|c| (seed, c)));
    }
    println!("| {n} random matrices, {decided} decided | sentences that contradict the document: {} |", found.len());
    assert!(found.is_empty(), "{found:#?}");
}
