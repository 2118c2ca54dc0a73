//! `[[workload]]`: proportions and distribution, or a YCSB property file.

use toml::{Spanned, Value};
use workload::{Definition, Distribution, KeyFormat, Mix, ScanLength};

use super::names::safe_name;
use super::numbers::Check as _;
use super::place::{table, within};
use crate::mistakes::{Collector, choice};
use crate::{Note, raw};

pub(super) fn check(
    spanned: &Spanned<raw::Workload>,
    dataset: &raw::Dataset,
    read_file: &dyn Fn(&str) -> Result<String, String>,
    mistakes: &mut Collector<'_>,
) -> Option<Definition> {
    let raw = spanned.get_ref();
    if let Some(file) = &raw.ycsb {
        return from_ycsb(raw, file, dataset, read_file, mistakes);
    }
    let Some(name) = &raw.name else {
        mistakes.add(
            spanned.span(),
            "this workload has no name",
            "for example name = \"read-heavy\"",
        );
        return None;
    };
    let name = safe_name(name, "workload", mistakes);
    let mut share = |given: &Option<Spanned<f64>>, key| mistakes.number(given.as_ref(), key, 0.0..=1.0, 0.0);
    let mix = Mix {
        read: share(&raw.read, "read")?,
        update: share(&raw.update, "update")?,
        insert: share(&raw.insert, "insert")?,
        scan: share(&raw.scan, "scan")?,
        read_modify_write: share(&raw.read_modify_write, "read_modify_write")?,
    };
    if (mix.sum() - 1.0).abs() > 1e-6 {
        let message = format!("the proportions sum to {}, not 1", (mix.sum() * 1e6).round() / 1e6);
        mistakes.add(
            spanned.span(),
            message,
            "read + update + insert + scan + read_modify_write = 1",
        );
        return None;
    }
    of_no_use(raw, &mix, mistakes);
    let distribution = distribution(raw.distribution.as_ref(), mistakes);
    let least = mistakes.integer(raw.min_scan_length.as_ref(), "min_scan_length", 1, 1_000_000, 1);
    let most = mistakes.integer(raw.max_scan_length.as_ref(), "max_scan_length", 1, 1_000_000, 1_000);
    let zipfian = match raw.scan_length_distribution.as_ref().map(|d| (d, d.get_ref().as_str())) {
        None | Some((_, "uniform")) => false,
        Some((_, "zipfian")) => true,
        Some((at, other)) => {
            let message = format!("unknown scan length distribution `{other}`");
            mistakes.add(at.span(), message, choice(other, &["uniform", "zipfian"]));
            return None;
        }
    };
    let (least, most) = (least?, most?);
    if least > most {
        mistakes.add(
            spanned.span(),
            format!("min_scan_length {least} exceeds max_scan_length {most}"),
            "",
        );
        return None;
    }
    Some(Definition {
        name: name?,
        mix,
        distribution: distribution?,
        read_all_fields: raw.read_all_fields.as_ref().is_none_or(|all| *all.get_ref()),
        write_all_fields: raw.write_all_fields.as_ref().is_some_and(|all| *all.get_ref()),
        scan_length: ScanLength {
            min: least as u32,
            max: most as u32,
            zipfian,
        },
        keys: KeyFormat::default(),
    })
}

