//! The catalog against independent sources: `sources/*.csv`, extracts whose heads say what was read and when.
//!
//! Where a source differs by more than a tenth, the difference is listed in docs/catalog.md, so that a reader can
//! judge it, and so that a
//! new one cannot come in unseen: this test holds that list to the files.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{Basis, Catalog, ClusterRequest, InstanceType, LocalDisks, OmittedType};

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
        // Types that the catalog leaves out.
        let Some(known) = Catalog::built_in().instance(row["name"]) else { continue };
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

/// A new version of a source brings types: `generate.py` places each of them, in the catalog or among the omitted, and
/// the documents say how many there are.
#[test]
fn every_type_of_every_source_is_in_the_catalog_or_left_out_for_a_reason() {
    let omitted = catalog::omitted();
    let mut lines = Vec::new();
    for Source { name, text, .. } in sources() {
        assert!(text.starts_with("# "), "{name} says what was read");
        let rows = rows(text);
        let (known, left_out): (Vec<&str>, Vec<&str>) =
            rows.iter().map(|row| row["name"]).partition(|name| Catalog::built_in().instance(name).is_some());
        let unplaced: Vec<&&str> =
            left_out.iter().filter(|left| !omitted.iter().any(|known| known.name == **left)).collect();
        assert!(unplaced.is_empty(), "{name}: in the catalog or in data/omitted.csv: {unplaced:?}");
        lines.push(format!("| {name} | {} | {} | {} |", rows.len(), known.len(), left_out.len()));
    }
    documented("sources", &lines);
    let mut reasons: BTreeMap<&str, Vec<&OmittedType>> = BTreeMap::new();
    for left in &omitted {
        assert!(Catalog::built_in().instance(&left.name).is_none(), "{} is in both tables", left.name);
        reasons.entry(left.reason.words()).or_default().push(left);
    }
    let line = |(reason, types): (&str, Vec<&OmittedType>)| {
        let mut families: Vec<&str> = types.iter().map(|left| left.family()).collect();
        families.dedup();
        format!("| {reason} | {} | {} |", types.len(), families.join(" "))
    };
    documented("omitted", &reasons.into_iter().map(line).collect::<Vec<_>>());
}

/// How many types of each family there are, and how many of them each source states something of.
#[test]
fn the_documents_say_how_many_types_of_a_family_each_source_knows() {
    let named = |source: &Source| -> BTreeSet<&'static str> {
        let rows = rows(source.text);
        rows.iter().map(|row| row["name"]).collect()
    };
    let named: Vec<BTreeSet<&str>> = sources().iter().map(named).collect();
    let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for known in Catalog::built_in().instances() {
        let counts = families.entry(known.family()).or_insert_with(|| vec![0; named.len() + 1]);
        counts[0] += 1;
        for (count, names) in counts[1..].iter_mut().zip(&named) {
            *count += usize::from(names.contains(known.name.as_str()));
        }
    }
    let line = |(family, counts): (&str, Vec<usize>)| {
        let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
        format!("| {family} | {} |", counts.join(" | "))
    };
    documented("families", &families.into_iter().map(line).collect::<Vec<_>>());
}

/// Holds the rows of the table between two marks of docs/catalog.md to what was found.
fn documented(mark: &str, found: &[String]) {
    let text = include_str!("../../../docs/catalog.md");
    let (_, list) = text.split_once(&format!("<!-- {mark} -->")).unwrap();
    let (list, _) = list.split_once(&format!("<!-- /{mark} -->")).unwrap();
    let listed: Vec<&str> = list.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(
        listed == found,
        "docs/catalog.md, between the two marks `{mark}`, has to hold these lines:\n{}",
        found.join("\n")
    );
}

/// Limits without money: what the sources do not state is refused, with the keys by which a user states it.
#[test]
fn a_type_without_a_known_price_has_limits_and_no_cost() {
    let request = ClusterRequest::parse(Catalog::built_in(), "r9g.4xlarge+gp3:500").unwrap();
    let caps = Catalog::built_in().caps(&request, None).unwrap();
    assert_eq!(caps.path.unwrap().baseline_iops, 24_000.0);
    let error = Catalog::built_in().cost(&request, &Basis::default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "no on-demand price of r9g.4xlarge in us-east-1 is known; it is not counted as 0; state one: \
         --stated-price r9g.4xlarge=USD_PER_HOUR, usd_per_hour in a catalog file or price_usd_per_month in the \
         [[configuration]] (docs/catalog.md)"
    );
    let stated = Basis { stated_usd_per_hour: [("r9g.4xlarge".to_owned(), 1.0)].into(), ..Basis::default() };
    assert!(Catalog::built_in().cost(&request, &stated).is_ok());
}

/// No refusal says that AWS has no such type.
#[test]
fn a_type_that_is_left_out_is_refused_with_the_reason() {
    let error = ClusterRequest::parse(Catalog::built_in(), "g5.xlarge").unwrap_err().to_string();
    assert!(error.contains("`g5.xlarge` is not in the catalog (sold for its accelerators"), "{error}");
}

#[test]
fn the_documents_list_every_disagreement() {
    documented("disagreements", &sources().iter().flat_map(disagreements).collect::<Vec<_>>());
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

/// As many rows as the page says.
#[test]
fn the_documents_say_how_long_each_table_is() {
    let text = include_str!("../../../docs/catalog.md");
    for (name, table) in [
        ("instances", include_str!("../data/instances.csv")),
        ("volumes", include_str!("../data/volumes.csv")),
        ("omitted", include_str!("../data/omitted.csv")),
        ("instance_prices", include_str!("../data/instance_prices.csv")),
        ("volume_prices", include_str!("../data/volume_prices.csv")),
        ("other_instances", include_str!("../data/other_instances.csv")),
        ("other_omitted", include_str!("../data/other_omitted.csv")),
        ("other_paths", include_str!("../data/other_paths.csv")),
        ("cpu_speeds", include_str!("../data/cpu_speeds.csv")),
        ("cpu_benchmarks", include_str!("../data/cpu_benchmarks.csv")),
        ("cpu_openssl", include_str!("../data/cpu_openssl.csv")),
        ("other_prices", include_str!("../data/other_prices.csv")),
    ] {
        let start = format!("| `{name}.csv` | ");
        let line = text.lines().find_map(|line| line.strip_prefix(start.as_str())).unwrap_or_else(|| panic!("{name}"));
        let said = line.split(' ').next().unwrap_or_default().replace(',', "");
        assert_eq!(said, rows(table).len().to_string(), "rows of {name}.csv");
    }
    let measured = rows(include_str!("../data/cpu_openssl.csv"));
    let machines: f64 = measured.iter().filter_map(|row| number(row, "machines")).sum();
    let sentence = format!("on all vCPUs of {machines} machine types");
    assert!(text.replace(',', "").contains(&sentence), "{sentence}");
}

/// The program contains these tables, which are not under its licence.
#[test]
fn a_table_under_another_licence_says_so_and_the_notice_names_it() {
    let notice = include_str!("../../../NOTICE");
    let tables = [
        ("cpu_benchmarks.csv", include_str!("../data/cpu_benchmarks.csv")),
        ("cpu_openssl.csv", include_str!("../data/cpu_openssl.csv")),
    ];
    for (name, head) in tables {
        for words in ["SpareCores/sc-inspector-data", "804d3c7", "https://creativecommons.org/licenses/by-sa/4.0/"] {
            assert!(head.contains(words) && notice.contains(words), "{name}: {words}");
        }
        assert!(notice.contains(&format!("crates/catalog/data/{name}")), "{name}");
    }
}
