//! What became of a backlog of compaction that a trial began with.

use std::collections::BTreeMap;

use evidence::{HostId, HostSample, TrialRecord};
use reported::cassandra::{COMPACTED_BYTES, PENDING_COMPACTIONS, SSTABLES};

use crate::stretch::window;
use crate::work::DatabaseWork;

/// A node has compacted its backlog when it had nothing to compact in so many samples after each other, one a second:
/// between two compactions it looks for the next one.
const QUIET_SAMPLES: usize = 3;

/// A backlog in a trial, all nodes together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactedBacklog {
    /// SSTables when the nodes were left to compact them.
    pub sstables: f64,
    /// SSTables at the end of measurement; `None` where a node does not say.
    pub sstables_left: Option<f64>,
    /// From when the nodes compacted, seconds from the start of measurement.
    pub from_s: f64,
    /// When the last node had nothing to compact any more; `None`: one of them still had at the end, or does not say.
    pub until_s: Option<f64>,
    /// Bytes that compactions wrote in the measurement; `None` where a node does not say.
    pub compacted_bytes: Option<f64>,
}

/// The backlog of a trial; `None`: its data set was at rest.
pub(crate) fn of_trial(
    record: &TrialRecord,
    by_host: &BTreeMap<HostId, Vec<HostSample>>,
    measured_s: f64,
) -> Option<CompactedBacklog> {
    let mut all: Option<CompactedBacklog> = None;
    for node in &record.nodes {
        let Some(backlog) = node.backlog else { continue };
        let samples = by_host.get(&node.host).map_or(&[][..], Vec::as_slice);
        let measured = window(samples, 0.0, measured_s);
        let work = DatabaseWork::of(measured, measured_s);
        let own = CompactedBacklog {
            sstables: backlog.sstables as f64,
            sstables_left: work.total(&SSTABLES),
            from_s: backlog.compacts_from_s,
            until_s: quiet_from_s(measured, backlog.compacts_from_s),
            compacted_bytes: work.total(&COMPACTED_BYTES),
        };
        all = Some(all.map_or(own, |before| before.and(own)));
    }
    all
}

impl CompactedBacklog {
    fn and(self, other: Self) -> Self {
        let sum = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        Self {
            sstables: self.sstables + other.sstables,
            sstables_left: sum(self.sstables_left, other.sstables_left),
            from_s: self.from_s.min(other.from_s),
            until_s: self.until_s.zip(other.until_s).map(|(a, b)| a.max(b)),
            compacted_bytes: sum(self.compacted_bytes, other.compacted_bytes),
        }
    }
}

/// The first of the samples after `from_s` in which nothing was compacted or waited for it.
fn quiet_from_s(samples: &[HostSample], from_s: f64) -> Option<f64> {
    let after = samples.iter().filter(|sample| sample.t_s > from_s);
    let pending: Vec<(f64, f64)> =
        after.filter_map(|sample| Some((sample.t_s, sample.database.get(&PENDING_COMPACTIONS)?))).collect();
    let is_quiet = |stretch: &&[(f64, f64)]| stretch.iter().all(|(_, pending)| *pending == 0.0);
    let first = pending.windows(QUIET_SAMPLES).find(is_quiet)?.first()?;
    Some(first.0)
}

#[cfg(test)]
mod tests {
    use evidence::BacklogFound;
    use reported::Reported;

    use super::*;
    use crate::rules::cases::sound_record;

    fn samples(pending: &[f64]) -> Vec<HostSample> {
        let sample = |(pending, t): (&f64, u32)| HostSample {
            t_s: f64::from(t),
            database: Reported::from([
                (&PENDING_COMPACTIONS, *pending),
                (&SSTABLES, 9.0 - f64::from(t)),
                (&COMPACTED_BYTES, 1e6 * f64::from(t)),
            ]),
            ..HostSample::default()
        };
        pending.iter().zip(0..).map(sample).collect()
    }

    fn seen(pending: &[f64]) -> Option<CompactedBacklog> {
        let mut record = sound_record();
        record.nodes[0].backlog = Some(BacklogFound { sstables: 9, compacts_from_s: 1.1 });
        let measured_s = pending.len() as f64 - 1.0;
        of_trial(&record, &BTreeMap::from([(record.nodes[0].host, samples(pending))]), measured_s)
    }

    #[test]
    fn a_backlog_is_compacted_when_its_node_has_been_quiet_for_three_samples() {
        // Nothing is compacted before it may; one quiet second is a look for the next.
        let done = seen(&[0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        assert_eq!((done.sstables, done.sstables_left), (9.0, Some(0.0)));
        assert_eq!((done.from_s, done.until_s), (1.1, Some(6.0)));
        assert_eq!(done.compacted_bytes, Some(9e6));
        assert_eq!(seen(&[0.0, 0.0, 2.0, 1.0, 0.0, 0.0]).unwrap().until_s, None);
        assert_eq!(seen(&[0.0, 0.0, 2.0, 1.0, 1.0, 1.0]).unwrap().until_s, None);
        assert_eq!(of_trial(&sound_record(), &BTreeMap::new(), 60.0), None);
    }

    #[test]
    fn of_several_nodes_the_slowest_counts() {
        let one = seen(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]).unwrap();
        let slow = CompactedBacklog { until_s: None, ..one };
        let both = one.and(one);
        assert_eq!((both.sstables, both.until_s), (18.0, Some(3.0)));
        assert_eq!(one.and(slow).until_s, None);
    }
}
