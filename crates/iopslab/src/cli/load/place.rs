//! Where the table is: in a keyspace, or in a schema of a database. What one product has nothing for is refused.

use database::TableAt;
use database::loader::KEYSPACE;
use engine::Load;
use experiment::{Consistency, ConsistencyLevels, Lack, Product, product_named};
use process::failure::Failure;

use super::args::LoadArgs;
use crate::cli::entry::{CQL_PORT, SQL_PORT, with_port};

/// The schema in which names without one are, of PostgreSQL.
const SCHEMA: &str = "public";

/// Where the table is.
pub(super) struct Place {
    pub(super) product: &'static Product,
    /// `host:port` of each contact point.
    pub(super) hosts: Vec<String>,
    /// Of PostgreSQL it is the database.
    pub(super) keyspace: String,
    /// Of PostgreSQL alone.
    pub(super) schema: Option<String>,
    /// `None`: the product has no levels.
    pub(super) consistency: Option<Consistency>,
}

impl Place {
    /// By what was typed, for this load.
    pub(super) fn of(args: &LoadArgs, load: Load) -> Result<Self, Failure> {
        let product = product_named(&args.database).map_err(Failure::input)?;
        let is_sql = product.lacks(Lack::Cql);
        let refusal = if is_sql { of_cql(args, load, product) } else { of_sql(args, product) };
        if let Some((message, help)) = refusal {
            return Err(Failure::input(message).help(help));
        }
        let (port, keyspace) = match is_sql {
            true => (SQL_PORT, &args.dbname),
            false => (CQL_PORT, &args.keyspace),
        };
        Ok(Self {
            product,
            hosts: args.hosts.iter().map(|host| with_port(host, port)).collect(),
            keyspace: keyspace.clone().unwrap_or_else(|| KEYSPACE.to_owned()),
            schema: is_sql.then(|| args.schema.clone().unwrap_or_else(|| SCHEMA.to_owned())),
            consistency: product.has_consistency.then(|| args.consistency.unwrap_or(Consistency::One)),
        })
    }

    /// Whether it speaks SQL.
    pub(super) fn is_sql(&self) -> bool {
        self.product.lacks(Lack::Cql)
    }

    /// The table there, of so many fields, for whom these arguments let in; secrets are read here.
    pub(super) fn table(&self, args: &LoadArgs, fields: u32) -> Result<TableAt, Failure> {
        let access = args.entry.access()?;
        Ok(TableAt {
            contact_points: self.hosts.clone(),
            keyspace: self.keyspace.clone(),
            table: args.table.clone(),
            fields,
            consistency: ConsistencyLevels::all(self.consistency.unwrap_or(Consistency::One)),
            request_timeout: args.request_timeout,
            access: experiment::Access { schema: self.schema.clone(), ..access },
            driver_only: database::driver_only(),
        })
    }

    /// The table's name for people.
    pub(super) fn name(&self, args: &LoadArgs) -> String {
        let within = [Some(self.keyspace.as_str()), self.schema.as_deref()];
        let parts = within.into_iter().flatten().chain([args.table.as_str()]);
        parts.collect::<Vec<_>>().join(".")
    }

    /// What to do where nobody answers.
    pub(super) fn nobody(&self) -> String {
        let Product { short, name, .. } = self.product;
        match self.is_sql() {
            true => format!(
                "is a {short} listening there that has the database {}? try: iopslab db start {name}",
                self.keyspace
            ),
            false => "is a CQL server listening there? try: iopslab db start".to_owned(),
        }
    }
}

/// What is typed and means something to a cluster alone that speaks CQL: why not, and what to do.
fn of_cql(args: &LoadArgs, load: Load, product: &Product) -> Option<(String, String)> {
    let refused = |flag: &str, help: &str| Some((has_nothing(flag, product), help.to_owned()));
    if args.keyspace.is_some() {
        return refused("--keyspace", "name its database by --dbname, and the schema in it by --schema");
    }
    if args.replication.is_some() {
        return refused("--replication", "leave it out: one server is asked");
    }
    if args.consistency.is_some() && !product.has_consistency {
        return refused("--consistency", "leave it out: each request is a transaction of one server");
    }
    if args.hosts.len() > 1 {
        return refused("a second of --hosts", "name one server: a request goes to no other");
    }
    match (load, product.most_in_flight) {
        (Load::Closed { concurrency }, most) if concurrency > most => Some((
            format!("--concurrency {concurrency}: {} takes {most} requests in flight at the most", product.short),
            format!("state {most} or less: each request in flight has a connection"),
        )),
        _ => None,
    }
}

/// The same of a server that speaks SQL.
fn of_sql(args: &LoadArgs, product: &Product) -> Option<(String, String)> {
    let is_typed = [("--dbname", args.dbname.is_some()), ("--schema", args.schema.is_some())];
    let (flag, _) = is_typed.into_iter().find(|(_, is_typed)| *is_typed)?;
    Some((
        has_nothing(flag, product),
        "it is of a server of PostgreSQL: --database postgresql; here --keyspace".to_owned(),
    ))
}

fn has_nothing(flag: &str, product: &Product) -> String {
    format!("{flag}: {} has nothing for it", product.short)
}
