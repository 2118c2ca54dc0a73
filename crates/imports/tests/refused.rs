//! What is refused, at which line, and what was expected there; what is made of the rarer forms of a file.

use evidence::{CountedFrom, OperationKind};
use imports::{Refusal, Results};

/// Of a tool that states what its operations are.
fn read(text: &str) -> Result<Results, Refusal> {
    imports::read(text, None)
}

const YCSB: &str = include_str!("../../../examples/ycsb-result.txt");
const STRESS: &str = include_str!("real/cassandra-stress-scylla.txt");
const FIO: &str = include_str!("real/fio-randrw.json");

/// Each change of a real file, with the line and the words of the refusal.
fn refused(text: &str, cases: &[(&str, &str, Option<usize>, &str)]) {
    assert!(read(text).is_ok());
    for (from, to, line, words) in cases {
        assert!(text.contains(from), "{from}");
        let refusal = read(&text.replacen(from, to, 1)).unwrap_err();
        assert_eq!(refusal.line, *line, "{from} -> {to}: {refusal}");
        assert!(refusal.message.contains(words), "{from} -> {to}: {refusal}");
    }
}

/// A line of a text by what it begins with.
fn line(text: &str, begins: &str) -> Option<usize> {
    text.lines().position(|line| line.trim_start().starts_with(begins)).map(|at| at + 1)
}

#[test]
fn ycsb() {
    let read_operations = line(YCSB, "[READ], Operations");
    refused(
        YCSB,
        &[
            ("[READ], Operations, 5001979", "[READ], Operations, many", read_operations, "a number of at least 0"),
            ("[READ], Operations, 5001979", "[READ], Operations, -1", read_operations, "a number of at least 0"),
            ("[READ], Operations, 5001979", "[READ], Operations, 1.5", read_operations, "a whole number"),
            ("[READ], Operations, 5001979", "[READ], Operations, 1e300", read_operations, "a number of at least 0"),
            ("[READ], Operations, 5001979", "[READ], Operations", read_operations, "`[OPERATION], NAME, NUMBER`"),
            ("[READ], Operations", "[DELETE], Operations", read_operations, "READ, UPDATE, INSERT, SCAN"),
            ("[READ], Operations", "[READ], Ops", read_operations, "a figure of YCSB 0.12 to 0.17"),
            ("AverageLatency(us)", "AverageLatency(ms)", line(YCSB, "[READ], AverageLatency"), "a figure of YCSB 0.12"),
            ("[READ], Return=OK, 5001979", "[READ], 0, 1922.51", line(YCSB, "[READ], Return"), "a bucket"),
            ("[OVERALL], RunTime(ms), 621695\n", "", None, "`[OVERALL], RunTime(ms), NUMBER` is missing"),
            ("[OVERALL], RunTime(ms), 621695", "[OVERALL], RunTime(ms), 0", None, "the measurement took 0 s"),
            ("[OVERALL], RunTime(ms), 621695", "[OVERALL], RunTime(ms), 9e14", None, "the measurement took"),
            ("[OVERALL], RunTime", "[OVERALL], Runtime", line(YCSB, "[OVERALL], RunTime"), "`RunTime(ms)` or"),
            ("[TOTAL_GCs]", "[OVERALL], RunTime(ms), 1\n[TOTAL_GCs]", line(YCSB, "[TOTAL_GCs]"), "a second run"),
        ],
    );
    let nothing = YCSB.replace("5001979", "0").replace("4998021", "0");
    assert!(read(&nothing).unwrap_err().message.contains("no operation completed without error"));
    let cut = YCSB.split("[UPDATE]").next().unwrap();
    assert!(read(cut).is_ok(), "a workload of reads alone has no [UPDATE]: the counts show what is missing");
}

/// The returns say what completed; the latencies are of as many as were measured.
#[test]
fn operations_of_ycsb_that_are_not_its_returns_are_seen_in_its_samples() {
    let of = |operations: u64, returns: &str| {
        let text = format!(
            "[OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100\n[READ], Operations, {operations}\n\
             [READ], AverageLatency(us), 700.0\n[READ], MaxLatency(us), 4500\n{returns}"
        );
        let found = read(&text).unwrap();
        (found.completed[&OperationKind::Read], found.latencies[&OperationKind::Read].samples)
    };
    let failed = "[READ], Return=OK, 990\n[READ], Return=ERROR, 10\n";
    assert_eq!(of(1_000, "[READ], Return=OK, 1000\n"), (1_000, 1_000));
    assert_eq!(of(1_000, ""), (1_000, 1_000));
    assert_eq!((of(990, failed), of(1_000, failed)), ((990, 990), (990, 990)), "with those that failed, or without");
    assert_eq!(of(3_000, "[READ], Return=OK, 1000\n"), (1_000, 3_000));
    assert_eq!(of(400, failed), (990, 400));
}

