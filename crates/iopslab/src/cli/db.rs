//! `iopslab db`: a local database of one to three nodes to play with, without limits.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use controller::Screen;
use database::{Account, Cluster, ClusterSpec, Server};
use experiment::{PRODUCTS, Started};
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
  iopslab db status
  iopslab db stop
  iopslab db lock cassandra 5.0.9 >crates/database/src/cassandra/lock/5.0.9.txt
  iopslab db lock postgresql 18.3 >crates/database/src/postgresql/lock/18.3.txt

What it starts is Cassandra. A PostgreSQL is started by each run of an experiment, and is gone when that ends.")]
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
    Start {
        /// Nodes
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
        nodes: u32,
        /// Java heap of each node, MiB
        #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u64).range(256..=31744))]
        heap_mib: u64,
        /// Cassandra version
        #[arg(long)]
        version: Option<String>,
    },
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

pub fn run(args: &DbArgs, format: Format) -> Result<(), Failure> {
    let directory = args.directory.clone().unwrap_or_else(|| work_directory().join("db"));
    match &args.command {
        DbCommand::Start { nodes, heap_mib, version } => {
            start(directory, *nodes, *heap_mib, version.as_deref(), format)
        }
        DbCommand::Stop { keep_data } => {
            check_own(&directory)?;
            let mut cluster = Cluster::open(&directory).map_err(Failure::work)?;
            cluster.stop().map_err(Failure::work)?;
            if !keep_data {
                storage::remove_tree(&directory).map_err(Failure::work)?;
            }
            show(&serde_json::json!({ "stopped": directory }), "stopped", format);
            Ok(())
        }
        DbCommand::Status => {
            check_own(&directory)?;
            let cluster = Cluster::open(&directory).map_err(Failure::work)?;
            let status = cluster.status(&*server(Some(cluster.version()), None)?);
            let text: Vec<_> = status
                .iter()
                .map(|n| match (n.pid, n.answers_cql) {
                    (Some(pid), true) => format!("{}  pid {pid}  ready", n.address),
                    (Some(pid), false) => format!("{}  pid {pid}  does not answer", n.address),
                    (None, _) => format!("{}  stopped", n.address),
                })
                .collect();
            show(&serde_json::json!({ "nodes": status }), &text.join("\n"), format);
            Ok(())
        }
        DbCommand::Lock { database, version } => lock(database, version, format),
    }
}

/// The jars that are hashed stay in the cache, where a start finds them.
fn lock(database: &str, version: &str, format: Format) -> Result<(), Failure> {
    let screen = Screen::new(None);
    let cache = guarded::private_directory(&cache_directory()).map_err(Failure::work)?;
    let product = PRODUCTS.into_iter().find(|product| product.name == database);
    // Only these names are taken.
    let product = product.ok_or_else(|| Failure::input(format!("unknown database `{database}`")))?;
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

/// The database that this command starts, that of an experiment that names none; the version of such an experiment
/// unless another one is asked for. Its processes run as this user.
fn server(version: Option<&str>, account: Option<Account>) -> Result<Box<dyn Server>, Failure> {
    let product = PRODUCTS[0];
    let version = version.unwrap_or(product.default_version).to_owned();
    database::server(&Started { product, version }, account).map_err(Failure::work)
}

fn start(directory: PathBuf, nodes: u32, heap_mib: u64, version: Option<&str>, format: Format) -> Result<(), Failure> {
    // A start takes all CPUs: it is not made beside a measurement. A run that begins later finds the ports taken.
    let _starting = alone("iopslab db start")?;
    let screen = Screen::new(None);
    process::machine::make_readable();
    let account = Account::of_this_machine().map_err(Failure::work)?;
    let server = server(version, account.clone())?;
    // Those of a cluster are below the work directory as a rule, which has to be ours alone, too.
    let directory = guarded::private_directory(&directory).map_err(Failure::work)?;
    let cache = guarded::private_directory(&cache_directory()).map_err(Failure::work)?;
    let_through(account.as_ref(), &directory)?;
    let mut spec = ClusterSpec::new(&*server, &directory, nodes, &cache);
    spec.memory = server.memory(heap_mib << 20);
    let cluster = Cluster::start(&spec, &*server, &mut |doing| screen.doing(doing, "")).map_err(Failure::work)?;
    screen.clear();
    let points: Vec<_> = cluster.addresses().iter().map(ToString::to_string).collect();
    let text = format!("ready: {}\nstop with: iopslab db stop", points.join(" "));
    show(&serde_json::json!({ "contact_points": points }), &text, format);
    Ok(())
}

fn show(json: &serde_json::Value, human: &str, format: Format) {
    match format {
        Format::Json => println!("{}", pretty(json)),
        Format::Human => println!("{human}"),
    }
}
