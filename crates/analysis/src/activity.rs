//! What a volume did in the measured window: requests, bytes, and what its burst bucket shows.

use evidence::{HostSample, VolumeFigures};
use experiment::VolumeRole;

use crate::dimension::Dimension;
use crate::ebs::EbsExceeded;
use crate::stretch::{Step, ten_second_steps};

/// Requests and bytes of a volume in the measured window.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct VolumeActivity {
    /// Length of the window, seconds.
    pub seconds: f64,
    pub reads: f64,
    pub writes: f64,
    pub read_bytes: f64,
    pub write_bytes: f64,
    /// Time that these requests took, summed, seconds; of the kernel's clock for the device.
    pub wait_s: Option<f64>,
    /// Share of the time with at least one request under way; on a device that serves many at once 1 does not mean
    /// full.
    pub busy_share: Option<f64>,
    /// IOPS limit in force at the end, where a burst bucket moves it.
    pub iops_limit: Option<f64>,
    /// Credits of its burst bucket in the first sample of the window and in the last one, neither of which lies outside
    /// of it; `None` where nobody sees them.
    pub request_credits: Option<(f64, f64)>,
    /// The same of a bucket of bytes.
    pub byte_credits: Option<(f64, f64)>,
    /// Seconds between these two samples: up to a sample's interval at either end less than the window.
    pub credits_s: Option<f64>,
    /// When the limit that a burst bucket moves fell for the last time, and stayed there: its credits were spent.
    /// Seconds from the start of measurement.
    pub slowed_at_s: Option<f64>,
    /// Share of the time in which a served volume was slower than its model, because this machine's disk was; `None`
    /// where nobody serves it.
    pub disk_floor_share: Option<f64>,
    /// The same, for want of CPU.
    pub cpu_floor_share: Option<f64>,
    /// CPUs that the process used that serves it, with all other volumes of that process.
    pub server_cpus: Option<f64>,
    /// Rates in windows of about 10 s.
    pub windows: WindowRates,
}

/// Rates per second, one entry a window.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct WindowRates {
    pub read_iops: Vec<f64>,
    pub write_iops: Vec<f64>,
    pub read_bytes_per_s: Vec<f64>,
    pub write_bytes_per_s: Vec<f64>,
    /// IOPS limit that a burst bucket had in force, mean over the seconds of the window; empty where no bucket moves
    /// it.
    pub iops_limit: Vec<f64>,
    /// The same of bytes per second.
    pub bytes_limit: Vec<f64>,
    /// Credits of its burst bucket at the start less those at the end; empty where nobody sees them.
    pub credits_fell: Vec<f64>,
    /// The same of a bucket of bytes.
    pub byte_credits_fell: Vec<f64>,
    /// Time above its limits, as the volume counts it: one of Amazon EBS, or a served one; empty where none does.
    pub ebs_exceeded: Vec<EbsExceeded>,
}

impl WindowRates {
    /// Rates of reads, and of writes.
    pub fn of(&self, dimension: Dimension) -> (&[f64], &[f64]) {
        match dimension {
            Dimension::Requests => (&self.read_iops, &self.write_iops),
            Dimension::Bytes => (&self.read_bytes_per_s, &self.write_bytes_per_s),
        }
    }

    /// The limit that a burst bucket had in force; empty where no bucket moves it.
    pub fn in_force(&self, dimension: Dimension) -> &[f64] {
        match dimension {
            Dimension::Requests => &self.iops_limit,
            Dimension::Bytes => &self.bytes_limit,
        }
    }

    /// By how much credits fell; empty where nobody sees them.
    pub fn fell(&self, dimension: Dimension) -> &[f64] {
        match dimension {
            Dimension::Requests => &self.credits_fell,
            Dimension::Bytes => &self.byte_credits_fell,
        }
    }
}

impl VolumeActivity {
    /// What was read, and what was written.
    pub fn done(&self, dimension: Dimension) -> (f64, f64) {
        match dimension {
            Dimension::Requests => (self.reads, self.writes),
            Dimension::Bytes => (self.read_bytes, self.write_bytes),
        }
    }

