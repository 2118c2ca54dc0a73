//! `iopslab compare`: what changed between two runs, and gates for continuous integration.

use std::path::PathBuf;

use analysis::{Comparison, Gate, GateOutcome};
use archive::RunDirectory;
use clap::{Args, ValueEnum};
use controller::Measured;
use process::failure::Failure;
use process::output::{Format, pretty};

use super::{latest, terminal};

/// What was typed after `compare`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  iopslab compare                                   the two latest runs of runs/
  iopslab compare runs/quickstart-20260101T000000Z  that one (before) and the latest (after)
  iopslab compare runs/quickstart-20260101T000000Z runs/quickstart-20260108T000000Z
  iopslab compare LAST_WEEK THIS_WEEK --fail-if 'throughput < -5%' --fail-if 'p99 > 20%'
  iopslab compare A B --fail-if 'throughput < -5%' --inconclusive pass
                    fail on a proven loss only; what is not decided is still said
  iopslab compare A B --format json | jq '.gates[] | {expression, outcome}'

A gate has three outcomes. Passed: every cell is shown to lie on the good side of the threshold. Failed: \
a cell is shown to lie beyond it.
Inconclusive: anything else, such as an interval that holds the threshold, single repetitions, runs made on
different hosts or that did other work (data set, workload, version, nodes, replicas, consistency), a run
against itself, or a cell of which something else was measured than its storage (memory answered its reads, or
the client was at its limit): a loss would not have shown.

On a terminal the output is tables; into a file or a pipe it is Markdown, fit for a pull-request comment. Exit 3: a \
gate failed or was inconclusive.")]
pub struct CompareArgs {
    /// The run to compare with (before) [default: the latest but one of runs/]
    run_a: Option<PathBuf>,
    /// The run to judge (after) [default: the latest of runs/]
    run_b: Option<PathBuf>,
    /// Fail (exit 3) when any cell changed so: METRIC < -N% or METRIC > N%, METRIC being throughput, mean, p50, p95,
    /// p99 or p999. The interval of the change decides, not the change itself
    #[arg(long, value_name = "EXPR")]
    fail_if: Vec<String>,
    /// What an inconclusive gate does: exit 3, or exit 0 and say so
    #[arg(long, value_enum, default_value = "fail", requires = "fail_if")]
    inconclusive: Inconclusive,
}

/// What an inconclusive gate does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Inconclusive {
    /// Exit 3: nobody could have seen a loss
    Fail,
    /// Exit 0
    Pass,
}

pub fn run(args: &CompareArgs, format: Format) -> Result<(), Failure> {
    let gates: Vec<Gate> =
        args.fail_if.iter().map(|text| Gate::parse(text)).collect::<Result<_, _>>().map_err(Failure::input)?;
    let open = |path: &PathBuf| RunDirectory::open(path).map_err(Failure::input);
    let (before, after) = both(args)?;
    let (a, b) = (open(&before)?, open(&after)?);
    related(&a, &b)?;
    let (measured_a, measured_b) = (Measured::read(&a)?, Measured::read(&b)?);
    let mut comparison = analysis::compare(&measured_a.evidence(&a), &measured_b.evidence(&b));
    comparison.same_run = same_run(&a, &b);
    comparison.gates = gates.iter().map(|gate| gate.decide(&comparison)).collect();
    match format {
        Format::Json => println!("{}", pretty(&comparison)),
        Format::Human if terminal::is_one() => {
            print!("{}", ::report::comparison_terminal(&comparison, terminal::width()));
        }
        Format::Human => print!("{}", ::report::comparison_markdown(&comparison)),
    }
    verdict(&comparison, args.inconclusive)
}

/// Before and after; what is not named is the latest, and said.
fn both(args: &CompareArgs) -> Result<(PathBuf, PathBuf), Failure> {
    let give = "both: iopslab compare BEFORE AFTER";
    let both = match (&args.run_a, &args.run_b) {
        (Some(before), Some(after)) => return Ok((before.clone(), after.clone())),
        (Some(before), None) => (before.clone(), latest::runs(1, give)?.swap_remove(0)),
        (None, _) => {
            let mut runs = latest::runs(2, give)?;
            (runs.swap_remove(1), runs.swap_remove(0))
        }
    };
    eprintln!("before: {}; after, the latest run: {}", both.0.display(), both.1.display());
    Ok(both)
}

/// Runs without a cell in common have nothing that could have changed.
fn related(a: &RunDirectory, b: &RunDirectory) -> Result<(), Failure> {
    let cells = |run: &RunDirectory| -> Vec<String> { run.plan().cells.iter().map(|c| c.id.clone()).collect() };
    let (of_a, of_b) = (cells(a), cells(b));
    if of_a.iter().any(|cell| of_b.contains(cell)) {
        return Ok(());
    }
    let some = |cells: &[String]| match cells {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [one, more @ ..] => format!("{one} and {} more", more.len()),
    };
    Err(Failure::input(format!(
        "nothing to compare: {} measured {}, {} measured {}, and no cell is in both",
        a.name(),
        some(&of_a),
        b.name(),
        some(&of_b)
    ))
    .help("compare two runs of the same experiment; a cell is CONFIGURATION.WORKLOAD.LOAD"))
}

/// Most bytes of a list of hashes that are compared.
const HASHES_MOST_BYTES: u64 = 64 << 20;

/// Whether both are one run: the same directory, or one and a copy of it, whose evidence has the same hashes.
fn same_run(a: &RunDirectory, b: &RunDirectory) -> bool {
    let place = |run: &RunDirectory| std::fs::canonicalize(run.path()).ok();
    let hashes = |run: &RunDirectory| guarded::read_no_link(&run.path().join("run.sha256"), HASHES_MOST_BYTES).ok();
    let alike = |a: Option<_>, b: Option<_>| a.is_some() && a == b;
    alike(place(a), place(b)) || (hashes(a).is_some() && hashes(a) == hashes(b))
}

/// The exit of the command: failed gates before inconclusive ones, each with its own word.
fn verdict(comparison: &Comparison, inconclusive: Inconclusive) -> Result<(), Failure> {
    let of = |outcome: GateOutcome| {
        let gates = comparison.gates.iter().filter(|g| g.outcome == outcome);
        gates.map(|g| g.expression.as_str()).collect::<Vec<_>>().join("; ")
    };
    let (failed, open) = (of(GateOutcome::Failed), of(GateOutcome::Inconclusive));
    let mut messages = Vec::new();
    if !failed.is_empty() {
        messages.push(format!("gate failed: {failed}"));
    }
    if !open.is_empty() {
        messages.push(format!("gate inconclusive: {open}"));
    }
    let message = messages.join("\n");
    if !failed.is_empty() || (!open.is_empty() && inconclusive == Inconclusive::Fail) {
        return Err(Failure::verdict(message));
    }
    if !message.is_empty() {
        eprintln!("{message} (--inconclusive pass)");
    }
    Ok(())
}
