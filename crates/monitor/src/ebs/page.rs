//! The bytes of EBS's log page as figures.
//!
//! The layout is that of `struct nvme_get_amzn_stats_logpage` in AWS's own reader (amazon-ec2-utils, `ebsnvme`,
//! 2024-11), all numbers little-endian:
//!
//! ```text
//!    0  magic, 32 bits; 4 bytes reserved
//!    8  requests read, written; bytes read, written; microseconds that reads, writes took; microseconds in which
//!       demand was above the volume's IOPS, its throughput, the instance's IOPS, its throughput; queue length now:
//!       11 numbers of 64 bits; 416 bytes reserved
//!  512  histogram of reads, microseconds: number of buckets, 64 bits; 64 buckets of 24 bytes: lower and upper bound of
//!       64 bits, requests of 32 bits, 4 bytes reserved
//! 2056  histogram of writes
//! 3600  496 bytes reserved
//! ```

use evidence::EbsFigures;

/// The first bytes of a page of EBS.
const MAGIC: u32 = 0x3C23_B510;
/// Where numbers begin.
const COUNTERS: usize = 8;
/// Where the histogram of reads begins ...
const OF_READS: usize = 512;
/// ... and that of writes.
const OF_WRITES: usize = 2_056;
/// Most buckets of a histogram, and bytes of each.
const BUCKETS: (usize, usize) = (64, 24);

/// What the page says; `None` where it is none of EBS, or cut off.
pub(super) fn figures(page: &[u8]) -> Option<EbsFigures> {
    if u32_at(page, 0)? != MAGIC || page.len() < super::log_page::BYTES {
        return None;
    }
    let counter = |place: usize| u64_at(page, COUNTERS + 8 * place).map(|count| count as f64);
    let seconds = |place: usize| counter(place).map(|us| us / 1e6);
    let within = |histogram: usize, us: u64| within(page, histogram, us).map(|requests| requests as f64);
    Some(EbsFigures {
        reads: counter(0),
        writes: counter(1),
        read_bytes: counter(2),
        write_bytes: counter(3),
        read_wait_s: seconds(4),
        write_wait_s: seconds(5),
        volume_iops_exceeded_s: seconds(6),
        volume_bytes_exceeded_s: seconds(7),
        instance_iops_exceeded_s: seconds(8),
        instance_bytes_exceeded_s: seconds(9),
        queue_length: counter(10),
        reads_within_512_us: within(OF_READS, 512),
        reads_within_1024_us: within(OF_READS, 1_024),
        reads_within_2048_us: within(OF_READS, 2_048),
        reads_within_4096_us: within(OF_READS, 4_096),
        reads_within_16384_us: within(OF_READS, 16_384),
        reads_within_65536_us: within(OF_READS, 65_536),
        writes_within_512_us: within(OF_WRITES, 512),
        writes_within_1024_us: within(OF_WRITES, 1_024),
        writes_within_2048_us: within(OF_WRITES, 2_048),
        writes_within_4096_us: within(OF_WRITES, 4_096),
        writes_within_16384_us: within(OF_WRITES, 16_384),
        writes_within_65536_us: within(OF_WRITES, 65_536),
    })
}

/// Requests in the buckets up to this bound; `None` where no bucket ends there, so that nobody knows.
fn within(page: &[u8], histogram: usize, us: u64) -> Option<u64> {
    let (most, bytes) = BUCKETS;
    let count = usize::try_from(u64_at(page, histogram)?).ok().filter(|count| *count <= most)?;
    let buckets = (0..count).map(|bucket| {
        let at = histogram + 8 + bucket * bytes;
        Some((u64_at(page, at + 8)?, u64::from(u32_at(page, at + 16)?)))
    });
    let buckets: Vec<(u64, u64)> = buckets.collect::<Option<_>>()?;
    let ends_there = buckets.iter().any(|(upper, _)| *upper == us);
    ends_there.then(|| buckets.iter().filter(|(upper, _)| *upper <= us).map(|(_, requests)| requests).sum())
}

fn u64_at(page: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(page.get(at..at + 8)?.try_into().ok()?))
}

