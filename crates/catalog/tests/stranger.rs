//! Configurations that somebody asks about this year, on three clouds: each is priced and capped. Expected figures are
//! those of published tables, which the heads of the data files name, and not what the program printed.

use catalog::{Basis, Catalog, ClusterRequest, Side};

/// What a table says of a configuration.
struct Published {
    asked: &'static str,
    /// Requests of 16 KiB a second that last, and whose limit that is.
    iops: f64,
    of: Side,
    /// USD a month of 730 hours, on demand.
    usd: f64,
}

/// Hours of a month.
const MONTH: f64 = 730.0;

/// USD a month of a Premium SSD v2, which Azure sells by the hour and by MB/s (10^6 bytes).
fn premium_v2(gib: f64, iops: f64, mib_per_s: f64) -> f64 {
    MONTH * (gib * 0.00011 + (iops - 3_000.0) * 0.000_007 + (mib_per_s * 1.048_576 - 125.0) * 0.000_055)
}

fn each_is_capped_and_priced(all: impl IntoIterator<Item = Published>) {
    let facts = Catalog::built_in();
    for Published { asked, iops, of, usd } in all {
        let request = ClusterRequest::parse(facts, asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
        let caps = facts.caps(&request, None).unwrap_or_else(|error| panic!("{asked}: {error}"));
        // At 16 KiB, where every cloud states its IOPS.
        let lasting = &caps.ebs[1].baseline;
        assert_eq!((lasting.iops.round(), lasting.capped_by), (iops, of), "{asked}");
        let cost = facts.cost(&request, &Basis::default()).unwrap_or_else(|error| panic!("{asked}: {error}"));
        assert!((cost.usd_per_month - usd).abs() < 0.01, "{asked}: {} is not {usd}", cost.usd_per_month);
    }
}

/// EC2 User Guide, "Amazon EBS-optimized instance types": r8g.4xlarge 20,000 IOPS and 625 MB/s at all times,
/// r7i.2xlarge 12,000. Google, Persistent Disk by machine type (gcpdiag): n2-standard-16 25,000 IOPS to pd-ssd, z3
/// of 88 vCPUs 100,000. Google, Hyperdisk Balanced: 3,000 IOPS are included. Azure, series pages: E32bds_v5 174,200
/// IOPS to Premium SSD v2, L16as_v4 30,400.
#[test]
fn eight_configurations_of_three_clouds_have_caps_and_a_price() {
    each_is_capped_and_priced([
        Published {
            asked: "r8g.4xlarge+gp3:2000GiB:24000:1000",
            iops: 20_000.0,
            of: Side::Instance,
            // 0.08 a GiB, 0.005 an IOPS above 3,000, 0.04 a MiB/s above 125.
            usd: 0.942_56 * MONTH + 2_000.0 * 0.08 + 21_000.0 * 0.005 + 875.0 * 0.04,
        },
        Published {
            asked: "r7i.2xlarge+io2:1000GiB:20000",
            iops: 12_000.0,
            of: Side::Instance,
            // 0.125 a GiB, 0.065 an IOPS up to 32,000.
            usd: 0.5292 * MONTH + 1_000.0 * 0.125 + 20_000.0 * 0.065,
        },
        Published {
            asked: "gcp:n2-standard-16+pd-ssd:1000",
            iops: 25_000.0,
            of: Side::Instance,
            usd: 0.776_944 * MONTH + 1_000.0 * 0.17,
        },
        Published {
            asked: "gcp:c4d-standard-16+hyperdisk-balanced:2000",
            iops: 3_000.0,
            of: Side::Volumes,
            usd: 0.755_964 * MONTH + 2_000.0 * 0.08,
        },
        Published {
            asked: "gcp:z3-highmem-88-highlssd+pd-ssd:1500",
            // 6,000 and 30 a GiB.
            iops: 51_000.0,
            of: Side::Volumes,
            usd: 13.000_009 * MONTH + 1_500.0 * 0.17,
        },
        Published {
            asked: "azure:Standard_E32bds_v5+premium-v2:2000:60000:1200",
            iops: 60_000.0,
            of: Side::Volumes,
            usd: 2.672 * MONTH + premium_v2(2_000.0, 60_000.0, 1_200.0),
        },
        Published {
            asked: "azure:Standard_L16as_v4+premium-v2:1000:40000:500",
            iops: 30_400.0,
            of: Side::Instance,
            usd: 1.376 * MONTH + premium_v2(1_000.0, 40_000.0, 500.0),
        },
        Published {
            asked: "i4i.2xlarge+gp3:500GiB",
            iops: 3_000.0,
            of: Side::Volumes,
            usd: 0.686 * MONTH + 500.0 * 0.08,
        },
    ]);
}

/// Of this year: a gp3 of 80,000 IOPS on r8g.24xlarge (120,000), Azure's sixth generation (D16s_v6 and E16ds_v6 33,333
/// IOPS to Premium SSD v2 and Ultra Disk; L16s_v4 25,600 to Premium SSD, of which a P30 does 5,000), and a Hyperdisk
/// that is given more than what is included.
#[test]
fn five_configurations_of_this_year_have_caps_and_a_price() {
    each_is_capped_and_priced([
        Published {
            asked: "r8g.24xlarge+gp3:1000GiB:80000:2000",
            iops: 80_000.0,
            of: Side::Volumes,
            usd: 5.65536 * MONTH + 1_000.0 * 0.08 + 77_000.0 * 0.005 + 1_875.0 * 0.04,
        },
        Published {
            asked: "azure:Standard_D16s_v6+premium-v2:2000:30000:500",
            iops: 30_000.0,
            of: Side::Volumes,
            usd: 0.806 * MONTH + premium_v2(2_000.0, 30_000.0, 500.0),
        },
        Published {
            asked: "azure:Standard_E16ds_v6+ultra:1000:40000:700",
            iops: 33_333.0,
            of: Side::Instance,
            // 2,048 GiB 245.19, 4,000 IOPS 198.56, 20 MB/s 6.99.
            usd: 1.308 * MONTH
                + 1_000.0 / 2_048.0 * 245.19
                + 40_000.0 / 4_000.0 * 198.56
                + 700.0 * 1.048_576 / 20.0 * 6.99,
        },
        Published {
            asked: "azure:Standard_L16s_v4+premium:1024",
            iops: 5_000.0,
            of: Side::Volumes,
            usd: 1.392 * MONTH + 135.17,
        },
        Published {
            asked: "gcp:c4d-standard-16+hyperdisk-balanced:2000:12000:400",
            iops: 12_000.0,
            of: Side::Volumes,
            usd: 0.755_964 * MONTH + 2_000.0 * 0.08 + 9_000.0 * 0.005 + 260.0 * 0.04,
        },
    ]);
}

/// What an earlier stranger was refused. Google, Hyperdisk Balanced by machine type: n4 of 8 vCPUs 30,000 IOPS, c4 of
/// 16 100,000; Hyperdisk Extreme: c4 of 288 vCPUs 500,000; Persistent Disk by machine type (gcpdiag): t2d of 16 vCPUs
/// 25,000. Azure, series pages: D16s_v7 40,000 IOPS to Premium SSD v2, E32bs_v6 191,620 to Ultra Disk, F16ams_v7
/// 70,400 to Premium SSD v2.
#[test]
fn eight_more_of_this_year_have_caps_and_a_price() {
    each_is_capped_and_priced([
        Published {
            asked: "gcp:n4-standard-8+hyperdisk-balanced:1000:20000:480",
            iops: 20_000.0,
            of: Side::Volumes,
            usd: 0.3628 * MONTH + 1_000.0 * 0.08 + 17_000.0 * 0.005 + 340.0 * 0.04,
        },
        Published {
            asked: "gcp:c4-highmem-16+hyperdisk-balanced:2000:120000:1800",
            iops: 100_000.0,
            of: Side::Instance,
            usd: 1.042_712 * MONTH + 2_000.0 * 0.08 + 117_000.0 * 0.005 + 1_660.0 * 0.04,
        },
        Published {
            asked: "gcp:c4-standard-288+hyperdisk-extreme:1000:350000+hyperdisk-extreme:1000:200000",
            iops: 500_000.0,
            of: Side::Instance,
            usd: 14.232_24 * MONTH + 2_000.0 * 0.125 + 550_000.0 * 0.032,
        },
        Published {
            asked: "gcp:t2d-standard-16+pd-ssd:1000",
            iops: 25_000.0,
            of: Side::Instance,
            usd: 0.675_936 * MONTH + 1_000.0 * 0.17,
        },
        Published {
            asked: "gcp:c3-highcpu-22+pd-balanced:1000",
            // 3,000 and 6 a GiB.
            iops: 9_000.0,
            of: Side::Volumes,
            usd: 0.935_572 * MONTH + 1_000.0 * 0.1,
        },
        Published {
            asked: "azure:Standard_D16s_v7+premium-v2:2000:45000:900",
            iops: 40_000.0,
            of: Side::Instance,
            usd: 1.058 * MONTH + premium_v2(2_000.0, 45_000.0, 900.0),
        },
        Published {
            asked: "azure:Standard_E32bs_v6+ultra:1000:100000:2000",
            iops: 100_000.0,
            of: Side::Volumes,
            usd: 2.79 * MONTH
                + 1_000.0 / 2_048.0 * 245.19
                + 100_000.0 / 4_000.0 * 198.56
                + 2_000.0 * 1.048_576 / 20.0 * 6.99,
        },
        Published {
            asked: "azure:Standard_F16ams_v7+premium-v2:1000:60000:1000",
            iops: 60_000.0,
            of: Side::Volumes,
            usd: 1.432 * MONTH + premium_v2(1_000.0, 60_000.0, 1_000.0),
        },
    ]);
}

/// Azure, Lasv5 and Laosv5 (2026-08-18), of which no price was found: their disks are capped, the money waits for one.
#[test]
fn storage_machines_without_a_known_price_have_caps() {
    let facts = Catalog::built_in();
    for (asked, reads, writes) in
        [("azure:Standard_L16as_v5", 1_200_000.0, 600_000.0), ("azure:Standard_L16aos_v5", 1_725_000.0, 862_500.0)]
    {
        let request = ClusterRequest::parse(facts, asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
        let local = facts.caps(&request, None).unwrap_or_else(|error| panic!("{asked}: {error}")).local;
        assert_eq!((local[0].read_iops, local[0].write_iops), (Some(reads), Some(writes)), "{asked}, at 4 KiB");
        let refused = facts.cost(&request, &Basis::default()).unwrap_err().to_string();
        assert!(refused.contains(&format!("--stated-price {asked}=USD_PER_HOUR")), "{refused}");
        let stated = Basis { stated_usd_per_hour: [(asked.to_owned(), 2.0)].into(), ..Basis::default() };
        let usd = facts.cost(&request, &stated).unwrap().usd_per_month;
        assert!((usd - 2.0 * MONTH).abs() < 0.01, "{asked}: {usd}");
    }
}

/// EC2 User Guide, "SSD I/O performance": i7ie.2xlarge 216,666 and 173,332, i8g.4xlarge 600,000 and 330,000. Azure,
/// Lasv4 and Lsv4: L16as_v4 and L16s_v4 1,100,000 and 440,000.
#[test]
fn local_disks_of_two_clouds_have_caps_and_a_price() {
    let facts = Catalog::built_in();
    for (asked, reads, writes, usd_per_hour) in [
        ("i7ie.2xlarge", 216_666.0, 173_332.0, 1.0396),
        ("i8g.4xlarge", 600_000.0, 330_000.0, 1.3728),
        ("azure:Standard_L16as_v4", 1_100_000.0, 440_000.0, 1.376),
        ("azure:Standard_L16s_v4", 1_100_000.0, 440_000.0, 1.392),
        // 800,000 of 4 KiB and 4,000 MB/s, for which the page names no direction.
        ("azure:Standard_L16s_v3", 800_000.0, 800_000.0, 1.392),
        ("azure:Standard_L16aos_v4", 1_440_000.0, 576_000.0, 1.808),
    ] {
        let request = ClusterRequest::parse(facts, asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
        let caps = facts.caps(&request, None).unwrap_or_else(|error| panic!("{asked}: {error}"));
        assert_eq!(
            (caps.local[0].read_iops, caps.local[0].write_iops),
            (Some(reads), Some(writes)),
            "{asked}, at 4 KiB"
        );
        let cost = facts.cost(&request, &Basis::default()).unwrap_or_else(|error| panic!("{asked}: {error}"));
        assert!((cost.usd_per_month - usd_per_hour * 730.0).abs() < 0.01, "{asked}: {}", cost.usd_per_month);
    }
}
