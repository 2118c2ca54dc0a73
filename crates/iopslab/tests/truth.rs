//! Are the conclusions true? Simulated experiments whose truth is known, through the same analysis as real ones.
//!
//! Each rate that the documentation quotes is measured here and printed (`cargo test --test truth -- --nocapture`).

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeSet;

use analysis::{Analysis, LimitKind, RunEvidence, Severity, TrialEvidence, Verdict, analyse, measure};
use provider::simulated::Simulation;
use spec::Plan;

/// An experiment file with the usual parts; each test replaces what it is about.
#[derive(Clone)]
struct Story {
    records: u64,
    configurations: String,
    workload: String,
    load: String,
    repetitions: u32,
    local: String,
    truth: String,
}

const NVME: &str = "data_volume = { iops = 100000, mib_per_s = 2000, size_gib = 100 }";

fn configuration(name: &str, rest: &str) -> String {
    format!(
        "[[configuration]]\nname = \"{name}\"\ninstance = {{ vcpus = 4, memory_gib = 16 }}\nmemory_limit_gib = 4\n{rest}\n"
    )
}

/// A database without noise and faults on a fast volume: nothing to find but that its CPU is the limit.
fn sound() -> Story {
    Story {
        records: 20_000_000,
        configurations: configuration("a", NVME),
        workload: "read = 0.5\nupdate = 0.5".into(),
        load: "concurrency = [64]\nwarmup_s = 5\nduration_s = 60".into(),
        repetitions: 2,
        local: String::new(),
        truth: "read_cpu_us = 400\nwrite_cpu_us = 300\nrun_noise = 0.01\nblock_noise = 0.01\nsecond_noise = 0.01"
            .into(),
    }
}

impl Story {
    fn plan(&self) -> Plan {
        let text = format!(
            "name = \"truth\"\n[dataset]\nrecords = {}\n{}\n[[workload]]\nname = \"w\"\n{}\n[load]\n{}\nrepetitions = {}\n[provider.local]\n{}\n[provider.simulated]\n{}\n",
            self.records, self.configurations, self.workload, self.load, self.repetitions, self.local, self.truth
        );
        let experiment = spec::parse(catalog::Catalog::built_in(), "truth.toml", &text, &|_| {
            Err("no file".into())
        });
        spec::plan(&experiment.unwrap_or_else(|e| panic!("{e:?}\n{text}")))
    }

    fn fault(mut self, fault: &str) -> Self {
        self.truth.push_str(&format!("\n[[provider.simulated.fault]]\n{fault}"));
        self
    }

    fn analysis(&self) -> Analysis {
        analysed(&self.plan())
    }

    fn limit(&self) -> LimitKind {
        let analysis = self.analysis();
        println!("{}", analysis.cells[0].limit.message);
        analysis.cells[0].limit.kind
    }

    /// Names of the rules that fire.
    fn rules(&self) -> BTreeSet<String> {
        self.analysis().findings.into_iter().map(|f| f.rule).collect()
    }
}

fn analysed(plan: &Plan) -> Analysis {
    let simulation = Simulation::new(plan, plan.simulated.as_ref().unwrap());
    let trials: Vec<_> = plan
        .trials
        .iter()
        .map(|planned| {
            let trial = simulation.trial(planned).unwrap();
            measure(&TrialEvidence {
                record: &trial.record,
                intervals: &trial.intervals,
                samples: &trial.samples,
            })
        })
        .collect();
    analyse(&RunEvidence {
        run: "truth".into(),
        provider: "simulated".into(),
        plan,
        environment: serde_json::Value::Null,
        trials: &trials,
    })
}

/// Two whole seconds in which nothing moves: those in flight wait that long, and Little's law still holds.
#[test]
fn a_stall_of_whole_seconds_is_seen_in_the_longest_latencies() {
    let analysis = sound().fault("kind = \"stall\"").analysis();
    let latency = &analysis.cells[0].latency_us;
    let longest = latency.values().map(|l| l.max).fold(0.0, f64::max);
    assert!((2_000_000.0..2_500_000.0).contains(&longest), "{longest}");
    assert!(
        !analysis.findings.iter().any(|f| f.rule == "little"),
        "{:?}",
        analysis.findings
    );
}