    /// Credits at the start and at the end; `None` where nobody sees them.
    pub fn credits(&self, dimension: Dimension) -> Option<(f64, f64)> {
        match dimension {
            Dimension::Requests => self.request_credits,
            Dimension::Bytes => self.byte_credits,
        }
    }

    /// Requests, read and written.
    pub fn requests(&self) -> f64 {
        self.reads + self.writes
    }

    /// Requests per second over the window, read and written.
    pub fn iops(&self) -> f64 {
        self.requests() / self.seconds
    }

    /// What a request took on average, seconds (`await` of iostat); `None` without requests, or where it is not known.
    pub fn await_s(&self) -> Option<f64> {
        stats::ratio(self.wait_s?, self.requests())
    }

    /// Read requests per second over the window.
    pub fn read_iops(&self) -> f64 {
        self.reads / self.seconds
    }

    /// Write requests per second over the window.
    pub fn write_iops(&self) -> f64 {
        self.writes / self.seconds
    }

    /// Bytes read per second over the window.
    pub fn read_bytes_per_s(&self) -> f64 {
        self.read_bytes / self.seconds
    }

    /// Bytes written per second over the window.
    pub fn write_bytes_per_s(&self) -> f64 {
        self.write_bytes / self.seconds
    }
}

/// What shows a bucket: the limit in force, its credits, and what was done against it between two samples.
struct Moved {
    limit: fn(&VolumeFigures) -> Option<f64>,
    credits: fn(&VolumeFigures) -> Option<f64>,
    done: fn(&VolumeFigures, &VolumeFigures) -> Option<f64>,
}

const OF_REQUESTS: Moved = Moved {
    limit: |v| v.iops_limit,
    credits: |v| v.burst_credits,
    done: |a, b| Some((b.reads? - a.reads?).max(b.writes? - a.writes?)),
};

const OF_BYTES: Moved = Moved {
    limit: |v| v.bytes_limit,
    credits: |v| v.byte_credits,
    done: |a, b| Some(b.read_bytes? - a.read_bytes? + b.write_bytes? - a.write_bytes?),
};

/// The limit that a burst bucket had in force between two samples, mean over their seconds; `None` where no bucket
/// moves it.
fn limit_in_force(samples: &[&HostSample], role: VolumeRole, of: &Moved) -> Option<f64> {
    let mut allowed = 0.0;
    for pair in samples.windows(2) {
        let (a, b) = (pair[0].volumes.get(&role)?, pair[1].volumes.get(&role)?);
        let seconds = pair[1].t_s - pair[0].t_s;
        let (before, after) = ((of.limit)(a)?, (of.limit)(b)?);
        let (low, high) = (before.min(after), before.max(after));
        // Where the limit moved in this second: the lower one and the credits that were left.
        let saved = (of.credits)(a).unwrap_or(0.0) / seconds;
        // What was done was possible, whatever the limit was when it was looked at.
        let done = (of.done)(a, b)? / seconds;
        allowed += (low + saved).clamp(low, high).max(done) * seconds;
    }
    stats::ratio(allowed, samples.last()?.t_s - samples.first()?.t_s)
}

/// By how much the credits of a bucket fell between two samples.
fn fell(from: &HostSample, to: &HostSample, role: VolumeRole, of: &Moved) -> Option<f64> {
    let credits = |sample: &HostSample| (of.credits)(sample.volumes.get(&role)?);
    Some(credits(from)? - credits(to)?)
}

/// When a limit that a bucket moves came to what it was at the end, where it had been higher before.
fn slowed_at(samples: &[&HostSample], role: VolumeRole, of: &Moved) -> Option<f64> {
    let limit = |sample: &HostSample| (of.limit)(sample.volumes.get(&role)?);
    let lasting = limit(samples.last()?)?;
    let is_higher = |sample: &&HostSample| limit(sample).is_some_and(|limit| limit > lasting);
    let before = samples.iter().rposition(is_higher)?;
    Some(samples.get(before + 1)?.t_s)
}

/// A figure of each step; none where one of them lacks it: it would stand beside the wrong rates.
fn of_all<T>(steps: &[Step<'_>], figure: impl Fn(&Step<'_>) -> Option<T>) -> Vec<T> {
    steps.iter().map(figure).collect::<Option<_>>().unwrap_or_default()
}

