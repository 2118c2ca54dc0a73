//! `iopslab db`: a local database of one to three nodes to play with, without limits.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use controller::Screen;
use database::{Account, Cluster, ClusterSpec, Server};
use experiment::{Lack, PRODUCTS, Product, Started, product_named};
use process::failure::Failure;
use process::output::{Format, pretty};
use process::paths::{cache_directory, work_directory};

use super::by_hand::alone;

/// What was typed after `db`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab db start
  iopslab db start --nodes 3 --heap-mib 512
  iopslab db start postgresql
  psql -h 127.0.0.1 -U iopslab ycsb
  iopslab db status
  iopslab db stop
  iopslab db lock cassandra 5.0.9 >crates/database/src/cassandra/lock/5.0.9.txt
  iopslab db lock postgresql 18.3 >crates/database/src/postgresql/lock/18.3.txt

A directory has one database at a time.")]
pub struct DbArgs {
    #[command(subcommand)]
    command: DbCommand,
    /// Where the nodes live [default: the work directory's db/]
    #[arg(long, global = true, value_name = "DIR")]
    directory: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum DbCommand {
    /// Start nodes on 127.0.0.1..3 and wait until all are ready
    Start(StartArgs),
    /// Stop all nodes and remove their data
    Stop {
        /// Keep the data for the next start
        #[arg(long)]
        keep_data: bool,
    },
    /// What runs
    Status,
    /// Print the lock list of a version: each jar that it needs with its SHA-256, by the POMs of the Maven repository
    Lock {
        /// The database
        #[arg(value_parser = PRODUCTS.map(|product| product.name))]
        database: String,
        /// A version such as 5.0.9 or 18.3, or a line such as 6.0 or 18: its newest version
        version: String,
    },
}

#[derive(Debug, Args)]
struct StartArgs {
    /// The database: PostgreSQL is one node, whose user iopslab owns the database ycsb, without a password
    #[arg(default_value = PRODUCTS[0].name, value_parser = PRODUCTS.map(|product| product.name))]
    database: String,
    /// Nodes
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
    nodes: u32,
    /// Java heap of each node, MiB [default: 1024]
    #[arg(long, value_parser = clap::value_parser!(u64).range(256..=31744))]
    heap_mib: Option<u64>,
    /// Its version [default: that of an experiment that names none]
    #[arg(long)]
    version: Option<String>,
}

/// Java heap of a node where none is stated, MiB.
const HEAP_MIB: u64 = 1_024;

impl StartArgs {
    /// The database; what it has nothing for is refused.
    fn product(&self) -> Result<&'static Product, Failure> {
        let product = product_named(&self.database).map_err(Failure::input)?;
        let refused = |flag: &str, why: &str| {
            let help = format!("leave it out: iopslab db start {}", product.name);
            Err(Failure::input(format!("{flag}: {} {why}", product.short)).help(help))
        };
        if self.nodes > 1 && product.lacks(Lack::Clusters) {
            return refused("--nodes", "is started as one node, without replicas");
        }
        if self.heap_mib.is_some() && product.lacks(Lack::Heap) {
            return refused("--heap-mib", "has no Java heap");
        }
        Ok(product)
    }
}

pub fn run(args: &DbArgs, format: Format) -> Result<(), Failure> {
    let directory = args.directory.clone().unwrap_or_else(|| work_directory().join("db"));
    match &args.command {
        DbCommand::Start(asked) => {
            let stated = args.directory.as_ref();
            let flag = |stated: &PathBuf| format!(" --directory {}", guarded::shell_path(stated));
            let where_stated = stated.map_or_else(String::new, flag);
            start(asked, &directory, &format!("iopslab db stop{where_stated}"), format)
        }
        DbCommand::Stop { keep_data } => {
            check_own(&directory)?;
            let mut cluster = Cluster::open(&directory).map_err(Failure::work)?;
            let server = server_of(&cluster)?;
            cluster.stop(&*server).map_err(Failure::work)?;
            if !keep_data {
                storage::remove_tree(&directory).map_err(Failure::work)?;
            }
            show(&serde_json::json!({ "stopped": directory }), "stopped", format);
            Ok(())
        }
        DbCommand::Status => {
            check_own(&directory)?;
            let cluster = Cluster::open(&directory).map_err(Failure::work)?;
            let status = cluster.status(&*server_of(&cluster)?);
            let (database, version) = (cluster.database(), cluster.version());
            let nodes: Vec<_> = status
                .iter()
                .map(|n| match (n.pid, n.answers) {
                    (Some(pid), true) => format!("{}  pid {pid}  ready", n.address),
                    (Some(pid), false) => format!("{}  pid {pid}  does not answer", n.address),
                    (None, _) => format!("{}  stopped", n.address),
                })
                .collect();
            let json = serde_json::json!({ "database": database, "version": version, "nodes": status });
            show(&json, &format!("{database} {version}\n{}", nodes.join("\n")), format);
            Ok(())
        }
        DbCommand::Lock { database, version } => lock(database, version, format),
    }
}

