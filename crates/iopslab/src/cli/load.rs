//! `iopslab load`: the load engine alone, against any CQL endpoint or a server of PostgreSQL.

mod args;
mod outcome;
mod place;
mod work;
mod workload;

use std::time::Duration;

use controller::Screen;
use database::with_client;
use engine::{Load, TrialPlan};
use experiment::Arrivals;
use process::failure::Failure;
use process::interrupt;
use process::output::{Format, pretty};

pub use args::LoadArgs;
use args::{DEFAULT_CONCURRENCY, NO_TIME_LIMIT};
use place::Place;
use work::ByHand;

const DEFAULT_DURATION: Duration = Duration::from_secs(30);
const DEFAULT_RECORDS: u64 = 100_000;

/// Generates load and prints what was measured.
pub fn run(args: &LoadArgs, format: Format) -> Result<(), Failure> {
    let chosen = workload::choose(&args.workload, args.distribution.as_deref())?;
    let plan = trial_plan(args, &chosen);
    let place = Place::of(args, plan.load)?;
    let at = place.table(args, plan.fields)?;
    let cancelled = interrupt::install(|| eprintln!("stopping"))
        .map_err(|error| Failure::work(format!("cannot watch for Ctrl-C: {error}")))?;
    let screen = Screen::new(None);
    for note in &chosen.notes {
        screen.say(&format!("note: {note}"));
    }
    for note in args.entry.notes() {
        screen.say(&note);
    }
    let by_hand = ByHand { args, place: &place, plan: &plan, at, screen: &screen, cancelled: &cancelled };
    let (loaded, outcome) = with_client(place.product, by_hand).map_err(Failure::work)??;
    for note in &outcome.result.notes {
        screen.note(note);
    }

    let shown = outcome::Shown::new(args, &place, &plan, loaded.as_ref(), &outcome);
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
