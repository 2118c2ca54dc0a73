//! What a host's device was asked for, second by second and minute by minute, from samples of its counters.

use catalog::MIB;
use evidence::{EbsFigures, HostSample};
use serde::Serialize;

use crate::capacity::Allowed;
use crate::flow::Flow;

/// A second in which this share of what is allowed was used counts as one at the limit: counters of a second and the
/// limiter's own window do not begin together (practice).
const AT_LIMIT: f64 = 0.95;
/// Samples that lie further apart are no second: what happened between them is not known.
const LONGEST_SECOND_S: f64 = 3.0;
/// Samples that lie nearer would make a rate of a moment: the last one is taken when the observation ends.
const SHORTEST_SECOND_S: f64 = 0.5;
/// A minute with less of it seen makes no busiest one, unless there is no other.
const LEAST_MINUTE_S: f64 = 30.0;
/// The percentile of seconds.
const P99: f64 = 0.99;

/// What is judged of a sample of a host. All of an observation are kept, and a week of these takes 130 MB.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moment {
    /// The host's wall clock, Unix milliseconds.
    pub unix_ms: i64,
    /// CPU time of the database's process, seconds.
    pub process_cpu_s: Option<f64>,
    /// Memory that programs could still get, page cache among it, bytes.
    pub available_bytes: Option<f64>,
    /// Counters of the data's device; `None`: it was not seen.
    pub data: Option<DeviceCounters>,
    /// Time for which more was asked of it than EBS lets through, seconds: requests and bytes of the volume, then those
    /// of the instance's path. `None`: it is no volume of EBS that says so.
    pub held_back_s: [Option<f64>; 4],
}

/// Counters of a device, as [`evidence::VolumeFigures`] has them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DeviceCounters {
    /// Read requests completed.
    pub reads: Option<f64>,
    /// Bytes read.
    pub read_bytes: Option<f64>,
    /// Time that read requests took, summed, seconds.
    pub read_wait_s: Option<f64>,
    /// Write requests completed.
    pub writes: Option<f64>,
    /// Bytes written.
    pub write_bytes: Option<f64>,
    /// Time with at least one request under way, seconds.
    pub busy_s: Option<f64>,
    /// Requests under way integrated over time, seconds.
    pub weighted_busy_s: Option<f64>,
}

impl From<&HostSample> for Moment {
    /// An agent that only watches sees one device of data.
    fn from(sample: &HostSample) -> Self {
        let data = sample.volumes.iter().find(|(role, _)| role.is_data());
        let ebs = sample.ebs.iter().find(|(role, _)| role.is_data());
        let held_back = |counts: &EbsFigures| {
            [
                counts.volume_iops_exceeded_s,
                counts.volume_bytes_exceeded_s,
                counts.instance_iops_exceeded_s,
                counts.instance_bytes_exceeded_s,
            ]
        };
        Self {
            unix_ms: sample.unix_ms,
            process_cpu_s: sample.host.process_cpu_s,
            available_bytes: sample.host.memory_available_bytes,
            data: data.map(|(_, device)| DeviceCounters {
                reads: device.reads,
                read_bytes: device.read_bytes,
                read_wait_s: device.read_wait_s,
                writes: device.writes,
                write_bytes: device.write_bytes,
                busy_s: device.busy_s,
                weighted_busy_s: device.weighted_busy_s,
            }),
            held_back_s: ebs.map_or([None; 4], |(_, counts)| held_back(counts)),
        }
    }
}

/// A machine that was watched.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSeen {
    /// Its name, as `ssh` takes it.
    pub host: String,
    /// The process with what it runs on, for people.
    pub what: String,
    /// What could not be watched, and why, for people.
    pub missing: Vec<String>,
    /// CPUs on which its database may run.
    pub cpus: f64,
    /// Memory of the machine, bytes.
    pub memory_bytes: u64,
    /// About one a second.
    pub samples: Vec<Moment>,
    /// CPU seconds that the agent there took for watching, and of how many seconds; `None`: it was lost before.
    pub agent_cpu: Option<(f64, f64)>,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Asked {
    /// Of reads.
    pub read: Flow,
    /// Of writes.
    pub write: Flow,
    /// Of both in the same time: less than the sum of the two above where they had their peaks apart.
    pub both: Flow,
}

impl Asked {
    /// The larger of each figure.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { read: self.read.max(other.read), write: self.write.max(other.write), both: self.both.max(other.both) }
    }

    /// Share of what is allowed. Peaks of reads and of writes need not fall together: of both those of both count.
    pub fn share_of(&self, allowed: &Allowed) -> f64 {
        match allowed {
            Allowed::Together(_) => allowed.used(self.both, Flow::default()),
            Allowed::Apart { .. } => allowed.used(self.read, self.write),
        }
    }

    /// So many times as much.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { read: self.read.times(factor), write: self.write.times(factor), both: self.both.times(factor) }
    }
}

