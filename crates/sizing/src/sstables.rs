//! How many SSTables a read goes through: as many look-ups in the page cache. The more of the operations write, the
//! more of them there are between two compactions.

use super::document::SstablesOfMix;
use super::observation::Observation;

/// Mixes whose read shares are this near count as one.
const SAME_MIX: f64 = 0.02;

/// What was counted under each mix, by growing read share; empty where a database that read was not asked.
pub(super) fn by_mix(observations: &[&Observation<'_>]) -> Vec<SstablesOfMix> {
    let reading = observations.iter().filter(|o| o.work.reads > 0.0);
    let counted: Option<Vec<(f64, f64)>> = reading.map(|o| Some((o.read_share(), o.sstables_per_read?))).collect();
    grouped(counted.unwrap_or_default())
}

/// The median of each mix, of pairs (read share, SSTables).
fn grouped(mut counted: Vec<(f64, f64)>) -> Vec<SstablesOfMix> {
    counted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let same = counted.chunk_by(|a, b| b.0 - a.0 <= SAME_MIX);
    let median = |of: &[(f64, f64)], figure: fn(&(f64, f64)) -> f64| stats::median(of.iter().map(figure));
    let mix = |of: &[(f64, f64)]| {
        Some(SstablesOfMix { read_share: median(of, |pair| pair.0)?, per_read: median(of, |pair| pair.1)? })
    };
    same.filter_map(mix).collect()
}

/// SSTables of a read under a mix: on the line between the two that were measured beside it, outside of all as at the
/// nearest; `None` where nothing was counted.
pub(super) fn at(mixes: &[SstablesOfMix], read_share: f64) -> Option<f64> {
    let above = mixes.partition_point(|mix| mix.read_share < read_share);
    let below = above.checked_sub(1).map(|at| mixes[at]);
    match (below, mixes.get(above)) {
        (Some(low), Some(high)) => {
            let way = (read_share - low.read_share) / (high.read_share - low.read_share);
            Some(low.per_read + way * (high.per_read - low.per_read))
        }
        (one, other) => other.copied().or(one).map(|mix| mix.per_read),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_mixes_sstables_lie_between_theirs_and_outside_they_are_those_of_the_nearest() {
        let mixes = grouped(vec![(0.8, 1.2), (0.2, 3.0), (0.81, 1.4), (0.2, 3.2), (0.5, 2.0)]);
        let pairs: Vec<(f64, f64)> = mixes.iter().map(|mix| (mix.read_share, mix.per_read)).collect();
        assert_eq!(pairs.len(), 3, "{pairs:?}");
        for (pair, expected) in pairs.iter().zip([(0.2, 3.1), (0.5, 2.0), (0.805, 1.3)]) {
            assert!((pair.0 - expected.0).abs() < 1e-9 && (pair.1 - expected.1).abs() < 1e-9, "{pair:?}");
            assert!((at(&mixes, pair.0).unwrap() - pair.1).abs() < 1e-9, "at {pair:?} itself");
        }
        assert_eq!((at(&mixes, 0.0), at(&mixes, 1.0)), (Some(pairs[0].1), Some(pairs[2].1)));
        assert!((at(&mixes, 0.35).unwrap() - 2.55).abs() < 1e-9);
        // Whatever the mix: never outside of what was counted, and falling where that falls.
        let along: Vec<f64> = (0..=100).map(|i| at(&mixes, f64::from(i) / 100.0).unwrap()).collect();
        assert!(along.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{along:?}");
        assert!(along.iter().all(|n| (pairs[2].1..=pairs[0].1).contains(n)), "{along:?}");
        assert_eq!(at(&[], 0.5), None);
    }
}
