//! The figures as OpenMetrics text, read back by a strict reader of the specification's rules, and the dashboard that
//! shows them.

use crate::page;
use std::collections::{BTreeMap, BTreeSet};

use report::openmetrics;

/// (type, unit, samples) of a family.
#[derive(Default)]
struct Family {
    kind: String,
    unit: String,
    help: String,
    /// Labels as sorted pairs, and the value.
    samples: BTreeMap<Vec<(String, String)>, f64>,
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Labels of `{a="b",c="d"}`; the rest of the line behind it.
fn labels(text: &str) -> (Vec<(String, String)>, &str) {
    let Some(mut rest) = text.strip_prefix('{') else { return (Vec::new(), text) };
    let mut found: Vec<(String, String)> = Vec::new();
    loop {
        if let Some(rest) = rest.strip_prefix('}') {
            found.sort();
            let names: BTreeSet<&String> = found.iter().map(|(name, _)| name).collect();
            assert_eq!(names.len(), found.len(), "a label stands twice: {text}");
            return (found, rest);
        }
        if !found.is_empty() {
            rest = rest.strip_prefix(',').unwrap_or_else(|| panic!("no comma: {text}"));
        }
        let (name, value) = rest.split_once("=\"").unwrap();
        assert!(is_name(name), "{name}");
        let (mut read, mut letters) = (String::new(), value.char_indices());
        let end = loop {
            match letters.next().unwrap_or_else(|| panic!("no end: {text}")) {
                (at, '"') => break at,
                (_, '\\') => match letters.next().unwrap().1 {
                    'n' => read.push('\n'),
                    c @ ('\\' | '"') => read.push(c),
                    c => panic!("\\{c} means nothing: {text}"),
                },
                (_, c) => read.push(c),
            }
        };
        rest = &value[end + 1..];
        found.push((name.to_owned(), read));
    }
}

/// Reads a text as the specification asks; panics where it is broken.
fn read(text: &str) -> BTreeMap<String, Family> {
    let body = text.strip_suffix("# EOF\n").expect("the last line is # EOF");
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    for line in body.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (what, name, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            assert!(is_name(name), "{line}");
            if name != current {
                let known = families.insert(name.to_owned(), Family::default());
                assert!(known.is_none(), "the family {name} is torn apart");
                current = name.to_owned();
            }
            let family = families.get_mut(name).unwrap();
            assert!(family.samples.is_empty(), "samples of {name} stand before its {what}");
            let field = match what {
                "TYPE" => &mut family.kind,
                "UNIT" => &mut family.unit,
                "HELP" => &mut family.help,
                other => panic!("{other} is no keyword"),
            };
            assert!(field.is_empty(), "{what} of {name} stands twice");
            *field = rest.to_owned();
            continue;
        }
        let end = line.find(['{', ' ']).unwrap();
        let family = families.get_mut(&current).unwrap();
        let suffix = if family.kind == "info" { "_info" } else { "" };
        assert_eq!(&line[..end], format!("{current}{suffix}"), "{line}");
        let (labels, rest) = labels(&line[end..]);
        let value: f64 = rest.strip_prefix(' ').unwrap().parse().unwrap_or_else(|_| panic!("no number: {line}"));
        assert!(family.kind != "info" || value == 1.0, "{line}");
        assert!(labels.iter().all(|(_, v)| !v.is_empty()), "an empty label is no label: {line}");
        let known = family.samples.insert(labels, value);
        assert!(known.is_none(), "a series stands twice: {line}");
    }
    for (name, family) in &families {
        assert!(["gauge", "info"].contains(&family.kind.as_str()), "{name}: {}", family.kind);
        assert!(!family.help.is_empty() && !family.samples.is_empty(), "{name}");
        assert!(
            family.unit.is_empty() || name.ends_with(&format!("_{}", family.unit)),
            "{name}: its unit is not the end of its name"
        );
        for base in ["_milliseconds", "_microseconds", "_percent", "_ms", "_us", "_total", "_info", "_count", "_sum"] {
            assert!(!name.ends_with(base), "{name}: no base unit, or a reserved end");
        }
    }
    families
}

