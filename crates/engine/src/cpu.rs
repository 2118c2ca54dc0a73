//! Work by which a CPU is measured. It is here because this crate is optimised in every profile but a debug build:
//! unoptimised, each step would take many times its cycles.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasherDefault, Hasher as _};
use std::hint::black_box;

/// Cycles of a step of [`chain`] on x86-64: 3 of a product of 64 bits and 1 of an exclusive or, on Intel's cores since
/// Nehalem and AMD's since Zen (Agner Fog, "Instruction tables").
pub const CYCLES: f64 = 4.0;
/// Keys of a round of [`kernel`]: half a MiB with its table, as a core's own cache holds.
const KEYS: usize = 8_192;

/// Lines of 64 bytes, what a cache loads at once, in a [`Walk`] that is measured: 256 MiB, of which no core's caches
/// hold more than a part.
pub const LINES: usize = 4 << 20;
/// Words of a line.
const WORDS: usize = 16;

/// Steps that each wait for the one before: a product and an exclusive or, in which no compiler finds a shorter way.
#[inline(never)]
pub fn chain(steps: u64) -> u64 {
    let key = black_box(0x9e37_79b9_7f4a_7c15_u64);
    let mut value = black_box(1_u64);
    for _ in 0..steps {
        value = value.wrapping_mul(value) ^ key;
    }
    value
}

/// A round of what databases do with keys: they are made, put into a table, sorted, written as text and hashed, and
/// looked up. The same seed gives the same sum.
#[inline(never)]
pub fn kernel(seed: u64) -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut keys: Vec<u64> = Vec::with_capacity(KEYS);
    let mut table: HashMap<u64, u64, BuildHasherDefault<DefaultHasher>> =
        HashMap::with_capacity_and_hasher(KEYS, BuildHasherDefault::default());
    for at in 0..KEYS {
        state = shifted(state);
        keys.push(state);
        table.insert(state, at as u64);
    }
    keys.sort_unstable();
    let mut hasher = DefaultHasher::new();
    let mut sum = 0_u64;
    for key in &keys {
        hasher.write(key.to_string().as_bytes());
        sum = sum.rotate_left(5) ^ table.get(key).copied().unwrap_or_default();
    }
    sum ^ hasher.finish()
}

/// Reads of memory that each wait for the one before, which alone knows where the next one is: what following
/// references costs a process whose heap is larger than the caches. It has pages to translate as well as lines to load,
/// and on a virtual machine the host has them, too.
pub struct Walk {
    /// A line's first word is the line that comes after it.
    words: Vec<u32>,
    at: usize,
}

impl Walk {
    /// Through `lines` lines in random order, each once before the first comes again (Sattolo 1986).
    ///
    /// # Panics
    /// With no line, or more than a `u32` counts.
    pub fn over(lines: usize) -> Self {
        assert!(lines > 0, "a walk needs a line");
        let mut words = vec![0; lines * WORDS];
        for line in 0..lines {
            words[line * WORDS] = u32::try_from(line).expect("lines that a u32 counts");
        }
        let mut state = 88_172_645_463_325_252_u64;
        for line in (1..lines).rev() {
            state = shifted(state);
            words.swap(line * WORDS, (state % line as u64) as usize * WORDS);
        }
        Self { words, at: 0 }
    }

    /// The line that is reached after so many reads.
    #[inline(never)]
    pub fn on(&mut self, reads: u64) -> u64 {
        for _ in 0..reads {
            self.at = self.words[self.at * WORDS] as usize;
        }
        self.at as u64
    }
}

/// The next of a sequence of pseudo-random numbers (Marsaglia 2003, "Xorshift RNGs").
fn shifted(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_comes_to_each_line_once_before_it_comes_again() {
        let mut walk = Walk::over(1_000);
        let mut seen: Vec<u64> = (0..1_000).map(|_| walk.on(1)).collect();
        assert_eq!(*seen.last().unwrap(), 0, "the first line comes last");
        assert!(seen.windows(2).filter(|pair| pair[1] == pair[0] + 1).count() < 20, "in no order that can be foreseen");
        seen.sort_unstable();
        assert_eq!(seen, (0..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_round_does_the_same_for_the_same_seed() {
        assert_eq!(kernel(7), kernel(7));
        assert_ne!(kernel(7), kernel(8));
    }

    #[test]
    fn a_chain_depends_on_each_of_its_steps() {
        let ends: Vec<u64> = (0..4).map(chain).collect();
        assert_eq!(ends[0], 1);
        assert_eq!(ends[1], 1 ^ 0x9e37_79b9_7f4a_7c15);
        assert_eq!(ends[2], ends[1].wrapping_mul(ends[1]) ^ 0x9e37_79b9_7f4a_7c15);
        assert_ne!(ends[3], ends[2]);
    }
}