/// Refuses what this mix of operations never asks for.
fn of_no_use(raw: &raw::Workload, mix: &Mix, mistakes: &mut Collector<'_>) {
    let span = |given: Option<std::ops::Range<usize>>, key, does: f64, whom| {
        given.filter(|_| does <= 0.0).map(|at| (at, key, whom))
    };
    let (scans, reads, updates) = (
        mix.scan,
        mix.read + mix.read_modify_write,
        mix.update + mix.read_modify_write,
    );
    let existing = mix.sum() - mix.insert;
    for (at, key, whom) in [
        span(
            raw.min_scan_length.as_ref().map(Spanned::span),
            "min_scan_length",
            scans,
            "scan",
        ),
        span(
            raw.max_scan_length.as_ref().map(Spanned::span),
            "max_scan_length",
            scans,
            "scan",
        ),
        span(
            raw.scan_length_distribution.as_ref().map(Spanned::span),
            "scan_length_distribution",
            scans,
            "scan",
        ),
        span(
            raw.read_all_fields.as_ref().map(Spanned::span),
            "read_all_fields",
            reads,
            "read or read-modify-write",
        ),
        span(
            raw.write_all_fields.as_ref().map(Spanned::span),
            "write_all_fields",
            updates,
            "update or read-modify-write",
        ),
        span(
            raw.distribution.as_ref().map(Spanned::span),
            "distribution",
            existing,
            "do more than insert new records",
        ),
    ]
    .into_iter()
    .flatten()
    {
        mistakes.add(
            at,
            format!("{key} is for workloads that {whom}"),
            "remove it; this workload has none of these operations",
        );
    }
}

const DISTRIBUTIONS: [&str; 6] = ["uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"];

