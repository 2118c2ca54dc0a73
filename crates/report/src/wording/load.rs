//! Was the load what it was meant to be?

use analysis::Rule;

use super::of::{Of, percent};
use crate::figures::several;

pub fn words(of: &Of<'_>) -> (String, &'static str) {
    match of.0.rule {
        Rule::ClientSaturated => (
            format!(
                "The client used {} of its {}.",
                of.percent("cpu_share"),
                several(of.number("threads") as u64, "load thread")
            ),
            "Throughput and latency may be the client's: use more client CPUs or hosts, or a lower load level.",
        ),
        Rule::SendLag => (
            format!(
                "1 % of the requests were sent more than {:.1} ms after they were due.",
                of.number("send_lag_p99_us") / 1e3
            ),
            "The client was late, not the database: use more client CPUs, or a lower rate. Response times include the lag.",
        ),
        Rule::ThroughDriver => (
            format!(
                "The client did not send all requests in frames of its own: {}. It used {:.1} us of CPU for each.",
                of.fact("notes"),
                of.number("cpu_us_per_operation")
            ),
            "The answers are the same; what the client carries at most is less. Compare cells that were sent the same way.",
        ),
        Rule::OfferedNotAchieved => (
            format!(
                "Saturated: {} of the {} operations/s offered were achieved ({}).",
                of.count("achieved_ops_per_s"),
                of.count("offered_ops_per_s"),
                of.percent("share")
            ),
            "The rate is beyond what this configuration sustains: latencies grow with the length of the trial and are no property of the configuration. \
             Compare at a rate that all of them sustain.",
        ),
        Rule::BacklogDrained => (
            format!(
                "{} operations/s were achieved where {} were offered (+{}): about {} requests were left over from before the window.",
                of.count("achieved_ops_per_s"),
                of.count("offered_ops_per_s"),
                percent(of.number("share") - 1.0),
                of.count("requests_off")
            ),
            "The warm-up was beyond what this configuration sustained, and its backlog was worked off while measuring: neither this rate nor these \
             latencies are those of the load asked for. Lengthen [load] warmup_s, or lower the rate.",
        ),
        _ => (
            format!(
                "Throughput x mean response time gives {:.1} requests in flight, {} were asked for ({:+.1} %).",
                of.number("mean_in_flight"),
                of.count("concurrency"),
                of.number("off_by") * 100.0
            ),
            "Little's law must hold in a closed loop: the client did not keep the requests in flight, or the window is too short for such response \
             times. Lengthen [load] duration_s.",
        ),
    }
}
