//! Volume rules against the EC2 User Guide (2023-06) and the API documentation of 2026-11, and rules that always hold.

use catalog::VolumeType::{Gp2, Gp3, Io1, Io2, Sc1, St1, Standard};
use catalog::{
    MIB, ResolvedVolume, VolumeError, VolumeField, VolumeRequest, VolumeType, resolve_volume, resolve_volume_by, rules,
    rules_in, rules_of_all_eras, volume_type_names,
};
use proptest::prelude::*;

fn request(kind: VolumeType, size_gib: f64, iops: Option<f64>, mib_per_s: Option<f64>) -> VolumeRequest {
    VolumeRequest { kind, size_gib, iops, mib_per_s }
}

fn resolve(kind: VolumeType, size_gib: f64, iops: Option<f64>, mib_per_s: Option<f64>) -> ResolvedVolume {
    resolve_volume(&request(kind, size_gib, iops, mib_per_s)).expect("a volume that AWS sells")
}

fn refuse(kind: VolumeType, size_gib: f64, iops: Option<f64>, mib_per_s: Option<f64>) -> VolumeError {
    resolve_volume(&request(kind, size_gib, iops, mib_per_s)).expect_err("a volume that AWS does not sell")
}

/// Ceiling as (IOPS, MiB/s); reads and writes have the same.
fn ceiling(volume: &ResolvedVolume) -> (f64, f64) {
    let limits = volume.limits;
    assert_eq!((limits.read_iops, limits.read_bytes_per_s), (limits.write_iops, limits.write_bytes_per_s));
    (limits.read_iops.expect("IOPS"), limits.read_bytes_per_s.expect("throughput") / MIB)
}

#[test]
fn gp2_follows_its_size() {
    // (GiB, baseline IOPS, ceiling IOPS, ceiling MiB/s, MiB/s that last)
    for (size, baseline, burst, most, lasts) in [
        (1.0, 100.0, 3000.0, 128.0, 25.0),
        (33.0, 100.0, 3000.0, 128.0, 25.0),
        (50.0, 150.0, 3000.0, 128.0, 37.5),
        (170.0, 510.0, 3000.0, 128.0, 127.5),
        (171.0, 513.0, 3000.0, 250.0, 128.25),
        (320.0, 960.0, 3000.0, 250.0, 240.0),
        (334.0, 1002.0, 3000.0, 250.0, 250.0),
        (999.0, 2997.0, 3000.0, 250.0, 250.0),
        (1000.0, 3000.0, 3000.0, 250.0, 250.0),
        (2000.0, 6000.0, 6000.0, 250.0, 250.0),
        (5334.0, 16_000.0, 16_000.0, 250.0, 250.0),
        (16_384.0, 16_000.0, 16_000.0, 250.0, 250.0),
    ] {
        let volume = resolve(Gp2, size, None, None);
        assert_eq!(ceiling(&volume), (burst, most), "{size} GiB");
        assert_eq!((volume.baseline_iops, volume.baseline_mib_per_s), (baseline, lasts), "{size} GiB");
    }
}

#[test]
fn gp2_below_1000_gib_has_a_full_bucket() {
    let burst = resolve(Gp2, 100.0, None, None).burst.expect("a bucket");
    assert_eq!((burst.baseline_iops, burst.burst_iops), (300.0, 3000.0));
    assert_eq!((burst.credits_max, burst.credits_start), (5.4e6, 5.4e6));
    // "EBS volume types": 100 GiB bursts for 2,000 seconds.
    assert_eq!(burst.credits_max / (burst.burst_iops - burst.baseline_iops), 2000.0);
    assert_eq!(resolve(Gp2, 1000.0, None, None).burst, None);
}

#[test]
fn provisioned_types_give_what_was_bought() {
    // (type, GiB, IOPS, MiB/s asked, ceiling IOPS, ceiling MiB/s)
    for (kind, size, iops, mib, expected) in [
        (Gp3, 1.0, None, None, (3000.0, 125.0)),
        (Gp3, 1000.0, Some(3000.0), Some(750.0), (3000.0, 750.0)),
        (Gp3, 100.0, Some(16_000.0), Some(1000.0), (16_000.0, 1000.0)),
        (Gp3, 160.0, Some(80_000.0), Some(2000.0), (80_000.0, 2000.0)),
        (Io1, 1000.0, Some(100.0), None, (100.0, 25.0)),
        (Io1, 1000.0, Some(2000.0), None, (2000.0, 500.0)),
        (Io1, 1000.0, Some(10_000.0), None, (10_000.0, 500.0)),
        (Io1, 640.0, Some(32_000.0), None, (32_000.0, 500.0)),
        (Io1, 1280.0, Some(48_000.0), None, (48_000.0, 750.0)),
        (Io1, 1280.0, Some(64_000.0), None, (64_000.0, 1000.0)),
        (Io2, 4.0, Some(4000.0), None, (4000.0, 1024.0)),
        (Io2, 256.0, Some(256_000.0), None, (256_000.0, 4000.0)),
    ] {
        let volume = resolve(kind, size, iops, mib);
        assert_eq!(ceiling(&volume), expected, "{}", volume.label);
        assert_eq!(volume.burst, None);
    }
}