/// YCSB's own histogram states the lower edges of its buckets: a p99 of 0 is one below a millisecond.
#[test]
fn buckets_of_ycsb_are_read_by_their_upper_edges() {
    let stated = "[OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100\n[READ], Operations, 1000\n\
                  [READ], AverageLatency(us), 700.0\n[READ], LatencyVariance(us), 12.5\n[READ], MinLatency(us), 1\n\
                  [READ], MaxLatency(us), 4500\n[READ], 95thPercentileLatency(us), 0\n\
                  [READ], 99thPercentileLatency(us), 1000\n[READ], Return=OK, 1000\n";
    let found = read(stated).unwrap();
    let reads = found.latencies[&OperationKind::Read];
    assert_eq!((reads.p50_us, reads.p95_us, reads.p99_us), (None, Some(1_000.0), Some(2_000.0)));
    assert!(found.left_out[0].contains("upper edges"), "{:?}", found.left_out);

    let buckets = format!("{stated}[READ], 0, 960\n[READ], 1, 35\n[READ], 2, 4\n[READ], >3, 1\n");
    let reads = read(&buckets).unwrap().latencies[&OperationKind::Read];
    assert_eq!((reads.p50_us, reads.p95_us, reads.p99_us), (Some(1_000.0), Some(1_000.0), Some(2_000.0)));
    assert_eq!((reads.p999_us, reads.mean_us, reads.max_us), (Some(3_000.0), 700.0, 4_500.0));
    let decimals = buckets.replace("0, 960\n", "0, 960.0\n").replace("1, 35\n", "1, 35.0\n");
    assert_eq!(read(&decimals).unwrap(), read(&buckets).unwrap(), "whole counts, as some versions print them");
}

#[test]
fn raw_points_of_ycsb_are_counted_one_by_one() {
    let mut text = "READ latency raw data: op, timestamp(ms), latency(us)\n".to_owned();
    for i in 0..400 {
        text += &format!("READ,{},{}\n", 1_486_498_173_500_u64 + i * 10, 100 + i);
    }
    text += "[OVERALL], RunTime(ms), 4000\n[OVERALL], Throughput(ops/sec), 100\n[READ], Total Operations, 400\n\
             [READ], Below is a summary of latency in microseconds:, -1\n[READ], Average, 299.5\n[READ], Min, 100\n\
             [READ], Max, 499\n[READ], p50, 300\n[READ], p99.9, 499\n[READ], Return=OK, 400\n";
    let found = read(&text).unwrap();
    let reads = found.latencies[&OperationKind::Read];
    assert_eq!((reads.p50_us, reads.p99_us, reads.p999_us), (Some(299.0), Some(495.0), Some(499.0)));
    assert_eq!(found.progress.iter().map(|line| line.operations).collect::<Vec<_>>(), [100.0; 3], "whole seconds");
    let broken = text.replacen("READ,1486498173510,101", "READ,1486498173510,fast", 1);
    assert_eq!(read(&broken).unwrap_err().line, Some(3));
}

#[test]
fn latencies_of_ycsb_count_from_the_schedule_where_it_was_asked_for() {
    let at_rate = "Command line: -db site.ycsb.BasicDB -threads 64 -target 8000 -p measurement.interval=MODE -t\n";
    let with = |mode: &str| format!("{}{YCSB}", at_rate.replace("MODE", mode));
    let sent = read(&with("op")).unwrap();
    assert_eq!((sent.load.in_flight, sent.load.rate_per_s), (Some(64), Some(8_000.0)));
    assert_eq!(sent.counted_from, CountedFrom::Sent);
    assert_eq!(read(&with("intended")).unwrap().counted_from, CountedFrom::Due);

    let intended: String = YCSB
        .lines()
        .filter(|line| line.starts_with("[READ]") && !line.contains("Return"))
        .map(|line| line.replace("[READ]", "[Intended-READ]").replace("1049", "665087") + "\n")
        .collect();
    let both = read(&(with("both") + &intended)).unwrap();
    assert_eq!(both.counted_from, CountedFrom::Due);
    assert_eq!(both.latencies[&OperationKind::Read].p99_us, Some(665_087.0), "that of the schedule");
    assert_eq!(both.completed, sent.completed, "each operation is counted once");
}

#[test]
fn clocks_of_ycsb_that_disagree_are_both_kept() {
    let line = |time: &str, s: u32| format!("2020-01-10 {time} {s} sec: {} operations; 10 current ops/sec;\n", s * 10);
    let text = line("16:21:30:213", 0) + &line("16:21:40:213", 10) + &line("15:21:50:213", 20) + YCSB;
    let clocks = read(&text).unwrap().clocks.unwrap();
    assert_eq!((clocks.elapsed_s, clocks.of_day_s), (20.0, -3_580.0));
}

