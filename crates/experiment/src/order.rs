//! In which order a block goes through its cells.
//!
//! Orders are random *and* counterbalanced. Independent shuffles are right on average over seeds, and one run has one
//! seed: two configurations in three blocks come out as ab|ab|ab for every fourth, and then whatever drifts within a
//! block makes equal ones differ. So over all blocks every item has the same mean place, as far as numbers allow: a
//! steady drift then cancels in every ratio, as it does in the order abba (Cox, "Some systematic experimental designs",
//! Biometrika 38, 1951). Williams's squares (Australian Journal of Scientific Research A 2, 1949) balance what follows
//! what besides; they take as many blocks as there are cells, and nobody can afford these.

use stats::SplitMix;

/// The orders of `items` (cells of a block) in each of `blocks`. The same seed
/// gives the same orders.
///
/// Blocks go in pairs, of which the second is the first backwards. Of an odd number the first three belong together:
/// each item's places in them have the same sum, or sums that differ by one where the number of items is even.
pub fn orders(items: usize, blocks: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = SplitMix::new(seed);
    // The sum of the places that each item has had.
    let mut places = vec![0; items];
    let mut orders: Vec<Vec<usize>> = Vec::new();
    for block in 0..blocks {
        let order = match orders.first() {
            Some(first) if block == 1 && blocks % 2 == 1 && items > 2 => halves(first),
            _ => {
                // Those that were early come late; equals in any order.
                let mut order = shuffled(items, &mut random);
                order.sort_by_key(|item| std::cmp::Reverse(places[*item]));
                order
            }
        };
        for (place, item) in order.iter().enumerate() {
            places[*item] += place;
        }
        orders.push(order);
    }
    orders
}

/// The orders of items in each of `blocks` that go to and fro: those of a group (`group_of` has that of each item)
/// stand together, and every block is the one before backwards, so that it begins with the group with which that has
/// ended. The seed decides the first. All items have the same mean place where the number of blocks is even.
pub fn to_and_fro(group_of: &[usize], blocks: usize, seed: u64) -> Vec<Vec<usize>> {
    let drawn = shuffled(group_of.len(), &mut SplitMix::new(seed));
    let mut there = drawn.clone();
    there.sort_by_key(|item| drawn.iter().position(|other| group_of[*other] == group_of[*item]));
    let back: Vec<usize> = there.iter().rev().copied().collect();
    (0..blocks).map(|block| if block % 2 == 0 { there.clone() } else { back.clone() }).collect()
}

/// Fisher and Yates, from the last place down.
fn shuffled(items: usize, random: &mut SplitMix) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items).collect();
    for last in (1..items).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    order
}

/// The second of three orders: every other item of the first one backwards, then the rest backwards. The sums of both
/// places are then all different and without a gap, so that a third order evens them out.
fn halves(first: &[usize]) -> Vec<usize> {
    let from = |start: usize| first.iter().skip(start).step_by(2).rev();
    from(0).chain(from(1)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far apart the mean places of two items are at most.
    fn apart(orders: &[Vec<usize>]) -> f64 {
        let items = orders[0].len();
        let sum = |item: usize| -> usize {
            let place = |order: &Vec<usize>| order.iter().position(|i| *i == item).unwrap();
            orders.iter().map(place).sum()
        };
        let sums: Vec<usize> = (0..items).map(sum).collect();
        (sums.iter().max().unwrap() - sums.iter().min().unwrap()) as f64 / orders.len() as f64
    }

    #[test]
    fn every_block_holds_every_item_once() {
        for (items, blocks) in [(1, 3), (2, 3), (5, 4), (12, 7)] {
            for order in orders(items, blocks, 3) {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..items).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn all_items_have_the_same_mean_place() {
        for seed in 0..50 {
            for items in 2..14 {
                for blocks in [2, 4, 6, 20] {
                    assert_eq!(apart(&orders(items, blocks, seed)), 0.0, "{items} x {blocks}, seed {seed}");
                }
                for blocks in [3, 5, 7] {
                    let least = if items % 2 == 1 { 0.0 } else { 1.0 / blocks as f64 };
                    let found = apart(&orders(items, blocks, seed));
                    assert!(found <= least + 1e-9, "{items} x {blocks}, seed {seed}: {found}");
                }
            }
        }
    }

    #[test]
    fn two_in_three_blocks_change_places_every_time() {
        for seed in 0..20 {
            let found = orders(2, 3, seed);
            assert!(found[0] != found[1], "{found:?}");
        }
    }

    #[test]
    fn to_and_fro_a_block_begins_with_the_group_with_which_the_last_one_ended() {
        let group_of = [0, 1, 2, 0, 1, 2, 1];
        let mut firsts = std::collections::BTreeSet::new();
        for seed in 0..40 {
            let found = to_and_fro(&group_of, 4, seed);
            let groups: Vec<Vec<usize>> =
                found.iter().map(|order| order.iter().map(|item| group_of[*item]).collect()).collect();
            for (order, groups) in found.iter().zip(&groups) {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..7).collect::<Vec<_>>());
                let mut together = groups.clone();
                together.dedup();
                assert_eq!(together.len(), 3, "seed {seed}: {groups:?}");
            }
            assert!(groups.windows(2).all(|two| two[0].last() == two[1].first()), "seed {seed}: {groups:?}");
            assert_eq!(apart(&found), 0.0);
            firsts.insert(groups[0][0]);
        }
        assert_eq!(firsts.len(), 3, "the seed decides who comes first");
    }

    #[test]
    fn the_seed_decides_who_comes_first() {
        let first = |seed| orders(6, 3, seed)[0].clone();
        assert_eq!(first(1), first(1));
        let seen: std::collections::BTreeSet<Vec<usize>> = (0..100).map(first).collect();
        assert!(seen.len() > 80, "{}", seen.len());
    }
}
