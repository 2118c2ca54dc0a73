//! One record of Cassandra's full query log.
//!
//! Source: `org.apache.cassandra.fql.FullQueryLogger` of 4.1 and 5.0 (which write the same), read as
//! `org.apache.cassandra.fqltool.FQLQueryReader` does. Fields, in this order: `version`, `type`, `query-start-time`
//! (milliseconds since 1970), `protocol-version`, `query-options`, `generated-timestamp`, `generated-now-in-seconds`,
//! `keyspace` (of the connection, or null); then `query`, or `batch-type`, `queries` and `values`.
//!
//! Only requests that succeeded are in it; each page of a result is one. A value that was not set is in it as an empty
//! one: Cassandra writes it so.

use crate::error::{AUDIT_LOG, LogError};
use crate::options::Options;
use crate::values::Value;
use crate::wire::Wire;

/// The one version that there is (`FullQueryLogger.CURRENT_VERSION`).
const VERSION: i64 = 0;
/// The type of a record of an audit log, which lies in the same kind of files (`BinAuditLogger.AUDITLOG_TYPE`).
const AUDIT: &str = "audit";
/// Versions of the protocol whose options are known.
const PROTOCOLS: std::ops::RangeInclusive<i64> = 3..=6;

/// How comments begin (`src/antlr/Lexer.g`); a string may have that, too.
const COMMENTS: [&str; 3] = ["--", "//", "/*"];

/// A request, as it was recorded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) at_us: u64,
    /// Of its connection.
    pub(crate) keyspace: Option<&'a str>,
    pub(crate) text: String,
    pub(crate) consistency: Option<&'a str>,
    pub(crate) serial: Option<&'a str>,
    pub(crate) values: Vec<Value<'a>>,
    /// Whether it asks for a page of a result after the first one.
    pub(crate) is_later_page: bool,
}

/// What the fields of a record have said so far.
#[derive(Default)]
struct Fields<'a> {
    kind: Option<&'a str>,
    start_ms: Option<i64>,
    protocol: Option<i64>,
    options: Option<&'a [u8]>,
    keyspace: Option<&'a str>,
    query: Option<String>,
    batch_type: Option<&'a str>,
    queries: Vec<String>,
    values: Vec<Value<'a>>,
}

/// The record that a document holds, whose first byte in the file is `begin`.
pub(crate) fn record(document: &[u8], begin: u64) -> Result<Record<'_>, LogError> {
    let mut wire = Wire::new(document, begin);
    let mut fields = Fields::default();
    while let Some(name) = wire.field()? {
        fields.read(name, &mut wire)?;
    }
    fields.record(&wire)
}

impl<'a> Fields<'a> {
    fn read(&mut self, name: &[u8], wire: &mut Wire<'a>) -> Result<(), LogError> {
        match name {
            b"version" => {
                let version = wire.integer()?;
                if version != VERSION {
                    return Err(wire.error(format!("a record of version {version}, and only {VERSION} is known")));
                }
            }
            b"type" => self.kind = wire.text()?,
            b"query-start-time" => self.start_ms = Some(wire.integer()?),
            b"protocol-version" => self.protocol = Some(wire.integer()?),
            b"query-options" => self.options = wire.bytes()?,
            b"keyspace" => self.keyspace = wire.text()?,
            b"query" => self.query = wire.any_text()?,
            b"batch-type" => self.batch_type = wire.text()?,
            b"queries" => {
                for _ in 0..wire.count(1)? {
                    let query = wire.any_text()?.ok_or_else(|| wire.error("a query of a batch is null"))?;
                    self.queries.push(query);
                }
            }
            b"values" => {
                for _ in 0..wire.count(1)? {
                    for _ in 0..wire.count(1)? {
                        self.values.push(wire.bytes()?.map_or(Value::Null, Value::Bytes));
                    }
                }
            }
            _ => wire.skip()?,
        }
        Ok(())
    }

    fn record(self, wire: &Wire<'a>) -> Result<Record<'a>, LogError> {
        if self.kind == Some(AUDIT) {
            return Err(wire.error(AUDIT_LOG));
        }
        let missing = |field: &str| wire.error(format!("the record before has no {field}"));
        let start_ms = self.start_ms.ok_or_else(|| missing("query-start-time"))?;
        let at_us = u64::try_from(start_ms).ok().and_then(|ms| ms.checked_mul(1_000));
        let at_us = at_us.ok_or_else(|| wire.error(format!("query-start-time {start_ms} is no moment")))?;
        let protocol = self.protocol.ok_or_else(|| missing("protocol-version"))?;
        if !PROTOCOLS.contains(&protocol) {
            return Err(wire.error(format!("protocol-version {protocol} is not known")));
        }
        let options = self.options.ok_or_else(|| missing("query-options"))?;
        let options = Options::read(options, protocol, |what| wire.error(what))?;
        let (text, values) = match self.kind {
            Some("single-query") => (self.query.ok_or_else(|| missing("query"))?, options.values),
            Some("batch") => {
                let kind = match self.batch_type.ok_or_else(|| missing("batch-type"))? {
                    "LOGGED" => "",
                    "UNLOGGED" => "UNLOGGED ",
                    "COUNTER" => "COUNTER ",
                    other => return Err(wire.error(format!("batch-type {other} is not known"))),
                };
                (batch(kind, &self.queries), self.values)
            }
            Some(other) => return Err(wire.error(format!("a record of type {other} is not known"))),
            None => return Err(missing("type")),
        };
        Ok(Record {
            at_us,
            keyspace: self.keyspace,
            text,
            consistency: Some(options.consistency),
            serial: options.serial,
            values,
            is_later_page: options.is_later_page,
        })
    }
}

/// A batch of statements as one, whose values are those of all of them: it does the same, and is prepared once. One
/// that may end in a comment ends with its line: a `;` between statements is optional (`batchStatement` of Apache
/// Cassandra 5.0, `src/antlr/Parser.g`), and would stand in the comment, or beside another before it.
fn batch(kind: &str, queries: &[String]) -> String {
    let queries = queries.iter().map(|query| query.trim().trim_end_matches(';').trim_end());
    let each = queries.map(|query| match COMMENTS.iter().any(|begin| query.contains(begin)) {
        true => format!("{query}\n"),
        false => format!("{query}; "),
    });
    format!("BEGIN {kind}BATCH {}APPLY BATCH", each.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::batch;

    #[test]
    fn a_batch_is_one_statement() {
        let queries = ["INSERT INTO a (k) VALUES (?);", " UPDATE b SET v = ? WHERE k = ? "];
        let expected = "BEGIN UNLOGGED BATCH INSERT INTO a (k) VALUES (?); UPDATE b SET v = ? WHERE k = ?; APPLY BATCH";
        assert_eq!(batch("UNLOGGED ", &queries.map(str::to_owned)), expected);
    }

    #[test]
    fn a_comment_at_the_end_of_a_statement_hides_nothing_of_the_next_one() {
        let queries = [
            "INSERT INTO a (k) VALUES (?) -- of the cart\n",
            "DELETE FROM a WHERE k = ?; // and;",
            "DELETE FROM b WHERE k = ?; /* gone */",
            "DELETE FROM c WHERE k = ?",
        ];
        let expected = "BEGIN BATCH INSERT INTO a (k) VALUES (?) -- of the cart\n\
                        DELETE FROM a WHERE k = ?; // and\n\
                        DELETE FROM b WHERE k = ?; /* gone */\n\
                        DELETE FROM c WHERE k = ?; APPLY BATCH";
        assert_eq!(batch("", &queries.map(str::to_owned)), expected);
    }
}
