//! The items of one memcached, in the order in which it drives them out: its LRU is segmented.
//!
//! ```text
//! stored -> HOT --not active--> COLD --oldest--> driven out
//!            |                  ^  |
//!          active     not active   found for the second time
//!            v                  |  v
//!          WARM <---active--- WARM
//! ```
//!
//! What is stored comes to HOT. The second time that an item is found, and each time after, it is *active*: in COLD it
//! moves to WARM at once, elsewhere it keeps its place until it is the oldest there, and then goes to WARM instead of
//! to COLD. HOT and WARM give up their oldest when they hold more than their part of all items, or when it was stored
//! or became active so long ago that what COLD gives up next is not much older.
//!
//! Source: memcached 1.6.18, `items.c` (`do_item_bump`, `do_item_update`, `lru_pull_tail`, `lru_maintainer_juggle`) and
//! `memcached.c` (`settings_init`), with default settings and items of one size. Its maintainer is a thread that comes
//! by every millisecond or so; here it comes whenever an item was stored or moved. Ages are whole seconds, as there.

use crate::rules::Rules;

/// `hot_lru_pct`: of all items.
const HOT_PERCENT: u64 = 20;
/// `warm_lru_pct`: of all items.
const WARM_PERCENT: u64 = 40;
/// `hot_max_factor`: of the age of COLD's oldest item.
const HOT_AGE_PERCENT: u64 = 20;
/// `warm_max_factor`: of the same.
const WARM_AGE_PERCENT: u64 = 200;
/// No item.
const NONE: usize = usize::MAX;

/// Where an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Segment {
    Hot,
    Warm,
    Cold,
}

/// A key, by its slot.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// `None`: it has no item.
    segment: Option<Segment>,
    is_fetched: bool,
    is_active: bool,
    /// When it was stored, in operations.
    stored_at: f64,
    /// The second in which it was stored or became active.
    second: u64,
    /// The next one in its segment, towards the newest and towards the oldest.
    newer: usize,
    older: usize,
}

/// The items of a segment.
#[derive(Debug, Clone, Copy)]
struct List {
    newest: usize,
    oldest: usize,
    count: u64,
}

/// What the maintainer sees when it comes by.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// In operations.
    now: f64,
    second: u64,
    /// Items in all segments.
    all: u64,
    /// Seconds since COLD's oldest item was stored or became active.
    cold_age: u64,
}

/// The items of a memcached. A slot is the number of a key, counted from 0.
#[derive(Debug)]
pub(crate) struct Segments {
    /// Items that it holds.
    room: u64,
    /// Items beside these, which are always there and always active: they are part of WARM.
    resident: u64,
    ttl_operations: f64,
    operations_per_s: f64,
    nodes: Vec<Node>,
    /// By [`Segment`].
    lists: [List; 3],
}

impl Segments {
    /// Room for so many items beside resident ones.
    pub fn new(room: u64, resident: u64, rules: &Rules) -> Self {
        Self {
            room,
            resident,
            ttl_operations: rules.ttl_operations.unwrap_or(f64::INFINITY),
            // At one operation a second or fewer, each has a second of its own.
            operations_per_s: rules.operations_per_s.map_or(1.0, |rate| rate.max(1.0)),
            nodes: Vec::new(),
            lists: [List { newest: NONE, oldest: NONE, count: 0 }; 3],
        }
    }

    /// A read at a time, counted in operations: whether it finds an item. What is not there is stored.
    pub fn read(&mut self, slot: usize, now: f64) -> bool {
        let segment = self.nodes.get(slot).and_then(|node| node.segment);
        let Some(segment) = segment.filter(|_| !self.is_expired(slot, now)) else {
            self.store(slot, now);
            return false;
        };
        let second = self.second(now);
        let node = &mut self.nodes[slot];
        if !node.is_fetched {
            node.is_fetched = true;
        } else if !node.is_active {
            node.second = second;
            if segment == Segment::Cold {
                self.unlink(slot);
                self.link(slot, Segment::Warm);
                self.maintain(now);
            } else {
                node.is_active = true;
            }
        }
        true
    }

