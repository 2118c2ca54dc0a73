//! Google's machines with local SSD, and its further Hyperdisks, at the command line.

use crate::support::{Laboratory, one_line};
use serde_json::Value;

fn json(lab: &Laboratory, arguments: &[&str]) -> Value {
    lab.exits(0, &[&["--format", "json", "catalog"], arguments].concat()).json()
}

/// Google, "About Local SSD disks" (2026-04-14), and prices of us-central1. What a machine lets through to further
/// Hyperdisks no source has: it is refused until a file states it.
#[test]
fn google_machines_with_local_ssd_and_further_hyperdisks_are_capped_and_priced_or_refused_by_name() {
    let lab = Laboratory::new();
    let is = |found: &Value, expected: f64, what: &str| {
        let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found}"));
        assert!((found - expected).abs() <= expected * 1e-5, "{what}: {found} is not {expected}");
    };
    for (machine, reads_of_4_kib, mib_per_s, usd_per_hour) in [
        ("gcp:z3-highmem-14-standardlssd", 750_000.0, 3_000.0, 1.769_304),
        // 2,650 MiB/s are fewer than 680,000 reads of 4 KiB.
        ("gcp:c3-standard-22-lssd", 2_650.0 * 256.0, 2_650.0, 1.273_228),
    ] {
        let caps = json(&lab, &["caps", machine]);
        is(&caps["local"][0]["read_iops"], reads_of_4_kib, machine);
        is(&caps["local"][3]["read_mib_per_s"], mib_per_s, machine);
        is(&json(&lab, &["cost", machine])["usd_per_month"], usd_per_hour * 730.0, machine);
    }
    let extreme = "gcp:c3-highmem-88+hyperdisk-extreme:2000:100000";
    let throughput = "gcp:c3-standard-22+hyperdisk-throughput:2048::100";
    for (asked, volumes) in [
        (extreme, "hyperdisk-extreme volumes on gcp:c3-highmem-88"),
        (throughput, "hyperdisk-throughput volumes on gcp:c3-standard-22"),
    ] {
        let stderr = one_line(&lab.exits(2, &["catalog", "caps", asked]).stderr);
        assert!(
            stderr.contains(volumes) && stderr.contains("a catalog file of its own states what Google's page has"),
            "{stderr}"
        );
    }
    let stderr = one_line(&lab.exits(2, &["catalog", "caps", "gcp:n2-standard-16+local-ssd:375"]).stderr);
    for part in ["unknown volume type `local-ssd`", "gcp:c3-standard-22-lssd", "`local_disks` of an [[instance]]"] {
        assert!(stderr.contains(part), "{stderr}");
    }
    std::fs::create_dir(lab.path().join("catalog")).unwrap();
    lab.write(
        "catalog/google.toml",
        r#"
region = "us-central1"
price_date = "2026-08-03"
source = "the stranger's"

[[instance]]
name = "gcp:c3-highmem-88"
ebs = { baseline_iops = 80000, baseline_mb_per_s = 3000 }

[[instance]]
name = "gcp:c3-standard-22"
ebs = { baseline_iops = 20000, baseline_mb_per_s = 800 }

[[instance]]
name = "gcp:n2-standard-32"
usd_per_hour = 1.718272
[instance.local_disks]
count = 4
size_gb_each = 402.65
kind = "nvme-ssd"
read_iops = 680000
write_iops = 360000
read_mb_per_s = 2778.7
write_mb_per_s = 1468
"#,
    );
    let caps = json(&lab, &["caps", extreme]);
    is(&caps["ebs"][0]["baseline"]["iops"], 80_000.0, "the machine of 100,000 bought IOPS");
    let usd = json(&lab, &["cost", extreme])["usd_per_month"].clone();
    is(&usd, 5.821_552 * 730.0 + 2_000.0 * 0.125 + 100_000.0 * 0.032, extreme);
    let caps = json(&lab, &["caps", throughput]);
    is(&caps["ebs"][0]["baseline"]["iops"], 400.0, "4 for each of 100 MiB/s");
    let stderr = one_line(&lab.exits(2, &["catalog", "cost", throughput]).stderr);
    assert!(stderr.contains("price of hyperdisk-throughput volumes in us-central1"), "{stderr}");
    let added = "gcp:n2-standard-32";
    is(&json(&lab, &["caps", added])["local"][3]["write_mib_per_s"], 1_400.0, added);
    is(&json(&lab, &["cost", added])["usd_per_month"], 1.718_272 * 730.0, added);
}
