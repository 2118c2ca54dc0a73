//! What the results of other tools show of themselves (`iopslab import`): rules of imported trials alone.

pub mod clocks;
pub mod left_out;
pub mod progress;
pub mod waits;
pub mod windows;

/// An imported trial for the tables of cases.
#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use evidence::{CountedFrom, Imported, OperationKind, Progress, StatedLatency, Tool};

    use crate::measurement::TrialMeasurement;
    use crate::rules::cases::counted;

    /// 600 s of YCSB with 120,000 reads, after a change to what it states.
    pub fn imported(change: impl FnOnce(&mut Imported)) -> TrialMeasurement {
        counted(|client| {
            let stated = StatedLatency {
                samples: 120_000,
                mean_us: 50_000.0,
                p50_us: None,
                p95_us: Some(90_000.0),
                p99_us: Some(120_000.0),
                p999_us: None,
                max_us: 300_000.0,
            };
            let mut imported = Imported {
                tool: Tool::Ycsb,
                version: None,
                file: "a.txt".to_owned(),
                histograms: Vec::new(),
                sha256: String::new(),
                stated_ops_per_s: 2_000.0,
                counted_from: CountedFrom::Sent,
                latencies: BTreeMap::from([(OperationKind::Read, stated)]),
                progress: Vec::new(),
                clocks: None,
                left_out: Vec::new(),
            };
            change(&mut imported);
            client.imported = Some(Box::new(imported));
        })
    }

    /// Lines of ten seconds with these rates.
    pub fn progress(rates: &[f64]) -> Vec<Progress> {
        let line = |(i, rate): (u32, &f64)| {
            let from_s = 10.0 * f64::from(i);
            Progress { from_s, to_s: from_s + 10.0, operations: rate * 10.0 }
        };
        (0_u32..).zip(rates).map(line).collect()
    }
}
