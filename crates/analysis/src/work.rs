//! What a node's database counted in the measured window: SSTables that its reads merged, caches, flushes, compactions.
//!
//! The counts are those of the database; a node that nobody asks (one of a cluster that exists, a simulated one) has
//! none, which is not zero.

use evidence::{HostFigures, HostSample};

/// What a database counted between the first and the last sample that has the figure, as it would be over the whole
/// window.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DatabaseWork {
    /// Reads of the data set's table.
    pub reads: Option<f64>,
    /// SSTables whose rows were merged for these reads.
    pub sstables_merged: Option<f64>,
    /// Times that a bloom filter let a read into an SSTable without the row: the steps upwards, because an SSTable that
    /// is compacted away takes its count with it.
    pub bloom_false_positives: Option<f64>,
    /// Hits of the chunk cache.
    pub chunk_cache_hits: Option<f64>,
    /// Look-ups in the chunk cache.
    pub chunk_cache_requests: Option<f64>,
    /// Hits of the key cache.
    pub key_cache_hits: Option<f64>,
    /// Look-ups in the key cache.
    pub key_cache_requests: Option<f64>,
    /// Bytes of the table's files / bytes before compression, at the end.
    pub compression_ratio: Option<f64>,
    /// Memory outside the heap that keeps where each chunk of the table's files begins, at the end, bytes.
    pub compression_metadata_bytes: Option<f64>,
    /// SSTables of the table, at the end.
    pub sstables: Option<f64>,
    /// Memtables of the table given to be flushed.
    pub flushes: Option<f64>,
    /// Bytes of the SSTables that flushes have written.
    pub flushed_bytes: Option<f64>,
    /// Compactions of the table.
    pub compactions: Option<f64>,
    /// Bytes of the SSTables that compactions have written.
    pub compacted_bytes: Option<f64>,
}

/// A figure of a database that must have been seen for so much of a window: of less, nothing is said of the whole.
const SEEN_SHARE: f64 = 0.8;

type Figure = fn(&HostFigures) -> Option<f64>;

impl DatabaseWork {
    /// Of the samples of a window of so many seconds.
    pub(crate) fn of(window: &[HostSample], length: f64) -> Self {
        let grown = |figure: Figure| over_all(window, length, figure, |known| Some(known.last()?.1 - known.first()?.1));
        let steps_up = |known: &[(f64, f64)]| {
            let steps = known.windows(2).map(|pair| (pair[1].1 - pair[0].1).max(0.0));
            Some(steps.sum())
        };
        let last = |figure: Figure| window.iter().rev().find_map(|sample| figure(&sample.host));
        Self {
            reads: grown(|h| h.table_reads),
            sstables_merged: grown(|h| h.sstables_merged),
            bloom_false_positives: over_all(window, length, |h| h.bloom_false_positives, steps_up),
            chunk_cache_hits: grown(|h| h.chunk_cache_hits),
            chunk_cache_requests: grown(|h| h.chunk_cache_requests),
            key_cache_hits: grown(|h| h.key_cache_hits),
            key_cache_requests: grown(|h| h.key_cache_requests),
            compression_ratio: last(|h| h.compression_ratio),
            compression_metadata_bytes: last(|h| h.compression_metadata_bytes),
            sstables: last(|h| h.sstables),
            flushes: grown(|h| h.flushes),
            flushed_bytes: grown(|h| h.flushed_bytes),
            compactions: grown(|h| h.compactions),
            compacted_bytes: grown(|h| h.compacted_bytes),
        }
    }
}

/// `sum` of the (second, value) in which the figure is known, for the whole window. A counter that went backwards is
/// another process's: nothing is known of the window.
fn over_all(
    window: &[HostSample],
    length: f64,
    figure: Figure,
    sum: impl Fn(&[(f64, f64)]) -> Option<f64>,
) -> Option<f64> {
    let seconds = window.last()?.t_s - window.first()?.t_s;
    let known = window.iter().filter_map(|sample| Some((sample.t_s, figure(&sample.host)?)));
    let known: Vec<(f64, f64)> = known.collect();
    let seen = known.last()?.0 - known.first()?.0;
    let is_enough = seen > 0.0 && seen >= SEEN_SHARE * seconds;
    let grown = sum(&known).filter(|grown| is_enough && *grown >= 0.0)?;
    Some(grown / seen * length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(t_s: f64, reads: Option<f64>, false_positives: f64) -> HostSample {
        HostSample {
            t_s,
            host: HostFigures {
                table_reads: reads,
                bloom_false_positives: Some(false_positives),
                compression_ratio: Some(0.5 + t_s / 100.0),
                ..HostFigures::default()
            },
            ..HostSample::default()
        }
    }

    #[test]
    fn counts_are_those_of_the_whole_window_though_a_second_of_it_was_not_reported() {
        let reported = |t: u32| (1..=10).contains(&t).then(|| 700.0 + 50.0 * f64::from(t));
        let samples: Vec<HostSample> = (0..=10).map(|t| sample(f64::from(t), reported(t), 3.0)).collect();
        let work = DatabaseWork::of(&samples, 10.0);
        assert_eq!(work.reads, Some(500.0), "450 were counted in 9 of 10 s");
        assert_eq!(work.compression_ratio, Some(0.6), "at the end");
        assert_eq!((work.bloom_false_positives, work.flushes), (Some(0.0), None), "missing is not zero");
        // Known for half of it, or begun anew: nothing is said.
        assert_eq!(DatabaseWork::of(&samples[..6], 5.0).reads, Some(250.0));
        let late: Vec<HostSample> =
            (0..=10).map(|t| sample(f64::from(t), reported(t).filter(|_| t > 4), 3.0)).collect();
        assert_eq!(DatabaseWork::of(&late, 10.0).reads, None);
        let anew = [sample(0.0, Some(900.0), 0.0), sample(10.0, Some(4.0), 0.0)];
        assert_eq!(DatabaseWork::of(&anew, 10.0).reads, None);
        assert_eq!(DatabaseWork::of(&[], 10.0), DatabaseWork::default());
    }

    /// A compaction takes the count of the files that it replaces.
    #[test]
    fn false_positives_are_the_steps_upwards() {
        let counts = [10.0, 14.0, 14.0, 2.0, 5.0];
        let samples: Vec<HostSample> = counts.iter().zip(0..).map(|(n, t)| sample(f64::from(t), None, *n)).collect();
        assert_eq!(DatabaseWork::of(&samples, 4.0).bloom_false_positives, Some(7.0));
    }
}
