//! What is asked next, and with which values.

use std::fmt;
use std::sync::Arc;

use workload::chooser::{Hotspot, KeyChooser, uniform_item};
use workload::{Distribution, InsertSequence, Random};

use super::bind::{Known, bind};
use super::plan::{Asked, Bound, Plan, Step};
use super::request::Request;
use super::shared::Shared;
use crate::cql::{Marker, Table};
use crate::data::{Data, Population, RowChoice, StatementData, TableData, Unfit, Weighted};
use crate::encode::first_element;
use crate::mistake::Mistake;
use crate::rows::{Cell, Place, TableRows};
use crate::script::Script;
use crate::values::{Values, sized};

/// Makes requests for one load thread.
#[derive(Debug, Clone)]
pub struct Requests {
    plans: Arc<Vec<Plan>>,
    weighted: Weighted,
    shared: Arc<Shared>,
    /// By statement, for each table that it asks.
    choosers: Vec<Vec<KeyChooser>>,
    /// Of the request that is being made.
    chosen: Vec<Chosen>,
    scratch: Vec<u8>,
}

/// Why requests of a statement cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// The statement itself, at its line of the file.
    Statement(Mistake),
    /// What is stated of tables or of what it asks for.
    Data(Unfit),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statement(mistake) => write!(f, "{mistake}"),
            Self::Data(unfit) => write!(f, "{unfit}"),
        }
    }
}

/// The partitions and the row that a request asks for in one table.
#[derive(Debug, Clone, Default)]
struct Chosen {
    partitions: Vec<u64>,
    row: u64,
    /// Rows of the first partition; `None`: the row is a new one.
    rows: Option<u64>,
    /// From one row to the next.
    step: u64,
}

impl Chosen {
    fn row(&self, step: Step) -> u64 {
        match (step, self.rows) {
            (Step::Next(steps), Some(rows)) => (self.row + steps) % rows.max(1),
            (Step::Next(steps) | Step::Beyond(steps), _) => self.row + steps * self.step,
        }
    }

    fn place(&self, partition: usize, step: Step) -> Place {
        Place { partition: self.partitions[partition], row: self.row(step) }
    }
}

impl Requests {
    /// For all statements of the script, or all that cannot be.
    ///
    /// `tables`: every table and view that a marker names, and the tables that these views are of. `markers`: those of
    /// each statement, in the script's order. `shared` has to be of the same data.
    pub fn new(
        script: &Script,
        data: &Data,
        tables: &[Table],
        markers: &[Vec<Marker>],
        shared: Arc<Shared>,
    ) -> Result<Self, Vec<Misfit>> {
        let mut misfits = Vec::new();
        let mut rows = Vec::new();
        for table in tables.iter().filter(|table| table.view_of.is_none()) {
            match data.table(&table.name).map(|of_table| TableRows::new(table, of_table, data.seed)) {
                Some(Ok(of_table)) => rows.push(of_table),
                Some(Err(unfit)) => misfits.extend(unfit.into_iter().map(Misfit::Data)),
                // A statement that asks for it is refused.
                None => {}
            }
        }
        if !misfits.is_empty() {
            return Err(misfits);
        }
        let known = Known { tables, rows: &rows, shared: &shared };
        let mut plans = Vec::new();
        for (i, statement) in script.statements.iter().enumerate() {
            let stated = data.statements.get(&statement.name).cloned().unwrap_or_default();
            let markers = markers.get(i).map(Vec::as_slice).unwrap_or_default();
            match bind(statement, stated, markers, known) {
                Ok(plan) => {
                    let unfit = of_partitions(&statement.name, &plan, data);
                    misfits.extend(unfit.into_iter().map(Misfit::Data));
                    plans.push(plan);
                }
                Err((mistakes, unfit)) => {
                    misfits.extend(mistakes.into_iter().map(Misfit::Statement));
                    misfits.extend(unfit.into_iter().map(Misfit::Data));
                }
            }
        }
        if !misfits.is_empty() {
            return Err(misfits);
        }
        let chooser = |plan: &Plan, asked: &Asked| {
            let stated = &data.tables[asked.table];
            let partitions = stated.partitions;
            match plan.data.population.unwrap_or(stated.population) {
                Population::Of(distribution) => KeyChooser::new(distribution, 0.0, partitions, 0),
                Population::HotSet { hot_partitions, share } => {
                    KeyChooser::Hotspot(Hotspot::of(partitions, hot_partitions, share))
                }
            }
        };
        let choosers = plans.iter().map(|plan| plan.asked.iter().map(|asked| chooser(plan, asked)).collect()).collect();
        let most = plans.iter().map(|plan| plan.asked.len()).max().unwrap_or(0);
        Ok(Self {
            weighted: Weighted::new(script.statements.iter().map(|statement| statement.weight)),
            plans: Arc::new(plans),
            shared,
            choosers,
            chosen: vec![Chosen::default(); most],
            scratch: Vec::new(),
        })
    }

