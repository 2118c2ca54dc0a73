//! What a volume really delivers, measured by fio (<https://fio.readthedocs.io>) under the limits of a cgroup.
//!
//! Two tests on one file: 4 KiB random reads and 64 KiB sequential writes, both direct, so that the page cache has no
//! part in them. The file is written beforehand by this process, outside the cgroup, so that laying it out is not held
//! to the limits; reads then meet real blocks rather than holes.
//!
//! No `ramp_time`, on purpose. At its end fio waits for the requests in flight and counts the time of that drain.
//! Without a ramp it counts these requests too, and the rate is right; with one it leaves out as many requests of the
//! start, and a 60 IOPS volume with 32 in flight looks 20 % slower than it is. The kernel releases throttled I/O in
//! slices of about 100 ms, which may add one slice: measured with 2 s against limits of 20, 60, 187, 500 and 3,000
//! IOPS, the figures were within 4 % of each (20.5, 60.7, 187, 515, 3,011).

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use spec::IoLimits;

use crate::command::{require, run};
use crate::error::{Result, StorageError, io_error};

const READ_BLOCK: u64 = 4 << 10;
const WRITE_BLOCK: u64 = 64 << 10;
const READ_DEPTH: u32 = 32;
/// Enough to keep a sequential stream busy; more would only lengthen the drain of a slow volume.
const WRITE_DEPTH: u32 = 8;

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

impl ProbeFigures {
    /// How far the volume is off `limits`, as a share (0.1 is 10 %) of what they allow each test: the worse of the two.
    /// `None` where they limit neither.
    pub fn share_off(&self, limits: &IoLimits) -> Option<f64> {
        let allowed = |iops: Option<f64>, bytes_per_s: Option<f64>, block: u64| {
            let by_bytes = bytes_per_s.map(|b| b / block as f64);
            // Limits below one operation per second are rounded up to one.
            iops.into_iter()
                .chain(by_bytes)
                .reduce(f64::min)
                .map(|iops| iops.max(1.0))
        };
        let reads =
            allowed(limits.read_iops, limits.read_bytes_per_s, READ_BLOCK).map(|a| (self.read_iops / a - 1.0).abs());
        let writes = allowed(limits.write_iops, limits.write_bytes_per_s, WRITE_BLOCK)
            .map(|a| (self.write_iops / a - 1.0).abs());
        reads.into_iter().chain(writes).reduce(f64::max)
    }
}

/// Measures the volume mounted at `mount_point`, each test for `seconds`, from inside the cgroups that `launch_prefix`
/// joins (empty: no limits). `file_bytes` of the volume are used and given back.
pub fn probe(mount_point: &Path, launch_prefix: &[String], seconds: f64, file_bytes: u64) -> Result<ProbeFigures> {
    let fio = require("fio", "fio")?;
    let engine = asynchronous_engine(&fio)?;
    let file = ProbeFile::lay_out(mount_point, file_bytes)?;
    let test = |shape: &[String]| -> Result<Direction> {
        let mut argv = launch_prefix.to_vec();
        argv.push(fio.display().to_string());
        argv.extend(
            [
                "--name=iopslab",
                "--direct=1",
                "--time_based",
                "--norandommap",
                "--fallocate=none",
            ]
            .map(str::to_owned),
        );
        argv.extend([
            format!("--filename={}", escaped(&file.path)),
            format!("--size={}", file.bytes),
            format!("--ioengine={engine}"),
            format!("--runtime={}ms", (seconds * 1e3).round()),
            "--output-format=json".to_owned(),
        ]);
        argv.extend_from_slice(shape);
        // A volume of 1 IOPS needs half a minute to drain what is in flight.
        let patience = Duration::from_secs_f64(seconds) + Duration::from_secs(90);
        parse(&run(&argv, patience)?, &file.path)
    };
    let shape = |rw: &str, block: u64, depth: u32| {
        [
            format!("--rw={rw}"),
            format!("--bs={block}"),
            format!("--iodepth={depth}"),
        ]
    };
    let read = test(&shape("randread", READ_BLOCK, READ_DEPTH))?;
    let write = test(&shape("write", WRITE_BLOCK, WRITE_DEPTH))?;
    Ok(ProbeFigures {
        read_iops: read.iops,
        read_latency_us: read.lat_ns.mean / 1e3,
        write_bytes_per_s: write.bw_bytes,
        write_iops: write.iops,
        seconds: (read.runtime + write.runtime) / 1e3,
    })
}

