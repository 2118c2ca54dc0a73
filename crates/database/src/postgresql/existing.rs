//! The data set in a server that somebody else owns, as [`crate::existing`] has it in a CQL cluster.
//!
//! A schema that was named for it is created where it does not exist, with the table of records and a table
//! `iopslab_dataset` beside it, which says which data set was loaded and whether that came to its end. All three are
//! made in one transaction, so that a table without that word is not of iopslab's making: it is refused. Nothing is
//! ever dropped.

use std::time::Duration;

use experiment::{Dataset, KeyFormat, TableBefore};
use tokio_postgres::error::SqlState;

use super::admin::{A_LOOK, Admin, AdminError};
use super::counters;
use super::described::said;
use super::schema::{fields, name};
use super::way::Way;
use crate::existing::{ExistingError, Found, MARKS, Result, definition};
use crate::table_at::TableAt;

/// The state of a data set of which all is there.
const LOADED: &str = "loaded";
/// The state of one that is being loaded, or whose loading was interrupted.
const LOADING: &str = "loading";
/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take to count all rows.
const A_COUNT: Duration = Duration::from_secs(3_600);

/// A connection to a server that somebody else owns.
pub(super) struct Theirs {
    admin: Admin,
    schema: String,
    table: String,
}

impl Theirs {
    /// Connects. Errors: nobody answers, or the user is refused.
    pub fn connect(at: &TableAt) -> Result<Self> {
        let connected = Way::to(at, &[]).and_then(|way| Admin::by(&way, PATIENCE));
        let admin =
            connected.map_err(|refusal| ExistingError::Connect { hosts: at.contact_points.join(", "), refusal })?;
        // Where nobody states one it is the schema in which names without one are.
        let schema = at.access.schema.clone().unwrap_or_else(|| "public".to_owned());
        Ok(Self { admin, schema, table: at.table.clone() })
    }

    /// The name of a table in a statement.
    fn of(&self, table: &str) -> String {
        format!("{}.{}", name(&self.schema), name(table))
    }

    /// Looks for the data set; makes schema and tables where they are missing, and notes that it is being loaded. What
    /// an interrupted loading has left is emptied. Errors: there is another table of that name, it has another data
    /// set, or a statement is refused.
    pub fn take(&self, dataset: &Dataset, keys: KeyFormat) -> Result<Found> {
        let full = || format!("{}.{}", self.schema, self.table);
        let wanted = definition(dataset, keys);
        let there = self.relations()?;
        let is_there = |name: &str| there.iter().any(|other| other == name);
        if !is_there(&self.table) {
            self.make(dataset, &wanted)?;
            return Ok(Found::Missing);
        }
        let mark = if is_there(MARKS) { self.mark()? } else { None };
        match mark {
            None => Err(ExistingError::NotMade { table: full() }),
            Some((there, _)) if there != wanted => Err(ExistingError::Other { table: full(), there }),
            Some((_, state)) => {
                self.check_vacuum()?;
                if state == LOADED {
                    return Ok(Found::Whole);
                }
                self.run(&[format!("TRUNCATE {}", self.of(&self.table))])?;
                Ok(Found::Missing)
            }
        }
    }

