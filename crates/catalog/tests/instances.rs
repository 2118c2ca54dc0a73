//! The instance table against figures looked up by hand, and rules that hold for every row.

use catalog::{
    Catalog, Cloud, FigureSource, InstanceType, IoLimits, Lifecycle, VolumeRequest, VolumeType, resolve_volume,
};

fn instance(name: &str) -> Option<&'static InstanceType> {
    Catalog::built_in().instance(name)
}

fn instances() -> &'static [InstanceType] {
    Catalog::built_in().instances()
}

fn nearest_instances(name: &str) -> Vec<&'static str> {
    Catalog::built_in().nearest_instances(name)
}

fn ebs(name: &str) -> (f64, f64, f64, f64) {
    let ebs = instance(name).and_then(|i| i.ebs).expect("a known type with a known EBS path");
    (ebs.baseline_iops, ebs.baseline_mb_per_s, ebs.burst_iops, ebs.burst_mb_per_s)
}

#[test]
fn documented_paths_to_ebs() {
    // EC2 User Guide, "EBS-optimized instances": IOPS at 16 KiB, MB/s at 128 KiB; baseline, then burst.
    for (name, expected) in [
        ("r4.4xlarge", (18_750.0, 437.5, 18_750.0, 437.5)),
        ("r3.4xlarge", (16_000.0, 250.0, 16_000.0, 250.0)),
        ("i3.4xlarge", (16_000.0, 437.5, 16_000.0, 437.5)),
        ("m5.large", (3_600.0, 81.25, 18_750.0, 593.75)),
        ("i2.4xlarge", (16_000.0, 250.0, 16_000.0, 250.0)),
    ] {
        assert_eq!(ebs(name), expected, "{name}");
    }
}

#[test]
fn sizes_and_prices() {
    for (name, vcpus, memory_gib, usd) in
        [("r4.4xlarge", 16, 122.0, 1.064), ("r3.4xlarge", 16, 122.0, 1.33), ("i3.4xlarge", 16, 122.0, 1.248)]
    {
        let found = instance(name).expect("a known type");
        assert_eq!((found.vcpus, found.memory_gib, found.on_demand_usd_per_hour), (vcpus, memory_gib, Some(usd)));
        assert_eq!(found.price_date.as_deref(), Some("2026-07-20"));
    }
}

#[test]
fn local_disks_are_counted_together() {
    let i3 = instance("i3.4xlarge").expect("a known type");
    let disks = i3.local_disks.as_ref().expect("local disks");
    assert_eq!(disks.label(), "2 x 1900 GB NVMe");
    assert_eq!(
        (disks.iops_source, disks.throughput_source),
        (Some(FigureSource::Documented), Some(FigureSource::Measured))
    );
    let limits = i3.local_limits().expect("local disks");
    assert_eq!((limits.read_iops, limits.write_iops), (Some(825_000.0), Some(360_000.0)));
    assert_eq!((limits.read_bytes_per_s, limits.write_bytes_per_s), (Some(4_030.7e6), Some(1_617.6e6)));
    assert_eq!(instance("r4.4xlarge").expect("a known type").local_limits(), None);
    let unknown = instance("r3.4xlarge").expect("a known type").local_limits();
    assert_eq!(unknown, Some(IoLimits::default()), "a disk without figures limits nothing");
}

#[test]
fn what_is_not_known_is_missing_and_not_zero() {
    assert_eq!(instance("i7i.metal-24xl").expect("a known type").on_demand_usd_per_hour, None);
    let m1 = instance("m1.small").expect("a known type");
    assert_eq!((m1.ebs, m1.ebs_limits()), (None, IoLimits::default()));
    assert_eq!(instance("hi1.4xlarge").expect("a known type").lifecycle, Lifecycle::Retired);
}

#[test]
fn every_row_makes_sense() {
    let of_aws = instances().iter().filter(|known| known.cloud() == Cloud::Aws);
    assert_eq!(of_aws.count(), 1_296);
    for known in instances() {
        let name = &known.name;
        assert_eq!(instance(name), Some(known), "{name} is found by its name");
        assert!(name.contains(['.', ':']) && known.vcpus > 0 && known.memory_gib > 0.0, "{name}");
        assert!(known.on_demand_usd_per_hour.is_none_or(|usd| usd > 0.0), "{name}");
        assert_eq!(known.on_demand_usd_per_hour.is_some(), known.price_date.is_some(), "{name}");
        if let Some(ebs) = known.ebs {
            assert!(ebs.baseline_iops > 0.0 && ebs.baseline_mb_per_s > 0.0, "{name}");
            assert!(ebs.burst_iops >= ebs.baseline_iops && ebs.burst_mb_per_s >= ebs.baseline_mb_per_s, "{name}");
        }
        if let Some(disks) = &known.local_disks {
            assert!(disks.count > 0 && disks.size_gb_each > 0.0, "{name}");
            assert_eq!(disks.read_iops.is_some(), disks.iops_source.is_some(), "{name}");
            assert_eq!(disks.read_mb_per_s.is_some(), disks.throughput_source.is_some(), "{name}");
        }
    }
}

#[test]
fn unknown_names_give_near_ones() {
    assert_eq!(instance("r4.4xlrage"), None);
    for (written, expected) in [
        ("r4.4xlrage", "r4.4xlarge"),
        ("R4.4XLARGE", "r4.4xlarge"),
        ("i3.4xlarg", "i3.4xlarge"),
        ("r4", "r4.large"),
        ("i3.7xlarge", "i3.2xlarge"),
    ] {
        let near = nearest_instances(written);
        assert!(near.contains(&expected) && near.len() <= 3, "{written}: {near:?}");
    }
    assert_eq!(nearest_instances("r4.4xlarge")[0], "r4.4xlarge");
    assert!(nearest_instances("a completely different thing").is_empty());
    assert!(nearest_instances("").len() <= 3);
}

/// Issue-sized example: 20,000 IOPS bought, 18,750 reachable.
#[test]
fn the_smaller_of_volume_and_instance_wins() {
    let request = VolumeRequest { kind: VolumeType::Io1, size_gib: 1000.0, iops: Some(20_000.0), mib_per_s: None };
    let volume = resolve_volume(&request).expect("a volume that AWS sells").limits;
    let effective = volume.min(instance("r4.4xlarge").expect("a known type").ebs_limits());
    assert_eq!(effective.read_iops, Some(18_750.0));
    assert_eq!(effective.write_bytes_per_s, Some(437.5e6), "437.5 MB/s is less than 500 MiB/s");
}
