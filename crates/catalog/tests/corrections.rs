//! Figures that were wrong once, and rules over the whole table that would find their like.

use std::collections::BTreeMap;

use catalog::{Basis, Catalog, Cloud, ClusterRequest, InstanceType, LocalDisks, Side};

fn facts() -> &'static Catalog {
    Catalog::built_in()
}

fn instance(name: &str) -> &'static InstanceType {
    facts().instance(name).unwrap()
}

fn request(text: &str) -> ClusterRequest {
    ClusterRequest::parse(facts(), text).unwrap()
}

/// EC2 Instance Types Guide (sources/instance_store.csv). The measured file holds totals for these families, and was
/// multiplied by the
/// number of disks: 2 to 8 times too fast; i4i's 12xlarge and 24xlarge were measured at a third of their writes.
#[test]
fn several_local_disks_do_what_is_documented() {
    for (name, reads, writes) in [
        ("i7i.8xlarge", 1_200_000.0, 660_000.0),
        ("i7i.24xlarge", 3_600_000.0, 1_980_000.0),
        ("i7ie.24xlarge", 2_600_000.0, 2_080_000.0),
        ("i8g.16xlarge", 2_400_000.0, 1_320_000.0),
        ("i8ge.2xlarge", 216_666.0, 173_332.0),
        ("i4i.12xlarge", 1_200_000.0, 660_000.0),
        ("i4i.24xlarge", 2_400_000.0, 1_320_000.0),
    ] {
        let disks = instance(name).local_disks.as_ref().unwrap();
        assert_eq!((disks.read_iops, disks.write_iops), (Some(reads), Some(writes)), "{name}");
    }
    // Measured as a total of 26 GB/s read; six times that was in the table.
    assert_eq!(instance("i7i.24xlarge").local_disks.as_ref().unwrap().read_mb_per_s, Some(26_121.2));
}

/// The rule that finds a total taken for a disk's own figure, and the other way round: disks of one size in one family
/// are the same disks.
#[test]
fn disks_of_one_family_and_size_do_the_same() {
    const ALIKE: f64 = 1.12;
    // One measurement each: the same file has its neighbours of twice and half the size at the family's figure.
    const KNOWN: [(&str, &str, &str); 2] = [("im4gn", "7500", "MB/s read"), ("is4gen", "7500", "MB/s read")];
    type Figure = fn(&LocalDisks) -> Option<f64>;
    // Of each family, size and figure: what each type's disks do, one by one.
    type OfLike<'a> = BTreeMap<(&'a str, String, &'a str), Vec<(f64, &'a str)>>;
    let figures: [(&str, Figure); 4] = [
        ("reads", |d| d.read_iops),
        ("writes", |d| d.write_iops),
        ("MB/s read", |d| d.read_mb_per_s),
        ("MB/s written", |d| d.write_mb_per_s),
    ];
    let mut each = OfLike::new();
    // Google states what all disks of a machine do together, and four do what eight do.
    for known in facts().instances().iter().filter(|known| known.cloud() == Cloud::Aws) {
        let Some(disks) = &known.local_disks else { continue };
        for (what, figure) in figures {
            if let Some(all) = figure(disks) {
                let key = (known.family(), disks.size_gb_each.to_string(), what);
                each.entry(key).or_default().push((all / f64::from(disks.count), &known.name));
            }
        }
    }
    assert!(each.values().filter(|alike| alike.len() > 1).count() > 50);
    let mut unlike = Vec::new();
    for ((family, size, what), mut alike) in each {
        alike.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (least, most) = (alike[0], alike[alike.len() - 1]);
        if most.0 > least.0 * ALIKE {
            unlike.push((family.to_owned(), size, what, least, most));
        }
    }
    let found: Vec<_> = unlike.iter().map(|(f, s, w, ..)| (f.as_str(), s.as_str(), *w)).collect();
    assert_eq!(found, KNOWN, "{unlike:?}");
}

