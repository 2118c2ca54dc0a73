//! Volumes made to measure: the smallest of a type that does what is needed.

use super::{VolumeRequest, VolumeType};

/// What a node's volume must do and hold.
#[derive(Debug, Clone, Copy)]
pub struct VolumeNeed {
    /// GiB that it holds.
    pub gib: f64,
    /// Requests per second that last.
    pub iops: f64,
    /// MiB per second that last.
    pub mib_per_s: f64,
}

/// Types of which volumes are made to measure. st1, sc1 and standard are no disks for random reads.
pub const MADE_TO_MEASURE: [VolumeType; 3] = [VolumeType::Gp3, VolumeType::Gp2, VolumeType::Io2];

/// The smallest volume of a type that meets a need; whether AWS sells it is decided where it is priced and capped.
pub fn made_to_measure(kind: VolumeType, need: VolumeNeed) -> VolumeRequest {
    let up = |value: f64, step: f64| (value / step).ceil() * step;
    let request = |size_gib: f64, iops, mib_per_s| VolumeRequest {
        kind,
        size_gib: up(size_gib, 10.0).max(10.0),
        iops,
        mib_per_s,
    };
    match kind {
        // 3,000 IOPS and 125 MiB/s are included; at most 500 IOPS a GiB, and 0.25 MiB/s for each of the IOPS.
        VolumeType::Gp3 => {
            let mib = (need.mib_per_s > 125.0).then(|| up(need.mib_per_s, 5.0));
            let iops = need.iops.max(mib.unwrap_or(0.0) * 4.0);
            let iops = (iops > 3000.0).then(|| up(iops, 100.0));
            request(need.gib.max(iops.unwrap_or(0.0) / 500.0), iops, mib)
        }
        // 3 IOPS a GiB that last; 250 MiB/s from 334 GiB on.
        VolumeType::Gp2 => {
            let for_throughput = if need.mib_per_s > 128.0 { 334.0 } else { 0.0 };
            request(need.gib.max(need.iops / 3.0).max(for_throughput), None, None)
        }
        _ => {
            let iops = up(need.iops.max(need.mib_per_s * 4.0).max(100.0), 100.0);
            request(need.gib.max(iops / 1000.0), Some(iops), None)
        }
    }
}
