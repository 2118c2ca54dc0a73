//! How often a recording asks for each partition, by its statements' texts and the columns of the tables' keys.

use std::collections::{BTreeMap, HashMap};

use ::statements::{Asked, component};
use profile::{LogSeen, PartitionsAsked, TableName, TableSchema};
use query_log::{Log, Request, Value};

use super::logged_statements::logged_statements;
use super::recording::ReadRecording;

/// One statement of a recorded one, of a table that is known.
struct OfTable {
    /// Its place among the tables.
    table: usize,
    reads: bool,
    /// Which values make the partition key; `None`: that is not known of it.
    markers: Option<Vec<usize>>,
}

impl OfTable {
    /// What a recorded statement asks of these tables.
    fn all(recorded: &query_log::RecordedStatement, tables: &[TableSchema]) -> Vec<Self> {
        let one = |asked: Asked| {
            let keyspace = asked.keyspace.as_ref().or(recorded.keyspace.as_ref());
            let table = tables.iter().position(|table| table.name.is_meant(keyspace, &asked.table))?;
            let markers = asked.markers_of(&tables[table].key);
            Some(Self { table, reads: asked.reads, markers })
        };
        Asked::of(&recorded.text).into_iter().filter_map(one).collect()
    }

    /// The number of the partition of a request; `None`: it is not known.
    fn partition(&self, log: &Log, request: &Request, key: &mut Vec<u8>) -> Option<u64> {
        let markers = self.markers.as_ref()?;
        key.clear();
        for marker in markers {
            let Some(Value::Bytes(value)) = log.values(request).nth(*marker) else { return None };
            component(key, |out| out.extend_from_slice(value));
        }
        Some(query_log::partition(key))
    }
}

/// Requests that read and that write, by partition; and those without one.
type Counted = (HashMap<u64, (u32, u32)>, u64);

impl ReadRecording {
    /// How often it asks for each partition of these tables, and its statements. A partition takes at most some 50
    /// bytes while it is counted, and there are no more of them than requests, of which a recording has at most
    /// [`query_log::MOST_REQUESTS`].
    pub fn asked_keys(&self, tables: &[TableSchema]) -> LogSeen {
        let log = &self.log;
        let statements: Vec<Vec<OfTable>> =
            log.statements().iter().map(|recorded| OfTable::all(recorded, tables)).collect();
        let mut each: BTreeMap<usize, Counted> = BTreeMap::new();
        let mut key = Vec::new();
        for request in log.requests() {
            for of_table in &statements[request.statement as usize] {
                let (partitions, without_key) = each.entry(of_table.table).or_default();
                match of_table.partition(log, request, &mut key) {
                    None => *without_key += 1,
                    Some(partition) => {
                        let (reads, writes) = partitions.entry(partition).or_default();
                        *(if of_table.reads { reads } else { writes }) += 1;
                    }
                }
            }
        }
        let asked = |(table, (partitions, without_key)): (usize, Counted)| {
            let name: TableName = tables[table].name.clone();
            (name, PartitionsAsked { each: partitions.into_values().collect(), without_key })
        };
        let summary = log.summary();
        let is_cut = summary.is_cut.then(|| "ends within a request: its server was still writing, or ended".to_owned());
        LogSeen {
            path: self.path.clone(),
            statements: logged_statements(log, tables),
            seconds: summary.end_us.saturating_sub(summary.begin_us) as f64 / 1e6,
            lost: summary.lost().into_iter().chain(is_cut).collect(),
            tables: each.into_iter().map(asked).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(table: &str, key: &[&str]) -> TableSchema {
        TableSchema {
            name: TableName { keyspace: "shop".to_owned(), table: table.to_owned() },
            partition_key: key.len() as u32,
            key: key.iter().map(|column| (*column).to_owned()).collect(),
            columns: 1,
            ..TableSchema::default()
        }
    }

    #[test]
    fn each_partition_of_each_table_is_counted_whatever_statement_names_it() {
        let line = |at: u32, statement: &str, values: &str| {
            format!(r#"{{"at": {at}, "statement": "{statement}", "values": [{values}], "keyspace": "shop"}}"#)
        };
        let batch =
            "BEGIN BATCH INSERT INTO a (k, v) VALUES (?, ?); UPDATE b SET v = ? WHERE d = ? AND k = ?; APPLY BATCH";
        let lines = [
            line(1, "SELECT * FROM a WHERE k = ?", r#""0x01""#),
            line(2, "SELECT v FROM a WHERE k = ?", r#""0x01""#),
            line(3, "DELETE FROM shop.a WHERE k = ?", r#""0x02""#),
            line(4, batch, r#""0x01", "0x09", "0x09", "0x05", "0x06""#),
            line(5, "SELECT * FROM b WHERE k = ? AND d = ?", r#""0x06", "0x05""#),
            line(6, "SELECT * FROM a WHERE k IN (?, ?)", r#""0x01", "0x02""#),
            line(7, "SELECT * FROM a WHERE k = ?", "null"),
            line(7, "SELECT * FROM a WHERE k = 'Jo'", ""),
            line(8, "SELECT * FROM elsewhere.a WHERE k = ?", r#""0x01""#),
            line(2_000_008, "SELECT * FROM system.local", ""),
        ];
        let mut log = Log::default();
        log.read_json_lines(lines.join("\n").as_bytes()).unwrap();
        log.finish();
        let read = ReadRecording { log, path: "shop.jsonl".to_owned(), sha256: String::new() };
        let seen = read.asked_keys(&[schema("a", &["k"]), schema("b", &["k", "d"]), schema("c", &["k"])]);
        assert_eq!((seen.path.as_str(), seen.lost.len()), ("shop.jsonl", 0));
        assert!((seen.seconds - 2.000_007).abs() < 1e-9);
        let asked = |text: &str| {
            let is_it = |one: &&profile::StatementSeen| one.logged.as_ref().is_ok_and(|logged| logged.text == text);
            seen.statements.iter().filter(is_it).map(|one| (one.keyspace.as_deref(), one.requests)).collect::<Vec<_>>()
        };
        let of_shop = |requests: u64| (Some("shop"), requests);
        let elsewhere = (Some("elsewhere"), 1_u64);
        assert_eq!(asked("SELECT * FROM a WHERE k = ?"), [of_shop(3), elsewhere], "what stood in a text is a marker");
        assert_eq!(asked("DELETE FROM a WHERE k = ?"), [of_shop(1)], "without its keyspace");
        assert_eq!(seen.statements.iter().map(|one| one.requests).sum::<u64>(), 10);
        let names: Vec<String> = seen.tables.keys().map(TableName::to_string).collect();
        assert_eq!(names, ["shop.a", "shop.b"]);
        let of = |table: &str| {
            let asked = &seen.tables[&schema(table, &[]).name];
            let mut each = asked.each.clone();
            each.sort_unstable();
            (each, asked.without_key)
        };
        assert_eq!(of("a"), (vec![(0, 1), (2, 1)], 3));
        assert_eq!(of("b"), (vec![(1, 1)], 0));
    }
}
