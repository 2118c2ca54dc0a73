//! Each finding fires when its fault is planted, and not otherwise.

use std::collections::BTreeSet;

use analysis::Severity;

use crate::story::{NVME, Story, configuration, noisy, over_seeds, share, sound};

/// Two whole seconds in which nothing moves: those in flight wait that long, and Little's law still holds.
#[test]
fn a_stall_of_whole_seconds_is_seen_in_the_longest_latencies() {
    let analysis = sound().fault("kind = \"stall\"").analysis();
    let latency = &analysis.cells[0].latency_us;
    let longest = latency.values().map(|l| l.max).fold(0.0, f64::max);
    assert!((2_000_000.0..2_500_000.0).contains(&longest), "{longest}");
    assert!(!analysis.findings.iter().any(|f| f.rule() == analysis::Rule::LittlesLaw), "{:?}", analysis.findings);
}

/// Notes on what a minute of measurement can show.
const USUAL: [&str; 3] = ["too_few_samples", "slow_change_possible", "too_short_to_judge"];

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
        let gp2 = configuration("a", "data_volume = { type = \"gp2\", size_gib = 100, era = \"2015-2018\" }");
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
        (sound().fault("kind = \"lost_latencies\""), "counts_disagree", &["little"]),
        (sound().fault("kind = \"fewer_in_flight\""), "little", &[]),
        (sound().fault("kind = \"drift\""), "no_steady_state", &["repetitions_spread", "still_rising"]),
        (sound().fault("kind = \"restart\""), "database_restarted", &[]),
        (sound().fault("kind = \"steal\""), "cpu_steal", &[]),
        (sound().fault("kind = \"throttle\""), "cpu_throttled", &[]),
        (sound().fault("kind = \"other_work\""), "other_work", &[]),
        (sound().fault("kind = \"garbage_collection\""), "gc_pauses", &["stall", "too_short_to_judge"]),
        (sound().fault("kind = \"compaction_debt\""), "compaction_debt", &[]),
        (sound().fault("kind = \"dropped_messages\""), "dropped_messages", &[]),
        (sound().fault("kind = \"retransmits\""), "network_retransmits", &[]),
        (sound().fault("kind = \"saturated_client\""), "client_saturated", &[]),
        (sound().fault("kind = \"served_from_memory\""), "served_from_page_cache", &[]),
        (sound().fault("kind = \"small_dataset\""), "data_set_smaller", &["not_found"]),
        (sound().fault("kind = \"slow_disk\""), "emulation_off_limit", &[]),
        (sound().fault("kind = \"ebs_exceeded\""), "ebs_disagrees", &[]),
        (open("kind = \"send_lag\"", 2000), "send_lag", &["too_short_to_judge"]),
        (
            open("kind = \"stall\"\namount = 0.0", 50_000),
            "offered_not_achieved",
            &["no_steady_state", "too_short_to_judge"],
        ),
        (plain(&|s| s.records = 1_000_000), "data_fits_page_cache", &["served_from_page_cache"]),
        (plain(&|s| s.configurations = configuration("a", &gp2(1000))), "volume_at_cap", &["no_steady_state"]),
        (
            plain(&|s| {
                s.configurations = configuration("a", &gp2(1000));
                s.truth.push_str("\nwrite_amplification = 100\ncombined_limits = false");
            }),
            "separate_read_write_limits",
            &["volume_at_cap", "no_steady_state"],
        ),
        (bucket(0.02), "burst_changed", &["volume_at_cap", "no_steady_state", "too_short_to_judge"]),
        (bucket(1.0), "burst_only", &["volume_at_cap", "no_steady_state"]),
        (plain(&|s| s.load = s.load.replace("60", "20")), "too_short_to_judge", &[]),
    ];
    for (story, expected, besides) in cases {
        let rules = story.rules();
        let others: Vec<&String> = rules
            .iter()
            .filter(|r| *r != expected && !besides.contains(&r.as_str()) && !USUAL.contains(&r.as_str()))
            // The same seen at another length.
            .filter(|r| *r != "still_rising" || !besides.contains(&"no_steady_state"))
            .collect();
        println!("{expected}: {rules:?}");
        assert!(rules.contains(expected), "{expected} did not fire: {rules:?}\n{}", story.truth);
        assert!(others.is_empty(), "with the fault of {expected} also fired: {others:?}");
    }
}

