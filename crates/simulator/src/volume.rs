//! The data volumes, of several all together, which are asked evenly: their limits, their burst bucket, and how
//! requests count against them.
//!
//! EBS has one IOPS limit and one throughput limit for reads and writes together, and counts a request of more than 256
//! KiB as several (Amazon EBS volume types: "I/O characteristics"); cgroups limit reads and writes apart. The bucket of
//! gp2 earns credits at the baseline and spends one for each request counted.

use experiment::{Burst, FaultKind, Setup, Truth};

use crate::faults::Faults;

/// What something asks of the volume.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Requests {
    /// Read requests, as the kernel counts them.
    pub reads: f64,
    /// Write requests.
    pub writes: f64,
}

/// A volume of a stated truth.
#[derive(Debug, Clone)]
pub struct SimulatedVolume {
    /// Requests (as the limit counts) and bytes of a read and of a write request.
    units: [f64; 2],
    bytes: [f64; 2],
    /// Per second: requests read and written, bytes read and written; infinite where nothing limits.
    limits: [f64; 4],
    one_for_requests: bool,
    one_for_bytes: bool,
    bucket: Option<Burst>,
    /// What a slow disk leaves of its limits.
    share: f64,
    /// Credits now.
    pub credits: f64,
}

impl SimulatedVolume {
    /// The data volumes of a setup, their buckets filled as the setup says.
    pub fn new(truth: &Truth, setup: &Setup, faults: &Faults<'_>) -> Self {
        // Each has its part of the work, so that together they do what so many volumes do.
        let together = 1.0 / f64::from(setup.data_volume_count());
        let limits = setup.data.limits.scaled(together);
        let bucket = setup.data.burst.map(|bucket| bucket.scaled(together));
        let both = |a: Option<f64>, b: Option<f64>| truth.combined_limits && a.is_some() && a == b;
        Self {
            units: [truth.chunk_bytes, truth.write_request_bytes].map(|b| counted(b, truth)),
            bytes: [truth.chunk_bytes, truth.write_request_bytes],
            limits: [limits.read_iops, limits.write_iops, limits.read_bytes_per_s, limits.write_bytes_per_s]
                .map(|l| l.unwrap_or(f64::INFINITY)),
            one_for_requests: both(limits.read_iops, limits.write_iops) || (truth.combined_limits && bucket.is_some()),
            one_for_bytes: both(limits.read_bytes_per_s, limits.write_bytes_per_s),
            bucket,
            share: faults.amount_or(FaultKind::SlowDisk, 1.0),
            credits: bucket.map_or(0.0, |b| b.credits_start),
        }
    }

    /// Whether it has a bucket.
    pub fn bursts(&self) -> bool {
        self.bucket.is_some()
    }

    /// Credits earned a second; infinite without a bucket.
    pub fn baseline(&self) -> f64 {
        self.bucket.map_or(f64::INFINITY, |b| b.baseline_iops)
    }

    /// The IOPS limit in force now, where a bucket moves it. Less than one credit is an empty bucket.
    pub fn iops_limit(&self) -> Option<f64> {
        self.bucket.map(|b| if self.credits >= 1.0 { b.burst_iops } else { b.baseline_iops })
    }

    /// Limits while the bucket is full or empty.
    fn limits(&self, bursting: bool) -> [f64; 4] {
        let mut limits = self.limits;
        if let Some(bucket) = self.bucket {
            let iops = if bursting { bucket.burst_iops } else { bucket.baseline_iops };
            limits[..2].fill(iops);
        }
        limits.map(|l| l * self.share)
    }

    /// How often a second a mix of requests can be served.
    pub fn rate(&self, each: Requests, bursting: bool) -> f64 {
        let limits = self.limits(bursting);
        let bound = |limit: f64, asked: f64| if asked > 0.0 { limit / asked } else { f64::INFINITY };
        let pair = |one: bool, read: f64, write: f64, of_reads: f64, of_writes: f64| {
            if one { bound(of_reads, read + write) } else { bound(of_reads, read).min(bound(of_writes, write)) }
        };
        let (units, bytes) = (self.units, self.bytes);
        pair(self.one_for_requests, each.reads * units[0], each.writes * units[1], limits[0], limits[1]).min(pair(
            self.one_for_bytes,
            each.reads * bytes[0],
            each.writes * bytes[1],
            limits[2],
            limits[3],
        ))
    }

