//! `[[workload]]`: proportions and distribution, or a YCSB property file.

use std::fmt::Display;

use toml::Value;
use workload::{Definition, Distribution, KeyFormat, Mix, ScanLength};

use super::beside::ReadFile;
use super::inline::{table, within};
use crate::mistakes::{Collector, choice};
use crate::spanned::{Form, Spanned};
use crate::{Note, raw};

pub(super) fn check(
    raw: &Spanned<raw::Workload>,
    dataset: &raw::Dataset,
    read_file: ReadFile<'_>,
    mistakes: &mut Collector<'_>,
) -> Option<Definition> {
    if let Some(file) = &raw.ycsb {
        return from_ycsb(raw, file, dataset, read_file, mistakes);
    }
    let Some(name) = &raw.name else {
        let help = "for example name = \"read-heavy\"";
        return mistakes.refuse(raw.span(), "this workload has no name", help);
    };
    let name = mistakes.safe_name(name, "workload");
    let mix = mistakes.sound(|mistakes| {
        let mut share = |given: &Option<Spanned<f64>>, key| mistakes.number(given, key, 0.0..=1.0, 0.0);
        Mix {
            read: share(&raw.read, "read"),
            update: share(&raw.update, "update"),
            insert: share(&raw.insert, "insert"),
            scan: share(&raw.scan, "scan"),
            read_modify_write: share(&raw.read_modify_write, "read_modify_write"),
        }
    });
    let mix = mix.and_then(|mix| {
        if (mix.sum() - 1.0).abs() > 1e-6 {
            let message = format!("the proportions sum to {}, not 1", (mix.sum() * 1e6).round() / 1e6);
            let help = "read + update + insert + scan + read_modify_write = 1";
            return mistakes.refuse(raw.span(), message, help);
        }
        of_no_use(raw, &mix, mistakes);
        Some(mix)
    });
    let distribution = match &raw.distribution {
        None => Some(Distribution::Zipfian { constant: 0.99 }),
        Some(given) => distribution(given, mistakes),
    };
    let scan_length = mistakes.sound(|mistakes| {
        let mut length = |given, key, usual| mistakes.integer(given, key, 1..=1_000_000, usual) as u32;
        let min = length(&raw.min_scan_length, "min_scan_length", 1);
        let max = length(&raw.max_scan_length, "max_scan_length", 1_000);
        if min > max {
            let message = format!("min_scan_length {min} exceeds max_scan_length {max}");
            mistakes.add(raw.span(), message, "");
        }
        let word = raw.scan_length_distribution.as_ref();
        let kinds = [("uniform", false), ("zipfian", true)];
        let zipfian = word
            .and_then(|word| mistakes.one_of(word.span(), word, "unknown scan length distribution", &kinds))
            .unwrap_or(false);
        ScanLength { min, max, zipfian }
    });
    Some(Definition {
        name: name?,
        mix: mix?,
        distribution: distribution?,
        read_all_fields: raw.read_all_fields.as_deref().copied().unwrap_or(true),
        write_all_fields: raw.write_all_fields.as_deref().copied().unwrap_or(false),
        statements: Vec::new(),
        replayed: None,
        scan_length: scan_length?,
        keys: KeyFormat::default(),
    })
}

/// Refuses what this mix of operations never asks for.
fn of_no_use(raw: &raw::Workload, mix: &Mix, mistakes: &mut Collector<'_>) {
    for (key, at) in raw.keys() {
        let (does, whom) = match key {
            "min_scan_length" | "max_scan_length" | "scan_length_distribution" => (mix.scan, "scan"),
            "read_all_fields" => (mix.read + mix.read_modify_write, "read or read-modify-write"),
            "write_all_fields" => (mix.update + mix.read_modify_write, "update or read-modify-write"),
            "distribution" => (mix.sum() - mix.insert, "do more than insert new records"),
            _ => continue,
        };
        if let Some(at) = at.filter(|_| does <= 0.0) {
            let help = "remove it; this workload has none of these operations";
            mistakes.add(at, format!("{key} is for workloads that {whom}"), help);
        }
    }
}

const DISTRIBUTIONS: [&str; 6] = ["uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"];