/// CPUs that the database used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CpuUse {
    /// In the mean.
    pub mean: f64,
    /// In the busiest minute.
    pub busiest_minute: f64,
    /// Those on which it may run.
    pub of: f64,
}

/// A host's data device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceUse {
    /// The host.
    pub host: String,
    /// Its process and devices, for people.
    pub what: String,
    /// Seconds that were seen.
    pub seconds: f64,
    /// Times at which seconds are missing, because samples lie apart.
    pub gaps: u32,
    /// Times at which counters, or the host's clock, went back or were missing.
    pub left_out: u32,
    /// In the busiest minute; each figure has its own.
    pub busiest_minute: Asked,
    /// The 99th percentile of seconds, of each figure.
    pub p99_second: Asked,
    /// Share of seconds in which what is bought was used to its limit, or share of the time for which EBS says so, if
    /// that is more; `None`: neither is known.
    pub at_limit: Option<f64>,
    /// Requests under way in the mean of a second: 99th percentile of seconds.
    pub queue_p99: Option<f64>,
    /// Share of the time with a request under way.
    pub busy: Option<f64>,
    /// Mean time of a read in the second: its median and 99th percentile over seconds with reads, milliseconds.
    pub read_ms: Option<(f64, f64)>,
    /// CPUs of the database.
    pub cpu: Option<CpuUse>,
    /// Memory of the machine, bytes.
    pub memory_bytes: u64,
    /// Memory that programs could still get at the end, page cache among it, bytes.
    pub available_bytes: Option<f64>,
    /// What could not be watched, for people.
    pub missing: Vec<String>,
}

impl DeviceUse {
    /// What its volume has to carry: the larger of the busiest minute and the 99th percentile of seconds.
    pub fn asked(&self) -> Asked {
        self.busiest_minute.max(self.p99_second)
    }
}

/// The time between two samples.
struct Second {
    /// Minute of the observation in which it ends.
    minute: i64,
    seconds: f64,
    asked: Asked,
    busy: Option<f64>,
    queue: Option<f64>,
    read_ms: Option<f64>,
    cpus: Option<f64>,
    /// Share of it for which EBS held something back.
    held_back: Option<f64>,
}

/// `None`: the device of its data was not seen for a second.
pub(crate) fn device(seen: &HostSeen, allowed: Option<&Allowed>) -> Option<DeviceUse> {
    let began_ms = seen.samples.first()?.unix_ms;
    let (mut seconds, mut gaps, mut left_out) = (Vec::new(), 0, 0);
    for pair in seen.samples.windows(2) {
        let [before, after] = pair else { continue };
        let length_s = (after.unix_ms - before.unix_ms) as f64 / 1e3;
        if length_s > LONGEST_SECOND_S {
            gaps += 1;
        } else if length_s >= SHORTEST_SECOND_S {
            match second((before, after), length_s, began_ms) {
                Some(second) => seconds.push(second),
                None => left_out += 1,
            }
        } else if length_s < 0.0 {
            // The host's clock was set back: how long it took is not known.
            left_out += 1;
        }
    }
    let whole: f64 = seconds.iter().map(|second| second.seconds).sum();
    let p99_second = each_figure(|of| quantile(&seconds, |second| Some(of(&second.asked)), P99))?;
    let by_rate = allowed.map(|allowed| {
        let is_at = |second: &&Second| second.asked.share_of(allowed) >= AT_LIMIT;
        seconds.iter().filter(is_at).map(|second| second.seconds).sum::<f64>() / whole
    });
    // EBS sees what a device alone does not show: bursts within a second, and what shares the instance's path.
    let by_ebs = mean(&seconds, |second| second.held_back);
    let read_ms = |q: f64| quantile(&seconds, |second| second.read_ms, q);
    let cpus: &dyn Fn(&Second) -> Option<f64> = &|second| second.cpus;
    let cpu = mean(&seconds, cpus).zip(busiest_minute(&seconds, cpus));
    Some(DeviceUse {
        host: seen.host.clone(),
        what: seen.what.clone(),
        seconds: whole,
        gaps,
        left_out,
        busiest_minute: each_figure(|of| busiest_minute(&seconds, &|second| Some(of(&second.asked))))?,
        p99_second,
        at_limit: by_rate.into_iter().chain(by_ebs).reduce(f64::max),
        queue_p99: quantile(&seconds, |second| second.queue, P99),
        busy: mean(&seconds, |second| second.busy),
        read_ms: read_ms(0.5).zip(read_ms(P99)),
        cpu: cpu.map(|(mean, busiest_minute)| CpuUse { mean, busiest_minute, of: seen.cpus }),
        memory_bytes: seen.memory_bytes,
        available_bytes: seen.samples.last().and_then(|sample| sample.available_bytes),
        missing: seen.missing.clone(),
    })
}