/// How many of `seeds` experiments `holds` for, on all CPUs.
fn count(seeds: u64, plan: &Plan, holds: impl Fn(&Analysis) -> bool + Sync) -> u64 {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let holds = &holds;
                scope.spawn(move || {
                    (thread..seeds)
                        .step_by(threads as usize)
                        .filter(|seed| {
                            let mut plan = plan.clone();
                            plan.simulated.as_mut().unwrap().seed = 1000 + seed;
                            holds(&analysed(&plan))
                        })
                        .count() as u64
                })
            })
            .collect();
        workers.into_iter().map(|w| w.join().unwrap()).sum()
    })
}

/// Two or more configurations on one kind of machine, CPU-bound, 8 % from trial to trial and 8 % from block to block.
fn noisy(configurations: &[&str], repetitions: u32, speed: &str) -> Plan {
    Story {
        records: 100_000,
        configurations: configurations.iter().map(|name| configuration(name, NVME)).collect(),
        workload: "read = 1.0".into(),
        load: "concurrency = [32]\nwarmup_s = 2\nduration_s = 45".into(),
        repetitions,
        local: String::new(),
        truth: format!("run_noise = 0.08\nblock_noise = 0.08\nspeed = {{ {speed} }}"),
    }
    .plan()
}

fn verdict(analysis: &Analysis) -> Verdict {
    analysis.cells[1].ratio_to_baseline.as_ref().unwrap().verdict
}

#[test]
fn two_identical_configurations_are_called_different_in_at_most_5_percent() {
    let plan = noisy(&["a", "b"], 6, "");
    let different = count(400, &plan, |a| matches!(verdict(a), Verdict::Faster | Verdict::Slower));
    println!("A/A, 6 blocks: called different in {different} of 400 experiments");
    assert!(different <= 20, "{different}");
}

#[test]
fn a_difference_of_15_percent_at_8_percent_noise_is_found_in_at_least_80_percent() {
    let plan = noisy(&["a", "b"], 10, "b = 1.15");
    let found = count(200, &plan, |a| verdict(a) == Verdict::Faster);
    let wrong = count(200, &plan, |a| verdict(a) == Verdict::Slower);
    println!("+15 %, 8 % noise, 10 blocks: found in {found} of 200 experiments, called slower in {wrong}");
    assert!(found >= 160 && wrong == 0, "{found} {wrong}");
}

#[test]
fn among_four_identical_configurations_no_winner_is_declared() {
    let plan = noisy(&["a", "b", "c", "d"], 6, "");
    let declared = count(100, &plan, |a| a.decision[0].indistinguishable.len() < 3);
    println!("A/A/A/A, 6 blocks: a best set without all four in {declared} of 100 experiments");
    assert!(declared <= 7, "{declared}");
}

#[test]
fn the_smallest_difference_that_could_be_shown_is_about_the_truth() {
    let plan = noisy(&["a", "b"], 10, "");
    let analysis = analysed(&plan);
    let least = analysis.cells[1]
        .ratio_to_baseline
        .as_ref()
        .unwrap()
        .smallest_detectable
        .unwrap();
    // 8 % a trial: sd of a log ratio 0.113; (2.26 + 0.88) x 0.113 / sqrt(10) = 0.112.
    println!(
        "10 blocks at 8 % noise: {:.1} % would have been shown",
        (least - 1.0) * 100.0
    );
    assert!((1.05..1.2).contains(&least), "{least}");
}

