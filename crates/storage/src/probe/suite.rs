//! What a volume is, beyond two figures: by size of request, by requests in flight, through the page cache and past it.

use std::path::Path;

use serde::Serialize;

use super::fio::{Fio, IoPath, Measured, ProbeFile, Shape};
use crate::error::{Result, io_error};

/// Jobs of the test of writes, each with one request of 64 KiB in flight: the fio test of DataStax' "Best practices for
/// running DataStax Enterprise" (2017).
const WRITE_JOBS: u32 = 60;
/// Page faults that wait at the same time.
const MAPPED_JOBS: u32 = 32;
/// Requests in flight of the tests by size.
const DEPTH: u32 = 32;
/// Requests in flight that are tried one after the other under a bound on latency.
const DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Bytes of the sequential reads, at most: once from the volume, then from memory.
const SEQUENTIAL_BYTES: u64 = 64 << 20;
/// The sequential read ends by its bytes; a volume slower than 1 MiB/s is given up.
const SEQUENTIAL_S: f64 = 64.0;
/// A bucket has run out where the rest stays below this share of what went before.
const DRAINED_SHARE: f64 = 0.8;
/// Seconds of either side of that moment that are compared, at least.
const DRAINED_S: usize = 3;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeRequest {
    /// Seconds of each test.
    pub seconds: f64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bound on p99 of random reads, microseconds.
    pub bound_us: f64,
    /// Seconds for which a bucket is drained; 0: it is not tried.
    pub burst_s: f64,
}

/// Random reads of 4 KiB with so many in flight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DepthStep {
    /// Requests in flight.
    pub in_flight: u32,
    /// What came of it.
    #[serde(flatten)]
    pub measured: Measured,
}

/// The same bytes read twice, one after the other, through the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SequentialReads {
    /// Bytes.
    pub bytes: u64,
    /// Bytes a second while none of them was in the page cache.
    pub uncached_bytes_per_s: f64,
    /// Bytes a second once all of them were.
    pub cached_bytes_per_s: f64,
}

/// A bucket of credits under full demand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BurstDrain {
    /// Random reads of 4 KiB in each second.
    pub iops: Vec<f64>,
    /// The second in which they fell for good; `None`: they did not.
    pub drained_after_s: Option<usize>,
    /// Mean before that second, or of all.
    pub before_iops: f64,
    /// Mean from there on.
    pub after_iops: Option<f64>,
}

/// All tests of a volume.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suite {
    /// Random reads of 4 KiB, direct, 32 in flight.
    pub random_read_4kib: Measured,
    /// The same by page faults of a mapped file, 32 at a time. The kernel reads around a fault, so that many of the
    /// following ones find their page in memory: more faults a second than reads of the volume.
    pub random_read_4kib_mapped: Measured,
    /// The same with one in flight.
    pub random_read_4kib_alone: Measured,
    /// Random reads of 16 KiB, direct, 32 in flight.
    pub random_read_16kib: Measured,
    /// Random reads of 256 KiB, direct, 32 in flight.
    pub random_read_256kib: Measured,
    /// Sequential writes of 64 KiB, direct, 8 in flight.
    pub write_64kib: Measured,
    /// The same by 60 jobs.
    pub write_64kib_60_jobs: Measured,
    /// Sequential reads of 1 MiB.
    pub sequential_read: SequentialReads,
    /// Bound on p99, microseconds.
    pub bound_us: f64,
    /// Random reads of 4 KiB by requests in flight, up to the first that does not meet the bound.
    pub by_depth: Vec<DepthStep>,
    /// What became of a bucket, if that was tried.
    pub burst: Option<BurstDrain>,
}

impl Suite {
    /// The most random reads a second that meet the bound; `None`: not even one at a time does.
    pub fn highest_under_bound(&self) -> Option<&DepthStep> {
        let meets = self.by_depth.iter().filter(|step| step.measured.p99_us <= self.bound_us);
        meets.max_by(|a, b| a.measured.iops.total_cmp(&b.measured.iops))
    }
}

