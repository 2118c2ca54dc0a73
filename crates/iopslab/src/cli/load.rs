//! `iopslab load`: the load engine alone, against any CQL endpoint.

mod outcome;
mod workload;

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use database::cassandra::Admin;
use database::{CqlConnect, Replication};
use engine::{EngineError, Load, LoadOutcome, LoadPlan, Second, TrialPlan};
use spec::Consistency;

use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Format, pretty};
use crate::progress::{Screen, human_us};

/// What a trial by hand lasts when only the number of operations bounds it.
const NO_TIME_LIMIT: Duration = Duration::from_secs(24 * 3600);
const DEFAULT_DURATION: Duration = Duration::from_secs(30);
const DEFAULT_RECORDS: u64 = 100_000;
const DEFAULT_CONCURRENCY: u32 = 100;

/// What was typed after `load`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iopslab load --hosts 127.0.0.1 --workload read=1 --load-data
  iopslab load --hosts db1,db2 --workload read=0.8,update=0.2 --concurrency 250 --operations 10_000_000
  iopslab load --hosts 127.0.0.1 --workload ycsb:workloads/csload5 --rate 5000 --duration 2m
  iopslab load --hosts 127.0.0.1 --workload c --distribution uniform --format json")]
pub struct LoadArgs {
    /// Contact points, HOST or HOST:PORT, separated by commas
    #[arg(long, value_name = "HOST", value_delimiter = ',', required = true)]
    hosts: Vec<String>,
    /// Proportions such as read=0.8,update=0.2, a YCSB core workload a..f, or ycsb:FILE
    #[arg(long, value_name = "WORKLOAD")]
    workload: String,
    /// Which keys: uniform, zipfian, latest, hotspot, exponential or sequential [default: the workload's, else zipfian]
    #[arg(long)]
    distribution: Option<String>,
    /// Records that exist, or that --load-data inserts [default: the YCSB file's, else 100000]
    #[arg(long, value_parser = count)]
    records: Option<u64>,
    /// Fields of a record [default: the YCSB file's, else 10]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    fields: Option<u32>,
    /// Bytes of a field [default: the YCSB file's, else 100]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    field_length: Option<u32>,
    /// Share of each value that is constant text, 0 to 1; 0 cannot be compressed
    #[arg(long, default_value_t = 0.0, value_parser = share)]
    compressibility: f64,
    /// Closed loop: exactly so many requests in flight [default: the YCSB file's threadcount, else 100]
    #[arg(long, conflicts_with = "rate", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    concurrency: Option<u32>,
    /// Open loop: operations per second; latency is measured from the time at which each is due
    #[arg(long, value_name = "PER_SECOND", value_parser = rate)]
    rate: Option<f64>,
    /// Open loop with constant gaps instead of a Poisson process
    #[arg(long, requires = "rate")]
    constant: bool,
    /// How long to measure, such as 30s, 5m or 1h [default: 30s, or unlimited with --operations]
    #[arg(long, value_parser = duration)]
    duration: Option<Duration>,
    /// Load before the measurement
    #[arg(long, default_value = "5s", value_parser = duration)]
    warmup: Duration,
    /// Measure so many operations at most, exactly [default: the YCSB file's operationcount, else no bound]
    #[arg(long, value_parser = count)]
    operations: Option<u64>,
    /// First create keyspace and table where they do not exist, and insert all records
    #[arg(long)]
    load_data: bool,
    /// Replication factor of a keyspace that --load-data creates
    #[arg(long, default_value_t = 1, requires = "load_data", value_parser = clap::value_parser!(u32).range(1..=9))]
    replication: u32,
    /// Keyspace of the data set
    #[arg(long, default_value = "ycsb", value_parser = identifier)]
    keyspace: String,
    /// Table of the data set
    #[arg(long, default_value = "usertable", value_parser = identifier)]
    table: String,
    /// Consistency level of every request
    #[arg(long, default_value = "one", value_parser = consistency)]
    consistency: Consistency,
    /// Longest wait for a response
    #[arg(long, default_value = "10s", value_parser = duration)]
    request_timeout: Duration,
    /// Load threads; 0 chooses by load and CPUs
    #[arg(long, default_value_t = 0)]
    threads: u32,
    /// Seed of keys, values and gaps
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Record number of the first insert; raise it to insert again on the same data [default: --records]
    #[arg(long, value_parser = count)]
    first_insert: Option<u64>,
}

