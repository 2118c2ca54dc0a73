//! `iopslab report`: analysis and reports from the evidence in a run directory, and from nothing else.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use ::report::TerminalOptions;
use analysis::Analysis;
use clap::Args;
use run::RunDirectory;

use super::measured::Measured;
use super::{Failure, Format, pretty};

/// What was typed after `report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Writes analysis.json, report.html, report.md and summary.csv into RUN; the same evidence gives the same bytes.

Examples:
  iopslab report runs/quickstart-20260101T000000Z
  iopslab report runs/quickstart-20260101T000000Z --format json | jq .answer
  iopslab report runs/quickstart-20260101T000000Z --format json | jq '.recommendation | {status, run, because}'
  iopslab report runs/quickstart-20260101T000000Z --verify
  COLUMNS=80 iopslab report runs/quickstart-20260101T000000Z | less"
)]
pub struct ReportArgs {
    /// A run directory
    run: PathBuf,
    /// First compare the evidence with run.sha256, the hashes of what was measured; where it differs, report nothing
    /// and exit with status 3
    #[arg(long)]
    verify: bool,
}

pub fn run(args: &ReportArgs, format: Format) -> Result<(), Failure> {
    let directory = RunDirectory::open(&args.run).map_err(Failure::input)?;
    if args.verify {
        verify(&directory)?;
    }
    rebuild(&directory, format).map(|_| ())
}

/// The evidence is what was measured, or a line for each file that is not.
fn verify(directory: &RunDirectory) -> Result<(), Failure> {
    let Some(found) = directory.verify().map_err(Failure::work)? else {
        return Err(Failure::input(format!(
            "{} has no run.sha256: this run was made by an iopslab that kept no hashes of its evidence",
            directory.path().display()
        )));
    };
    if found.is_whole() {
        eprintln!("verified: all {} files of evidence are as they were measured", found.same);
        return Ok(());
    }
    let mut lines = vec!["the evidence is not what was measured:".to_owned()];
    for (files, what) in [
        (&found.changed, "was changed"),
        (&found.missing, "is gone"),
        (&found.unlisted, "was not measured by this run"),
    ] {
        lines.extend(files.iter().map(|file| format!("  {file} {what}")));
    }
    Err(Failure::Verdict(lines.join("\n")))
}

/// Analyses the evidence, writes the analysis and the reports, and prints the result.
pub fn rebuild(directory: &RunDirectory, format: Format) -> Result<Analysis, Failure> {
    let measured = Measured::read(directory)?;
    let analysis = analysis::analyse(&measured.evidence(directory));
    let json = pretty(&::report::document(&analysis));
    let charts = analysis::charts(measured.trials());
    let keep = |name, text: &str| directory.write_file(name, text.as_bytes()).map_err(Failure::work);
    keep("analysis.json", &json)?;
    keep("report.html", &::report::html(&analysis, &charts))?;
    keep("summary.csv", &::report::summary_csv(&analysis))?;
    keep("report.md", &::report::markdown(&analysis))?;
    match format {
        Format::Json => println!("{json}"),
        Format::Human => {
            let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let options = TerminalOptions {
                width: terminal_width(),
                color,
            };
            println!("{}", ::report::terminal(&analysis, options));
            println!("Report: {}", directory.path().join("report.html").display());
        }
    }
    Ok(analysis)
}

/// Narrowest terminal that tables are fitted to.
const WIDTH_MIN: u16 = 80;
/// Where there is no terminal, so that files hold whole tables.
const WIDTH_OF_FILES: u16 = 140;

/// Columns of the terminal, or what COLUMNS says.
fn terminal_width() -> u16 {
    let stated = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse::<u16>().ok());
    let of_terminal = || {
        rustix::termios::tcgetwinsize(std::io::stdout())
            .ok()
            .map(|size| size.ws_col)
    };
    stated
        .or_else(of_terminal)
        .map_or(WIDTH_OF_FILES, |width| width.max(WIDTH_MIN))
}
