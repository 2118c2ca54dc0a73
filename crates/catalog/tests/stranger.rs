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