fn reported() -> BTreeMap<String, Family> {
    let (a, _) = page::run(&["gp2", "io2"], &["read-heavy"], 3);
    let (mut b, _) = page::run(&["gp2", page::HOSTILE], &["read-heavy"], 2);
    b.run = "another-20260103T000000Z".into();
    b.question = None;
    read(&openmetrics(&[a, b]))
}

#[test]
fn every_figure_of_a_cell_is_reported_with_its_interval_in_base_units() {
    let families = reported();
    let of = |family: &str, wanted: &[(&str, &str)]| {
        let samples = &families[family].samples;
        let fits = |labels: &Vec<(String, String)>| {
            let has = |(name, value): &(&str, &str)| labels.contains(&((*name).to_owned(), (*value).to_owned()));
            wanted.iter().all(has)
        };
        let found: Vec<f64> = samples.iter().filter(|(l, _)| fits(l)).map(|(_, v)| *v).collect();
        assert_eq!(found.len(), 1, "{family} {wanted:?}: {found:?}");
        found[0]
    };
    let cell = [
        ("run", "story-20260102T030405Z"),
        ("configuration", "io2"),
        ("workload", "read-heavy"),
        ("load", "100 in flight"),
    ];
    assert_eq!(of("iopslab_cell_throughput_operations_per_second", &cell), 2000.0);
    assert_eq!(of("iopslab_cell_throughput_low_operations_per_second", &cell), 1940.0);
    assert_eq!(of("iopslab_cell_throughput_high_operations_per_second", &cell), 2080.0);
    assert_eq!(of("iopslab_cell_valid_trials", &cell), 3.0);
    let p99 = [&cell[..], &[("operation", "read"), ("statistic", "p99")]].concat();
    assert!((of("iopslab_cell_latency_seconds", &p99) - 0.005).abs() < 1e-12);
    assert!((of("iopslab_cell_latency_high_seconds", &p99) - 0.0055).abs() < 1e-12);
    let limited = [&cell[..], &[("limit", "volume_iops")]].concat();
    assert_eq!(of("iopslab_cell_limit", &limited), 1.0);
    let cost = [("run", "story-20260102T030405Z"), ("configuration", "io2")];
    assert_eq!(of("iopslab_configuration_cost_usd_per_month", &cost), 750.0);
}

#[test]
fn what_was_not_measured_has_no_sample_and_names_keep_their_letters() {
    let (mut analysis, _) = page::run(&[page::HOSTILE, "b\\\"\n"], &["w"], 3);
    for cell in &mut analysis.cells {
        cell.throughput_ops_per_s = None;
    }
    let families = read(&openmetrics(&[analysis]));
    assert!(!families.contains_key("iopslab_cell_throughput_operations_per_second"));
    let names: BTreeSet<&str> = families["iopslab_configuration_cost_usd_per_month"]
        .samples
        .keys()
        .flatten()
        .filter(|(name, _)| name == "configuration")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(names, BTreeSet::from([page::HOSTILE, "b\\\"\n"]));
    assert_eq!(openmetrics(&[]), "# EOF\n");
}

/// The dashboard shows every family, and nothing else.
#[test]
fn the_dashboard_uses_exactly_these_names() {
    let dashboard: serde_json::Value =
        serde_json::from_str(include_str!("../../../docs/grafana-dashboard.json")).unwrap();
    let mut used: BTreeSet<String> = BTreeSet::new();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut texts = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            texts.push(target["expr"].as_str().unwrap());
        }
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        texts.extend(variable["definition"].as_str());
    }
    for text in texts {
        for (at, _) in text.match_indices("iopslab_") {
            used.insert(text[at..].chars().take_while(|c| is_letter(*c)).collect());
        }
    }
    let reported: BTreeSet<String> = reported()
        .iter()
        .map(|(name, family)| match family.kind.as_str() {
            "info" => format!("{name}_info"),
            _ => name.clone(),
        })
        .collect();
    assert_eq!(used, reported);
}
