//! The catalog against independent sources: `sources/*.csv`, extracts whose heads say what was read and when.
//!
//! Where a source differs by more than a tenth, the difference is listed in docs/catalog.md, so that a reader can
//! judge it, and so that a
//! new one cannot come in unseen: this test holds that list to the files.

use std::collections::BTreeMap;

use catalog::{Catalog, InstanceType, LocalDisks};

/// Sources differ where one is more than this many times the other.
const APART: f64 = 1.1;

/// Bytes in a GiB and in a GB.
const GIB: f64 = 1_073_741_824.0;
const GB: f64 = 1e9;

type Row<'a> = BTreeMap<&'a str, &'a str>;

/// A figure of the catalog beside that of a source.
struct Figure {
    what: &'static str,
    own: fn(&InstanceType) -> Option<f64>,
    theirs: fn(&Row<'_>) -> Option<f64>,
}

struct Source {
    name: &'static str,
    text: &'static str,
    figures: Vec<Figure>,
}

fn number(row: &Row<'_>, column: &str) -> Option<f64> {
    row.get(column).filter(|text| !text.is_empty()).map(|text| text.parse().unwrap())
}

fn rows(text: &'static str) -> Vec<Row<'static>> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(|line| columns.iter().copied().zip(line.split(',')).collect()).collect()
}

/// A figure of all local disks.
fn disks(known: &InstanceType, figure: fn(&LocalDisks) -> Option<f64>) -> Option<f64> {
    known.local_disks.as_ref().and_then(figure)
}

/// What a file states of one disk, as the program that reads it takes it: times the disks.
fn times_disks(row: &Row<'_>, column: &str) -> Option<f64> {
    Some(number(row, column)? * number(row, "disks")?)
}

fn vcpus() -> Figure {
    Figure { what: "vCPUs", own: |known| Some(f64::from(known.vcpus)), theirs: |row| number(row, "vcpus") }
}

fn memory() -> Figure {
    Figure { what: "memory", own: |known| Some(known.memory_gib), theirs: |row| number(row, "memory_gib") }
}

fn network() -> Figure {
    Figure { what: "network", own: |known| known.network_gbps, theirs: |row| number(row, "network_gbps") }
}

fn disk_space(theirs: fn(&Row<'_>) -> Option<f64>) -> Figure {
    Figure { what: "disk space", own: |known| disks(known, |disks| Some(disks.total_gb())), theirs }
}

fn reads(theirs: fn(&Row<'_>) -> Option<f64>) -> Figure {
    Figure { what: "disk reads/s", own: |known| disks(known, |disks| disks.read_iops), theirs }
}

fn writes(theirs: fn(&Row<'_>) -> Option<f64>) -> Figure {
    Figure { what: "disk writes/s", own: |known| disks(known, |disks| disks.write_iops), theirs }
}

fn sources() -> Vec<Source> {
    vec![
        Source {
            name: "moto",
            text: include_str!("../sources/moto.csv"),
            figures: vec![
                vcpus(),
                memory(),
                network(),
                disk_space(|row| times_disks(row, "disk_gb")),
                Figure {
                    what: "EBS IOPS",
                    own: |known| known.ebs.map(|ebs| ebs.baseline_iops),
                    theirs: |row| number(row, "ebs_iops"),
                },
                Figure {
                    what: "EBS MB/s",
                    own: |known| known.ebs.map(|ebs| ebs.baseline_mb_per_s),
                    theirs: |row| number(row, "ebs_mb_per_s"),
                },
            ],
        },
        Source {
            name: "Instance Types Guide",
            text: include_str!("../sources/instance_store.csv"),
            figures: vec![
                disk_space(|row| times_disks(row, "disk_gb")),
                reads(|row| number(row, "read_iops")),
                writes(|row| number(row, "write_iops")),
            ],
        },
        Source {
            name: "Netflix",
            text: include_str!("../sources/netflix.csv"),
            figures: vec![
                vcpus(),
                memory(),
                network(),
                disk_space(|row| Some(number(row, "disk_total_gib")? * GIB / GB)),
                reads(|row| number(row, "read_iops")),
                writes(|row| number(row, "write_iops")),
            ],
        },
        Source {
            name: "Karpenter",
            text: include_str!("../sources/karpenter.csv"),
            figures: vec![
                network(),
                Figure {
                    what: "USD an hour",
                    own: |known| known.on_demand_usd_per_hour,
                    theirs: |row| number(row, "usd_per_hour"),
                },
            ],
        },
        Source {
            name: "Scylla",
            text: include_str!("../sources/scylla.csv"),
            figures: vec![
                reads(|row| times_disks(row, "read_iops")),
                writes(|row| times_disks(row, "write_iops")),
                Figure {
                    what: "disk MB/s read",
                    own: |known| disks(known, |disks| disks.read_mb_per_s),
                    theirs: |row| Some(times_disks(row, "read_bandwidth")? / 1e6),
                },
                Figure {
                    what: "disk MB/s written",
                    own: |known| disks(known, |disks| disks.write_mb_per_s),
                    theirs: |row| Some(times_disks(row, "write_bandwidth")? / 1e6),
                },
            ],
        },
    ]
}

/// One line of the list: a source, a figure and a family, with the sizes that differ and how much.
fn disagreements(source: &Source) -> Vec<String> {
    let mut found: BTreeMap<(&str, &str), Vec<(&str, f64)>> = BTreeMap::new();
    for row in rows(source.text) {
        // Types that the catalog does not hold.
        let Some(known) = Catalog::built_in().instance(row["name"]) else {
            continue;
        };
        for figure in &source.figures {
            if let (Some(own), Some(theirs)) = ((figure.own)(known), (figure.theirs)(&row)) {
                let ratio = theirs / own;
                if !(APART.recip()..=APART).contains(&ratio) {
                    let size = known.name.split('.').nth(1).unwrap();
                    found.entry((figure.what, known.family())).or_default().push((size, ratio));
                }
            }
        }
    }
    let line = |((what, family), sizes): ((&str, &str), Vec<(&str, f64)>)| {
        let least = sizes.iter().map(|(_, ratio)| *ratio).fold(f64::INFINITY, f64::min);
        let most = sizes.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
        let names: Vec<&str> = sizes.iter().map(|(size, _)| *size).collect();
        let ratio = if most - least < 0.01 { format!("{most:.2}") } else { format!("{least:.2} to {most:.2}") };
        format!("| {} | {what} | {family} | {} | {ratio} |", source.name, names.join(" "))
    };
    found.into_iter().map(line).collect()
}

#[test]
fn every_source_speaks_of_many_types() {
    for source in sources() {
        let rows = rows(source.text);
        let known = rows.iter().filter(|row| Catalog::built_in().instance(row["name"]).is_some());
        assert!(known.count() > 90, "{}: {} rows", source.name, rows.len());
        assert!(source.text.starts_with("# "), "{} says what was read", source.name);
    }
}

#[test]
fn the_documents_list_every_disagreement() {
    let text = include_str!("../../../docs/catalog.md");
    let (_, list) = text.split_once("<!-- disagreements -->").unwrap();
    let (list, _) = list.split_once("<!-- /disagreements -->").unwrap();
    let listed: Vec<&str> = list.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let found: Vec<String> = sources().iter().flat_map(disagreements).collect();
    assert!(
        listed == found,
        "docs/catalog.md, between the two marks `disagreements`, has to hold these lines:\n{}",
        found.join("\n")
    );
}

/// The comparison finds what it is made for: the figures of before the corrections.
#[test]
fn the_comparison_finds_a_total_that_was_multiplied_again() {
    let of = |name: &str, what: &str| {
        let source = sources().into_iter().find(|source| source.name == name).unwrap();
        disagreements(&source).into_iter().find(|line| line.contains(what)).unwrap_or_default()
    };
    let i7i = of("Scylla", "| disk MB/s read | i8g |");
    assert!(i7i.contains("24xlarge") && i7i.ends_with("2.00 to 6.00 |"), "{i7i}");
    let r6in = of("moto", "| network | r6in |");
    assert_eq!(r6in, "| moto | network | r6in | 32xlarge metal | 2.00 |");
}
