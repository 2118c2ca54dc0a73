//! Was the load what it was meant to be?

use analysis::rules::client_saturated::ClientSaturated;
use analysis::rules::little::LittlesLaw;
use analysis::rules::offered_rate::OfferedRate;
use analysis::rules::send_lag::SendLag;
use analysis::rules::through_driver::ThroughDriver;

use super::amounts::{Words, percent};
use crate::figures::{count, several, whole};

pub fn saturated(of: &ClientSaturated) -> Words {
    (
        format!("The client used {} of its {}.", percent(of.cpu_share), several(of.threads.into(), "load thread")),
        "Throughput and latency may be the client's: use more client CPUs or hosts, or a lower load level.",
    )
}

pub fn send_lag(of: &SendLag) -> Words {
    (
        format!(
            "1 % of the requests were sent more than {:.1} ms after they were due.",
            of.send_lag_p99_us as f64 / 1e3
        ),
        "The client was late, not the database: use more client CPUs, or a lower rate. Response times include the lag.",
    )
}

pub fn through_driver(of: &ThroughDriver) -> Words {
    (
        format!(
            "What the client says of how it sent requests: {}. It used {:.1} us of CPU for each.",
            of.notes.join("; "),
            of.cpu_us_per_operation
        ),
        "Another way of sending costs other CPU, and the client carries more or less by it. Compare cells that were \
         sent the same way.",
    )
}

pub fn not_achieved(of: &OfferedRate) -> Words {
    (
        format!(
            "Saturated: {} of the {} operations/s offered were achieved ({}).",
            whole(of.achieved_ops_per_s),
            whole(of.offered_ops_per_s),
            percent(of.share)
        ),
        "The rate is beyond what this configuration sustains: latencies grow with the length of the trial and are no \
         property of the configuration. Compare at a rate that all of them sustain.",
    )
}

pub fn drained(of: &OfferedRate) -> Words {
    (
        format!(
            "{} operations/s were achieved where {} were offered (+{}): about {} requests were left over from before \
             the window.",
            whole(of.achieved_ops_per_s),
            whole(of.offered_ops_per_s),
            percent(of.share - 1.0),
            whole(of.requests_off)
        ),
        "The warm-up was beyond what this configuration sustained, and its backlog was worked off while measuring: \
         neither this rate nor these latencies are those of the load asked for. Lengthen [load] warmup_s, or lower the \
         rate.",
    )
}

pub fn little(of: &LittlesLaw) -> Words {
    (
        format!(
            "Throughput x mean response time gives {:.1} requests in flight, {} were asked for ({:+.1} %).",
            of.mean_in_flight,
            count(of.concurrency.into()),
            of.off_by * 100.0
        ),
        "Little's law must hold in a closed loop: the client did not keep the requests in flight, or the window is too \
         short for such response times. Lengthen [load] duration_s.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_all_that_a_client_says_is_about_frames() {
        let of = ThroughDriver { notes: vec!["3 copies were left in caches".to_owned()], cpu_us_per_operation: 10.0 };
        let (what, advice) = through_driver(&of);
        let said = "What the client says of how it sent requests: 3 copies were left in caches. It used 10.0 us of CPU \
                    for each.";
        assert_eq!(what, said);
        assert!(!advice.contains("frames") && !advice.contains("the same;"), "{advice}");
    }
}
