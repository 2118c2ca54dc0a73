//! `iopslab report`: analysis and reports from the evidence in a run directory, and from nothing else.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use ::report::TerminalOptions;
use analysis::{Analysis, RunEvidence, TrialEvidence};
use clap::Args;
use run::RunDirectory;

use super::{Failure, Format, pretty};

/// What was typed after `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A run directory
    run: PathBuf,
}

pub fn run(args: &ReportArgs, format: Format) -> Result<(), Failure> {
    let directory = RunDirectory::open(&args.run).map_err(Failure::input)?;
    rebuild(&directory, format).map(|_| ())
}

/// Analyses the evidence, writes `analysis.json` and `report.md`, and prints the result.
pub fn rebuild(directory: &RunDirectory, format: Format) -> Result<Analysis, Failure> {
    // One trial at a time: the histograms of a whole run would not fit in memory.
    let measure = |t: &run::StoredTrial| {
        analysis::measure(&TrialEvidence {
            record: &t.record,
            intervals: &t.intervals,
            samples: &t.samples,
        })
    };
    let trials: Vec<_> = directory
        .trials()
        .map(|t| t.map(|t| measure(&t)))
        .collect::<Result<_, _>>()
        .map_err(Failure::work)?;
    let analysis = analysis::analyse(&RunEvidence {
        run: directory.name(),
        provider: "local".to_owned(),
        plan: directory.plan(),
        environment: directory.environment().map_err(Failure::work)?,
        trials: &trials,
    });
    let json = pretty(&analysis);
    let keep = |name, bytes: &[u8]| directory.write_file(name, bytes).map_err(Failure::work);
    keep("analysis.json", json.as_bytes())?;
    keep("report.md", ::report::markdown(&analysis).as_bytes())?;
    match format {
        Format::Json => println!("{json}"),
        Format::Human => {
            let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            println!(
                "{}",
                ::report::terminal(
                    &analysis,
                    TerminalOptions {
                        width: terminal_width(),
                        color
                    }
                )
            );
            println!(
                "Evidence: {}   Report: {}",
                directory.path().display(),
                directory.path().join("report.md").display()
            );
        }
    }
    Ok(analysis)
}

/// Columns of the terminal; 140 where there is none, so that files hold whole tables.
fn terminal_width() -> u16 {
    rustix::termios::tcgetwinsize(std::io::stdout()).map_or(140, |size| size.ws_col.max(80))
}
