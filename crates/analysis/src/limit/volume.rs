//! What a volume could really have done: requests and bytes, reads and writes, burst and baseline.

use evidence::{ProbeResult, VolumeFacts, VolumeRole};
use experiment::{IoLimits, Setup, VolumeSetup};

use super::pauses::Pauses;
use super::window::{VOLUME_AT_CAP, Watched, Window};
use crate::activity::{VolumeActivity, WindowRates};
use crate::burst::Bucket;
use crate::dimension::Dimension;
use crate::document::limit::{Counted, LimitKind};
use crate::node::Node;

/// Reads and writes together that do more than this share of a limit show that it does not count them together.
const TOGETHER_MAX: f64 = 1.02;
/// fio's figure counts where it is this much off what the limits allow ...
const PROBE_OFF: f64 = 0.05;
/// Limits within this factor of each other are the same.
const ROUNDING: f64 = 1.001;
/// A window whose mean limit is within this factor of a bucket's baseline ran at the baseline: what trickles into an
/// empty bucket is handed out again at once.
const AT_BASELINE: f64 = 1.05;
/// EBS counts a request to an SSD volume in units of 256 KiB (EBS user guide, "EBS I/O characteristics") ...
pub const VOLUME_UNIT_BYTES: f64 = 256.0 * 1024.0;
/// ... and states the IOPS of an instance for requests of 16 KiB (EC2 user guide, "EBS-optimized instance types").
pub const INSTANCE_UNIT_BYTES: f64 = 16.0 * 1024.0;
/// A served hard disk counts in units of 1 MiB (the EBS user guide, the same page).
const HARD_DISK_UNIT_BYTES: f64 = 1024.0 * 1024.0;

/// A volume's windows, counted in each way in which its limit may count.
///
/// cgroups limit reads and writes apart, EBS together; which of them this volume does is not known here, so that both
/// are looked at. Together is possible only where both have the same limit, and at its cap only from [`VOLUME_AT_CAP`]
/// to [`TOGETHER_MAX`] of it.
pub fn windows(
    setup: Option<&Setup>,
    node: &Node<'_>,
    facts: &VolumeFacts,
    pauses: &Pauses,
) -> Vec<(Watched, Vec<Window>)> {
    let Some(activity) = node.activity(facts.role) else { return Vec::new() };
    let rates = rates(activity);
    let stated =
        setup.filter(|setup| setup.has_real_volumes()).and_then(|setup| Some(setup.volume(facts.role)?.limits));
    let volume = MeasuredVolume {
        setup: setup.filter(|_| facts.role.is_data()).and_then(|setup| setup.volume(facts.role)),
        facts,
        limits: stated.unwrap_or(facts.limits),
        is_only_stated: stated.is_some(),
        rates: &rates,
        pauses,
    };
    let ways = [Counted::Reads, Counted::Writes, Counted::Together, Counted::InUnits];
    let mut found = Vec::new();
    for dimension in Dimension::ALL {
        for counted in ways {
            let windows = volume.counted(dimension, counted).unwrap_or_default();
            found.push((Watched::Volume(facts.role, dimension, counted), windows));
        }
    }
    found
}

/// The rates of the windows; those of the whole trial where it has none.
fn rates(activity: &VolumeActivity) -> WindowRates {
    if !activity.windows.read_iops.is_empty() {
        return activity.windows.clone();
    }
    WindowRates {
        read_iops: vec![activity.read_iops()],
        write_iops: vec![activity.write_iops()],
        read_bytes_per_s: vec![activity.read_bytes_per_s()],
        write_bytes_per_s: vec![activity.write_bytes_per_s()],
        iops_limit: activity.iops_limit.into_iter().collect(),
        ..WindowRates::default()
    }
}

struct MeasuredVolume<'a> {
    /// What is planned of it, where it is a data volume.
    setup: Option<&'a VolumeSetup>,
    facts: &'a VolumeFacts,
    /// In force; of a cluster that exists what is stated of it, which nobody holds it to.
    limits: IoLimits,
    is_only_stated: bool,
    rates: &'a WindowRates,
    pauses: &'a Pauses,
}