/// Measures the volume mounted at `mount_point` from inside the cgroups that `launch_prefix` joins (empty: no limits).
/// Before each test `tell` is called with what it is. The file is removed. `laid_out` is called once the file is there:
/// limits that would hold its writing, and spend credits on it, come into force then.
///
/// Reads come first: writes leave a device at work for a while. Errors: without fio, or where one of its tests fails.
pub fn probe_suite(
    mount_point: &Path,
    launch_prefix: &[String],
    asked: &ProbeRequest,
    laid_out: &mut dyn FnMut() -> Result<()>,
    tell: &mut dyn FnMut(&str),
) -> Result<Suite> {
    let fio = Fio::find()?;
    tell("writing the file");
    let file = ProbeFile::lay_out(mount_point, asked.file_bytes)?;
    laid_out()?;
    let seconds = asked.seconds;
    // First of all: the bucket is as full as it will ever be.
    let burst = match asked.burst_s > 0.0 {
        true => {
            tell("random reads of 4 KiB until a bucket is empty");
            Some(drain(&fio, launch_prefix, &file, asked.burst_s)?)
        }
        false => None,
    };
    let mut test = |what: &str, shape: &Shape| -> Result<Measured> {
        tell(what);
        fio.run(launch_prefix, &file, shape)
    };
    let reads = |block: u64, depth: u32| Shape::random_reads(block, depth, seconds);
    let mut by_depth = Vec::new();
    for in_flight in DEPTHS {
        let what = format!("random reads of 4 KiB, {in_flight} in flight");
        let measured = test(&what, &reads(4 << 10, in_flight))?;
        by_depth.push(DepthStep { in_flight, measured });
        if measured.p99_us > asked.bound_us {
            break;
        }
    }
    let known = |in_flight: u32| by_depth.iter().find(|step| step.in_flight == in_flight).map(|step| step.measured);
    let random_read_4kib_alone = match known(1) {
        Some(measured) => measured,
        None => test("random reads of 4 KiB, one in flight", &reads(4 << 10, 1))?,
    };
    let random_read_4kib = match known(DEPTH) {
        Some(measured) => measured,
        None => test("random reads of 4 KiB", &reads(4 << 10, DEPTH))?,
    };
    let mapped = Shape {
        jobs: MAPPED_JOBS,
        way: IoPath::Mapped,
        // No block twice: it would be in memory.
        once_over: Some(file.bytes),
        ..reads(4 << 10, 1)
    };
    let sequential =
        |way| Shape { rw: "read", way, once_over: Some(SEQUENTIAL_BYTES), seconds: SEQUENTIAL_S, ..reads(1 << 20, 1) };
    let random_read_4kib_mapped = test("random reads of 4 KiB of a mapped file", &mapped)?;
    let random_read_16kib = test("random reads of 16 KiB", &reads(16 << 10, DEPTH))?;
    let random_read_256kib = test("random reads of 256 KiB", &reads(256 << 10, DEPTH))?;
    let uncached = test("a sequential read from the volume", &sequential(IoPath::Buffered))?;
    let cached = test("the same from memory", &sequential(IoPath::Cached))?;
    let write_64kib = test("sequential writes of 64 KiB", &Shape::sequential_writes(64 << 10, 8, seconds))?;
    let by_jobs = Shape { jobs: WRITE_JOBS, ..Shape::sequential_writes(64 << 10, 1, seconds) };
    let write_64kib_60_jobs = test("sequential writes of 64 KiB by 60 jobs", &by_jobs)?;
    Ok(Suite {
        random_read_4kib,
        random_read_4kib_mapped,
        random_read_4kib_alone,
        random_read_16kib,
        random_read_256kib,
        write_64kib,
        write_64kib_60_jobs,
        sequential_read: SequentialReads {
            bytes: SEQUENTIAL_BYTES.min(file.bytes),
            uncached_bytes_per_s: uncached.bytes_per_s,
            cached_bytes_per_s: cached.bytes_per_s,
        },
        bound_us: asked.bound_us,
        by_depth,
        burst,
    })
}

/// Full demand for so long, second by second.
fn drain(fio: &Fio, launch_prefix: &[String], file: &ProbeFile, seconds: f64) -> Result<BurstDrain> {
    let log = file.path.with_extension("log");
    let shape = Shape { log: Some(log.clone()), ..Shape::random_reads(4 << 10, DEPTH, seconds) };
    fio.run(launch_prefix, file, &shape)?;
    // fio's own ending for the log of the first job.
    let written = Path::new(&format!("{}_iops.1.log", log.display())).to_owned();
    let text = std::fs::read_to_string(&written).map_err(io_error("read", &written))?;
    std::fs::remove_file(&written).map_err(io_error("remove", &written))?;
    Ok(drained(per_second(&text, seconds)))
}

