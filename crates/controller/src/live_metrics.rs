//! `iopslab run --metrics ADDRESS`: what a run is doing now, as OpenMetrics text for Prometheus, on a loopback address.
//!
//! The finished figures are those of `iopslab report --format openmetrics`; these are the seconds as they pass. There
//! is no authentication, so only loopback addresses are served; from elsewhere: `ssh -L`.

use std::fmt::Write as _;
use std::net::SocketAddr;

use process::failure::Failure;

use super::http::{self, respond};
use super::live::{Live, LiveRun};

/// Media type of OpenMetrics 1.0.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves a run until the program ends; port 0 takes any free one. The address that was taken. Errors: bad input for an
/// address of the network, failed work when it is taken.
pub fn serve_metrics(address: SocketAddr, live: &LiveRun) -> Result<SocketAddr, Failure> {
    let live = live.clone();
    http::serve("--metrics", address, move |stream, request| match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/metrics") => {
            let text = live.read(openmetrics);
            respond(stream, "200 OK", &[("Content-Type", CONTENT_TYPE)], &text)
        }
        _ => respond(stream, "404 Not Found", &[], "only GET /metrics is served\n"),
    })
}

/// The text of OpenMetrics 1.0: base units, one family after the other, `# EOF` at the end.
fn openmetrics(live: &Live) -> String {
    let mut text = String::new();
    let run = escaped(&live.run);
    let mut family = |name: &str, unit: &str, help: &str, samples: &[(String, f64)]| {
        if samples.is_empty() {
            return;
        }
        let _ = writeln!(text, "# TYPE {name} gauge");
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(text, "# HELP {name} {help}");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    };
    let of_run = format!("run=\"{run}\"");
    let one = |value: f64| vec![(of_run.clone(), value)];
    family("iopslab_live_trials_planned", "", "Trials of the run.", &one(live.planned() as f64));
    family("iopslab_live_trials_done", "", "Trials that are stored.", &one(live.done() as f64));
    family(
        "iopslab_live_trials_invalid",
        "",
        "Invalid ones of the trials stored since the start or the last resume.",
        &one(live.invalid as f64),
    );
    // A family has all of its samples in one place, whatever site they come from.
    let (mut operations, mut errors, mut latencies, mut iops) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for trial in live.under_way() {
        let Some(second) = trial.seconds.back() else { continue };
        let of_trial = format!("{of_run},cell=\"{}\",block=\"{}\"", escaped(&trial.cell), trial.block);
        let labels = format!("{of_trial},phase=\"{}\"", second.phase());
        operations.push((labels.clone(), second.operations as f64));
        errors.push((labels.clone(), second.errors as f64));
        let quantile = |q: &str, us: u64| (format!("{labels},quantile=\"{q}\""), us as f64 / 1e6);
        latencies.extend([quantile("0.5", second.p50_us), quantile("0.99", second.p99_us)]);
        iops.extend(second.device_iops.map(|iops| (of_trial, iops)));
    }
    family("iopslab_live_operations_per_second", "", "Operations completed in the latest second.", &operations);
    family("iopslab_live_errors_per_second", "", "Operations that failed in the latest second.", &errors);
    family("iopslab_live_latency_seconds", "seconds", "Latency of the operations of the latest second.", &latencies);
    family("iopslab_live_data_volume_iops", "", "I/Os of the data volume in the latest second.", &iops);
    text + "# EOF\n"
}

/// A label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::http::tests::ask;
    use super::super::live::{LiveSecond, LiveTrial, Site, Standing};
    use super::*;

    #[test]
    fn a_scrape_tells_the_second_that_passed_last() {
        let live = LiveRun::default();
        let address = serve_metrics("127.0.0.1:0".parse().unwrap(), &live).unwrap();
        let second =
            LiveSecond { t_s: -1.0, operations: 1200, errors: 1, p50_us: 2_500, p99_us: 90_000, device_iops: None };
        live.update(|live| {
            live.run = "a \"run\"".to_owned();
            live.cells = vec![Standing { cell: "gp3.read.c64".to_owned(), planned: 9, ..Standing::default() }];
            let trial = LiveTrial { cell: "gp3.read.c64".to_owned(), block: 2, ..LiveTrial::default() };
            let mut site = Site { trial: Some(trial), ..Site::default() };
            site.second(LiveSecond { operations: 7, ..second });
            site.second(second);
            live.sites.insert(String::new(), site);
        });
        let text = ask(address, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("# EOF\n"), "{text}");
        for expected in [
            "iopslab_live_trials_planned{run=\"a \\\"run\\\"\"} 9\n",
            "iopslab_live_operations_per_second{run=\"a \\\"run\\\"\",cell=\"gp3.read.c64\",block=\"2\",\
             phase=\"warmup\"} 1200\n",
            ",quantile=\"0.99\"} 0.09\n",
        ] {
            assert!(text.contains(expected), "{expected} is missing in\n{text}");
        }
        assert!(!text.contains("data_volume_iops"), "what is not known is left out");
        assert!(ask(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        // Between two trials nothing passes.
        live.update(|live| live.sites.values_mut().flat_map(|site| &mut site.trial).for_each(|t| t.is_over = true));
        assert!(!ask(address, "GET /metrics HTTP/1.1\r\n\r\n").contains("per_second"));
    }
}