/// Each figure of what was asked for by itself.
fn each_figure(figure: impl Fn(fn(&Asked) -> f64) -> Option<f64>) -> Option<Asked> {
    let flow =
        |iops: fn(&Asked) -> f64, mib: fn(&Asked) -> f64| Some(Flow { iops: figure(iops)?, mib_per_s: figure(mib)? });
    Some(Asked {
        read: flow(|asked| asked.read.iops, |asked| asked.read.mib_per_s)?,
        write: flow(|asked| asked.write.iops, |asked| asked.write.mib_per_s)?,
        both: flow(|asked| asked.both.iops, |asked| asked.both.mib_per_s)?,
    })
}

/// Between two samples; `None` where a counter is missing or went back.
fn second((before, after): (&Moment, &Moment), length_s: f64, began_ms: i64) -> Option<Second> {
    let (then, now) = (before.data?, after.data?);
    let grown = |of: fn(&DeviceCounters) -> Option<f64>| -> Option<f64> {
        let more = of(&now)? - of(&then)?;
        (more >= 0.0).then_some(more)
    };
    let flow = |count: f64, bytes: f64| Flow { iops: count / length_s, mib_per_s: bytes / MIB / length_s };
    let reads = grown(|volume| volume.reads)?;
    let read = flow(reads, grown(|volume| volume.read_bytes)?);
    let write = flow(grown(|volume| volume.writes)?, grown(|volume| volume.write_bytes)?);
    let waited = grown(|volume| volume.read_wait_s);
    let cpu = after.process_cpu_s.zip(before.process_cpu_s).map(|(now, then)| now - then);
    Some(Second {
        minute: (after.unix_ms - began_ms - 1) / 60_000,
        seconds: length_s,
        asked: Asked { read, write, both: read.plus(write) },
        busy: grown(|volume| volume.busy_s).map(|busy| (busy / length_s).min(1.0)),
        queue: grown(|volume| volume.weighted_busy_s).map(|sum| sum / length_s),
        read_ms: waited.filter(|_| reads > 0.0).map(|waited| waited / reads * 1e3),
        cpus: cpu.filter(|cpu| *cpu >= 0.0).map(|cpu| cpu / length_s),
        held_back: held_back((before, after), length_s),
    })
}

/// What was held back the longest: requests and bytes may be at the same time. A counter that went back says nothing.
fn held_back((before, after): (&Moment, &Moment), length_s: f64) -> Option<f64> {
    let counts = before.held_back_s.into_iter().zip(after.held_back_s);
    let grown = counts.filter_map(|(then, now)| Some(now? - then?)).filter(|more| *more >= 0.0);
    grown.reduce(f64::max).map(|seconds| (seconds / length_s).min(1.0))
}

/// Over the seconds in which it is known.
fn quantile(seconds: &[Second], of: impl Fn(&Second) -> Option<f64>, q: f64) -> Option<f64> {
    stats::quantile(seconds.iter().filter_map(of), q)
}

/// The highest mean of a minute.
fn busiest_minute(seconds: &[Second], of: &dyn Fn(&Second) -> Option<f64>) -> Option<f64> {
    let minutes = seconds.chunk_by(|a, b| a.minute == b.minute);
    let minutes: Vec<(f64, f64)> = minutes
        .filter_map(|minute| Some((minute.iter().map(|second| second.seconds).sum::<f64>(), mean(minute, of)?)))
        .collect();
    let long = minutes.iter().any(|(length_s, _)| *length_s >= LEAST_MINUTE_S);
    let counts = minutes.iter().filter(|(length_s, _)| !long || *length_s >= LEAST_MINUTE_S);
    counts.map(|(_, mean)| *mean).reduce(f64::max)
}

/// By the length of the seconds in which it is known.
fn mean(seconds: &[Second], of: impl Fn(&Second) -> Option<f64>) -> Option<f64> {
    let known = seconds.iter().filter_map(|second| Some((of(second)? * second.seconds, second.seconds)));
    let (sum, length_s) = known.fold((0.0, 0.0), |(sum, time), (more, longer)| (sum + more, time + longer));
    stats::ratio(sum, length_s)
}
