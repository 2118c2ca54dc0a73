//! EBS volumes: from what is asked for to what it may do, or why AWS would not sell it.

mod era;
mod error;
mod kind;
mod level;
mod measure;
mod rate;
mod request;
mod rules;

pub(crate) use era::rules_on;
pub use era::{TODAY, UnknownEra, rules_in};
pub use error::{VolumeError, VolumeField};
pub(crate) use kind::premium_gib;
pub use kind::{UnknownVolumeType, VolumeType, volume_type_names, volume_type_names_of};
pub use level::{MODIFICATIONS_A_DAY, VolumeLevel, modification_s};
pub use measure::{MADE_TO_MEASURE, VolumeNeed, made_to_measure};
pub(crate) use rate::{digits_and_mib, taken};
pub use request::VolumeRequest;
pub use rules::{VolumeRules, VolumeStep, rules, rules_of_all_eras};

use serde::{Deserialize, Serialize};

use crate::{Burst, ByteBurst, GIB, InstanceType, IoLimits, MIB};

/// What a volume may do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedVolume {
    /// What was asked for.
    pub request: VolumeRequest,
    /// Ceiling of the volume alone: gp2's burst IOPS while [`Self::burst`] has credits; for st1 and sc1 the throughput
    /// that lasts (their bucket is [`Self::byte_burst`]).
    pub limits: IoLimits,
    /// gp2 below 1,000 GiB: the bucket of I/O credits, full at the start.
    pub burst: Option<Burst>,
    /// IOPS that last.
    pub baseline_iops: f64,
    /// MiB/s that last. gp2 of 170 to 334 GiB reaches its ceiling of 250 MiB/s only while credits last: afterwards its
    /// baseline IOPS at 256 KiB bound it.
    pub baseline_mib_per_s: f64,
    /// MiB/s while credits last.
    pub burst_mib_per_s: f64,
    /// For people: `io1 1000 GiB, 10000 IOPS`.
    pub label: String,
    /// Where the rules come from.
    pub source: String,
}

impl ResolvedVolume {
    /// The bucket of st1 or sc1, full, where the volume is small enough to burst. It holds what the size says: a TiB of
    /// throughput for each TiB (EC2 user guide, "Throughput Optimized HDD volumes").
    pub fn byte_burst(&self) -> Option<ByteBurst> {
        let has_one = matches!(self.request.kind, VolumeType::St1 | VolumeType::Sc1);
        let credits = self.request.size_gib * GIB;
        (has_one && self.burst_mib_per_s > self.baseline_mib_per_s).then_some(ByteBurst {
            baseline_bytes_per_s: self.baseline_mib_per_s * MIB,
            burst_bytes_per_s: self.burst_mib_per_s * MIB,
            credits_max: credits,
            credits_start: credits,
        })
    }
}

/// What today's rules (the latest row of each type in `data/volumes.csv`) make of a request.
///
/// # Errors
///
/// The first of size, IOPS, throughput that the rules forbid.
pub fn resolve_volume(request: &VolumeRequest) -> Result<ResolvedVolume, VolumeError> {
    resolve_volume_by(rules(request.kind), request)
}

/// What the rules of a certain era make of a request.
///
/// # Errors
///
/// As [`resolve_volume`].
pub fn resolve_volume_by(rules: &VolumeRules, request: &VolumeRequest) -> Result<ResolvedVolume, VolumeError> {
    rules.check_size(request)?;
    let baseline_iops = rules.checked_iops(request)?;
    let throughput = rules.checked_throughput(request, baseline_iops)?;
    let burst = rules.burst(request.size_gib, baseline_iops);
    let ceiling_iops = burst.map_or(baseline_iops, |burst| burst.burst_iops);
    Ok(ResolvedVolume {
        request: *request,
        limits: IoLimits::symmetric(Some(ceiling_iops), Some(throughput.limit)),
        burst,
        baseline_iops,
        baseline_mib_per_s: throughput.baseline,
        burst_mib_per_s: throughput.burst,
        label: request.label(),
        source: rules.source.clone(),
    })
}

/// What a request does on an instance type: a type that is not built on Nitro holds io1 and io2 to fewer IOPS than AWS
/// sells
/// (`max_iops_not_nitro` in `data/volumes.csv`).
///
/// # Errors
///
/// As [`resolve_volume`].
pub fn resolve_volume_on(
    rules: &VolumeRules,
    request: &VolumeRequest,
    instance: &InstanceType,
) -> Result<ResolvedVolume, VolumeError> {
    let resolved = resolve_volume_by(rules, request)?;
    let most = rules.max_iops_without_nitro.filter(|_| instance.nitro == Some(false));
    let Some(most) = most.filter(|most| resolved.baseline_iops > *most) else { return Ok(resolved) };
    let throughput = rules.throughput(request.size_gib, most);
    Ok(ResolvedVolume {
        limits: IoLimits::symmetric(Some(most), Some(throughput.limit)),
        baseline_iops: most,
        baseline_mib_per_s: throughput.baseline,
        burst_mib_per_s: throughput.burst,
        ..resolved
    })
}
