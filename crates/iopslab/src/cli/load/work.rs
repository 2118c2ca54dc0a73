//! What is asked of the database: to take the data set, where that is typed, and then the load.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use controller::Screen;
use database::cassandra::{Admin, AdminError};
use database::{Client, ClientWork, ExistingError, Found, Replication, TableAt};
use engine::{EngineError, Load, LoadOutcome, LoadPlan, Second, TrialOutcome, TrialPlan};
use experiment::Dataset;
use process::failure::Failure;
use process::human_us;

use super::args::{DEFAULT_CONCURRENCY, LoadArgs};
use super::place::Place;
use crate::cli::entry::resolve;

/// A load by hand, whatever the product is.
pub(super) struct ByHand<'a> {
    pub(super) args: &'a LoadArgs,
    pub(super) place: &'a Place,
    pub(super) plan: &'a TrialPlan,
    pub(super) at: TableAt,
    pub(super) screen: &'a Screen,
    pub(super) cancelled: &'a AtomicBool,
}

impl ClientWork for ByHand<'_> {
    type Output = Result<(Option<LoadOutcome>, TrialOutcome), Failure>;

    fn with<C: Client>(self) -> Self::Output {
        let loaded = if self.args.load_data { load::<C>(&self)? } else { None };
        let client = C::to(self.at.clone());
        let mut on_second = |second: &Second| self.screen.doing("", &line(second));
        let outcome = engine::run_trial(&client, self.plan, &mut on_second, self.cancelled);
        self.screen.clear();
        Ok((loaded, outcome.map_err(|error| self.failure::<C>(error))?))
    }
}

impl ByHand<'_> {
    fn failure<C: Client>(&self, error: EngineError) -> Failure {
        match error {
            EngineError::Plan(_) => Failure::input(error),
            EngineError::Connect(_) => {
                let help = self.help_with_entry::<C>().unwrap_or_else(|| match self.place.is_sql() {
                    true => self.place.nobody(),
                    false => format!(
                        "is a CQL server listening there, and does the table {} exist? --load-data creates it",
                        self.place.name(self.args)
                    ),
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
    fn help_with_entry<C: Client>(&self) -> Option<String> {
        match C::to(self.at.clone()).reach() {
            Err(ExistingError::Connect { refusal, .. }) => refusal.help(),
            _ => None,
        }
    }
}

/// Makes the table and inserts all records; `None`: a server of PostgreSQL has all of them already.
fn load<C: Client>(by_hand: &ByHand<'_>) -> Result<Option<LoadOutcome>, Failure> {
    let ByHand { plan, screen, .. } = by_hand;
    let dataset = Dataset {
        records: plan.records,
        fields: plan.fields,
        field_length: plan.field_length,
        compressibility: plan.compressibility,
        seed: plan.seed,
    };
    screen.doing("creating the table", "");
    let client = C::to(by_hand.at.clone()).loading();
    if by_hand.place.is_sql() {
        let (found, _) = client.take(&dataset, plan.definition.keys, 1).map_err(|error| refused(by_hand, error))?;
        if found == Found::Whole {
            screen.say(&format!("{} records, loaded before", plan.records));
            return Ok(None);
        }
    } else {
        create_keyspace(by_hand, &dataset)?;
    }
    let loaded = insert(by_hand, &client)?;
    if by_hand.place.is_sql() {
        screen.doing("vacuuming and counting", "");
        client.loaded(&dataset, plan.definition.keys).map_err(|error| refused(by_hand, error))?;
    }
    screen.say(&format!("loaded {} records in {:.1} s", loaded.records, loaded.seconds));
    Ok(Some(loaded))
}

/// A keyspace and a table where they do not exist: records that are there are written again.
fn create_keyspace(by_hand: &ByHand<'_>, dataset: &Dataset) -> Result<(), Failure> {
    let (args, at) = (by_hand.args, &by_hand.at);
    let replication = Replication::Each(args.replication.unwrap_or(1));
    let points = &at.contact_points;
    Admin::connect_as(resolve(points)?, Duration::from_secs(30), points, &at.access)
        .and_then(|admin| admin.create_schema(&at.keyspace, &at.table, dataset, &replication, &BTreeMap::new()))
        .map_err(|error| {
            let known = match &error {
                AdminError::Connect { refusal, .. } => refusal.help(),
                _ => None,
            };
            Failure::work(error).help(known.unwrap_or_else(|| by_hand.place.nobody()))
        })
}

fn insert<C: Client>(by_hand: &ByHand<'_>, client: &C) -> Result<LoadOutcome, Failure> {
    let ByHand { args, plan, screen, .. } = by_hand;
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
        client,
        &insert,
        &mut |second| {
            inserted += second.operations;
            let done = format!("{inserted} of {} records, {}", plan.records, rates(second));
            screen.doing("loading", &done);
        },
        by_hand.cancelled,
    );
    loaded.map_err(|error| by_hand.failure::<C>(error))
}

/// Why a server of PostgreSQL does not take the data set, with what to do.
fn refused(by_hand: &ByHand<'_>, error: ExistingError) -> Failure {
    let help = match &error {
        ExistingError::Connect { refusal, .. } => Some(refusal.help().unwrap_or_else(|| by_hand.place.nobody())),
        ExistingError::Foreign { .. } | ExistingError::NotMade { .. } | ExistingError::Other { .. } => {
            Some("name another --table or --schema; iopslab drops nothing".to_owned())
        }
        ExistingError::Replication { .. } | ExistingError::Statement { .. } | ExistingError::Runtime(_) => None,
    };
    Failure { help, ..Failure::work(error) }
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