    /// A statement by its share.
    #[inline]
    pub fn choose(&self, random: &mut Random) -> usize {
        self.weighted.choose(random.next_unit())
    }

    /// The next request: a statement by its share, then as [`Self::fill`] does.
    pub fn next(&mut self, random: &mut Random, now_us: i64, into: &mut Request) {
        let statement = self.choose(random);
        self.fill(statement, random, now_us, into);
    }

    /// The next request of this statement. `now_us`: microseconds since 1970, for `USING TIMESTAMP ?` and new values of
    /// times that advance.
    ///
    /// The request has to be given to [`Self::ended`] when it has ended.
    pub fn fill(&mut self, statement: usize, random: &mut Random, now_us: i64, into: &mut Request) {
        let Self { plans, shared, choosers, chosen, scratch, .. } = self;
        let plan = &plans[statement];
        into.begin(statement);
        let is_missing = plan.data.missing > 0.0 && random.next_unit() < plan.data.missing;
        for ((asked, chooser), chosen) in plan.asked.iter().zip(&mut choosers[statement]).zip(&mut *chosen) {
            choose_partitions(asked, chooser, is_missing, shared, random, chosen, into);
            choose_row(asked, &plan.data, shared, random, chosen);
        }
        let now_ms = now_us.div_euclid(1_000);
        for bound in &plan.markers {
            put(bound, &plan.asked, chosen, random, (now_us, now_ms), scratch, &mut into.values);
        }
        if let Some(markers) = &plan.routing {
            into.route(markers);
        }
    }

    /// Says that a request has ended, well or not: from then on others may choose the partition that it has made.
    pub fn ended(&self, request: &Request) {
        request.claims.iter().for_each(|claim| self.shared.acknowledge(*claim));
    }
}

/// What of the partitions of its tables does not go with a statement.
fn of_partitions(statement: &str, plan: &Plan, data: &Data) -> Vec<Unfit> {
    let of_table = |asked: &Asked| {
        let TableData { table, partitions, population, .. } = &data.tables[asked.table];
        let latest = Population::Of(Distribution::Latest);
        match plan.data.population {
            Some(Population::HotSet { hot_partitions, .. }) if hot_partitions >= *partitions => {
                Some(format!("hot_set: all {partitions} partitions of {table} would be hot: state fewer"))
            }
            _ if *partitions > 0 => None,
            _ if asked.makes && plan.data.missing < 1.0 => {
                Some(format!("{table} begins empty: state missing = 1, else all requests write one partition"))
            }
            chosen if !asked.makes && chosen.unwrap_or(*population) != latest => {
                let why = "else all requests ask for one partition";
                Some(format!("{table} begins empty: state distribution = \"latest\", {why}"))
            }
            _ => None,
        }
    };
    plan.asked.iter().filter_map(of_table).map(|message| Unfit::statement(statement, message)).collect()
}

/// Chooses the partitions that are asked for in one table.
fn choose_partitions(
    asked: &Asked,
    chooser: &mut KeyChooser,
    is_missing: bool,
    shared: &Shared,
    random: &mut Random,
    chosen: &mut Chosen,
    request: &mut Request,
) {
    chosen.partitions.clear();
    let sequence: &InsertSequence = shared.partitions(asked.table);
    for _ in 0..asked.partitions {
        if is_missing && asked.makes {
            let (claim, partition) = shared.claim(asked.table);
            request.claims.push(claim);
            request.exists = false;
            chosen.partitions.push(partition);
        } else if is_missing {
            let number = uniform_item(asked.rows.missing(), random.next_u64());
            request.exists = false;
            chosen.partitions.push(asked.rows.missing_partition(number));
        } else {
            let existing = sequence.existing();
            let mut own = chooser.next_record(sequence, random);
            let mut partition = shared.partition(asked.table, own);
            // The keys of a list are different ones, as far as there are so many.
            for _ in 0..chosen.partitions.len() {
                if chosen.partitions.contains(&partition) {
                    own = (own + 1) % existing.max(1);
                    partition = shared.partition(asked.table, own);
                }
            }
            request.exists &= own < existing;
            chosen.partitions.push(partition);
        }
    }
}

