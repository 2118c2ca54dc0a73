//! The map of a study: which cell each file is of.

use std::collections::BTreeMap;
use std::ops::Range;

use evidence::CountedFrom;
use experiment::{Arrivals, LoadLevel, OperationKind};
use serde::Deserialize;
use toml::Spanned;

use crate::Refusal;

/// A map that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Name of the run.
    pub name: String,
    /// What it is to answer.
    pub question: Option<String>,
    /// Configuration that ratios refer to.
    pub baseline: Option<String>,
    /// The files, in the order of the map; at least one.
    pub entries: Vec<Entry>,
}

/// A file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its path, beside the map.
    pub file: String,
    /// Line of the map that names it.
    pub line: usize,
    /// Configuration.
    pub configuration: String,
    /// Workload.
    pub workload: String,
    /// Load level; `None`: the file states it.
    pub load: Option<LoadLevel>,
    /// What all of its operations are; `None`: the file states it.
    pub operation: Option<OperationKind>,
    /// From when its latencies count; `None`: as the file shows, else from the sending.
    pub counted_from: Option<CountedFrom>,
    /// Paths of the HdrHistogram logs that were written beside it, beside the map.
    pub histograms: Vec<String>,
    /// Repetition, from 1.
    pub repetition: u32,
    /// Price of the configuration.
    pub usd_per_month: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStudy {
    name: Option<Spanned<String>>,
    question: Option<String>,
    baseline: Option<Spanned<String>>,
    #[serde(default)]
    result: Vec<Spanned<RawEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    file: Spanned<String>,
    configuration: Spanned<String>,
    workload: Spanned<String>,
    threads: Option<Spanned<u32>>,
    rate: Option<Spanned<f64>>,
    operation: Option<Spanned<String>>,
    counted_from: Option<CountedFrom>,
    #[serde(default)]
    histograms: Vec<String>,
    repetition: Option<Spanned<u32>>,
    price_usd_per_month: Option<Spanned<f64>>,
}

/// Most characters of a name: two of them and a load level are one directory.
const NAME_MOST: usize = 64;
/// Highest repetition.
const REPETITION_MOST: u32 = 10_000;

/// Whether a name can be a part of a directory's.
fn is_safe(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    !name.is_empty() && name.len() <= NAME_MOST && name.chars().all(is_plain)
}

/// The kind of operation of this name.
pub fn operation(name: &str) -> Option<OperationKind> {
    OperationKind::YCSB.into_iter().find(|kind| kind.name() == name)
}

/// The names that there are, for people.
pub fn operations() -> String {
    OperationKind::YCSB.map(OperationKind::name).join(", ")
}

impl Study {
    /// Reads a map.
    ///
    /// # Errors
    /// All mistakes, each at its line.
    pub fn read(text: &str) -> Result<Self, Vec<Refusal>> {
        let raw: RawStudy = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| line_of(text, &span));
            let (message, help) = experiment::plain_words(text, &error);
            vec![Refusal { line, message, help: Some(help).filter(|help| !help.is_empty()) }]
        })?;
        let mut checked = Checked { text, found: Vec::new() };
        let name = raw.name.map(|name| checked.name(&name, "name"));
        let entries: Vec<Entry> = raw.result.into_iter().map(|entry| checked.entry(entry)).collect();
        if entries.is_empty() {
            checked.found.push(Refusal::whole("expected at least one [[result]] with a file"));
        }
        checked.once(&entries);
        checked.prices(&entries);
        if let Some(baseline) = &raw.baseline {
            let names = || entries.iter().map(|entry| entry.configuration.as_str());
            let name = baseline.get_ref();
            checked.must(names().any(|known| known == name), &baseline.span(), || {
                let near = experiment::nearest(name, names());
                let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                format!("baseline = \"{name}\" is no configuration of the results{near}")
            });
        }
        match checked.found.is_empty() {
            true => Ok(Self {
                name: name.unwrap_or_else(|| "imported".to_owned()),
                question: raw.question,
                baseline: raw.baseline.map(Spanned::into_inner),
                entries,
            }),
            false => Err(checked.found),
        }
    }
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    let before = text.as_bytes().iter().take(span.start);
    before.filter(|byte| **byte == b'\n').count() + 1
}

struct Checked<'a> {
    text: &'a str,
    found: Vec<Refusal>,
}

