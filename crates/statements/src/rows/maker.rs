//! How one value is made: a [`crate::Generator`] and a type, compiled.

use workload::Random;
use workload::chooser::{Zipfian, uniform_item};

use super::pool;
use crate::data::{Sizes, Weighted};
use crate::encode::{self, Whole};
use crate::values::sized;

/// For which row a value is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    /// Of the column: values of different columns have nothing to do with each other.
    pub(crate) seed: u64,
    /// The number that sequences go by: of a partition or of a row.
    pub(crate) number: u64,
    /// Milliseconds since 1970, where a request writes the value anew.
    pub(crate) now_ms: Option<i64>,
}

/// Makes values of one type.
#[derive(Debug, Clone)]
pub(crate) enum Maker {
    Fixed(Vec<u8>),
    Values {
        values: Vec<Vec<u8>>,
        weighted: Weighted,
    },
    Whole {
        whole: Whole,
        numbers: Numbers,
    },
    /// `float` and `double`.
    Real {
        is_double: bool,
        min: f64,
        max: f64,
    },
    Bytes {
        length: Sizes,
        compressibility: f64,
    },
    /// 16 hexadecimal digits that no other number has, then text up to a length.
    Name {
        length: Option<(Sizes, f64)>,
    },
    RandomUuid,
    TimeUuid(Advancing),
    Timestamp(Advancing),
    Date(Advancing),
    Inet,
    Duration,
    /// A list or a set.
    Elements {
        size: Sizes,
        element: Box<Maker>,
    },
    Map {
        size: Sizes,
        key: Box<Maker>,
        value: Box<Maker>,
    },
    /// A tuple or a user-defined type.
    Fields(Vec<Maker>),
    Vector {
        element: Box<Maker>,
        dimensions: u16,
        is_fixed: bool,
    },
}

/// Whole numbers.
#[derive(Debug, Clone)]
pub(crate) enum Numbers {
    Uniform {
        min: i64,
        numbers: u64,
    },
    Zipfian {
        min: i64,
        ranks: Zipfian,
        numbers: u64,
    },
    Sequence(Sequence),
    /// All 64 bits, another for each number.
    Mixed,
}

/// `start + step * ((n / each) % cycle)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sequence {
    start: i64,
    step: i64,
    pub(crate) each: u64,
    pub(crate) cycle: Option<u64>,
    /// How many values from the start on its type has; then the first one again.
    pub(crate) room: u64,
}

/// Times that advance from number to number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Advancing {
    pub(crate) start_ms: i64,
    pub(crate) step_ms: i64,
}

/// Numbers that a name, a UUID or 64 mixed bits may come from, so many that they never run out.
const PLENTY: u64 = 1 << 62;

impl Sequence {
    /// Of a type; `each` is above 0.
    pub(crate) fn new(whole: Whole, start: i64, step: i64, each: u64, cycle: Option<u64>) -> Self {
        let (least, greatest) = whole.range();
        let end = if step > 0 { greatest } else { least };
        let steps = start.abs_diff(end).checked_div(step.unsigned_abs());
        Self { start, step, each, cycle, room: steps.map_or(1, |steps| steps.saturating_add(1).min(PLENTY)) }
    }

    /// 0, 1, 2 and so on.
    pub(crate) fn usual(whole: Whole) -> Self {
        Self::new(whole, 0, 1, 1, None)
    }

    fn number(self, n: u64) -> i64 {
        let n = (n / self.each) % self.cycle.unwrap_or(self.room);
        self.start.wrapping_add(self.step.wrapping_mul(n.cast_signed()))
    }
}

impl Advancing {
    fn ms(self, cell: Cell) -> i64 {
        cell.now_ms.unwrap_or_else(|| self.start_ms.wrapping_add(self.step_ms.wrapping_mul(cell.number.cast_signed())))
    }

    /// How many numbers have a time of their own, where a type has so many milliseconds.
    fn distinct(self, most_ms: u64) -> Option<u64> {
        let room = if self.step_ms > 0 { i64::MAX.abs_diff(self.start_ms) } else { i64::MIN.abs_diff(self.start_ms) };
        room.min(most_ms).checked_div(self.step_ms.unsigned_abs())
    }
}

impl Numbers {
    #[inline]
    fn number(&self, cell: Cell, random: &mut Random) -> i64 {
        match self {
            Self::Uniform { min, numbers } => min.wrapping_add(uniform_item(*numbers, random.next_u64()).cast_signed()),
            Self::Zipfian { min, ranks, numbers } => {
                // `u` within rounding of 1 may give the number of ranks itself.
                let rank = ranks.item(random.next_unit()).min(numbers - 1);
                min.wrapping_add(rank.cast_signed())
            }
            Self::Sequence(sequence) => sequence.number(cell.number),
            Self::Mixed => mixed(cell.seed ^ cell.number).cast_signed(),
        }
    }
}

