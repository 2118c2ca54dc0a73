//! How rows of a table of the user's own are written.

use ::statements::{Place, TableRows, Values};
use tokio_postgres::Error;

use super::super::described::said;
use super::super::form::{Form, Value, parameters};
use super::super::schema::name;
use super::pool::{Connection, Pool};

/// A table that is loaded.
pub(super) struct Loaded {
    pub rows: TableRows,
    /// Of its columns, in their order.
    pub forms: Vec<Form>,
    /// What takes rows in as they come.
    pub copy: String,
    /// What writes one row; where it has a key, one that is there already stays as it is. A conflict with another
    /// unique index is an error: that row is not there.
    pub insert: String,
}

impl Loaded {
    pub fn new(rows: TableRows) -> Self {
        let table = name(&rows.table().name);
        let columns: Vec<String> = rows.columns().iter().map(|column| name(&column.name)).collect();
        let marks: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
        let (columns, marks) = (columns.join(", "), marks.join(", "));
        let key: Vec<String> = rows.columns()[rows.key_columns()].iter().map(|column| name(&column.name)).collect();
        let there = match rows.has_key() {
            true => format!(" ON CONFLICT ({}) DO NOTHING", key.join(", ")),
            false => String::new(),
        };
        Self {
            forms: rows.columns().iter().map(|column| Form::of(&column.cql_type)).collect(),
            copy: format!("COPY {table} ({columns}) FROM STDIN (FORMAT binary)"),
            insert: format!("INSERT INTO {table} ({columns}) VALUES ({marks}){there}"),
            rows,
        }
    }

    /// The values of a row as a statement takes them.
    pub fn values<'v>(&self, values: &'v Values) -> Vec<Value<'v>> {
        let bytes = values.iter().map(Option::unwrap_or_default);
        bytes.zip(&self.forms).map(|(bytes, form)| Value { bytes, form: *form }).collect()
    }
}

/// Writes a row of each table and takes it back: what the server says against such rows is said before the load.
/// Errors: that.
pub(super) async fn tried(
    (pool, connection): (&Pool, &Connection),
    tables: &[Loaded],
    file: &str,
) -> Result<(), String> {
    let mut values = Values::default();
    for loaded in tables {
        loaded.rows.row(Place { partition: 0, row: 0 }, &mut values);
        let written = pool.in_time(written_back(connection, loaded, &values)).await;
        let written = written.and_then(|written| written.map_err(|error| said(&error)));
        written.map_err(|error| format!("{file}: a row of {}: {error}", loaded.rows.table().name))?;
    }
    Ok(())
}

async fn written_back(connection: &Connection, loaded: &Loaded, values: &Values) -> Result<(), Error> {
    connection.client.batch_execute("BEGIN").await?;
    let written = connection.client.execute(&loaded.insert, &parameters(&loaded.values(values))).await;
    connection.client.batch_execute("ROLLBACK").await?;
    written.map(drop)
}
