//! Statements of a log as statements of a file: which can be, how often each was asked, and why others cannot.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use experiment::Consistency;
use serde::Serialize;
use statements::{Effect, Logged, MOST_STATEMENTS, MarkerOf, NotOwn, Script, SerialConsistency, StatementData};

use crate::reading::{Cluster, ColumnKind, ColumnSchema, TableSchema, TypeSchema};
use crate::values::{ValuesSeen, median};

/// With less of the requests a file says first that it is not all of them.
const NEARLY_ALL: f64 = 0.95;
/// Rows from the lower to the upper end of a range: an assumption, since a log has no rows.
const RANGE_ROWS: u64 = 10;
/// Keys of a list of `IN ?` that an experiment takes.
const MOST_LISTED: u32 = 1_000;
/// Types of a clustering column whose values grow from row to row as they are usually made.
const GROWING: [&str; 17] = [
    "ascii",
    "bigint",
    "blob",
    "date",
    "decimal",
    "double",
    "float",
    "inet",
    "int",
    "smallint",
    "text",
    "time",
    "timestamp",
    "timeuuid",
    "tinyint",
    "varchar",
    "varint",
];
/// Words of types that every server has (`CQL3Type.Native`), and those of types of several.
const TYPES: [&str; 27] = [
    "ascii",
    "bigint",
    "blob",
    "boolean",
    "counter",
    "date",
    "decimal",
    "double",
    "duration",
    "float",
    "frozen",
    "inet",
    "int",
    "list",
    "map",
    "set",
    "smallint",
    "text",
    "time",
    "timestamp",
    "timeuuid",
    "tinyint",
    "tuple",
    "uuid",
    "varchar",
    "varint",
    "vector",
];

/// A statement of a log, with how often and with what it was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementSeen {
    /// As a file may have it, or why it cannot be in one.
    pub logged: Result<Logged, NotOwn>,
    /// The keyspace that its text names, or that of its connection.
    pub keyspace: Option<String>,
    /// Its level in small letters.
    pub consistency: Option<String>,
    /// The level of its condition in small letters.
    pub serial: Option<String>,
    /// How often it was asked.
    pub requests: u64,
    /// As how many operations a node counts that: each partition of a batch is one, and each key of `IN`. Of tables
    /// that are not known 0.
    pub operations: u64,
    /// What was given to each of its markers.
    pub values: Vec<ValuesSeen>,
}

/// A statement of a log that can be asked again by a file of statements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnStatement {
    /// Unique.
    pub name: String,
    /// Its text, with `?` for each value.
    pub text: String,
    /// Its level.
    pub consistency: Option<String>,
    /// The level of its condition.
    pub serial: Option<SerialConsistency>,
    /// How often it was asked: its weight.
    pub requests: u64,
    /// As how many operations a node counts that.
    pub operations: u64,
    /// What its markers ask for, beside keys.
    pub data: StatementData,
    /// Whether it is a batch with several statements of one table, which a run asks of one partition.
    pub has_rows_of_one_partition: bool,
}

/// One that cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The statement, without a value of anybody's.
    pub what: String,
    /// Why.
    pub why: String,
    /// How often it was asked.
    pub requests: u64,
}

/// What a file of statements can have of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct OwnUse {
    /// Those that are asked most first.
    pub statements: Vec<OwnStatement>,
    /// The same of those that it cannot have.
    pub left_out: Vec<LeftOut>,
    /// The tables that it asks for, by their places among those of the schema, with what was seen of their columns.
    #[serde(skip)]
    pub(crate) tables: BTreeMap<usize, BTreeMap<String, ValuesSeen>>,
}

impl OwnUse {
    /// All requests of the log.
    pub fn requests(&self) -> u64 {
        let left_out: u64 = self.left_out.iter().map(|one| one.requests).sum();
        left_out + self.statements.iter().map(|one| one.requests).sum::<u64>()
    }

    /// The share of the requests whose statements a file can have; `None`: there are none.
    pub fn carried(&self) -> Option<f64> {
        let carried: u64 = self.statements.iter().map(|one| one.requests).sum();
        stats::ratio(carried as f64, self.requests() as f64)
    }

    /// As how many operations a node counts a request of the statements that a file can have, in the mean: at least 1.
    pub(crate) fn operations_of_a_request(&self) -> f64 {
        let sum = |of: fn(&OwnStatement) -> u64| self.statements.iter().map(of).sum::<u64>() as f64;
        stats::ratio(sum(|one| one.operations), sum(|one| one.requests)).map_or(1.0, |operations| operations.max(1.0))
    }

    /// In words, where it is not nearly all of them.
    pub fn not_all(&self) -> Option<String> {
        let carried = self.carried().filter(|carried| *carried < NEARLY_ALL)?;
        Some(format!(
            "Own statements have {:.1} % of the requests of the query log: what the others ask of the cluster is in no \
             figure of theirs.",
            carried * 100.0
        ))
    }
}

