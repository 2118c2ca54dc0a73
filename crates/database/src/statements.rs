//! The statements that write, and how text gets into their bind markers.

use engine::Stamp;
use scylla::client::session::Session;
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;
use spec::ConsistencyLevels;

/// A table of records in YCSB's layout.
pub(crate) struct Table {
    /// With its keyspace.
    pub(crate) name: String,
    /// Of the fields, in order.
    pub(crate) columns: Vec<String>,
    pub(crate) consistency: ConsistencyLevels,
}

/// Prepares a statement for requests at this level.
pub(crate) async fn prepare(
    session: &Session,
    statement: String,
    level: spec::Consistency,
) -> Result<PreparedStatement, String> {
    let mut prepared = session
        .prepare(statement.as_str())
        .await
        .map_err(|error| format!("cannot prepare `{statement}`: {error}"))?;
    // The table does not change under a trial: without this every row's response carries its column names.
    prepared.set_use_cached_result_metadata(true);
    prepared.set_consistency(consistency(level));
    Ok(prepared)
}

/// A level of an experiment as the driver has it.
pub(crate) fn consistency(level: spec::Consistency) -> Consistency {
    match level {
        spec::Consistency::Any => Consistency::Any,
        spec::Consistency::One => Consistency::One,
        spec::Consistency::Two => Consistency::Two,
        spec::Consistency::Three => Consistency::Three,
        spec::Consistency::Quorum => Consistency::Quorum,
        spec::Consistency::All => Consistency::All,
        spec::Consistency::LocalQuorum => Consistency::LocalQuorum,
        spec::Consistency::EachQuorum => Consistency::EachQuorum,
        spec::Consistency::LocalOne => Consistency::LocalOne,
    }
}

/// Writes, plain or (`stamped`) with a timestamp of the client's.
pub(crate) struct Writing {
    pub(crate) update_record: PreparedStatement,
    pub(crate) update_field: Vec<PreparedStatement>,
    pub(crate) insert: PreparedStatement,
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

/// Text values for bind markers that are all `varchar`, which plain statements are made of: written as they are,
/// without a type check per value and request.
pub(crate) struct Texts<'a> {
    pub(crate) before: &'a [&'a str],
    pub(crate) fields: &'a [(u32, &'a str)],
    pub(crate) after: &'a [&'a str],
}

impl SerializeRow for Texts<'_> {
    fn serialize(&self, _: &RowSerializationContext<'_>, writer: &mut RowWriter<'_>) -> Result<(), SerializationError> {
        let fields = self.fields.iter().map(|(_, value)| value);
        for text in self.before.iter().chain(fields).chain(self.after) {
            put(writer, &[text.as_bytes()])?;
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.fields.is_empty() && self.after.is_empty()
    }
}

/// Values of a stamped update: `USING TIMESTAMP ?`, the fields, the key.
pub(crate) struct StampedUpdate<'a> {
    pub(crate) stamp: &'a Stamp,
    pub(crate) fields: &'a [(u32, &'a str)],
    pub(crate) key: &'a str,
}

impl SerializeRow for StampedUpdate<'_> {
    fn serialize(&self, _: &RowSerializationContext<'_>, writer: &mut RowWriter<'_>) -> Result<(), SerializationError> {
        put(writer, &[&self.stamp.micros().to_be_bytes()])?;
        for (_, value) in self.fields {
            put(writer, &[self.stamp.tag().as_bytes(), value.as_bytes()])?;
        }
        put(writer, &[self.key.as_bytes()])
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// Values of a stamped insert: the key, the fields, `USING TIMESTAMP ?`.
pub(crate) struct StampedInsert<'a> {
    pub(crate) key: &'a str,
    pub(crate) values: &'a [&'a str],
    pub(crate) stamp: &'a Stamp,
}

impl SerializeRow for StampedInsert<'_> {
    fn serialize(&self, _: &RowSerializationContext<'_>, writer: &mut RowWriter<'_>) -> Result<(), SerializationError> {
        put(writer, &[self.key.as_bytes()])?;
        for value in self.values {
            put(writer, &[self.stamp.tag().as_bytes(), value.as_bytes()])?;
        }
        put(writer, &[&self.stamp.micros().to_be_bytes()])
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// One bind marker's value, given in pieces. A `bigint` (which a timestamp is) has eight bytes, most significant first
/// (native_protocol_v4.spec, section 6.4).
#[inline]
fn put(writer: &mut RowWriter<'_>, pieces: &[&[u8]]) -> Result<(), SerializationError> {
    let cell = writer.make_cell_writer();
    let written = if let [only] = pieces {
        cell.set_value(only)
    } else {
        let mut value = cell.into_value_builder();
        pieces.iter().for_each(|piece| value.append_bytes(piece));
        value.finish()
    };
    written.map(|_| ()).map_err(SerializationError::new)
}
