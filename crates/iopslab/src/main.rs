//! The `iopslab` command: parse, dispatch, one way out.
//!
//! Results go to stdout, progress and logs to stderr. Exit codes: 0 done, 1 the work failed, 2 bad usage or bad input,
//! 3 done but the verdict failed.

mod agent;
mod cli;
mod controller;
mod interrupt;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let filter = EnvFilter::try_from_env("IOPSLAB_LOG").unwrap_or_else(|_| EnvFilter::new("warn,scylla=error"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .without_time()
        .init();

    let cli = cli::Cli::parse();
    let format = cli.format();
    match cli.dispatch() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.show(format);
            ExitCode::from(failure.code())
        }
    }
}
