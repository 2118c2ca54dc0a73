//! What statements of the user's own find in tables that were not loaded for them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ::statements::{Table, quoted};
use engine::Random;
use experiment::{Consistency, ConsistencyLevels, CountedRows, Own, StatementSample};
use scylla::client::session::Session;
use scylla::statement::Statement;
use scylla::statement::prepared::PreparedStatement;
use scylla::value::CqlValue;

use super::admin::{Admin, AdminError, Result};
use crate::frames::Values;
use crate::own::{OwnRequest, OwnStatements, OwnWork, ReadRecording, tables_of};
use crate::statements::Bound;

/// The longest that counting the rows of a table may take.
const A_COUNT: Duration = Duration::from_secs(24 * 3600);

impl Admin {
    /// Counts the rows of tables: the node reads all of them, page by page.
    pub fn count_rows(&self, keyspace: &str, tables: &[String]) -> Result<Vec<CountedRows>> {
        let count = |table: &String| -> Result<CountedRows> {
            let text = format!("SELECT count(*) FROM {keyspace}.{}", quoted(table));
            let mut request = Statement::new(text.as_str());
            request.set_request_timeout(Some(A_COUNT));
            let rows = self.execute(request, ())?;
            let rows = rows.first().and_then(|row| row.values().find_map(CqlValue::as_bigint));
            let rows = rows.and_then(|rows| u64::try_from(rows).ok());
            let rows = rows.ok_or_else(|| self.failed(&text, "it answers no number"))?;
            Ok(CountedRows { table: table.clone(), rows })
        };
        tables.iter().map(count).collect()
    }

    /// Makes so many requests of each statement, as clients make them: how many find something. A read is sent as it
    /// is, and finds at least one row of a partition that is there; of a write the partition is looked up. Asked of an
    /// admin that knows the tables ([`Self::connect_to_tables`]).
    pub fn sample_statements(&self, keyspace: &str, own: &Own, of_each: u32) -> Result<Vec<StatementSample>> {
        let session = self.session.as_ref().ok_or_else(|| self.failed("", "not connected"))?;
        let tables = tables_of(session, keyspace).map_err(|error| self.failed("", error))?;
        let work = match &own.replay {
            Some(replay) => {
                let read = ReadRecording::read_again(replay).map_err(|error| self.failed("", error))?;
                OwnWork::replay(own.clone(), Arc::new(read))
            }
            None => OwnWork::requests(own.clone(), 0, 1),
        };
        let (work, levels) = (Arc::new(work), ConsistencyLevels::all(Consistency::One));
        let prepared = self.runtime.block_on(OwnStatements::prepare(session, keyspace, levels, &work));
        let prepared = prepared.map_err(|error| self.failed("", error))?;
        let mut random = Random::from_seed(own.data.seed);
        let mut request = OwnRequest::default();
        let mut recorded: Vec<Vec<u32>> = vec![Vec::new(); own.script.statements.len()];
        for one in prepared.recorded(0, 1) {
            recorded[prepared.make_recorded(one.number, &mut request)].push(one.number);
        }
        let mut lookups = Lookups { admin: self, session, keyspace, tables: &tables, prepared: BTreeMap::new() };
        let mut samples = Vec::new();
        for (number, statement) in own.script.statements.iter().enumerate() {
            let mut sample = StatementSample { statement: statement.name.clone(), asked: 0, found: 0 };
            let of_recording = evenly(&recorded[number], of_each);
            let count = if own.replay.is_some() { of_recording.len() } else { of_each as usize };
            for place in 0..count {
                match of_recording.get(place) {
                    Some(number) => {
                        prepared.make_recorded(*number, &mut request);
                    }
                    None => prepared.make_of(number, &mut random, &mut request),
                }
                let partition = lookups.has(prepared.statement(&request), request.key())?;
                let found = match statement.reads() {
                    true => {
                        let values = prepared.values(&request);
                        Some(answers(self.finds(session, prepared.statement(&request), &values)?, partition))
                    }
                    false => partition,
                };
                prepared.ended(&request);
                sample.asked += u32::from(found.is_some());
                sample.found += u32::from(found == Some(true));
            }
            samples.push(sample);
        }
        Ok(samples)
    }

    /// Whether a read finds a row.
    fn finds(&self, session: &Session, statement: &PreparedStatement, values: &impl Values) -> Result<bool> {
        let failed = |error: String| self.failed(statement.get_statement(), error);
        let answer = self.runtime.block_on(session.execute_unpaged(statement, Bound(values)));
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        let rows = answer.into_rows_result().map_err(|error| failed(error.to_string()))?;
        Ok(rows.rows_num() > 0)
    }

