//! What was typed: one file per verb.

mod amounts;
mod aws;
mod basis;
mod by_hand;
mod cached;
mod carried_out;
mod catalog;
mod clean;
mod clean_aws;
mod client_cost;
mod compare;
mod db;
mod doctor;
mod doctor_cpu;
mod doctor_openssl;
mod entry;
mod experiment_file;
mod facts;
mod import;
mod init;
mod latest;
mod load;
mod machines;
mod next;
mod numbers;
mod pairs;
mod plan;
mod probe;
mod profile;
mod provider;
mod quotas;
mod refresh;
mod report;
mod resumed;
mod run;
mod sites;
mod size;
mod snapshots;
mod terminal;
mod volume;
mod watch_page;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};
use process::failure::Failure;
use process::output::{Format, pretty};

/// What may be asked for: two formats of every command, and one of `report` alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Tables for people
    Human,
    /// One JSON document on stdout
    Json,
    /// `report` only: OpenMetrics text, for Prometheus and Grafana
    #[value(hide = true)]
    Openmetrics,
}

/// Is it worth paying for faster storage for this database workload, and which configuration should I run?
#[derive(Debug, Parser)]
#[command(name = "iopslab", version, about, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// How results are printed on stdout; progress and logs go to stderr
    #[arg(long, value_enum, default_value = "human", global = true)]
    format: FormatArg,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  iopslab doctor                              what this machine can and cannot do
  iopslab init                                a first experiment file for your own question
  iopslab profile --hosts db1,db2 --ssh db1,db2 --instance r6i.2xlarge --data-volume gp3:500GiB
                                              what a cluster that runs asks of its volumes, and what would do
  iopslab plan examples/quickstart.toml       the matrix, its time and what is already known; touches nothing
  iopslab run examples/quickstart.toml        measure it on emulated volumes
  iopslab run --resume runs/quickstart-...    measure only what is missing
  iopslab report runs/quickstart-...          rebuild the tables from the evidence
  iopslab catalog cost 'i3.2xlarge*3'         what a cluster costs, line by line
  iopslab size RUN --throughput 60000 --read-share 0.8 --data 2TB
                                              nodes and money for a target, from what RUN measured
  iopslab next RUN                            what would be worth measuring next, and what to expect of it
  iopslab volume gp3:500GiB:6000 --mount /mnt/v
                                              a directory that is as fast as that volume, for any program
  iopslab db start --nodes 3                  a local Cassandra to play with
  iopslab db start postgresql                 or a PostgreSQL

Exit status: 0 done, 1 the work failed, 2 bad usage or bad input, 3 done but the verdict failed, 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a commented experiment file for your own question, from flags or a few answers
    Init(init::InitArgs),
    /// Run an experiment and report which configuration did what
    Run(run::RunArgs),
    /// Show the matrix, its estimated time and static findings; touches nothing
    Plan(plan::PlanArgs),
    /// Rebuild analysis and reports from a run directory
    Report(report::ReportArgs),
    /// Read results of other tools (YCSB, cassandra-stress, latte, NoSQLBench, fio) as a run, each at its load: threads
    /// or a rate
    Import(import::ImportArgs),
    /// What changed between two runs, with gates for continuous integration
    Compare(compare::CompareArgs),
    /// The load engine alone, against any CQL endpoint or a server of PostgreSQL
    Load(load::LoadArgs),
    /// Watch a running cluster: what it asks of its volumes, what would hold that, an experiment that resembles it
    Profile(profile::ProfileArgs),
    /// Measure a file system's storage with fio
    Probe(probe::ProbeArgs),
    /// A volume with the limits and latency of one that is sold, on this machine, for any program
    Volume(volume::VolumeArgs),
    /// A local Cassandra of one to three nodes, or a PostgreSQL, to play with
    Db(db::DbArgs),
    /// Facts about instance and volume types, what they cap and cost
    Catalog(catalog::CatalogArgs),
    /// Nodes and money for a throughput, latency and data target, from measured runs
    Size(size::SizeArgs),
    /// Which configuration of the catalog would be worth measuring next, by what a run has measured
    Next(next::NextArgs),
    /// What this machine can and cannot do, and how to fix it
    Doctor(doctor::DoctorArgs),
    /// Remove what interrupted runs left on this machine, on machines of yours, or on AWS
    Clean(clean::CleanArgs),
    /// Take away the machines that a run had made on AWS; its evidence stays
    Destroy(aws::DestroyArgs),
    /// Print the JSON Schema of the experiment file
    Schema,
    /// Print a completion script, for example: iopslab completions bash > /etc/bash_completion.d/iopslab
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one per command, into a directory
    Man {
        /// Made if missing
        directory: std::path::PathBuf,
    },
    /// Serve a controller on stdin and stdout (started by providers)
    #[command(hide = true)]
    Agent(agent::AgentArgs),
    /// Answer for volumes over FUSE (started by the database agent and by volume)
    #[command(hide = true)]
    VolumeServer,
    /// Read files into the page cache (started by the database agent)
    #[command(hide = true)]
    ReadFiles(agent::ReadFilesArgs),
    /// Answer CQL without a database (started by doctor)
    #[command(hide = true)]
    NullServer,
}

