//! Keys of a log of requests: in the verdict, and in the file, with what is known of them.

use experiment::Distribution;
use statements::Logged;

use super::*;

/// A log in which each partition of a table is asked for so often, three in four times by a read.
fn log(each: impl Iterator<Item = u32>) -> LogSeen {
    let each = each.map(|requests| (requests - requests / 4, requests / 4)).collect();
    LogSeen {
        path: "/logs/fql".to_owned(),
        seconds: 300.0,
        lost: Vec::new(),
        statements: vec![asked(60_000, "SELECT * FROM orders WHERE id = ?")],
        tables: BTreeMap::from([(orders(), PartitionsAsked { each, without_key: 7 })]),
    }
}

/// A statement that was asked so often.
fn asked(requests: u64, text: &str) -> StatementSeen {
    let logged = Logged::of(text);
    let values = vec![ValuesSeen::default(); logged.as_ref().map_or(0, |logged| logged.markers.len())];
    let keyspace = Some("shop".to_owned());
    let (consistency, operations) = (Some("quorum".to_owned()), requests);
    StatementSeen { logged, keyspace, consistency, serial: None, requests, operations, values }
}

/// A cluster of one node, whose table has a million partitions.
fn with(log: Option<LogSeen>) -> Profile {
    let mut seen = seen(Vec::new(), vec![node("db1", &[(300.0, 100.0); 11])]);
    seen.cluster.nodes = 1;
    seen.log = log;
    judged(&seen)
}

/// Each number of requests for so many partitions.
fn times(requests: impl IntoIterator<Item = (u32, usize)>) -> impl Iterator<Item = u32> {
    requests.into_iter().flat_map(|(requests, partitions)| std::iter::repeat_n(requests, partitions))
}

/// A thousand of a million partitions have about 800 requests each, the others 0.15 in the mean (Poisson's numbers):
/// the thousand have 84.2 % of all.
fn hot() -> LogSeen {
    let hot = (0..1_000).map(|partition| 772 + partition * 7_919 % 57);
    log(hot.chain(times([(1, 128_976), (2, 9_673), (3, 484), (4, 18)])))
}

#[test]
fn without_a_log_the_skew_is_an_assumption() {
    let profile = with(None);
    assert!(profile.log.is_none() && profile.unknown.contains(&Unknown::Skew));
    let (text, experiment) = written(&profile);
    assert_eq!(experiment.workloads[0].distribution, Distribution::Zipfian { constant: 0.99 });
    assert!(text.contains("# Keys are an assumption: no counter knows which ones are asked for."), "{text}");
}

#[test]
fn what_a_log_shows_is_in_the_file_with_its_figures() {
    let profile = with(Some(hot()));
    let keys = &profile.log.as_ref().unwrap().tables[0];
    assert_eq!((keys.partitions, keys.without_key), (Some(1e6), 7));
    let Law::Hotspot { data_fraction, operation_fraction } = keys.skew.unwrap().best.law else { panic!("{keys:?}") };
    assert!((data_fraction - 0.001).abs() < 1e-4 && (operation_fraction - 0.842).abs() < 0.02, "{keys:?}");
    let known = |unknown: &Unknown| !profile.unknown.contains(unknown);
    assert!(known(&Unknown::Skew) && known(&Unknown::Statements), "{:?}", profile.unknown);
    let (text, experiment) = written(&profile);
    assert!(matches!(experiment.workloads[0].distribution, Distribution::Hotspot { .. }), "{text}");
    for said in [
        "# Keys of shop.orders: ",
        " in 5.0 minutes of /logs/fql, for 140151 of 1000000 partitions (estimated)",
        "# * a hot set (",
        "# * reads alone: a hot set (",
        "points of the requests from what was counted",
        "# Statements that are called most, as /logs/fql has them:",
        "# * 200.0 a second: SELECT * FROM orders WHERE id = ?",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert!(!text.contains("which keys are asked for how often"), "{text}");
}

#[test]
fn uniform_keys_are_uniform_in_the_file_whose_page_cache_needs_no_correction() {
    // Poisson's numbers with a mean of 2: e^-2, 2 e^-2 and so on of a million.
    let numbers = [270_671, 270_671, 180_447, 90_224, 36_089, 12_030, 3_437, 859, 191, 38, 7, 1];
    let profile = with(Some(log(times((1..).zip(numbers)))));
    let (text, experiment) = written(&profile);
    assert_eq!(experiment.workloads[0].distribution, Distribution::Uniform, "{text}");
    assert!(text.contains("# * uniform; at most 0.") && text.contains("would look the same"), "{text}");
    assert!(!text.contains("same-misses"), "{text}");
}

#[test]
fn keys_that_no_workload_has_are_named_and_the_nearest_are_stated() {
    // Ten partitions with a thousand requests each, ninety with a hundred, and all others with one at most.
    let profile = with(Some(log(times([(1_000, 10), (100, 90), (1, 900)]))));
    assert!(profile.unknown.contains(&Unknown::UnlikeAnyKeys(orders())), "{:?}", profile.unknown);
    let (text, _) = written(&profile);
    assert!(text.contains("# * keys like those of shop.orders: the best that an experiment can state"), "{text}");
}

#[test]
fn partitions_of_nodes_that_were_not_read_are_as_many() {
    let mut seen = seen(Vec::new(), vec![node("db1", &[(300.0, 100.0); 11])]);
    seen.log = Some(hot());
    assert_eq!(judged(&seen).log.unwrap().tables[0].partitions, Some(3e6), "one of three nodes");
}

#[test]
fn a_log_that_knows_too_little_or_lost_something_is_named() {
    let mut few = log([5; 10].into_iter());
    few.lost = vec!["seems to have lost requests: nothing for 3.0 s".to_owned()];
    let profile = with(Some(few));
    assert!(profile.unknown.contains(&Unknown::SkewOfLog), "{:?}", profile.unknown);
    let why = "it seems to have lost requests: nothing for 3.0 s".to_owned();
    assert!(profile.not_read.contains(&NotRead { what: "a part of the query log /logs/fql".to_owned(), why }));
    let (text, experiment) = written(&profile);
    assert_eq!(experiment.workloads[0].distribution, Distribution::Zipfian { constant: 0.99 });
    assert!(text.contains("# Keys are an assumption: /logs/fql has too few requests"), "{text}");
    // Where nothing is estimated of a table, nothing is fitted.
    let mut seen = seen(Vec::new(), Vec::new());
    seen.log = Some(hot());
    assert_eq!(judged(&seen).log.unwrap().tables[0].skew, None);
}
