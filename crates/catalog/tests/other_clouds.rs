//! Machines and volumes of Google Cloud and Azure: their caps, their money, and what is not known of them.

use catalog::{
    Basis, CapsError, Catalog, Cloud, ClusterRequest, CostError, Extras, InstanceType, NotAttached, Side, UserCatalog,
    VolumeType,
};

fn facts() -> &'static Catalog {
    Catalog::built_in()
}

fn cluster(text: &str) -> ClusterRequest {
    ClusterRequest::parse(facts(), text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn caps(text: &str) -> Result<catalog::Caps, CapsError> {
    facts().caps(&cluster(text), None)
}

fn not_attached(text: &str) -> NotAttached {
    match (caps(text), facts().cost(&cluster(text), &Basis::default())) {
        (Err(CapsError::NotAttached(one)), Err(CostError::NotAttached(other))) => {
            assert_eq!(one, other, "{text}");
            one
        }
        // What is sold has a price without limits.
        (Err(CapsError::NotAttached(one)), Ok(cost)) => {
            assert!(cost.notes.iter().any(|note| note.starts_with(&one.to_string())), "{text}: {:?}", cost.notes);
            one
        }
        other => panic!("{text}: {other:?}"),
    }
}

/// 75,000 IOPS and 1,200 MiB/s of the machine (Google's table), 12,000 and 400 bought.
#[test]
fn a_bought_volume_is_the_limit_below_the_machine() {
    let small = caps("gcp:c4d-standard-16+hyperdisk-balanced:2000:12000:400").unwrap();
    assert_eq!((small.ebs[0].baseline.iops, small.ebs[0].baseline.capped_by), (12_000.0, Side::Volumes));
    let large = caps("gcp:c4d-standard-16+hyperdisk-balanced:2000:100000:2000").unwrap();
    assert_eq!((large.ebs[0].baseline.iops, large.ebs[0].baseline.capped_by), (75_000.0, Side::Instance));
    assert!((large.ebs[3].baseline.mib_per_s - 1_200.0).abs() < 1e-6, "{:?}", large.ebs[3]);
    let beyond = "100000 IOPS bought, 75000 reachable: the instance is the limit";
    assert!(large.remarks.iter().any(|remark| remark == beyond), "{:?}", large.remarks);
}

/// gcpdiag: 6,000 IOPS and 30 a GiB, 240 MiB/s and 0.48 a GiB; n2-standard-16 lets 25,000 and 1,200 through.
#[test]
fn persistent_disks_do_what_their_size_says() {
    let small = caps("gcp:n2-standard-16+pd-ssd:500").unwrap();
    assert_eq!(small.ebs[0].baseline.iops, 21_000.0);
    assert!((small.ebs[3].baseline.mib_per_s - 480.0).abs() < 1e-6);
    let large = caps("gcp:n2-standard-16+pd-ssd:4000").unwrap();
    assert_eq!((large.ebs[0].baseline.iops, large.ebs[0].baseline.capped_by), (25_000.0, Side::Instance));
    let balanced = caps("gcp:n2-standard-16+pd-balanced:1000").unwrap();
    assert_eq!(balanced.ebs[0].baseline.iops, 9_000.0);
    let bought = caps("gcp:n2-standard-16+pd-ssd:500:30000").unwrap_err().to_string();
    assert!(bought.contains("follow from its size"), "{bought}");
}

/// Azure counts MB of 10^6 bytes: 125 MB/s are included.
#[test]
fn azures_megabytes_are_not_mebibytes() {
    let included = caps("azure:Standard_E16ds_v5+premium-v2:1000").unwrap();
    assert_eq!(included.ebs[0].baseline.iops, 3_000.0);
    assert!((included.volumes[0].baseline_mib_per_s * 1_048_576.0 - 125e6).abs() < 1.0);
    let ultra = caps("azure:Standard_E16bds_v5+ultra:1000:50000:500").unwrap();
    assert_eq!((ultra.ebs[0].baseline.iops, ultra.ebs[0].baseline.capped_by), (50_000.0, Side::Volumes));
    for (text, part) in [
        ("azure:Standard_E16ds_v5+ultra:1000", "sold by provisioned IOPS"),
        ("azure:Standard_E16ds_v5+ultra:1000:5000", "sold by provisioned throughput"),
        ("azure:Standard_E16ds_v5+premium-v2:1:9000", "at most 500 per GiB"),
    ] {
        let error = caps(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// Azure's own maximum of a Premium SSD v2 is 80,000 IOPS and 2,000 MB/s; 20 MB/s of an Ultra Disk cost 6.99 USD.
#[test]
fn azures_throughput_is_written_in_its_own_unit_and_a_bare_number_is_said_to_be_mib() {
    const MACHINE: &str = "azure:Standard_E96bds_v5";
    let of = |volume: &str| caps(&format!("{MACHINE}+{volume}"));
    for written in ["2000MB", "2000mb", "2000MB/s"] {
        let most = of(&format!("premium-v2:1000:80000:{written}")).unwrap();
        assert_eq!(most.volumes[0].label, "premium-v2 1000 GiB, 80000 IOPS, 1907.35 MiB/s (2000 MB/s)");
        assert!(!most.remarks.iter().any(|remark| remark.contains("taken as MiB/s")), "{:?}", most.remarks);
    }
    let error = of("premium-v2:1000:80000:2000").unwrap_err().to_string();
    for part in [
        "`mib_per_s` is 2000 (2097.15 MB/s): premium-v2 takes 125 to 2000 MB/s and at most 0.25 per provisioned IOPS, \
         2000 with 80000 IOPS",
        "expected 119.21 to 1907.34 MiB/s (125 to 2000 MB/s, written 2000MB)",
    ] {
        assert!(error.contains(part), "{error}");
    }
    let taken = "ultra: 2000 was taken as MiB/s, which are 2097.15 MB/s as Azure states them; Azure's 2000 MB/s are \
                 written 2000MB";
    let bare = of("ultra:1000:80000:2000+ultra:1000:80000:2000").unwrap();
    assert_eq!(bare.remarks.iter().filter(|remark| *remark == taken).count(), 1, "{:?}", bare.remarks);
    let cost = |volume: &str| facts().cost(&cluster(&format!("{MACHINE}+{volume}")), &Basis::default()).unwrap();
    let rate = |volume: &str| cost(volume).lines.last().unwrap().usd_per_month;
    let (stated, taken_for_mib) = (rate("ultra:1000:80000:2000MB"), rate("ultra:1000:80000:2000MiB"));
    assert!((stated - 699.0).abs() < 0.01 && (taken_for_mib - 732.95).abs() < 0.01, "{stated} {taken_for_mib}");
    assert!(cost("ultra:1000:80000:2000").notes.iter().any(|note| note == taken));
    // AWS and Google sell MiB/s.
    assert!(!caps("m5.large+gp3:500:4000:250").unwrap().remarks.iter().any(|remark| remark.contains("taken as")));
    let wrong = ClusterRequest::parse(facts(), &format!("{MACHINE}+ultra:1000:80000:2GB")).unwrap_err().to_string();
    assert!(wrong.contains("is no throughput; expected a number of MiB/s, or with a unit"), "{wrong}");
}

/// P30 is 1,024 GiB, 5,000 IOPS and 200 MB/s: what is larger is a P40.
#[test]
fn a_premium_ssd_does_what_the_step_of_its_size_does() {
    for (gib, iops, mb) in
        [(4.0, 120.0, 25.0), (1_024.0, 5_000.0, 200.0), (1_025.0, 7_500.0, 250.0), (32_767.0, 20_000.0, 900.0)]
    {
        let volume = caps(&format!("azure:Standard_E96ds_v5+premium:{gib}")).unwrap().volumes[0].clone();
        assert_eq!(volume.baseline_iops, iops, "{gib} GiB");
        assert!((volume.baseline_mib_per_s * 1_048_576.0 - mb * 1e6).abs() < 1.0, "{gib} GiB: {volume:?}");
    }
    assert_eq!(cluster("azure:Standard_E96ds_v5+premium:P30").volumes[0].size_gib, 1_024.0);
    assert!(caps("azure:Standard_E96ds_v5+premium:32768").is_err());
    assert!(caps("azure:Standard_E96ds_v5+premium:512:5000").is_err(), "its IOPS are not bought");
    let eight = caps("azure:Standard_E4bds_v5+premium:16000+premium:16000").unwrap();
    assert_eq!((eight.ebs[0].baseline.iops, eight.ebs[0].baseline.capped_by), (16_000.0, Side::Instance));
}

/// gcpdiag, "N1", "N2D", "E2", "C3D", "T2A" and "M3 VMs"; Google's limits of Hyperdisk Balanced; Azure's pages of the
/// series, uncached: Premium SSD apart from Premium SSD v2 and Ultra Disk where they differ.
#[test]
fn pairs_that_a_stranger_writes_have_the_limits_of_their_pages() {
    for (asked, iops, mb) in [
        ("gcp:n2d-standard-16+pd-balanced:10000", 20_000.0, 1_200.0 * 1.048_576),
        ("gcp:n2d-highmem-32+pd-ssd:10000", 60_000.0, 1_200.0 * 1.048_576),
        ("gcp:e2-standard-8+pd-ssd:10000", 15_000.0, 800.0 * 1.048_576),
        ("gcp:e2-standard-16+pd-ssd:10000", 25_000.0, 1_000.0 * 1.048_576),
        ("gcp:c3d-standard-8+pd-balanced:10000", 25_000.0, 800.0 * 1.048_576),
        ("azure:Standard_D16s_v5+premium-v2:10000:80000:1200", 25_600.0, 600.0),
        ("azure:Standard_D8ds_v5+ultra:1000:80000:1200", 12_800.0, 290.0),
        ("azure:Standard_E20s_v5+premium-v2:10000:80000:1200", 32_000.0, 750.0),
        ("azure:Standard_E4s_v6+premium:32000", 6_400.0, 212.0),
        ("gcp:c3-standard-8+hyperdisk-balanced:2000:80000:1200", 50_000.0, 800.0 * 1.048_576),
        (
            "gcp:c4-standard-288+hyperdisk-balanced:2000:160000:2400+hyperdisk-balanced:2000:160000:2400\
             +hyperdisk-balanced:2000:160000:2400",
            320_000.0,
            12_500.0 * 1.048_576,
        ),
        ("azure:Standard_D16s_v6+premium:32000+premium:32000", 25_600.0, 848.0),
        ("azure:Standard_D16s_v6+premium-v2:2000:80000:1200", 33_333.0, 992.0),
        ("azure:Standard_D16as_v6+premium-v2:2000:80000:1200", 30_400.0, 720.0),
        ("azure:Standard_E16ds_v6+ultra:2000:80000:1200", 33_333.0, 992.0),
        ("azure:Standard_E16as_v7+premium-v2:2000:80000:1200", 35_200.0, 1_095.0),
        ("azure:Standard_L16s_v4+premium-v2:2000:80000:1200", 33_333.0, 992.0),
        ("azure:Standard_L16s_v3+premium-v2:2000:80000:1200", 25_600.0, 600.0),
        ("azure:Standard_L16as_v3+premium:32000+premium:32000", 25_600.0, 384.0),
        ("azure:Standard_E16as_v5+premium:32000+premium:32000", 25_600.0, 384.0),
        ("azure:Standard_L16aos_v4+premium-v2:2000:80000:1500", 35_200.0, 1_200.0),
        ("azure:Standard_E16bs_v5+premium:32000+premium:32000+premium:32000+premium:32000", 66_000.0, 1_800.0),
        ("azure:Standard_E16ps_v6+premium-v2:2000:80000:1200", 33_331.0, 992.0),
        ("gcp:n4-highmem-32+hyperdisk-balanced:2000:160000:2400", 100_000.0, 1_600.0 * 1.048_576),
        ("gcp:n4-highcpu-4+hyperdisk-balanced:500:40000:480", 30_000.0, 240.0 * 1.048_576),
        ("gcp:n1-standard-8+pd-ssd:10000", 15_000.0, 800.0 * 1.048_576),
        ("gcp:t2a-standard-32+pd-balanced:20000", 60_000.0, 1_200.0 * 1.048_576),
        ("gcp:m3-ultramem-64+pd-ssd:10000", 40_000.0, 1_200.0 * 1.048_576),
        ("azure:Standard_D16ads_v5+premium-v2:2000:80000:1200", 25_600.0, 384.0),
        ("azure:Standard_L16aos_v5+premium:32000+premium:32000", 35_200.0, 1_200.0),
        ("azure:Standard_F8as_v6+premium-v2:2000:80000:1200", 30_400.0, 360.0),
        ("azure:Standard_E16bds_v6+premium-v2:2000:80000:1200+premium-v2:2000:80000:1200", 97_240.0, 2_530.0),
        (
            "azure:Standard_D96pds_v6+premium-v2:2000:80000:1200+premium-v2:2000:80000:1200+premium-v2:2000:80000:1200",
            199_987.0,
            5_850.0,
        ),
    ] {
        let caps = caps(asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
        let path = caps.path.unwrap();
        assert_eq!((path.baseline_iops, caps.ebs[0].baseline.capped_by), (iops, Side::Instance), "{asked}");
        assert!((path.baseline_mb_per_s - mb).abs() < 1e-3, "{asked}: {path:?}");
    }
}

/// Bytes cost IOPS: at most 256 KiB for each, and at least 4 KiB (max(140, IOPS / 256) MiB/s).
#[test]
fn hyperdisk_buys_bytes_and_requests_together() {
    let least = caps("gcp:c4d-standard-32+hyperdisk-balanced:1000:80000").unwrap();
    assert_eq!(least.volumes[0].baseline_mib_per_s, 312.5);
    let too_few = caps("gcp:c4d-standard-32+hyperdisk-balanced:1000:80000:200").unwrap_err().to_string();
    assert!(too_few.contains("312.5 to 2400 MiB/s"), "{too_few}");
}

#[test]
fn what_no_source_allows_is_refused_with_what_is_known() {
    assert_eq!(
        not_attached("gcp:n2-standard-16+hyperdisk-balanced:2000:12000:400").to_string(),
        "no limits of hyperdisk-balanced volumes on gcp:n2-standard-16 are known: Google offers them there through its \
         account teams alone, and no source states what they get; known there: pd-balanced, pd-ssd; nearest machine \
         type that takes hyperdisk-balanced: gcp:n4-standard-16"
    );
    for (asked, part) in [
        ("gcp:c3-highmem-22+hyperdisk-balanced:500", "were not found; known there: pd-balanced, pd-ssd; nearest"),
        ("gcp:c4d-standard-16+pd-ssd:500", "are known: C4D takes no Persistent Disk; known there: hyperdisk-balanced"),
        (
            "gcp:n4-standard-16+pd-balanced:500",
            "are known: N4 takes no Persistent Disk; known there: hyperdisk-balanced",
        ),
        ("gcp:t2d-standard-16+hyperdisk-balanced:500", "are known: Google offers none there; known there: pd-balanced"),
        ("gcp:n1-highmem-16+hyperdisk-balanced:500", "Google offers them there through its account teams alone"),
    ] {
        let error = not_attached(asked).to_string();
        assert!(error.contains(part), "{asked}: {error}");
    }
    // What no source says anything of: a machine type of the user's own.
    let own = InstanceType {
        name: "gcp:x9-standard-16".to_owned(),
        ..facts().instance("gcp:n2-standard-16").unwrap().clone()
    };
    let error = own.with_volumes(&[VolumeType::HyperdiskBalanced]).unwrap_err().to_string();
    assert!(error.contains("gcp:x9-standard-16 are known; known there"), "{error}");
    let other = not_attached("r4.4xlarge+pd-ssd:500").to_string();
    assert_eq!(other, "pd-ssd is a volume of Google Cloud, and r4.4xlarge a machine type of AWS");
    assert!(matches!(not_attached("azure:Standard_E16ds_v5+gp3:500"), NotAttached::OtherCloud { .. }));
    assert!(matches!(not_attached("gcp:n2-standard-16+pd-ssd:500+pd-balanced:500"), NotAttached::Mixed { .. }));
    assert!(matches!(not_attached("azure:Standard_E16bds_v5+premium:512+ultra:512:900:9"), NotAttached::Mixed { .. }));
    assert!(matches!(not_attached("gcp:n2-standard-16+pd-ssd:500+pd-ssd:500"), NotAttached::SharesBase { .. }));
    let two = caps("azure:Standard_E16bds_v5+premium-v2:1000+premium-v2:1000").unwrap();
    assert_eq!(two.ebs[0].baseline.iops, 6_000.0, "of volumes without a shared part all count");
}

/// 0.776944 USD an hour (us-central1) x 730, and 500 GiB at 0.17.
#[test]
fn money_is_that_of_the_clouds_own_region() {
    let cost = facts().cost(&cluster("gcp:n2-standard-16+pd-ssd:500*3"), &Basis::default()).unwrap();
    let expected = 3.0 * (0.776_944 * 730.0 + 500.0 * 0.17);
    assert!((cost.usd_per_month - expected).abs() < 0.01, "{} is not {expected}", cost.usd_per_month);
    assert!(cost.notes.iter().any(|note| note.contains("us-central1, not of us-east-1")), "{:?}", cost.notes);
    // infracost: 2,048 GiB 245.19, 4,000 IOPS 198.56, 20 MB/s 6.99 USD a month.
    let ultra = "azure:Standard_E16bds_v5+ultra:2048:4000:19.073486328125";
    let cost = facts().cost(&cluster(ultra), &Basis::default()).unwrap();
    let expected = 1.336 * 730.0 + 245.19 + 198.56 + 6.99;
    assert!((cost.usd_per_month - expected).abs() < 0.01, "{} is not {expected}", cost.usd_per_month);
    // By the hour: 0.00011 a GiB, 0.000007 an IOPS above 3,000, 0.000055 a MB/s above 125.
    let premium = "azure:Standard_E16ds_v5+premium-v2:1000:4000:190.73486328125";
    let cost = facts().cost(&cluster(premium), &Basis::default()).unwrap();
    let expected = 730.0 * (1.152 + 1_000.0 * 0.00011 + 1_000.0 * 0.000007 + 75.0 * 0.000055);
    assert!((cost.usd_per_month - expected).abs() < 0.01, "{} is not {expected}", cost.usd_per_month);
}

/// Google's page: 0.08 USD a GiB, 0.005 an IOPS above 3,000 and 0.04 a MiB/s above 140, of which 80,000 IOPS ask for
/// 312.5.
#[test]
fn a_hyperdisk_costs_what_it_is_given_and_what_its_requests_ask_for() {
    let of = |volume: &str| {
        let request = cluster(&format!("gcp:c4d-standard-32+hyperdisk-balanced:{volume}"));
        facts().cost(&request, &Basis::default()).unwrap().usd_per_month - 1.511_927 * 730.0
    };
    for (volume, expected) in [
        ("2000", 160.0),
        ("2000:12000:400", 160.0 + 9_000.0 * 0.005 + 260.0 * 0.04),
        ("1000:80000", 80.0 + 77_000.0 * 0.005 + 172.5 * 0.04),
    ] {
        assert!((of(volume) - expected).abs() < 0.01, "{volume}: {} is not {expected}", of(volume));
    }
}

/// Azure's Retail Prices API: P10 19.71 USD a month, P30 135.17, P40 259.0457, whatever is used of its size.
#[test]
fn a_premium_ssd_costs_what_the_step_of_its_size_does() {
    let of = |volumes: &str, basis: &Basis| {
        let cost = facts().cost(&cluster(&format!("azure:Standard_E16ds_v5{volumes}")), basis).unwrap();
        cost.usd_per_month - 1.152 * 730.0
    };
    let free = Basis { free_gb: 100.0, ..Basis::default() };
    for (volumes, expected) in [
        ("+premium:100", 19.71),
        ("+premium:128", 19.71),
        ("+premium:1024", 135.17),
        ("+premium:1025", 259.0457),
        ("+premium:1024+premium:1024", 2.0 * 135.17),
    ] {
        for basis in [&Basis::default(), &free] {
            let usd = of(volumes, basis);
            assert!((usd - expected).abs() < 0.01, "{volumes}: {usd} is not {expected}: free GB are of no whole disk");
        }
    }
}

#[test]
fn a_price_that_nobody_stated_is_no_price() {
    let mut own = facts().clone();
    let text = "region = \"westeurope\"\nprice_date = \"2026-11-01\"\n\
                [[instance]]\nname = \"azure:Standard_E16ds_v5\"\nusd_per_hour = 1.4\n";
    own.add(&UserCatalog::parse("own.toml", text).unwrap()).unwrap();
    let elsewhere = Basis { region: "westeurope".to_owned(), ..Basis::default() };
    let error = own.cost(&cluster("azure:Standard_E16ds_v5+premium:1000"), &elsewhere).unwrap_err().to_string();
    assert!(error.contains("price of premium volumes in westeurope"), "{error}");
    let request = cluster("gcp:c4d-standard-16+hyperdisk-balanced:2000");
    let extras = Extras { snapshot_gb: 100.0, ..Extras::default() };
    let snapshots = facts().total_cost_with(&[request], extras, &Basis::default()).unwrap_err().to_string();
    assert!(snapshots.contains("snapshots, on Google Cloud"), "{snapshots}");
}

/// What only Google's page has, in a file of one's own: the price stays the catalog's.
#[test]
fn a_machine_without_known_limits_is_refused_until_a_file_states_them() {
    let asked = "gcp:c4a-standard-16+hyperdisk-balanced:2000:12000:400";
    let refused = not_attached(asked).to_string();
    assert_eq!(
        refused,
        "no limits of hyperdisk-balanced volumes on gcp:c4a-standard-16 are known: Google offers them there, but its \
         limits of this machine type were not found; nearest machine type that takes hyperdisk-balanced: \
         gcp:n4-standard-16; a catalog file of its own states what Google's page has (MB/s are its MiB/s times \
         1.048576): `instance = [{ name = \"gcp:c4a-standard-16\", ebs = { baseline_iops = IOPS, \
         baseline_mb_per_s = MB_PER_S } }]`"
    );
    // The line is one of such a file, as soon as it has figures.
    let line = refused.split('`').nth(1).unwrap().replace("MB_PER_S", "300").replace("= IOPS", "= 10000");
    let mut own = facts().clone();
    own.add(&UserCatalog::parse("own.toml", &line).unwrap()).unwrap();
    let request = ClusterRequest::parse(&own, asked).unwrap();
    let lasting = own.caps(&request, None).unwrap().ebs[0].baseline;
    assert_eq!((lasting.iops, lasting.capped_by), (10_000.0, Side::Instance));
    let usd = own.cost(&request, &Basis::default()).unwrap().usd_per_month;
    let of_tables = facts().cost(&request, &Basis::default()).unwrap();
    assert_eq!(of_tables.usd_per_month, usd, "the limits do not change the price");
    let expected = 0.7184 * 730.0 + 2_000.0 * 0.08 + 9_000.0 * 0.005 + 260.0 * 0.04;
    assert!((usd - expected).abs() < 0.01, "{usd} is not {expected}");
}

#[test]
fn types_have_a_price_with_its_day_and_a_path_or_a_reason_for_none() {
    let others: Vec<_> = facts().instances().iter().filter(|known| known.cloud() != Cloud::Aws).collect();
    assert_eq!(others.len(), 833);
    let mut unpriced = Vec::new();
    for known in others {
        let name = &known.name;
        assert!(known.ebs.is_none(), "{name}");
        if known.paths.is_empty() {
            let why = known.with_volumes(&[VolumeType::HyperdiskBalanced]).unwrap_err().to_string();
            assert!(
                why.contains("were not found;") && why.contains("a catalog file of its own states"),
                "{name}: {why}"
            );
        }
        for path in &known.paths {
            assert!(path.caps.baseline_iops >= 1_000.0 && path.caps.baseline_mb_per_s >= 50.0, "{name}: {path:?}");
            assert!(path.kinds.iter().all(|kind| kind.cloud() == known.cloud()), "{name}: {path:?}");
        }
        let Some(price) = facts().price_history(name).first() else {
            unpriced.push(name.as_str());
            continue;
        };
        assert_eq!(price.region, known.cloud().region("us-east-1"), "{name}");
        assert_eq!(known.price_date.as_deref(), Some(price.date.as_str()), "{name}");
    }
    // Those whose price was found with Windows, and those that came later than the file of prices.
    let (storage, mixed): (Vec<&str>, Vec<&str>) = unpriced.into_iter().partition(|name| name.contains("_L"));
    assert!(mixed.len() == 18 && mixed.iter().all(|name| name.ends_with("s_v5")), "{mixed:?}");
    assert!(storage.len() == 21 && storage.iter().all(|name| name.ends_with("s_v5")), "{storage:?}");
    let refused = facts().cost(&cluster("azure:Standard_E32as_v5"), &Basis::default()).unwrap_err().to_string();
    assert!(refused.contains("price of azure:Standard_E32as_v5 in eastus"), "{refused}");
}

#[test]
fn a_family_is_what_stands_before_the_size() {
    for (name, family) in [
        ("gcp:n2-standard-16", "gcp:n2-standard"),
        ("gcp:c3-highmem-22", "gcp:c3-highmem"),
        ("gcp:z3-highmem-88-highlssd", "gcp:z3-highmem"),
        ("gcp:n2d-standard-224", "gcp:n2d-standard"),
        ("azure:Standard_E16ds_v5", "azure:Standard_E"),
        ("azure:Standard_D16s_v5", "azure:Standard_D"),
    ] {
        assert_eq!(facts().instance(name).unwrap().family(), family);
    }
}
