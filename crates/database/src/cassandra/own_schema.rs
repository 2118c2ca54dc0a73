//! Schema of the user's own in a node, and whether its rows are there.

use std::time::Duration;

use ::statements::{Place, TableRows, Values};
use experiment::Own;
use scylla::statement::Statement;
use scylla::value::CqlValue;

use super::admin::{Admin, AdminError, Result, ViewRow, text};
use super::schema::keyspace_statement;
use crate::own::{Encoded, listed, tables_of};
use crate::plan::Replication;
use crate::statements::Bound;

impl Admin {
    /// Create a keyspace and in it the user's own schema, statement after statement. What the server says of one has
    /// its line.
    pub fn create_own_schema(&self, keyspace: &str, own: &Own, replication: &Replication) -> Result<()> {
        let schema_change = |text: &str| {
            let mut request = Statement::new(text);
            request.set_request_timeout(Some(Duration::from_secs(30)));
            request
        };
        self.execute(schema_change(&keyspace_statement(keyspace, replication)), ())?;
        for statement in &own.script.schema {
            self.execute(schema_change(&statement.cql(keyspace)), ()).map_err(|error| match error {
                AdminError::Statement { address, statement: text, reason } => {
                    let reason = format!("{}:{}: {reason}", own.file, statement.line);
                    AdminError::Statement { address, statement: text, reason }
                }
                other => other,
            })?;
        }
        self.wait_schema_agreed(Duration::from_secs(30))
    }

    /// Indexes of SAI that this node does not answer by yet, and views that it has not built, in words.
    pub(super) fn unbuilt(&self) -> Result<Vec<String>> {
        let mut unbuilt = Vec::new();
        let indexes = self.rows("SELECT keyspace_name, index_name, kind FROM system_schema.indexes")?;
        // Those in hidden tables are of other kinds. Cassandra has one of its own (`system.paxos`), which nothing shows
        // as built.
        let is_of_users = |row: &&ViewRow| text(row, "keyspace_name").is_some_and(|name| !name.starts_with("system"));
        let attached = indexes.iter().filter(is_of_users).filter(|row| text(row, "kind") == Some("CUSTOM"));
        let attached: Vec<&str> = attached.filter_map(|row| text(row, "index_name")).collect();
        if !attached.is_empty() {
            // Cassandra has this table since 5.0, as it has SAI.
            let shown = self.rows("SELECT index_name, is_queryable FROM system_views.sai_column_indexes")?;
            let is_queryable = |row: &&ViewRow| row.get("is_queryable").and_then(CqlValue::as_boolean) == Some(true);
            let queryable = shown.iter().filter(is_queryable).filter_map(|row| text(row, "index_name"));
            let queryable: Vec<&str> = queryable.collect();
            let missing = attached.into_iter().filter(|name| !queryable.contains(name));
            unbuilt.extend(missing.map(|name| format!("index {name} is not built")));
        }
        let views = self.rows("SELECT keyspace_name, view_name FROM system_schema.views")?;
        if !views.is_empty() {
            let built = self.rows("SELECT keyspace_name, view_name FROM system.built_views")?;
            let missing = views.iter().filter(|view| !built.contains(view));
            let missing = missing.filter_map(|row| text(row, "view_name"));
            unbuilt.extend(missing.map(|name| format!("view {name} is not built")));
        }
        Ok(unbuilt)
    }

    /// Of so many rows, spread over each of the user's own tables, how many there are, and how many exist: at
    /// consistency ONE. Asked of an admin that knows the tables ([`Self::connect_to_tables`]).
    pub fn count_own_sample(&self, keyspace: &str, own: &Own, of_each_table: u64) -> Result<(u32, u32)> {
        let failed = |statement: &str, reason: String| AdminError::Statement {
            address: self.address,
            statement: statement.to_owned(),
            reason,
        };
        let session = self.session.as_ref().ok_or_else(|| failed("", "not connected".into()))?;
        let tables = tables_of(session, keyspace).map_err(|error| failed("", error))?;
        let (mut asked, mut found) = (0, 0);
        let (mut key, mut routing_key) = (Values::default(), Vec::new());
        for data in own.data.tables.iter().filter(|data| data.partitions > 0) {
            let table = tables.iter().find(|table| table.name == data.table);
            let table = table.ok_or_else(|| failed("", format!("there is no table {}", data.table)))?;
            let rows = TableRows::new(table, data, own.data.seed).map_err(|unfit| failed("", listed(&unfit)))?;
            let text = rows.select(keyspace);
            let prepared = self.runtime.block_on(session.prepare(text.as_str()));
            let prepared = prepared.map_err(|error| failed(&text, error.to_string()))?;
            let partitions = rows.partitions();
            let count = of_each_table.min(partitions);
            for i in 0..count {
                let from = (u128::from(i) * u128::from(partitions) / u128::from(count)) as u64;
                // A replay at 1:N has one partition of N; where none follows, the one before has been looked up.
                let is_there = |partition: &u64| {
                    rows.routing_key(*partition, &mut routing_key);
                    own.keeps(&routing_key)
                };
                let Some(partition) = (from..partitions).find(is_there) else { continue };
                rows.key(Place { partition, row: 0 }, &mut key);
                let values = Encoded::Made(&key);
                let answer = self.runtime.block_on(session.execute_unpaged(&prepared, Bound(&values)));
                let answer = answer.map_err(|error| failed(&text, error.to_string()))?;
                let answer = answer.into_rows_result().map_err(|error| failed(&text, error.to_string()))?;
                asked += 1;
                found += u32::from(answer.rows_num() > 0);
            }
        }
        Ok((asked, found))
    }
}