#[test]
fn cassandra_stress() {
    refused(
        STRESS,
        &[
            ("total,         21541", "total,         2154x", line(STRESS, "total,         21541"), "a number"),
            (
                ",       0\ntotal,         38248",
                "\ntotal,         38248",
                line(STRESS, "total,         21541"),
                "19 columns",
            ),
            ("total ops,", "ops,", line(STRESS, "type "), "columns `total ops` and `time`"),
            (
                "Latency mean              :    0.6 ms",
                "Latency mean : NaN ms",
                line(STRESS, "Latency mean"),
                "a number",
            ),
            // It was read as 6 ms.
            (
                "Latency mean              :    0.6 ms",
                "Latency mean : 0,6 ms",
                line(STRESS, "Latency mean"),
                "commas between thousands",
            ),
            ("15,545 op/s  [", "15.545,0 op/s  [", line(STRESS, "Op rate"), "commas between thousands"),
            ("Latency mean ", "Latency avg ", line(STRESS, "Latency mean"), "a figure of the results"),
            ("Latency max               :   10.4 ms [WRITE: 10.4 ms]\n", "", None, "`latency max` is missing"),
            (
                "Latency max               :   10.4 ms [WRITE:",
                "Latency max : 10.4 ms [READ:",
                line(STRESS, "Latency max"),
                "[WRITE: NUMBER]",
            ),
            ("op/s  [WRITE:", "op/s  [simple1:", line(STRESS, "Op rate"), "READ, WRITE or insert"),
            ("END", "END\nResults:\n", line(STRESS, "END").map(|at| at + 1), "a second run"),
            ("Thread Count: 10", "Thread Count: ten", line(STRESS, "Thread Count"), "a number"),
        ],
    );
}

#[test]
fn a_mix_of_cassandra_stress_is_read_by_kind() {
    let mixed = "Type: mixed\ntype       total ops,    op/s,   time\n\
                 READ,  800,  800,  1.0\nWRITE,  200,  200,  1.0\ntotal,  1000,  1000,  1.0\n\
                 Results:\nOp rate : 1,000 op/s [READ: 800 op/s, WRITE: 200 op/s]\n\
                 Latency mean : 1.2 ms [READ: 1.0 ms, WRITE: 2.0 ms]\nLatency median : 1 ms [READ: 1 ms, WRITE: 2 ms]\n\
                 Latency 95th percentile : 3 ms [READ: 3 ms, WRITE: 4 ms]\n\
                 Latency 99th percentile : 5 ms [READ: 5 ms, WRITE: 6 ms]\n\
                 Latency 99.9th percentile : 7 ms [READ: 7 ms, WRITE: 8 ms]\n\
                 Latency max : 4399.8 ms [READ: 4,399.8 ms, WRITE: 9 ms]\nTotal errors : 3 [READ: 3, WRITE: 0]\n\
                 Total operation time : 00:00:01\n";
    let found = read(mixed).unwrap();
    assert_eq!((found.completed[&OperationKind::Read], found.completed[&OperationKind::Update]), (797, 200));
    assert_eq!(found.stated_ops_per_s, 997.0, "the tool counts what failed among all");
    assert_eq!(found.latencies[&OperationKind::Read].max_us, 4_399_800.0);
    assert_eq!(found.latencies[&OperationKind::Update].p99_us, Some(6_000.0));
    assert_eq!(found.failed.values().sum::<u64>(), 3);
}

#[test]
fn results_of_cassandra_2_1_have_names_of_their_own() {
    let text = "type       total ops,    op/s,   time\ntotal,       1000,    1000,    1.0\nResults:\n\
                op rate : 1000 [WRITE:1000]\npartition rate : 1000 [WRITE:1000]\nrow rate : 1000 [WRITE:1000]\n\
                latency mean : 1.2 [WRITE:1.2]\nlatency median : 1.0 [WRITE:1.0]\n\
                latency 95th percentile : 2.0 [WRITE:2.0]\nlatency 99th percentile : 3.0 [WRITE:3.0]\n\
                latency 99.9th percentile : 4.0 [WRITE:4.0]\nlatency max : 5.0 [WRITE:5.0]\n\
                Total partitions : 1000 [WRITE:1000]\nTotal errors : 0 [WRITE:0]\ntotal gc count : 0\n\
                total gc mb : 0\ntotal gc time (s) : 0\navg gc time(ms) : NaN\nstdev gc time(ms) : 0\n\
                Total operation time : 00:00:01\nEND\n";
    let found = read(text).unwrap();
    assert_eq!(found.completed[&OperationKind::Update], 1_000);
    assert_eq!(found.latencies[&OperationKind::Update].p99_us, Some(3_000.0));
    assert_eq!(found.load.in_flight, None, "it prints no settings");
}

