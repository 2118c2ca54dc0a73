//! Names of records: YCSB's key format and the hash behind it.
//!
//! Source: YCSB 0.17.0, `site.ycsb.Utils.fnvhash64` and `CoreWorkload.buildKeyName`. A data set loaded by YCSB can
//! therefore be read by iopslab and the other way round.

use serde::{Deserialize, Serialize};

/// YCSB's 64-bit FNV hash of a number: FNV-1a over its eight bytes, least significant first, made non-negative.
///
/// Java ends with `Math.abs`, which leaves `Long.MIN_VALUE` negative; here that one value in 2^64 becomes 2^63.
#[inline]
pub fn fnv_hash64(value: u64) -> u64 {
    const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 1_099_511_628_211;
    let mut hash = OFFSET_BASIS;
    for octet in value.to_le_bytes() {
        hash = (hash ^ u64::from(octet)).wrapping_mul(PRIME);
    }
    hash.cast_signed().unsigned_abs()
}

/// Most decimal digits of a `u64`.
const MAX_DIGITS: usize = 20;

/// How the number of a record becomes its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyFormat {
    /// Keys are hashed (YCSB `insertorder=hashed`, the default) rather than ordered.
    #[serde(rename = "hashed_keys")]
    pub hashed: bool,
    /// Least width of the number in a key, zero-padded (YCSB `zeropadding`, default 1).
    pub zero_padding: u32,
}

impl Default for KeyFormat {
    /// YCSB's.
    fn default() -> Self {
        Self { hashed: true, zero_padding: 1 }
    }
}

/// Writes the key of a record into `out`, replacing what was there: `user`, zeros up to the width of the format, then
/// the number (`fnv_hash64(record)` where keys are hashed).
///
/// Allocates only when `out` is shorter than the key: 24 bytes, or 4 + the format's width if that is more.
#[inline]
pub fn write_key(record: u64, format: KeyFormat, out: &mut String) {
    let mut number = if format.hashed { fnv_hash64(record) } else { record };
    let mut digits = [b'0'; MAX_DIGITS];
    let mut start = MAX_DIGITS;
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.clear();
    out.push_str("user");
    for _ in (MAX_DIGITS - start)..format.zero_padding as usize {
        out.push('0');
    }
    let digits = std::str::from_utf8(&digits[start..]).expect("decimal digits are ASCII");
    out.push_str(digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(zero_padding: u32) -> KeyFormat {
        KeyFormat { hashed: false, zero_padding }
    }

    #[test]
    fn writing_a_key_again_needs_no_more_memory() {
        let mut key = String::with_capacity(24);
        let address = key.as_ptr();
        for record in [0, 1, u64::MAX, 12_345] {
            write_key(record, KeyFormat::default(), &mut key);
            write_key(record, ordered(1), &mut key);
        }
        assert_eq!(key, "user12345");
        assert_eq!(key.as_ptr(), address);
    }

    #[test]
    fn padding_is_a_least_width_of_the_number() {
        let mut key = String::new();
        for (padding, expected) in
            [(0, "user5"), (1, "user5"), (8, "user00000005"), (30, "user000000000000000000000000000005")]
        {
            write_key(5, ordered(padding), &mut key);
            assert_eq!(key, expected);
        }
    }
}