impl MeasuredVolume<'_> {
    /// Used and capacity by window; `None` where this way of counting has no limit.
    fn counted(&self, dimension: Dimension, counted: Counted) -> Option<Vec<Window>> {
        let used = self.used(dimension, counted)?;
        let capacity = match counted {
            Counted::Reads => self.capacity_of_reads(dimension),
            Counted::Writes => dimension.limits(&self.limits).1,
            Counted::Together | Counted::InUnits => {
                self.is_one_number(dimension).then(|| self.capacity_of_reads(dimension))?
            }
        };
        let is_sum = matches!(counted, Counted::Together | Counted::InUnits);
        let moved = self.rates.in_force(dimension);
        let windows = used.iter().enumerate().filter_map(|(i, used)| {
            let in_force = moved.get(i).copied().or_else(|| self.unseen_baseline(dimension, *used));
            let capacity = in_force.or(capacity).filter(|c| *c > 0.0)?;
            let kind = self.kind(dimension, in_force);
            let whole = Window::at(kind, *used, capacity, VOLUME_AT_CAP);
            let mut window = whole.between(self.pauses.in_window(i), VOLUME_AT_CAP);
            // A volume that does more than is stated of it is another one.
            window.at_cap &= !(is_sum || self.is_only_stated) || whole.share() <= TOGETHER_MAX;
            Some(window)
        });
        Some(windows.collect())
    }

    /// The baseline of a bucket that nobody sees into, where the volume does just that: what is left of its credits is
    /// not known of a volume that is only stated.
    fn unseen_baseline(&self, dimension: Dimension, used: f64) -> Option<f64> {
        let bucket = self.setup.filter(|_| self.is_only_stated)?.burst?;
        let share = stats::ratio(used, bucket.baseline_iops)?;
        let is_at_it = dimension == Dimension::Requests && (VOLUME_AT_CAP..=TOGETHER_MAX).contains(&share);
        is_at_it.then_some(bucket.baseline_iops)
    }

    fn used(&self, dimension: Dimension, counted: Counted) -> Option<Vec<f64>> {
        let (reads, writes) = self.rates.of(dimension);
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        Some(match counted {
            Counted::Reads => reads.to_vec(),
            Counted::Writes => writes.to_vec(),
            Counted::Together => sum(reads, writes),
            Counted::InUnits if dimension == Dimension::Bytes => return None,
            Counted::InUnits => {
                let unit = self.unit_bytes();
                // At least this many: a mean hides how unequal requests are.
                let units = |iops: &[f64], bytes: &[f64]| -> Vec<f64> {
                    iops.iter().zip(bytes).map(|(n, bytes)| n.max(bytes / unit)).collect()
                };
                let (read_bytes, write_bytes) = self.rates.of(Dimension::Bytes);
                sum(&units(reads, read_bytes), &units(writes, write_bytes))
            }
        })
    }

    /// Bytes of the largest request that counts as one.
    fn unit_bytes(&self) -> f64 {
        let served = self.setup.and_then(|setup| setup.served);
        match self.kind(Dimension::Requests, None) {
            _ if served.is_some_and(|served| served.is_hard_disk) => HARD_DISK_UNIT_BYTES,
            // What is served counts requests as the volume does, also where its instance is the narrower of both.
            LimitKind::InstanceEbsBandwidth if !self.facts.is_served => INSTANCE_UNIT_BYTES,
            _ => VOLUME_UNIT_BYTES,
        }
    }

    /// Whether reads and writes have one number, so that it may be meant for both together; not where it is known that
    /// each has it for itself.
    fn is_one_number(&self, dimension: Dimension) -> bool {
        let (reads, writes) = dimension.limits(&self.limits);
        self.facts.combined != Some(false) && reads == writes
    }

    /// The limit asked for, or what fio measured where that is less, is a figure of requests and was not passed by
    /// the trial itself.
    fn capacity_of_reads(&self, dimension: Dimension) -> Option<f64> {
        let limits = &self.limits;
        let asked = match dimension {
            Dimension::Bytes => return limits.read_bytes_per_s,
            Dimension::Requests => limits.read_iops?,
        };
        let Some(probe) = &self.facts.probe else { return Some(asked) };
        // What fio's reads measure is the smaller of the IOPS and of the bytes in requests of theirs.
        let by_bytes = limits.read_bytes_per_s.map(|bytes| bytes / ProbeResult::READ_BYTES);
        let is_of_requests = by_bytes.is_none_or(|bytes| bytes > asked);
        let most = stats::quantile(&self.rates.read_iops, 0.5).unwrap_or(0.0);
        let is_less = probe.read_iops < asked * (1.0 - PROBE_OFF) && most <= probe.read_iops * (1.0 + PROBE_OFF);
        Some(if is_of_requests && is_less { probe.read_iops } else { asked })
    }

    /// Which limit a full window shows: the commit log's, a spent bucket's, or the narrower of volume and instance.
    fn kind(&self, dimension: Dimension, in_force: Option<f64>) -> LimitKind {
        if self.facts.role == VolumeRole::Commitlog {
            return LimitKind::CommitLog;
        }
        let bucket = self.setup.and_then(|setup| dimension.bucket(setup));
        let is_spent = bucket.is_some_and(|Bucket { baseline, burst, .. }| {
            let at_baseline = in_force.is_some_and(|limit| limit <= baseline * AT_BASELINE);
            baseline * AT_BASELINE < burst && at_baseline
        });
        // Not those of the record: they are the limits in force when the trial started, of an empty bucket its
        // baseline.
        let (effective, _) = dimension.limits(&self.setup.map_or(self.limits, |setup| setup.limits));
        let by_instance = self.setup.and_then(|setup| setup.own_limits).is_some_and(|own| {
            let (own, _) = dimension.limits(&own);
            own.is_none_or(|own| effective.is_some_and(|effective| own > effective * ROUNDING))
        });
        match (is_spent, by_instance, dimension) {
            (true, _, _) => LimitKind::BurstSpent,
            (false, true, _) => LimitKind::InstanceEbsBandwidth,
            (false, false, Dimension::Requests) => LimitKind::VolumeIops,
            (false, false, Dimension::Bytes) => LimitKind::VolumeThroughput,
        }
    }
}
