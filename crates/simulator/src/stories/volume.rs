//! Limits, buckets and request rules.

use super::*;

const CAPPED: &str = "data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }";
const HALF: &str = "read = 0.5\nupdate = 0.5\ndistribution = \"uniform\"";
/// 100 bytes a write: 64 KiB are written for each.
const WRITING: &str = "write_amplification = 655.36\n";

#[test]
fn one_limit_holds_for_reads_and_writes_together() {
    let mut story = quiet(WRITING).volume(CAPPED);
    story.workload = HALF;
    let (reads, writes) = story.trial().iops(0.0, 20.0);
    near(reads + writes, 1000.0, 0.003);
    near(writes, 500.0, 0.03);
    // Apart, as cgroups count: the sum is above what EBS would have given.
    story.truth.push_str("combined_limits = false");
    let (reads, writes) = story.trial().iops(0.0, 20.0);
    near(writes, 1000.0, 0.003);
    assert!(reads + writes > 1900.0, "{reads} {writes}");
}

#[test]
fn the_same_limit_holds_request_by_request() {
    let mut story = quiet(WRITING).volume(CAPPED).load("rate = [3000]\nwarmup_s = 2\nduration_s = 20");
    story.workload = HALF;
    let (reads, writes) = story.trial().iops(0.0, 20.0);
    // 1,500 writes a second are more than the volume takes: memory fills, and reads share what there is.
    near(reads + writes, 1000.0, 0.005);
    story.truth.push_str("combined_limits = false");
    let (reads, writes) = story.trial().iops(0.0, 20.0);
    near(writes, 1000.0, 0.005);
    near(reads, 1000.0, 0.01);
}

#[test]
fn a_large_request_counts_as_several() {
    let reads = |truth: &str| quiet(truth).volume(CAPPED).trial().iops(0.0, 20.0).0;
    near(reads("chunk_bytes = 65536"), 1000.0, 0.003);
    near(reads("chunk_bytes = 65536\nio_unit_bytes = 16384"), 250.0, 0.003);
    near(reads("chunk_bytes = 16384\nio_unit_bytes = 16384"), 1000.0, 0.003);
    near(reads("chunk_bytes = 300000"), 500.0, 0.003);
    // fio's 64 KiB writes count four times, too.
    let old = quiet("io_unit_bytes = 16384").volume(CAPPED).trial();
    let probe = old.record.node().volumes[0].probe.unwrap();
    assert_eq!((probe.read_iops, probe.write_iops), (1000.0, 250.0));
    // The same bytes in larger requests are fewer requests.
    let writes = |truth: &str| {
        let mut story = quiet(truth).volume(FAST);
        story.workload = "update = 1.0";
        let trial = story.trial();
        trial.iops(0.0, 20.0).1 / trial.throughput()
    };
    near(writes("write_amplification = 3"), 300.0 / 65_536.0, 0.01);
    near(writes("write_amplification = 3\nwrite_request_bytes = 262144"), 300.0 / 262_144.0, 0.01);
}

/// gp2 of 100 GiB: 3,000 IOPS while credits last, 300 afterwards; 5.4 million credits when full.
fn bucket(load: &'static str) -> Story {
    let mut story = quiet("").load(load);
    story.configurations = "[[configuration]]\nname = \"a\"\ninstance = \"r4.4xlarge\"\nmemory_limit_gib = 4\n\
                            data_volume = { type = \"gp2\", size_gib = 100, era = \"2015-2018\" }\n"
        .to_owned();
    // 54,000 credits, spent at 3,000 - 300 a second: 20 s, of which 2.5 s are warm-up and half a second falls into a
    // second.
    story.local = "burst_credits_start = 0.0097";
    story
}

#[test]
fn a_bucket_empties_in_the_second_that_arithmetic_says() {
    for load in ["concurrency = [256]\nwarmup_s = 2\nduration_s = 40", "rate = [4000]\nwarmup_s = 2\nduration_s = 40"] {
        let trial = bucket(load).trial();
        // 0.0097 x 5.4e6 / 2,700 = 19.4 s after the start of the warm-up, so 17.4 s into the measurement.
        let iops = |t: f64| trial.iops(t, t + 1.0).0;
        near(iops(15.0), 3000.0, 0.01);
        near(iops(17.0), 0.4 * 3000.0 + 0.6 * 300.0, 0.06);
        near(iops(20.0), 300.0, 0.02);
        near(trial.iops(19.0, 40.0).0, 300.0, 0.005);
        let limit = |t: f64| {
            let sample = trial.samples[&evidence::HostId::DATABASE].iter().find(|s| s.t_s == t).unwrap();
            let data = &sample.volumes[&VolumeRole::Data];
            (data.iops_limit.unwrap(), data.burst_credits.unwrap())
        };
        assert_eq!(limit(17.0).0, 3000.0);
        for t in 18..=40 {
            assert_eq!(limit(f64::from(t)).0, 300.0, "at {t} s of {load}");
            assert!(limit(f64::from(t)).1 < 1.0);
        }
        let (start, end) = trial.record.node().volumes[0].burst_credits.unwrap();
        near(start, 0.0097 * 5.4e6 - 2.0 * 2700.0, 0.02);
        assert!(end < 1.0, "{end}");
    }
}

/// So many volumes, asked evenly, do so many times what one does; each of them does its part.
#[test]
fn several_data_volumes_do_together_what_so_many_do() {
    let with = |count: u32| {
        let volume = format!("data_volume = {{ iops = 1000, mib_per_s = 500, size_gib = 100, count = {count} }}");
        quiet("").volume(&volume).trial()
    };
    let (one, two) = (with(1), with(2));
    near(two.throughput(), 2.0 * one.throughput(), 0.01);
    near(two.iops(0.0, 20.0).0, one.iops(0.0, 20.0).0, 0.01);
    let sample = two.samples[&evidence::HostId::DATABASE].last().unwrap();
    assert_eq!(sample.volumes[&VolumeRole::Data], sample.volumes[&VolumeRole::Data2]);
    let volumes = &two.record.node().volumes;
    assert_eq!((volumes.len(), volumes[1].role), (2, VolumeRole::Data2));
    assert_eq!(volumes[1].probe, volumes[0].probe);
}
