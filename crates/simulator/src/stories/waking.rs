//! A database that wakes up: what it leaves in the evidence on its way to rest.

use reported::jvm;

use super::*;

/// Reads of 1 ms on one CPU; 10 CPU seconds to compile, of which half a CPU is taken at first.
fn waking(warmup_s: u32) -> SimulatedTrial {
    let mut story = quiet(
        "read_cpu_us = 1000\nbackground_cpus = 0\ngc_pause_ms = 0\n\
         waking_up = { compile_cpu_s = 10, compiler_share = 0.5, cold_cost = 5 }",
    );
    story.configurations = story.configurations.replace("vcpus = 4", "vcpus = 1");
    let load = format!("concurrency = [64]\nwarmup_s = {warmup_s}\nduration_s = 20");
    story.load(load.leak()).trial()
}

#[test]
fn code_that_is_not_compiled_costs_cpu_and_its_compilers_are_seen() {
    let cold = waking(0);
    // A fifth of half a CPU at first, in the end all of it: after 2 x 10 s / 0.5 = 40 s.
    let first = cold.by_second()[0] as f64;
    near(first, 0.5 / 0.005, 0.05);
    near(waking(45).throughput(), 1000.0, 0.02);
    let shares: Vec<f64> = [0, 10, 30, 45]
        .map(|warmup_s| {
            let trial = waking(warmup_s);
            trial.reported(&jvm::COMPILER_CPU_S) / trial.host(|h| h.process_cpu_s)
        })
        .into();
    assert!(shares.windows(2).all(|pair| pair[0] > pair[1]), "{shares:?}");
    near(shares[0], 0.375, 0.05);
    assert_eq!(shares[3], 0.0);
    // What is compiled, in the warm-up or later, is all that there was to compile.
    let whole = |trial: &SimulatedTrial| {
        let last = trial.samples[&evidence::HostId::DATABASE].last().unwrap();
        last.database.get(&jvm::COMPILER_CPU_S)
    };
    near(whole(&waking(45)).unwrap(), 10.0, 0.01);
    // Without it a database is born warm, and says so.
    let warm = quiet("").trial();
    assert_eq!(warm.reported(&jvm::COMPILER_CPU_S), 0.0);
}

#[test]
fn compilers_take_from_a_queue_what_they_take_from_a_fluid() {
    let story = |load: &'static str| {
        let mut story = quiet(
            "read_cpu_us = 1000\nbackground_cpus = 0\ngc_pause_ms = 0\n\
             waking_up = { compile_cpu_s = 100000, compiler_share = 0.5, cold_cost = 1 }",
        );
        story.configurations = story.configurations.replace("vcpus = 4", "vcpus = 1");
        story.load(load).trial().throughput()
    };
    near(story("concurrency = [64]\nwarmup_s = 2\nduration_s = 20"), 500.0, 0.02);
    near(story("rate = [2000]\nwarmup_s = 2\nduration_s = 20"), 500.0, 0.05);
}

/// The volume is read more for each operation until the page cache is filled, by what is read.
#[test]
fn a_page_cache_that_is_warm_in_part_fills_by_device_reads() {
    let with = |cached_share: f64| {
        let truth = format!("waking_up = {{ compile_cpu_s = 0, cached_share = {cached_share} }}");
        let mut story = quiet(&truth)
            .volume("data_volume = { iops = 20000, mib_per_s = 2000, size_gib = 100 }")
            .load("concurrency = [64]\ncache = \"warm\"\nwarmup_s = 0\nduration_s = 20");
        story.records = 3_000_000;
        story.trial()
    };
    let reads = |trial: &SimulatedTrial, from: f64, to: f64| {
        let answered: u64 = trial.by_second()[from as usize..to as usize].iter().sum();
        trial.iops(from, to).0 * (to - from) / answered as f64
    };
    let (full, part) = (with(1.0), with(0.2));
    near(reads(&full, 0.0, 2.0), reads(&full, 18.0, 20.0), 0.01);
    assert!(reads(&part, 0.0, 2.0) > 1.1 * reads(&full, 0.0, 2.0));
    near(reads(&part, 18.0, 20.0), reads(&full, 18.0, 20.0), 0.01);
    let warmed = |trial: &SimulatedTrial| trial.record.nodes[0].warmed.unwrap().bytes as f64;
    near(warmed(&part), 0.2 * warmed(&full), 0.001);
}

#[test]
fn nothing_is_flushed_before_a_memtable_is_full() {
    // 1,000 bytes a second are written, in ten writes.
    let mut story = quiet("write_amplification = 655.36\nwaking_up = { compile_cpu_s = 0, first_flush_bytes = 12000 }")
        .load("rate = [10]\narrival = \"constant\"\nwarmup_s = 2\nduration_s = 20");
    story.workload = "update = 1.0";
    let trial = story.trial();
    assert_eq!(trial.iops(0.0, 9.0).1, 0.0);
    near(trial.iops(12.0, 20.0).1, 10.0, 0.05);
}