/// libaio first, as most published fio figures; io_uring is often forbidden in containers.
fn asynchronous_engine(fio: &Path) -> Result<&'static str> {
    let listed = run(
        &[fio.display().to_string(), "--enghelp".to_owned()],
        Duration::from_secs(10),
    )?;
    ["libaio", "io_uring"]
        .into_iter()
        .find(|engine| listed.split_ascii_whitespace().any(|word| word == *engine))
        .ok_or_else(|| StorageError::Probe {
            path: fio.to_owned(),
            reason: "it offers neither libaio nor io_uring; install a complete fio (apt-get install fio)".to_owned(),
        })
}

/// fio separates file names by `:`.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace(':', "\\:")
}

/// The file under test, deleted when dropped.
struct ProbeFile {
    path: PathBuf,
    bytes: u64,
}

impl ProbeFile {
    fn lay_out(mount_point: &Path, bytes: u64) -> Result<Self> {
        let bytes = bytes.div_ceil(WRITE_BLOCK) * WRITE_BLOCK;
        let path = mount_point.join(format!("iopslab-probe-{}", std::process::id()));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(io_error("create the probe file", &path))?;
        let probe_file = Self { path, bytes };
        let chunk = noise(1 << 20);
        let mut left = bytes;
        while left > 0 {
            let length = left.min(chunk.len() as u64);
            (&file).write_all(&chunk[..length as usize]).map_err(io_error(
                format!("lay out {bytes} bytes for the probe in"),
                &probe_file.path,
            ))?;
            left -= length;
        }
        file.sync_all().map_err(io_error("fsync", &probe_file.path))?;
        Ok(probe_file)
    }
}

impl Drop for ProbeFile {
    fn drop(&mut self) {
        // It lies on an emulated volume, which is restored or deleted anyway.
        let _ = fs::remove_file(&self.path);
    }
}

/// Incompressible bytes (xorshift64, Marsaglia 2003), in case the host's file system compresses.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

#[derive(Debug, Deserialize)]
struct Output {
    jobs: Vec<Job>,
}

#[derive(Debug, Deserialize)]
struct Job {
    error: i64,
    read: Direction,
    write: Direction,
}

/// One direction of a job in fio's JSON.
#[derive(Debug, Deserialize)]
struct Direction {
    total_ios: u64,
    iops: f64,
    bw_bytes: f64,
    /// Milliseconds.
    runtime: f64,
    lat_ns: Latency,
}

#[derive(Debug, Deserialize)]
struct Latency {
    mean: f64,
}

fn parse(stdout: &str, path: &Path) -> Result<Direction> {
    let unusable = |reason: String| StorageError::Probe {
        path: path.to_owned(),
        reason,
    };
    // fio may print notes before the JSON document.
    let start = stdout
        .find('{')
        .ok_or_else(|| unusable(format!("it printed no JSON: {stdout}")))?;
    let output: Output = serde_json::from_str(&stdout[start..]).map_err(|error| unusable(error.to_string()))?;
    let job = output
        .jobs
        .into_iter()
        .next()
        .ok_or_else(|| unusable("it reports no job".to_owned()))?;
    if job.error != 0 {
        return Err(unusable(format!(
            "its job ended with {}",
            std::io::Error::from_raw_os_error(job.error as i32)
        )));
    }
    let direction = if job.read.total_ios > 0 { job.read } else { job.write };
    if direction.total_ios == 0 {
        return Err(unusable("it completed no operation".to_owned()));
    }
    Ok(direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: ProbeFigures = ProbeFigures {
        read_iops: 500.0,
        read_latency_us: 64_000.0,
        write_bytes_per_s: 10_485_760.0,
        write_iops: 160.0,
        seconds: 4.0,
    };

    #[test]
    fn each_test_is_held_against_the_limit_that_binds_it() {
        // 500 IOPS bind the reads; 10 MiB/s are 160 writes of 64 KiB, less than 500.
        let limits = IoLimits::symmetric(Some(500.0), Some(10.0));
        assert!(FIGURES.share_off(&limits).unwrap() < 1e-9);
        assert!(
            (FIGURES
                .share_off(&IoLimits::symmetric(Some(400.0), Some(10.0)))
                .unwrap()
                - 0.25)
                .abs()
                < 1e-9
        );
        assert_eq!(FIGURES.share_off(&IoLimits::default()), None);
    }

    #[test]
    fn a_failed_job_is_not_a_figure() {
        let zero = r#"{"total_ios":0,"iops":0,"bw_bytes":0,"runtime":0,"lat_ns":{"mean":0}}"#;
        let text = format!(r#"note{{"jobs":[{{"error":28,"read":{zero},"write":{zero}}}]}}"#);
        assert!(
            parse(&text, Path::new("/f"))
                .unwrap_err()
                .to_string()
                .contains("No space left")
        );
        assert!(
            parse(&text.replace("28", "0"), Path::new("/f")).is_err(),
            "no operations"
        );
        assert!(parse("", Path::new("/f")).is_err());
    }
}