/// Generates load and prints what was measured.
pub fn run(args: &LoadArgs, format: Format) -> Result<(), Failure> {
    let chosen = workload::choose(&args.workload, args.distribution.as_deref())?;
    let plan = trial_plan(args, &chosen);
    let hosts: Vec<String> = args.hosts.iter().map(|host| with_port(host)).collect();
    let connect = CqlConnect {
        contact_points: hosts.clone(),
        keyspace: args.keyspace.clone(),
        table: args.table.clone(),
        fields: plan.fields,
        consistency: args.consistency,
        request_timeout: args.request_timeout,
    };
    let cancelled = interrupt::install(|| eprintln!("stopping"))
        .map_err(|error| Failure::work(format!("cannot watch for Ctrl-C: {error}")))?;
    let mut screen = Screen::new();
    for note in &chosen.notes {
        screen.say(&format!("note: {note}"));
    }
    let loaded = match args.load_data {
        true => Some(load_data(args, &plan, &connect, &mut screen, &cancelled)?),
        false => None,
    };
    let outcome = engine::run_trial(
        &connect,
        &plan,
        &mut |second| screen.doing("", &line(second)),
        &cancelled,
    );
    screen.clear();
    let outcome = outcome.map_err(|error| failure(error, args))?;

    let shown = outcome::Shown::new(args, &hosts, &plan, loaded.as_ref(), &outcome);
    match format {
        Format::Json => println!("{}", pretty(&shown.json())),
        Format::Human => print!("{}", shown.table()),
    }
    shown.verdict()
}

/// What was typed, over what the YCSB file states, over the defaults.
fn trial_plan(args: &LoadArgs, chosen: &workload::Chosen) -> TrialPlan {
    let records = args.records.or(chosen.records).unwrap_or(DEFAULT_RECORDS);
    let operations = args.operations.or(chosen.operations);
    let no_duration = if operations.is_some() {
        NO_TIME_LIMIT
    } else {
        DEFAULT_DURATION
    };
    let closed = |concurrency| Load::Closed { concurrency };
    let open = |operations_per_s| Load::Open {
        operations_per_s,
        poisson: !args.constant,
    };
    let load = match (args.concurrency, args.rate) {
        (Some(concurrency), _) => closed(concurrency),
        (None, Some(rate)) => open(rate),
        (None, None) => match chosen.rate {
            Some(rate) => open(rate),
            None => closed(chosen.concurrency.unwrap_or(DEFAULT_CONCURRENCY)),
        },
    };
    TrialPlan {
        definition: chosen.definition.clone(),
        fields: args.fields.or(chosen.fields).unwrap_or(10),
        field_length: args.field_length.or(chosen.field_length).unwrap_or(100),
        compressibility: args.compressibility,
        records,
        load,
        warmup: args.warmup,
        duration: args.duration.unwrap_or(no_duration),
        operations,
        threads: args.threads,
        seed: args.seed,
        first_insert: args.first_insert.unwrap_or(records),
    }
}

fn load_data(
    args: &LoadArgs,
    plan: &TrialPlan,
    connect: &CqlConnect,
    screen: &mut Screen,
    cancelled: &AtomicBool,
) -> Result<LoadOutcome, Failure> {
    let dataset = spec::Dataset {
        records: plan.records,
        fields: plan.fields,
        field_length: plan.field_length,
        compressibility: plan.compressibility,
        seed: plan.seed,
    };
    screen.doing("creating keyspace and table", "");
    Admin::connect(resolve(&connect.contact_points)?, Duration::from_secs(30))
        .and_then(|admin| {
            admin.create_schema(
                &args.keyspace,
                &args.table,
                &dataset,
                &Replication::Each(args.replication),
            )
        })
        .map_err(|error| Failure::work(error).help("is a CQL server listening there? try: iopslab db start"))?;
    let insert = LoadPlan {
        first_record: 0,
        records: plan.records,
        fields: plan.fields,
        field_length: plan.field_length,
        compressibility: plan.compressibility,
        keys: plan.definition.keys,
        concurrency: match plan.load {
            Load::Closed { concurrency } => concurrency,
            Load::Open { .. } => DEFAULT_CONCURRENCY,
        },
        threads: args.threads,
        seed: plan.seed,
    };
    let mut inserted = 0;
    let loaded = engine::run_load(
        connect,
        &insert,
        &mut |second| {
            inserted += second.operations;
            let done = format!("{inserted} of {} records, {}", plan.records, rates(second));
            screen.doing("loading", &done);
        },
        cancelled,
    )
    .map_err(|error| failure(error, args))?;
    screen.say(&format!("loaded {} records in {:.1} s", loaded.records, loaded.seconds));
    Ok(loaded)
}