/// Bytes are measured, requests documented: what 4 KiB requests move must fit.
#[test]
fn requests_of_4_kib_fit_the_bytes_per_second() {
    let mut checked = 0;
    for known in facts().instances() {
        let Some(disks) = &known.local_disks else { continue };
        for (iops, mb) in [(disks.read_iops, disks.read_mb_per_s), (disks.write_iops, disks.write_mb_per_s)] {
            if let (Some(iops), Some(mb)) = (iops, mb) {
                // Google's 170,000 and 660 MiB/s are rounded.
                assert!(iops * 4096.0 <= mb * 1e6 * 1.01, "{}: {iops} x 4 KiB above {mb} MB/s", known.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 200);
}

/// AWS labels them "200 Gigabit" and "300 Gigabit"; each of their two network cards has the bandwidth of both. The
/// three 8xlarge are
/// labelled "10 Gigabit" and their card has 12.
#[test]
fn two_network_cards_are_not_counted_twice() {
    for (name, gbps) in [
        ("r6in.32xlarge", 200.0),
        ("r6in.metal", 200.0),
        ("r6idn.32xlarge", 200.0),
        ("r6idn.metal", 200.0),
        ("m6in.32xlarge", 200.0),
        ("c6in.metal", 200.0),
        ("i8ge.48xlarge", 300.0),
        ("i8ge.metal-48xl", 300.0),
        ("i7ie.48xlarge", 200.0),
        ("r8gb.48xlarge", 400.0),
        ("i3.8xlarge", 10.0),
    ] {
        let known = instance(name);
        assert_eq!((known.network_gbps, known.network_burst_gbps), (Some(gbps), Some(gbps)), "{name}");
    }
}

/// EC2 User Guide: 64,000 IOPS a volume on Nitro, 32,000 elsewhere.
#[test]
fn without_nitro_a_volume_does_32_000_iops() {
    let caps = |text: &str| facts().caps(&request(text), None).unwrap();
    let xen = caps("r4.16xlarge+io1:1280:64000");
    assert_eq!((xen.ebs[0].baseline.iops, xen.ebs[0].baseline.capped_by), (32_000.0, Side::Volumes));
    assert_eq!(xen.ebs[3].baseline.mib_per_s, 500.0, "and the throughput of 32,000");
    assert_eq!(xen.remarks[0], "io1 1280 GiB, 64000 IOPS: 32000 IOPS reachable: r4.16xlarge is not built on Nitro");
    let nitro = caps("r5b.24xlarge+io1:1280:64000");
    assert_eq!(nitro.ebs[0].baseline.iops, 64_000.0);
    assert!(nitro.remarks.is_empty(), "{:?}", nitro.remarks);
    let io2 = caps("r4.16xlarge+io2:1000:40000");
    assert_eq!(io2.ebs[0].baseline.iops, 32_000.0);
    // Two volumes are two limits; then the instance's path is the narrower one.
    let two = caps("r4.16xlarge+io1:1280:64000+io1:1280:64000");
    assert_eq!(two.ebs[0].baseline.iops, 64_000.0);
}

#[test]
fn more_volumes_than_an_instance_attaches_are_refused() {
    let with = |volumes: usize| request(&format!("m5.large{}", "+gp3:100".repeat(volumes)));
    // 27 with one network interface (EC2 DescribeInstanceTypes), and one of them is the root volume.
    assert!(facts().caps(&with(26), None).is_ok() && facts().cost(&with(26), &Basis::default()).is_ok());
    let expected =
        "m5.large attaches at most 27 EBS volumes, the root volume among them; 27 besides the root are asked for";
    for error in [
        facts().caps(&with(27), None).unwrap_err().to_string(),
        facts().cost(&with(27), &Basis::default()).unwrap_err().to_string(),
    ] {
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn cost_tells_of_iops_that_the_instance_cannot_reach() {
    let notes = |text: &str| facts().cost(&request(text), &Basis::default()).unwrap().notes;
    assert_eq!(
        notes("m5.large+io2:2000:70000*3"),
        [
            "m5.large: 4000 MiB/s bought, 77 reachable: the instance is the limit (566 MiB/s for at least 30 minutes \
             in 24 hours)",
            "m5.large: 70000 IOPS bought, 3600 reachable: the instance is the limit (18750 IOPS for at least 30 \
             minutes in 24 hours)",
        ]
    );
    assert!(notes("r5b.24xlarge+io2:2000:70000").is_empty());
}

#[test]
fn an_instance_without_disks_tells_what_is_known_of_it() {
    let caps = facts().caps(&request("m5.large"), None).unwrap();
    assert_eq!(caps.path.unwrap().baseline_iops, 3600.0);
    assert_eq!(caps.volume_slots.unwrap().most, 27);
    assert!(caps.remarks.iter().any(|r| r.ends_with("with one: m5.large+gp3:1000")), "{:?}", caps.remarks);
}

#[test]
fn families_of_today_are_there() {
    for (family, types) in [
        ("c5a", 8),
        ("c5n", 7),
        ("c6a", 11),
        ("c6in", 10),
        ("c7a", 12),
        ("m5n", 9),
        ("m6in", 10),
        ("m6idn", 10),
        ("m8a", 12),
        ("m8id", 13),
        ("r8a", 12),
        ("r8gn", 12),
        ("r8in", 13),
        ("x8i", 14),
        ("t3", 7),
        ("t4g", 7),
        ("c6gn", 8),
        ("c8a", 12),
        ("c9g", 11),
        ("m5dn", 9),
        ("m8gb", 12),
        ("m8idb", 13),
        ("m9gd", 11),
        ("r8ib", 13),
        ("r8idn", 13),
        ("r9g", 11),
        ("x8aedz", 8),
    ] {
        let of = facts().instances().iter().filter(|known| known.family() == family);
        assert_eq!(of.count(), types, "{family}");
    }
    let m8id = instance("m8id.24xlarge");
    assert_eq!((m8id.vcpus, m8id.memory_gib), (96, 384.0));
    assert_eq!(m8id.processor.as_deref(), Some("Intel Xeon Granite Rapids"));
    assert_eq!(m8id.local_disks.as_ref().unwrap().read_iops, Some(1_609_998.0));
    let r4 = instance("r4.4xlarge");
    assert_eq!((r4.processor.as_deref(), r4.clock_ghz), (Some("Intel Xeon E5-2686 v4 (Broadwell)"), Some(2.3)));
    let of_aws = facts().instances().iter().filter(|known| known.cloud() == Cloud::Aws);
    let mut without: Vec<&str> = of_aws.filter(|known| known.processor.is_none()).map(InstanceType::family).collect();
    without.dedup();
    assert_eq!(without, ["hi1", "t3a"]);
}

/// EC2 User Guide, "burstable performance instances": 40 % of t3.2xlarge's eight vCPUs last.
#[test]
fn cpu_credits_end() {
    assert!((instance("t3.2xlarge").lasting_vcpus() - 3.2).abs() < 1e-9);
    assert_eq!(instance("m5.2xlarge").lasting_vcpus(), 8.0);
    let burstable = facts().instances().iter().filter(|known| known.cpu_share.is_some());
    assert_eq!(burstable.count(), 25, "t3, t3a, t4g and t8i");
    let caps = facts().caps(&request("t4g.large+gp3:100"), None).unwrap();
    assert!(caps.remarks.iter().any(|r| r.contains("30 % of its 2 vCPUs last")), "{:?}", caps.remarks);
}

#[test]
fn names_have_no_capitals_that_matter() {
    assert_eq!(request("R4.4XLarge+GP2:1000").to_string(), "r4.4xlarge+gp2:1000GiB");
    // Size, then IOPS: a bare size is in GiB.
    let gp3 = request("m5.large+gp3:500:6000").volumes[0];
    assert_eq!((gp3.size_gib, gp3.iops, gp3.mib_per_s), (500.0, Some(6000.0), None));
    assert_eq!(facts().nearest_families("i3em")[0], "i3en");
    assert_eq!(facts().nearest_families("R44")[0], "r4");
    assert!(facts().nearest_families("nope").is_empty());
    for bad in ["2026-02-30", "2026-13", "20260101"] {
        let basis = Basis { price_date: Some(bad.to_owned()), ..Basis::default() };
        assert!(basis.check(facts()).is_err(), "{bad}");
    }
}