#[test]
fn disks_that_rotate() {
    // (type, GiB, IOPS, MiB/s that last, MiB/s while credits last)
    for (kind, size, iops, lasts, burst) in [
        (St1, 125.0, 500.0, 4.8828125, 30.517578125),
        (St1, 1024.0, 500.0, 40.0, 250.0),
        (St1, 2048.0, 500.0, 80.0, 500.0),
        (St1, 12_800.0, 500.0, 500.0, 500.0),
        (Sc1, 1024.0, 250.0, 12.0, 80.0),
        (Sc1, 16_384.0, 250.0, 192.0, 250.0),
        (Standard, 500.0, 200.0, 90.0, 90.0),
    ] {
        let volume = resolve(kind, size, None, None);
        assert_eq!(ceiling(&volume), (iops, lasts), "{}: the bucket of MiB/s is not modelled", volume.label);
        assert_eq!((volume.baseline_mib_per_s, volume.burst_mib_per_s), (lasts, burst), "{}", volume.label);
    }
}

#[test]
fn what_aws_does_not_sell_is_refused_with_the_range() {
    use VolumeField::{Iops, Size, Throughput};
    for (kind, size, iops, mib, field, allowed) in [
        (Io1, 100.0, Some(5001.0), None, Iops, Some((100.0, 5000.0))),
        (Io1, 2000.0, Some(64_001.0), None, Iops, Some((100.0, 64_000.0))),
        (Io1, 100.0, Some(99.0), None, Iops, Some((100.0, 5000.0))),
        (Io1, 100.0, None, None, Iops, Some((100.0, 5000.0))),
        (Io1, 100.0, Some(1000.0), Some(100.0), Throughput, None),
        (Io1, 3.0, Some(100.0), None, Size, Some((4.0, 16_384.0))),
        (Io2, 10.0, Some(10_001.0), None, Iops, Some((100.0, 10_000.0))),
        (Gp2, 100.0, Some(300.0), None, Iops, None),
        (Gp2, 100.0, None, Some(100.0), Throughput, None),
        (Gp2, 16_385.0, None, None, Size, Some((1.0, 16_384.0))),
        (Gp2, 0.0, None, None, Size, Some((1.0, 16_384.0))),
        (Gp2, -1.0, None, None, Size, Some((1.0, 16_384.0))),
        (Gp3, 10.0, Some(5001.0), None, Iops, Some((3000.0, 5000.0))),
        (Gp3, 10.0, Some(2999.0), None, Iops, Some((3000.0, 5000.0))),
        (Gp3, 100.0, None, Some(751.0), Throughput, Some((125.0, 750.0))),
        (Gp3, 100.0, None, Some(124.0), Throughput, Some((125.0, 750.0))),
        (Gp3, 1000.0, Some(10_000.0), Some(2001.0), Throughput, Some((125.0, 2000.0))),
        (St1, 124.0, None, None, Size, Some((125.0, 16_384.0))),
        (St1, 500.0, Some(500.0), None, Iops, None),
        (Standard, 1025.0, None, None, Size, Some((1.0, 1024.0))),
    ] {
        let error = refuse(kind, size, iops, mib);
        assert_eq!((error.field, error.allowed), (field, allowed), "{error}");
        assert!(error.to_string().contains("EC2 User Guide") || error.to_string().contains("aws-sdk"), "{error}");
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(refuse(Gp2, bad, None, None).field, VolumeField::Size);
        assert_eq!(refuse(Io1, 100.0, Some(bad), None).field, VolumeField::Iops);
        assert_eq!(refuse(Gp3, 100.0, None, Some(bad)).field, VolumeField::Throughput);
    }
}

#[test]
fn the_message_says_what_to_do() {
    assert_eq!(
        refuse(Io1, 100.0, Some(6000.0), None).to_string(),
        "`iops` is 6000: io1 takes 100 to 64000 IOPS and at most 50 per GiB; this size allows 5000 with 100 GiB; \
         expected 100 to 5000 IOPS (source: EC2 User Guide 2023-06)"
    );
    assert_eq!(
        refuse(Gp2, 100.0, Some(300.0), None).to_string(),
        "`iops` is 300: IOPS of gp2 follow from its size (3 per GiB); leave it out (source: EC2 User Guide 2023-06)"
    );
    let error = "gp4".parse::<VolumeType>().expect_err("no such type");
    assert_eq!(error.nearest, Some("gp2"));
    assert!(error.to_string().contains("gp2, gp3, io1"), "{error}");
    assert_eq!("floppy".parse::<VolumeType>().expect_err("no such type").nearest, None);
}

