//! What a trial has written, as far as that was acknowledged: what must be found again.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::stamp::Stamp;

/// A table that grows copies all of its entries, which would hold up a load thread for a good part of a second when it
/// has millions. So there are many, which grow one after another: by some 40,000 entries at once when all of them hold
/// ten million, about a millisecond.
const SHARDS: usize = 256;

/// One load thread's notes. Empty, it holds no heap memory but the empty tables.
#[derive(Debug, Clone)]
pub(crate) struct Notes {
    shards: Vec<Shard>,
    acknowledged: u64,
    unacknowledged: u64,
}

type Shard = HashMap<WrittenField, i64, BuildHasherDefault<Mixer>>;

/// Where something was written: a field of a record, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct WrittenField {
    record: u64,
    /// A field from 0, or [`EVERY_FIELD`].
    field: u32,
}

/// In the place of a field's number: a write of the whole record takes one entry, not one per field.
const EVERY_FIELD: u32 = u32::MAX;

impl Default for Notes {
    fn default() -> Self {
        Self { shards: vec![Shard::default(); SHARDS], acknowledged: 0, unacknowledged: 0 }
    }
}

impl Notes {
    /// A write of one field, or of all (`None`), has ended. Keeps the greatest stamp that was acknowledged.
    #[inline]
    pub(crate) fn ended(&mut self, stamp: &Stamp, field: Option<u32>, acknowledged: bool) {
        if !acknowledged {
            self.unacknowledged += 1;
            return;
        }
        self.acknowledged += 1;
        let place = WrittenField { record: stamp.record(), field: field.unwrap_or(EVERY_FIELD) };
        let shard = (mixed(place.record) >> 32) as usize % SHARDS;
        let newest = self.shards[shard].entry(place).or_insert(stamp.micros());
        *newest = stamp.micros().max(*newest);
    }
}

/// Every acknowledged write of a trial, for [`crate::read_back()`].
#[derive(Debug, Clone)]
pub struct Writes {
    threads: Vec<Notes>,
}

impl Writes {
    pub(crate) fn of(threads: Vec<Notes>) -> Self {
        Self { threads }
    }

    /// Writes that were acknowledged, warm-up included.
    pub fn acknowledged(&self) -> u64 {
        self.threads.iter().map(|notes| notes.acknowledged).sum()
    }

    /// Writes that failed or were not answered in time, warm-up included.
    pub fn unacknowledged(&self) -> u64 {
        self.threads.iter().map(|notes| notes.unacknowledged).sum()
    }

    /// All threads' notes together, in order of records.
    pub(crate) fn into_wanted(self, fields: u32) -> Wanted {
        let mut entries: Vec<(WrittenField, i64)> = Vec::new();
        for notes in self.threads {
            notes.shards.into_iter().for_each(|shard| entries.extend(shard));
        }
        entries.sort_unstable();
        // Of several threads' entries the last, which is the greatest.
        entries.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = later.1;
            }
            same
        });
        Wanted { entries, fields }
    }
}

/// What must be found: at least this stamp in this field of this record.
pub(crate) struct Wanted {
    entries: Vec<(WrittenField, i64)>,
    fields: u32,
}

impl Wanted {
    /// Where each record's entries begin.
    pub(crate) fn records(&self) -> Vec<usize> {
        let begins = |at: &usize| *at == 0 || self.entries[at - 1].0.record != self.entries[*at].0.record;
        (0..self.entries.len()).filter(begins).collect()
    }

    /// The number of the record whose entries begin at `at`.
    pub(crate) fn record(&self, at: usize) -> u64 {
        self.entries[at].0.record
    }

    /// The fields of that record to look at, with the stamp that each must have at least, in `out`.
    pub(crate) fn fields(&self, at: usize, out: &mut Vec<(u32, i64)>) {
        let record = self.record(at);
        let own = self.entries[at..].iter().take_while(|entry| entry.0.record == record);
        out.clear();
        for (place, micros) in own {
            if place.field != EVERY_FIELD {
                out.push((place.field, *micros));
                continue;
            }
            // It comes last: what is there are single fields, in order.
            let mut single = std::mem::take(out).into_iter().peekable();
            out.extend((0..self.fields).map(|field| {
                let newer = single.next_if(|(other, _)| *other == field);
                (field, newer.map_or(*micros, |(_, newer)| newer.max(*micros)))
            }));
        }
    }
}

/// Hashes record and field numbers: multiply and shift, because nobody chooses them to collide.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = mixed(self.0 ^ number);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// MurmurHash3's 64-bit finaliser (Appleby, `fmix64`): every bit of the number reaches every bit of the result.
#[inline]
fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x = (x ^ (x >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ (x >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that is wanted, as (record, field, stamp).
    fn wanted(writes: Writes, fields: u32) -> Vec<(u64, u32, i64)> {
        let wanted = writes.into_wanted(fields);
        let mut of_record = Vec::new();
        let mut all = Vec::new();
        for at in wanted.records() {
            wanted.fields(at, &mut of_record);
            all.extend(of_record.iter().map(|(field, micros)| (wanted.record(at), *field, *micros)));
        }
        all
    }

    #[test]
    fn the_newest_acknowledged_write_of_all_threads_is_wanted() {
        let mut threads = vec![Notes::default(), Notes::default(), Notes::default()];
        threads[0].ended(&Stamp::at(5, 10), Some(1), true);
        threads[0].ended(&Stamp::at(5, 30), Some(1), true);
        threads[1].ended(&Stamp::at(5, 20), Some(1), true);
        threads[2].ended(&Stamp::at(5, 40), Some(1), false);
        threads[2].ended(&Stamp::at(9, 50), Some(0), true);
        // Answered in another order than sent.
        threads[1].ended(&Stamp::at(9, 61), Some(2), true);
        threads[1].ended(&Stamp::at(9, 60), Some(2), true);
        let writes = Writes::of(threads);
        assert_eq!((writes.acknowledged(), writes.unacknowledged()), (6, 1));
        assert_eq!(wanted(writes, 3), [(5, 1, 30), (9, 0, 50), (9, 2, 61)]);
    }

    #[test]
    fn a_write_of_the_whole_record_counts_for_each_of_its_fields() {
        let mut notes = Notes::default();
        notes.ended(&Stamp::at(1, 10), Some(2), true);
        notes.ended(&Stamp::at(1, 20), None, true);
        notes.ended(&Stamp::at(1, 30), Some(0), true);
        assert_eq!(wanted(Writes::of(vec![notes]), 4), [(1, 0, 30), (1, 1, 20), (1, 2, 20), (1, 3, 20)]);
        assert_eq!(wanted(Writes::of(vec![Notes::default()]), 4), []);
    }

    #[test]
    fn entries_spread_over_the_tables() {
        let mut notes = Notes::default();
        for record in 0..256_000 {
            notes.ended(&Stamp::at(record, 1), Some(0), true);
        }
        // A thousand in each is expected; five standard deviations of a Poisson count.
        let uneven = notes.shards.iter().find(|shard| shard.len().abs_diff(1000) > 160);
        assert!(uneven.is_none(), "{:?}", uneven.map(HashMap::len));
    }
}
