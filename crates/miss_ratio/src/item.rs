//! What an item takes of memcached's memory.
//!
//! Source: memcached 1.6.45, `memcached.h` (`struct _stritem`, `ITEM_ntotal`), `slabs.c` (`slabs_init`) and
//! `memcached.c` (`settings_init`), on a 64-bit machine with default settings: items of about the same size share pages
//! of 1 MiB, which are cut into chunks of that class's size.

use serde::{Deserialize, Serialize};

/// `sizeof(item)`: three pointers, two times, lengths, flags, padded to 8 bytes.
const HEADER_BYTES: u64 = 48;
/// The number that compare-and-swap goes by, with which items are stored unless `-C` is given.
const CAS_BYTES: u64 = 8;
/// The key's end (NUL), and the value's (CR LF).
const ENDS_BYTES: u64 = 3;
/// `chunk_size`, `-n`: of the smallest class, besides the header.
const SMALLEST_BYTES: u64 = 48;
/// `factor`, `-f`: from one class to the next.
const FACTOR: f64 = 1.25;
/// `CHUNK_ALIGN_BYTES`.
const ALIGNED_BYTES: u64 = 8;
/// `slab_page_size`; also `item_size_max`, `-I`: nothing larger is stored.
const PAGE_BYTES: u64 = 1024 * 1024;
/// `slab_chunk_size_max`: the largest class.
const LARGEST_BYTES: u64 = PAGE_BYTES / 2;
/// What the client of a run stores beside a record: when the database had answered with it ...
const BESIDE_RECORD_BYTES: u64 = 8;
/// ... and the length of each field (`record.rs` of `database::memcached`, which a test there holds to this).
const BESIDE_FIELD_BYTES: u64 = 4;

/// An item in memcached's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Header, key and value.
    pub bytes: u64,
    /// Bytes of the chunk that it is stored in.
    pub chunk_bytes: u64,
    /// Such chunks in a page of 1 MiB.
    pub chunks_per_page: u64,
}

impl Item {
    /// A record of so many fields, of so many bytes in all, as the client of a run stores it; `None`: it is larger than
    /// memcached stores.
    pub fn of_record(key_bytes: u64, fields: u32, record_bytes: u64) -> Option<Self> {
        Self::of(key_bytes, BESIDE_RECORD_BYTES + BESIDE_FIELD_BYTES * u64::from(fields) + record_bytes)
    }

    /// An item whose client states no flags; `None`: it is larger than memcached stores.
    pub fn of(key_bytes: u64, value_bytes: u64) -> Option<Self> {
        let bytes = HEADER_BYTES + CAS_BYTES + ENDS_BYTES + key_bytes + value_bytes;
        if bytes > PAGE_BYTES {
            return None;
        }
        // What is larger than half a page is stored in several chunks; a page is taken for each.
        let chunk_bytes = if bytes > LARGEST_BYTES { PAGE_BYTES } else { class_of(bytes) };
        Some(Self { bytes, chunk_bytes, chunks_per_page: PAGE_BYTES / chunk_bytes })
    }

    /// How many of them so much memory (`-m`) holds, in whole pages. The table of hashes, connections and pages of
    /// other classes lie outside of it, or are left out.
    pub fn in_memory(&self, memory_bytes: f64) -> f64 {
        (memory_bytes / PAGE_BYTES as f64).floor() * self.chunks_per_page as f64
    }

    /// Memory (`-m`) for so many of them, bytes in whole pages.
    pub fn memory_for(&self, items: f64) -> f64 {
        (items / self.chunks_per_page as f64).ceil() * PAGE_BYTES as f64
    }
}

/// Bytes of the smallest chunks that an item fits.
fn class_of(bytes: u64) -> u64 {
    let mut chunk = HEADER_BYTES + SMALLEST_BYTES;
    while (chunk as f64) < LARGEST_BYTES as f64 / FACTOR {
        chunk = chunk.next_multiple_of(ALIGNED_BYTES);
        if bytes <= chunk {
            return chunk;
        }
        chunk = (chunk as f64 * FACTOR) as u64;
    }
    LARGEST_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `memcached -vv` lists its classes: chunk size, chunks of a page.
    #[test]
    fn classes_are_those_of_memcached() {
        let expected = [(96, 10_922), (120, 8738), (152, 6898), (192, 5461), (240, 4369), (304, 3449), (384, 2730)];
        for (chunk, per_page) in expected {
            let key = 10;
            let full = chunk - HEADER_BYTES - CAS_BYTES - ENDS_BYTES - key;
            let item = Item::of(key, full).unwrap();
            assert_eq!((item.bytes, item.chunk_bytes, item.chunks_per_page), (chunk, chunk, per_page));
            assert!(Item::of(key, full + 1).unwrap().chunk_bytes > chunk, "{chunk}");
        }
        // A record of YCSB: 10 fields of 100 bytes under a key of 23, with 48 beside them.
        let record = Item::of_record(23, 10, 1000).unwrap();
        assert_eq!((record.bytes, record.chunk_bytes, record.chunks_per_page), (1130, 1184, 885));
        // What stands beside 30 short fields takes it to the next class.
        assert_eq!(Item::of(23, 1000).unwrap().chunk_bytes, 1184);
        assert_eq!(Item::of_record(23, 30, 1000).unwrap().chunk_bytes, 1480);
        assert_eq!(record.in_memory(1024.0 * 1024.0 * 1024.0 + 5.0), 1024.0 * 885.0);
        assert_eq!(record.memory_for(886.0), 2.0 * 1024.0 * 1024.0);
    }

    #[test]
    fn large_items_take_a_page_and_larger_ones_are_none() {
        assert_eq!(Item::of(20, 400_000).unwrap().chunk_bytes, 512 * 1024);
        let large = Item::of(20, 600_000).unwrap();
        assert_eq!((large.chunk_bytes, large.chunks_per_page), (1024 * 1024, 1));
        assert_eq!(Item::of(20, 1024 * 1024), None);
    }
}