/// What a volume did between two moments, seconds from the start of measurement; `None` where nobody saw it.
pub fn activity(window: &[HostSample], role: VolumeRole, (from_s, to_s): (f64, f64)) -> Option<VolumeActivity> {
    let length = to_s - from_s;
    // Samples without this volume's counters (a read of /proc that failed) are passed over.
    let known: Vec<&HostSample> =
        window.iter().filter(|s| s.volumes.get(&role).is_some_and(|v| counters(v).is_some())).collect();
    let between = |a: &HostSample, b: &HostSample| {
        let (a, b) = (counters(a.volumes.get(&role)?)?, counters(b.volumes.get(&role)?)?);
        Some(std::array::from_fn::<f64, 4, _>(|i| b[i] - a[i]))
    };
    let (first, last) = (known.first()?, known.last()?);
    let seconds = last.t_s - first.t_s;
    if seconds <= 0.0 {
        return None;
    }
    let [reads, writes, read_bytes, write_bytes] = between(first, last)?.map(|n| n / seconds * length);
    let steps = ten_second_steps(&known);
    let rates = steps.iter().map(|(from, to)| Some(between(from, to)?.map(|n| n / (to.t_s - from.t_s))));
    let rates: Vec<[f64; 4]> = rates.collect::<Option<_>>()?;
    let [read_iops, write_iops, read_bytes_per_s, write_bytes_per_s] =
        std::array::from_fn(|figure| rates.iter().map(|rates| rates[figure]).collect());
    let in_force = |(from, to): &Step<'_>, of: &Moved| {
        let inside: Vec<&HostSample> = known.iter().copied().filter(|s| from.t_s <= s.t_s && s.t_s <= to.t_s).collect();
        limit_in_force(&inside, role, of)
    };
    let windows = WindowRates {
        read_iops,
        write_iops,
        read_bytes_per_s,
        write_bytes_per_s,
        iops_limit: of_all(&steps, |step| in_force(step, &OF_REQUESTS)),
        bytes_limit: of_all(&steps, |step| in_force(step, &OF_BYTES)),
        credits_fell: of_all(&steps, |(from, to)| fell(from, to, role, &OF_REQUESTS)),
        byte_credits_fell: of_all(&steps, |(from, to)| fell(from, to, role, &OF_BYTES)),
        ebs_exceeded: of_all(&steps, |(from, to)| EbsExceeded::between(from, to, role)),
    };
    let (before, after) = (&first.volumes[&role], &last.volumes[&role]);
    let a_second = |figure: fn(&VolumeFigures) -> Option<f64>| Some((figure(after)? - figure(before)?) / seconds);
    // The nearest samples may lie before and behind the window: credits that were spent there are no matter of it.
    let inside = || known.iter().filter(move |s| from_s <= s.t_s && s.t_s <= to_s);
    let ends = inside().next().zip(inside().next_back()).filter(|(first, last)| last.t_s > first.t_s);
    let credits = |of: &Moved| {
        let (first, last) = ends?;
        (of.credits)(&first.volumes[&role]).zip((of.credits)(&last.volumes[&role]))
    };
    Some(VolumeActivity {
        seconds: length,
        reads,
        writes,
        read_bytes,
        write_bytes,
        wait_s: a_second(|v| Some(v.read_wait_s? + v.write_wait_s?)).map(|share| share * length),
        busy_share: a_second(|v| v.busy_s),
        iops_limit: after.iops_limit,
        request_credits: credits(&OF_REQUESTS),
        byte_credits: credits(&OF_BYTES),
        credits_s: ends.map(|(first, last)| last.t_s - first.t_s),
        slowed_at_s: [&OF_REQUESTS, &OF_BYTES].into_iter().find_map(|of| slowed_at(&known, role, of)),
        disk_floor_share: a_second(|v| v.disk_floor_s),
        cpu_floor_share: a_second(|v| v.cpu_floor_s),
        server_cpus: a_second(|v| v.server_cpu_s),
        windows,
    })
}

/// Read and write requests, bytes read and written.
fn counters(volume: &VolumeFigures) -> Option<[f64; 4]> {
    Some([volume.reads?, volume.writes?, volume.read_bytes?, volume.write_bytes?])
}
