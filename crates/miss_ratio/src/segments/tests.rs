//! Steps that can be followed by hand, and random ones held to lists that are searched.

use proptest::prelude::*;

use super::*;
use crate::rules::Policy;

const HOT: usize = 0;
const WARM: usize = 1;
const COLD: usize = 2;

fn rules(ttl: f64, operations_per_s: f64) -> Rules {
    let operations_per_s = Some(operations_per_s);
    Rules { policy: Policy::Aside, ttl_operations: Some(ttl), operations_per_s }
}

impl Segments {
    /// The items of HOT, WARM and COLD, each from the oldest to the newest.
    fn slots(&self) -> [Vec<usize>; 3] {
        let segment = |list: &List| {
            let first = Some(list.oldest).filter(|slot| *slot != NONE);
            let newer = |slot: &usize| Some(self.nodes[*slot].newer).filter(|slot| *slot != NONE);
            std::iter::successors(first, newer).collect::<Vec<usize>>()
        };
        [segment(&self.lists[HOT]), segment(&self.lists[WARM]), segment(&self.lists[COLD])]
    }
}

/// Room for five: one in HOT, two in WARM. All happens in one second, so that nothing is old.
#[test]
fn what_is_found_twice_outlives_what_is_not() {
    let mut cache = Segments::new(5, 0, &rules(f64::INFINITY, 1e9));
    // Read, whether that was found, and what is in HOT, WARM and COLD then, from the oldest to the newest.
    let steps: [(usize, bool, [&[usize]; 3]); 16] = [
        (0, false, [&[], &[], &[0]]),
        (1, false, [&[], &[], &[0, 1]]),
        (2, false, [&[], &[], &[0, 1, 2]]),
        (3, false, [&[], &[], &[0, 1, 2, 3]]),
        (4, false, [&[4], &[], &[0, 1, 2, 3]]),
        // Found once it keeps its place; the second time it leaves COLD.
        (0, true, [&[4], &[], &[0, 1, 2, 3]]),
        (0, true, [&[4], &[0], &[1, 2, 3]]),
        // In HOT it waits until it is the oldest and something comes after it.
        (4, true, [&[4], &[0], &[1, 2, 3]]),
        (4, true, [&[4], &[0], &[1, 2, 3]]),
        (5, false, [&[5], &[0, 4], &[2, 3]]),
        (6, false, [&[6], &[0, 4], &[3, 5]]),
        (7, false, [&[7], &[0, 4], &[5, 6]]),
        // Of a plain LRU it would have been driven out.
        (0, true, [&[7], &[0, 4], &[5, 6]]),
        (6, true, [&[7], &[0, 4], &[5, 6]]),
        // WARM has one too many: the oldest is active and stays, the next one is not.
        (6, true, [&[7], &[6, 0], &[5, 4]]),
        (1, false, [&[1], &[6, 0], &[4, 7]]),
    ];
    for (number, (slot, is_found, after)) in steps.into_iter().enumerate() {
        assert_eq!(cache.read(slot, number as f64), is_found, "step {number}");
        assert_eq!(cache.slots(), after.map(<[usize]>::to_vec), "step {number}");
    }
}

/// The oldest item of COLD is ten seconds old: what has been in HOT for more than two of them leaves it, though two
/// of eleven items have room there. In a single second it stays.
#[test]
fn what_is_old_leaves_hot_though_it_has_room() {
    let slots = |operations_per_s| {
        let mut cache = Segments::new(20, 0, &rules(f64::INFINITY, operations_per_s));
        (0..10).for_each(|slot| cache.store(slot, 0.0));
        cache.store(10, 10.0);
        cache.slots()
    };
    let (young, old): ([Vec<usize>; 3], [Vec<usize>; 3]) =
        ([vec![9, 10], vec![], (0..9).collect()], [vec![10], vec![], (0..10).collect()]);
    assert_eq!((slots(1000.0), slots(1.0)), (young, old));
}

/// Items that are always there take room in WARM, and others leave it for them.
#[test]
fn resident_items_take_room_in_warm() {
    let in_warm = |resident: u64| {
        let room = 20 - resident;
        let mut cache = Segments::new(room, resident, &rules(f64::INFINITY, 1e9));
        (0..room as usize).for_each(|slot| cache.store(slot, 0.0));
        for slot in (0..8).chain(0..8) {
            assert!(cache.read(slot, 0.0));
        }
        cache.slots()[WARM].len()
    };
    assert_eq!([in_warm(0), in_warm(3), in_warm(10)], [8, 5, 0]);
}