/// What a file of statements can have of these.
pub(crate) fn own_use(seen: &[StatementSeen], cluster: &Cluster) -> OwnUse {
    let mut all: Vec<&StatementSeen> = seen.iter().collect();
    all.sort_by_key(|one| Reverse(one.requests));
    let mut own = OwnUse::default();
    for one in all {
        let fits = fits(one, cluster).and_then(|fit| named(fit, &own, cluster));
        let (what, why) = match (&one.logged, fits) {
            (Ok(logged), Ok(fit)) => {
                own.take((one, logged), fit, cluster);
                continue;
            }
            (Ok(logged), Err(why)) => (logged.text.clone(), why),
            (Err(not), _) => (not.what.clone(), not.why.clone()),
        };
        // Levels of a statement make no difference here.
        match own.left_out.iter_mut().find(|known| known.what == what && known.why == why) {
            Some(known) => known.requests += one.requests,
            None => own.left_out.push(LeftOut { what, why, requests: one.requests }),
        }
    }
    own.left_out.sort_by_key(|one| Reverse(one.requests));
    own
}

/// How a statement is asked by a file.
struct Fit {
    statement: OwnStatement,
    /// Its tables, by their places.
    tables: Vec<usize>,
}

impl OwnUse {
    fn take(&mut self, (one, logged): (&StatementSeen, &Logged), fit: Fit, cluster: &Cluster) {
        for place in fit.tables {
            let columns = self.tables.entry(place).or_default();
            for (marker, values) in logged.markers.iter().zip(&one.values) {
                if let MarkerOf::Column { name, .. } = &marker.of
                    && marker.table == cluster.tables[place].name.table
                {
                    columns.entry(name.clone()).or_default().join(values);
                }
            }
        }
        self.statements.push(fit.statement);
    }
}

/// A statement beside those that the file has already, by a name that none of them has.
fn named(mut fit: Fit, own: &OwnUse, cluster: &Cluster) -> Result<Fit, String> {
    if own.statements.len() == MOST_STATEMENTS {
        return Err(format!("a file has {MOST_STATEMENTS} statements at the most, and others are asked more often"));
    }
    for table in &fit.tables {
        let name = &cluster.tables[*table].name;
        let same = own.tables.keys().map(|known| &cluster.tables[*known].name);
        if let Some(other) = same.filter(|other| *other != name).find(|other| other.table == name.table) {
            return Err(format!("it asks for {name} beside {other}: a run has one keyspace"));
        }
    }
    let is_free = |name: &String| own.statements.iter().all(|other| other.name != *name);
    let name = &fit.statement.name;
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or_default();
    fit.statement.name = free;
    Ok(fit)
}

/// How a statement can be asked by a file; or why it cannot.
fn fits(one: &StatementSeen, cluster: &Cluster) -> Result<Fit, String> {
    let logged = one.logged.as_ref().map_err(|not| not.why.clone())?;
    let serial = one.serial.as_deref().filter(|_| logged.effect == Effect::Conditional);
    let serial = serial.and_then(|level| SerialConsistency::ALL.into_iter().find(|known| known.name() == level));
    level(one, logged.effect)?;
    let place = |name: &String| place(cluster, one.keyspace.as_ref(), name);
    let tables: Vec<usize> = logged.tables.iter().map(place).collect::<Result<_, _>>()?;
    let of_table = |table: &TableSchema| logged.parts.iter().filter(|part| **part == table.name.table).count();
    let mut several = tables.iter().map(|table| &cluster.tables[*table]).filter(|table| of_table(table) > 1).peekable();
    let has_rows_of_one_partition = several.peek().is_some();
    if let Some(table) = several.find(|table| table.clustering == 0) {
        let table = &table.name.table;
        return Err(format!("it may write several partitions of {table}, and a batch of a run has one of each table"));
    }
    let mut data = StatementData::default();
    for (at, marker) in logged.markers.iter().enumerate() {
        let table = tables.iter().map(|table| &cluster.tables[*table]).find(|table| table.name.table == marker.table);
        let given = one.values.get(at).and_then(|seen| median(&seen.numbers));
        asked(&marker.of, (table, given), logged, &mut data)?;
    }
    let directive = format!("-- statement {} weight 1\n{};", logged.name, logged.text);
    if let Err(mistakes) = Script::parse(&directive, &[]) {
        return Err(mistakes.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>().join("; "));
    }
    let statement = OwnStatement {
        name: logged.name.clone(),
        text: logged.text.clone(),
        consistency: one.consistency.clone(),
        serial,
        requests: one.requests,
        operations: one.operations,
        data,
        has_rows_of_one_partition,
    };
    Ok(Fit { statement, tables })
}

/// Refuses a level that one node cannot keep, or that no statement of a file has.
fn level(one: &StatementSeen, effect: Effect) -> Result<(), String> {
    let Some(stated) = &one.consistency else { return Ok(()) };
    let known = Consistency::ALL.into_iter().find(|level| level.name() == stated);
    match known {
        None => Err(format!("its consistency is {stated}, which a statement of a file cannot have")),
        Some(Consistency::Any) if effect == Effect::Read => Err("its consistency is any, and it reads".to_owned()),
        Some(level) if level.replicas(1) > 1 => {
            Err(format!("its consistency is {stated}: the one node that is measured could never answer it"))
        }
        Some(_) => Ok(()),
    }
}

