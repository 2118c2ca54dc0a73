//! The data set in a cluster that somebody else owns.
//!
//! A keyspace that was named for it is created where it does not exist, with the table of records and a table
//! `iopslab_dataset` beside it, which says which data set was loaded and whether that came to its end. Nothing is ever
//! dropped. Records that iopslab has not loaded are not touched: their table is refused.

use std::collections::BTreeMap;
use std::time::Duration;

use experiment::{Dataset, KeyFormat};
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::statement::{Consistency, Statement};
use tokio::runtime::{Builder, Runtime};

use crate::cassandra::schema_statements;
use crate::plan::Replication;
use crate::session::{self, Refusal};
use crate::table_at::TableAt;

/// Says which data set is in the table beside it.
pub(crate) const MARKS: &str = "iopslab_dataset";
/// Schema changes wait for all nodes.
const SCHEMA_TIMEOUT: Duration = Duration::from_secs(60);

/// What comes of looking at a cluster.
pub type Result<T, E = ExistingError> = std::result::Result<T, E>;

/// Why a cluster cannot be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum ExistingError {
    #[error("cannot connect to {hosts}: {refusal}")]
    Connect { hosts: String, refusal: Refusal },
    /// A statement failed.
    #[error("{statement}: {reason}")]
    Statement { statement: String, reason: String },
    #[error("{table} holds records that iopslab has not loaded")]
    Foreign { table: String },
    #[error("{table} holds another data set: {there}")]
    Other { table: String, there: String },
    #[error("keyspace {keyspace} keeps {there} replicas of each record, the experiment states {wanted}")]
    Replication { keyspace: String, there: String, wanted: u32 },
    #[error("{table} is there, and iopslab has not made it")]
    NotMade { table: String },
    #[error("cannot start the connection: {0}")]
    Runtime(#[from] std::io::Error),
}

/// What a cluster has of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// All of it.
    Whole,
    /// Nothing, or what an interrupted loading has left: inserting it again makes it whole.
    Missing,
}

/// A connection to a cluster that somebody else owns.
pub struct Existing {
    session: Session,
    runtime: Runtime,
    keyspace: String,
    table: String,
}

