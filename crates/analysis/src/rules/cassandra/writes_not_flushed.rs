//! Did the trial see what its writes cost the data volume? A write costs the commit log at once, and the data volume
//! when its memtable is flushed, when the kernel writes back the pages of that, and again when SSTables are compacted.
//! A trial that ends before has the throughput of memory and commit log.

use experiment::{Plan, Setups, VolumeRole};
use reported::cassandra::{FLUSHED_BYTES, FLUSHES};
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::node::Node;
use crate::rules::nodes::worst;
use crate::seen::Seen;

/// Writes that matter to the data volume were hardly flushed in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct WritesNotFlushed {
    pub flushes: f64,
    pub window_s: f64,
    /// Payload that clients wrote to the node, bytes per second.
    pub written_bytes_per_s: f64,
    /// Fewest flushes that tell what writes cost.
    pub threshold_flushes: f64,
    /// Least share of what was flushed that is on the volume.
    pub threshold_on_volume_share: f64,
    /// Payload below this share of what volumes may write does not matter.
    pub threshold_written_share: f64,
    /// What the data volumes may write, bytes per second; `None`: no limit is known.
    pub limit_bytes_per_s: Option<f64>,
    /// Payload as a share of that.
    pub written_share: Option<f64>,
    /// What flushes wrote, bytes per second; `None`: not known.
    pub flushed_bytes_per_s: Option<f64>,
    /// What the data volumes wrote, bytes per second; `None`: not known apart from the commit log's.
    pub data_volume_bytes_per_s: Option<f64>,
}

/// Fewest flushes of a node in the window: between two of them lies one whole cycle of filling a memtable and writing
/// it ...
const FLUSHES_MIN: f64 = 2.0;
/// ... and the data volumes have written at least this share of what flushes made of it (practice; where the commit log
/// lies on a volume of its own, so that what the data volumes write comes from flushes and compactions): the kernel
/// keeps flushed pages for up to 30 s. Payload would be no measure: it is compressed, and of a field that was written
/// twice a flush writes the last ...
const ON_VOLUME_MIN: f64 = 0.5;
/// ... where the payload that clients write is at least this share of the bytes that the data volumes may write
/// (practice): of less, flushes and compactions change little.
const WRITTEN_MIN: f64 = 0.05;

pub(crate) fn finding(trial: &TrialMeasurement, plan: &Plan, setups: &Setups) -> Option<Seen<WritesNotFlushed>> {
    let workload = plan.workloads.iter().find(|w| w.name == trial.record.workload)?;
    if workload.is_own() {
        // How much a statement of the user's own writes is not known.
        return None;
    }
    let share_per_node = setups.of(&trial.record.configuration)?.placement.share_per_node();
    let each_operation = plan.dataset.payload_written(workload);
    let written = trial.throughput()? * each_operation * share_per_node;
    worst(trial, |node| of_node(trial, node, written))
}

