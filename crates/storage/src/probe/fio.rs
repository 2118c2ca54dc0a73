//! One test of fio on one file: its command line, and what its JSON says.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Advice, fadvise};
use serde::{Deserialize, Serialize};

use crate::command::{require, run};
use crate::error::{Result, StorageError, io_error};

/// Lengths of probe files are multiples of this.
const FILE_BLOCK: u64 = 64 << 10;
/// Beyond its time a test may take so long: a volume of 1 IOPS needs half a minute to drain what is in flight.
const PATIENCE: Duration = Duration::from_secs(90);

/// fio, with an engine that keeps several requests in flight.
pub(super) struct Fio {
    program: PathBuf,
    asynchronous: &'static str,
}

/// How requests are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IoPath {
    /// Past the page cache, several in flight.
    Direct,
    /// Through the page cache, by read(2); nothing of the file is in it at the start.
    Buffered,
    /// The same with whatever is in it.
    Cached,
    /// By page faults of a mapped file, of which nothing is in the page cache at the start.
    Mapped,
}

/// What a test does.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// fio's word: `randread`, `read`, `write`.
    pub rw: &'static str,
    /// Bytes of a request.
    pub block: u64,
    /// Requests in flight of each job.
    pub depth: u32,
    /// Jobs, each on a part of the file of its own.
    pub jobs: u32,
    /// How requests are made.
    pub way: IoPath,
    /// Seconds at most.
    pub seconds: f64,
    /// Ends once this much of the file was read, and not by time alone.
    pub once_over: Option<u64>,
    /// Where requests of each second are written down.
    pub log: Option<PathBuf>,
}

impl Shape {
    /// Direct random reads by one job, for so long.
    pub fn random_reads(block: u64, depth: u32, seconds: f64) -> Self {
        Self { rw: "randread", block, depth, jobs: 1, way: IoPath::Direct, seconds, once_over: None, log: None }
    }

    /// Direct sequential writes by one job, for so long.
    pub fn sequential_writes(block: u64, depth: u32, seconds: f64) -> Self {
        Self { rw: "write", ..Self::random_reads(block, depth, seconds) }
    }

    fn arguments(&self, file: &ProbeFile, asynchronous: &str) -> Vec<String> {
        let (engine, direct) = match self.way {
            IoPath::Direct => (asynchronous, 1),
            IoPath::Buffered | IoPath::Cached => ("psync", 0),
            IoPath::Mapped => ("mmap", 0),
        };
        let all = self.once_over.map_or(file.bytes, |bytes| bytes.min(file.bytes));
        // Parts of whole blocks, at least one each.
        let part = (all / u64::from(self.jobs) / self.block).max(1) * self.block;
        let mut words = vec![
            "--name=iopslab".to_owned(),
            format!("--filename={}", escaped(&file.path)),
            format!("--rw={}", self.rw),
            format!("--bs={}", self.block),
            format!("--iodepth={}", self.depth),
            format!("--ioengine={engine}"),
            format!("--direct={direct}"),
            format!("--size={}", if self.jobs > 1 { part } else { all }),
            format!("--runtime={}ms", (self.seconds * 1e3).round()),
            "--fallocate=none".to_owned(),
            "--lat_percentiles=1".to_owned(),
            "--clat_percentiles=0".to_owned(),
            "--percentile_list=50:99".to_owned(),
            "--output-format=json".to_owned(),
        ];
        if self.once_over.is_none() {
            words.extend(["--time_based", "--norandommap"].map(str::to_owned));
        }
        if self.way == IoPath::Cached {
            words.push("--invalidate=0".to_owned());
        }
        if self.jobs > 1 {
            words.extend([
                format!("--numjobs={}", self.jobs),
                format!("--offset_increment={part}"),
                "--thread".to_owned(),
                "--group_reporting".to_owned(),
            ]);
        }
        if let Some(log) = &self.log {
            words.extend([format!("--write_iops_log={}", log.display()), "--log_avg_msec=1000".to_owned()]);
        }
        words
    }
}

/// What a test came to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// Requests a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// From submission to completion, microseconds: mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
    /// Seconds it ran.
    #[serde(skip)]
    pub seconds: f64,
}

impl Fio {
    /// The one that is installed. Errors: when there is none, or none that keeps several requests in flight.
    pub fn find() -> Result<Self> {
        let program = require("fio", "fio")?;
        let listed = run(&[program.display().to_string(), "--enghelp".to_owned()], Duration::from_secs(10))?;
        // libaio first, as most published fio figures; io_uring is often forbidden in containers.
        let asynchronous = ["libaio", "io_uring"]
            .into_iter()
            .find(|engine| listed.split_ascii_whitespace().any(|word| word == *engine))
            .ok_or_else(|| StorageError::Probe {
                path: program.clone(),
                reason: "it offers neither libaio nor io_uring; install a complete fio (apt-get install fio)"
                    .to_owned(),
            })?;
        Ok(Self { program, asynchronous })
    }

