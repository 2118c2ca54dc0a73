//! What a volume counts of itself, in the form in which Amazon EBS's volumes offer it: the log page 0xD0 of their NVMe
//! controllers, whose layout `monitor` states, which reads both.

use volume::{Direction, Exceeded};

use crate::orders::Counts;

/// Words of 64 bits, little-endian on the page.
const WORDS: usize = 4096 / 8;
/// The first one: 32 bits of magic, the others reserved.
const MAGIC: u64 = 0x3C23_B510;
/// Where the histograms of reads and of writes begin.
const HISTOGRAMS: [usize; 2] = [512 / 8, 2056 / 8];
/// Buckets up to 1, 2, 4, ... microseconds, the last one up to any: 2^26 us are more than a minute.
const BUCKETS: usize = 28;

/// How long answers of a volume took, from their requests on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Latencies {
    reads: Histogram,
    writes: Histogram,
}

#[derive(Debug, Clone, Default)]
struct Histogram {
    sum_us: u64,
    /// Of 32 bits on the page; they go back to 0 where they overflow.
    requests: [u32; BUCKETS],
}

impl Latencies {
    /// A request was answered after so many seconds.
    pub fn record(&mut self, direction: Direction, seconds: f64) {
        let of = match direction {
            Direction::Read => &mut self.reads,
            Direction::Write => &mut self.writes,
        };
        let us = micros(seconds);
        of.sum_us += us;
        let bucket = &mut of.requests[bucket_of(us)];
        *bucket = bucket.wrapping_add(1);
    }

    /// The page, word by word.
    pub fn page(&self, counts: &Counts, exceeded: &Exceeded) -> Vec<u64> {
        let mut page = vec![0; WORDS];
        let counters = [
            MAGIC,
            counts.reads,
            counts.writes,
            counts.read_bytes,
            counts.write_bytes,
            self.reads.sum_us,
            self.writes.sum_us,
            micros(exceeded.volume_iops_s),
            micros(exceeded.volume_bytes_s),
            micros(exceeded.instance_iops_s),
            micros(exceeded.instance_bytes_s),
            counts.waiting,
        ];
        page[..counters.len()].copy_from_slice(&counters);
        for (at, histogram) in HISTOGRAMS.into_iter().zip([&self.reads, &self.writes]) {
            page[at] = BUCKETS as u64;
            let buckets = page[at + 1..].chunks_mut(3).zip(histogram.requests).enumerate();
            for (bucket, (words, requests)) in buckets {
                words.copy_from_slice(&[lower_us(bucket), upper_us(bucket), u64::from(requests)]);
            }
        }
        page
    }
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}

/// That which ends at so many microseconds or is the first to end later.
fn bucket_of(us: u64) -> usize {
    let bits = u64::BITS - us.saturating_sub(1).leading_zeros();
    (bits as usize).min(BUCKETS - 1)
}

fn lower_us(bucket: usize) -> u64 {
    bucket.checked_sub(1).map_or(0, upper_us)
}

fn upper_us(bucket: usize) -> u64 {
    if bucket + 1 == BUCKETS { u64::MAX } else { 1 << bucket }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_in_the_bucket_that_ends_with_its_time_or_after_it() {
        let cases = [(0, 0), (1, 0), (2, 1), (3, 2), (512, 9), (513, 10), (1 << 26, 26), (u64::MAX, 27)];
        for (us, bucket) in cases {
            assert_eq!(bucket_of(us), bucket, "{us} us");
            assert!(us <= upper_us(bucket) && (us > lower_us(bucket) || us == 0), "{us} us");
        }
    }

    #[test]
    fn numbers_are_where_the_page_of_ebs_has_them() {
        let mut latencies = Latencies::default();
        latencies.record(Direction::Read, 512e-6 - 1e-9);
        latencies.record(Direction::Write, 0.25);
        let counts = Counts { reads: 7, writes: 8, read_bytes: 9, write_bytes: 10, waiting: 3, ..Counts::default() };
        let exceeded =
            Exceeded { volume_iops_s: 1.5, volume_bytes_s: 0.5, instance_iops_s: 2.0, instance_bytes_s: 4.0 };
        let page = latencies.page(&counts, &exceeded);
        assert_eq!(page.len(), 512);
        let counted = [7, 8, 9, 10, 511, 250_000, 1_500_000, 500_000, 2_000_000, 4_000_000, 3];
        assert_eq!((page[0] as u32, &page[1..12]), (0x3C23_B510, &counted[..]));
        assert_eq!((page[64], &page[65 + 3 * 9..65 + 3 * 10]), (28, &[256, 512, 1][..]));
        assert_eq!((page[257], &page[258 + 3 * 18..258 + 3 * 19]), (28, &[131_072, 262_144, 1][..]));
    }
}
