//! What a volume really delivers, measured by fio (<https://fio.readthedocs.io>) under the limits of a cgroup.
//!
//! Two tests on one file: 4 KiB random reads and 64 KiB sequential writes, both direct, so that the page cache has no
//! part in them. The file is written beforehand by this process, outside the cgroup and before a served volume behaves,
//! so that laying it out is not held to the limits; reads then meet real blocks rather than holes.
//!
//! No `ramp_time`, on purpose. At its end fio waits for the requests in flight and counts the time of that drain.
//! Without a ramp it counts these requests too, and the rate is right; with one it leaves out as many requests of the
//! start, and a 60 IOPS volume with 32 in flight looks 20 % slower than it is. The kernel releases throttled I/O in
//! slices of about 100 ms, which may add one slice: measured with 2 s against limits of 20, 60, 187, 500 and 3,000
//! IOPS, the figures were within 4 % of each (20.5, 60.7, 187, 515, 3,011).

mod fio;
mod suite;

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::Path;

use crate::error::{Result, StorageError, io_error};
use crate::loops::sysfs_of;
pub use fio::Measured;
use fio::{Fio, ProbeFile, Shape};
pub use suite::{BurstDrain, DepthStep, ProbeRequest, SequentialReads, Suite, probe_suite};

const READ_BLOCK: u64 = 4 << 10;
const WRITE_BLOCK: u64 = 64 << 10;
const READ_DEPTH: u32 = 32;
/// Enough to keep a sequential stream busy; more would only lengthen the drain of a slow volume.
const WRITE_DEPTH: u32 = 8;

/// Two chunks of up to 1 MiB for each member.
const WRITE_DEPTH_OF_MEMBER: u32 = 32;

/// What was measured. `evidence::ProbeResult` is the same as it is kept with a trial; this crate emulates volumes and
/// does not know trials, so that the agent copies one into the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeFigures {
    /// 4 KiB random reads per second, 32 in flight.
    pub read_iops: f64,
    /// Their mean latency with 32 in flight, microseconds. On a saturated volume this is queueing: 32 / IOPS.
    pub read_latency_us: f64,
    /// 64 KiB sequential writes, bytes per second.
    pub write_bytes_per_s: f64,
    /// The same writes, operations per second.
    pub write_iops: f64,
    /// Measured seconds of both tests together.
    pub seconds: f64,
}

/// Measures the volume mounted at `mount_point`, each test for `seconds`, from inside the cgroups that `launch_prefix`
/// joins (empty: no limits). `file_bytes` of the volume are used and given back. `limit` brings limits of other kinds
/// into force, once the file is laid out.
pub fn probe(
    mount_point: &Path,
    launch_prefix: &[String],
    seconds: f64,
    file_bytes: u64,
    limit: impl FnOnce() -> Result<()>,
) -> Result<ProbeFigures> {
    let measured = measure(mount_point, launch_prefix, (seconds, file_bytes), &[], limit)?;
    Ok(measured.whole)
}

/// The same of an array: what each of its members (`loop3`) did of what fio measured of the whole, in the proportion of
/// the bytes that their devices counted meanwhile. The latency is that of the whole. Reads go to members by chance: of
/// few reads one member has fewer than it could do.
pub fn probe_members(
    mount_point: &Path,
    launch_prefix: &[String],
    seconds: f64,
    file_bytes: u64,
    members: &[String],
    limit: impl FnOnce() -> Result<()>,
) -> Result<Vec<ProbeFigures>> {
    let measured = measure(mount_point, launch_prefix, (seconds, file_bytes), members, limit)?;
    let of_one = |(reads, writes): (&f64, &f64)| ProbeFigures {
        read_iops: measured.whole.read_iops * reads,
        write_bytes_per_s: measured.whole.write_bytes_per_s * writes,
        write_iops: measured.whole.write_iops * writes,
        ..measured.whole
    };
    let shares = measured.shares_of_reads.iter().zip(&measured.shares_of_writes);
    Ok(shares.map(of_one).collect())
}

/// What fio found, with what each member had of it.
struct OfAll {
    whole: ProbeFigures,
    shares_of_reads: Vec<f64>,
    shares_of_writes: Vec<f64>,
}

fn measure(
    mount_point: &Path,
    launch_prefix: &[String],
    (seconds, file_bytes): (f64, u64),
    members: &[String],
    limit: impl FnOnce() -> Result<()>,
) -> Result<OfAll> {
    let fio = Fio::find()?;
    let file = ProbeFile::lay_out(mount_point, file_bytes)?;
    limit()?;
    let test = |writes: bool, block: u64, depth: u32| {
        let shape = match writes {
            true => Shape::sequential_writes(block, depth, seconds),
            false => Shape::random_reads(block, depth, seconds),
        };
        let before = sectors(members, writes)?;
        let found = fio.run(launch_prefix, &file, &shape)?;
        Ok::<_, StorageError>((found, shares(mount_point, &before, &sectors(members, writes)?)?))
    };
    let write_depth = match members.len() as u32 {
        0 => WRITE_DEPTH,
        n => n * WRITE_DEPTH_OF_MEMBER,
    };
    let (read, shares_of_reads) = test(false, READ_BLOCK, READ_DEPTH)?;
    let (write, shares_of_writes) = test(true, WRITE_BLOCK, write_depth)?;
    let whole = ProbeFigures {
        read_iops: read.iops,
        read_latency_us: read.mean_us,
        write_bytes_per_s: write.bytes_per_s,
        write_iops: write.iops,
        seconds: read.seconds + write.seconds,
    };
    Ok(OfAll { whole, shares_of_reads, shares_of_writes })
}

/// Sectors that these devices have read, or written: the third or seventh word (Documentation/block/stat.rst).
fn sectors(devices: &[String], writes: bool) -> Result<Vec<u64>> {
    let of = |device: &String| {
        let stat = sysfs_of(device).join("stat");
        let text = fs::read_to_string(&stat).map_err(io_error("read the counters", &stat))?;
        let word = text.split_ascii_whitespace().nth(if writes { 6 } else { 2 });
        let sectors = word.and_then(|word| word.parse().ok());
        sectors.ok_or_else(|| io_error("understand the counters", &stat)(Error::from(ErrorKind::InvalidData)))
    };
    devices.iter().map(of).collect()
}

/// What each did of what all did.
fn shares(of: &Path, before: &[u64], after: &[u64]) -> Result<Vec<f64>> {
    let each: Vec<u64> = before.iter().zip(after).map(|(b, a)| a.saturating_sub(*b)).collect();
    let all: u64 = each.iter().sum();
    if all == 0 && !each.is_empty() {
        return Err(StorageError::Probe {
            path: of.to_owned(),
            reason: "the devices of the array counted nothing of it".to_owned(),
        });
    }
    Ok(each.into_iter().map(|sectors| sectors as f64 / all as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_what_their_devices_counted_of_it() {
        let place = Path::new("/mnt/array");
        assert_eq!(shares(place, &[10, 500], &[40, 510]).unwrap(), [0.75, 0.25]);
        assert!(shares(place, &[], &[]).unwrap().is_empty());
        let nothing = shares(place, &[10, 500], &[10, 500]).unwrap_err().to_string();
        assert!(nothing.contains("/mnt/array") && nothing.contains("counted nothing"), "{nothing}");
    }
}
