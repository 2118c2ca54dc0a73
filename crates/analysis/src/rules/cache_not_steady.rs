//! A page cache that was to be warm, and went on changing while it was measured.

use super::cache_warmed::is_warmed;
use super::scope::scope;
use crate::finding::Finding;
use crate::measurement::TrialMeasurement;
use crate::rule::Rule;

/// Device reads for each operation of the two halves of the window differ by this share of the larger (practice) ...
const CHANGE_MAX: f64 = 0.15;
/// ... and by so many, so that a few reads of a cache that answers nearly everything are no change.
const READS_MIN: f64 = 0.02;
/// Fewest windows of 10 s of which halves are compared.
const WINDOWS_MIN: usize = 4;

pub fn finding(trial: &TrialMeasurement) -> Option<Finding> {
    let (first, second) = halves(trial).filter(|_| is_warmed(trial))?;
    let change = (second - first).abs();
    (change > READS_MIN && change > CHANGE_MAX * first.max(second)).then(|| {
        Finding::new(
            Rule::CacheNotSteady,
            scope(trial),
            [
                ("device_reads_per_operation_first_half", first),
                ("device_reads_per_operation_second_half", second),
                ("threshold", CHANGE_MAX),
            ],
        )
    })
}

/// Device reads for each operation in the first and in the second half of the window.
fn halves(trial: &TrialMeasurement) -> Option<(f64, f64)> {
    let of_node = |node: crate::Node<'_>| -> Option<Vec<Vec<f64>>> {
        let data = node.host.volumes.iter().filter(|(role, _)| role.is_data());
        let each: Vec<Vec<f64>> = data.map(|(_, volume)| volume.windows.read_iops.clone()).collect();
        (!each.is_empty()).then_some(each)
    };
    let nodes: Option<Vec<_>> = trial.nodes().map(of_node).collect();
    let nodes: Vec<Vec<f64>> = nodes?.into_iter().flatten().collect();
    let windows = nodes
        .iter()
        .map(Vec::len)
        .min()
        .filter(|windows| *windows >= WINDOWS_MIN)?;
    let reads: Vec<f64> = (0..windows).map(|at| nodes.iter().map(|node| node[at]).sum()).collect();
    let (from, to) = (trial.window.from_s as usize, trial.window.to_s as usize);
    let operations: Vec<f64> = trial
        .seconds
        .get(from..to.min(trial.seconds.len()))?
        .iter()
        .map(|second| second.completed as f64)
        .collect();
    let mean = |values: &[f64]| stats::ratio(values.iter().sum(), values.len() as f64);
    let (reads, operations) = (reads.split_at(windows / 2), operations.split_at(operations.len() / 2));
    let each = |reads, operations| stats::ratio(mean(reads)?, mean(operations)?);
    each(reads.0, operations.0).zip(each(reads.1, operations.1))
}

#[cfg(test)]
mod tests {
    use evidence::Warmed;
    use spec::VolumeRole;

    use super::*;
    use crate::rules::cases::{changed, fires, first_host};

    /// 2,000 operations a second; device reads fall from 200 a second.
    #[test]
    fn a_warm_cache_that_still_fills_is_told_and_a_cold_one_is_not() {
        let warmed = Warmed {
            bytes: 1,
            of_bytes: 2,
            by_keys_bytes: 0,
            seconds: 1.0,
            cached_bytes: None,
        };
        let with = |(second_half, warmed): (f64, Option<Warmed>)| {
            changed(|t| {
                t.record.nodes[0].warmed = warmed;
                let data = first_host(t).volumes.get_mut(&VolumeRole::Data).unwrap();
                data.windows.read_iops = [vec![200.0; 3], vec![second_half; 3]].concat();
            })
        };
        let cases = [
            ((100.0, Some(warmed)), true),
            ((190.0, Some(warmed)), false),
            ((400.0, Some(warmed)), true),
            ((100.0, None), false),
        ];
        fires(Rule::CacheNotSteady, &cases, with);
    }
}
