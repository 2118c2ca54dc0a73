//! The catalog at the command line: what is known, what is not, and of what a figure is.

use crate::support::Laboratory;
use serde_json::Value;

fn json(lab: &Laboratory, arguments: &[&str]) -> Value {
    lab.exits(0, &[&["--format", "json", "catalog"], arguments].concat()).json()
}

/// They were 67,083 MiB/s of one disk, by IOPS at 4 KiB times 256 KiB.
#[test]
fn bytes_of_local_disks_that_nobody_knows_are_unknown_and_not_reckoned_from_iops() {
    let lab = Laboratory::new();
    let at_256 = |name: &str| json(&lab, &["caps", name])["local"][3].clone();
    assert!(at_256("m8gd.4xlarge")["read_mib_per_s"].is_null() && at_256("m8gd.4xlarge")["read_iops"].is_null());
    assert!(at_256("i7ie.2xlarge")["read_mib_per_s"].is_f64());
    let shown = |verb: &str| lab.exits(0, &["catalog", verb, "m8gd.4xlarge"]).stdout;
    let caps = shown("caps");
    assert!(caps.contains("unknown") && caps.contains("note: the MB/s of its local disks are not known"), "{caps}");
    assert!(shown("show").contains("of 4 KiB per second (documented), MB/s unknown"));
}

/// A machine price of June beside a volume price of September was "of September".
#[test]
fn a_bill_says_the_days_of_all_its_prices_and_whose_region_only_of_those_that_it_knows() {
    let lab = Laboratory::new();
    let bill = |asked: &str| lab.exits(0, &["catalog", "cost", asked]).stdout;
    let aws = bill("m6i.4xlarge+gp3:500");
    let lines = json(&lab, &["cost", "m6i.4xlarge+gp3:500"])["lines"].clone();
    let mut days: Vec<&str> = lines.as_array().unwrap().iter().filter_map(|l| l["price_date"].as_str()).collect();
    days.sort_unstable();
    let (oldest, newest) = (days[0], days[days.len() - 1]);
    assert!(oldest < newest && aws.contains(&format!("prices of {oldest} to {newest}")), "{aws}");
    let of_tables = bill("gcp:n2-standard-16");
    assert!(of_tables.contains("prices of Google Cloud are those of us-central1"), "{of_tables}");
    std::fs::create_dir(lab.path().join("catalog")).unwrap();
    let own = "region = \"us-east-1\"\nprice_date = \"2026-11-01\"\nsource = \"offer 12\"\n\
               [[instance]]\nname = \"gcp:n2-standard-16\"\nusd_per_hour = 0.5\n";
    lab.write("catalog/own.toml", own);
    let stated = bill("gcp:n2-standard-16");
    assert!(stated.contains("365.00") && !stated.contains("us-central1"), "{stated}");
}

/// 130,000 IOPS and 3,700 MB/s by NVMe, 96,800 and 2,740 by SCSI at the same price.
#[test]
fn what_is_shown_of_a_machine_says_what_it_is_of() {
    let lab = Laboratory::new();
    let shown = |arguments: &[&str]| lab.exits(0, &[&["catalog"], arguments].concat()).stdout;
    let nvme = "limits with the NVMe disk controller; with SCSI";
    assert!(shown(&["show", "azure:Standard_E32bds_v5"]).contains(nvme));
    assert!(shown(&["caps", "azure:Standard_E32bds_v5+premium-v2:1000"]).contains(nvme));
    assert!(!shown(&["show", "azure:Standard_E32ds_v5"]).contains(nvme));
    for name in ["azure:Standard_D16ds_v6", "azure:Standard_E16ds_v5"] {
        assert!(shown(&["show", name]).contains("local disks: it has some, which the catalog leaves out"), "{name}");
    }
    for name in ["azure:Standard_D16s_v6", "gcp:n2-standard-16", "r4.4xlarge"] {
        assert!(shown(&["show", name]).contains("local disks: none"), "{name}");
    }
    let nodes = shown(&["caps", "r6i.4xlarge+gp3:500+gp3:500*4"]);
    assert!(nodes.contains("each of 4 nodes") && nodes.matches("rules of ").count() == 1, "{nodes}");
    let other = shown(&["caps", "azure:Standard_D16s_v6+premium-v2:1000"]);
    assert!(other.contains("bursts are not in the catalog") && !other.contains("burst IOPS"), "{other}");
    // Sold, with a price, and nobody knows what it lets through.
    let sold = "gcp:c4a-standard-16+hyperdisk-balanced:2000:12000:400";
    assert!(shown(&["cost", sold]).contains("the price does not need them"));
    lab.exits(2, &["catalog", "caps", sold]);
}

/// It was us-east-1 for all, and `caps` sent a reader to `show`, which knew nothing either.
#[test]
fn the_basis_has_the_regions_of_its_prices_and_caps_says_at_once_what_is_known_of_paths() {
    let lab = Laboratory::new();
    let shown = |arguments: &[&str]| lab.exits(0, &[&["catalog"], arguments].concat()).stdout;
    let basis = |arguments: &[&str]| {
        let bill = shown(&[&["cost"], arguments].concat());
        bill.lines().find(|line| line.starts_with("basis: ")).unwrap_or_else(|| panic!("{bill}")).to_owned()
    };
    let azure = "azure:Standard_D16s_v6";
    for (machines, region) in [
        (&["m6i.large"][..], ", us-east-1, uplift"),
        (&[azure][..], ", eastus, uplift"),
        (&["gcp:n2-standard-16"][..], ", us-central1, uplift"),
        (&[azure, "m6i.large"][..], ", eastus and us-east-1, uplift"),
    ] {
        let basis = basis(machines);
        assert!(basis.contains(region), "{basis}");
    }
    assert!(shown(&["caps", azure]).contains("premium-v2, ultra: 33333 IOPS, 992 MB/s"));
    assert!(shown(&["caps", "gcp:c4a-standard-16"]).contains("path to volumes: not known of any type of them"));
    let rate = shown(&["caps", "azure:Standard_E96bds_v5+premium-v2:1000:80000:2000MB"]);
    assert!(rate.contains("1907.35 MiB/s (2000 MB/s)") && rate.contains("2000.0"), "{rate}");
}

/// A cloud, a series, and what is both a family of AWS and a series of Google's.
#[test]
fn families_are_listed_by_cloud_and_by_series() {
    let lab = Laboratory::new();
    let names = |family: &str| -> Vec<String> {
        let listed = json(&lab, &["list", "--family", family]);
        listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    for (family, start) in [
        ("gcp", "gcp:"),
        ("azure", "azure:"),
        ("gcp:c4", "gcp:c4-"),
        ("c4a", "gcp:c4a-"),
        ("azure:E", "azure:Standard_E"),
        ("azure:Standard_L", "azure:Standard_L"),
        ("c4", "c4."),
    ] {
        let names = names(family);
        assert!(!names.is_empty() && names.iter().all(|name| name.starts_with(start)), "{family}: {names:?}");
    }
    assert!(names("aws").iter().all(|name| !name.contains(':')));
}
