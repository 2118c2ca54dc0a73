//! A model of 1:N has a N-th of the partitions with all their requests, and so the hit ratio of the whole.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use query_log::{Popularity, TooHot, keeps};
use workload::Random;

const PARTITIONS: usize = 50_000;
const REQUESTS: usize = 150_000;

/// Requests for partitions of which few are asked for often: the share of the i-th falls with the root of i.
fn stream(seed: u64) -> Vec<u64> {
    let mut sums = Vec::with_capacity(PARTITIONS);
    let mut sum = 0.0;
    for rank in 0..PARTITIONS {
        sum += 1.0 / (rank as f64 + 1.0).sqrt();
        sums.push(sum);
    }
    let mut random = Random::from_seed(seed);
    let name = |rank: usize| (rank as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(seed);
    let mut chosen = || {
        let point = random.next_unit() * sum;
        name(sums.partition_point(|sum| *sum <= point))
    };
    (0..REQUESTS).map(|_| chosen()).collect()
}

/// The share of the second half's requests that a cache of the least recently used partitions answers.
fn hit_ratio(requests: &[u64], room: usize) -> f64 {
    let (mut used, mut by_use) = (HashMap::new(), BTreeMap::new());
    let (mut hits, mut asked) = (0_u32, 0_u32);
    for (now, partition) in requests.iter().enumerate() {
        let before: Option<usize> = used.insert(*partition, now);
        if let Some(before) = before {
            by_use.remove(&before);
        }
        by_use.insert(now, *partition);
        if by_use.len() > room
            && let Some((_, oldest)) = by_use.pop_first()
        {
            used.remove(&oldest);
        }
        if now >= requests.len() / 2 {
            asked += 1;
            hits += u32::from(before.is_some());
        }
    }
    f64::from(hits) / f64::from(asked)
}

#[test]
fn a_partition_with_more_than_one_in_n_requests_is_too_hot_for_a_model_of_1_to_n() {
    let mut popularity = Popularity::default();
    assert_eq!(popularity.too_hot(16, 0), None, "nothing was asked");
    for (key, requests) in [("a", 25), ("b", 10), ("c", 15), ("d", 50)] {
        (0..requests).for_each(|_| popularity.count(key.as_bytes()));
    }
    assert_eq!([1, 2].map(|of| popularity.too_hot(of, 100)), [None, None]);
    assert_eq!(popularity.too_hot(3, 100), Some(TooHot { share: 0.5, most: 2 }));
    // Writes that this round does not send are requests, too.
    assert_eq!(popularity.too_hot(4, 200), None);
    assert_eq!(popularity.too_hot(5, 200), Some(TooHot { share: 0.25, most: 4 }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_thinned_stream_hits_as_often_as_the_whole(
        seed: u64,
        of in prop::sample::select(vec![2_u64, 4, 8]),
        cached in prop::sample::select(vec![0.1, 0.3]),
    ) {
        let whole = stream(seed);
        let room = PARTITIONS as f64 * cached;
        let expected = hit_ratio(&whole, room as usize);
        let thinned: Vec<u64> = whole.iter().copied().filter(|partition| keeps(&partition.to_be_bytes(), of)).collect();
        let share = thinned.len() as f64 / whole.len() as f64;
        prop_assert!((share * of as f64 - 1.0).abs() < 0.15, "1:{of} has {share} of the requests");
        let model = hit_ratio(&thinned, (room / of as f64) as usize);
        prop_assert!((model - expected).abs() < 0.04, "1:{of} at {cached}: {model} instead of {expected}");
        // One of N requests, whatever its partition, is another workload.
        let by_request: Vec<u64> = whole.iter().copied().step_by(of as usize).collect();
        let other = hit_ratio(&by_request, (room / of as f64) as usize);
        prop_assert!(expected - other > 0.06, "1:{of} at {cached}: {other} instead of {expected}");
    }

    #[test]
    fn a_partition_is_kept_by_its_key_alone(key: Vec<u8>, of in 1_u64..100) {
        prop_assert_eq!(keeps(&key, of), keeps(&key.clone(), of));
        prop_assert!(keeps(&key, 1) && keeps(&key, 0));
        // Who is in the smaller model is in the larger one.
        prop_assert!(!keeps(&key, of * 2) || keeps(&key, of));
    }
}
