//! Stops and faults: what they take is missing, and the counters show no more than that.

use evidence::ErrorKind;
use reported::{cassandra, jvm};

use super::*;

const LONG: &str = "concurrency = [64]\nwarmup_s = 5\nduration_s = 200";

/// Sum of all response times over requests in flight and time: 1 by Little's law.
fn little(trial: &SimulatedTrial, in_flight: f64) -> f64 {
    let reads = trial.reads();
    reads.mean() * reads.len() as f64 / 1e6 / in_flight / trial.record.client.as_ref().unwrap().measured_s
}

#[test]
fn stalls_at_random_leave_their_trace_in_counts_and_in_latencies() {
    let mut job = quiet("gc_pause_ms = 0\nstall_every_s = 20\nstall_s = 0.4").load(LONG).job();
    let (mut stalls, mut late) = (0, 0);
    for seed in 1..=20 {
        job.plan.place.truth_mut().unwrap().seed = seed;
        let trial = all(&job).remove(0);
        let calm = *trial.by_second().iter().max().unwrap() as f64;
        // A stall takes 0.4 s out of one second, or out of two neighbours.
        let missing: f64 = trial.by_second().iter().map(|n| 1.0 - *n as f64 / calm).sum();
        stalls += (missing / 0.4).round() as u64;
        let reads = trial.reads();
        late += reads.len() - reads.count_between(0, 400_000);
        assert!(reads.max() < 1_300_000, "{}", reads.max());
        near(little(&trial, 64.0), 1.0, 0.01);
    }
    // 20 x 200 s / 20 s, a Poisson number; 64 requests waited through each.
    assert!((160..=240).contains(&stalls), "{stalls}");
    near(late as f64 / stalls as f64, 64.0, 0.1);
    assert_eq!(quiet("").load(LONG).trial().by_second().iter().filter(|n| **n == 0).count(), 0);
}

#[test]
fn collection_pauses_have_their_length_and_spacing() {
    let pausing = quiet("gc_every_s = 5").load(LONG).fault("kind = \"garbage_collection\"\namount = 0.04");
    let (trial, calm) = (pausing.trial(), quiet("gc_pause_ms = 0").load(LONG).trial());
    near(trial.reported(&jvm::GC_PAUSES), 0.2, 0.03);
    near(trial.reported(&jvm::GC_PAUSE_S), 0.04, 0.03);
    near(trial.throughput() / calm.throughput(), 0.96, 0.003);
    // 40 pauses of 200 ms with 64 requests in flight.
    let reads = trial.reads();
    near((reads.len() - reads.count_between(0, 200_000)) as f64, 40.0 * 64.0, 0.05);
    assert!(calm.reads().max() < 100_000);
    near(little(&trial, 64.0), 1.0, 0.01);
    // A volume at its limit works on during a short pause.
    let capped = quiet("").volume("data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }");
    near(capped.trial().iops(0.0, 20.0).0, 1000.0, 0.001);
}

#[test]
fn steal_takes_what_the_counter_shows() {
    let cpu_bound = |story: Story| {
        let trial = story.trial();
        let stolen = trial.host(|h| h.cpu_steal_s);
        let all = stolen + trial.host(|h| h.cpu_user_s) + trial.host(|h| h.cpu_system_s) + trial.host(|h| h.cpu_idle_s);
        (stolen / all, trial.throughput())
    };
    let (none, calm) = cpu_bound(quiet(""));
    assert_eq!(none, 0.0);
    for amount in [0.005, 0.02, 0.2] {
        let (share, throughput) = cpu_bound(quiet("").fault(&format!("kind = \"steal\"\namount = {amount}")));
        near(share, amount, 0.01);
        near(throughput / calm, 1.0 - amount, 0.003);
    }
}

