//! `iopslab load`: the load engine alone, against any CQL endpoint.

mod args;
mod outcome;
mod workload;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use controller::Screen;
use database::cassandra::{Admin, AdminError};
use database::{CqlConnect, Existing, ExistingError, Replication, TableAt};
use engine::{EngineError, Load, LoadOutcome, LoadPlan, Second, TrialPlan};
use experiment::Arrivals;
use process::failure::Failure;
use process::output::{Format, pretty};
use process::{human_us, interrupt};

pub use args::LoadArgs;
use args::NO_TIME_LIMIT;

use super::entry::{CQL_PORT, resolve, with_port};

const DEFAULT_DURATION: Duration = Duration::from_secs(30);
const DEFAULT_RECORDS: u64 = 100_000;
const DEFAULT_CONCURRENCY: u32 = 100;

/// Generates load and prints what was measured.
pub fn run(args: &LoadArgs, format: Format) -> Result<(), Failure> {
    let chosen = workload::choose(&args.workload, args.distribution.as_deref())?;
    let plan = trial_plan(args, &chosen);
    let hosts: Vec<String> = args.hosts.iter().map(|host| with_port(host, CQL_PORT)).collect();
    let connect = CqlConnect::new(TableAt {
        contact_points: hosts.clone(),
        keyspace: args.keyspace.clone(),
        table: args.table.clone(),
        fields: plan.fields,
        consistency: experiment::ConsistencyLevels::all(args.consistency),
        request_timeout: args.request_timeout,
        access: args.entry.access()?,
        driver_only: database::driver_only(),
    });
    let cancelled = interrupt::install(|| eprintln!("stopping"))
        .map_err(|error| Failure::work(format!("cannot watch for Ctrl-C: {error}")))?;
    let screen = Screen::new(None);
    for note in &chosen.notes {
        screen.say(&format!("note: {note}"));
    }
    for note in args.entry.notes() {
        screen.say(&note);
    }
    let loaded = if args.load_data { Some(load_data(args, &plan, &connect, &screen, &cancelled)?) } else { None };
    let outcome = engine::run_trial(&connect, &plan, &mut |second| screen.doing("", &line(second)), &cancelled);
    screen.clear();
    let outcome = outcome.map_err(|error| failure(error, args, &connect))?;
    for note in &outcome.result.notes {
        screen.note(note);
    }

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
    let no_duration = if operations.is_some() { NO_TIME_LIMIT } else { DEFAULT_DURATION };
    let closed = |concurrency| Load::Closed { concurrency };
    let arrivals = if args.constant { Arrivals::Constant } else { Arrivals::Poisson };
    let open = |operations_per_s| Load::Open { operations_per_s, arrivals };
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
        part: engine::Part::WHOLE,
        check_writes: false,
        begin: None,
    }
}

fn load_data(
    args: &LoadArgs,
    plan: &TrialPlan,
    connect: &CqlConnect,
    screen: &Screen,
    cancelled: &AtomicBool,
) -> Result<LoadOutcome, Failure> {
    let dataset = experiment::Dataset {
        records: plan.records,
        fields: plan.fields,
        field_length: plan.field_length,
        compressibility: plan.compressibility,
        seed: plan.seed,
    };
    screen.doing("creating keyspace and table", "");
    let points = &connect.at.contact_points;
    Admin::connect_as(resolve(points)?, Duration::from_secs(30), points, &connect.at.access)
        .and_then(|admin| {
            admin.create_schema(
                &args.keyspace,
                &args.table,
                &dataset,
                &Replication::Each(args.replication),
                &BTreeMap::new(),
            )
        })
        .map_err(|error| {
            let known = match &error {
                AdminError::Connect { refusal, .. } => refusal.help(),
                _ => None,
            };
            let help = known.unwrap_or_else(|| "is a CQL server listening there? try: iopslab db start".to_owned());
            Failure::work(error).help(help)
        })?;
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
        overwrites_of: None,
        own_rows: false,
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
    .map_err(|error| failure(error, args, connect))?;
    screen.say(&format!("loaded {} records in {:.1} s", loaded.records, loaded.seconds));
    Ok(loaded)
}

fn failure(error: EngineError, args: &LoadArgs, connect: &CqlConnect) -> Failure {
    match error {
        EngineError::Plan(_) => Failure::input(error),
        EngineError::Connect(_) => {
            let help = help_with_entry(connect).unwrap_or_else(|| {
                format!(
                    "is a CQL server listening there, and does the table {}.{} exist? --load-data creates it",
                    args.keyspace, args.table
                )
            });
            Failure::work(error).help(help)
        }
        EngineError::Cancelled => {
            Failure::interrupted("interrupted; nothing is reported, because the measurement is not complete")
        }
        _ => Failure::work(error),
    }
}

/// What to do where it is the way in that fails: the engine keeps what was said, not what it means.
fn help_with_entry(connect: &CqlConnect) -> Option<String> {
    match Existing::connect(&connect.at) {
        Err(ExistingError::Connect { refusal, .. }) => refusal.help(),
        _ => None,
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