impl Cli {
    /// How results and failures are printed.
    pub fn format(&self) -> Format {
        match self.format {
            FormatArg::Json => Format::Json,
            FormatArg::Human | FormatArg::Openmetrics => Format::Human,
        }
    }

    /// Does what was asked.
    pub fn dispatch(self) -> Result<(), Failure> {
        if self.format == FormatArg::Openmetrics {
            return match &self.command {
                Command::Report(args) => report::openmetrics(args),
                _ => Err(Failure::input("--format openmetrics is for `iopslab report` only")),
            };
        }
        let format = self.format();
        if format == Format::Json && matches!(self.command, Command::Completions { .. } | Command::Man { .. }) {
            return Err(Failure::input(
                "completions and man write for shells and for man, not JSON: leave out --format",
            ));
        }
        match self.command {
            Command::Init(args) => init::run(args, format),
            Command::Run(args) => run::run(&args, format),
            Command::Plan(args) => plan::run(&args, format),
            Command::Report(args) => report::run(&args, format),
            Command::Import(args) => import::run(&args, format),
            Command::Compare(args) => compare::run(&args, format),
            Command::Load(args) => load::run(&args, format),
            Command::Profile(args) => profile::run(&args, format),
            Command::Probe(args) => probe::run(&args, format),
            Command::Volume(args) => volume::run(&args, format),
            Command::VolumeServer => served::run().map_err(Failure::work),
            Command::Db(args) => db::run(&args, format),
            Command::Catalog(args) => catalog::run(&args, format),
            Command::Size(args) => size::run(&args, format),
            Command::Next(args) => next::run(&args, format),
            Command::Doctor(args) => doctor::run(&args, format),
            Command::Clean(args) => clean::run(&args, format),
            Command::Destroy(args) => aws::destroy(&args, format),
            Command::Schema => {
                println!("{}", pretty(&experiment::json_schema()));
                Ok(())
            }
            Command::Man { directory } => std::fs::create_dir_all(&directory)
                .and_then(|()| clap_mangen::generate_to(Self::command(), &directory))
                .map_err(|error| {
                    Failure::work(format!("cannot write manual pages into {}: {error}", directory.display()))
                }),
            Command::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Self::command(), "iopslab", &mut script);
                print!("{}", String::from_utf8_lossy(&script));
                Ok(())
            }
            Command::ReadFiles(args) => agent::read_files(&args),
            Command::NullServer => client_cost::serve(),
            Command::Agent(args) => {
                agent::serve(&args);
                Ok(())
            }
        }
    }
}