/// Chooses the row that is asked for in the first partition.
fn choose_row(asked: &Asked, data: &StatementData, shared: &Shared, random: &mut Random, chosen: &mut Chosen) {
    let (partition, parts) = (chosen.partitions[0], asked.parts.len() as u64);
    // A partition that a request makes has a row for each of its statements.
    let is_made = partition >= asked.rows.partitions();
    let rows = if is_made { parts } else { asked.rows.rows_of(partition) };
    (chosen.rows, chosen.step) = (Some(rows), 1);
    // A range has all of its rows, where the partition has so many.
    let last = rows - data.range_rows.unwrap_or(1).min(rows);
    chosen.row = match data.rows {
        RowChoice::New => {
            let (first, step) = shared.claim_rows(asked.table, parts);
            (chosen.rows, chosen.step) = (None, step);
            asked.rows.most_rows() + first
        }
        _ if is_made || rows == 1 => 0,
        RowChoice::Uniform => uniform_item(last + 1, random.next_u64()),
        RowChoice::Oldest => 0,
        RowChoice::Newest => last,
    };
}

/// Adds the value of one marker.
fn put(
    bound: &Bound,
    asked: &[Asked],
    chosen: &[Chosen],
    random: &mut Random,
    (now_us, now_ms): (i64, i64),
    scratch: &mut Vec<u8>,
    values: &mut Values,
) {
    match bound {
        Bound::Value { asked: of, column, partition, step } => {
            let place = chosen[*of].place(*partition, *step);
            values.put(|out| asked[*of].rows.value(*column, place, out));
        }
        Bound::New { asked: of, column, step } => {
            let place = chosen[*of].place(0, *step);
            values.put(|out| asked[*of].rows.new_value(*column, place, now_ms, random, out));
        }
        Bound::Element { asked: of, column, is_value, otherwise } => {
            scratch.clear();
            asked[*of].rows.value(*column, chosen[*of].place(0, Step::Next(0)), scratch);
            match first_element(scratch, *is_value) {
                Some(element) => values.put_bytes(element),
                None => values.put(|out| otherwise.put(new_cell(random, now_ms), random, out)),
            }
        }
        Bound::List { asked: of, columns, is_tuple, keys, is_of_partitions } => values.put(|out| {
            out.extend_from_slice(&(*keys as i32).to_be_bytes());
            for key in 0..*keys {
                let place = if *is_of_partitions {
                    chosen[*of].place(key, Step::Next(0))
                } else {
                    chosen[*of].place(0, Step::Next(key as u64))
                };
                sized(out, |out| {
                    if *is_tuple {
                        tuple(&asked[*of].rows, columns, place, out);
                    } else {
                        asked[*of].rows.value(columns[0], place, out);
                    }
                });
            }
        }),
        Bound::Tuple { asked: of, columns, step } => {
            let place = chosen[*of].place(0, *step);
            values.put(|out| tuple(&asked[*of].rows, columns, place, out));
        }
        Bound::Constant(bytes) => values.put_bytes(bytes),
        Bound::Now => values.put_bytes(&now_us.to_be_bytes()),
        Bound::Token => values.put_bytes(&random.next_u64().to_be_bytes()),
        Bound::Fresh(maker) => values.put(|out| maker.put(new_cell(random, now_ms), random, out)),
    }
}

/// Several columns of a row as a tuple.
fn tuple(rows: &TableRows, columns: &[usize], place: Place, out: &mut Vec<u8>) {
    columns.iter().for_each(|column| sized(out, |out| rows.value(*column, place, out)));
}

/// A cell of no row.
fn new_cell(random: &mut Random, now_ms: i64) -> Cell {
    let number = random.next_u64();
    Cell { seed: number, number, now_ms: Some(now_ms) }
}
