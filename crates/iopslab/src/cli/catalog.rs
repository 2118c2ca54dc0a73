//! `iopslab catalog`: facts about instance types. Costs, caps and sizing come later.

use clap::{Args, Subcommand};

use super::{Failure, Format, pretty};

/// What was typed after `catalog`.
#[derive(Debug, Args)]
pub struct CatalogArgs {
    #[command(subcommand)]
    command: CatalogCommand,
}

#[derive(Debug, Subcommand)]
enum CatalogCommand {
    /// All instance types that experiments may name
    List,
    /// Everything known about one instance type
    Show {
        /// For example r4.4xlarge
        instance: String,
    },
}

pub fn run(args: &CatalogArgs, format: Format) -> Result<(), Failure> {
    match &args.command {
        CatalogCommand::List => match format {
            Format::Json => println!("{}", pretty(&::catalog::instances())),
            Format::Human => {
                println!("{:<20} {:>6} {:>11}", "instance", "vCPU", "memory GiB");
                for i in ::catalog::instances() {
                    println!("{:<20} {:>6} {:>11}", i.name, i.vcpus, i.memory_gib);
                }
            }
        },
        CatalogCommand::Show { instance } => {
            let found = ::catalog::instance(instance).ok_or_else(|| {
                Failure::input(format!("unknown instance type {instance}")).help(format!(
                    "nearest: {}",
                    ::catalog::nearest_instances(instance).join(", ")
                ))
            })?;
            println!("{}", pretty(found));
        }
    }
    Ok(())
}
