//! What is said while a trial is under way, and of it at its end.

use std::collections::BTreeMap;

use evidence::{HostId, HostSample, TrialRecord, Validity};
use experiment::TrialShape;
use wire::Second;

use crate::live::LiveSecond;
use crate::live_line::Figures;
use crate::progress::Screen;
use crate::standings::ops_per_s;

/// The figures of a trial so far, over all of its hosts.
#[derive(Debug, Default)]
pub(super) struct LiveFigures {
    /// The last second of each client.
    seconds: BTreeMap<HostId, Second>,
    errors: u64,
    /// Requests per second of each node's data volumes.
    iops: BTreeMap<HostId, f64>,
}

impl LiveFigures {
    /// A client's second, shown with those of the others.
    pub fn second(&mut self, client: HostId, second: Second, shape: &TrialShape, screen: &Screen) {
        self.errors = self.errors.saturating_add(second.errors);
        self.seconds.insert(client, second);
        // Once a second is enough.
        if self.seconds.keys().next() != Some(&client) {
            return;
        }
        let second = self.together(second.t_s);
        let (doing, how_far) = phase(second.t_s, shape);
        screen.publish_here(|site| site.second(second));
        screen.load(doing, &how_far, Figures { second, errors: self.errors });
    }

    /// A node's sample after the one before it.
    pub fn sample(&mut self, node: HostId, before: Option<&HostSample>, sample: &HostSample) {
        let iops = before.and_then(|before| sample.data_iops_since(before));
        self.iops.extend(iops.map(|iops| (node, iops)));
    }

    /// Operations of all clients; percentiles cannot be added, so those of the slowest client.
    fn together(&self, t_s: f64) -> LiveSecond {
        let all = self.seconds.values();
        LiveSecond {
            t_s,
            operations: all.clone().map(|s| s.operations).sum(),
            errors: all.clone().map(|s| s.errors).sum(),
            p50_us: all.clone().map(|s| s.p50_us).max().unwrap_or(0),
            p99_us: all.map(|s| s.p99_us).max().unwrap_or(0),
            device_iops: self.device_iops(),
        }
    }

    fn device_iops(&self) -> Option<f64> {
        (!self.iops.is_empty()).then(|| self.iops.values().sum())
    }
}

/// What the client is doing in the second that begins there, and how far it is.
fn phase(t_s: f64, shape: &TrialShape) -> (&'static str, String) {
    match (shape.warmup_max_s, shape.operations) {
        // `warmup = "auto"`: most seconds that the wait for rest may still take, before the warm-up proper.
        (Some(_), _) if t_s < -shape.warmup_s - 0.5 => {
            ("warming up until throughput has stabilised,", format!("at most {:.0} s more", -t_s))
        }
        _ if t_s < 0.0 => ("warming up,", format!("{:.0} s more", -t_s)),
        (_, Some(_)) => ("measuring,", format!("{t_s:.0} s, at most {:.0} s", shape.duration_s)),
        (_, None) => ("measuring,", format!("{t_s:.0} of {:.0} s", shape.duration_s)),
    }
}

/// One line about a trial that is over.
pub(super) fn summary(label: &str, record: &TrialRecord) -> String {
    match (&record.validity, &record.client) {
        (Validity::Valid, Some(client)) => {
            let failed: u64 = client.errors.values().sum();
            format!("{label}: {:.0} op/s, {failed} errors", ops_per_s(record).unwrap_or_default())
        }
        (Validity::Invalid { reason, .. }, _) => format!("{label}: INVALID, {reason}"),
        (Validity::Valid, None) => format!("{label}: nothing measured"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: TrialShape = TrialShape {
        rest_max_s: 0.0,
        warmup_s: 5.0,
        warmup_max_s: Some(300.0),
        duration_s: 60.0,
        operations: None,
        request_timeout_s: 1.0,
    };

    #[test]
    fn several_clients_are_one_load_and_several_nodes_one_database() {
        let second = |operations, p99_us| Second { t_s: 3.0, operations, errors: 1, p50_us: 10, p99_us };
        let mut figures = LiveFigures::default();
        let screen = Screen::new(None);
        figures.second(HostId::CLIENT, second(100, 900), &SHAPE, &screen);
        figures.second(HostId::client(1), second(50, 2_000), &SHAPE, &screen);
        let together = figures.together(3.0);
        assert_eq!((together.operations, together.errors, together.p99_us), (150, 2, 2_000));
        assert_eq!(figures.errors, 2);
        assert_eq!(figures.device_iops(), None, "missing is not zero");
        figures.iops.extend([(HostId::DATABASE, 40.0), (HostId::database(1), 2.0)]);
        assert_eq!(figures.device_iops(), Some(42.0));
    }

    #[test]
    fn the_live_line_says_what_the_client_does_and_how_far_it_is() {
        let at = |t_s, shape: &TrialShape| {
            let (doing, how_far) = phase(t_s, shape);
            format!("{doing} {how_far}")
        };
        assert_eq!(at(-300.0, &SHAPE), "warming up until throughput has stabilised, at most 300 s more");
        assert_eq!(at(-5.0, &SHAPE), "warming up, 5 s more");
        assert_eq!(at(12.0, &SHAPE), "measuring, 12 of 60 s");
        let fixed = TrialShape { warmup_max_s: None, warmup_s: 20.0, ..SHAPE };
        assert_eq!(at(-20.0, &fixed), "warming up, 20 s more");
        let counted = TrialShape { operations: Some(1_000), ..fixed };
        assert_eq!(at(3.0, &counted), "measuring, 3 s, at most 60 s");
    }
}
