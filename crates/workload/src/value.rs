//! Field values: slices of one pool of text, so that a value costs an offset and no allocation.
//!
//! By default the pool is random printable ASCII. LZ4, Cassandra's default table compression, has no entropy coding and
//! finds nothing to shorten in it: two 100-byte values of one 16 KiB chunk overlap so seldom that the chunk shrinks by
//! less than 1 %. Constant text instead shrinks about 20 times, and a benchmark on it measures the page cache.

use crate::random::Random;

/// Different offsets in a pool, hence different values; a power of two.
const OFFSETS: usize = 1 << 20;

/// What the compressible share of a value consists of.
const CONSTANT_CHARACTER: u8 = b'x';

/// About 1 MiB of text from which values of one length are cut.
#[derive(Debug, Clone)]
pub struct ValuePool {
    text: String,
    field_length: usize,
}

impl ValuePool {
    /// A pool for values of `field_length` bytes, of which the share `compressibility` (0..=1, rounded to bytes) is
    /// constant text and the rest random printable ASCII. Holds 1 MiB + `field_length`.
    ///
    /// The pool repeats the pattern "constant part, random part" with the period `field_length` and new random text
    /// each time. Any slice as long as the period holds exactly one constant part, so any offset is a good one.
    pub fn new(seed: u64, compressibility: f64, field_length: u32) -> Self {
        let field_length = field_length as usize;
        let constant = ((field_length as f64 * compressibility.clamp(0.0, 1.0)).round() as usize).min(field_length);
        let mut random = Random::from_seed(seed);
        let text = (0..OFFSETS + field_length)
            .map(|position| {
                let in_constant_part = position.checked_rem(field_length).is_some_and(|p| p < constant);
                char::from(if in_constant_part { CONSTANT_CHARACTER } else { printable(&mut random) })
            })
            .collect();
        Self { text, field_length }
    }

    /// A value of the pool's field length, chosen by 64 random bits.
    #[inline]
    pub fn value(&self, random: u64) -> &str {
        // The upper bits: with many generators they are the better ones.
        let offset = (random >> (64 - OFFSETS.trailing_zeros())) as usize;
        &self.text[offset..offset + self.field_length]
    }
}

/// A character from space to tilde, each about equally likely.
fn printable(random: &mut Random) -> u8 {
    const FIRST: u8 = b' ';
    const CHARACTERS: u64 = (b'~' - b' ' + 1) as u64;
    FIRST + (((random.next_u64() >> 32) * CHARACTERS) >> 32) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_length_asked_for() {
        for length in [0, 1, 3, 100, 4096, 1 << 20] {
            let pool = ValuePool::new(1, 0.0, length);
            for random in [0, 1, u64::MAX / 2, u64::MAX] {
                assert_eq!(pool.value(random).len(), length as usize);
            }
        }
    }

    #[test]
    fn text_is_printable_and_every_character_occurs() {
        let pool = ValuePool::new(3, 0.0, 100);
        assert!(pool.text.bytes().all(|b| (b' '..=b'~').contains(&b)));
        let mut seen = [0u32; 128];
        pool.text.bytes().for_each(|b| seen[b as usize] += 1);
        let expected = pool.text.len() as f64 / 95.0;
        for count in &seen[b' ' as usize..=b'~' as usize] {
            assert!((f64::from(*count) / expected - 1.0).abs() < 0.1);
        }
    }

    #[test]
    fn each_value_holds_the_constant_share() {
        let pool = ValuePool::new(5, 0.4, 1000);
        for random in (0..u64::MAX).step_by(usize::MAX / 50) {
            let constant = pool.value(random).bytes().filter(|b| *b == CONSTANT_CHARACTER).count();
            // 400 constant characters, and the same one by chance in 600/95 of the others.
            assert!((400..=425).contains(&constant), "{constant}");
        }
        let all = ValuePool::new(5, 1.0, 64);
        assert_eq!(all.value(77), "x".repeat(64));
    }

    /// What LZ4 could use: how many 4-byte sequences of a 16 KiB chunk of values occurred before in it.
    #[test]
    fn a_chunk_of_values_hardly_repeats_itself() {
        let pool = ValuePool::new(9, 0.0, 100);
        let mut random = Random::from_seed(2);
        let (mut repeated, mut all) = (0, 0);
        for _ in 0..20 {
            let chunk: String = (0..164).map(|_| pool.value(random.next_u64())).collect();
            let mut seen = std::collections::HashSet::new();
            for four in chunk.as_bytes().windows(4) {
                all += 1;
                repeated += u32::from(!seen.insert(four.to_vec()));
            }
        }
        assert!(f64::from(repeated) / f64::from(all) < 0.02, "{repeated} of {all}");
    }
}
