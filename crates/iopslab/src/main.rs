//! The `iopslab` command: parse, dispatch, one way out.
//!
//! Results go to stdout, progress and logs to stderr. Exit codes: 0 done, 1 the work failed, 2 bad usage or bad input,
//! 3 done but the verdict failed, 130 interrupted.

// Doc comments of arguments are help texts, where brackets mean what they mean in a terminal.
#![allow(rustdoc::broken_intra_doc_links)]

#[macro_use]
mod output;

mod agent;
mod cli;
mod controller;
mod failure;
mod interrupt;
mod live_metrics;
mod measured;
mod paths;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

fn main() -> ExitCode {
    start_log();

    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return answer(&usage),
    };
    let format = cli.format();
    let code = match cli.dispatch() {
        Ok(()) => 0,
        Err(failure) => {
            failure.show(format);
            failure.code()
        }
    };
    ended(code, format)
}

/// Logs on stderr: warnings, or what `IOPSLAB_LOG` asks for (`debug`, `warn,engine=trace`).
fn start_log() {
    let asked = std::env::var("IOPSLAB_LOG").ok();
    let parsed = asked.as_deref().map(str::parse::<Targets>);
    let filter = match &parsed {
        Some(Ok(filter)) => filter.clone(),
        _ => Targets::new()
            .with_default(tracing::Level::WARN)
            .with_target("scylla", tracing::Level::ERROR),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .without_time();
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
    if let (Some(asked), Some(Err(error))) = (asked, parsed) {
        tracing::warn!("IOPSLAB_LOG={asked:?} is ignored: {error}");
    }
}

/// Help and version on stdout, bad usage on stderr.
fn answer(usage: &clap::Error) -> ExitCode {
    if usage.use_stderr() {
        // Nobody is left to tell.
        let _ = usage.print();
    } else {
        output::write(|| usage.print());
    }
    ended(u8::try_from(usage.exit_code()).unwrap_or(2), output::Format::Human)
}

/// The code of the command; results that could not be written are a failure of their own.
fn ended(code: u8, format: output::Format) -> ExitCode {
    match output::finish() {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            let failure = failure::Failure::work(format!("cannot write the results to stdout: {error}"));
            failure.show(format);
            ExitCode::from(if code == 0 { failure.code() } else { code })
        }
    }
}
