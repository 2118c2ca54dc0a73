//! The `iopslab` command: parse, dispatch, one way out.
//!
//! Results go to stdout, progress and logs to stderr. Exit codes: 0 done, 1 the work failed, 2 bad usage or bad input,
//! 3 done but the verdict failed, 130 interrupted.

// Doc comments of arguments are help texts, where brackets mean what they mean in a terminal.
#![allow(rustdoc::broken_intra_doc_links)]

// Its macros print instead of those of the standard library.
#[macro_use]
extern crate process;

mod cli;

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue};
use process::failure::Failure;
use process::{machine, output};
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::prelude::*;

fn main() -> ExitCode {
    start_log();
    machine::make_own();

    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => return answer(&without_escape(usage)),
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
    let asked = std::env::var("IOPSLAB_LOG").unwrap_or_default();
    let (filter, problem) = log_filter(&asked);
    let lines = tracing_subscriber::fmt::layer().with_writer(|| output::Log).without_time();
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
    if let Some(problem) = problem {
        tracing::warn!("IOPSLAB_LOG={asked:?} is ignored: {problem}");
    }
}

/// Rooms of the program itself: who asks for the log of `iopslab` means theirs, too.
const OURS: [&str; 3] = ["agent", "controller", "process"];

/// What is logged, and why it is not what was asked for. By default warnings, but none of the CQL driver's: what it
/// cannot do is an error of ours, reported once and in our words.
fn log_filter(asked: &str) -> (Targets, Option<ParseError>) {
    let usual = Targets::new().with_default(tracing::Level::WARN).with_target("scylla", LevelFilter::OFF);
    match asked.trim() {
        "" => (usual, None),
        asked => match asked.parse() {
            Ok(filter) => (with_ours(filter), None),
            Err(error) => (usual, Some(error)),
        },
    }
}

/// The same, with what is asked for of `iopslab` for [`OURS`] that are not asked for by their own names.
fn with_ours(filter: Targets) -> Targets {
    let level_of = |target: &str| filter.iter().find(|(asked, _)| *asked == target).map(|(_, level)| level);
    let Some(level) = level_of("iopslab") else { return filter };
    let missing: Vec<&str> = OURS.into_iter().filter(|ours| level_of(ours).is_none()).collect();
    missing.into_iter().fold(filter, |filter, ours| filter.with_target(ours, level))
}

/// Bad usage without the tip to put `--` before an option that nobody knows: no value here begins with a dash.
fn without_escape(mut usage: clap::Error) -> clap::Error {
    if let Some(ContextValue::StyledStrs(tips)) = usage.remove(ContextKind::Suggested) {
        let kept: Vec<_> = tips.into_iter().filter(|tip| !tip.to_string().contains("as a value, use")).collect();
        if !kept.is_empty() {
            usage.insert(ContextKind::Suggested, ContextValue::StyledStrs(kept));
        }
    }
    usage
}

/// Help and version on stdout, bad usage on stderr; what was typed is repeated in it.
fn answer(usage: &clap::Error) -> ExitCode {
    let (words, to_stderr) = (usage.render(), usage.use_stderr());
    let has_colour =
        if to_stderr { output::has_colour(std::io::stderr()) } else { output::has_colour(std::io::stdout()) };
    let text = match has_colour {
        true => words.ansi().to_string(),
        false => words.to_string(),
    };
    if to_stderr {
        eprint!("{text}")
    } else {
        print!("{text}")
    }
    ended(u8::try_from(usage.exit_code()).unwrap_or(2), output::Format::Human)
}

/// The code of the command; results that could not be written are a failure of their own.
fn ended(code: u8, format: output::Format) -> ExitCode {
    match output::finish() {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            let failure = Failure::work(format!("cannot write the results to stdout: {error}"));
            failure.show(format);
            ExitCode::from(if code == 0 { failure.code() } else { code })
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::log_filter;

    #[test]
    fn an_empty_wish_is_none_and_one_that_cannot_be_read_is_reported() {
        for (asked, warns, debugs, driver, is_reported) in [
            ("", true, false, false, false),
            (" ", true, false, false, false),
            ("debug", true, true, true, false),
            ("error", false, false, true, false),
            ("a=b=c", true, false, false, true),
        ] {
            let (filter, problem) = log_filter(asked);
            assert_eq!(filter.would_enable("iopslab", &Level::WARN), warns, "{asked:?}");
            assert_eq!(filter.would_enable("iopslab", &Level::DEBUG), debugs, "{asked:?}");
            assert_eq!(filter.would_enable("scylla", &Level::ERROR), driver, "{asked:?}");
            assert_eq!(problem.is_some(), is_reported, "{asked:?}");
        }
    }

    #[test]
    fn the_log_of_the_program_is_that_of_its_rooms_too() {
        let (filter, _) = log_filter("warn,iopslab=info,agent=debug");
        for (target, level, is_wanted) in [
            ("iopslab::cli", Level::INFO, true),
            ("controller::trial::lag", Level::INFO, true),
            ("process::machine", Level::INFO, true),
            ("controller", Level::DEBUG, false),
            ("agent::limits", Level::DEBUG, true),
            ("storage", Level::INFO, false),
        ] {
            assert_eq!(filter.would_enable(target, &level), is_wanted, "{target} {level}");
        }
    }
}
