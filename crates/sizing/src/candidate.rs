//! What may be proposed: instance types with their own disks, or with volumes that [`catalog::made_to_measure`] makes.

use catalog::{CapsError, Catalog, ClusterRequest, InstanceType, MB, MIB, VolumeRequest};

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

/// One machine of a configuration: its volumes, or without any its local disks. The first volumes hold data, so many;
/// the others its commit log.
pub(super) fn node<'a>(
    catalog: &'a Catalog,
    request: &ClusterRequest,
    of_data: usize,
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
    let caps = |volumes: &[VolumeRequest]| {
        let caps = catalog.caps(&ClusterRequest { volumes: volumes.to_vec(), ..request.clone() }, era)?;
        let (iops, mib) = (caps.ebs[AT_16_KIB].baseline.iops, caps.ebs[AT_256_KIB].baseline.mib_per_s);
        Ok::<_, CapsError>((iops, mib * MIB, caps.path.is_some()))
    };
    let (data, log) = request.volumes.split_at(of_data);
    let (iops, bytes_per_s, is_known) = caps(data)?;
    let log = if log.is_empty() { None } else { Some(caps(log)?) };
    let gib: f64 = data.iter().map(|volume| volume.size_gib).sum();
    Ok(Node {
        instance,
        disk_bytes: gib * 1024.0 * MIB,
        iops: Some(iops),
        mb_per_s: Some(bytes_per_s / MB),
        machine: is_known.then(|| {
            let log = log.map(|(iops, bytes_per_s, _)| (iops, bytes_per_s));
            with(Machine { all_iops: iops, all_bytes_per_s: bytes_per_s, log, ..Machine::UNLIMITED })
        }),
    })
}
