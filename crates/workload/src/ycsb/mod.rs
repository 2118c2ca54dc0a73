//! Existing YCSB workload files: property names, defaults and meaning of `site.ycsb.workloads.CoreWorkload` 0.17.0.

mod error;
mod properties;

pub use error::YcsbError;

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::{Definition, Distribution, KeyFormat, Mix, ScanLength};
use error::nearest;
use properties::Entry;

/// Properties that decide what is done here.
const KNOWN: [&str; 27] = [
    "workload",
    "recordcount",
    "operationcount",
    "insertstart",
    "insertcount",
    "fieldcount",
    "fieldlength",
    "fieldlengthdistribution",
    "readallfields",
    "writeallfields",
    "readproportion",
    "updateproportion",
    "insertproportion",
    "scanproportion",
    "readmodifywriteproportion",
    "requestdistribution",
    "hotspotdatafraction",
    "hotspotopnfraction",
    "exponential.percentile",
    "exponential.frac",
    "minscanlength",
    "maxscanlength",
    "scanlengthdistribution",
    "insertorder",
    "zeropadding",
    "threadcount",
    "target",
];

/// Properties of YCSB whose job something else does here (the experiment file, the engine's own measurements); listed
/// so that a slip in one of the above is distinguished from one of these.
const WITHOUT_MEANING: [&str; 19] = [
    "table",
    "fieldnameprefix",
    "dataintegrity",
    "minfieldlength",
    "fieldlengthhistogram",
    "core_workload_insertion_retry_limit",
    "core_workload_insertion_retry_interval",
    "maxexecutiontime",
    "measurementtype",
    "measurement.interval",
    "histogram.buckets",
    "timeseries.granularity",
    "db",
    "exporter",
    "exportfile",
    "dotransactions",
    "status",
    "label",
    "hdrhistogram.percentiles",
];

/// A YCSB property file, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct YcsbFile {
    /// Mix, distribution and record layout.
    pub definition: Definition,
    /// `recordcount`, if stated.
    pub records: Option<u64>,
    /// `operationcount`, if stated and not 0.
    pub operations: Option<u64>,
    /// `fieldcount`, if stated (YCSB's default is 10).
    pub fields: Option<u32>,
    /// `fieldlength` in bytes, if stated (YCSB's default is 100).
    pub field_length: Option<u32>,
    /// `threadcount`, if stated.
    pub threads: Option<u32>,
    /// `target`, if stated and not 0: operations per second of all threads together.
    pub target_ops_per_s: Option<f64>,
    /// Properties in the file that have no meaning here, in the order of the file.
    pub ignored: Vec<String>,
    /// Where the file means something that its reader may not expect; one sentence each.
    pub notes: Vec<String>,
}

/// Reads a YCSB property file. `name` becomes the name of the definition.
///
/// # Errors
///
/// The first property in the file's order of meaning that is misspelt, out of range, or asks for what is not done here
/// (another workload class, field lengths that vary, a part of the key space).
pub fn parse_ycsb(name: &str, text: &str) -> Result<YcsbFile, YcsbError> {
    let entries = properties::parse(text).map_err(|properties::MalformedEscape(span)| {
        YcsbError::new(text, span, "", "malformed `\\u` escape".into(), "four hexadecimal digits after `\\u`")
    })?;
    let file = File { text, entries };
    file.check_workload()?;
    let ignored = file.check_names()?;
    file.check_unsupported()?;
    let (mix, notes) = file.mix()?;
    let definition = Definition {
        name: name.to_owned(),
        mix,
        distribution: file.distribution()?,
        read_all_fields: file.boolean("readallfields")?.unwrap_or(true),
        write_all_fields: file.boolean("writeallfields")?.unwrap_or(false),
        statements: Vec::new(),
        replayed: None,
        scan_length: file.scan_length()?,
        keys: file.keys()?,
    };
    Ok(YcsbFile {
        definition,
        records: file.integer("recordcount", 1..=u64::MAX / 4)?,
        operations: file.integer("operationcount", 0..=u64::MAX / 4)?.filter(|count| *count > 0),
        fields: file.integer("fieldcount", 1..=10_000)?,
        field_length: file.integer("fieldlength", 1..=1 << 30)?,
        threads: file.integer("threadcount", 1..=1_000_000)?,
        target_ops_per_s: file.number("target", 0.0..=1e12)?.filter(|rate| *rate > 0.0),
        ignored,
        notes,
    })
}

struct File<'a> {
    text: &'a str,
    entries: Vec<Entry>,
}

