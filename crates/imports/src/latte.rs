//! latte: the JSON of `latte run`, which has its settings (`conf`) and its results (`result`).
//!
//! What the fields are is in latte's `stats` (`BenchmarkStats`, `Sample`, `LatencyDistribution`); latencies are in
//! milliseconds. An operation is a cycle, a call of the workload's function, and counts from its beginning.

use std::collections::BTreeMap;

use evidence::{CountedFrom, ErrorKind, OperationKind, Progress, StatedLatency, Tool};
use serde_json::Value;

use crate::results::named;
use crate::{Refusal, Results, StatedLoad};

/// Microseconds of a millisecond.
const US: f64 = 1e3;
/// Requests of a cycle may differ from one by this much: retries.
const ONE_REQUEST: f64 = 0.01;
/// A percentile that is written as a 32-bit float is itself within this.
const SAME_PERCENTILE: f64 = 1e-4;

/// `operation` is what its function does.
pub fn read(text: &str, operation: Option<OperationKind>) -> Result<Results, Refusal> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| Refusal::at(error.line(), format!("expected the JSON of latte run: {error}")))?;
    let functions = document["conf"]["functions"].as_array().map_or(1, Vec::len);
    if functions > 1 {
        return Err(Refusal::whole(format!("it called {functions} functions: what is of which is not counted in it"))
            .help("run them apart, or import a run of one function"));
    }
    let operation = named(operation)?;
    let requests = number(&document, "/result/requests_per_cycle")?;
    if (requests - 1.0).abs() > ONE_REQUEST {
        return Err(Refusal::whole(format!("a cycle had {requests:.2} requests: it is no single operation")));
    }
    let cycles = number(&document, "/result/cycle_count")?;
    let failed = number(&document, "/result/error_count")?;
    let done = cycles - failed;
    if done < 0.0 {
        return Err(Refusal::whole(format!("{failed} cycles failed, of {cycles}")));
    }
    let completed = BTreeMap::from([(operation, done as u64)]);
    let latency = latency(&document, done as u64)?;
    let mut left_out = vec!["Requests that were repeated are in the latency of their cycle.".to_owned()];
    if failed > 0.0 {
        left_out.push("Latencies are also those of the cycles that failed.".to_owned());
    }
    Ok(Results {
        tool: Tool::Latte,
        version: None,
        measured_s: number(&document, "/result/elapsed_time_s")?,
        completed,
        failed: if failed > 0.0 { BTreeMap::from([(ErrorKind::Other, failed as u64)]) } else { BTreeMap::new() },
        stated_ops_per_s: number(&document, "/result/cycle_throughput/value")? * (done / cycles.max(1.0)),
        latencies: BTreeMap::from([(operation, latency)]),
        counted_from: CountedFrom::Sent,
        is_from_shown: true,
        has_intended: false,
        load: load(&document)?,
        progress: progress(&document)?,
        clocks: None,
        left_out,
    })
}

/// A number that has to be there, at least 0.
fn number(of: &Value, path: &str) -> Result<f64, Refusal> {
    let found = of.pointer(path).and_then(Value::as_f64).filter(|n| n.is_finite() && *n >= 0.0);
    found.ok_or_else(|| Refusal::whole(format!("expected a number of at least 0 at {path}")))
}

fn latency(document: &Value, samples: u64) -> Result<StatedLatency, Refusal> {
    let percents = document["percentiles"].as_array().map_or(&[][..], Vec::as_slice);
    let at = |wanted: f64| -> Result<Option<f64>, Refusal> {
        let is_it =
            |percent: &Value| percent.as_f64().is_some_and(|percent| (percent - wanted).abs() < SAME_PERCENTILE);
        match percents.iter().position(is_it) {
            Some(place) => {
                let path = format!("/result/cycle_latency/percentiles/{place}/value");
                Ok(Some(number(document, &path)? * US))
            }
            None => Ok(None),
        }
    };
    let longest = at(100.0)?.ok_or_else(|| Refusal::whole("expected the 100th of `percentiles`"))?;
    Ok(StatedLatency {
        samples,
        mean_us: number(document, "/result/cycle_latency/mean/value")? * US,
        p50_us: at(50.0)?,
        p95_us: at(95.0)?,
        p99_us: at(99.0)?,
        p999_us: at(99.9)?,
        max_us: longest,
    })
}

/// Threads x requests of each, or the rate that all of them kept to.
fn load(document: &Value) -> Result<StatedLoad, Refusal> {
    let (threads, each) = (number(document, "/conf/threads")?, number(document, "/conf/concurrency")?);
    let in_flight = Some(threads * each).filter(|n| (1.0..=f64::from(u32::MAX)).contains(n));
    let rate = match document.pointer("/conf/rate") {
        None | Some(Value::Null) => None,
        Some(_) => Some(number(document, "/conf/rate")?).filter(|rate| *rate > 0.0),
    };
    Ok(StatedLoad { in_flight: in_flight.map(|n| n as u32), rate_per_s: rate })
}

fn progress(document: &Value) -> Result<Vec<Progress>, Refusal> {
    let samples = document["result"]["log"].as_array().map_or(0, Vec::len);
    let mut progress = Vec::new();
    for sample in 0..samples {
        let of = |field: &str| number(document, &format!("/result/log/{sample}/{field}"));
        let (from_s, length_s, operations) = (of("time_s")?, of("duration_s")?, of("cycle_count")?);
        if length_s > 0.0 {
            progress.push(Progress { from_s, to_s: from_s + length_s, operations });
        }
    }
    Ok(progress)
}