    /// Refuses a table that this user may not vacuum: PostgreSQL passes over it then with a warning, and the statement
    /// succeeds.
    fn check_vacuum(&self) -> Result<()> {
        let query = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                     WHERE n.nspname = $1 AND c.relname = $2
                       AND CASE WHEN current_setting('server_version_num')::int >= 170000
                                THEN has_table_privilege(c.oid, 'MAINTAIN')
                                ELSE pg_has_role(c.relowner, 'USAGE') END";
        match self.admin.number(query, &[&self.schema, &self.table]).map_err(failed)? {
            0 => Err(ExistingError::Statement {
                statement: format!("VACUUM (ANALYZE) {}", self.of(&self.table)),
                reason: "this user may not: ask as the table's owner, or GRANT its role TO the user".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Brings the loaded table to the shape that one of iopslab's own has (`schema::maintenance`), and notes that all
    /// of it is there. Errors: a statement is refused, or records are missing: those of commits that a server had not
    /// yet written when it fell over, or that another one has taken over without.
    pub fn loaded(&self, dataset: &Dataset, keys: KeyFormat) -> Result<()> {
        let (table, wanted) = (self.of(&self.table), dataset.records);
        self.run(&[format!("REINDEX TABLE {table}"), format!("VACUUM (FREEZE, ANALYZE) {table}")])?;
        let statement = format!("SELECT count(*) FROM {table}");
        let rows = self.admin.rows(&statement, &[], A_COUNT).map_err(failed)?;
        let there = rows.first().map_or(Ok(0), |row| row.try_get::<_, i64>(0));
        let there = there.map_err(|error| answered(&statement, &error))?;
        if u64::try_from(there) != Ok(wanted) {
            let reason = format!("{there} of {wanted} records are there; the next run loads them anew");
            return Err(ExistingError::Statement { statement, reason });
        }
        self.run(&[self.marked(&definition(dataset, keys), LOADED)])
    }

    /// Takes away what trials have left in the table, takes its statistics anew, and asks for a checkpoint, so that
    /// none is due because of what went before. Who is not allowed one goes without. Errors: another statement is
    /// refused.
    pub fn maintain(&self) -> Result<TableBefore> {
        let dead_rows = self.number("n_dead_tup")?;
        self.run(&[format!("VACUUM (ANALYZE) {}", self.of(&self.table))])?;
        let no_checkpoint = match self.admin.run(&["CHECKPOINT".to_owned()]) {
            Ok(()) => None,
            Err(AdminError::Statement { source, .. }) if source.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                Some(said(&source))
            }
            Err(other) => return Err(failed(other)),
        };
        let version = counters::version(&self.admin).map_err(failed)?;
        let not_counted = counters::not_counted(version).into_iter().map(str::to_owned).collect();
        Ok(TableBefore { dead_rows, bytes: self.number("pg_total_relation_size(relid)")?, no_checkpoint, not_counted })
    }

    /// A number of the table's own statistics.
    fn number(&self, of: &str) -> Result<u64> {
        let query = format!("SELECT {of} FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = $2");
        let number = self.admin.number(&query, &[&self.schema, &self.table]).map_err(failed)?;
        Ok(u64::try_from(number).unwrap_or(0))
    }

    /// The names of everything in the schema that a table's name could be taken by.
    fn relations(&self) -> Result<Vec<String>> {
        let query = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                     WHERE n.nspname = $1";
        let rows = self.admin.rows(query, &[&self.schema], A_LOOK).map_err(failed)?;
        rows.iter().map(|row| row.try_get(0).map_err(|error| answered(query, &error))).collect()
    }

    /// The data set that is noted for the table, and its state. What was noted for one of the same name that somebody
    /// has dropped says nothing of this one.
    fn mark(&self) -> Result<Option<(String, String)>> {
        let (marks, table) = (self.of(MARKS), self.of(&self.table));
        let query = format!("SELECT definition, state FROM {marks} WHERE name = $1 AND relation = '{table}'::regclass");
        let rows = self.admin.rows(&query, &[&self.table], A_LOOK).map_err(failed)?;
        let text = |row: &tokio_postgres::Row, column: usize| {
            row.try_get::<_, String>(column).map_err(|error| answered(&query, &error))
        };
        rows.first().map(|row| Ok((text(row, 0)?, text(row, 1)?))).transpose()
    }

    /// All of it, or nothing. Whoever may create no schema can use one that is there.
    fn make(&self, dataset: &Dataset, definition: &str) -> Result<()> {
        let query = "SELECT count(*) FROM pg_namespace WHERE nspname = $1";
        let has_schema = self.admin.number(query, &[&self.schema]).map_err(failed)? > 0;
        let columns: Vec<String> = fields(dataset.fields).iter().map(|field| format!("{field} text")).collect();
        let mut statements = vec!["BEGIN".to_owned()];
        if !has_schema {
            statements.push(format!("CREATE SCHEMA {}", name(&self.schema)));
        }
        statements.extend([
            // Keys compare as bytes, whatever the database's own collation is.
            format!(
                "CREATE TABLE {} (y_id text COLLATE \"C\" PRIMARY KEY, {})",
                self.of(&self.table),
                columns.join(", ")
            ),
            format!(
                "CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, relation regclass NOT NULL, definition text NOT \
                 NULL, state text NOT NULL)",
                self.of(MARKS)
            ),
            self.marked(definition, LOADING),
            "COMMIT".to_owned(),
        ]);
        self.run(&statements)
    }

    /// Notes a state. A definition has no quotes in it, and neither has a name.
    fn marked(&self, definition: &str, state: &str) -> String {
        format!(
            "INSERT INTO {} (name, relation, definition, state) VALUES ('{}', '{}'::regclass, '{definition}', \
             '{state}') ON CONFLICT (name) DO UPDATE SET relation = excluded.relation, definition = \
             excluded.definition, state = excluded.state",
            self.of(MARKS),
            self.table,
            self.of(&self.table)
        )
    }

    fn run(&self, statements: &[String]) -> Result<()> {
        self.admin.run(statements).map_err(failed)
    }
}

/// A statement that was not done, in the server's own words.
fn failed(error: AdminError) -> ExistingError {
    match error {
        AdminError::Statement { statement, source } => ExistingError::Statement { statement, reason: said(&source) },
        AdminError::NoAnswer { statement, patience } => {
            ExistingError::Statement { statement, reason: format!("no answer within {} s", patience.as_secs_f64()) }
        }
        other => ExistingError::Statement { statement: "a look at the server".to_owned(), reason: other.to_string() },
    }
}

/// A column that is not what was asked for.
fn answered(query: &str, error: &tokio_postgres::Error) -> ExistingError {
    ExistingError::Statement { statement: query.to_owned(), reason: error.to_string() }
}