#[test]
fn the_named_limit_is_the_true_one() {
    let gp2 = |iops: u32, mib: u32| {
        configuration(
            "a",
            &format!("data_volume = {{ iops = {iops}, mib_per_s = {mib}, size_gib = 100 }}"),
        )
    };
    let with = |change: &dyn Fn(&mut Story)| {
        let mut story = sound();
        change(&mut story);
        story.limit()
    };
    assert_eq!(with(&|_| {}), LimitKind::Cpu);
    assert_eq!(with(&|s| s.configurations = gp2(1000, 500)), LimitKind::VolumeIops);
    assert_eq!(
        with(&|s| s.configurations = gp2(20_000, 10)),
        LimitKind::VolumeThroughput
    );
    // 20,000 IOPS bought, 18,750 reachable on an r4.4xlarge: the instance is narrower. Small chunks, so that requests count and not bytes.
    assert_eq!(
        with(&|s| {
            s.configurations = "[[configuration]]\nname = \"a\"\ninstance = \"r4.4xlarge\"\nmemory_limit_gib = 4\n\
                                data_volume = { type = \"io1\", size_gib = 1000, iops = 20000 }\n"
                .into();
            s.truth.push_str("\nchunk_bytes = 4096\nreads_per_miss = 4");
            s.load = s.load.replace("64", "512");
        }),
        LimitKind::InstanceEbsBandwidth
    );
    assert_eq!(
        with(&|s| {
            s.configurations = configuration(
                "a",
                "data_volume = { type = \"gp2\", size_gib = 100, era = \"2015-2018\" }",
            );
            s.configurations = s
                .configurations
                .replace("{ vcpus = 4, memory_gib = 16 }", "\"r4.4xlarge\"");
            s.local = "burst_credits_start = 0.0".into();
        }),
        LimitKind::BurstSpent
    );
    assert_eq!(with(&|s| s.truth.push_str("\nclient_cpu_us = 500")), LimitKind::Client);
    assert_eq!(
        with(&|s| {
            s.configurations = configuration(
                "a",
                &format!("{NVME}\ncommitlog_volume = {{ iops = 3000, mib_per_s = 0.25, size_gib = 10 }}"),
            );
            s.workload = "read = 0.05\nupdate = 0.95".into();
        }),
        LimitKind::CommitLog
    );
    assert_eq!(
        with(&|s| s.load = "rate = [2000]\nwarmup_s = 5\nduration_s = 60".into()),
        LimitKind::OfferedRate
    );
    assert_eq!(
        with(&|s| s.load = s.load.replace("64", "2")),
        LimitKind::NoneFound,
        "two in flight fill nothing"
    );
    let faulty = |fault: &str, load: &str| {
        let mut story = sound().fault(fault);
        story.load = story.load.replace("64", load);
        story.limit()
    };
    assert_eq!(faulty("kind = \"garbage_collection\"", "64"), LimitKind::Gc);
    assert_eq!(faulty("kind = \"compaction_debt\"", "2"), LimitKind::Compaction);
}

/// Rules that speak of the simulated machine as it is meant to be.
const USUAL: [&str; 1] = ["too_few_samples"];

#[test]
fn a_sound_experiment_has_no_findings() {
    let mut rules = sound().rules();
    for usual in USUAL {
        rules.remove(usual);
    }
    assert_eq!(rules, BTreeSet::new());
}

