//! What may be proposed: instance types with their own disks, or with volumes made to measure.

use catalog::{CapsError, Catalog, ClusterRequest, InstanceType, MB, MIB, VolumeRequest, VolumeType};

use super::demand::Machine;

/// A machine type with its disks.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub instance: &'a InstanceType,
    pub disk_bytes: f64,
    pub iops: Option<f64>,
    pub mb_per_s: Option<f64>,
    /// `None`: what its disks can do is not known.
    pub machine: Option<Machine>,
}

/// Why a machine cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum NodeError {
    #[error("unknown instance type `{0}`")]
    Instance(String),
    #[error("{0}")]
    Volume(#[from] CapsError),
}

/// Position of 16 KiB and of 256 KiB in [`catalog::SIZES_KIB`].
const AT_16_KIB: usize = 1;
const AT_256_KIB: usize = 3;

/// One machine of a configuration: its volumes, or without any its local disks.
pub(super) fn node<'a>(
    catalog: &'a Catalog,
    request: &ClusterRequest,
    era: Option<&str>,
) -> Result<Node<'a>, NodeError> {
    let instance = catalog.instance(&request.instance).ok_or_else(|| NodeError::Instance(request.instance.clone()))?;
    let with = |disks: Machine| Machine {
        cpus: instance.lasting_vcpus(),
        network_bytes_per_s: instance.network_gbps.map_or(f64::INFINITY, |gbps| gbps * 1e9 / 8.0),
        ..disks
    };
    if request.volumes.is_empty() {
        let limits = instance.local_limits().unwrap_or_default();
        let is_known = limits.read_iops.is_some() && limits.write_iops.is_some();
        return Ok(Node {
            instance,
            disk_bytes: instance.local_disks.as_ref().map_or(0.0, |disks| disks.total_gb() * 1e9),
            iops: limits.read_iops,
            mb_per_s: limits.read_bytes_per_s.map(|bytes| bytes / MB),
            machine: is_known.then(|| with(Machine::apart(&limits))),
        });
    }
    let caps = catalog.caps(request, era)?;
    let (iops, mib) = (caps.ebs[AT_16_KIB].baseline.iops, caps.ebs[AT_256_KIB].baseline.mib_per_s);
    let gib: f64 = request.volumes.iter().map(|volume| volume.size_gib).sum();
    Ok(Node {
        instance,
        disk_bytes: gib * 1024.0 * MIB,
        iops: Some(iops),
        mb_per_s: Some(mib * MIB / MB),
        machine: instance
            .ebs
            .is_some()
            .then(|| with(Machine { all_iops: iops, all_bytes_per_s: mib * MIB, ..Machine::UNLIMITED })),
    })
}

/// What a node's volume must do and hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    pub gib: f64,
    pub iops: f64,
    pub mib_per_s: f64,
}

/// Types of which volumes are made to measure. st1, sc1 and standard are no disks for random reads.
pub(super) const MADE_TO_MEASURE: [VolumeType; 3] = [VolumeType::Gp3, VolumeType::Gp2, VolumeType::Io2];

/// The smallest volume of a type that meets a need; whether AWS sells it is decided where it is priced and capped.
pub(super) fn made_to_measure(kind: VolumeType, need: Need) -> VolumeRequest {
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
