//! What is prepared, and how text gets into the bind markers: the same for the driver and for frames of our own.

use std::ops::Deref;

use engine::Stamp;
use experiment::ConsistencyLevels;
use scylla::client::session::Session;
use scylla::policies::load_balancing::RoutingInfo;
use scylla::routing::partitioner::Partitioner as _;
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, SerialConsistency};

use crate::frames::{Head, Values};

/// A table of records in YCSB's layout.
pub(crate) struct Table {
    /// With its keyspace.
    pub(crate) name: String,
    /// Of the fields, in order.
    pub(crate) columns: Vec<String>,
    pub(crate) consistency: ConsistencyLevels,
}

/// A prepared statement, for the driver and for frames of our own.
pub(crate) struct Statement {
    prepared: PreparedStatement,
    head: Head,
    consistency: Consistency,
}

impl Deref for Statement {
    type Target = PreparedStatement;

    fn deref(&self) -> &PreparedStatement {
        &self.prepared
    }
}

impl Statement {
    /// `is_conditional`: whether it has conditions, whose answers say by the names of their columns what they are.
    fn new(
        prepared: PreparedStatement,
        consistency: Consistency,
        (serial, is_conditional): (Option<SerialConsistency>, bool),
    ) -> Self {
        let returns_rows = prepared.get_current_result_set_col_specs().get().len() > 0 && !is_conditional;
        let markers = prepared.get_variable_col_specs().len() as u16;
        let levels = (consistency as u16, serial.map(|level| level as u16));
        Self { head: Head::new(prepared.get_id(), levels, markers, returns_rows), prepared, consistency }
    }

    /// What its requests in frames of our own begin with.
    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// Where a request for this partition key belongs, in the driver's words; `None`: the request is for no single one.
    pub(crate) fn info(&self, key: Option<&[u8]>) -> RoutingInfo<'_> {
        let mut info = RoutingInfo::default();
        info.consistency = self.consistency;
        info.table = self.prepared.get_table_spec();
        if self.prepared.is_token_aware() {
            info.token = key.map(|key| self.prepared.get_partitioner_name().hash_one(key));
        }
        info
    }
}

/// Prepares a statement for requests at this level.
pub(crate) async fn prepare(
    session: &Session,
    statement: String,
    level: experiment::Consistency,
) -> Result<Statement, String> {
    let mut prepared =
        session.prepare(statement.as_str()).await.map_err(|error| format!("cannot prepare `{statement}`: {error}"))?;
    // The table does not change under a trial: without this every row's response carries its column names.
    prepared.set_use_cached_result_metadata(true);
    let consistency = consistency(level);
    prepared.set_consistency(consistency);
    Ok(Statement::new(prepared, consistency, (None, false)))
}

/// Prepares a statement of the user's own; `serial` is the level of its conditions, if it has any.
pub(crate) async fn prepare_own(
    session: &Session,
    statement: &str,
    level: experiment::Consistency,
    (serial, is_conditional): (Option<SerialConsistency>, bool),
) -> Result<Statement, String> {
    let mut prepared = session.prepare(statement).await.map_err(|error| error.to_string())?;
    let consistency = consistency(level);
    prepared.set_consistency(consistency);
    prepared.set_serial_consistency(serial);
    Ok(Statement::new(prepared, consistency, (serial, is_conditional)))
}

/// A level of an experiment as the driver has it.
pub(crate) fn consistency(level: experiment::Consistency) -> Consistency {
    match level {
        experiment::Consistency::Any => Consistency::Any,
        experiment::Consistency::One => Consistency::One,
        experiment::Consistency::Two => Consistency::Two,
        experiment::Consistency::Three => Consistency::Three,
        experiment::Consistency::Quorum => Consistency::Quorum,
        experiment::Consistency::All => Consistency::All,
        experiment::Consistency::LocalQuorum => Consistency::LocalQuorum,
        experiment::Consistency::EachQuorum => Consistency::EachQuorum,
        experiment::Consistency::LocalOne => Consistency::LocalOne,
    }
}

/// The statements of YCSB.
pub(crate) struct Ycsb {
    pub(crate) read_record: Statement,
    pub(crate) read_field: Vec<Statement>,
    pub(crate) scan: Statement,
    pub(crate) plain: Writing,
}

impl Ycsb {
    pub(crate) async fn prepare(session: &Session, table: &Table) -> Result<Self, String> {
        let (name, read) = (&table.name, table.consistency.read);
        let mut read_field = Vec::new();
        for column in &table.columns {
            let statement = format!("SELECT {column} FROM {name} WHERE y_id = ?");
            read_field.push(prepare(session, statement, read).await?);
        }
        let scan = format!("SELECT * FROM {name} WHERE token(y_id) >= token(?) LIMIT ?");
        Ok(Self {
            read_record: prepare(session, format!("SELECT * FROM {name} WHERE y_id = ?"), read).await?,
            read_field,
            scan: prepare(session, scan, table.consistency.scan).await?,
            plain: Writing::prepare(session, table, false).await?,
        })
    }
}

/// Writes, plain or (`stamped`) with a timestamp of the client's.
pub(crate) struct Writing {
    pub(crate) update_record: Statement,
    pub(crate) update_field: Vec<Statement>,
    pub(crate) insert: Statement,
}

