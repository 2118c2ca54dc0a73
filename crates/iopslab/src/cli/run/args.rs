//! What was typed after `run`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::cli::experiment_file::OtherwiseArgs;
use crate::cli::provider::ProviderName;

/// Where run directories are created.
pub const DEFAULT_OUT: &str = "runs";

/// What was typed after `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab run                                                 # experiment.toml of this folder
  iopslab run examples/quickstart.toml
  iopslab run ours.toml --provider simulated                  # its rehearsal: no machine, no root
  iopslab run ours.toml --only gp3-3000,gp3-6000
  iopslab run ours.toml --only gp3-3000.night.c64 --set load.repetitions=1
  iopslab run examples/kenzan-2018.toml --out /data/runs
  iopslab run --resume runs/quickstart-20261120T221500Z
  iopslab run --resume runs/quickstart-20261120T221500Z --retry-invalid
  iopslab run examples/quickstart.toml --format json > analysis.json
  iopslab run examples/quickstart.toml --watch                # a page that shows the run, and pauses or ends it
  iopslab run examples/quickstart.toml --metrics 127.0.0.1:9464     # watch it with Prometheus
  iopslab run examples/simulated.toml --provider simulated    # no machine, no root: a stated truth
  iopslab run examples/hosts.toml --provider hosts            # machines of your own, by SSH
  iopslab run own.toml --provider aws --max-cost 20           # machines made on AWS, and taken away")]
pub struct RunArgs {
    /// The experiment file [default: experiment.toml]
    #[arg(conflicts_with = "resume")]
    pub experiment: Option<PathBuf>,
    #[command(flatten)]
    pub otherwise: OtherwiseArgs,
    /// Where the machines come from [default: local]
    #[arg(long, value_enum)]
    pub provider: Option<ProviderName>,
    /// Continue a run: measures what is missing, and repeats trials whose database did not start
    #[arg(long, value_name = "RUN")]
    pub resume: Option<PathBuf>,
    /// With --resume: repeat every invalid trial, whatever made it so. What it leaves goes to set-aside/ in the run
    #[arg(long)]
    pub retry_invalid: bool,
    /// With --resume: measure cells, too, that were skipped on the page of --watch
    #[arg(long)]
    pub retry_skipped: bool,
    /// Directory in which the run directory is created [default: runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on beside others that measure on this machine, rather than wait or be refused: each of them finds a slower
    /// machine, and the report says so. Give it a work directory of its own (work_directory, or $IOPSLAB_WORK)
    #[arg(long, conflicts_with = "resume")]
    pub beside: bool,
    /// Let other users of this machine read the run directory, as far as the umask does
    #[arg(long, conflicts_with = "resume")]
    pub shared: bool,
    /// Serve a page that shows the run while it is under way, its answer so far and its load, and on which it is
    /// paused, ended, or a cell skipped. Whoever has the address that is printed may do that; loopback only, by
    /// default 127.0.0.1 and a free port
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:0")]
    pub watch: Option<SocketAddr>,
    /// Serve what the run is doing now as OpenMetrics text on http://ADDRESS/metrics; loopback only,
    /// port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// With --provider aws: have machines made without being asked
    #[arg(long)]
    pub yes: bool,
    /// With --provider aws: an estimate above this starts nothing, and a run that has spent it ends
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,
    /// Exit with status 3 if any trial is invalid
    #[arg(long)]
    pub require_valid: bool,
}
