//! Is all of the data set there? Records that are missing make it fit the page cache better, so that the cell flatters
//! its storage.
//!
//! Two views, because each alone misses a case: the bytes on disk against the least that such records take, which sees
//! a run whose every trial lacks records; and each trial against the others of its run, which sees a single trial that
//! lacks a few.

use experiment::{Dataset, Setups};
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// Less on disk than the data set takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "than", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum DataSetSmaller {
    /// Than that of the run's other trials: bytes of one replica, beside those of the median trial.
    Others { bytes_on_disk: f64, median_bytes_of_the_run: f64, less_by_share: f64, threshold: f64 },
    /// Than its records take at the least: bytes of all replicas, and of their values alone.
    Layout { bytes_on_disk: f64, least_bytes: f64, payload_bytes: f64, records: u64 },
}

/// Bytes of a cell besides its value: flags and the length of the value (Cassandra's `BufferCell.serializer`: one byte
/// and a vint).
const CELL_BYTES: f64 = 2.0;
/// The least that a row of one partition takes besides its cells: key with its length (4 + 1 digits + 2), partition
/// header and end, row flags, sizes and timestamp (8), an entry of the partition index (7) and ten bits of the Bloom
/// filter. Less than what is measured: 1.15 times the payload at ten fields of 100 bytes (Cassandra 5.0.9), where this
/// floor is 1.044.
const ROW_BYTES: f64 = 24.0;
/// A trial with this much less on disk than the median of its run: a copy of one snapshot differs by nothing, a data
/// set loaded again by the sizes of its tables' last blocks.
const LESS_THAN_OTHERS: f64 = 0.05;

/// A cell whose data set, with these bytes on disk, is smaller than the least that its records take.
pub(crate) fn than_its_layout(
    bytes_on_disk: Option<f64>,
    dataset: &Dataset,
    replicas: u32,
) -> Option<Seen<DataSetSmaller>> {
    let least = f64::from(replicas) * least_bytes(dataset);
    let on_disk = bytes_on_disk.filter(|bytes| *bytes > 0.0 && *bytes < least)?;
    let figures = DataSetSmaller::Layout {
        bytes_on_disk: on_disk,
        least_bytes: least,
        payload_bytes: f64::from(replicas) * dataset.payload_bytes() as f64,
        records: u64::from(replicas) * dataset.records,
    };
    Some(figures.into())
}

/// Bytes below which such a data set cannot be whole: values as far as they cannot be compressed, and what keeps them
/// apart.
fn least_bytes(dataset: &Dataset) -> f64 {
    let values = dataset.payload_bytes() as f64 * (1.0 - dataset.compressibility);
    values + dataset.records as f64 * (ROW_BYTES + CELL_BYTES * f64::from(dataset.fields))
}

/// A trial whose data set is smaller than that of the run's other trials.
pub(crate) fn than_the_others(
    trial: &TrialMeasurement,
    setups: &Setups,
    typical: Option<f64>,
) -> Option<Seen<DataSetSmaller>> {
    let typical = typical?;
    let on_disk = of_one_replica(trial, setups);
    let figures = DataSetSmaller::Others {
        bytes_on_disk: on_disk,
        median_bytes_of_the_run: typical,
        less_by_share: 1.0 - on_disk / typical,
        threshold: LESS_THAN_OTHERS,
    };
    (on_disk > 0.0 && on_disk < (1.0 - LESS_THAN_OTHERS) * typical).then_some(figures.into())
}

/// Bytes on disk of one replica of the data set: clusters of a run may keep different numbers of them. 0 where some of
/// them are those of a backlog: that is another data set.
fn of_one_replica(trial: &TrialMeasurement, setups: &Setups) -> f64 {
    let setup = setups.of(&trial.record.configuration);
    if setup.is_some_and(|setup| setup.backlog.is_some()) {
        return 0.0;
    }
    let replicas = setup.map_or(1, |s| s.placement.replication_factor);
    trial.data_bytes_on_disk() / f64::from(replicas)
}

/// Median over the run's trials of the bytes on disk of one replica of the data set.
pub(crate) fn typical(setups: &Setups, trials: &[&TrialMeasurement]) -> Option<f64> {
    stats::median(trials.iter().map(|t| of_one_replica(t, setups)).filter(|bytes| *bytes > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::rule::Rule;
    use crate::story::{job, run, trials};

    /// Bytes on disk of a whole data set of the story: 300,000 records of ten fields of 100 bytes.
    const WHOLE: f64 = 345e6;

    /// Shares of the whole data set in the four trials of the story; the scopes of what is found.
    fn reported(shares: [f64; 4]) -> Vec<String> {
        let (job, mut trials) = (job(), trials());
        for (trial, share) in trials.iter_mut().zip(shares) {
            trial.record.nodes[0].data_bytes_on_disk = (WHOLE * share) as u64;
        }
        let analysis = analyse(&run(&job, &trials));
        let of_rule = analysis.findings.iter().filter(|f| f.rule() == Rule::DataSetSmaller);
        of_rule.map(|f| f.scope.name().to_owned()).collect()
    }

    #[test]
    fn records_that_are_missing_everywhere_are_seen_against_the_layout() {
        let cells = ["gp2-320.read-heavy.c100", "io1-10000.read-heavy.c100"];
        assert_eq!(reported([1.0; 4]), [""; 0]);
        // The floor is 313.2 MB, 0.908 of the whole.
        assert_eq!(reported([0.92; 4]), [""; 0]);
        assert_eq!(reported([0.9; 4]), cells);
        assert_eq!(reported([0.8; 4]), cells);
    }

    #[test]
    fn records_that_are_missing_in_one_trial_are_seen_against_the_others() {
        assert_eq!(reported([1.0, 1.0, 1.0, 0.96]), [""; 0]);
        assert_eq!(reported([1.0, 1.0, 1.0, 0.94]), ["io1-10000.read-heavy.c100/2"]);
        // Inserts of a trial come after the count; a data set that is larger than the others is none of this rule's
        // business.
        assert_eq!(reported([1.0, 1.0, 1.0, 1.3]), [""; 0]);
    }

    #[test]
    fn values_that_can_be_compressed_lower_the_floor() {
        let dataset = |compressibility| Dataset { compressibility, ..job().plan.dataset };
        assert_eq!(least_bytes(&dataset(0.0)), 313.2e6);
        assert_eq!(least_bytes(&dataset(0.5)), 163.2e6);
    }
}