impl Writing {
    pub(crate) async fn prepare(session: &Session, table: &Table, stamped: bool) -> Result<Self, String> {
        let Table { name, columns, .. } = table;
        let ConsistencyLevels { update, insert, .. } = table.consistency;
        let using = if stamped { " USING TIMESTAMP ?" } else { "" };
        let update_of = |assignments: &str| format!("UPDATE {name}{using} SET {assignments} WHERE y_id = ?");
        let assignments: Vec<String> = columns.iter().map(|column| format!("{column} = ?")).collect();
        let mut update_field = Vec::new();
        for assignment in &assignments {
            update_field.push(prepare(session, update_of(assignment), update).await?);
        }
        let marks = vec!["?"; columns.len() + 1].join(", ");
        let names = columns.join(", ");
        let insert_all = format!("INSERT INTO {name} (y_id, {names}) VALUES ({marks}){using}");
        Ok(Self {
            update_record: prepare(session, update_of(&assignments.join(", ")), update).await?,
            update_field,
            insert: prepare(session, insert_all, insert).await?,
        })
    }
}

pub(crate) const NO_FIELDS: &[(u32, &str)] = &[];

/// Values as the driver takes them: written as they are, without a type check per value and request.
pub(crate) struct Bound<'a, V>(pub(crate) &'a V);

impl<V: Values> SerializeRow for Bound<'_, V> {
    fn serialize(&self, _: &RowSerializationContext<'_>, writer: &mut RowWriter<'_>) -> Result<(), SerializationError> {
        self.0.each(|pieces| put(writer, pieces))
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// Text values for bind markers that are all `varchar`, which plain statements are made of.
pub(crate) struct Texts<'a> {
    pub(crate) before: &'a [&'a str],
    pub(crate) fields: &'a [(u32, &'a str)],
    pub(crate) after: &'a [&'a str],
}

impl Values for Texts<'_> {
    #[inline]
    fn each<E>(&self, mut put: impl FnMut(Option<&[&[u8]]>) -> Result<(), E>) -> Result<(), E> {
        let fields = self.fields.iter().map(|(_, value)| value);
        for text in self.before.iter().chain(fields).chain(self.after) {
            put(Some(&[text.as_bytes()]))?;
        }
        Ok(())
    }
}

/// Values of a scan: where it begins, and how many records it takes at most.
pub(crate) struct Scan<'a> {
    pub(crate) start_key: &'a str,
    pub(crate) records: i32,
}

impl Values for Scan<'_> {
    fn each<E>(&self, mut put: impl FnMut(Option<&[&[u8]]>) -> Result<(), E>) -> Result<(), E> {
        put(Some(&[self.start_key.as_bytes()]))?;
        put(Some(&[&self.records.to_be_bytes()]))
    }
}

/// Values of a stamped update: `USING TIMESTAMP ?`, the fields, the key.
pub(crate) struct StampedUpdate<'a> {
    pub(crate) stamp: &'a Stamp,
    pub(crate) fields: &'a [(u32, &'a str)],
    pub(crate) key: &'a str,
}

impl Values for StampedUpdate<'_> {
    fn each<E>(&self, mut put: impl FnMut(Option<&[&[u8]]>) -> Result<(), E>) -> Result<(), E> {
        put(Some(&[&self.stamp.micros().to_be_bytes()]))?;
        for (_, value) in self.fields {
            put(Some(&[self.stamp.tag().as_bytes(), value.as_bytes()]))?;
        }
        put(Some(&[self.key.as_bytes()]))
    }
}

/// Values of a stamped insert: the key, the fields, `USING TIMESTAMP ?`.
pub(crate) struct StampedInsert<'a> {
    pub(crate) key: &'a str,
    pub(crate) values: &'a [&'a str],
    pub(crate) stamp: &'a Stamp,
}

impl Values for StampedInsert<'_> {
    fn each<E>(&self, mut put: impl FnMut(Option<&[&[u8]]>) -> Result<(), E>) -> Result<(), E> {
        put(Some(&[self.key.as_bytes()]))?;
        for value in self.values {
            put(Some(&[self.stamp.tag().as_bytes(), value.as_bytes()]))?;
        }
        put(Some(&[&self.stamp.micros().to_be_bytes()]))
    }
}

/// One bind marker's value, given in pieces. A `bigint` (which a timestamp is) has eight bytes, most significant first
/// (native_protocol_v4.spec, section 6.4).
#[inline]
fn put(writer: &mut RowWriter<'_>, pieces: Option<&[&[u8]]>) -> Result<(), SerializationError> {
    let cell = writer.make_cell_writer();
    let Some(pieces) = pieces else {
        let _ = cell.set_null();
        return Ok(());
    };
    let written = if let [only] = pieces {
        cell.set_value(only)
    } else if pieces.is_empty() {
        Ok(cell.set_unset())
    } else {
        let mut value = cell.into_value_builder();
        pieces.iter().for_each(|piece| value.append_bytes(piece));
        value.finish()
    };
    written.map(|_| ()).map_err(SerializationError::new)
}
