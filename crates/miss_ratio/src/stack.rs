//! The stack of all LRU caches at once: what was used last is on top, and a cache of n items holds what of the n top
//! places is an item (Mattson and others, IBM Systems Journal 9, 1970).
//!
//! What is deleted leaves a hole: its place in every cache that held it is free, and the next item that comes to the
//! top of such a cache drives nothing out (Kim, Hill & Wood, SIGMETRICS 1991). How deep an item lies is counted by a
//! tree of sums over the order of use (Fenwick, Software: Practice and Experience 24, 1994; for stacks Bennett &
//! Kruskal, IBM Journal of Research and Development 19, 1975): every step costs the logarithm of the number of places.

use std::collections::BTreeSet;

/// Least places of the order of use.
const LEAST_PLACES: usize = 1024;

/// What stands at a place of the order of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing: what stood here has moved.
    Empty,
    /// Room that something deleted has left.
    Hole,
    /// An item, by its slot.
    Item(usize),
}

/// Items by how lately they were used. A slot is the number of a key, counted from 0.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    /// By slot: its place; `None`: it is not on the stack.
    place_of: Vec<Option<usize>>,
    /// From the longest unused to what was used last.
    places: Vec<Place>,
    /// A tree of sums over `places`, counted from 1: how many are not empty.
    sums: Vec<usize>,
    /// Places that are holes.
    holes: BTreeSet<usize>,
    /// Places that are not empty.
    taken: usize,
    /// The place of the next use.
    next: usize,
}

impl Stack {
    /// Uses an item: it is on top then. Gives how many places from the top it lay, itself included; `None`: nowhere.
    pub fn touch(&mut self, slot: usize) -> Option<usize> {
        let own = self.place_of.get(slot).copied().flatten();
        let depth = own.map(|place| self.taken - self.taken_before(place));
        // What lies above moves down, as far as the first hole.
        let hole = self.holes.last().copied().filter(|hole| own.is_none_or(|place| *hole > place));
        match (hole, own) {
            (Some(hole), own) => {
                self.empty(hole);
                if let Some(place) = own {
                    self.places[place] = Place::Hole;
                    self.holes.insert(place);
                }
            }
            (None, Some(place)) => self.empty(place),
            (None, None) => {}
        }
        // Its old place says nothing of it from here on.
        if let Some(of_slot) = self.place_of.get_mut(slot) {
            *of_slot = None;
        }
        self.push(slot);
        depth
    }

    /// Deletes an item, wherever it lies.
    pub fn remove(&mut self, slot: usize) {
        if let Some(place) = self.place_of.get_mut(slot).and_then(Option::take) {
            self.places[place] = Place::Hole;
            self.holes.insert(place);
        }
    }

    /// Places below this one that are not empty.
    fn taken_before(&self, place: usize) -> usize {
        let (mut at, mut sum) = (place, 0);
        while at > 0 {
            sum += self.sums[at];
            at &= at - 1;
        }
        sum
    }

    fn empty(&mut self, place: usize) {
        self.holes.remove(&place);
        self.places[place] = Place::Empty;
        self.taken -= 1;
        let mut at = place + 1;
        while at < self.sums.len() {
            self.sums[at] -= 1;
            at += at & at.wrapping_neg();
        }
    }

    fn push(&mut self, slot: usize) {
        if self.next == self.places.len() {
            self.close_up();
        }
        let place = self.next;
        self.next += 1;
        self.places[place] = Place::Item(slot);
        self.taken += 1;
        let mut at = place + 1;
        while at < self.sums.len() {
            self.sums[at] += 1;
            at += at & at.wrapping_neg();
        }
        if self.place_of.len() <= slot {
            self.place_of.resize(slot + 1, None);
        }
        self.place_of[slot] = Some(place);
    }

    /// Leaves out the empty places, and makes room for as many as are left.
    fn close_up(&mut self) {
        let mut places: Vec<Place> = self.places.iter().copied().filter(|place| *place != Place::Empty).collect();
        self.next = places.len();
        self.holes.clear();
        for (at, place) in places.iter().enumerate() {
            match place {
                Place::Item(slot) => self.place_of[*slot] = Some(at),
                Place::Hole => drop(self.holes.insert(at)),
                Place::Empty => {}
            }
        }
        let all = (2 * places.len()).max(LEAST_PLACES);
        places.resize(all, Place::Empty);
        self.sums = vec![0; all + 1];
        for at in 1..=all {
            self.sums[at] += usize::from(places[at - 1] != Place::Empty);
            let above = at + (at & at.wrapping_neg());
            if above <= all {
                self.sums[above] += self.sums[at];
            }
        }
        self.places = places;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A cache of so many items that is really run: the longest unused first.
    fn used(cache: &mut Vec<usize>, room: usize, slot: usize) -> bool {
        let found = cache.iter().position(|item| *item == slot);
        if let Some(at) = found {
            cache.remove(at);
        }
        cache.push(slot);
        if cache.len() > room {
            cache.remove(0);
        }
        found.is_some()
    }

    proptest! {
        /// Uses and deletions in any order: the stack knows of every cache whether it has what is asked for.
        #[test]
        fn one_stack_is_caches_of_all_sizes(steps in prop::collection::vec((0..24_usize, 0..4_u8), 1..3000)) {
            let mut stack = Stack::default();
            let mut caches: Vec<Vec<usize>> = vec![Vec::new(); 26];
            for (slot, kind) in steps {
                if kind == 0 {
                    stack.remove(slot);
                    caches.iter_mut().for_each(|cache| cache.retain(|item| *item != slot));
                    continue;
                }
                let depth = stack.touch(slot);
                for (room, cache) in caches.iter_mut().enumerate().skip(1) {
                    let is_hit = used(cache, room, slot);
                    let is_within = depth.is_some_and(|depth| depth <= room);
                    prop_assert_eq!(is_within, is_hit, "{} in a cache of {}", slot, room);
                }
            }
        }
    }
}