    /// Stores an item, in the place of the one that is there.
    pub fn store(&mut self, slot: usize, now: f64) {
        self.remove(slot);
        if self.room == 0 {
            return;
        }
        if self.count() == self.room {
            self.drive_out();
        }
        let second = self.second(now);
        let (segment, is_fetched, is_active) = (None, false, false);
        let node = Node { segment, is_fetched, is_active, stored_at: now, second, newer: NONE, older: NONE };
        if self.nodes.len() <= slot {
            self.nodes.resize(slot + 1, node);
        }
        self.nodes[slot] = node;
        self.link(slot, Segment::Hot);
        self.maintain(now);
    }

    /// Deletes an item, if there is one.
    pub fn remove(&mut self, slot: usize) {
        if self.nodes.get(slot).is_some_and(|node| node.segment.is_some()) {
            self.unlink(slot);
        }
    }

    fn count(&self) -> u64 {
        self.lists.iter().map(|list| list.count).sum()
    }

    fn second(&self, now: f64) -> u64 {
        (now / self.operations_per_s) as u64
    }

    fn is_expired(&self, slot: usize, now: f64) -> bool {
        now - self.nodes[slot].stored_at >= self.ttl_operations
    }

    fn oldest(&self, segment: Segment) -> Option<usize> {
        Some(self.lists[segment as usize].oldest).filter(|slot| *slot != NONE)
    }

    /// COLD's oldest item goes. Others do where deletions have left nothing there.
    fn drive_out(&mut self) {
        let oldest = [Segment::Cold, Segment::Hot, Segment::Warm].into_iter().find_map(|segment| self.oldest(segment));
        if let Some(slot) = oldest {
            self.unlink(slot);
        }
    }

    /// Moves items until HOT and WARM hold no more, and nothing older, than they may.
    fn maintain(&mut self, now: f64) {
        let second = self.second(now);
        let cold_age = self.oldest(Segment::Cold).map_or(0, |slot| second.saturating_sub(self.nodes[slot].second));
        let round = Round { now, second, all: self.count() + self.resident, cold_age };
        while self.pull(Segment::Hot, round) || self.pull(Segment::Warm, round) || self.pull(Segment::Cold, round) {}
    }

    /// Moves a segment's oldest item, or drops it because it has expired; `false`: it stays.
    fn pull(&mut self, segment: Segment, round: Round) -> bool {
        let Some(slot) = self.oldest(segment) else {
            return false;
        };
        if self.is_expired(slot, round.now) {
            self.unlink(slot);
            return true;
        }
        let count = self.lists[segment as usize].count;
        let (count, percent, age_percent) = match segment {
            Segment::Hot => (count, HOT_PERCENT, HOT_AGE_PERCENT),
            Segment::Warm => (count + self.resident, WARM_PERCENT, WARM_AGE_PERCENT),
            Segment::Cold => return false,
        };
        let node = &mut self.nodes[slot];
        let age = round.second.saturating_sub(node.second);
        let to = if node.is_active {
            node.is_active = false;
            Segment::Warm
        } else if count * 100 > round.all * percent || age > round.cold_age * age_percent / 100 {
            Segment::Cold
        } else {
            return false;
        };
        self.unlink(slot);
        self.link(slot, to);
        true
    }

    /// Makes an item the newest of a segment.
    fn link(&mut self, slot: usize, segment: Segment) {
        let list = &mut self.lists[segment as usize];
        let before = list.newest;
        list.newest = slot;
        list.count += 1;
        match self.nodes.get_mut(before) {
            Some(node) => node.newer = slot,
            None => list.oldest = slot,
        }
        let node = &mut self.nodes[slot];
        (node.segment, node.newer, node.older) = (Some(segment), NONE, before);
    }

    /// Takes an item out of its segment.
    fn unlink(&mut self, slot: usize) {
        let Node { segment, newer, older, .. } = self.nodes[slot];
        let Some(segment) = segment else {
            return;
        };
        self.nodes[slot].segment = None;
        let list = &mut self.lists[segment as usize];
        list.count -= 1;
        match self.nodes.get_mut(newer) {
            Some(node) => node.older = older,
            None => list.newest = older,
        }
        match self.nodes.get_mut(older) {
            Some(node) => node.newer = newer,
            None => list.oldest = newer,
        }
    }
}

#[cfg(test)]
mod tests;
