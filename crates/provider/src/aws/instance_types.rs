//! An instance type as EC2 tells it, in the catalog's words.

use aws_sdk_ec2::types::{
    ArchitectureType, DiskType, EbsInfo, EphemeralNvmeSupport, InstanceStorageInfo, InstanceTypeHypervisor,
    InstanceTypeInfo, NetworkCardInfo,
};
use catalog::{DiskKind, Lifecycle, LocalDisks, UserEbs, UserInstance};

/// `None` for an entry without a name.
pub(super) fn entry(told: &InstanceTypeInfo) -> Option<UserInstance> {
    let mut entry = UserInstance::named(told.instance_type()?.as_str());
    entry.architecture = told.processor_info().and_then(|processor| {
        let all = processor.supported_architectures();
        [ArchitectureType::X8664, ArchitectureType::Arm64]
            .into_iter()
            .find(|known| all.contains(known))
            .map(|known| known.as_str().to_owned())
    });
    entry.vcpus = told
        .v_cpu_info()
        .and_then(|cpus| cpus.default_v_cpus())
        .and_then(|n| u32::try_from(n).ok());
    entry.memory_gib = told
        .memory_info()
        .and_then(|memory| memory.size_in_mib())
        .map(|mib| mib as f64 / 1024.0);
    entry.lifecycle = told.current_generation().map(|is_current| {
        if is_current {
            Lifecycle::Current
        } else {
            Lifecycle::Previous
        }
    });
    entry.nitro = match (told.bare_metal(), told.hypervisor()) {
        (Some(true), _) | (_, Some(InstanceTypeHypervisor::Nitro)) => Some(true),
        (_, Some(InstanceTypeHypervisor::Xen)) => Some(false),
        _ => None,
    };
    let cards = told.network_info().map_or(&[][..], |network| network.network_cards());
    let label = told.network_info().and_then(|network| network.network_performance());
    entry.network_gbps = labelled(together(cards, NetworkCardInfo::baseline_bandwidth_in_gbps), label);
    entry.network_burst_gbps = labelled(together(cards, NetworkCardInfo::peak_bandwidth_in_gbps), label);
    entry.ebs = told.ebs_info().and_then(path);
    entry.local_disks = told.instance_storage_info().and_then(disks);
    Some(entry)
}

/// The sum over all cards; `None` where any is not told, or there is nothing to tell.
fn together(cards: &[NetworkCardInfo], figure: fn(&NetworkCardInfo) -> Option<f64>) -> Option<f64> {
    let sum: Option<f64> = cards.iter().map(figure).sum();
    sum.filter(|gbps| *gbps > 0.0)
}

/// AWS's label of the whole type, `200 Gigabit`, bounds the sum over its cards: each card of some types tells the
/// bandwidth of both.
/// Labels are cut to two digits, so that a hundredth above one is the same.
fn labelled(gbps: Option<f64>, label: Option<&str>) -> Option<f64> {
    let most: Option<f64> = label.and_then(|label| label.strip_suffix(" Gigabit")?.parse().ok());
    match (gbps, most) {
        (Some(gbps), Some(most)) if gbps > most * 1.01 => Some(most),
        (gbps, _) => gbps,
    }
}

fn path(ebs: &EbsInfo) -> Option<UserEbs> {
    let told = ebs.ebs_optimized_info()?;
    let positive = |value: f64| (value > 0.0).then_some(value);
    Some(UserEbs {
        baseline_iops: positive(f64::from(told.baseline_iops()?))?,
        baseline_mb_per_s: positive(told.baseline_throughput_in_m_bps()?)?,
        burst_iops: told.maximum_iops().map(f64::from),
        burst_mb_per_s: told.maximum_throughput_in_m_bps(),
    })
}

/// Disks of one size and kind, as every type has them so far; others are not told rather than told wrong.
fn disks(storage: &InstanceStorageInfo) -> Option<LocalDisks> {
    let [only] = storage.disks() else { return None };
    let is_nvme = matches!(
        storage.nvme_support(),
        Some(EphemeralNvmeSupport::Required | EphemeralNvmeSupport::Supported)
    );
    Some(LocalDisks {
        count: u32::try_from(only.count()?).ok().filter(|count| *count > 0)?,
        size_gb_each: only.size_in_gb().filter(|gb| *gb > 0)? as f64,
        kind: match (only.r#type()?, is_nvme) {
            (DiskType::Hdd, _) => DiskKind::Hdd,
            (_, true) => DiskKind::NvmeSsd,
            (_, false) => DiskKind::Ssd,
        },
        read_iops: None,
        write_iops: None,
        iops_source: None,
        read_mb_per_s: None,
        write_mb_per_s: None,
        throughput_source: None,
    })
}
