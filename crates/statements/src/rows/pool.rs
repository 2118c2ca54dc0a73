//! Text that values are cut from, so that a value costs a copy and one random number.

use std::sync::OnceLock;

use workload::Random;

/// Different places to cut at, hence different values; a power of two.
const PLACES: usize = 1 << 20;
/// What the share that repeats consists of.
const REPEATED: u8 = b'x';
/// Of the text; it is part of what a seed means.
const SEED: u64 = 0x5A7A_7E3E;

/// Random printable ASCII, 2 MiB, made once in a process.
fn text() -> &'static [u8] {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut random = Random::from_seed(SEED);
        // From space to tilde, each about equally likely.
        (0..2 * PLACES).map(|_| b' ' + (((random.next_u64() >> 32) * 95) >> 32) as u8).collect()
    })
}

/// Appends `length` bytes, of which the share `compressibility` (rounded to bytes) is one character over and over.
#[inline]
pub(super) fn put(length: usize, compressibility: f64, random: &mut Random, out: &mut Vec<u8>) {
    let repeated = ((length as f64 * compressibility).round() as usize).min(length);
    out.resize(out.len() + repeated, REPEATED);
    let mut rest = length - repeated;
    while rest > 0 {
        let from = (random.next_u64() >> (64 - PLACES.trailing_zeros())) as usize;
        let piece = rest.min(PLACES);
        out.extend_from_slice(&text()[from..from + piece]);
        rest -= piece;
    }
}