#[test]
fn other_work_is_on_the_host_and_makes_operations_dearer() {
    let cpu_bound = |story: Story| {
        let trial = story.trial();
        let busy = trial.host(|h| h.cpu_user_s) + trial.host(|h| h.cpu_system_s);
        (busy - trial.host(|h| h.cgroup_cpu_s), trial.throughput())
    };
    let (client_cpus, calm) = cpu_bound(quiet(""));
    let (cpus, disturbed) = cpu_bound(quiet("").fault("kind = \"other_work\"\namount = 0.6"));
    near(cpus - client_cpus, 0.6, 0.1);
    near(disturbed / calm, 1.0 / 1.2, 0.05);
}

#[test]
fn a_quota_throttles_where_demand_meets_it() {
    let throttled = |story: Story| {
        let trial = story.trial();
        let share = trial.host(|h| h.cgroup_throttled_periods) / trial.host(|h| h.cgroup_periods);
        (share, trial.host(|h| h.cgroup_cpu_s), trial.throughput())
    };
    let quota = "kind = \"throttle\"\namount = 0.2";
    // All CPUs wanted: every period, and 80 % of the CPUs are used.
    let (share, cpus, with) = throttled(quiet("").fault(quota));
    assert!(share > 0.99, "{share}");
    near(cpus, 0.8 * 4.0, 0.01);
    let (none, _, without) = throttled(quiet(""));
    assert_eq!(none, 0.0);
    near(with / without, 0.8, 0.01);
    // A rate that needs half of the CPUs never meets it; one that needs just below 80 % does now and then.
    let open = |load| throttled(quiet("read_cpu_us = 400").load(load).fault(quota)).0;
    assert!(open("rate = [5000]\nwarmup_s = 2\nduration_s = 20") < 0.001);
    let close = open("rate = [7600]\nwarmup_s = 2\nduration_s = 20");
    assert!((0.005..0.8).contains(&close), "{close}");
    // The same in a closed loop whose few requests in flight want little.
    let few = quiet("read_cpu_us = 400").load("concurrency = [2]\nwarmup_s = 2\nduration_s = 20");
    assert_eq!(throttled(few.fault(quota)).0, 0.0);
}

#[test]
fn missing_records_are_missed_by_reads() {
    let trial = quiet("").fault("kind = \"small_dataset\"\namount = 0.8").trial();
    let client = trial.record.client.as_ref().unwrap();
    let missed = client.errors[&ErrorKind::NotFound] as f64;
    near(missed / (missed + client.completed[&OperationKind::Read] as f64), 0.2, 0.002);
    let whole = quiet("").trial().record.node().data_bytes_on_disk as f64;
    near(trial.record.node().data_bytes_on_disk as f64, 0.8 * whole, 1e-6);
}

#[test]
fn what_is_rare_is_as_frequent_as_it_should_be() {
    // 30 operations a second of which one in a thousand fails: 6 in 200 s, by either loop.
    for (load, least, most) in [
        ("concurrency = [1]\nwarmup_s = 5\nduration_s = 200", 5, 7),
        ("rate = [30]\nwarmup_s = 5\nduration_s = 200", 1, 14),
    ] {
        let slow = quiet("network_us = 33000").load(load).fault("kind = \"errors\"\namount = 0.001");
        let client = slow.trial().record.client.unwrap();
        let errors = client.errors.get(&ErrorKind::ReadTimeout).copied().unwrap_or(0);
        assert!((least..=most).contains(&errors), "{errors} of {load}");
    }
    // The slowest of half a million is 4.5 standard deviations out, not the middle of the last percent.
    let reads = quiet("gc_pause_ms = 0").load("concurrency = [64]\nwarmup_s = 5\nduration_s = 30").trial().reads();
    let factor = reads.max() as f64 / reads.value_at_quantile(0.5) as f64;
    assert!(factor > (0.5f64 * 4.0).exp(), "{factor}");
}

#[test]
fn debt_gathers_where_something_is_flushed() {
    let debt = |workload| {
        let mut story = quiet("").load(LONG).fault("kind = \"compaction_debt\"\namount = 0.05");
        story.workload = workload;
        story.trial().reported(&cassandra::PENDING_COMPACTIONS)
    };
    near(debt("read = 0.5\nupdate = 0.5"), 0.05, 0.1);
    assert_eq!(debt("read = 1.0"), 0.0);
}
