//! Was the load what it was meant to be? A client that cannot keep up measures itself.

use spec::LoadLevel;

use super::{percent, scope};
use crate::finding::{Finding, Severity};
use crate::measurement::TrialMeasurement;

/// Client CPU above this share of its load threads: the client may be the limit (METHODS: a loader thread > 80 %).
const CLIENT_CPU_MAX: f64 = 0.8;
/// Open loop: send lag p99 above this many microseconds ...
const SEND_LAG_P99_US: f64 = 1000.0;
/// ... or above this share of the response p99, whichever is larger (METHODS: max(1 ms, 5 % of p99)).
const SEND_LAG_SHARE: f64 = 0.05;
/// Open loop: less than this share of the offered rate was achieved (METHODS: saturated, no latency claim).
const ACHIEVED_MIN: f64 = 0.99;
/// Little's law in closed loop: |X R / N - 1| (METHODS: <= 2 %), beside what the edges of the window do: a response that ends inside
/// it counts whole, so that up to one mean response time of the window may be counted too much or too little.
const LITTLE_MAX: f64 = 0.02;

pub fn findings(trial: &TrialMeasurement) -> Vec<Finding> {
    [
        client_saturated(trial),
        send_lag(trial),
        offered_not_achieved(trial),
        little(trial),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn client_saturated(trial: &TrialMeasurement) -> Option<Finding> {
    let client = trial.record.client.as_ref()?;
    let share = stats::ratio(client.client_cpu_s, client.measured_s * f64::from(client.threads))?;
    (share > CLIENT_CPU_MAX).then(|| {
        Finding::new(
            "client_saturated",
            Severity::Suspect,
            scope(trial),
            [
                ("client_cpu_s", client.client_cpu_s),
                ("measured_s", client.measured_s),
                ("threads", f64::from(client.threads)),
                ("cpu_share", share),
                ("threshold", CLIENT_CPU_MAX),
            ],
            format!(
                "The client used {} of its {} load thread(s).",
                percent(share),
                client.threads
            ),
            "Throughput and latency may be the client's: use more client CPUs or hosts, or a lower load level.",
        )
    })
}

fn send_lag(trial: &TrialMeasurement) -> Option<Finding> {
    let lag = trial.record.client.as_ref()?.send_lag_us?;
    let response = trial.response.values().map(|f| f.p99).fold(0.0, f64::max);
    let threshold = SEND_LAG_P99_US.max(SEND_LAG_SHARE * response);
    (lag.p99 as f64 > threshold).then(|| {
        Finding::new(
            "send_lag",
            Severity::Suspect,
            scope(trial),
            [("send_lag_p99_us", lag.p99 as f64), ("send_lag_max_us", lag.max as f64), ("threshold_us", threshold)],
            format!("1 % of the requests were sent more than {} us after they were due.", lag.p99),
            "The client was late, not the database: use more client CPUs, or a lower rate. Response times include the lag.",
        )
    })
}

fn offered_not_achieved(trial: &TrialMeasurement) -> Option<Finding> {
    let LoadLevel::Rate { operations_per_s, .. } = trial.record.load else {
        return None;
    };
    let achieved = trial.throughput()?;
    let share = stats::ratio(achieved, operations_per_s)?;
    (share < ACHIEVED_MIN).then(|| {
        Finding::new(
            "offered_not_achieved",
            Severity::Suspect,
            scope(trial),
            [("offered_ops_per_s", operations_per_s), ("achieved_ops_per_s", achieved), ("share", share)],
            format!("{achieved:.0} of {operations_per_s:.0} operations/s were achieved ({}).", percent(share)),
            "The rate is beyond what this configuration sustains: latencies grow with the length of the trial and are no \
             property of the configuration. Compare at a rate that all of them sustain.",
        )
    })
}

fn little(trial: &TrialMeasurement) -> Option<Finding> {
    let LoadLevel::Concurrency(in_flight) = trial.record.load else {
        return None;
    };
    trial.record.client.as_ref()?;
    // Sum of all response times / window = mean number in flight.
    let busy_us: f64 = trial
        .response
        .values()
        .chain(trial.failed.values())
        .map(|f| f.mean * f.samples as f64)
        .sum();
    let mean_in_flight = stats::ratio(busy_us / 1e6, trial.window_s())?;
    let off = stats::ratio(mean_in_flight, f64::from(in_flight))? - 1.0;
    let answers = trial.completed() as f64 + trial.failed.values().map(|f| f.samples as f64).sum::<f64>();
    let edges = stats::ratio(busy_us / 1e6, answers * trial.window_s())?;
    let allowed = LITTLE_MAX + edges;
    (off.abs() > allowed && busy_us > 0.0).then(|| {
        Finding::new(
            "little",
            Severity::Suspect,
            scope(trial),
            [
                ("concurrency", f64::from(in_flight)),
                ("mean_in_flight", mean_in_flight),
                ("off_by", off),
                ("threshold", allowed),
            ],
            format!(
                "Throughput x mean response time gives {mean_in_flight:.1} requests in flight, {in_flight} were asked for ({:+.1} %).",
                off * 100.0
            ),
            "Little's law must hold in a closed loop: the client did not keep the requests in flight, or the window is too \
             short for such response times. Lengthen [load] duration_s.",
        )
    })
}