    /// Runs one test on a file, from inside the cgroups that `launch_prefix` joins.
    pub fn run(&self, launch_prefix: &[String], file: &ProbeFile, shape: &Shape) -> Result<Measured> {
        if matches!(shape.way, IoPath::Buffered | IoPath::Mapped) {
            file.leave_page_cache()?;
        }
        let mut argv = launch_prefix.to_vec();
        argv.push(self.program.display().to_string());
        argv.extend(shape.arguments(file, self.asynchronous));
        parse(&run(&argv, Duration::from_secs_f64(shape.seconds) + PATIENCE)?, &file.path)
    }
}

/// fio separates file names by `:`.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace(':', "\\:")
}

/// The file under test, deleted when dropped.
pub(super) struct ProbeFile {
    pub path: PathBuf,
    pub bytes: u64,
}

impl ProbeFile {
    /// Writes it, outside of all limits.
    pub fn lay_out(mount_point: &Path, bytes: u64) -> Result<Self> {
        let bytes = bytes.div_ceil(FILE_BLOCK) * FILE_BLOCK;
        let path = mount_point.join(format!("iopslab-probe-{}", std::process::id()));
        let file = guarded::write_anew(&path, 0o600).map_err(io_error("create the probe file", &path))?;
        let probe_file = Self { path, bytes };
        let chunk = noise(1 << 20);
        let mut left = bytes;
        while left > 0 {
            let length = left.min(chunk.len() as u64);
            (&file)
                .write_all(&chunk[..length as usize])
                .map_err(io_error(format!("lay out {bytes} bytes for the probe in"), &probe_file.path))?;
            left -= length;
        }
        file.sync_all().map_err(io_error("fsync", &probe_file.path))?;
        Ok(probe_file)
    }

    /// Nothing of it is in the page cache from here on. fio's own way (`invalidate`) does not reach a mapped file.
    fn leave_page_cache(&self) -> Result<()> {
        let file = File::open(&self.path).map_err(io_error("open", &self.path))?;
        fadvise(&file, 0, None, Advice::DontNeed).map_err(io_error("drop from the page cache", &self.path))
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
    /// `50.000000`: nanoseconds.
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

fn parse(stdout: &str, path: &Path) -> Result<Measured> {
    let unusable = |reason: String| StorageError::Probe { path: path.to_owned(), reason };
    // fio may print notes before the JSON document.
    let start = stdout.find('{').ok_or_else(|| unusable(format!("it printed no JSON: {stdout}")))?;
    let output: Output = serde_json::from_str(&stdout[start..]).map_err(|error| unusable(error.to_string()))?;
    let job = output.jobs.into_iter().next().ok_or_else(|| unusable("it reports no job".to_owned()))?;
    if job.error != 0 {
        return Err(unusable(format!("its job ended with {}", std::io::Error::from_raw_os_error(job.error as i32))));
    }
    let of = if job.read.total_ios > 0 { job.read } else { job.write };
    if of.total_ios == 0 {
        return Err(unusable("it completed no operation".to_owned()));
    }
    let percentile = |name: &str| of.lat_ns.percentile.get(name).map(|ns| ns / 1e3);
    let missing = |name: &str| unusable(format!("it reports no percentile {name}"));
    Ok(Measured {
        iops: of.iops,
        bytes_per_s: of.bw_bytes,
        mean_us: of.lat_ns.mean / 1e3,
        p50_us: percentile("50.000000").ok_or_else(|| missing("50"))?,
        p99_us: percentile("99.000000").ok_or_else(|| missing("99"))?,
        seconds: of.runtime / 1e3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_job_is_not_a_figure() {
        let zero = r#"{"total_ios":0,"iops":0,"bw_bytes":0,"runtime":0,"lat_ns":{"mean":0}}"#;
        let text = format!(r#"note{{"jobs":[{{"error":28,"read":{zero},"write":{zero}}}]}}"#);
        assert!(parse(&text, Path::new("/f")).unwrap_err().to_string().contains("No space left"));
        assert!(parse(&text.replace("28", "0"), Path::new("/f")).is_err(), "no operations");
        assert!(parse("", Path::new("/f")).is_err());
    }

    #[test]
    fn jobs_have_parts_of_the_file_of_their_own() {
        let file = ProbeFile { path: PathBuf::from("/no/such:file"), bytes: 256 << 20 };
        let shape = Shape { jobs: 60, ..Shape::sequential_writes(64 << 10, 1, 2.0) };
        let words = shape.arguments(&file, "libaio").join(" ");
        // 68 blocks of 64 KiB: 60 x 68 x 64 KiB = 255 MiB.
        for word in ["--numjobs=60", "--size=4456448", "--offset_increment=4456448", "such\\:file", "--time_based"] {
            assert!(words.contains(word), "{word} in {words}");
        }
        let once = Shape {
            rw: "read",
            way: IoPath::Cached,
            once_over: Some(64 << 20),
            ..Shape::random_reads(1 << 20, 1, 60.0)
        };
        let words = once.arguments(&file, "libaio").join(" ");
        assert!(words.contains("--invalidate=0") && words.contains("--size=67108864"), "{words}");
        assert!(!words.contains("--time_based"), "{words}");
    }
}