#[derive(Clone, Copy)]
struct Item {
    slot: usize,
    hits: u32,
    is_active: bool,
    stored_at: f64,
    second: u64,
}

/// The same with lists that are searched, each from the oldest to the newest.
struct Naive {
    room: usize,
    ttl: f64,
    operations_per_s: f64,
    lists: [Vec<Item>; 3],
}

impl Naive {
    fn read(&mut self, slot: usize, now: f64) -> bool {
        let second = (now / self.operations_per_s) as u64;
        let find = |list: &Vec<Item>| list.iter().position(|item| item.slot == slot);
        let found = (0..3).find_map(|segment| Some((segment, find(&self.lists[segment])?)));
        let found = found.filter(|(segment, at)| now - self.lists[*segment][*at].stored_at < self.ttl);
        let Some((segment, at)) = found else {
            self.store(slot, now);
            return false;
        };
        let item = &mut self.lists[segment][at];
        item.hits += 1;
        if item.hits > 1 && !item.is_active {
            item.second = second;
            item.is_active = segment != COLD;
            if segment == COLD {
                let item = self.lists[COLD].remove(at);
                self.lists[WARM].push(item);
                self.maintain(now);
            }
        }
        true
    }

    fn store(&mut self, slot: usize, now: f64) {
        self.remove(slot);
        if self.room == 0 {
            return;
        }
        if self.lists.iter().map(Vec::len).sum::<usize>() == self.room {
            let from = [COLD, HOT, WARM].into_iter().find(|segment| !self.lists[*segment].is_empty()).unwrap();
            self.lists[from].remove(0);
        }
        let second = (now / self.operations_per_s) as u64;
        self.lists[HOT].push(Item { slot, hits: 0, is_active: false, stored_at: now, second });
        self.maintain(now);
    }

    fn remove(&mut self, slot: usize) {
        self.lists.iter_mut().for_each(|list| list.retain(|item| item.slot != slot));
    }

    fn maintain(&mut self, now: f64) {
        let second = (now / self.operations_per_s) as u64;
        let all: usize = self.lists.iter().map(Vec::len).sum();
        let cold_age = self.lists[COLD].first().map_or(0, |item| second - item.second);
        for (segment, most, age) in [(HOT, all / 5, cold_age / 5), (WARM, 2 * all / 5, 2 * cold_age)] {
            while let Some(item) = self.lists[segment].first().copied() {
                let is_expired = now - item.stored_at >= self.ttl;
                let leaves = self.lists[segment].len() > most || second - item.second > age;
                if !is_expired && !item.is_active && !leaves {
                    break;
                }
                self.lists[segment].remove(0);
                if !is_expired {
                    let to = if item.is_active { WARM } else { COLD };
                    self.lists[to].push(Item { is_active: false, ..item });
                }
            }
        }
        while self.lists[COLD].first().is_some_and(|item| now - item.stored_at >= self.ttl) {
            self.lists[COLD].remove(0);
        }
    }
}

proptest! {
    /// Reads, writes and deletions in any order, caches of many sizes, slow and fast clocks.
    #[test]
    fn segments_are_those_of_lists_that_are_searched(
        steps in prop::collection::vec((0..24_usize, 0..8_u8), 1..1000),
        ttl in prop_oneof![Just(f64::INFINITY), Just(60.0)],
        operations_per_s in prop_oneof![Just(1.0), Just(9.0), Just(1e9)],
    ) {
        for room in [0, 1, 2, 3, 5, 8, 13, 21, 24, 30] {
            let mut cache = Segments::new(room as u64, 0, &rules(ttl, operations_per_s));
            let mut naive = Naive { room, ttl, operations_per_s, lists: Default::default() };
            for (number, (slot, kind)) in steps.iter().copied().enumerate() {
                let now = number as f64;
                match kind {
                    0 => {
                        cache.remove(slot);
                        naive.remove(slot);
                    }
                    1 => {
                        cache.store(slot, now);
                        naive.store(slot, now);
                    }
                    _ => prop_assert_eq!(cache.read(slot, now), naive.read(slot, now), "{} of {}", slot, room),
                }
            }
            let lists = naive.lists.map(|list| list.into_iter().map(|item| item.slot).collect::<Vec<usize>>());
            prop_assert_eq!(cache.slots(), lists, "room for {}", room);
        }
    }
}