    fn failed(&self, statement: &str, reason: impl Into<String>) -> AdminError {
        AdminError::Statement { address: self.address, statement: statement.to_owned(), reason: reason.into() }
    }
}

/// Whether a read finds something. An aggregate has a row of nothing, too: where its partition is known (`None`: it is
/// not), that has to be there.
fn answers(has_row: bool, has_partition: Option<bool>) -> bool {
    has_row && has_partition != Some(false)
}

/// What looks a partition up, by table.
struct Lookups<'a> {
    admin: &'a Admin,
    session: &'a Session,
    keyspace: &'a str,
    tables: &'a [Table],
    prepared: BTreeMap<String, PreparedStatement>,
}

impl Lookups<'_> {
    /// Whether the partition that a request asks for is there; `None`: it has no whole partition key.
    fn has(&mut self, statement: &PreparedStatement, key: Option<&[u8]>) -> Result<Option<bool>> {
        let name = statement.get_table_spec().map(|spec| spec.table_name().to_owned());
        let tables = self.tables;
        let table = name.and_then(|name| tables.iter().find(|table| table.name == name));
        let (Some(table), Some(key)) = (table, key) else { return Ok(None) };
        let columns: Vec<String> = table.partition_key.iter().map(|column| quoted(&column.name)).collect();
        if !self.prepared.contains_key(&table.name) {
            let bounds: Vec<String> = columns.iter().map(|column| format!("{column} = ?")).collect();
            let of_table = format!("{}.{}", self.keyspace, quoted(&table.name));
            let text = format!("SELECT {} FROM {of_table} WHERE {} LIMIT 1", columns[0], bounds.join(" AND "));
            let prepared = self.admin.runtime.block_on(self.session.prepare(text.as_str()));
            let prepared = prepared.map_err(|error| self.admin.failed(&text, error.to_string()))?;
            self.prepared.insert(table.name.clone(), prepared);
        }
        let parts = match columns.len() {
            1 => vec![key],
            _ => components(key),
        };
        self.admin.finds(self.session, &self.prepared[&table.name], &Key(parts)).map(Some)
    }
}

/// The values of a partition key.
struct Key<'k>(Vec<&'k [u8]>);

impl Values for Key<'_> {
    fn each<E>(&self, mut put: impl FnMut(Option<&[&[u8]]>) -> Result<(), E>) -> Result<(), E> {
        self.0.iter().try_for_each(|part| put(Some(&[*part])))
    }
}

/// The values of a key of several columns, out of what its token is computed from: each has its length in two bytes
/// before it, and a zero after it (Apache Cassandra, `CompositeType.java`).
fn components(mut key: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    while let Some((length, rest)) = key.split_first_chunk::<2>() {
        let Some((part, rest)) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length))) else { break };
        parts.push(part);
        key = rest.get(1..).unwrap_or_default();
    }
    parts
}

/// So many of them at most, from all over.
fn evenly(all: &[u32], most: u32) -> Vec<u32> {
    let count = all.len().min(most as usize);
    (0..count).map(|place| all[place * all.len() / count]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_several_columns_comes_apart_as_it_was_put_together() {
        let mut key = Vec::new();
        let values: [&[u8]; 3] = [b"ab", b"", b"\x00\x01\x02"];
        values.iter().for_each(|value| ::statements::component(&mut key, |out| out.extend_from_slice(value)));
        assert_eq!(components(&key), values);
        // Cut, it has fewer.
        assert_eq!(components(&key[..key.len() - 3]), values[..2].to_vec());
        assert!(components(&[]).is_empty() && components(&[0]).is_empty());
    }

    #[test]
    fn an_aggregate_of_nothing_finds_nothing() {
        assert!(!answers(true, Some(false)), "SELECT count(*) has a row of a partition that is not there");
        assert!(!answers(false, Some(true)), "a row that is not there in a partition that is");
        assert!(answers(true, Some(true)) && answers(true, None) && !answers(false, None));
    }

    #[test]
    fn a_sample_is_taken_from_all_over() {
        let all: Vec<u32> = (0..100).collect();
        assert_eq!(evenly(&all, 4), [0, 25, 50, 75]);
        assert_eq!(evenly(&all[..3], 4), [0, 1, 2]);
        assert_eq!(evenly(&[], 4), [] as [u32; 0]);
    }
}
