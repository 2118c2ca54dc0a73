//! What was typed after `iopslab load`, each value checked.

use std::time::Duration;

use clap::Args;
use experiment::{Consistency, PRODUCTS};

use crate::cli::amounts::part;
use crate::cli::entry::EntryArgs;
use crate::cli::numbers::{count, positive};

/// What a trial by hand lasts when only the number of operations bounds it.
pub(super) const NO_TIME_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// Requests in flight where nothing says how many.
pub(super) const DEFAULT_CONCURRENCY: u32 = 100;

/// What was typed after `load`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab load --hosts 127.0.0.1 --workload read=1 --load-data
  iopslab load --hosts db1,db2 --workload read=0.8,update=0.2 --concurrency 250 --operations 10_000_000
  iopslab load --hosts 127.0.0.1 --workload ycsb:workloads/csload5 --rate 5000 --duration 2m
  iopslab load --hosts 127.0.0.1 --workload c --distribution uniform --format json
  IOPSLAB_PASSWORD=... iopslab load --hosts db1 --user bench --tls-ca ca.pem --workload read=1
  iopslab load --database postgresql --hosts 127.0.0.1 --workload a --concurrency 32 --load-data
  IOPSLAB_PASSWORD=... iopslab load --database postgresql --hosts db1 --dbname app --schema lab --user bench \
--workload read=1 --load-data

Of PostgreSQL without --user it asks as iopslab without a password, as `iopslab db start postgresql` lets in.")]
pub struct LoadArgs {
    /// Contact points, HOST or HOST:PORT, separated by commas
    #[arg(long, value_name = "HOST", value_delimiter = ',', required = true)]
    pub(super) hosts: Vec<String>,
    /// What answers there; of postgresql --hosts is one server
    #[arg(long, value_name = "NAME", default_value = PRODUCTS[0].name)]
    #[arg(value_parser = PRODUCTS.map(|product| product.name))]
    pub(super) database: String,
    /// With --database postgresql: the database in which the table is [default: ycsb]
    #[arg(long, value_name = "NAME")]
    pub(super) dbname: Option<String>,
    /// With --database postgresql: the schema of the table; --load-data makes it if it is missing [default: public]
    #[arg(long, value_name = "NAME", value_parser = identifier)]
    pub(super) schema: Option<String>,
    /// How to get in.
    #[command(flatten)]
    pub(super) entry: EntryArgs,
    /// Proportions such as read=0.8,update=0.2, a YCSB core workload a..f, or ycsb:FILE
    #[arg(long, value_name = "WORKLOAD")]
    pub(super) workload: String,
    /// Which keys: uniform, zipfian, latest, hotspot, exponential or sequential [default: the workload's, else zipfian]
    #[arg(long)]
    pub(super) distribution: Option<String>,
    /// Records that exist, or that --load-data inserts [default: the YCSB file's, else 100000]
    #[arg(long, value_parser = count)]
    pub(super) records: Option<u64>,
    /// Fields of a record [default: the YCSB file's, else 10]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) fields: Option<u32>,
    /// Bytes of a field [default: the YCSB file's, else 100]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub(super) field_length: Option<u32>,
    /// Share of each value that is constant text, 0 to 1; 0 cannot be compressed
    #[arg(long, default_value_t = 0.0, value_parser = part)]
    pub(super) compressibility: f64,
    /// Closed loop: exactly so many requests in flight [default: the YCSB file's threadcount, else 100]
    #[arg(long, conflicts_with = "rate", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) concurrency: Option<u32>,
    /// Open loop: operations per second; latency is measured from the time at which each is due
    #[arg(long, value_name = "PER_SECOND", value_parser = positive)]
    pub(super) rate: Option<f64>,
    /// Open loop with constant gaps instead of a Poisson process
    #[arg(long, requires = "rate")]
    pub(super) constant: bool,
    /// How long to measure, such as 30s, 5m or 1h [default: 30s, or unlimited with --operations]
    #[arg(long, value_parser = duration)]
    pub(super) duration: Option<Duration>,
    /// Load before the measurement
    #[arg(long, default_value = "5s", value_parser = duration)]
    pub(super) warmup: Duration,
    /// Measure so many operations at most, exactly [default: the YCSB file's operationcount, else no bound]
    #[arg(long, value_parser = count)]
    pub(super) operations: Option<u64>,
    /// First create keyspace and table where they do not exist, and insert all records
    #[arg(long)]
    pub(super) load_data: bool,
    /// Replication factor of a keyspace that --load-data creates [default: 1]
    #[arg(long, requires = "load_data", value_parser = clap::value_parser!(u32).range(1..=9))]
    pub(super) replication: Option<u32>,
    /// Keyspace of the data set [default: ycsb]
    #[arg(long, value_parser = identifier)]
    pub(super) keyspace: Option<String>,
    /// Table of the data set
    #[arg(long, default_value = "usertable", value_parser = identifier)]
    pub(super) table: String,
    /// Consistency level of every request [default: one]
    #[arg(long)]
    pub(super) consistency: Option<Consistency>,
    /// Longest wait for a response
    #[arg(long, default_value = "10s", value_parser = duration)]
    pub(super) request_timeout: Duration,
    /// Load threads; 0 chooses by load and CPUs
    #[arg(long, default_value_t = 0)]
    pub(super) threads: u32,
    /// Seed of keys, values and gaps
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Record number of the first insert; raise it to insert again on the same data [default: --records]
    #[arg(long, value_parser = count)]
    pub(super) first_insert: Option<u64>,
}

fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit_s = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("unknown unit `{unit}`; expected ms, s, m or h")),
    };
    let seconds = number.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0).map(|n| n * unit_s);
    let longest = NO_TIME_LIMIT.as_secs_f64();
    let seconds = seconds.ok_or_else(|| "expected a time such as 30s, 5m or 1h".to_owned())?;
    if seconds > longest { Err("longer than a day".to_owned()) } else { Ok(Duration::from_secs_f64(seconds)) }
}

/// Names go into statements as they are, so only plain ones are taken.
fn identifier(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase());
    if starts_well && text.len() <= 48 && text.chars().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("expected a lower-case name: letters, digits and _, at most 48, a letter first".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_understood_or_refused_with_what_was_expected() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert!(duration("5 parsecs").is_err());
        assert!(duration("-1s").is_err());
        assert!(duration("48h").is_err());
        assert!(identifier("x; DROP TABLE y").is_err());
    }
}
