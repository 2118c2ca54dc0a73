//! What caches in front of a database answered in the trials of a cell.

use std::collections::BTreeMap;

use evidence::CacheAnswer;
use experiment::Setup;
use reported::Series;
use reported::memcached::{BYTES, CPU_S, DELETES, EVICTIONS, HITS, ITEMS, MISSES, RECEIVED_BYTES, SENT_BYTES, SETS};

use crate::document::{CacheTierAnalysis, LatencyAnalysis};
use crate::measurement::TrialMeasurement;

/// What a tier is asked for: records, found or not, to keep one, to delete one.
const REQUESTS: [&Series; 4] = [&HITS, &MISSES, &SETS, &DELETES];

/// `None`: there are none. What is predicted is added by the caller.
pub fn of_cell(
    setup: Option<&Setup>,
    trials: &[&TrialMeasurement],
    latency_us: BTreeMap<CacheAnswer, LatencyAnalysis>,
) -> Option<CacheTierAnalysis> {
    let tier = setup?.cache_tier.as_ref()?;
    let median = |figure: &dyn Fn(&TrialMeasurement) -> Option<f64>| {
        stats::median(trials.iter().filter_map(|trial| figure(trial)))
    };
    let share = |is_meant: fn(CacheAnswer) -> bool| {
        median(&|trial| stats::ratio(reads(trial, is_meant), reads(trial, |_| true)))
    };
    // Of a trial with planned faults hosts are looked at up to the first.
    let per_s = |trial: &TrialMeasurement, total| stats::ratio(total, trial.undisturbed().window_s());
    Some(CacheTierAnalysis {
        hit_ratio: share(CacheAnswer::is_hit),
        predicted_hit_ratio: None,
        stale_share: share(|answer| answer == CacheAnswer::Stale),
        unanswered_share: share(|answer| answer == CacheAnswer::Unanswered),
        database_reads_per_s: median(&|trial| stats::ratio(reads(trial, |answer| !answer.is_hit()), trial.window_s())),
        latency_us,
        evictions_per_s: median(&|trial| per_s(trial, reported(trial, &EVICTIONS)?)),
        bytes: median(&|trial| reported(trial, &BYTES)),
        items: median(&|trial| reported(trial, &ITEMS)),
        network_bytes_per_s: median(&|trial| {
            per_s(trial, reported(trial, &RECEIVED_BYTES)? + reported(trial, &SENT_BYTES)?)
        }),
        network_share: median(&|trial| {
            // Either direction has all of it.
            let most = reported(trial, &RECEIVED_BYTES)?.max(reported(trial, &SENT_BYTES)?);
            stats::ratio(per_s(trial, most)?, tier.all_network_bytes_per_s()?)
        }),
        cpus_used: median(&|trial| trial.nodes().find_map(|node| node.host.cache_cpus_used)),
        request_cpu_us: median(&request_cpu_us),
    })
}

/// CPU time of a trial's caches for each request to them, microseconds of the CPU that ran them: what their processes
/// used (getrusage(2), as memcached reports it), the little that they do beside requests included, over gets, sets and
/// deletes. `None`: there are none, nobody watched them, or nothing was asked.
pub fn request_cpu_us(trial: &TrialMeasurement) -> Option<f64> {
    let requests: f64 = REQUESTS.into_iter().map(|series| reported(trial, series)).sum::<Option<f64>>()?;
    stats::ratio(reported(trial, &CPU_S)? * 1e6, requests)
}

fn reads(trial: &TrialMeasurement, is_meant: fn(CacheAnswer) -> bool) -> f64 {
    trial.cache.iter().filter(|(answer, _)| is_meant(**answer)).map(|(_, of)| of.samples as f64).sum()
}

/// What the tier reported in the window: it is watched on the machine of one of the database's nodes.
fn reported(trial: &TrialMeasurement, series: &Series) -> Option<f64> {
    trial.nodes().find_map(|node| node.host.work.total(series))
}

#[cfg(test)]
mod tests {
    use evidence::empty_histogram;
    use experiment::{CachePolicy, CacheTierSetup};

    use super::*;
    use crate::latency::SeriesLatency;
    use crate::limit::{self, LimitKind};
    use crate::story::{job, trials};
    use crate::work::Course;

