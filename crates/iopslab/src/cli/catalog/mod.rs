//! `iopslab catalog`: facts about instance and volume types, what they cap, what they cost.

mod caps;
mod cost;
mod list;
mod show;

use clap::{Args, Subcommand};
use process::failure::Failure;
use process::output::Format;

use super::facts::catalog;

/// What was typed after `catalog`.
#[derive(Debug, Args)]
pub struct CatalogArgs {
    #[command(subcommand)]
    command: CatalogCommand,
}

#[derive(Debug, Subcommand)]
enum CatalogCommand {
    /// Instance types, filtered and sorted
    List(list::ListArgs),
    /// Everything known about one instance type, with every price and its source
    Show {
        /// For example r4.4xlarge
        instance: String,
    },
    /// What a configuration can do at 4, 16, 64 and 256 KiB, and which side caps it
    Caps(caps::CapsArgs),
    /// What configurations cost, line by line, with the basis; --against: the difference to others
    Cost(Box<cost::CostArgs>),
    /// Read today's instance types and prices from AWS into a file of your catalog, which comes before the program's
    /// own tables
    Refresh(super::refresh::RefreshArgs),
}

pub fn run(args: &CatalogArgs, format: Format) -> Result<(), Failure> {
    match &args.command {
        // It writes the files that the other commands read, and mends a directory that does not exist yet.
        CatalogCommand::Refresh(args) => super::refresh::run(args, format),
        CatalogCommand::List(args) => list::run(&catalog()?, args, format),
        CatalogCommand::Show { instance } => show::run(&catalog()?, instance, format),
        CatalogCommand::Caps(args) => caps::run(&catalog()?, args, format),
        CatalogCommand::Cost(args) => cost::run(&catalog()?, args, format),
    }
}
