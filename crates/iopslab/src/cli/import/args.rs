//! What is typed after `import`.

use std::path::PathBuf;

use clap::Args;
use evidence::CountedFrom;

use crate::cli::numbers::positive;

/// What was typed after `import`.
#[derive(Debug, Args)]
#[command(after_help = "Reads YCSB 0.12 to 0.17 (text, with -s, histogram or raw), the log of cassandra-stress, \
the HdrHistogram
logs of both, latte's JSON, fio's, and the CSV of a timer of NoSQLBench. A file that cannot be read whole is refused at
its line; other tools are refused by their names. What is not concluded from such files, and why, is in docs/imports.md.

Several files become one run by a map, one table for each:

  [[result]]
  file = \"gp2-1.txt\"               beside the map
  configuration = \"gp2-320\"
  workload = \"a\"
  threads = 64                     the load, or rate = 5000 operations a second; where the file does not state it
  operation = \"read\"               where the file does not state it: latte, NoSQLBench
  counted_from = \"due\"             or \"sent\": from when latencies count, where the file does not show it
  histograms = [\"READ.hdr\"]        optional: HdrHistogram logs that were written beside it
  repetition = 1
  price_usd_per_month = 310.5      optional

Examples:
  iopslab import ycsb.txt --threads 64
  iopslab import --map study.toml --out runs
  iopslab report runs/study-20260101T000000Z")]
pub struct ImportArgs {
    /// The output of one run of a tool
    #[arg(value_name = "FILE", required_unless_present = "map", conflicts_with = "map")]
    pub(super) file: Vec<PathBuf>,
    /// A TOML file that says of each of several files which cell it is of
    #[arg(long, value_name = "FILE")]
    pub(super) map: Option<PathBuf>,
    /// The load under which the file was measured, where it does not state it: requests in flight (YCSB's and
    /// cassandra-stress's threads)
    #[arg(
        long,
        value_name = "N",
        conflicts_with_all = ["map", "rate"],
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(super) threads: Option<u32>,
    /// The load, instead of --threads, where the tool kept a rate and the file does not state it: operations a second
    /// that it was to send (YCSB's -target, cassandra-stress's throttle= and fixed=). Results are compared at one load
    #[arg(long, value_name = "N", conflicts_with = "map", value_parser = positive)]
    pub(super) rate: Option<f64>,
    /// What all operations are (read, update, insert, scan, read_modify_write), where the file does not state it:
    /// latte, NoSQLBench
    #[arg(long, value_name = "KIND", conflicts_with = "map")]
    pub(super) operation: Option<String>,
    /// From when its latencies count, where the file does not show it: due (by the schedule: YCSB's
    /// measurement.interval=intended, cassandra-stress's fixed=) or sent
    #[arg(long, value_name = "MOMENT", conflicts_with = "map", value_parser = moment)]
    pub(super) counted_from: Option<CountedFrom>,
    /// An HdrHistogram log that the tool wrote beside the file: its latencies, with all percentiles; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "map")]
    pub(super) histograms: Vec<PathBuf>,
    /// Directory in which the run directory is made
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Let other users read the run directory, as the umask has it
    #[arg(long)]
    pub(super) shared: bool,
}

fn moment(text: &str) -> Result<CountedFrom, String> {
    let found = CountedFrom::ALL.into_iter().find(|moment| moment.name() == text);
    found.ok_or_else(|| format!("expected {}", CountedFrom::ALL.map(CountedFrom::name).join(" or ")))
}