/// `milliseconds, IOPS, ...` in each line; the whole seconds of those that were asked for. What was still in flight
/// then is answered in another one, which is none.
fn per_second(log: &str, seconds: f64) -> Vec<f64> {
    let second = |line: &str| line.split(',').nth(1)?.trim().parse().ok();
    log.lines().filter_map(second).take(seconds as usize).collect()
}

/// Where the seconds fall for good: the moment from which on two levels, one before and one after it, leave the least
/// squared error.
fn drained(iops: Vec<f64>) -> BurstDrain {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let moments = DRAINED_S..iops.len().saturating_sub(DRAINED_S - 1);
    let levels = |at: usize| (mean(&iops[..at]), mean(&iops[at..]));
    // What two levels explain of the squares.
    let explained = |at: usize| {
        let (before, after) = levels(at);
        (before - after).powi(2) * (at * (iops.len() - at)) as f64
    };
    let falls = |at: &usize| {
        let (before, after) = levels(*at);
        after < DRAINED_SHARE * before
    };
    let at = moments.max_by(|a, b| explained(*a).total_cmp(&explained(*b))).filter(falls);
    BurstDrain {
        drained_after_s: at,
        before_iops: mean(&iops[..at.unwrap_or(iops.len())]),
        after_iops: at.map(|at| mean(&iops[at..])),
        iops,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_run_out_where_the_rest_stays_low() {
        let log = "1000, 300, 0, 4096, 0, 0\n2000, 301, 0, 4096, 0, 0\n";
        assert_eq!(per_second(log, 2.0), [300.0, 301.0]);
        let falls = drained([vec![300.0; 20], vec![100.0; 10]].concat());
        assert_eq!(falls.drained_after_s, Some(20));
        assert_eq!((falls.before_iops, falls.after_iops), (300.0, Some(100.0)));
        // One slow second is no empty bucket, and neither is noise.
        let mut dips = vec![300.0; 30];
        dips[15] = 10.0;
        assert_eq!(drained(dips).drained_after_s, None);
        assert_eq!(drained(vec![300.0; 4]).drained_after_s, None);
        assert_eq!(drained(Vec::new()).after_iops, None);
    }

    /// As fio reported it once: 32 s were asked for, and the end of them was slow. The bucket was found empty after 30
    /// s, in which the last three seconds were furthest below what went before.
    #[test]
    fn a_slow_end_is_not_the_end_of_a_bucket() {
        let reported = [vec![306.0], vec![300.0; 19], vec![34.0], vec![30.0; 10], vec![25.0, 1.0]].concat();
        let log: Vec<String> = reported.iter().map(|iops| format!("1000, {iops}, 0, 4096, 0, 0")).collect();
        let seconds = per_second(&log.join("\n"), 32.0);
        assert_eq!((seconds.len(), seconds.last()), (32, Some(&25.0)));
        let found = drained(seconds);
        assert_eq!(found.drained_after_s, Some(20));
        assert!((found.before_iops - 300.3).abs() < 1e-9, "{found:?}");
        assert!((29.0..31.0).contains(&found.after_iops.unwrap()), "{found:?}");
        assert_eq!(drained(reported).drained_after_s, Some(20), "with the second that is none, too");
    }

    #[test]
    fn the_most_under_a_bound_need_not_be_the_last_that_meets_it() {
        let step = |in_flight, iops, p99_us| DepthStep {
            in_flight,
            measured: Measured {
                iops,
                bytes_per_s: iops * 4096.0,
                mean_us: p99_us,
                p50_us: p99_us,
                p99_us,
                seconds: 1.0,
            },
        };
        let suite = |by_depth: Vec<DepthStep>| Suite {
            random_read_4kib: by_depth[0].measured,
            random_read_4kib_mapped: by_depth[0].measured,
            random_read_4kib_alone: by_depth[0].measured,
            random_read_16kib: by_depth[0].measured,
            random_read_256kib: by_depth[0].measured,
            write_64kib: by_depth[0].measured,
            write_64kib_60_jobs: by_depth[0].measured,
            sequential_read: SequentialReads { bytes: 1, uncached_bytes_per_s: 1.0, cached_bytes_per_s: 1.0 },
            bound_us: 10_000.0,
            by_depth,
            burst: None,
        };
        let some = suite(vec![step(1, 900.0, 1_000.0), step(2, 1_500.0, 9_000.0), step(4, 1_600.0, 20_000.0)]);
        assert_eq!(some.highest_under_bound().unwrap().in_flight, 2);
        assert!(suite(vec![step(1, 10.0, 99_000.0)]).highest_under_bound().is_none());
    }
}
