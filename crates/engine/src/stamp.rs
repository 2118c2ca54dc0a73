//! When a write was sent, and the mark by which its values are known again.
//!
//! A value that carries neither its key nor its age cannot be missed when it is gone. So where writes are checked, each
//! value begins with the number of its record and a number that grows with every write of the process, which is the
//! timestamp of the write as well: the order of the numbers is the order in which a database with last-write-wins keeps
//! values, whatever the clocks of its nodes show.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes at the beginning of a value that say whose and how old it is.
pub const TAG_BYTES: usize = 35;

/// First byte of a tag. The text of values is printable ASCII, which this is not: no random text begins like a tag.
const BEGIN: u8 = 1;
const SEPARATOR: u8 = b'.';
const DIGITS: usize = 16;

/// A write of one record at one moment: the timestamp to write it with, and what its values begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    record: u64,
    micros: i64,
    tag: [u8; TAG_BYTES],
}

impl Stamp {
    /// The stamp of a write of this record that is sent now: Unix time in microseconds, but greater than every stamp
    /// of this process so far, also where the clock stands still or goes back.
    #[inline]
    pub fn now(record: u64) -> Self {
        Self::at(record, next_micros())
    }

    pub(crate) fn at(record: u64, micros: i64) -> Self {
        let mut tag = [SEPARATOR; TAG_BYTES];
        tag[0] = BEGIN;
        write_digits(record, &mut tag[1..=DIGITS]);
        write_digits(micros.cast_unsigned(), &mut tag[DIGITS + 2..TAG_BYTES - 1]);
        Self { record, micros, tag }
    }

    /// Number of the record.
    pub(crate) fn record(&self) -> u64 {
        self.record
    }

    /// The timestamp of the write, microseconds of Unix time.
    #[inline]
    pub fn micros(&self) -> i64 {
        self.micros
    }

    /// What each value of the write begins with: [`TAG_BYTES`] of ASCII.
    #[inline]
    pub fn tag(&self) -> &str {
        std::str::from_utf8(&self.tag).expect("a tag is ASCII")
    }
}

/// What a value says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It was written for this record with this timestamp.
    Of { record: u64, micros: i64 },
    /// It begins like a tag but holds none.
    Damaged,
    /// Nothing: it was not written by a checked trial.
    None,
}

impl Mark {
    pub(crate) fn read(value: &str) -> Self {
        let bytes = value.as_bytes();
        if bytes.first() != Some(&BEGIN) {
            return Self::None;
        }
        let numbers = || {
            let tag = bytes.get(..TAG_BYTES)?;
            if tag[DIGITS + 1] != SEPARATOR || tag[TAG_BYTES - 1] != SEPARATOR {
                return None;
            }
            let record = read_digits(&tag[1..=DIGITS])?;
            let micros = i64::try_from(read_digits(&tag[DIGITS + 2..TAG_BYTES - 1])?).ok()?;
            Some((record, micros))
        };
        numbers().map_or(Self::Damaged, |(record, micros)| Self::Of { record, micros })
    }
}

/// Unix time in microseconds, strictly increasing over all threads of this process.
fn next_micros() -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64);
    let mut last = LAST.load(Relaxed);
    loop {
        let next = now.max(last + 1);
        match LAST.compare_exchange_weak(last, next, Relaxed, Relaxed) {
            Ok(_) => return next,
            Err(other) => last = other,
        }
    }
}

fn write_digits(number: u64, out: &mut [u8]) {
    for (place, digit) in out.iter_mut().rev().enumerate() {
        *digit = b"0123456789abcdef"[(number >> (4 * place)) as usize & 15];
    }
}

fn read_digits(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |number, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u64::from(value))
    })
}

#[cfg(test)]
mod tests {
    use workload::{Random, ValuePool};

    use super::*;

    #[test]
    fn a_tag_says_again_what_was_written_into_it() {
        for (record, micros) in [(0, 0), (7, 1_763_820_000_123_456), (u64::MAX, i64::MAX)] {
            let stamp = Stamp::at(record, micros);
            let value = format!("{}and the usual text", stamp.tag());
            assert_eq!(stamp.tag().len(), TAG_BYTES);
            assert_eq!(Mark::read(&value), Mark::Of { record, micros });
        }
    }

    #[test]
    fn a_cut_or_changed_tag_is_no_other_tag() {
        let whole = Stamp::at(42, 1_763_820_000_123_456).tag().to_owned();
        for length in 1..TAG_BYTES {
            assert_eq!(Mark::read(&whole[..length]), Mark::Damaged, "cut to {length} bytes");
        }
        for (from, to) in [(".", ","), ("2a", "2G"), ("2a", "2A"), (".0006", ".8006")] {
            let changed = whole.replacen(from, to, 1);
            assert_ne!(changed, whole);
            assert_eq!(Mark::read(&changed), Mark::Damaged, "{changed:?}");
        }
    }

    #[test]
    fn the_text_of_usual_values_is_never_taken_for_a_tag() {
        let mut random = Random::from_seed(11);
        for compressibility in [0.0, 0.5, 1.0] {
            let pool = ValuePool::new(3, compressibility, 100);
            for _ in 0..20_000 {
                assert_eq!(Mark::read(pool.value(random.next_u64())), Mark::None);
            }
        }
        assert_eq!(Mark::read(""), Mark::None);
    }

    #[test]
    fn no_two_writes_of_a_process_have_the_same_stamp() {
        let mut all: Vec<i64> = std::thread::scope(|scope| {
            let of_a_thread = || {
                let stamps: Vec<i64> = (0..20_000).map(|record| Stamp::now(record).micros()).collect();
                assert!(stamps.is_sorted_by(|a, b| a < b));
                stamps
            };
            let threads = [(); 4].map(|()| scope.spawn(of_a_thread));
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 80_000);
    }
}
