//! `iopslab report`: analysis and reports from the evidence in run directories, and from nothing else.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use ::report::TerminalOptions;
use analysis::Analysis;
use archive::{JournalEvent, RunDirectory};
use clap::Args;
use controller::Measured;
use experiment::PlannedTrial;
use process::failure::Failure;
use process::output::{Format, pretty};

use super::{latest, terminal};

/// What was typed after `report`.
#[derive(Debug, Args)]
#[command(after_help = "Writes analysis.json, report.html, report.md and summary.csv into each RUN; \
the same evidence gives the same bytes.
With several runs, each answer is printed after the other; --format json gives an array.

Examples:
  iopslab report --open                                             the latest run of runs/, in a browser
  iopslab report runs/quickstart-20260101T000000Z
  iopslab report runs/quickstart-20260101T000000Z --format json | jq .answer
  iopslab report runs/quickstart-20260101T000000Z --format json | jq '.recommendation | {status, run, because}'
  iopslab report runs/quickstart-20260101T000000Z --verify
  iopslab report runs/*                                             the answers of all runs
  iopslab report runs/quickstart-... --format openmetrics > quickstart.om
                                                                    the figures for Prometheus and Grafana
  COLUMNS=80 iopslab report runs/quickstart-20260101T000000Z | less")]
pub struct ReportArgs {
    /// Run directories [default: the latest of runs/]
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Show report.html of the run in a browser (xdg-open)
    #[arg(long)]
    open: bool,
    /// First compare the evidence with run.sha256, the hashes of what was measured; where it differs, report nothing
    /// and exit with status 3
    #[arg(long)]
    verify: bool,
}

impl ReportArgs {
    /// The directories, all opened (and verified, where asked) before any is read.
    fn open(&self) -> Result<Vec<RunDirectory>, Failure> {
        let open = |path: &PathBuf| RunDirectory::open(path).map_err(Failure::input);
        let latest = if self.runs.is_empty() { vec![latest::run("it: iopslab report RUN")?] } else { Vec::new() };
        let directories: Vec<RunDirectory> = self.runs.iter().chain(&latest).map(open).collect::<Result<_, _>>()?;
        if self.verify {
            directories.iter().try_for_each(verify)?;
        }
        Ok(directories)
    }
}

pub fn run(args: &ReportArgs, format: Format) -> Result<(), Failure> {
    let directories = args.open()?;
    if let [only] = directories.as_slice() {
        rebuild(only, format)?;
        return if args.open { show(only) } else { Ok(()) };
    }
    if args.open {
        return Err(Failure::input("--open shows one run, and several are given"));
    }
    let mut documents = Vec::new();
    for directory in &directories {
        let analysis = write(directory)?;
        match format {
            Format::Json => documents.push(::report::document(&analysis)),
            Format::Human => print!("{}", ::report::headline(&analysis, terminal::width())),
        }
    }
    if format == Format::Json {
        println!("{}", pretty(&documents));
    }
    Ok(())
}

/// Hands the page to whatever shows pages here.
fn show(directory: &RunDirectory) -> Result<(), Failure> {
    let page = directory.path().join("report.html");
    let failure = |why: String| {
        Failure::work(format!("cannot show {}: {why}", page.display())).help("open the file in a browser")
    };
    let program = guarded::program("xdg-open").ok_or_else(|| failure("xdg-open is not installed".to_owned()))?;
    let mut command = Command::new(program);
    let status = command.arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failure(format!("xdg-open ended with {status}"))),
        Err(error) => Err(failure(error.to_string())),
    }
}

/// The figures of the runs as OpenMetrics text.
pub fn openmetrics(args: &ReportArgs) -> Result<(), Failure> {
    if args.open {
        return Err(Failure::input(
            "--open shows the page, --format openmetrics prints figures: leave one of them out",
        ));
    }
    let analyses: Vec<Analysis> = args.open()?.iter().map(write).collect::<Result<_, _>>()?;
    print!("{}", ::report::openmetrics(&analyses));
    Ok(())
}

/// The evidence is what was measured, or a line for each file that is not.
fn verify(directory: &RunDirectory) -> Result<(), Failure> {
    let found = directory.verify().map_err(Failure::work)?;
    let journal = journal_problem(directory);
    if found.is_whole() && journal.is_none() {
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
    lines.extend(journal.map(|problem| format!("  journal.jsonl {problem}")));
    lines.push(
        "restore these files from a copy; or measure a trial again: move its directory out of the run, then iopslab \
         run --resume RUN"
            .to_owned(),
    );
    Err(Failure::verdict(lines.join("\n")))
}

/// What the journal lacks. It grows, so that it has no hash; but it begins with the run, and it names every trial in
/// place but the one at which a kill may have struck, which is journaled after it is in place.
fn journal_problem(directory: &RunDirectory) -> Option<String> {
    let entries = match directory.journal_entries() {
        Ok(entries) => entries,
        Err(error) => return Some(format!("cannot be read: {error}")),
    };
    let Some(JournalEvent::RunStarted { .. }) = entries.first().map(|entry| &entry.event) else {
        return Some("does not begin with the run: it was emptied or cut".to_owned());
    };
    let mut journaled = BTreeSet::new();
    for entry in entries {
        match entry.event {
            JournalEvent::TrialDone { cell, block, .. } => {
                journaled.insert(PlannedTrial { block, cell });
            }
            JournalEvent::TrialSetAside { cell, block, .. } => {
                journaled.remove(&PlannedTrial { block, cell });
            }
            _ => {}
        }
    }
    let lost = directory.done().iter().filter(|trial| !journaled.contains(trial)).count();
    (lost > 1).then(|| format!("was cut: {lost} trials are in place that it does not name"))
}

/// Analyses the evidence, writes the analysis and the reports, and prints the result.
pub fn rebuild(directory: &RunDirectory, format: Format) -> Result<Analysis, Failure> {
    let analysis = write(directory)?;
    match format {
        Format::Json => println!("{}", pretty(&::report::document(&analysis))),
        Format::Human => {
            let options = TerminalOptions { width: terminal::width(), color: terminal::has_colour() };
            println!("{}", ::report::terminal(&analysis, options));
            println!("Report: {}", directory.path().join("report.html").display());
        }
    }
    Ok(analysis)
}

/// Analyses the evidence, and writes the analysis and the reports beside it.
fn write(directory: &RunDirectory) -> Result<Analysis, Failure> {
    let measured = Measured::read(directory)?;
    let analysis = analysis::analyse(&measured.evidence(directory));
    let charts = analysis::charts(measured.trials());
    // Whoever shows a file shows what names and messages have put into it.
    let keep = |name, text: &str| {
        let text = guarded::shown(text);
        directory.write_file(name, text.as_bytes()).map_err(Failure::work)
    };
    keep("analysis.json", &pretty(&::report::document(&analysis)))?;
    keep("report.html", &::report::html(&analysis, &charts))?;
    keep("summary.csv", &::report::summary_csv(&analysis))?;
    if let Some(faults) = ::report::faults_csv(&analysis) {
        keep("faults.csv", &faults)?;
    }
    if let Some(nodes) = ::report::nodes_csv(&analysis) {
        keep("nodes.csv", &nodes)?;
    }
    keep("report.md", &::report::markdown(&analysis))?;
    Ok(analysis)
}