#[test]
fn fio() {
    let half = &FIO[..FIO.len() / 2];
    let refusal = read(half).unwrap_err();
    assert_eq!(refusal.line, Some(half.lines().count()), "{refusal}");
    refused(
        FIO,
        &[
            ("fio-3.16", "fio-2.2.10", None, "`fio version` 3"),
            ("\"error\" : 0", "\"error\" : 5", None, "ended with error 5"),
            ("\"total_ios\" : 2554337", "\"total_ios\" : \"many\"", None, "a number `total_ios`"),
            ("\"iops\" : 85138.890741,", "", None, "a number `iops`"),
            ("\"runtime\" : 0, \"total_ios\" : 0 }", "\"runtime\" : 0, \"total_ios\" : 7 }", None, "trims"),
            ("\"jobs\" : [", "\"job\" : [", None, "expected `jobs`"),
            ("\"iodepth\" : \"64\"", "\"rate_iops\" : \"100,fast\"", None, "a number for each direction"),
            ("\"iodepth\" : \"64\"", "\"rate\" : \"100m\"", None, "a rate in bytes"),
            ("\"iodepth\" : \"64\"", "\"thinktime\" : \"500\"", None, "paused between its requests"),
        ],
    );
}

/// One entry of fio's output stands for as many jobs as there are, and each of them keeps to the rate.
#[test]
fn a_rate_of_fio_is_that_of_each_job() {
    let alone = include_str!("real/fio-rate.json");
    let four = alone.replacen("\"iodepth\":\"4\"", "\"iodepth\":\"4\",\"numjobs\":\"4\"", 1);
    let load = read(&four).unwrap().load;
    assert_eq!((load.in_flight, load.rate_per_s), (Some(16), Some(4_000.0)));
}

#[test]
fn jobs_of_fio_that_did_not_run_together_are_several_measurements() {
    let job = |group: u32, option: &str| {
        format!(
            "{{\"jobname\": \"a\", \"groupid\": {group}, \"error\": 0, \
             \"job options\": {{\"iodepth\": \"8\"{option}}}, \
             \"read\": {{\"total_ios\": 100, \"runtime\": 1000, \"iops\": 100.0, \
             \"clat_ns\": {{\"mean\": 2000.0, \"max\": 4000, \"bins\": {{\"1000\": 60, \"4000\": 40}}}}}}}}"
        )
    };
    let of = |group: u32, option: &str| {
        format!("{{\"fio version\": \"fio-3.35\", \"jobs\": [{}, {}]}}", job(0, ""), job(group, option))
    };
    assert_eq!(read(&of(0, "")).unwrap().completed[&OperationKind::Read], 200);
    for (group, option, words) in [
        (1, ", \"stonewall\": \"\"", "ran one after the other (stonewall)"),
        (1, "", "are of several groups"),
        (0, ", \"wait_for\": \"b\"", "ran one after the other (wait_for)"),
        (0, ", \"startdelay\": \"10\"", "began at different times"),
    ] {
        let refusal = read(&of(group, option)).unwrap_err();
        assert!(refusal.message.contains(words), "{refusal}");
    }
}

/// Percentiles of several jobs cannot be added; their bins can.
#[test]
fn several_jobs_of_fio_have_latencies_where_they_have_bins() {
    let job = |bins: &str| {
        format!(
            "{{\"jobname\": \"a\", \"error\": 0, \"job options\": {{\"iodepth\": \"8\"}}, \
             \"read\": {{\"total_ios\": 100, \"runtime\": 1000, \"iops\": 100.0, \
             \"clat_ns\": {{\"mean\": 2000.0, \"max\": 4000, \"percentile\": {{\"99.000000\": 3000}}{bins}}}}}}}"
        )
    };
    let of = |bins| format!("{{\"fio version\": \"fio-3.35\", \"jobs\": [{}, {}]}}", job(bins), job(bins));
    let without = read(&of("")).unwrap();
    assert!(without.latencies.is_empty() && without.left_out[0].contains("cannot be added"), "{without:?}");
    assert_eq!((without.completed[&OperationKind::Read], without.load.in_flight), (200, Some(16)));
    let with = read(&of(", \"bins\": {\"1000\": 60, \"4000\": 40}")).unwrap();
    let reads = with.latencies[&OperationKind::Read];
    assert_eq!((reads.samples, reads.p50_us, reads.p99_us, reads.max_us), (200, Some(1.0), Some(4.0), 4.0));
}