impl Checked<'_> {
    fn must(&mut self, is_so: bool, span: &Range<usize>, otherwise: impl FnOnce() -> String) {
        if !is_so {
            let line = line_of(self.text, span);
            self.found.push(Refusal::at(line, otherwise()));
        }
    }

    fn name(&mut self, given: &Spanned<String>, key: &str) -> String {
        let name = given.get_ref();
        self.must(is_safe(name), &given.span(), || {
            format!("{key} = \"{name}\": expected 1 to {NAME_MOST} letters, digits, `-` or `_`")
        });
        name.clone()
    }

    fn entry(&mut self, raw: Spanned<RawEntry>) -> Entry {
        let at = raw.span();
        let raw = raw.into_inner();
        let load = match (&raw.threads, &raw.rate) {
            (Some(threads), None) => {
                let n = *threads.get_ref();
                self.must(n > 0, &threads.span(), || "threads = 0: expected at least 1".to_owned());
                Some(LoadLevel::Concurrency(n))
            }
            (None, Some(rate)) => {
                let operations_per_s = *rate.get_ref();
                let is_rate = operations_per_s.is_finite() && operations_per_s > 0.0;
                self.must(is_rate, &rate.span(), || "rate: expected operations/s above 0".to_owned());
                Some(LoadLevel::Rate { operations_per_s, arrivals: Arrivals::Constant })
            }
            (Some(_), Some(rate)) => {
                let message = "threads and rate: state the one that decided what was sent";
                self.must(false, &rate.span(), || message.to_owned());
                None
            }
            (None, None) => None,
        };
        let operation = raw.operation.as_ref().and_then(|name| {
            let found = operation(name.get_ref());
            self.must(found.is_some(), &name.span(), || {
                format!("operation = \"{}\": expected {}", name.get_ref(), operations())
            });
            found
        });
        let repetition = raw.repetition.as_ref().map_or(1, |repetition| *repetition.get_ref());
        let place = raw.repetition.as_ref().map_or(at.clone(), Spanned::span);
        self.must((1..=REPETITION_MOST).contains(&repetition), &place, || {
            format!("repetition = {repetition}: expected 1 to {REPETITION_MOST}")
        });
        if let Some(price) = &raw.price_usd_per_month {
            let is_price = price.get_ref().is_finite() && *price.get_ref() > 0.0;
            self.must(is_price, &price.span(), || "price_usd_per_month: expected a number above 0".to_owned());
        }
        Entry {
            line: line_of(self.text, &raw.file.span()),
            configuration: self.name(&raw.configuration, "configuration"),
            workload: self.name(&raw.workload, "workload"),
            file: raw.file.into_inner(),
            load,
            operation,
            counted_from: raw.counted_from,
            histograms: raw.histograms,
            repetition,
            usd_per_month: raw.price_usd_per_month.map(Spanned::into_inner).filter(|usd| usd.is_finite()),
        }
    }

    /// One file is one trial.
    fn once(&mut self, entries: &[Entry]) {
        let mut files: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in entries {
            if let Some(first) = files.insert(&entry.file, entry.line) {
                let message = format!("{} is named in line {first} already: one file is one trial", entry.file);
                self.found.push(Refusal::at(entry.line, message));
            }
        }
    }

    /// A configuration has one price, wherever it is stated.
    fn prices(&mut self, entries: &[Entry]) {
        let mut prices: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
        for entry in entries {
            let Some(usd) = entry.usd_per_month else { continue };
            let (first, line) = *prices.entry(&entry.configuration).or_insert((usd, entry.line));
            if first != usd {
                let of = &entry.configuration;
                let message = format!("{of} costs {usd} here, and {first} for the file in line {line}");
                self.found.push(Refusal::at(entry.line, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "[[result]]\nfile = \"a.txt\"\nconfiguration = \"gp2\"\nworkload = \"a\"\n";

    #[test]
    fn a_map_says_which_cell_each_file_is_of() {
        let more = "threads = 64\nprice_usd_per_month = 300\noperation = \"read\"\nhistograms = [\"READ.hdr\"]\n";
        let text = format!("name = \"volumes\"\nbaseline = \"gp2\"\n{ONE}{more}");
        let study = Study::read(&text).unwrap();
        assert_eq!((study.name.as_str(), study.entries.len()), ("volumes", 1));
        let entry = &study.entries[0];
        assert_eq!((entry.line, entry.repetition, entry.usd_per_month), (4, 1, Some(300.0)));
        assert_eq!(entry.load, Some(LoadLevel::Concurrency(64)));
        assert_eq!(
            (entry.operation, entry.histograms.as_slice()),
            (Some(OperationKind::Read), &["READ.hdr".to_owned()][..])
        );
        assert_eq!(Study::read(ONE).unwrap().entries[0].load, None, "the file states it");
    }

    #[test]
    fn all_mistakes_are_reported_each_at_its_line() {
        let second = ONE.replace("a.txt", "b.txt");
        for (text, lines) in [
            ("".to_owned(), vec![(None, "at least one [[result]]")]),
            (format!("{ONE}counted_from = \"now\"\n"), vec![(Some(5), "unknown variant `now`")]),
            ("nmae = \"x\"".to_owned(), vec![(Some(1), "unknown key `nmae`")]),
            ("[[result]]\nfile = \"a\"\n".to_owned(), vec![(Some(1), "the key `configuration` is missing")]),
            (format!("baseline = \"gp3\"\n{ONE}"), vec![(Some(1), "of the results; did you mean `gp2`?")]),
            (ONE.replace("gp2", "../gp2"), vec![(Some(3), "letters, digits")]),
            (
                format!("{ONE}threads = 0\nrepetition = 0\n"),
                vec![(Some(5), "threads = 0"), (Some(6), "repetition = 0")],
            ),
            (format!("{ONE}threads = 1\nrate = 5\n"), vec![(Some(6), "the one that decided")]),
            (format!("{ONE}operation = \"delete\"\n"), vec![(Some(5), "expected read, update, insert")]),
            (format!("{ONE}rate = -1\nprice_usd_per_month = nan\n"), vec![(Some(5), "above 0"), (Some(6), "above 0")]),
            (format!("{ONE}{ONE}"), vec![(Some(6), "named in line 2 already")]),
            (
                format!("{ONE}price_usd_per_month = 1\n{second}price_usd_per_month = 2\n"),
                vec![(Some(7), "gp2 costs 2 here, and 1 for the file in line 2")],
            ),
        ] {
            let found = Study::read(&text).unwrap_err();
            assert_eq!(found.len(), lines.len(), "{text}: {found:?}");
            for (refusal, (line, words)) in found.iter().zip(lines) {
                assert_eq!(refusal.line, line, "{text}: {refusal}");
                assert!(refusal.message.contains(words), "{text}: {refusal}");
            }
        }
    }
}