    fn answered(reads: u64) -> SeriesLatency {
        let mut histogram = empty_histogram();
        histogram.record_n(500, reads).unwrap();
        SeriesLatency::of(&histogram)
    }

    /// Two nodes of a quarter of a CPU in front of the first configuration.
    fn setup() -> Setup {
        let policy = CachePolicy::Aside;
        let tier = CacheTierSetup {
            nodes: 2,
            cpus: 0.25,
            network_bytes_per_s: Some(1e7),
            memory_bytes: 1 << 26,
            ttl_s: None,
            policy,
        };
        Setup { cache_tier: Some(tier), ..job().setups[0].clone() }
    }

    #[test]
    fn stale_hits_are_hits_and_what_was_no_hit_has_reached_the_database() {
        let mut trial = trials().swap_remove(0);
        trial.cache = BTreeMap::from([
            (CacheAnswer::Hit, answered(600)),
            (CacheAnswer::Stale, answered(100)),
            (CacheAnswer::Miss, answered(280)),
            (CacheAnswer::Unanswered, answered(20)),
        ]);
        let none = of_cell(Some(&job().setups[0]), &[&trial], BTreeMap::new());
        assert_eq!(none, None, "there are none");
        let tier = of_cell(Some(&setup()), &[&trial], BTreeMap::new()).unwrap();
        assert_eq!((tier.hit_ratio, tier.stale_share, tier.unanswered_share), (Some(0.7), Some(0.1), Some(0.02)));
        assert_eq!(tier.database_reads_per_s, Some(300.0 / trial.window_s()));
        assert_eq!((tier.cpus_used, tier.bytes), (None, None), "nobody watched them");
    }

    #[test]
    fn a_request_takes_what_the_processes_used_over_all_that_they_were_asked() {
        let mut trial = trials().swap_remove(0);
        assert_eq!(request_cpu_us(&trial), None, "nobody watched a tier");
        let total = |value| Course { total: Some(value), ..Course::default() };
        let of_tier = [(&HITS, 600.0), (&MISSES, 200.0), (&SETS, 150.0), (&DELETES, 50.0), (&CPU_S, 0.012)];
        for (series, value) in of_tier {
            trial.hosts.values_mut().for_each(|host| host.work.set(series, total(value)));
        }
        let each = request_cpu_us(&trial).unwrap();
        assert!((each - 12.0).abs() < 1e-9, "{each}");
        assert_eq!(of_cell(Some(&setup()), &[&trial], BTreeMap::new()).unwrap().request_cpu_us, Some(each));
    }

    #[test]
    fn the_network_of_a_tier_is_what_it_received_and_sent() {
        let mut trial = trials().swap_remove(0);
        let of = |trial: &TrialMeasurement| {
            let tier = of_cell(Some(&setup()), &[trial], BTreeMap::new()).unwrap();
            (tier.network_bytes_per_s, tier.network_share)
        };
        let mut set = |series, value| {
            let total = Course { total: Some(value), ..Course::default() };
            trial.hosts.values_mut().for_each(|host| host.work.set(series, total));
        };
        set(&RECEIVED_BYTES, 1e6);
        set(&SENT_BYTES, 9e6);
        let (both, share) = of(&trial);
        assert_eq!(both, Some(1e7 / trial.window_s()));
        // Of two machines with 10 MB/s in each direction.
        assert!((share.unwrap() - 9e6 / trial.window_s() / 2e7).abs() < 1e-9, "{share:?}");
        trial.hosts.values_mut().for_each(|host| host.work.set(&SENT_BYTES, Course::default()));
        assert_eq!(of(&trial), (None, None), "missing is not zero");
    }

    #[test]
    fn a_tier_whose_cpus_are_full_is_named_among_the_limits() {
        let named = |cpus_used| {
            let mut trial = trials().swap_remove(0);
            trial.hosts.values_mut().for_each(|host| host.cache_cpus_used = Some(cpus_used));
            let limit = limit::of_cell(Some(&setup()), &[&trial]);
            std::iter::once(limit.kind).chain(limit.also).any(|kind| kind == LimitKind::CacheTierCpu)
        };
        assert!(named(0.46), "92 % of both");
        assert!(!named(0.4));
    }
}
