//! Google's Hyperdisk Extreme and Throughput, and its local SSD: rules, limits, money, and what is not known of them.

use catalog::{Basis, CapsError, Catalog, Cloud, ClusterRequest, InstanceType, NotAttached, Side, UserCatalog};

fn facts() -> &'static Catalog {
    Catalog::built_in()
}

fn request(text: &str) -> ClusterRequest {
    ClusterRequest::parse(facts(), text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Limits of machine and price as a file of one's own states them: 400,000 IOPS, 5,000 MiB/s.
fn with_stated_limits(machine: &str) -> Catalog {
    let mut own = facts().clone();
    let text = format!(
        "region = \"us-central1\"\nprice_date = \"2026-11-28\"\n\
         [[instance]]\nname = \"{machine}\"\nebs = {{ baseline_iops = 400000, baseline_mb_per_s = 5242.88 }}\n\
         [[volume_price]]\ntype = \"hyperdisk-throughput\"\nusd_per_gb = 0.01\nusd_per_mib_per_s = 0.3\n"
    );
    own.add(&UserCatalog::parse("own.toml", &text).unwrap()).unwrap();
    own
}

/// Google, "Hyperdisk Extreme": 2 to 1,200 IOPS a GiB up to 350,000; 250 MiB/s with every 1,000 IOPS up to 5,000.
/// "Hyperdisk Throughput": 5 to 90 MiB/s a TiB, 20 to 2,400; 4 IOPS with each.
#[test]
fn hyperdisk_extreme_is_sold_by_requests_and_hyperdisk_throughput_by_bytes() {
    let machine = "gcp:c3-standard-88";
    let own = with_stated_limits(machine);
    let of = |volume: &str| own.caps(&request(&format!("{machine}+{volume}")), None);
    for (volume, iops, mib_per_s) in [
        ("hyperdisk-extreme:64:128", 128.0, 32.0),
        ("hyperdisk-extreme:150:180000", 180_000.0, 5_000.0),
        ("hyperdisk-extreme:2000:10000", 10_000.0, 2_500.0),
        ("hyperdisk-extreme:65536:350000", 350_000.0, 5_000.0),
        ("hyperdisk-throughput:2048::20", 80.0, 20.0),
        ("hyperdisk-throughput:10240::900", 3_600.0, 900.0),
        ("hyperdisk-throughput:32768::2400", 9_600.0, 2_400.0),
    ] {
        let caps = of(volume).unwrap_or_else(|error| panic!("{volume}: {error}"));
        let sold = &caps.volumes[0];
        assert_eq!((sold.baseline_iops, sold.baseline_mib_per_s), (iops, mib_per_s), "{volume}");
        assert_eq!(caps.ebs[0].baseline.capped_by, Side::Volumes, "{volume}");
    }
    for (volume, part) in [
        ("hyperdisk-extreme:2000", "hyperdisk-extreme is sold by provisioned IOPS; expected 4000 to 350000 IOPS"),
        ("hyperdisk-extreme:100:120001", "takes 200 to 350000 IOPS and 2 to 1200 per GiB; this size allows 120000"),
        ("hyperdisk-extreme:2000:10000:2500", "throughput of hyperdisk-extreme follows from its size or IOPS"),
        ("hyperdisk-extreme:32:128", "a hyperdisk-extreme volume has 64 to 65536 GiB"),
        ("hyperdisk-throughput:2048", "hyperdisk-throughput is sold by provisioned throughput; expected 20 to 180"),
        ("hyperdisk-throughput:10240::49", "takes 5 to 90 MiB/s per TiB, which are 50 to 900 with 10240 GiB"),
        ("hyperdisk-throughput:32768::2401", "which are 160 to 2400 with 32768 GiB"),
        ("hyperdisk-throughput:2048:400:100", "follow from its throughput (4 per MiB/s)"),
        ("hyperdisk-throughput:1024::90", "a hyperdisk-throughput volume has 2048 to 32768 GiB"),
    ] {
        let error = of(volume).unwrap_err().to_string();
        assert!(error.contains(part), "{volume}: {error}");
    }
}

/// infracost: 1,000 GiB 125 USD a month, 350,000 IOPS 11,200; of Hyperdisk Throughput what the file states.
#[test]
fn new_hyperdisks_cost_what_is_bought_of_them() {
    let machine = "gcp:c3-standard-88";
    let own = with_stated_limits(machine);
    let of = |volume: &str| {
        let cost = own.cost(&request(&format!("{machine}+{volume}")), &Basis::default());
        cost.unwrap_or_else(|error| panic!("{volume}: {error}")).usd_per_month - 4.435_376 * 730.0
    };
    for (volume, expected) in [
        ("hyperdisk-extreme:1000:350000", 125.0 + 11_200.0),
        ("hyperdisk-extreme:1000:2000", 125.0 + 64.0),
        ("hyperdisk-throughput:10240::900", 102.4 + 270.0),
    ] {
        let usd = of(volume);
        assert!((usd - expected).abs() < 0.01, "{volume}: {usd} is not {expected}");
    }
}

/// "About Local SSD disks" (2026-04-14): c4, c4a, c4d and z3 by machine type, c3 and c3d by the number of their disks.
#[test]
fn local_ssds_of_google_do_what_their_page_says() {
    for (name, count, read_iops, write_iops, mib_per_s) in [
        ("gcp:c3-standard-4-lssd", 1, 170_000.0, 90_000.0, [660.0, 350.0]),
        ("gcp:c3-standard-22-lssd", 4, 680_000.0, 360_000.0, [2_650.0, 1_400.0]),
        ("gcp:c3-standard-44-lssd", 8, 680_000.0, 360_000.0, [2_650.0, 1_400.0]),
        ("gcp:c3d-highmem-360-lssd", 32, 3_200_000.0, 1_600_000.0, [12_480.0, 6_240.0]),
        ("gcp:c4-standard-32-lssd", 5, 750_000.0, 375_000.0, [3_125.0, 1_650.0]),
        ("gcp:c4a-highmem-8-lssd", 2, 300_000.0, 150_000.0, [1_300.0, 660.0]),
        ("gcp:c4d-standard-16-lssd", 1, 150_000.0, 75_000.0, [625.0, 330.0]),
        ("gcp:z3-highmem-14-standardlssd", 1, 750_000.0, 500_000.0, [3_000.0, 2_500.0]),
        ("gcp:z3-highmem-22-highlssd", 3, 2_250_000.0, 1_500_000.0, [9_000.0, 7_500.0]),
        ("gcp:z3-highmem-88-highlssd", 12, 9_000_000.0, 6_000_000.0, [36_000.0, 30_000.0]),
    ] {
        let disks = facts().instance(name).unwrap().local_disks.as_ref().unwrap_or_else(|| panic!("{name}"));
        let iops = (disks.read_iops, disks.write_iops);
        assert_eq!((disks.count, iops), (count, (Some(read_iops), Some(write_iops))), "{name}");
        for (mb, mib) in [disks.read_mb_per_s, disks.write_mb_per_s].into_iter().zip(mib_per_s) {
            assert!((mb.unwrap() - mib * 1.048_576).abs() < 1e-3, "{name}: {mb:?} MB/s are not {mib} MiB/s");
        }
        let gib = if name.contains(":z3-") { 3_000.0 } else { 375.0 };
        assert!((disks.size_gb_each - gib * 1.073_741_824).abs() < 0.01, "{name}: {disks:?}");
    }
    // All that are sold with disks, and none else.
    let mut google = facts().instances().iter().filter(|known| known.cloud() == Cloud::Google);
    assert!(google.all(|known| known.local_disks.is_some() == known.name.ends_with("lssd")));
}

/// What a GiB of the disks costs (of Local SSD 0.08 USD a month: infracost golden compute_instance_test.golden) is in
/// the price of the machine. The path to volumes is that of as many vCPUs.
#[test]
fn local_ssds_of_google_are_in_the_price_of_their_machine() {
    for (family, vcpus, gib, usd_per_gib) in [
        ("c3-standard", 22, 1_500.0, 0.08),
        ("c3d-highmem", 60, 1_500.0, 0.08),
        ("c4-highmem", 16, 750.0, 0.16),
        ("c4a-standard", 72, 6_000.0, 0.12),
        ("c4d-standard", 96, 3_000.0, 0.16),
    ] {
        let known = |suffix: &str| facts().instance(&format!("gcp:{family}-{vcpus}{suffix}")).unwrap();
        let (with, without) = (known("-lssd"), known(""));
        let usd = |known: &InstanceType| known.on_demand_usd_per_hour.unwrap() * 730.0;
        let apart = usd(with) - usd(without);
        assert!((apart - gib * usd_per_gib).abs() < 0.01, "{family}: {apart} USD a month");
        assert_eq!((with.vcpus, with.memory_gib, &with.paths), (without.vcpus, without.memory_gib, &without.paths));
    }
}

/// Google's overview of Hyperdisk, "Restrictions for machine series support".
#[test]
fn a_hyperdisk_without_known_limits_is_refused_with_what_google_says_of_the_machine() {
    const NOT_FOUND: &str = "its limits of this machine type were not found;";
    for (asked, part) in [
        ("gcp:c3-highmem-88+hyperdisk-extreme:2000:100000", NOT_FOUND),
        ("gcp:z3-highmem-14-standardlssd+hyperdisk-extreme:2000:100000", NOT_FOUND),
        ("gcp:c3-standard-22+hyperdisk-extreme:2000:100000", "Google offers them on C3 from 88 vCPUs on; known there"),
        ("gcp:n2-standard-64+hyperdisk-extreme:2000:100000", "Google offers them on N2 from 80 vCPUs on; known there"),
        ("gcp:n4d-standard-16+hyperdisk-extreme:2000:100000", ": Google offers none there"),
        ("gcp:c3-standard-22+hyperdisk-throughput:2048::100", NOT_FOUND),
        ("gcp:n2-standard-16+hyperdisk-throughput:2048::100", NOT_FOUND),
        ("gcp:e2-standard-16+hyperdisk-throughput:2048::100", ": Google offers none there"),
        ("gcp:z3-highmem-14-standardlssd+pd-ssd:500", NOT_FOUND),
    ] {
        let error = facts().caps(&request(asked), None).unwrap_err();
        assert!(matches!(error, CapsError::NotAttached(NotAttached::NoPath { .. })), "{asked}: {error}");
        assert!(error.to_string().contains(part), "{asked}: {error}");
    }
}
