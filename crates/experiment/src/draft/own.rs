//! Statements of one's own in a draft: the file that it names, and what its tables hold and its statements ask for.

use statements::{Generator, Population, Size, StatementData, TableData};

use super::origins::{comment, keys};
use crate::ordered::quoted;
use crate::typed_number::grouped_by;

/// Statements of one's own, instead of YCSB's.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnDraft {
    /// The file of CQL, beside the experiment.
    pub file: String,
    /// What is in it.
    pub text: String,
    /// What each table has on one node at full size, and bytes of its rows, with lines about where that is from.
    pub tables: Vec<(TableData, u32, Vec<String>)>,
    /// What statements ask for, by their names, with such lines.
    pub statements: Vec<(String, StatementData, Vec<String>)>,
}

/// The workload; partitions times `reduced_to`, where data and page cache are reduced together.
pub(super) fn workload(own: &OwnDraft, reduced_to: Option<f64>) -> String {
    let mut text = format!("[[workload]]\ncql = {}\n", quoted(&own.file));
    for (data, row_bytes, origin) in &own.tables {
        text += &format!("\n{}{}", comment(origin), table(data, *row_bytes, reduced_to.unwrap_or(1.0)));
    }
    for (name, data, origin) in &own.statements {
        let stated = [
            ("limit", data.limit.map(u64::from)),
            ("in_keys", data.in_keys.map(u64::from)),
            ("range_rows", data.range_rows),
            ("ttl_s", data.ttl_s.map(u64::from)),
        ];
        let stated =
            stated.into_iter().filter_map(|(key, number)| Some(format!("{key} = {}\n", grouped_by(number?, '_'))));
        let stated: String = stated.collect();
        if !stated.is_empty() {
            text += &format!("\n{}[workload.statements.{name}]\n{stated}", comment(origin));
        }
    }
    text
}

fn table(data: &TableData, row_bytes: u32, reduced_to: f64) -> String {
    let partitions = (data.partitions as f64 * reduced_to).round().max(1.0) as u64;
    let mut text = format!("[workload.tables.{}]\npartitions = {}\n", key(&data.table), grouped_by(partitions, '_'));
    if data.rows != Size::fixed(1) {
        text += &format!("rows = {}\n", size(&data.rows));
    }
    text += &match data.population {
        Population::Of(distribution) => keys(Some(distribution)),
        Population::HotSet { hot_partitions, share } => {
            format!("hot_set = {{ partitions = {hot_partitions}, share = {share} }}\n")
        }
    };
    text += &format!("row_bytes = {}\n", grouped_by(row_bytes.into(), '_'));
    for (column, made) in &data.columns {
        if let Some(made) = generator(made) {
            text += &format!("columns.{} = {made}\n", key(column));
        }
    }
    text
}

/// How a column's values are made, as the file states it; `None`: no draft has such a one.
fn generator(made: &Generator) -> Option<String> {
    match made {
        Generator::Bytes { length, .. } => Some(format!("{{ kind = \"bytes\", length = {} }}", size(length))),
        Generator::Collection { size: elements, element, .. } => {
            let element = element.as_deref().and_then(generator);
            let element = element.map_or_else(String::new, |element| format!(", element = {element}"));
            Some(format!("{{ kind = \"collection\", size = {}{element} }}", size(elements)))
        }
        _ => None,
    }
}

fn size(size: &Size) -> String {
    match size {
        Size::Fixed { size } => size.to_string(),
        Size::Uniform { min, max } => format!("{{ min = {min}, max = {max} }}"),
        Size::LogNormal { median, sigma, max } => {
            format!("{{ median = {median}, sigma = {sigma}, max = {max} }}")
        }
        Size::Histogram { sizes } => {
            let each: Vec<String> = sizes.iter().map(|(size, weight)| format!("[{size}, {weight}]")).collect();
            format!("{{ sizes = [{}] }}", each.join(", "))
        }
    }
}

/// A key of the file, with quotes where it needs them.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if is_bare { name.to_owned() } else { quoted(name) }
}
