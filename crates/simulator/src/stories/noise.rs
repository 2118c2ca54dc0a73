//! What varies, and how: the planted figure is found again in the throughput.

use super::*;

/// Throughputs of the first trial under many seeds.
fn throughputs(story: &Story, seeds: u64) -> Vec<f64> {
    let mut job = story.job();
    let under = |seed| {
        job.plan.place.truth_mut().unwrap().seed = seed;
        let trial = all(&job).remove(0);
        trial.throughput()
    };
    (1..=seeds).map(under).collect()
}

#[test]
fn a_volume_at_its_limit_is_noisy_in_throughput_and_still_at_its_limit() {
    let story = quiet("run_noise = 0.08")
        .volume("data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }")
        .load("concurrency = [64]\nwarmup_s = 2\nduration_s = 10");
    let mut story = story;
    story.truth = story.truth.replacen("run_noise = 0\n", "", 1);
    let mut job = story.job();
    let mut throughput = Vec::new();
    for seed in 1..=300 {
        job.plan.place.truth_mut().unwrap().seed = seed;
        let trial = all(&job).remove(0);
        near(trial.iops(0.0, 10.0).0, 1000.0, 0.002);
        throughput.push(trial.throughput());
    }
    near(variation(&throughput), 0.08, 0.2);
}

#[test]
fn the_cpu_and_the_device_vary_by_their_own_figures() {
    let of_cpu = "device_noise = 0.0\nread_cpu_us = 400";
    let mut story = quiet(of_cpu).load("concurrency = [64]\nwarmup_s = 1\nduration_s = 5");
    story.truth = story.truth.replacen("run_noise = 0\n", "run_noise = 0.05\n", 1);
    near(variation(&throughputs(&story, 300)), 0.05, 0.2);
    // The same on a slow volume: its device does not vary.
    let slow = story.volume("data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }");
    assert!(variation(&throughputs(&slow, 30)) < 0.002);
}

#[test]
fn trials_of_a_block_share_its_noise_on_either_resource() {
    let pair = |volume: &str| {
        let mut story = quiet("").load("concurrency = [64]\nwarmup_s = 1\nduration_s = 5");
        story.configurations = configuration("a", volume) + &configuration("b", volume);
        story.repetitions = 200;
        story.truth = story.truth.replacen("block_noise = 0\n", "block_noise = 0.1\n", 1);
        let job = story.job();
        let plan = &job.plan;
        let of = |name: &str| -> Vec<f64> {
            let simulation = Simulation::new(&job, plan.place.truth().unwrap());
            let mut trials: Vec<_> = plan.trials.iter().filter(|t| t.cell.starts_with(name)).collect();
            trials.sort();
            trials.iter().map(|t| simulation.trial(t).unwrap().throughput()).collect()
        };
        let (a, b) = (of("a."), of("b."));
        near(variation(&a), 0.1, 0.2);
        for (a, b) in a.iter().zip(&b) {
            near(*a, *b, 0.002);
        }
    };
    pair(FAST);
    pair("data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }");
}

#[test]
fn correlation_modes_drift_and_hosts_are_found_again_over_the_trials() {
    let paces = |truth: &str, repetitions| {
        let mut story = quiet("");
        story.configurations = configuration("a", FAST) + &configuration("b", FAST);
        story.repetitions = repetitions;
        story.truth = truth.to_owned();
        let plan = story.job().plan;
        let paces = crate::variation::of_trials(&plan, plan.place.truth().unwrap());
        (plan, paces)
    };
    let (_, linked) = paces("run_noise = 0.08\nblock_noise = 0\nrun_autocorrelation = 0.7", 1000);
    for of in [|p: &crate::variation::Pace| p.cpu, |p: &crate::variation::Pace| p.device] {
        let values: Vec<f64> = linked.iter().map(|p| of(p).ln()).collect();
        assert!((autocorrelation(&values) - 0.7).abs() < 0.06, "{}", autocorrelation(&values));
        let factors: Vec<f64> = linked.iter().map(of).collect();
        near(variation(&factors), 0.08, 0.15);
    }
    let (_, modes) = paces("run_noise = 0\nblock_noise = 0\nslow_share = 0.25\nslow_factor = 0.7", 1000);
    let slow = modes.iter().filter(|p| p.cpu == 0.7 && p.device == 0.7).count();
    let usual = modes.iter().filter(|p| p.cpu == 1.0).count();
    assert_eq!(slow + usual, 2000);
    near(slow as f64 / 2000.0, 0.25, 0.12);

    let (_, drifting) = paces("run_noise = 0\nblock_noise = 0\ndrift = -0.2", 50);
    assert_eq!((drifting[0].cpu, drifting[99].device), (1.0, 0.8));
    near(drifting[50].cpu, 0.9, 0.002);

    // A machine keeps its factor in every block, and another machine has another one.
    let mut ratios = Vec::new();
    for seed in 1..=400 {
        let (plan, hosts) = paces(&format!("seed = {seed}\nrun_noise = 0\nblock_noise = 0\nhost_noise = 0.08"), 2);
        let of = |name: &str| -> Vec<f64> {
            let own = plan.trials.iter().zip(&hosts).filter(|(t, _)| t.cell.starts_with(name));
            own.map(|(_, pace)| pace.cpu).collect()
        };
        let (a, b) = (of("a."), of("b."));
        assert_eq!((a[0], b[0]), (a[1], b[1]));
        ratios.push(a[0] / b[0]);
    }
    near(variation(&ratios), 0.08 * 2f64.sqrt(), 0.12);
}

#[test]
fn seconds_are_correlated_as_planted_and_a_decay_has_its_time_constant() {
    let mut story = quiet("second_autocorrelation = 0.9").load("concurrency = [64]\nwarmup_s = 1\nduration_s = 3000");
    story.truth = story.truth.replacen("second_noise = 0\n", "second_noise = 0.03\n", 1);
    let seconds: Vec<f64> = story.trial().by_second().iter().map(|n| *n as f64).collect();
    near(variation(&seconds), 0.03, 0.25);
    assert!((autocorrelation(&seconds) - 0.9).abs() < 0.04, "{}", autocorrelation(&seconds));

    let decaying = quiet("")
        .load("concurrency = [64]\nwarmup_s = 10\nduration_s = 120")
        .fault("kind = \"decay\"\namount = 0.35\nseconds = 60");
    let steady = quiet("").load("concurrency = [64]\nwarmup_s = 10\nduration_s = 120");
    let (decaying, steady) = (decaying.trial().by_second(), steady.trial().by_second());
    for t in [0, 20, 50, 110] {
        let expected = 1.0 + 0.35 * (-(f64::from(t) + 10.0) / 60.0).exp();
        near(decaying[t as usize] as f64 / steady[t as usize] as f64, expected, 0.005);
    }
}
