//! `[[workload]]`: proportions and distribution, or a YCSB property file.

use toml::{Spanned, Value};
use workload::{Definition, Distribution, Mix, ScanLength};

use super::configuration::within;
use super::numbers::Check as _;
use super::{explain, safe_name};
use crate::mistakes::{Collector, choice};
use crate::raw;

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
        read_all_fields: raw.read_all_fields.unwrap_or(true),
        write_all_fields: raw.write_all_fields.unwrap_or(false),
        scan_length: ScanLength {
            min: least as u32,
            max: most as u32,
            zipfian,
        },
        hashed_keys: true,
        zero_padding: 1,
    })
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
        table => match raw::Distribution::deserialize_from(table) {
            Ok(raw) => raw,
            Err(error) => {
                let (message, help) = explain(error.message());
                mistakes.add(given.span(), format!("in distribution: {message}"), help);
                return None;
            }
        },
    };
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

impl raw::Distribution {
    fn deserialize_from(value: &Value) -> Result<Self, toml::de::Error> {
        serde::Deserialize::deserialize(value.clone())
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
    let own = raw.read.is_some()
        || raw.update.is_some()
        || raw.insert.is_some()
        || raw.scan.is_some()
        || raw.read_modify_write.is_some()
        || raw.distribution.is_some();
    if own {
        mistakes.add(
            file.span(),
            "`ycsb` and proportions exclude each other",
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
    Some(parsed.definition)
}
