//! The open loop against queueing theory, and what a stop does to those who come meanwhile.

use super::*;

/// Reads from memory on this many CPUs, 1 ms each, and nothing else that takes time.
fn station(cpus: u32, load: &'static str) -> Story {
    let mut story =
        quiet("read_cpu_us = 1000\nbackground_cpus = 0\nnetwork_us = 0\ngc_pause_ms = 0\nclient_cpu_us = 1")
            .load(load)
            .fault("kind = \"served_from_memory\"");
    story.configurations = story.configurations.replace("vcpus = 4", &format!("vcpus = {cpus}"));
    story
}

/// Mean waiting time in units of the service time: Erlang's C for k servers, times half the sum of the squared
/// variations of gaps (1) and services (log-normal, sigma 0.5: e^0.25 - 1). Exact for one server (Pollaczek 1930),
/// Allen and Cunneen's approximation for more.
fn waiting(k: u32, load: f64) -> f64 {
    let k_load = f64::from(k) * load;
    let term = |n: u32| (1..=n).fold(1.0, |product, i| product * k_load / f64::from(i));
    let full = term(k) / (1.0 - load);
    let all: f64 = (0..k).map(term).sum::<f64>() + full;
    let services = 0.25f64.exp() - 1.0;
    full / all / (f64::from(k) * (1.0 - load)) * (1.0 + services) / 2.0
}

#[test]
fn waiting_times_are_those_of_queueing_theory() {
    for (cpus, load, text, share) in [
        (1, 0.5, "rate = [500]\nwarmup_s = 5\nduration_s = 200", 0.05),
        (1, 0.8, "rate = [800]\nwarmup_s = 5\nduration_s = 400", 0.08),
        (4, 0.8, "rate = [3200]\nwarmup_s = 5\nduration_s = 100", 0.1),
    ] {
        let trial = station(cpus, text).trial();
        let service_s = trial.latencies(Series::Service(OperationKind::Read)).mean() / 1e3;
        near(service_s, 1.0 + waiting(cpus, load), share);
        near(trial.throughput(), 1000.0 * f64::from(cpus) * load, 0.02);
        near(trial.host(|h| h.cgroup_cpu_s), f64::from(cpus) * load, 0.02);
    }
    // Constant gaps wait less than random ones.
    let even = station(1, "rate = [800]\narrival = \"constant\"\nwarmup_s = 5\nduration_s = 100").trial();
    assert!(even.reads().mean() / 1e3 < 1.0 + 0.5 * waiting(1, 0.8));
}

#[test]
fn a_stall_delays_everyone_who_comes_while_it_lasts() {
    let calm = station(4, "rate = [2000]\nwarmup_s = 5\nduration_s = 60");
    let trial = calm.clone().fault("kind = \"stall\"\namount = 2.0").trial();
    let reads = trial.reads();
    let late = reads.len() - reads.count_between(0, 20_000);
    // 4,000 came in the 2 s; the rest of the backlog drains at 4,000 - 2,000 a second, so that as many again find a
    // queue.
    assert!((3_800..=8_300).contains(&late), "{late}");
    assert!((1_990_000..2_100_000).contains(&reads.max()), "{}", reads.max());
    assert!(calm.trial().reads().max() < 50_000);
    let seconds = trial.by_second();
    assert_eq!((seconds[30], seconds[31]), (0, 0), "nothing is answered");
    // What has gathered drains at capacity: 4,000 a second for 2 s.
    near(seconds[32] as f64, 4000.0, 0.03);
    near(seconds[33] as f64, 4000.0, 0.03);
    near(seconds[36] as f64, 2000.0, 0.08);
    near(trial.throughput(), 2000.0, 0.01);
    // The client sent on its schedule all the time.
    let client = trial.record.client.as_ref().unwrap();
    assert!(client.send_lag_us.unwrap().p99 < 200);
    near(client.operations_sent as f64, 120_000.0, 0.01);
}

#[test]
fn a_backlog_of_a_cold_start_drains_into_the_measurement() {
    // 2,000 reads a second on 1,500 IOPS: until enough of the data is cached, more comes than is served.
    let mut story = quiet("")
        .volume("data_volume = { iops = 1500, mib_per_s = 500, size_gib = 100 }")
        .load("rate = [2000]\nwarmup_s = 20\nduration_s = 120");
    story.records = 1_000_000;
    let trial = story.trial();
    let (first, last) = (&trial.by_second()[..10], &trial.by_second()[110..]);
    let rate = |seconds: &[u64]| seconds.iter().sum::<u64>() as f64 / seconds.len() as f64;
    assert!(rate(first) > 2100.0, "{}", rate(first));
    near(rate(last), 2000.0, 0.05);
    assert!(trial.throughput() > 2010.0, "{}", trial.throughput());
    assert!(trial.reads().max() > 800_000, "{}", trial.reads().max());
}

#[test]
fn more_than_can_be_served_is_served_at_capacity() {
    let volume = "data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }";
    let trial = quiet("").volume(volume).load("rate = [2000]\nwarmup_s = 2\nduration_s = 30").trial();
    near(trial.iops(0.0, 30.0).0, 1000.0, 0.005);
    let closed = quiet("").volume(volume).load("concurrency = [64]\nwarmup_s = 2\nduration_s = 30").trial();
    near(trial.throughput(), closed.throughput(), 0.02);
    // A thousand a second too many for 32 s: the last of them has waited about half of that.
    near(trial.reads().max() as f64 / 1e6, 15.6, 0.06);
}

#[test]
fn a_slow_client_is_late_and_its_lag_is_reported() {
    let lag = |story: Story| story.trial().record.client.unwrap().send_lag_us.unwrap();
    let usual = lag(station(4, "rate = [2000]\nwarmup_s = 2\nduration_s = 20"));
    assert!(usual.p50 < 50 && (80..200).contains(&usual.p99), "{usual:?}");
    let late = lag(station(4, "rate = [2000]\nwarmup_s = 2\nduration_s = 20").fault("kind = \"send_lag\"\namount = 3"));
    assert!(late.p50 < 50 && (3_000..3_300).contains(&late.p99), "{late:?}");
    // 600 us for each of 2,000 a second are more than one CPU has.
    let busy =
        station(4, "rate = [2000]\nwarmup_s = 2\nduration_s = 20").fault("kind = \"saturated_client\"\namount = 600");
    let trial = busy.trial();
    near(trial.throughput(), 1e6 / 600.0, 0.01);
    near(trial.record.client.as_ref().unwrap().client_cpu_s, 20.0, 0.01);
    assert!(trial.record.client.unwrap().send_lag_us.unwrap().max > 3_000_000);
}
