//! How rows of a table of the user's own are written.

use ::statements::{Place, TableRows, Values};

use super::super::form::{Form, Value};
use super::super::protocol::Error;
use super::super::schema::name;
use super::pool::{Connection, Pool, Text};

/// A table that is loaded.
pub(super) struct Loaded {
    pub rows: TableRows,
    /// Of its columns, in their order.
    pub forms: Vec<Form>,
    /// What takes rows in as they come.
    pub copy: String,
    /// What writes one row; where it has a key, one that is there already stays as it is. A conflict with another
    /// unique index is an error: that row is not there.
    pub insert: Text,
}

impl Loaded {
    /// `number` is that of its insert among all texts that are prepared.
    pub fn new(rows: TableRows, number: usize) -> Self {
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
            insert: Text::new(number, format!("INSERT INTO {table} ({columns}) VALUES ({marks}){there}")),
            rows,
        }
    }

    /// Writes one row.
    pub async fn write(&self, connection: &mut Connection, values: &Values) -> Result<(), Error> {
        connection.prepare(&self.insert).await?;
        let bytes = values.iter().map(Option::unwrap_or_default);
        connection.bind(&self.insert, bytes.zip(&self.forms).map(|(bytes, form)| Value { bytes, form: *form }))?;
        connection.run().await
    }
}

/// Writes a row of each table and takes it back: what the server says against such rows is said before the load.
/// Errors: that.
pub(super) async fn tried(pool: &Pool, tables: &[Loaded], file: &str) -> Result<(), String> {
    let mut values = Values::default();
    for loaded in tables {
        loaded.rows.row(Place { partition: 0, row: 0 }, &mut values);
        let written = pool.in_time(written_back(pool, loaded, &values)).await;
        let written = written.and_then(|written| written.map_err(|error| error.to_string()));
        written.map_err(|error| format!("{file}: a row of {}: {error}", loaded.rows.table().name))?;
    }
    Ok(())
}

async fn written_back(pool: &Pool, loaded: &Loaded, values: &Values) -> Result<(), Error> {
    let mut connection = pool.take().await?;
    connection.simple("BEGIN").await?;
    let written = loaded.write(&mut connection, values).await;
    let taken_back = connection.simple("ROLLBACK").await;
    pool.put(connection);
    written.and(taken_back)
}
