//! HdrHistogram logs beside results, and tools whose operations somebody has to name: latte and NoSQLBench.

use std::time::{Duration, SystemTime};

use evidence::{CountedFrom, ErrorKind, OperationKind, Tool};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use imports::{Results, StatedLoad, read, take_histograms};

const STRESS: &str = include_str!("real/cassandra-stress-scylla.txt");

/// 1,000 reads of 1 to 1,000 us in 10 s, as YCSB sums them up.
const YCSB: &str = "[OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100\n[READ], Operations, 1000\n\
                    [READ], AverageLatency(us), 500.5\n[READ], MinLatency(us), 1\n[READ], MaxLatency(us), 1000\n\
                    [READ], 95thPercentileLatency(us), 950\n[READ], 99thPercentileLatency(us), 990\n\
                    [READ], Return=OK, 1000\n";

/// A log with this comment: an interval of a second for each tag, with its values.
fn log(comment: &str, intervals: &[(Option<&str>, Vec<u64>)]) -> String {
    let (mut bytes, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(comment)
        .with_start_time(SystemTime::UNIX_EPOCH)
        .begin_log_with(&mut bytes, &mut serializer)
        .unwrap();
    for (tag, values) in intervals {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        let tag = tag.map(|tag| Tag::new(tag).unwrap());
        log.write_histogram(&histogram, Duration::ZERO, Duration::from_secs(1), tag).unwrap();
    }
    String::from_utf8(bytes).unwrap()
}

fn refused(results: &Results, log: &str) -> (Option<usize>, String) {
    let refusal = take_histograms(&mut results.clone(), log).unwrap_err();
    (refusal.line, refusal.message)
}

/// The summary of YCSB has no median and no p99.9.
#[test]
fn a_log_of_ycsb_has_the_percentiles_that_its_summary_has_not() {
    let mut found = read(YCSB, None).unwrap();
    assert_eq!(found.latencies[&OperationKind::Read].p50_us, None);
    let halves: [(Option<&str>, Vec<u64>); 2] = [(None, (1..=500).collect()), (None, (501..=1_000).collect())];
    take_histograms(&mut found, &log("[Logging for: READ]", &halves)).unwrap();
    let reads = found.latencies[&OperationKind::Read];
    assert_eq!((reads.samples, reads.p50_us, reads.p999_us, reads.max_us), (1_000, Some(500.0), Some(999.0), 1_000.0));
    assert!((reads.mean_us - 500.5).abs() < 0.6, "{}", reads.mean_us);
    assert_eq!(found.counted_from, CountedFrom::Sent);
}

/// With measurement.interval=intended READ is what counts from the schedule, in the summary and in the log.
#[test]
fn a_plain_log_counts_from_the_schedule_where_the_summary_does() {
    let log = log("[Logging for: READ]", &[(None, (1..=1_000).collect())]);
    let mut shown = read(&format!("Command line: -p measurement.interval=intended -t\n{YCSB}"), None).unwrap();
    take_histograms(&mut shown, &log).unwrap();
    assert_eq!((shown.counted_from, shown.latencies[&OperationKind::Read].p50_us), (CountedFrom::Due, Some(500.0)));
    let refusal = shown.count_from(CountedFrom::Sent).unwrap_err();
    assert!(refusal.message.contains("the file shows \"due\""), "{refusal}");

    let mut stated = read(YCSB, None).unwrap();
    assert_eq!((stated.counted_from, stated.is_from_shown), (CountedFrom::Sent, false));
    stated.count_from(CountedFrom::Due).unwrap();
    take_histograms(&mut stated, &log).unwrap();
    assert_eq!(stated.counted_from, CountedFrom::Due);
    assert!(stated.left_out.iter().any(|what| what.contains("is stated beside it")), "{:?}", stated.left_out);
}

#[test]
fn a_log_of_something_else_is_refused() {
    let found = read(YCSB, None).unwrap();
    let all: Vec<u64> = (1..=1_000).collect();
    for (comment, values, words) in [
        ("[Logging for: READ]", (1..=900).collect(), "it has 900 latencies of kind read"),
        ("[Logging for: UPDATE]", all.clone(), "the results state 0 operations"),
        ("[Logging for: Intended-READ]", all.clone(), "count from another moment"),
        ("[Logging for: CLEANUP]", all.clone(), "the log of READ, UPDATE"),
        (
            "Logging op latencies for Cassandra Stress",
            all.clone(),
            "log of cassandra-stress, and the results are of YCSB",
        ),
        ("of another tool", all.clone(), "its unit is not in it"),
    ] {
        let (_, message) = refused(&found, &log(comment, &[(None, values)]));
        assert!(message.contains(words), "{comment}: {message}");
    }
    let sound = log("[Logging for: READ]", &[(None, all)]);
    let last = sound.lines().count();
    for (damaged, words) in [
        (sound.replacen("0.000,1.000", "0.000,a second", 1), "a number of at least 0"),
        (sound.replacen("0.000,1.000,", "0.000,", 1), "`START,LENGTH,LONGEST,HISTOGRAM`"),
        (sound.trim_end()[..sound.len() - 21].to_owned(), ""),
    ] {
        assert_ne!(damaged, sound);
        let (line, message) = refused(&found, &damaged);
        assert_eq!(line, Some(last), "{message}");
        assert!(message.contains(words), "{message}");
    }
    let (_, message) = refused(&found, "#[Logging for: READ]\n");
    assert!(message.contains("no interval"), "{message}");
}

/// In nanoseconds: 166,163 writes of 0.6 ms, which were late by 2 ms.
#[test]
fn a_log_of_cassandra_stress_counts_from_the_schedule_where_it_kept_to_one() {
    let writes = |ns: u64| vec![ns; 166_163];
    let comment = "Logging op latencies for Cassandra Stress";
    let mut found = read(STRESS, None).unwrap();
    let service = [(Some("WRITE-st"), writes(600_000)), (Some("WRITE-wt"), writes(1))];
    take_histograms(&mut found, &log(comment, &service)).unwrap();
    let updates = found.latencies[&OperationKind::Update];
    assert!((updates.p50_us.unwrap() / 600.0 - 1.0).abs() < 0.001, "{updates:?}");
    assert!(!found.left_out.iter().any(|what| what.contains("rounded")), "{:?}", found.left_out);
    assert_eq!(found.counted_from, CountedFrom::Sent);

    let mut found = read(STRESS, None).unwrap();
    let both = [(Some("WRITE-st"), writes(600_000)), (Some("WRITE-rt"), writes(2_600_000))];
    take_histograms(&mut found, &log(comment, &both)).unwrap();
    assert_eq!(found.counted_from, CountedFrom::Due);
    assert!((found.latencies[&OperationKind::Update].p99_us.unwrap() / 2_600.0 - 1.0).abs() < 0.001);

    let found = read(STRESS, None).unwrap();
    let (line, message) = refused(&found, &log(comment, &[(Some("simple1-st"), writes(600_000))]));
    assert!(line.is_some() && message.contains("READ, WRITE or insert"), "{line:?} {message}");
}

/// latte 0.28 has these fields, and some more: a thread with 128 requests, for two seconds.
fn latte(change: impl FnOnce(&mut serde_json::Value)) -> String {
    let means = |values: &[f64]| -> Vec<serde_json::Value> {
        values.iter().map(|value| serde_json::json!({"n": 100, "value": value, "std_err": null})).collect()
    };
    let sample = |time_s: f64| serde_json::json!({"time_s": time_s, "duration_s": 1.0, "cycle_count": 1_000});
    let mut report = serde_json::json!({
        "conf": {"rate": null, "threads": 1, "concurrency": 128, "functions": [{"name": "run", "weight": 1.0}]},
        "percentiles": [0.0, 50.0, 95.0, 99.0, 99.9_f32, 100.0],
        "result": {
            "elapsed_time_s": 2.0, "cycle_count": 2_000, "request_count": 2_000, "requests_per_cycle": 1.0,
            "error_count": 10, "cycle_throughput": {"n": 2, "value": 1_000.0, "std_err": null},
            "cycle_latency": {"mean": means(&[128.0])[0],
                "percentiles": means(&[1.0, 120.0, 200.0, 300.0, 400.0, 500.0])},
            "log": [sample(0.0), sample(1.0)],
        },
    });
    change(&mut report);
    report.to_string()
}

#[test]
fn latte_is_read_where_somebody_says_what_its_function_does() {
    let text = latte(|_| {});
    let refusal = read(&text, None).unwrap_err();
    assert!(refusal.message.contains("what its operations do is not in the file"), "{refusal}");
    let found = read(&text, Some(OperationKind::Read)).unwrap();
    assert_eq!((found.tool, found.measured_s, found.completed[&OperationKind::Read]), (Tool::Latte, 2.0, 1_990));
    assert_eq!(found.failed[&ErrorKind::Other], 10);
    assert!((found.stated_ops_per_s - 995.0).abs() < 1e-6, "{}", found.stated_ops_per_s);
    let reads = found.latencies[&OperationKind::Read];
    assert_eq!((reads.mean_us, reads.p50_us, reads.p999_us), (128_000.0, Some(120_000.0), Some(400_000.0)));
    assert_eq!((reads.max_us, found.progress.len()), (500_000.0, 2));
    assert_eq!(found.load, StatedLoad { in_flight: Some(128), rate_per_s: None });
    // A tick that is missed is skipped, and a cycle counts from its own start.
    let at_rate = read(&latte(|report| report["conf"]["rate"] = 500.0.into()), Some(OperationKind::Read)).unwrap();
    assert_eq!((at_rate.load.rate_per_s, at_rate.counted_from), (Some(500.0), CountedFrom::Sent));

    let refusal = read(YCSB, Some(OperationKind::Read)).unwrap_err();
    assert!(refusal.message.contains("YCSB states what its operations are"), "{refusal}");
}

/// What is done to a result.
type Change = fn(&mut serde_json::Value);

#[test]
fn what_latte_does_not_count_apart_is_refused() {
    let cases: [(Change, &str); 5] = [
        (|of| of["conf"]["functions"] = serde_json::json!([{"name": "a"}, {"name": "b"}]), "2 functions"),
        (|of| of["result"]["requests_per_cycle"] = 2.0.into(), "no single operation"),
        (|of| of["result"]["error_count"] = 3_000.into(), "3000 cycles failed, of 2000"),
        (|of| of["result"]["cycle_latency"] = serde_json::Value::Null, "/result/cycle_latency"),
        (|of| of["percentiles"] = serde_json::json!([50.0]), "the 100th"),
    ];
    for (change, words) in cases {
        let refusal = read(&latte(change), Some(OperationKind::Read)).unwrap_err();
        assert!(refusal.message.contains(words), "{words}: {refusal}");
    }
    let text = latte(|_| {});
    let cut = &text[..text.len() / 2];
    // Its end is where `cycle_throughput` says whose it is, or before that.
    let refusal = read(cut, Some(OperationKind::Read)).unwrap_err();
    assert!(refusal.message.contains("expected the JSON of latte") || refusal.message.contains("JSON of no tool"));
}

/// As Dropwizard's CSV reporter writes a timer, every 10 s.
const TIMER: &str = "t,count,max,mean,min,stddev,p50,p75,p95,p98,p99,p999,mean_rate,m1_rate,m5_rate,m15_rate,\
     rate_unit,duration_unit\n\
     1600914791,34117,60.9,1.8,0.1,1.9,1.4,1.9,4.0,5.9,7.6,22.2,0,0,0,0,calls/second,milliseconds\n\
     1600914801,134117,60.9,1.8,0.1,1.9,1.4,1.9,4.0,5.9,7.6,22.2,0,0,0,0,calls/second,milliseconds\n\
     1600914811,224117,60.9,1.8,0.1,1.9,1.4,1.9,4.0,5.9,7.6,22.2,0,0,0,0,calls/second,milliseconds\n\
     1600914821,224117,60.9,1.8,0.1,1.9,1.4,1.9,4.0,5.9,7.6,22.2,0,0,0,0,calls/second,milliseconds\n";

/// Its percentiles are those of the last seconds: none of them is that of the run.
#[test]
fn a_timer_of_nosqlbench_has_a_rate_and_no_percentile() {
    let found = read(TIMER, Some(OperationKind::Read)).unwrap();
    assert_eq!(
        (found.tool, found.measured_s, found.completed[&OperationKind::Read]),
        (Tool::NoSqlBench, 20.0, 190_000)
    );
    assert_eq!((found.stated_ops_per_s, found.latencies.len()), (9_500.0, 0));
    let rates: Vec<f64> = found.progress.iter().map(|line| line.rate()).collect();
    assert_eq!(rates, [10_000.0, 9_000.0], "nothing was done in the last line");
    for (from, to, line, words) in [
        ("134117,", "x,", Some(3), "a number of at least 0"),
        ("1600914801,", "1600914791,", Some(3), "a later time"),
        ("1600914821,224117,", "1600914821,224117\n", Some(5), "12 columns"),
        ("1600914821", "t,count,max,mean,min,stddev,p50,", Some(5), "a second run"),
        ("224117", "34117", None, "no more than 34117 at first"),
    ] {
        let refusal = read(&TIMER.replace(from, to), Some(OperationKind::Read)).unwrap_err();
        assert_eq!(refusal.line, line, "{to}: {refusal}");
        assert!(refusal.message.contains(words), "{to}: {refusal}");
    }
    assert!(read(TIMER, None).unwrap_err().message.contains("what its operations do"));
}