impl Maker {
    /// Appends the value of a cell. `random` is the cell's own, or of a request that writes anew.
    pub(crate) fn put(&self, cell: Cell, random: &mut Random, out: &mut Vec<u8>) {
        match self {
            Self::Fixed(value) => out.extend_from_slice(value),
            Self::Values { values, weighted } => out.extend_from_slice(&values[weighted.choose(random.next_unit())]),
            Self::Whole { whole, numbers } => whole.put(numbers.number(cell, random), out),
            Self::Real { is_double, min, max } => {
                let number = min + (max - min) * random.next_unit();
                if *is_double {
                    out.extend_from_slice(&number.to_be_bytes());
                } else {
                    out.extend_from_slice(&(number as f32).to_be_bytes());
                }
            }
            Self::Bytes { length, compressibility } => {
                let length = length.draw(random) as usize;
                pool::put(length, *compressibility, random, out);
            }
            Self::Name { length } => {
                hexadecimal(mixed(cell.seed ^ cell.number), out);
                if let Some((length, compressibility)) = length {
                    let rest = (length.draw(random) as usize).saturating_sub(NAME);
                    pool::put(rest, *compressibility, random, out);
                }
            }
            Self::RandomUuid => encode::random_uuid(random.next_u64(), random.next_u64(), out),
            Self::TimeUuid(times) => encode::time_uuid(times.ms(cell), random.next_u64(), out),
            Self::Timestamp(times) => Whole::Timestamp.put(times.ms(cell), out),
            Self::Date(times) => Whole::Date.put(times.ms(cell).div_euclid(MS_PER_DAY), out),
            Self::Inet => out.extend_from_slice(&(random.next_u64() as u32).to_be_bytes()),
            Self::Duration => {
                // Up to 24 hours, in milliseconds.
                let ms = uniform_item(MS_PER_DAY.unsigned_abs(), random.next_u64()).cast_signed();
                encode::duration(0, 0, ms * 1_000_000, out);
            }
            Self::Elements { size, element } => {
                let size = size.draw(random);
                out.extend_from_slice(&(size as i32).to_be_bytes());
                (0..size).for_each(|_| sized(out, |out| element.put(cell, random, out)));
            }
            Self::Map { size, key, value } => {
                let size = size.draw(random);
                out.extend_from_slice(&(size as i32).to_be_bytes());
                for _ in 0..size {
                    sized(out, |out| key.put(cell, random, out));
                    sized(out, |out| value.put(cell, random, out));
                }
            }
            Self::Fields(fields) => {
                fields.iter().for_each(|field| sized(out, |out| field.put(cell, random, out)));
            }
            Self::Vector { element, dimensions, is_fixed: true } => {
                (0..*dimensions).for_each(|_| element.put(cell, random, out));
            }
            Self::Vector { element, dimensions, is_fixed: false } => {
                let mut one = Vec::new();
                for _ in 0..*dimensions {
                    one.clear();
                    element.put(cell, random, &mut one);
                    encode::unsigned_vint(one.len() as u64, out);
                    out.extend_from_slice(&one);
                }
            }
        }
    }

    /// How many numbers, from 0, have values that are all different; `None`: they may repeat.
    pub(crate) fn distinct(&self) -> Option<u64> {
        match self {
            Self::Whole { numbers: Numbers::Mixed, .. } | Self::Name { .. } | Self::RandomUuid => Some(PLENTY),
            // A time UUID has 60 bits for 100 ns since 1582.
            Self::TimeUuid(times) => times.distinct(PLENTY / 10_000),
            Self::Timestamp(times) => times.distinct(PLENTY),
            Self::Fields(fields) => fields.iter().filter_map(Self::distinct).max(),
            Self::Whole { numbers: Numbers::Sequence(sequence), .. } => {
                (sequence.each == 1 && sequence.cycle.is_none()).then_some(sequence.room)
            }
            _ => None,
        }
    }

    /// The sequence that it is.
    pub(crate) fn sequence(&self) -> Option<Sequence> {
        match self {
            Self::Whole { numbers: Numbers::Sequence(sequence), .. } => Some(*sequence),
            _ => None,
        }
    }

    /// How elements of a collection are made: a map's values or keys.
    pub(crate) fn element(&self, is_value_of_map: bool) -> Option<&Self> {
        match self {
            Self::Elements { element, .. } => Some(element),
            Self::Map { key, value, .. } => Some(if is_value_of_map { value } else { key }),
            _ => None,
        }
    }

    /// How many numbers, one after another, may have the same value.
    pub(crate) fn repeats(&self) -> u64 {
        match self {
            Self::Date(times) => MS_PER_DAY.unsigned_abs().div_ceil(times.step_ms.unsigned_abs().max(1)),
            Self::Whole { numbers: Numbers::Sequence(sequence), .. } => sequence.each,
            _ => 1,
        }
    }

    /// Whether a greater number has a greater value, so that a range has two ends.
    pub(crate) fn grows(&self) -> bool {
        match self {
            Self::TimeUuid(times) | Self::Timestamp(times) | Self::Date(times) => times.step_ms > 0,
            Self::Whole { numbers: Numbers::Sequence(sequence), .. } => sequence.step > 0 && sequence.cycle.is_none(),
            _ => false,
        }
    }
}

const MS_PER_DAY: i64 = 86_400_000;
/// Characters of a name.
pub(super) const NAME: usize = 16;

fn hexadecimal(number: u64, out: &mut Vec<u8>) {
    out.extend((0..NAME).rev().map(|digit| b"0123456789abcdef"[(number >> (4 * digit)) as usize & 0xF]));
}

/// Other bits for each number: the finaliser of SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014), which is a bijection.
pub(crate) const fn mixed(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Of a part of something that has this seed.
pub(crate) fn named(seed: u64, name: &str) -> u64 {
    // The step of SplitMix64, so that nothing stays 0.
    name.bytes().fold(seed, |hash, byte| mixed(hash.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ u64::from(byte)))
}