#[test]
fn older_studies_had_older_rules() {
    let era = |kind, era: &str| {
        rules_of_all_eras().iter().find(|rules| rules.kind == kind && rules.era.starts_with(era)).expect("an era")
    };
    let io1 = |iops| resolve_volume_by(era(Io1, "2017"), &request(Io1, 1000.0, Some(iops), None));
    assert_eq!(ceiling(&io1(10_000.0).expect("sold in 2017")), (10_000.0, 320.0));
    assert!(io1(20_001.0).is_err(), "20,000 IOPS was the most in 2017");
    let gp2 = resolve_volume_by(era(Gp2, "2015"), &request(Gp2, 1000.0, None, None)).expect("sold in 2017");
    assert_eq!(ceiling(&gp2), (3000.0, 160.0));
}

/// EC2 User Guide of March and October 2013, as quoted at the time: 10, then 30 IOPS a GB; requests of 16 KiB.
#[test]
fn the_volumes_of_2012() {
    let io1 = |era: &str, size, iops| {
        let rules = rules_in(Io1, era).expect("rules of that time");
        resolve_volume_by(rules, &request(Io1, size, Some(iops), None))
    };
    assert_eq!(ceiling(&io1("2012", 100.0, 1000.0).expect("sold")), (1000.0, 15.625));
    assert!(io1("2012", 100.0, 1001.0).is_err() && io1("2013-03", 1024.0, 2001.0).is_err());
    assert_eq!(ceiling(&io1("2013-11-12", 100.0, 3000.0).expect("sold")), (3000.0, 46.875));
    assert!(io1("2014", 1024.0, 4001.0).is_err() && io1("2014", 2000.0, 100.0).is_err());
    let standard = rules_in(Standard, "2012").expect("rules of that time");
    let volume = resolve_volume_by(standard, &request(Standard, 500.0, None, None)).expect("sold");
    assert_eq!(volume.baseline_iops, 100.0, "about 100 on average");
    assert!(rules_in(Io1, "2012-06").is_err(), "there were none before 2012-07-31");
}

#[test]
fn every_type_has_rules_and_a_name() {
    for (kind, name) in VolumeType::ALL.into_iter().zip(volume_type_names()) {
        assert_eq!(name.parse(), Ok(kind));
        let rules = rules(kind);
        assert!(rules.min_size_gib < rules.max_size_gib && !rules.source.is_empty(), "{name}");
    }
    assert_eq!(rules(Gp3).max_iops, 80_000.0, "the latest row counts");
}

fn any_type() -> impl Strategy<Value = VolumeType> {
    proptest::sample::select(VolumeType::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn more_gib_never_lower_a_ceiling(kind in any_type(), size in 125.0..16_000.0f64, more in 0.0..384.0f64) {
        let iops = matches!(kind, Io1 | Io2).then_some(5000.0);
        let limits = |size| resolve_volume(&request(kind, size, iops, None)).map(|volume| ceiling(&volume)).ok();
        if let (Some(small), Some(large)) = (limits(size), limits(size + more)) {
            prop_assert!(small.0 <= large.0 && small.1 <= large.1, "{small:?} {large:?}");
        }
    }

    #[test]
    fn more_iops_never_lower_the_effective_limit(
        kind in proptest::sample::select(vec![Gp3, Io1, Io2]),
        size in 4.0..16_384.0f64,
        iops in 100.0..256_000.0f64,
        more in 0.0..50_000.0f64,
        machine in proptest::sample::select(vec!["r4.4xlarge", "r3.4xlarge", "m5.large", "m1.small", "i4i.4xlarge"]),
    ) {
        let instance = catalog::Catalog::built_in().instance(machine).expect("a known type").ebs_limits();
        let resolved = |iops| resolve_volume(&request(kind, size, Some(iops), None)).ok();
        let effective = |iops| resolved(iops).map(|volume| volume.limits.min(instance));
        if let (Some(few), Some(many)) = (effective(iops), effective(iops + more)) {
            prop_assert!(few.read_iops <= many.read_iops && few.write_bytes_per_s <= many.write_bytes_per_s);
            prop_assert!(many.read_iops <= Some(iops + more));
            if let Some(cap) = instance.read_iops {
                prop_assert!(many.read_iops <= Some(cap));
            }
        }
    }

    /// Any numbers at all: sold within the type's bounds, or refused with a range or an advice that is then accepted.
    #[test]
    fn what_a_refusal_allows_is_sold(
        kind in any_type(),
        size in proptest::num::f64::ANY,
        iops in proptest::option::of(-10.0..300_000.0f64),
        mib in proptest::option::of(-10.0..5_000.0f64),
        low: bool,
    ) {
        let mut wanted = request(kind, size, iops, mib);
        for _ in 0..6 {
            match resolve_volume(&wanted) {
                Ok(volume) => {
                    let (iops, mib) = ceiling(&volume);
                    prop_assert!(iops > 0.0 && mib > 0.0 && volume.baseline_iops <= iops);
                    return Ok(());
                }
                Err(error) => {
                    let allowed = error.allowed.map(|(least, most)| if low { least } else { most });
                    match error.field {
                        VolumeField::Size => wanted.size_gib = allowed.expect("a size is always needed"),
                        VolumeField::Iops => wanted.iops = allowed,
                        VolumeField::Throughput => wanted.mib_per_s = allowed,
                    }
                }
            }
        }
        prop_assert!(false, "still refused: {wanted:?}");
    }
}