/// The jars that are hashed stay in the cache, where a start finds them.
fn lock(database: &str, version: &str, format: Format) -> Result<(), Failure> {
    let screen = Screen::new(None);
    let cache = guarded::private_directory(&cache_directory()).map_err(Failure::work)?;
    let product = product_named(database).map_err(Failure::input)?;
    let made = database::make_lock_list(product, version, &cache, &mut |doing| screen.doing(doing, ""));
    let list = made.map_err(Failure::work)?;
    screen.clear();
    let jars = list.jars.iter();
    let jars = jars.map(|(sha256, bytes, path)| serde_json::json!({ "sha256": sha256, "bytes": bytes, "path": path }));
    let json = serde_json::json!({ "database": database, "version": list.version, "jars": jars.collect::<Vec<_>>() });
    show(&json, list.to_string().trim_end(), format);
    Ok(())
}

/// What is written in a cluster's directory is acted upon: processes are ended, and all of it is removed.
fn check_own(directory: &Path) -> Result<(), Failure> {
    match storage::changed_by_others(directory) {
        Some(problem) => Err(Failure::work(problem.what)),
        None => Ok(()),
    }
}

/// Lets the user of the database get to what is its own.
fn let_through(account: Option<&Account>, directory: &Path) -> Result<(), Failure> {
    let work = work_directory();
    let ours = [work.as_path(), directory].into_iter();
    let ours = ours.filter(|ours| directory.starts_with(ours) && ours.exists());
    ours.filter_map(|ours| Some((account?, ours)))
        .try_for_each(|(account, ours)| account.let_through(ours))
        .map_err(Failure::work)
}

/// A product in a version; its processes run as this user.
fn server(product: &'static Product, version: &str, account: Option<Account>) -> Result<Box<dyn Server>, Failure> {
    database::server(&Started { product, version: version.to_owned() }, account).map_err(Failure::work)
}

/// The one that was started here.
fn server_of(cluster: &Cluster) -> Result<Box<dyn Server>, Failure> {
    let product = PRODUCTS.into_iter().find(|product| product.short == cluster.database());
    let unknown = || format!("this iopslab does not know {}, which was started here", cluster.database());
    server(product.ok_or_else(unknown).map_err(Failure::work)?, cluster.version(), None)
}

/// `stop`: what ends it.
fn start(asked: &StartArgs, directory: &Path, stop: &str, format: Format) -> Result<(), Failure> {
    let product = asked.product()?;
    // A start takes all CPUs: it is not made beside a measurement. A run that begins later finds the ports taken.
    let _starting = alone("iopslab db start")?;
    let screen = Screen::new(None);
    process::machine::make_readable();
    let account = Account::of_this_machine().map_err(Failure::work)?;
    let version = asked.version.as_deref().unwrap_or(product.default_version);
    let server = server(product, version, account.clone())?;
    // Those of a cluster are below the work directory as a rule, which has to be ours alone, too.
    let directory = guarded::private_directory(directory).map_err(Failure::work)?;
    let cache = guarded::private_directory(&cache_directory()).map_err(Failure::work)?;
    let_through(account.as_ref(), &directory)?;
    let mut spec = ClusterSpec::new(&*server, &directory, asked.nodes, &cache);
    if !product.lacks(Lack::Heap) {
        spec.memory = server.memory(asked.heap_mib.unwrap_or(HEAP_MIB) << 20);
    }
    let cluster = Cluster::start(&spec, &*server, &mut |doing| screen.doing(doing, "")).map_err(Failure::work)?;
    screen.clear();
    let points: Vec<_> = cluster.addresses().iter().map(ToString::to_string).collect();
    let text = format!("ready: {} at {}\nstop with: {stop}", server.name(), points.join(" "));
    show(&serde_json::json!({ "contact_points": points }), &text, format);
    Ok(())
}

fn show(json: &serde_json::Value, human: &str, format: Format) {
    match format {
        Format::Json => println!("{}", pretty(json)),
        Format::Human => println!("{human}"),
    }
}