/// A distribution by its name, or as a table.
pub(super) fn distribution(
    given: &Form<String, raw::Distribution>,
    mistakes: &mut Collector<'_>,
) -> Option<Distribution> {
    let raw = match given.get_ref() {
        Value::String(name) => raw::Distribution { kind: name.clone(), ..raw::Distribution::default() },
        _ => table(given, "distribution", mistakes)?,
    };
    let span = given.span();
    mistakes.sound(|mistakes| {
        for (key, owner, stated) in [
            ("constant", "zipfian", raw.constant),
            ("data_fraction", "hotspot", raw.data_fraction),
            ("operation_fraction", "hotspot", raw.operation_fraction),
            ("percentile", "exponential", raw.percentile),
            ("fraction", "exponential", raw.fraction),
        ] {
            if stated.is_some() && raw.kind != owner && DISTRIBUTIONS.contains(&raw.kind.as_str()) {
                let message = format!("{key} is for {owner}, not for {}", raw.kind);
                mistakes.add_within(&span, key, message, format!("remove it, or kind = \"{owner}\""));
            }
        }
    })?;
    let mut within_range = |key: &str, value: f64, low: f64, high: f64| {
        let is_so = value > low && value < high;
        if !is_so {
            let help = format!("a number between {low} and {high}");
            mistakes.add_within(&span, key, format!("{key} cannot be {value}"), help);
        }
        is_so
    };
    match raw.kind.as_str() {
        "uniform" => Some(Distribution::Uniform),
        "latest" => Some(Distribution::Latest),
        "sequential" => Some(Distribution::Sequential),
        "zipfian" => {
            let constant = raw.constant.unwrap_or(0.99);
            within_range("constant", constant, 0.0, 2.0).then_some(Distribution::Zipfian { constant })
        }
        "hotspot" => {
            let data_fraction = raw.data_fraction.unwrap_or(0.2);
            let operation_fraction = raw.operation_fraction.unwrap_or(0.8);
            let valid = within_range("data_fraction", data_fraction, 0.0, 1.0)
                & within_range("operation_fraction", operation_fraction, 0.0, 1.0);
            valid.then_some(Distribution::Hotspot { data_fraction, operation_fraction })
        }
        "exponential" => {
            let percentile = raw.percentile.unwrap_or(95.0);
            // YCSB's default, ExponentialGenerator.EXPONENTIAL_FRAC_DEFAULT.
            let fraction = raw.fraction.unwrap_or(0.857_142_857_1);
            let valid = within_range("percentile", percentile, 0.0, 100.0)
                & within_range("fraction", fraction, 0.0, 1.0 + 1e-9);
            valid.then_some(Distribution::Exponential { percentile, fraction })
        }
        other => {
            let message = format!("unknown distribution `{other}`");
            mistakes.add_within(&span, other, message, choice(other, &DISTRIBUTIONS));
            None
        }
    }
}

/// An existing property file. What it says about the data set must agree with `[dataset]`, since all workloads of an
/// experiment share one data set.
fn from_ycsb(
    raw: &raw::Workload,
    file: &Spanned<String>,
    dataset: &raw::Dataset,
    read_file: ReadFile<'_>,
    mistakes: &mut Collector<'_>,
) -> Option<Definition> {
    let own: Vec<&str> = raw.keys().into_iter().filter(|(_, at)| at.is_some()).map(|(key, _)| key).collect();
    if !own.is_empty() {
        let message = format!("`ycsb` and {} exclude each other", own.join(", "));
        return mistakes.refuse(file.span(), message, "the property file states them");
    }
    let path = file.as_str();
    let stem = path.rsplit('/').next().unwrap_or(path);
    let stem = stem.strip_suffix(".properties").unwrap_or(stem);
    let name = match &raw.name {
        Some(name) => mistakes.safe_name(name, "workload")?,
        None => stem.to_owned(),
    };
    let text = match read_file(path) {
        Ok(text) => text,
        Err(error) => {
            return mistakes.refuse(file.span(), error, "the path is relative to the experiment file");
        }
    };
    let parsed = match workload::parse_ycsb(&name, &text) {
        Ok(parsed) => parsed,
        Err(error) => {
            let near = error.nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
            let message = format!("{}: {}", error.property, error.problem);
            let help = format!("expected {}{near}", error.expected);
            mistakes.add_in(path, &text, error.span.clone(), message, help);
            return None;
        }
    };
    fn default<S>(given: &Option<Spanned<i64, S>>, usual: i64) -> i64 {
        given.as_deref().copied().unwrap_or(usual)
    }
    let (fields, length) = (parsed.fields.map(u64::from), parsed.field_length.map(u64::from));
    for (property, theirs, key, ours) in [
        ("recordcount", parsed.records, "records", default(&dataset.records, 0)),
        ("fieldcount", fields, "fields", default(&dataset.fields, 10)),
        ("fieldlength", length, "field_length", default(&dataset.field_length, 100)),
    ] {
        if let Some(theirs) = theirs.filter(|theirs| *theirs as i64 != ours) {
            let at = within(&text, &(0..text.len()), property);
            let message = format!("{property} = {theirs}, but [dataset] {key} = {ours}");
            let help = "all workloads of an experiment share one data set";
            mistakes.add_in(path, &text, at, message, help);
        }
    }
    let ours = [
        ("operationcount", parsed.operations.is_some(), "[load] operations and duration_s bound a trial"),
        ("threadcount", parsed.threads.is_some(), "[load] concurrency is the number of requests in flight"),
        ("target", parsed.target_ops_per_s.is_some(), "[load] rate offers operations/s"),
    ];
    let stated = ours.iter().filter(|(_, stated, _)| *stated);
    mistakes.notes.extend(
        stated.map(|(property, _, instead)| ycsb_note(path, format!("{property} has no effect here: {instead}"))),
    );
    if !parsed.ignored.is_empty() {
        mistakes.notes.push(ycsb_note(path, format!("without meaning here: {}", parsed.ignored.join(", "))));
    }
    mistakes.notes.extend(parsed.notes.iter().map(|note| ycsb_note(path, note)));
    Some(parsed.definition)
}

/// What a property file says and the experiment does otherwise.
fn ycsb_note(path: &str, words: impl Display) -> Note {
    Note::new("ycsb_property", (path, words), "The experiment file decides what the property file cannot")
}
