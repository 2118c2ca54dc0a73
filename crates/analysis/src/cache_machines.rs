//! A cache tier on machines of its own: what its nodes reported there, added up to what the tier did.

use std::collections::{BTreeMap, BTreeSet};

use evidence::{HostId, HostSample, Role};
use reported::Series;
use reported::memcached::REPORTS;

/// Longest time between two samples of a machine across which a moment is looked for, seconds: of three that are due
/// one may be missing.
const GAP_S: f64 = 2.5;

/// The samples of a trial with the tier's figures where they stand of caches beside the database: with what its first
/// node reported. `hosts` are the trial's, with samples or without. `None`: no cache had a machine of its own.
///
/// Machines are sampled at moments of their own. At the moment of a sample of the database a figure of a cache is on
/// the straight line between the cache's samples before and after; where one cache says nothing there, nothing is said
/// of the tier.
pub fn added_up<'a>(
    hosts: impl Iterator<Item = &'a HostId>,
    by_host: &'a BTreeMap<HostId, Vec<HostSample>>,
) -> Option<BTreeMap<HostId, Vec<HostSample>>> {
    let caches: BTreeSet<&HostId> = hosts.chain(by_host.keys()).filter(|host| host.role == Role::Cache).collect();
    caches.first()?;
    let mut with_tier = by_host.clone();
    let (_, of_database) = with_tier.iter_mut().find(|(host, _)| host.role == Role::Database)?;
    for sample in of_database {
        for series in REPORTS.all_series() {
            let of_tier: Option<f64> = caches.iter().map(|cache| at(by_host.get(*cache)?, sample.t_s, series)).sum();
            sample.database.set(series, of_tier);
        }
    }
    Some(with_tier)
}

/// A figure of a cache at a moment.
fn at(samples: &[HostSample], t_s: f64, series: &Series) -> Option<f64> {
    let next = samples.partition_point(|sample| sample.t_s < t_s);
    let (before, after) = (samples.get(next.checked_sub(1)?)?, samples.get(next)?);
    let apart_s = after.t_s - before.t_s;
    let (from, to) = (before.database.get(series)?, after.database.get(series)?);
    let share = stats::ratio(t_s - before.t_s, apart_s).filter(|_| apart_s <= GAP_S)?;
    Some(from + (to - from) * share)
}

#[cfg(test)]
mod tests {
    use reported::Reported;
    use reported::cassandra::TABLE_READS;
    use reported::memcached::{HITS, MISSES};

    use super::*;

    fn sample(t_s: f64, reported: Reported) -> HostSample {
        HostSample { t_s, database: reported, ..HostSample::default() }
    }

    /// One that answers 100 records a second, sampled each second from `begins_s` on.
    fn cache(begins_s: f64) -> Vec<HostSample> {
        let at = |n: u32| begins_s + f64::from(n);
        (0..6).map(|n| sample(at(n), Reported::from([(&HITS, 100.0 * at(n)), (&MISSES, 7.0)]))).collect()
    }

    #[test]
    fn caches_are_added_up_at_the_moments_of_the_database() {
        let database: Vec<HostSample> =
            (0..6).map(|n| sample(f64::from(n) + 0.5, Reported::from([(&TABLE_READS, 9.0)]))).collect();
        let alone = BTreeMap::from([(HostId::DATABASE, database)]);
        assert_eq!(added_up([].iter(), &alone), None, "none has a machine of its own");

        let mut by_host = alone;
        by_host.extend([(HostId::cache(0), cache(0.0)), (HostId::cache(1), cache(0.25))]);
        let hits = |by_host: &BTreeMap<HostId, Vec<HostSample>>| -> Vec<Option<f64>> {
            let with_tier = added_up([HostId::cache(0), HostId::cache(1)].iter(), by_host).unwrap();
            let of_database = &with_tier[&HostId::DATABASE];
            assert!(of_database.iter().all(|sample| sample.database.get(&TABLE_READS) == Some(9.0)));
            of_database.iter().map(|sample| sample.database.get(&HITS).map(f64::round)).collect()
        };
        // The first has its last sample at 5 s, before the last one of the database.
        let both = [Some(100.0), Some(300.0), Some(500.0), Some(700.0), Some(900.0), None];
        assert_eq!(hits(&by_host), both);
        // One says nothing for a moment: missing is not zero.
        for silent in &mut by_host.get_mut(&HostId::cache(1)).unwrap()[2..4] {
            silent.database = Reported::default();
        }
        assert_eq!(hits(&by_host), [Some(100.0), None, None, None, Some(900.0), None]);
        // Nor is it known what it did while nobody sampled its machine.
        by_host.get_mut(&HostId::cache(1)).unwrap().drain(2..4);
        assert_eq!(hits(&by_host), [Some(100.0), None, None, None, Some(900.0), None]);
        // Half a tier is not the tier.
        by_host.remove(&HostId::cache(1));
        assert_eq!(hits(&by_host), [None; 6]);
    }
}
