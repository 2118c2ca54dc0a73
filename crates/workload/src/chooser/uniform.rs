//! Every record equally likely.

/// `|random| % records`: YCSB's `UniformLongGenerator`. 0 when there are no records.
#[inline]
pub fn uniform_item(records: u64, random: u64) -> u64 {
    random.cast_signed().unsigned_abs().checked_rem(records).unwrap_or(0)
}