#[test]
fn each_finding_fires_when_its_fault_is_planted_and_not_otherwise() {
    let open = |fault: &str, rate: u32| {
        let mut story = sound().fault(fault);
        story.load = format!("rate = [{rate}]\nwarmup_s = 5\nduration_s = 60");
        story
    };
    let plain = |change: &dyn Fn(&mut Story)| {
        let mut story = sound();
        change(&mut story);
        story
    };
    let gp2 = |iops: u32| format!("data_volume = {{ iops = {iops}, mib_per_s = 500, size_gib = 100 }}");
    let bucket = |credits: f64| {
        let gp2 = configuration(
            "a",
            "data_volume = { type = \"gp2\", size_gib = 100, era = \"2015-2018\" }",
        );
        plain(&|s| {
            s.configurations = gp2.replace("{ vcpus = 4, memory_gib = 16 }", "\"r4.4xlarge\"");
            s.local = format!("burst_credits_start = {credits:.2}");
        })
    };
    // A volume at its limit fills the page cache slowly, so that throughput may truly still rise.
    // (what is planted, what must fire, what may fire besides because it follows from the same fault)
    let cases: Vec<(Story, &str, &[&str])> = vec![
        (sound().fault("kind = \"errors\""), "errors_above", &["little"]),
        (sound().fault("kind = \"not_found\""), "not_found", &[]),
        (
            sound().fault("kind = \"lost_latencies\""),
            "counts_disagree",
            &["little"],
        ),
        (sound().fault("kind = \"fewer_in_flight\""), "little", &[]),
        (
            sound().fault("kind = \"drift\""),
            "no_steady_state",
            &["repetitions_spread"],
        ),
        (sound().fault("kind = \"restart\""), "database_restarted", &[]),
        (sound().fault("kind = \"steal\""), "cpu_steal", &[]),
        (sound().fault("kind = \"throttle\""), "cpu_throttled", &[]),
        (sound().fault("kind = \"garbage_collection\""), "gc_pauses", &[]),
        (sound().fault("kind = \"compaction_debt\""), "compaction_debt", &[]),
        (sound().fault("kind = \"dropped_messages\""), "dropped_messages", &[]),
        (sound().fault("kind = \"retransmits\""), "network_retransmits", &[]),
        (sound().fault("kind = \"saturated_client\""), "client_saturated", &[]),
        (
            sound().fault("kind = \"served_from_memory\""),
            "served_from_page_cache",
            &[],
        ),
        (sound().fault("kind = \"small_dataset\""), "data_set_smaller", &[]),
        (sound().fault("kind = \"slow_disk\""), "emulation_off_limit", &[]),
        (open("kind = \"send_lag\"", 2000), "send_lag", &[]),
        (
            open("kind = \"stall\"\namount = 0.0", 50_000),
            "offered_not_achieved",
            &["no_steady_state", "too_short_to_judge"],
        ),
        (
            plain(&|s| s.records = 1_000_000),
            "data_fits_page_cache",
            &["served_from_page_cache"],
        ),
        (
            plain(&|s| s.configurations = configuration("a", &gp2(1000))),
            "volume_at_cap",
            &["throttle_slices", "no_steady_state"],
        ),
        (
            plain(&|s| {
                s.configurations = configuration("a", &gp2(300));
                s.load = s.load.replace("64", "256");
            }),
            "throttle_slices",
            &["volume_at_cap", "little", "no_steady_state", "too_short_to_judge"],
        ),
        (
            plain(&|s| {
                s.configurations = configuration("a", &gp2(1000));
                s.truth.push_str("\nwrite_amplification = 100");
            }),
            "separate_read_write_limits",
            &["volume_at_cap", "throttle_slices", "no_steady_state"],
        ),
        (
            bucket(0.01),
            "burst_changed",
            &[
                "volume_at_cap",
                "no_steady_state",
                "throttle_slices",
                "too_short_to_judge",
            ],
        ),
        (
            bucket(1.0),
            "burst_only",
            &["volume_at_cap", "throttle_slices", "no_steady_state"],
        ),
        (
            plain(&|s| s.truth = s.truth.replace("run_noise = 0.01", "run_noise = 0.4")),
            "repetitions_spread",
            &[],
        ),
        (
            plain(&|s| s.load = s.load.replace("60", "20")),
            "too_short_to_judge",
            &[],
        ),
    ];
    for (story, expected, besides) in cases {
        let rules = story.rules();
        let others: Vec<&String> = rules
            .iter()
            .filter(|r| *r != expected && !besides.contains(&r.as_str()) && !USUAL.contains(&r.as_str()))
            .collect();
        println!("{expected}: {rules:?}");
        assert!(
            rules.contains(expected),
            "{expected} did not fire: {rules:?}\n{}",
            story.truth
        );
        assert!(others.is_empty(), "with the fault of {expected} also fired: {others:?}");
    }
}

#[test]
fn what_is_invalid_enters_no_figure() {
    let mut story = sound().fault("kind = \"errors\"\nblocks = [1]");
    story.repetitions = 3;
    let analysis = story.analysis();
    let cell = &analysis.cells[0];
    assert_eq!((cell.trials, cell.valid_trials), (3, 2));
    assert_eq!(cell.throughput_ops_per_s.unwrap().n, 2);
    assert!(
        analysis
            .findings
            .iter()
            .any(|f| f.severity == Severity::Invalid && f.rule == "errors_above")
    );
}

#[test]
fn the_knee_is_where_more_money_stops_paying() {
    let mut story = sound();
    let priced = |name: &str, iops: u32, usd: u32| {
        configuration(
            name,
            &format!(
                "data_volume = {{ iops = {iops}, mib_per_s = 2000, size_gib = 100 }}\nprice_usd_per_month = {usd}.0"
            ),
        )
    };
    // b doubles the volume of a and more, c buys what the CPU cannot use.
    story.configurations = [
        priced("a", 500, 100),
        priced("b", 100_000, 150),
        priced("c", 200_000, 300),
    ]
    .concat();
    story.repetitions = 4;
    let analysis = story.analysis();
    let steps: Vec<(&str, &str, bool)> = analysis
        .value_of_money
        .iter()
        .map(|v| (v.to.as_str(), v.verdict.words(), v.knee))
        .collect();
    // c against b, not against the cheapest: twice the money for what the CPU cannot use.
    assert_eq!(steps[0], ("b", "worth it", true), "{:?}", analysis.value_of_money);
    assert!(
        ["not worth it", "dominated", "the same"].contains(&steps[1].1) && !steps[1].2,
        "{:?}",
        analysis.value_of_money
    );
    let answer = report::answer(&analysis);
    assert!(answer.headline().starts_with("Run b: "), "{answer:#?}");
}
