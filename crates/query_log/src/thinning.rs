//! Which partitions a model of 1:N has. A *partition* is kept or left out, with its rows and all its requests: so a
//! model sees what the whole sees, with one partition of N. (Requests kept one by one would be of all partitions: fewer
//! repeat each other, and a page cache of a N-th has less use than the whole one.)
//!
//! Source: spatially hashed sampling, as in Waldspurger et al., "Efficient MRC Construction with SHARDS" (FAST 2015).
//! Its error is that of the hottest partitions: one with more than a N-th of all requests is either too much of the
//! model or not in it.

use std::collections::HashMap;

/// A number for a partition, by its key as the protocol has it (of several columns: as the token is computed from it).
/// FNV-1a, and the last step of SplitMix64, so that all bits depend on all bytes.
#[inline]
pub fn partition(key: &[u8]) -> u64 {
    let hash = key
        .iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3));
    let z = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Whether a model of 1:`of` has the partition of this key.
#[inline]
pub fn keeps(key: &[u8], of: u64) -> bool {
    of <= 1 || partition(key).is_multiple_of(of)
}

/// How often each partition is asked for: whether a model of 1:N can have one of N of them.
#[derive(Debug, Default)]
pub struct Popularity(HashMap<u64, u64>);

/// A partition that has more than an N-th of all requests: a model of 1:N is of that one above all, or lacks it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TooHot {
    /// Its share of all requests.
    pub share: f64,
    /// The largest whole N with which it has no more than an N-th.
    pub most: u64,
}

impl Popularity {
    /// Counts a request of the partition of this key, as [`keeps`] takes it.
    pub fn count(&mut self, key: &[u8]) {
        *self.0.entry(partition(key)).or_default() += 1;
    }

    /// Whether the hottest partition has more than one in `of` of all these requests.
    pub fn too_hot(&self, of: u64, all: u64) -> Option<TooHot> {
        let hottest = *self.0.values().max()?;
        let most = all / hottest;
        if most >= of {
            return None;
        }
        Some(TooHot { share: hottest as f64 / all.max(1) as f64, most })
    }
}