fn u32_at(page: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(page.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page as the layout has it, with so many requests in buckets that end at 1, 2, 4, ... microseconds, the last
    /// one at the largest number.
    fn page(counters: [u64; 11], reads: &[u32], writes: &[u32]) -> Vec<u8> {
        let mut page = vec![];
        page.extend(0x3C23_B510_u32.to_le_bytes());
        page.extend([0xAA; 4]);
        page.extend(counters.iter().flat_map(|counter| counter.to_le_bytes()));
        page.extend([0xAA; 416]);
        for requests in [reads, writes] {
            page.extend((requests.len() as u64).to_le_bytes());
            for bucket in 0..64 {
                let bound = |power: usize| 1_u64.checked_shl(power as u32).unwrap_or(u64::MAX);
                let lower = if bucket == 0 { 0 } else { bound(bucket - 1) };
                let upper = if bucket + 1 == requests.len() { u64::MAX } else { bound(bucket) };
                page.extend(lower.to_le_bytes());
                page.extend(upper.to_le_bytes());
                page.extend(requests.get(bucket).copied().unwrap_or(0xAAAA_AAAA).to_le_bytes());
                page.extend([0xAA; 4]);
            }
        }
        page.extend([0xAA; 496]);
        assert_eq!(page.len(), 4_096);
        page
    }

    const COUNTED: [u64; 11] = [100, 40, 409_600, 819_200, 250_000, 500_000, 1_500_000, 2_000, 3_000, 4_000, 7];

    #[test]
    fn a_page_gives_its_numbers_in_base_units() {
        let mut reads = [0; 28];
        (reads[9], reads[10], reads[11], reads[27]) = (90, 6, 3, 1);
        let figures = figures(&page(COUNTED, &reads, &[0; 28])).unwrap();
        assert_eq!((figures.reads, figures.writes), (Some(100.0), Some(40.0)));
        assert_eq!((figures.read_bytes, figures.write_bytes), (Some(409_600.0), Some(819_200.0)));
        assert_eq!((figures.read_wait_s, figures.write_wait_s), (Some(0.25), Some(0.5)));
        assert_eq!((figures.volume_iops_exceeded_s, figures.volume_bytes_exceeded_s), (Some(1.5), Some(0.002)));
        assert_eq!((figures.instance_iops_exceeded_s, figures.instance_bytes_exceeded_s), (Some(0.003), Some(0.004)));
        assert_eq!(figures.queue_length, Some(7.0));
        // The tenth bucket ends at 2^9 us.
        assert_eq!((figures.reads_within_512_us, figures.reads_within_1024_us), (Some(90.0), Some(96.0)));
        assert_eq!((figures.reads_within_2048_us, figures.reads_within_65536_us), (Some(99.0), Some(99.0)));
        assert_eq!((figures.writes_within_512_us, figures.writes_within_65536_us), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn a_bound_that_no_bucket_has_is_not_known() {
        // Buckets up to 2^10 us, and one of all others.
        let short = figures(&page(COUNTED, &[1; 12], &[])).unwrap();
        assert_eq!((short.reads_within_1024_us, short.reads_within_2048_us), (Some(11.0), None));
        assert_eq!(short.writes_within_512_us, None);
        let mut damaged = page(COUNTED, &[1; 28], &[1; 28]);
        damaged[OF_WRITES..OF_WRITES + 8].copy_from_slice(&65_u64.to_le_bytes());
        let damaged = figures(&damaged).unwrap();
        assert_eq!((damaged.reads_within_512_us, damaged.writes_within_512_us), (Some(10.0), None));
    }

    #[test]
    fn a_page_of_another_device_or_half_a_page_is_none() {
        let page = page(COUNTED, &[1; 28], &[1; 28]);
        let mut of_instance_store = page.clone();
        of_instance_store[..4].copy_from_slice(&0xEC2C_0D7E_u32.to_le_bytes());
        assert_eq!(figures(&of_instance_store), None);
        assert_eq!(figures(&page[..2_048]), None);
        assert_eq!(figures(&[0; 4_096]), None);
        assert_eq!(figures(&[]), None);
    }
}