/// No kernel throttles a simulated volume, no fio probes it, and nothing of this machine is in its way.
#[test]
fn a_simulation_is_not_blamed_on_a_machine() {
    let mut story = sound().fault("kind = \"slow_disk\"").fault("kind = \"steal\"");
    story.configurations = configuration("a", "data_volume = { iops = 300, mib_per_s = 500, size_gib = 100 }");
    story.load = story.load.replace("64", "256");
    let analysis = story.analysis();
    let slowest = analysis.cells[0].latency_us.values().filter_map(|latency| latency.figures.p99).fold(0.0, f64::max);
    assert!(slowest > 80_000.0, "a throttle would have shown: {slowest}");
    let said = report::document(&analysis).to_string();
    for word in ["fio ", "by fio", "the throttle", "throttle_slices", "this machine's own disk"] {
        assert!(!said.contains(word), "{word}: {said}");
    }
    assert!(said.contains("the simulated truth states it"), "{said}");
}

/// What EBS counts of a volume at its limit, and of one that is far below it.
#[test]
fn counters_of_ebs_are_held_against_what_a_volume_did() {
    let rules = |data_volume: &str, counted: f64| {
        let mut story = sound();
        story.configurations = configuration("a", data_volume);
        story.truth = "read_cpu_us = 400\nwrite_cpu_us = 300\nrun_noise = 0\nblock_noise = 0\nsecond_noise = 0".into();
        story.fault(&format!("kind = \"ebs_exceeded\"\namount = {counted:.1}")).rules()
    };
    let slow = "data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }";
    for (volume, counted, disagrees) in [(slow, 1.0, false), (slow, 0.0, true), (NVME, 1.0, true), (NVME, 0.0, false)] {
        let found = rules(volume, counted);
        assert_eq!(found.contains("ebs_disagrees"), disagrees, "{volume}, {counted}: {found:?}");
        assert_eq!(found.contains("volume_at_cap"), volume == slow, "{found:?}");
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
        analysis.findings.iter().any(|f| f.severity == Severity::Invalid && f.rule() == analysis::Rule::ErrorsAbove)
    );
}

/// Stops of the whole server, in both loops.
#[test]
fn a_stall_of_a_second_or_more_is_found_in_both_loops() {
    for seconds in [1.0, 2.0, 5.0, 10.0] {
        let fault = format!("kind = \"stall\"\namount = {seconds}");
        let closed = sound().fault(&fault).rules();
        let open = sound().fault(&fault).open(2000.0).rules();
        assert!(closed.contains("stall"), "closed loop, {seconds} s: {closed:?}");
        assert!(open.contains("stall"), "open loop, {seconds} s: {open:?}");
    }
    assert!(!sound().open(2000.0).rules().contains("stall"));
    assert!(!sound().truth("gc_pause_ms = 200").rules().contains("stall"));
}

/// Records that are missing are found at 20 %, and at 7 % where other configurations have them all.
#[test]
fn missing_records_are_found() {
    let with = |share: f64| {
        let mut story = sound().fault(&format!("kind = \"small_dataset\"\nconfiguration = \"b\"\namount = {share}"));
        story.configurations = ["a", "b", "c"].map(|name| configuration(name, NVME)).concat();
        story.rules()
    };
    for share in [0.5, 0.8, 0.93] {
        assert!(with(share).contains("data_set_smaller"), "{share}: {:?}", with(share));
    }
    assert!(!with(0.97).contains("data_set_smaller"));
}

/// Noise that repetitions have in common with their block is no spread; a trial far from the others is.
#[test]
fn sound_repetitions_are_not_called_spread() {
    let mut story = noisy(&["a", "b", "c"].map(|name| configuration(name, NVME)), 0.08, 5);
    story.truth.push_str("\nsecond_noise = 0.02");
    let seen =
        over_seeds(40, &story.job(), |a| a.findings.iter().any(|f| f.rule() == analysis::Rule::RepetitionsSpread));
    println!("8 % noise, 8 % between blocks: spread found in {:.0} % of runs", share(&seen) * 100.0);
    assert!(share(&seen) <= 0.1, "{}", share(&seen));
    let odd = noisy(&["a", "b", "c"].map(|name| configuration(name, NVME)), 0.02, 5)
        .fault("kind = \"steal\"\namount = 0.6\nconfiguration = \"b\"\nblocks = [3]")
        .analysis();
    assert!(odd.findings.iter().any(|f| f.rule() == analysis::Rule::RepetitionsSpread), "{:?}", odd.residual_spreads);
}