/// `written`: bytes of payload a second that the node is given.
fn of_node(trial: &TrialMeasurement, node: &Node<'_>, written: f64) -> Option<(f64, WritesNotFlushed)> {
    let flushes = node.host.work.total(&FLUSHES)?;
    let data = node.facts.volumes.iter().filter(|volume| volume.role.is_data());
    let limit: Option<f64> = data.map(|volume| volume.limits.write_bytes_per_s).sum();
    // A volume without a limit may be small.
    let share = limit.and_then(|limit| stats::ratio(written, limit));
    let log_is_apart = node.activity(VolumeRole::Commitlog).is_some();
    let on_volume = node.host.sum_of_data(|data| data.write_bytes_per_s()).filter(|_| log_is_apart);
    let flushed = node.host.work.total(&FLUSHED_BYTES).and_then(|bytes| stats::ratio(bytes, trial.window_s()));
    let is_on_volume = |(bytes, flushed): (f64, f64)| bytes >= ON_VOLUME_MIN * flushed;
    let is_hardly_flushed = flushes < FLUSHES_MIN || !on_volume.zip(flushed).is_none_or(is_on_volume);
    let figures = WritesNotFlushed {
        flushes,
        window_s: trial.window_s(),
        written_bytes_per_s: written,
        threshold_flushes: FLUSHES_MIN,
        threshold_on_volume_share: ON_VOLUME_MIN,
        threshold_written_share: WRITTEN_MIN,
        limit_bytes_per_s: limit,
        written_share: share,
        flushed_bytes_per_s: flushed,
        data_volume_bytes_per_s: on_volume,
    };
    (written > 0.0 && is_hardly_flushed && share.is_none_or(|share| share >= WRITTEN_MIN))
        .then_some((share.unwrap_or(1.0), figures))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::cases::changed_host;
    use crate::story::{SECONDS, job};
    use crate::work::Course;

    /// 2,000 operations a second, of which a share writes 1,000 B, on a volume that may write 10 MiB/s: 0.262 of them
    /// are 5 %.
    #[test]
    fn writes_that_matter_to_the_volume_and_were_hardly_flushed_are_reported() {
        let reported = |update: f64, flushes: Option<f64>, is_limited: bool| {
            let mut job = job();
            let workload = &mut job.plan.workloads[0];
            workload.write_all_fields = true;
            (workload.mix.update, workload.mix.read) = (update, 1.0 - update);
            let mut trial = changed_host(|host| host.work.set(&FLUSHES, Course::from_zero(flushes)));
            if !is_limited {
                trial.record.nodes[0].volumes[0].limits.write_bytes_per_s = None;
            }
            finding(&trial, &job.plan, &job.setups)
        };
        for (update, flushes, expected) in [
            (0.26, Some(0.0), false),
            (0.27, Some(0.0), true),
            (1.0, Some(1.9), true),
            (1.0, Some(2.0), false),
            (1.0, None, false),
        ] {
            let found = reported(update, flushes, true);
            assert_eq!(found.is_some(), expected, "{update} {flushes:?}: {found:?}");
        }
        let found = reported(1.0, Some(1.0), true).unwrap();
        assert!((found.figures.written_bytes_per_s - 2e6).abs() < 1e5);
        // Flushed into the page cache, and not on the volume yet: 131,072 B/s of 2 MB/s. Beside the commit log that is
        // not known.
        let on_volume = |log_is_apart: bool, times: f64, flushed_bytes: f64| {
            let mut job = job();
            let workload = &mut job.plan.workloads[0];
            workload.write_all_fields = true;
            (workload.mix.update, workload.mix.read) = (1.0, 0.0);
            let trial = changed_host(|host| {
                host.work.set(&FLUSHES, Course::from_zero(Some(5.0)));
                host.work.set(&FLUSHED_BYTES, Course::from_zero(Some(flushed_bytes)));
                let data = host.volumes.get_mut(&VolumeRole::Data).unwrap();
                data.write_bytes *= times;
                let log = data.clone();
                if log_is_apart {
                    host.volumes.insert(VolumeRole::Commitlog, log);
                }
            });
            finding(&trial, &job.plan, &job.setups)
        };
        let flushed = |log_is_apart: bool, times: f64| on_volume(log_is_apart, times, 2e6 * SECONDS);
        let found = flushed(true, 1.0).unwrap();
        assert_eq!(found.figures.data_volume_bytes_per_s, Some(131_072.0));
        assert!(flushed(true, 7.0).is_some(), "0.92 of 2 MB/s");
        assert_eq!(flushed(true, 8.0), None, "1.05 of 2 MB/s");
        assert_eq!(flushed(false, 1.0), None);
        // What compresses to a sixteenth, or is written over in the memtable, is all on the volume.
        assert_eq!(on_volume(true, 1.0, 125_000.0 * SECONDS), None);
        // Whether it matters to a volume of unknown limits is not known: that is reported too, but for reads alone.
        let found = reported(0.01, Some(0.0), false).unwrap();
        assert_eq!(found.figures.limit_bytes_per_s, None);
        assert_eq!(reported(0.0, Some(0.0), false), None);
    }
}