impl Existing {
    /// Connects. Errors: no node answers, or the user is refused.
    pub fn connect(to: &TableAt) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let profile = ExecutionProfile::builder()
            .consistency(Consistency::LocalQuorum)
            .request_timeout(Some(SCHEMA_TIMEOUT))
            .load_balancing_policy(session::policy(&to.access))
            .build();
        let builder = SessionBuilder::new()
            .known_nodes(&to.contact_points)
            .default_execution_profile_handle(profile.into_handle())
            .schema_agreement_timeout(SCHEMA_TIMEOUT)
            .fetch_schema_metadata(false);
        let session = runtime
            .block_on(session::open(builder, &to.contact_points, &to.access))
            .map_err(|refusal| ExistingError::Connect { hosts: to.contact_points.join(", "), refusal })?;
        Ok(Self { session, runtime, keyspace: to.keyspace.clone(), table: to.table.clone() })
    }

    /// Looks for the data set; makes keyspace and tables where they are missing, and notes that it is being loaded.
    /// Errors: the table has other records, or a statement fails.
    pub fn take(
        &self,
        dataset: &Dataset,
        keys: KeyFormat,
        replication_factor: u32,
        data_centre: Option<&str>,
    ) -> Result<Found> {
        let Self { keyspace, table, .. } = self;
        let full = || format!("{keyspace}.{table}");
        let tables =
            self.texts(&format!("SELECT table_name FROM system_schema.tables WHERE keyspace_name = '{keyspace}'"))?;
        self.check_replication(replication_factor, data_centre)?;
        let wanted = definition(dataset, keys);
        if tables.iter().any(|name| name == table) {
            let marks = match tables.iter().any(|name| name == MARKS) {
                true => self.texts(&format!("SELECT definition FROM {keyspace}.{MARKS} WHERE name = '{table}'"))?,
                false => Vec::new(),
            };
            match marks.first() {
                None if self.texts(&format!("SELECT y_id FROM {} LIMIT 1", full()))?.is_empty() => {}
                None => return Err(ExistingError::Foreign { table: full() }),
                Some(there) if *there == wanted => {
                    let state = self.texts(&format!("SELECT state FROM {keyspace}.{MARKS} WHERE name = '{table}'"))?;
                    if state.first().is_some_and(|state| state == "loaded") {
                        return Ok(Found::Whole);
                    }
                }
                Some(there) => {
                    return Err(ExistingError::Other { table: full(), there: there.clone() });
                }
            }
        }
        // By its name where it is known: Cassandra before 4.0 does not take a number for all data centres.
        let replication = match data_centre {
            Some(name) => Replication::ByDataCentre(BTreeMap::from([(name.to_owned(), replication_factor)])),
            None => Replication::Each(replication_factor),
        };
        for statement in schema_statements(keyspace, table, dataset, &replication, &BTreeMap::new()) {
            self.run(&statement)?;
        }
        self.run(&format!(
            "CREATE TABLE IF NOT EXISTS {keyspace}.{MARKS} (name varchar PRIMARY KEY, definition varchar, \
             state varchar)"
        ))?;
        self.mark(&wanted, "loading")?;
        Ok(Found::Missing)
    }

    /// A keyspace that exists keeps as many replicas as stated, in the data centre that is asked or in every one.
    fn check_replication(&self, wanted: u32, data_centre: Option<&str>) -> Result<()> {
        let keyspace = &self.keyspace;
        let statement = format!("SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = '{keyspace}'");
        let failed = |reason: String| ExistingError::Statement { statement: statement.clone(), reason };
        let query = self.session.query_unpaged(Statement::new(statement.as_str()), ());
        let result = self.runtime.block_on(query).map_err(|error| failed(error.to_string()))?;
        let rows = result.into_rows_result().map_err(|error| failed(error.to_string()))?;
        let of_keyspace = rows.maybe_first_row::<(BTreeMap<String, String>,)>();
        let Some((options,)) = of_keyspace.map_err(|error| failed(error.to_string()))? else { return Ok(()) };
        let copies = options.iter().filter(|(key, _)| *key != "class");
        let mut asked =
            copies.filter(|(key, _)| data_centre.is_none_or(|name| *key == name || *key == "replication_factor"));
        match asked.find(|(_, copies)| copies.parse() != Ok(wanted)) {
            None => Ok(()),
            Some((_, there)) => {
                Err(ExistingError::Replication { keyspace: keyspace.clone(), there: there.clone(), wanted })
            }
        }
    }

    /// Nodes that would be asked and to which there is no connection: they are down, cannot be reached from here, or
    /// their certificate is not taken. The driver has tried each of them once when a session is open.
    pub fn left_out(&self, data_centre: Option<&str>) -> Vec<String> {
        let cluster = self.session.get_cluster_state();
        let nodes = cluster.get_nodes_info().iter();
        let asked = nodes.filter(|node| data_centre.is_none_or(|name| node.datacenter.as_deref() == Some(name)));
        let left_out = asked.filter(|node| !node.is_connected());
        left_out.map(|node| node.address.to_string()).collect()
    }

    /// Notes that the data set is whole.
    pub fn loaded(&self, dataset: &Dataset, keys: KeyFormat) -> Result<()> {
        self.mark(&definition(dataset, keys), "loaded")
    }

    fn mark(&self, definition: &str, state: &str) -> Result<()> {
        let Self { keyspace, table, .. } = self;
        // A definition has no quotes in it.
        self.run(&format!(
            "INSERT INTO {keyspace}.{MARKS} (name, definition, state) VALUES ('{table}', '{definition}', '{state}')"
        ))
    }

    fn run(&self, statement: &str) -> Result<()> {
        self.texts(statement).map(|_| ())
    }

    /// The first column of all rows, as text.
    fn texts(&self, statement: &str) -> Result<Vec<String>> {
        let failed = |reason: String| ExistingError::Statement { statement: statement.to_owned(), reason };
        let result = self.runtime.block_on(self.session.query_unpaged(Statement::new(statement), ()));
        let result = result.map_err(|error| failed(error.to_string()))?;
        if !result.is_rows() {
            return Ok(Vec::new());
        }
        let rows = result.into_rows_result().map_err(|error| failed(error.to_string()))?;
        let texts = rows.rows::<(Option<String>,)>().map_err(|error| failed(error.to_string()))?;
        texts
            .filter_map(|row| row.map(|(text,)| text).transpose())
            .map(|text| text.map_err(|error| failed(error.to_string())))
            .collect()
    }
}

/// What a data set is, in words that compare: `1000 records of 10 x 100 B, ...`.
pub(crate) fn definition(dataset: &Dataset, keys: KeyFormat) -> String {
    let Dataset { records, fields, field_length, compressibility, seed } = dataset;
    let order = if keys.hashed { "hashed" } else { "ordered" };
    format!(
        "{records} records of {fields} x {field_length} B, compressibility {compressibility}, seed {seed}, {order} \
         keys padded to {}",
        keys.zero_padding
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_data_set_is_in_its_definition() {
        let dataset = Dataset { records: 1_000, fields: 10, field_length: 100, compressibility: 0.5, seed: 7 };
        let text = definition(&dataset, KeyFormat::default());
        assert_eq!(text, "1000 records of 10 x 100 B, compressibility 0.5, seed 7, hashed keys padded to 1");
        assert!(!text.contains('\''), "it stands between quotes");
    }
}
