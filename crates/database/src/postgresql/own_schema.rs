//! Schema of the user's own in a node, and whether its rows are there.

use ::statements::{Place, TableRows, Values};
use experiment::Own;
use tokio_postgres::Client;

use super::admin::{A_LOOK, Admin, AdminError};
use super::conf::CLIENT;
use super::described::{Described, described, said};
use super::form::{Form, Value, made_as, parameters};
use super::schema::name;
use crate::own::listed;

/// What the clients' user may do with the tables of a schema of the user's own, and with the sequences that fill them.
fn grants() -> Vec<String> {
    vec![
        format!("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {CLIENT}"),
        format!("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {CLIENT}"),
    ]
}

/// Creates the user's own schema where its tables are not there, statement after statement: all of it or nothing, for
/// the connection ends with it. What the server says of a statement has its line.
pub(super) fn create(admin: Admin, own: &Own) -> Result<(), AdminError> {
    let tables = own.tables();
    let there = "SELECT count(*) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname::text = ANY($1::text[])";
    if admin.number(there, &[&tables])? > 0 {
        return Ok(());
    }
    admin.run(&["BEGIN".to_owned()])?;
    for statement in &own.script.schema {
        // As one that is prepared: the server takes no second one in the same text.
        admin.rows(&statement.text, &[], A_LOOK).map_err(|error| match error {
            AdminError::Statement { source, .. } => {
                AdminError::Answer { statement: format!("{}:{}", own.file, statement.line), reason: said(&source) }
            }
            other => other,
        })?;
    }
    admin.run(&grants())?;
    admin.run(&["COMMIT".to_owned()])
}

/// The tables of the user's own as a node has them.
fn tables(admin: &Admin, own: &Own) -> Result<Vec<Described>, AdminError> {
    let found = admin.with(async |client: &Client| described(client, &own.tables()).await);
    found.map_err(|reason| AdminError::Answer { statement: own.file.clone(), reason })
}

/// Of so many rows, spread over each of the user's own tables, how many there are, and how many exist. Of a table
/// without a key nobody can look one up: its rows are counted up to that many.
pub(super) fn count_sample(admin: &Admin, own: &Own, of_each_table: u64) -> Result<(u32, u32), AdminError> {
    let failed = |reason: String| AdminError::Answer { statement: own.file.clone(), reason };
    let all = tables(admin, own)?;
    let (mut asked, mut found) = (0, 0);
    let mut key = Values::default();
    for data in own.data.tables.iter().filter(|data| data.partitions > 0) {
        let of_name = all.iter().find(|described| described.table.name == data.table);
        let Described { table, .. } = of_name.ok_or_else(|| failed(format!("there is no table {}", data.table)))?;
        let rows = TableRows::new(table, data, own.data.seed).map_err(|unfit| failed(listed(&unfit)))?;
        let (partitions, quoted) = (rows.partitions(), name(&table.name));
        let count = of_each_table.min(partitions);
        if !rows.has_key() {
            let query = format!("SELECT count(*) FROM (SELECT FROM {quoted} LIMIT {count}) sampled");
            (asked, found) = (asked + count as u32, found + admin.number(&query, &[])? as u32);
            continue;
        }
        let columns = &rows.columns()[rows.key_columns()];
        let compared = columns.iter().enumerate().map(|(at, column)| format!("{} = ${}", name(&column.name), at + 1));
        let compared: Vec<String> = compared.collect();
        let query = format!("SELECT count(*) FROM {quoted} WHERE {}", compared.join(" AND "));
        let forms = forms(admin, &query).map_err(failed)?;
        for i in 0..count {
            let partition = (u128::from(i) * u128::from(partitions) / u128::from(count)) as u64;
            rows.key(Place { partition, row: 0 }, &mut key);
            let bytes = key.iter().map(Option::unwrap_or_default);
            let values: Vec<Value<'_>> = bytes.zip(&forms).map(|(bytes, form)| Value { bytes, form: *form }).collect();
            asked += 1;
            found += u32::from(admin.number(&query, &parameters(&values))? > 0);
        }
    }
    Ok((asked, found))
}

/// The forms of the parameters of a query.
fn forms(admin: &Admin, query: &str) -> Result<Vec<Form>, String> {
    let prepared = admin.with(async |client: &Client| client.prepare(query).await);
    let prepared = prepared.map_err(|error| said(&error))?;
    prepared.params().iter().map(|of| made_as(of).map(|of| Form::of(&of))).collect()
}