impl File<'_> {
    /// The last entry with this name, as in Java.
    fn entry(&self, property: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == property)
    }

    fn wrong_value(&self, entry: &Entry, expected: impl Into<String>) -> YcsbError {
        let problem = format!("`{}` is set to `{}`", entry.key, entry.value);
        YcsbError::new(self.text, entry.value_span.clone(), &entry.key, problem, expected)
    }

    /// Refuses misspelt names and returns those without meaning. YCSB accepts any name, so a binding's own properties
    /// (`cassandra.keyspace`) pass, but a slip (`readpropotion`) would quietly run YCSB's default mix.
    fn check_names(&self) -> Result<Vec<String>, YcsbError> {
        let mut ignored: Vec<String> = Vec::new();
        for entry in &self.entries {
            if WITHOUT_MEANING.contains(&entry.key.as_str()) {
                if !ignored.contains(&entry.key) {
                    ignored.push(entry.key.clone());
                }
            } else if !KNOWN.contains(&entry.key.as_str()) {
                if let Some(name) = nearest(&entry.key, KNOWN) {
                    let problem = format!("unknown property `{}`", entry.key);
                    let error =
                        YcsbError::new(self.text, entry.key_span.clone(), &entry.key, problem, format!("`{name}`"));
                    return Err(error.with_nearest(&entry.key, KNOWN));
                }
                if !ignored.contains(&entry.key) {
                    ignored.push(entry.key.clone());
                }
            }
        }
        Ok(ignored)
    }

    fn check_workload(&self) -> Result<(), YcsbError> {
        const CLASSES: [&str; 2] = ["site.ycsb.workloads.CoreWorkload", "com.yahoo.ycsb.workloads.CoreWorkload"];
        match self.entry("workload") {
            Some(entry) if CLASSES.contains(&entry.value.as_str()) => Ok(()),
            Some(entry) => {
                Err(self.wrong_value(entry, format!("`{}`, the only workload class understood here", CLASSES[0])))
            }
            // YCSB insists on the class, but it may have stood on a command line. A file that says nothing at all about
            // a workload is some other file.
            None if self.entries.iter().any(|entry| KNOWN.contains(&entry.key.as_str())) => Ok(()),
            None => Err(YcsbError::new(
                self.text,
                0..0,
                "workload",
                "no property of a YCSB workload found".into(),
                format!("`workload={}` and its properties", CLASSES[0]),
            )),
        }
    }

    fn check_unsupported(&self) -> Result<(), YcsbError> {
        self.word("fieldlengthdistribution", &["constant"])?;
        self.integer("insertstart", 0..=0u64)?;
        if let (Some(entry), Some(count)) = (self.entry("insertcount"), self.integer("insertcount", 1..=u64::MAX)?)
            && self.integer("recordcount", 1..=u64::MAX)? != Some(count)
        {
            return Err(
                self.wrong_value(entry, "the value of `recordcount`, as a part of the records cannot be chosen")
            );
        }
        Ok(())
    }

    /// Proportions with YCSB's defaults; normalised, as `DiscreteGenerator` does.
    fn mix(&self) -> Result<(Mix, Vec<String>), YcsbError> {
        let share = |property: &str, default: f64| Ok(self.number(property, 0.0..=1e9)?.unwrap_or(default));
        let mut mix = Mix {
            read: share("readproportion", 0.95)?,
            update: share("updateproportion", 0.05)?,
            insert: share("insertproportion", 0.0)?,
            scan: share("scanproportion", 0.0)?,
            read_modify_write: share("readmodifywriteproportion", 0.0)?,
        };
        let sum = mix.sum();
        if sum <= 0.0 {
            // Only reachable with both defaults overridden.
            let span = self.entry("readproportion").map_or(0..0, |entry| entry.value_span.clone());
            let problem = "all proportions are 0".to_owned();
            return Err(YcsbError::new(self.text, span, "readproportion", problem, "at least one proportion above 0"));
        }
        if (sum - 1.0).abs() <= 1e-9 {
            return Ok((mix, Vec::new()));
        }
        let shares = [&mut mix.read, &mut mix.update, &mut mix.insert, &mut mix.scan, &mut mix.read_modify_write];
        for share in shares {
            *share /= sum;
        }
        let defaults: Vec<&str> = [("readproportion", "0.95"), ("updateproportion", "0.05")]
            .into_iter()
            .filter(|(property, _)| self.entry(property).is_none())
            .map(|(_, default)| default)
            .collect();
        let because = if defaults.is_empty() {
            String::new()
        } else {
            format!(", YCSB's default of {} for what the file leaves out included", defaults.join(" and "))
        };
        let note = format!(
            "proportions sum to {sum}{because}; each is divided by the sum, as YCSB does: read {:.4}, update {:.4}, \
             insert {:.4}, scan {:.4}, read-modify-write {:.4}",
            mix.read, mix.update, mix.insert, mix.scan, mix.read_modify_write
        );
        Ok((mix, vec![note]))
    }

    fn distribution(&self) -> Result<Distribution, YcsbError> {
        let valid = ["uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"];
        let hotspot = Distribution::Hotspot {
            data_fraction: self.number("hotspotdatafraction", 0.0..=1.0)?.unwrap_or(0.2),
            operation_fraction: self.number("hotspotopnfraction", 0.0..=1.0)?.unwrap_or(0.8),
        };
        let exponential = Distribution::Exponential {
            percentile: self.number("exponential.percentile", 0.001..=99.999)?.unwrap_or(95.0),
            fraction: self.number("exponential.frac", 1e-9..=1.0)?.unwrap_or(0.857_142_857_1),
        };
        Ok(match self.word("requestdistribution", &valid)? {
            Some("zipfian") => Distribution::Zipfian { constant: 0.99 },
            Some("latest") => Distribution::Latest,
            Some("hotspot") => hotspot,
            Some("exponential") => exponential,
            Some("sequential") => Distribution::Sequential,
            _ => Distribution::Uniform,
        })
    }

    fn keys(&self) -> Result<KeyFormat, YcsbError> {
        let default = KeyFormat::default();
        let order = self.word("insertorder", &["hashed", "ordered"])?;
        let padding = self.integer("zeropadding", 0..=1000)?;
        Ok(KeyFormat {
            hashed: order.map_or(default.hashed, |order| order == "hashed"),
            zero_padding: padding.unwrap_or(default.zero_padding),
        })
    }

    fn scan_length(&self) -> Result<ScanLength, YcsbError> {
        let default = ScanLength::default();
        let min = self.integer("minscanlength", 1..=u32::MAX)?.unwrap_or(default.min);
        let max = self.integer("maxscanlength", 1..=u32::MAX)?.unwrap_or(default.max);
        if let Some(entry) = self.entry("maxscanlength").or_else(|| self.entry("minscanlength"))
            && min > max
        {
            return Err(self.wrong_value(entry, format!("`minscanlength` ({min}) at most `maxscanlength` ({max})")));
        }
        let zipfian = self.word("scanlengthdistribution", &["uniform", "zipfian"])? == Some("zipfian");
        Ok(ScanLength { min, max, zipfian })
    }

    fn word(&self, property: &str, valid: &[&'static str]) -> Result<Option<&'static str>, YcsbError> {
        let Some(entry) = self.entry(property) else { return Ok(None) };
        let found = valid.iter().find(|word| **word == entry.value);
        found.copied().map(Some).ok_or_else(|| {
            let expected = valid.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
            self.wrong_value(entry, expected).with_nearest(&entry.value, valid.iter().copied())
        })
    }

    fn boolean(&self, property: &str) -> Result<Option<bool>, YcsbError> {
        let Some(entry) = self.entry(property) else { return Ok(None) };
        let lower = entry.value.to_ascii_lowercase();
        lower
            .parse()
            .map(Some)
            .map_err(|_| self.wrong_value(entry, "`true` or `false`").with_nearest(&lower, ["true", "false"]))
    }

    fn integer<T: FromStr + PartialOrd + std::fmt::Display>(
        &self,
        property: &str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, YcsbError> {
        self.parsed(property, range, "a whole number")
    }

    fn number(&self, property: &str, range: RangeInclusive<f64>) -> Result<Option<f64>, YcsbError> {
        self.parsed(property, range, "a number")
    }

    fn parsed<T: FromStr + PartialOrd + std::fmt::Display>(
        &self,
        property: &str,
        range: RangeInclusive<T>,
        kind: &str,
    ) -> Result<Option<T>, YcsbError> {
        let Some(entry) = self.entry(property) else { return Ok(None) };
        match entry.value.parse() {
            Ok(value) if range.contains(&value) => Ok(Some(value)),
            _ if range.start() == range.end() => Err(self.wrong_value(entry, format!("{}", range.start()))),
            _ => Err(self.wrong_value(entry, format!("{kind} from {} to {}", range.start(), range.end()))),
        }
    }
}