fn failure(error: EngineError, args: &LoadArgs) -> Failure {
    match error {
        EngineError::Plan(_) => Failure::input(error),
        EngineError::Connect(_) => Failure::work(error).help(format!(
            "is a CQL server listening there, and does the table {}.{} exist? --load-data creates it",
            args.keyspace, args.table
        )),
        EngineError::Cancelled => {
            Failure::interrupted("interrupted; nothing is reported, because the measurement is not complete")
        }
        _ => Failure::work(error),
    }
}

fn line(second: &Second) -> String {
    let phase = if second.t_s < 0.0 { "warm-up" } else { "measured" };
    format!("{phase} {:>5.0} s  {}", second.t_s.abs(), rates(second))
}

fn rates(second: &Second) -> String {
    format!(
        "{} operations/s, p50 {}, p99 {}, errors {}, in flight {}",
        second.operations,
        human_us(second.p50_us),
        human_us(second.p99_us),
        second.errors,
        second.in_flight
    )
}

fn with_port(host: &str) -> String {
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(name, port)| !name.contains(':') && port.parse::<u16>().is_ok());
    if has_port || host.contains("]:") {
        host.to_owned()
    } else {
        format!("{host}:9042")
    }
}

fn resolve(contact_points: &[String]) -> Result<SocketAddr, Failure> {
    let address = contact_points
        .iter()
        .find_map(|point| point.to_socket_addrs().ok()?.next());
    address.ok_or_else(|| Failure::input(format!("no address is known for {}", contact_points.join(", "))))
}

fn count(text: &str) -> Result<u64, String> {
    match text.replace('_', "").parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("expected a whole number such as 100000 or 10_000_000".to_owned()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text
        .replace('_', "")
        .parse::<f64>()
        .ok()
        .filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "expected operations per second, such as 5000".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
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
    let seconds = number
        .parse::<f64>()
        .ok()
        .filter(|n| n.is_finite() && *n >= 0.0)
        .map(|n| n * unit_s);
    let longest = NO_TIME_LIMIT.as_secs_f64();
    let seconds = seconds.ok_or_else(|| "expected a time such as 30s, 5m or 1h".to_owned())?;
    if seconds > longest {
        Err("longer than a day".to_owned())
    } else {
        Ok(Duration::from_secs_f64(seconds))
    }
}

/// Names go into statements as they are, so only plain ones are taken.
fn identifier(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts_well = text.starts_with(|c: char| c.is_ascii_lowercase());
    if starts_well && text.len() <= 48 && text.chars().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("expected a lower-case CQL name: letters, digits and _, at most 48, a letter first".to_owned())
    }
}

fn consistency(text: &str) -> Result<Consistency, String> {
    let name = text.to_ascii_lowercase().replace('-', "_");
    serde_json::from_value(serde_json::Value::String(name))
        .map_err(|_| "expected any, one, two, three, quorum, all, local_quorum, each_quorum or local_one".to_owned())
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
        assert_eq!(count("10_000_000"), Ok(10_000_000));
        assert!(count("0").is_err());
        assert!(rate("0").is_err() && rate("NaN").is_err() && rate("inf").is_err());
        assert_eq!(consistency("LOCAL-QUORUM"), Ok(Consistency::LocalQuorum));
        assert!(identifier("x; DROP TABLE y").is_err());
    }

    #[test]
    fn a_host_gets_the_default_port_only_where_it_has_none() {
        assert_eq!(with_port("db1"), "db1:9042");
        assert_eq!(with_port("10.0.0.5:9142"), "10.0.0.5:9142");
        assert_eq!(with_port("[::1]:9142"), "[::1]:9142");
        assert_eq!(with_port("[::1]"), "[::1]:9042");
    }
}
