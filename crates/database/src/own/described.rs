//! What the server says of tables and bind markers, in the words of `statements`.

use ::statements::{Column, CqlType, Marker, Table};
use scylla::client::session::Session;
use scylla::cluster::metadata::{self, CollectionType, ColumnKind, ColumnType, NativeType};
use scylla::frame::response::result::ColumnSpec;
use scylla::statement::prepared::PreparedStatement;

/// The tables and views of a keyspace, by name, as a session knows them that has fetched its whole schema. Errors: it
/// does not know the keyspace, or a column has a type that nobody here knows.
pub(crate) fn tables_of(session: &Session, keyspace: &str) -> Result<Vec<Table>, String> {
    let state = session.get_cluster_state();
    let of = state.get_keyspace(keyspace).ok_or_else(|| format!("the server has no keyspace {keyspace}"))?;
    let views = of.views.iter().map(|(name, view)| {
        let view_of = Some(view.base_table_name.clone());
        table(name, &view.view_metadata).map(|described| Table { view_of, ..described })
    });
    let tables = of.tables.iter().map(|(name, described)| table(name, described));
    let mut tables: Vec<Table> = tables.chain(views).collect::<Result<_, String>>()?;
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tables)
}

fn table(name: &str, described: &metadata::Table) -> Result<Table, String> {
    let column = |column: &String| {
        let of = described.columns.get(column).ok_or_else(|| format!("table {name} has no column {column}"))?;
        let cql_type = cql_type(&of.typ).map_err(|error| format!("{name}.{column}: {error}"))?;
        Ok(Column::new(column, cql_type))
    };
    // A map of the driver's has no order.
    let of_kind = |kind: ColumnKind| {
        let mut names: Vec<&String> =
            described.columns.iter().filter(|(_, of)| of.kind == kind).map(|(name, _)| name).collect();
        names.sort();
        names.into_iter().map(column).collect::<Result<Vec<Column>, String>>()
    };
    Ok(Table {
        name: name.to_owned(),
        view_of: None,
        partition_key: described.partition_key.iter().map(column).collect::<Result<_, String>>()?,
        clustering: described.clustering_key.iter().map(column).collect::<Result<_, String>>()?,
        statics: of_kind(ColumnKind::Static)?,
        regular: of_kind(ColumnKind::Regular)?,
    })
}

/// The bind markers of a prepared statement, in order.
pub(super) fn markers(prepared: &PreparedStatement) -> Result<Vec<Marker>, String> {
    let marker = |spec: &ColumnSpec<'_>| {
        let cql_type = cql_type(spec.typ()).map_err(|error| format!("{}: {error}", spec.name()))?;
        Ok(Marker { name: spec.name().to_owned(), cql_type, table: spec.table_spec().table_name().to_owned() })
    };
    prepared.get_variable_col_specs().iter().map(marker).collect()
}

fn cql_type(of: &ColumnType<'_>) -> Result<CqlType, String> {
    let boxed = |of: &ColumnType<'_>| cql_type(of).map(Box::new);
    Ok(match of {
        ColumnType::Native(of) => native(of)?,
        ColumnType::Collection { typ: CollectionType::List(element), .. } => CqlType::List(boxed(element)?),
        ColumnType::Collection { typ: CollectionType::Set(element), .. } => CqlType::Set(boxed(element)?),
        ColumnType::Collection { typ: CollectionType::Map(key, value), .. } => CqlType::Map(boxed(key)?, boxed(value)?),
        ColumnType::Vector { typ, dimensions } => CqlType::Vector { element: boxed(typ)?, dimensions: *dimensions },
        ColumnType::UserDefinedType { definition, .. } => {
            let field = |(name, of): &(std::borrow::Cow<'_, str>, ColumnType<'_>)| {
                cql_type(of).map(|of| (name.clone().into_owned(), of))
            };
            let fields = definition.field_types.iter().map(field).collect::<Result<_, String>>()?;
            CqlType::Udt { name: definition.name.clone().into_owned(), fields }
        }
        ColumnType::Tuple(of) => CqlType::Tuple(of.iter().map(cql_type).collect::<Result<_, String>>()?),
        other => return Err(unknown(other)),
    })
}

fn native(of: &NativeType) -> Result<CqlType, String> {
    Ok(match of {
        NativeType::Ascii => CqlType::Ascii,
        NativeType::Boolean => CqlType::Boolean,
        NativeType::Blob => CqlType::Blob,
        NativeType::Counter => CqlType::Counter,
        NativeType::Date => CqlType::Date,
        NativeType::Decimal => CqlType::Decimal,
        NativeType::Double => CqlType::Double,
        NativeType::Duration => CqlType::Duration,
        NativeType::Float => CqlType::Float,
        NativeType::Int => CqlType::Int,
        NativeType::BigInt => CqlType::BigInt,
        NativeType::Text => CqlType::Text,
        NativeType::Timestamp => CqlType::Timestamp,
        NativeType::Inet => CqlType::Inet,
        NativeType::SmallInt => CqlType::SmallInt,
        NativeType::TinyInt => CqlType::TinyInt,
        NativeType::Time => CqlType::Time,
        NativeType::Timeuuid => CqlType::TimeUuid,
        NativeType::Uuid => CqlType::Uuid,
        NativeType::Varint => CqlType::VarInt,
        other => return Err(unknown(other)),
    })
}

fn unknown(of: &impl std::fmt::Debug) -> String {
    format!("{of:?} is a type for which iopslab has no values")
}
