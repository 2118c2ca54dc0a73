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

/// EC2 User Guide, "Amazon EBS-optimized instance types": r8g.4xlarge 20,000 IOPS and 625 MB/s at all times,
/// r7i.2xlarge 12,000. Google, Persistent Disk by machine type (gcpdiag): n2-standard-16 25,000 IOPS to pd-ssd, z3
/// of 88 vCPUs 100,000. Google, Hyperdisk Balanced: 3,000 IOPS are included. Azure, series pages: E32bds_v5 174,200
/// IOPS to Premium SSD v2, L16as_v4 30,400.
#[test]
fn eight_configurations_of_three_clouds_have_caps_and_a_price() {
    let month = 730.0;
    let premium_v2 = |gib: f64, iops: f64, mb_per_s: f64| {
        month * (gib * 0.00011 + (iops - 3_000.0) * 0.000_007 + (mb_per_s - 125.0) * 0.000_055)
    };
    let all = [
        Published {
            asked: "r8g.4xlarge+gp3:2000GiB:24000:1000",
            iops: 20_000.0,
            of: Side::Instance,
            // 0.08 a GiB, 0.005 an IOPS above 3,000, 0.04 a MiB/s above 125.
            usd: 0.942_56 * month + 2_000.0 * 0.08 + 21_000.0 * 0.005 + 875.0 * 0.04,
        },
        Published {
            asked: "r7i.2xlarge+io2:1000GiB:20000",
            iops: 12_000.0,
            of: Side::Instance,
            // 0.125 a GiB, 0.065 an IOPS up to 32,000.
            usd: 0.5292 * month + 1_000.0 * 0.125 + 20_000.0 * 0.065,
        },
        Published {
            asked: "gcp:n2-standard-16+pd-ssd:1000",
            iops: 25_000.0,
            of: Side::Instance,
            usd: 0.776_944 * month + 1_000.0 * 0.17,
        },
        Published {
            asked: "gcp:c4d-standard-16+hyperdisk-balanced:2000",
            iops: 3_000.0,
            of: Side::Volumes,
            usd: 0.755_964 * month + 2_000.0 * 0.08,
        },
        Published {
            asked: "gcp:z3-highmem-88-highlssd+pd-ssd:1500",
            // 6,000 and 30 a GiB.
            iops: 51_000.0,
            of: Side::Volumes,
            usd: 13.000_009 * month + 1_500.0 * 0.17,
        },
        Published {
            asked: "azure:Standard_E32bds_v5+premium-v2:2000:60000:1200",
            iops: 60_000.0,
            of: Side::Volumes,
            usd: 2.672 * month + premium_v2(2_000.0, 60_000.0, 1_200.0 * 1.048_576),
        },
        Published {
            asked: "azure:Standard_L16as_v4+premium-v2:1000:40000:500",
            iops: 30_400.0,
            of: Side::Instance,
            usd: 1.376 * month + premium_v2(1_000.0, 40_000.0, 500.0 * 1.048_576),
        },
        Published {
            asked: "i4i.2xlarge+gp3:500GiB",
            iops: 3_000.0,
            of: Side::Volumes,
            usd: 0.686 * month + 500.0 * 0.08,
        },
    ];
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

/// EC2 User Guide, "SSD I/O performance": i7ie.2xlarge 216,666 and 173,332. Azure, Lasv4: L16as_v4 1,100,000 and
/// 440,000.
#[test]
fn local_disks_of_two_clouds_have_caps_and_a_price() {
    let facts = Catalog::built_in();
    for (asked, reads, writes, usd_per_hour) in
        [("i7ie.2xlarge", 216_666.0, 173_332.0, 1.0396), ("azure:Standard_L16as_v4", 1_100_000.0, 440_000.0, 1.376)]
    {
        let request = ClusterRequest::parse(facts, asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
        let caps = facts.caps(&request, None).unwrap_or_else(|error| panic!("{asked}: {error}"));
        assert_eq!((caps.local[0].read_iops, caps.local[0].write_iops), (reads, writes), "{asked}, at 4 KiB");
        let cost = facts.cost(&request, &Basis::default()).unwrap_or_else(|error| panic!("{asked}: {error}"));
        assert!((cost.usd_per_month - usd_per_hour * 730.0).abs() < 0.01, "{asked}: {}", cost.usd_per_month);
    }
}