/// The place of a table that can be made again.
fn place(cluster: &Cluster, keyspace: Option<&String>, name: &str) -> Result<usize, String> {
    let mut found = cluster.tables.iter().enumerate().filter(|(_, table)| table.name.is_meant(keyspace, name));
    let (place, table) = match (found.next(), found.next()) {
        (Some(found), None) => found,
        (Some(_), Some(_)) => return Err(format!("{name} is a table of several keyspaces, and the log has none")),
        (None, _) => {
            let why = "is none of the tables that were read: one of the system's, a materialised view, or gone";
            return Err(format!("{name} {why}"));
        }
    };
    if table.described.is_empty() {
        return Err(format!("the columns of {name} were not read"));
    }
    match table.described.iter().find(|column| !is_known(cluster, &table.name.keyspace, &column.cql_type)) {
        Some(column) => {
            let why = "is of a type that was not read, or that several keyspaces have";
            Err(format!("{name}.{} {why}: {}", column.name, column.cql_type))
        }
        None => Ok(place),
    }
}

/// Whether a type can be made again, with all that is within it. (No server has types that need each other.)
fn is_known(cluster: &Cluster, keyspace: &str, cql_type: &str) -> bool {
    let is_of_users = |word: &str| {
        let own = own_type(cluster, word).filter(|own| own.keyspace == keyspace);
        own.is_some_and(|own| own.fields.iter().all(|(_, within)| is_known(cluster, keyspace, within)))
    };
    words(cql_type).all(|word| TYPES.contains(&word) || word.bytes().all(|b| b.is_ascii_digit()) || is_of_users(word))
}

/// The words of a type: of `map<text, int>` three.
pub(crate) fn words(cql_type: &str) -> impl Iterator<Item = &str> {
    cql_type.split(['<', '>', ',', ' ']).filter(|word| !word.is_empty())
}

/// The one type of the user's own that has this name.
pub(crate) fn own_type<'a>(cluster: &'a Cluster, name: &str) -> Option<&'a TypeSchema> {
    let mut found = cluster.types.iter().filter(|own| own.name == name);
    found.next().filter(|_| found.next().is_none())
}

/// Refuses a list of a column that is a part of a partition key.
fn not_of_a_part(table: Option<&TableSchema>, column: &ColumnSchema) -> Result<(), String> {
    let is_of_partition = matches!(column.kind, ColumnKind::PartitionKey(_));
    match is_of_partition && table.is_some_and(|table| table.partition_key > 1) {
        true => Err(format!("IN by {}, a part of the partition key, asks for keys that are not made", column.name)),
        false => Ok(()),
    }
}

/// What a marker asks for; `given`: the usual number of those that it had.
fn asked(
    of: &MarkerOf,
    (table, given): (Option<&TableSchema>, Option<u32>),
    logged: &Logged,
    data: &mut StatementData,
) -> Result<(), String> {
    let column = |name: &str| {
        let column = table.and_then(|table| table.column(name));
        column.ok_or_else(|| format!("its table has no column {name} any more"))
    };
    let usual = |what: &str| match given {
        Some(given @ 1..) => Ok(given),
        _ => Err(format!("its {what} was never given, or is mostly 0, which cannot be stated")),
    };
    match of {
        MarkerOf::Limit => data.limit = Some(usual("LIMIT")?),
        MarkerOf::Ttl => data.ttl_s = Some(usual("TTL")?),
        MarkerOf::Timestamp | MarkerOf::Token | MarkerOf::Element => {}
        MarkerOf::Column { name, is_compared, is_listed } => {
            let column = column(name)?;
            if *is_listed {
                not_of_a_part(table, column)?;
            }
            let is_by_key = column.is_key() || logged.filters || logged.effect != Effect::Read;
            if *is_compared && !is_by_key {
                return Err(format!("it asks by {name}, which is not of the key: indexes are not read"));
            }
        }
        MarkerOf::RangeEnd(name) => {
            let column = column(name)?;
            let grows = matches!(column.kind, ColumnKind::Clustering(_)) && GROWING.contains(&column.parts().0);
            if !grows {
                let why = "whose values do not grow from row to row as they are made";
                return Err(format!("its range has two ends of {name} ({}), {why}", column.cql_type));
            }
            data.range_rows = Some(RANGE_ROWS);
        }
        MarkerOf::List(name) => {
            not_of_a_part(table, column(name)?)?;
            let keys = usual("list")?;
            if keys > MOST_LISTED {
                return Err(format!("its list has mostly {keys} keys, and a file states {MOST_LISTED} at the most"));
            }
            data.in_keys = Some(keys);
        }
    }
    Ok(())
}