    /// Credits that requests cost.
    pub fn cost(&self, requests: Requests) -> f64 {
        requests.reads * self.units[0] + requests.writes * self.units[1]
    }

    /// For how long credits last at `rate` mixes of requests a second, seconds; infinite where they do not shrink.
    pub fn lasts_s(&self, each: Requests, rate: f64) -> f64 {
        let Some(bucket) = self.bucket else { return f64::INFINITY };
        let shrinking = self.cost(each) * rate - bucket.baseline_iops;
        if shrinking > 0.0 { self.credits / shrinking } else { f64::INFINITY }
    }

    /// `seconds` pass in which requests worth `cost` credits are served. An empty bucket that cannot earn as fast as it
    /// is asked stays empty: what it earns is used at once.
    pub fn pass(&mut self, seconds: f64, cost: f64, stays_empty: bool) {
        if let Some(bucket) = self.bucket {
            let after = self.credits + bucket.baseline_iops * seconds - cost;
            self.credits = if stays_empty { 0.0 } else { after.clamp(0.0, bucket.credits_max) };
        }
    }

    /// Writes of `bytes`, as the kernel counts them.
    pub fn write_requests(&self, bytes: f64) -> f64 {
        bytes / self.bytes[1]
    }
}

/// How often a request of so many bytes counts against an IOPS limit.
pub fn counted(bytes: f64, truth: &Truth) -> f64 {
    (bytes / truth.io_unit_bytes).ceil().max(1.0)
}

/// A volume on which requests arrive one by one: each limit is served at an even pace.
pub struct Paced {
    volume: SimulatedVolume,
    /// When each limit has served what it was asked so far.
    free: [f64; 4],
    /// Until when credits are counted.
    counted_until: f64,
}

impl Paced {
    /// Idle from `from` on.
    pub fn new(volume: SimulatedVolume, from: f64) -> Self {
        Self { volume, free: [f64::NEG_INFINITY; 4], counted_until: from }
    }

    /// The volume's state now.
    pub fn volume(&self) -> &SimulatedVolume {
        &self.volume
    }

    /// The limits that a read (or a write) has to pass.
    fn lanes(&self, write: bool) -> [usize; 2] {
        let lane = |one: bool, read: usize| if write && !one { read + 1 } else { read };
        [lane(self.volume.one_for_requests, 0), lane(self.volume.one_for_bytes, 2)]
    }

    /// When everything asked for so far is served that a read (or a write) has to wait for.
    #[inline]
    pub fn free_at(&self, write: bool) -> f64 {
        let [requests, bytes] = self.lanes(write);
        self.free[requests].max(self.free[bytes])
    }

    /// Seconds that one read request occupies the volume.
    pub fn gap_s(&self) -> f64 {
        1.0 / self.volume.rate(Requests { reads: 1.0, writes: 0.0 }, self.volume.credits >= 1.0)
    }

    /// Time passes until `t`: credits are earned.
    pub fn pass_until(&mut self, t: f64) {
        if t > self.counted_until {
            self.volume.pass(t - self.counted_until, 0.0, false);
            self.counted_until = t;
        }
    }

    /// Reads (or writes) of so many requests come at `at`; returns when they are served.
    #[inline]
    pub fn take(&mut self, requests: f64, write: bool, at: f64) -> f64 {
        self.pass_until(at);
        let kind = usize::from(write);
        let units = requests * self.volume.units[kind];
        let bursting = self.volume.credits >= units;
        let limits = self.volume.limits(bursting);
        let [lane, byte_lane] = self.lanes(write);
        let start = at.max(self.free[lane]).max(self.free[byte_lane]);
        self.free[lane] = start + units / limits[kind];
        self.free[byte_lane] = start + requests * self.volume.bytes[kind] / limits[2 + kind];
        if bursting {
            self.volume.credits -= units;
        } else if let Some(bucket) = self.volume.bucket {
            // What is earned in the next gap is spent already.
            self.counted_until += (units - self.volume.credits) / bucket.baseline_iops;
            self.volume.credits = 0.0;
        }
        start
    }
}
