//! The table of a data set: how it is made, and how its options are read.

use std::collections::BTreeMap;

use experiment::Setting;
use scylla::value::CqlValue;

use crate::plan::Replication;

/// What a data set's table is made with where nothing else is asked for. These are the server's defaults, stated:
/// size-tiered compaction, LZ4 in 16 KiB chunks, keys cached and rows not.
const TABLE_OPTIONS: [(&str, &str); 5] = [
    ("compaction", "{'class': 'SizeTieredCompactionStrategy', 'min_threshold': 4, 'max_threshold': 32}"),
    ("compression", "{'class': 'LZ4Compressor', 'chunk_length_in_kb': 16}"),
    ("caching", "{'keys': 'ALL', 'rows_per_partition': 'NONE'}"),
    ("bloom_filter_fp_chance", "0.01"),
    ("gc_grace_seconds", "864000"),
];

/// The keyspace and table of a data set; `options` stand instead of those that a table has without.
pub(crate) fn schema_statements(
    keyspace: &str,
    table: &str,
    dataset: &experiment::Dataset,
    replication: &Replication,
    options: &BTreeMap<String, Setting>,
) -> Vec<String> {
    let fields: String = (0..dataset.fields).map(|field| format!(", field{field} varchar")).collect();
    let usual = TABLE_OPTIONS.iter().map(|(name, value)| match options.get(*name) {
        Some(asked) => format!("{name} = {}", in_cql(asked)),
        None => format!("{name} = {value}"),
    });
    let is_other = |(name, _): &(&String, &Setting)| !TABLE_OPTIONS.iter().any(|(usual, _)| usual == name);
    let others = options.iter().filter(is_other);
    let others = others.map(|(name, asked)| format!("{name} = {}", in_cql(asked)));
    let with: Vec<String> = usual.chain(others).collect();
    vec![
        keyspace_statement(keyspace, replication),
        format!(
            "CREATE TABLE IF NOT EXISTS {keyspace}.{table} (y_id varchar PRIMARY KEY{fields}) WITH {}",
            with.join(" AND ")
        ),
    ]
}

/// A keyspace with so many copies.
pub(crate) fn keyspace_statement(keyspace: &str, replication: &Replication) -> String {
    let copies = match replication {
        Replication::Each(copies) => format!("'replication_factor': {copies}"),
        Replication::ByDataCentre(copies) => {
            let each = copies.iter().map(|(name, copies)| format!("'{name}': {copies}"));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    format!(
        "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {{'class': 'NetworkTopologyStrategy', {copies}}} \
         AND durable_writes = true"
    )
}

/// An option of a table as a value of its row; `None`: of another kind than options are.
pub(super) fn option_of(value: CqlValue) -> Option<Setting> {
    Some(Setting::Value(match value {
        CqlValue::Text(text) | CqlValue::Ascii(text) => text,
        CqlValue::Double(number) => number.to_string(),
        CqlValue::Int(number) => number.to_string(),
        CqlValue::Boolean(answer) => answer.to_string(),
        CqlValue::Map(entries) => {
            let text = |value: &CqlValue| value.as_text().cloned();
            let entry = |(key, value): &(CqlValue, CqlValue)| Some((text(key)?, text(value)?));
            return Some(Setting::Map(entries.iter().filter_map(entry).collect()));
        }
        _ => return None,
    }))
}

/// An option's value; CQL takes numbers in quotes, too.
fn in_cql(option: &Setting) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    match option {
        Setting::Value(value) => quoted(value),
        Setting::Map(map) => {
            let each = map.iter().map(|(key, value)| format!("{}: {}", quoted(key), quoted(value)));
            format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
        }
    }
}
