//! `iopslab compare`: what changed between two runs, and gates for continuous integration.

use std::path::PathBuf;

use analysis::Gate;
use clap::Args;
use run::RunDirectory;

use super::measured::Measured;
use super::{Failure, Format, pretty};

/// What was typed after `compare`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  iopslab compare runs/quickstart-20260101T000000Z runs/quickstart-20260108T000000Z
  iopslab compare LAST_WEEK THIS_WEEK --fail-if 'throughput < -5%' --fail-if 'p99 > 20%'
  iopslab compare A B --format json | jq '.cells[].metrics.throughput.change_percent'

Human output is Markdown, fit for a pull-request comment. Exit 3: a gate failed.")]
pub struct CompareArgs {
    /// The run to compare with (before)
    run_a: PathBuf,
    /// The run to judge (after)
    run_b: PathBuf,
    /// Fail (exit 3) when any cell changed so: METRIC < -N% or METRIC > N%, METRIC being throughput, mean, p50, p95, p99 or p999. A change
    /// counts when it is shown; with single repetitions, where nothing can be tested, the plain change counts
    #[arg(long, value_name = "EXPR")]
    fail_if: Vec<String>,
}

pub fn run(args: &CompareArgs, format: Format) -> Result<(), Failure> {
    let gates: Vec<Gate> = args
        .fail_if
        .iter()
        .map(|text| Gate::parse(text))
        .collect::<Result<_, _>>()
        .map_err(Failure::input)?;
    let open = |path: &PathBuf| RunDirectory::open(path).map_err(Failure::input);
    let (a, b) = (open(&args.run_a)?, open(&args.run_b)?);
    let (measured_a, measured_b) = (Measured::read(&a)?, Measured::read(&b)?);
    let mut comparison = analysis::compare(&measured_a.evidence(&a), &measured_b.evidence(&b));
    comparison.gates = gates.iter().map(|gate| gate.decide(&comparison)).collect();
    match format {
        Format::Json => println!("{}", pretty(&comparison)),
        Format::Human => print!("{}", ::report::comparison_markdown(&comparison)),
    }
    let failed: Vec<&str> = comparison
        .gates
        .iter()
        .filter(|g| g.failed)
        .map(|g| g.expression.as_str())
        .collect();
    match failed.as_slice() {
        [] => Ok(()),
        failed => Err(Failure::Verdict(format!("gate failed: {}", failed.join("; ")))),
    }
}