fn distribution(given: Option<&Spanned<Value>>, mistakes: &mut Collector<'_>) -> Option<Distribution> {
    let Some(given) = given else {
        return Some(Distribution::Zipfian { constant: 0.99 });
    };
    let named = |kind: &str| raw::Distribution {
        kind: kind.to_owned(),
        constant: None,
        data_fraction: None,
        operation_fraction: None,
        percentile: None,
        fraction: None,
    };
    let raw = match given.get_ref() {
        Value::String(name) => named(name),
        _ => table(given, "distribution", mistakes)?,
    };
    let mut foreign = false;
    for (key, owner, stated) in [
        ("constant", "zipfian", raw.constant),
        ("data_fraction", "hotspot", raw.data_fraction),
        ("operation_fraction", "hotspot", raw.operation_fraction),
        ("percentile", "exponential", raw.percentile),
        ("fraction", "exponential", raw.fraction),
    ] {
        if stated.is_some() && raw.kind != owner && DISTRIBUTIONS.contains(&raw.kind.as_str()) {
            let message = format!("{key} is for {owner}, not for {}", raw.kind);
            mistakes.add(
                within(mistakes.text, &given.span(), key),
                message,
                format!("remove it, or kind = \"{owner}\""),
            );
            foreign = true;
        }
    }
    if foreign {
        return None;
    }
    let mut within_range = |key: &str, value: f64, low: f64, high: f64| {
        if value > low && value < high {
            return true;
        }
        let at = within(mistakes.text, &given.span(), key);
        mistakes.add(
            at,
            format!("{key} cannot be {value}"),
            format!("a number between {low} and {high}"),
        );
        false
    };
    match raw.kind.as_str() {
        "uniform" => Some(Distribution::Uniform),
        "latest" => Some(Distribution::Latest),
        "sequential" => Some(Distribution::Sequential),
        "zipfian" => {
            let constant = raw.constant.unwrap_or(0.99);
            within_range("constant", constant, 0.0, 1.0).then_some(Distribution::Zipfian { constant })
        }
        "hotspot" => {
            let data_fraction = raw.data_fraction.unwrap_or(0.2);
            let operation_fraction = raw.operation_fraction.unwrap_or(0.8);
            let valid = within_range("data_fraction", data_fraction, 0.0, 1.0)
                & within_range("operation_fraction", operation_fraction, 0.0, 1.0);
            valid.then_some(Distribution::Hotspot {
                data_fraction,
                operation_fraction,
            })
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
            let at = within(mistakes.text, &given.span(), other);
            mistakes.add(
                at,
                format!("unknown distribution `{other}`"),
                choice(other, &DISTRIBUTIONS),
            );
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
    read_file: &dyn Fn(&str) -> Result<String, String>,
    mistakes: &mut Collector<'_>,
) -> Option<Definition> {
    let own = [
        ("read", raw.read.is_some()),
        ("update", raw.update.is_some()),
        ("insert", raw.insert.is_some()),
        ("scan", raw.scan.is_some()),
        ("read_modify_write", raw.read_modify_write.is_some()),
        ("distribution", raw.distribution.is_some()),
        ("read_all_fields", raw.read_all_fields.is_some()),
        ("write_all_fields", raw.write_all_fields.is_some()),
        ("min_scan_length", raw.min_scan_length.is_some()),
        ("max_scan_length", raw.max_scan_length.is_some()),
        ("scan_length_distribution", raw.scan_length_distribution.is_some()),
    ];
    let own: Vec<_> = own.iter().filter(|(_, stated)| *stated).map(|(key, _)| *key).collect();
    if !own.is_empty() {
        mistakes.add(
            file.span(),
            format!("`ycsb` and {} exclude each other", own.join(", ")),
            "the property file states them",
        );
        return None;
    }
    let path = file.get_ref();
    let stem = path.rsplit('/').next().unwrap_or(path);
    let stem = stem.strip_suffix(".properties").unwrap_or(stem);
    let name = match &raw.name {
        Some(name) => safe_name(name, "workload", mistakes)?,
        None => stem.to_owned(),
    };
    let text = match read_file(path) {
        Ok(text) => text,
        Err(error) => {
            mistakes.add(file.span(), error, "the path is relative to the experiment file");
            return None;
        }
    };
    let parsed = match workload::parse_ycsb(&name, &text) {
        Ok(parsed) => parsed,
        Err(error) => {
            let near = error
                .nearest
                .as_ref()
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            let message = format!("{}: {}", error.property, error.problem);
            mistakes.add_in(
                path,
                &text,
                error.span.clone(),
                message,
                format!("expected {}{near}", error.expected),
            );
            return None;
        }
    };
    let stated = [
        (
            "recordcount",
            parsed.records,
            "records",
            Some(*dataset.records.get_ref()),
        ),
        (
            "fieldcount",
            parsed.fields.map(u64::from),
            "fields",
            Some(dataset.fields.as_ref().map_or(10, |f| *f.get_ref())),
        ),
        (
            "fieldlength",
            parsed.field_length.map(u64::from),
            "field_length",
            Some(dataset.field_length.as_ref().map_or(100, |f| *f.get_ref())),
        ),
    ];
    for (property, theirs, key, ours) in stated {
        if let (Some(theirs), Some(ours)) = (theirs, ours)
            && theirs as i64 != ours
        {
            let at = within(&text, &(0..text.len()), property);
            let message = format!("{property} = {theirs}, but [dataset] {key} = {ours}");
            mistakes.add_in(
                path,
                &text,
                at,
                message,
                "all workloads of an experiment share one data set",
            );
        }
    }
    let ours = [
        (
            "operationcount",
            parsed.operations.is_some(),
            "[load] operations and duration_s bound a trial",
        ),
        (
            "threadcount",
            parsed.threads.is_some(),
            "[load] concurrency is the number of requests in flight",
        ),
        (
            "target",
            parsed.target_ops_per_s.is_some(),
            "[load] rate offers operations/s",
        ),
    ];
    let stated = ours.iter().filter(|(_, stated, _)| *stated);
    mistakes.notes.extend(
        stated.map(|(property, _, instead)| ycsb_note(format!("{path}: {property} has no effect here: {instead}"))),
    );
    if !parsed.ignored.is_empty() {
        mistakes.notes.push(ycsb_note(format!(
            "{path}: without meaning here: {}",
            parsed.ignored.join(", ")
        )));
    }
    mistakes
        .notes
        .extend(parsed.notes.iter().map(|note| ycsb_note(format!("{path}: {note}"))));
    Some(parsed.definition)
}

/// What a property file says and the experiment does otherwise.
fn ycsb_note(message: String) -> Note {
    Note::new(
        "ycsb_property",
        message,
        "The experiment file decides what the property file cannot",
    )
}
