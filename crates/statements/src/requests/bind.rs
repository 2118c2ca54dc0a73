//! From what the server says of a statement's markers to what each is given.

use super::names::{Named, named};
use super::plan::{Asked, Bound, Plan, Step};
use super::shared::Shared;
use super::unused::unused;
use crate::cql::{CqlType, Marker, Table};
use crate::data::{StatementData, Unfit};
use crate::encode::Whole;
use crate::mistake::Mistake;
use crate::rows::{Role, TableRows, usual};
use crate::script::{Clause, Effect, Operator, Slot, Statement, Verb};

/// What is known when statements are bound.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) tables: &'a [Table],
    pub(super) rows: &'a [TableRows],
    pub(super) shared: &'a Shared,
}

/// What a statement's markers are given; or all that cannot be, about the statement or about its data.
pub(super) fn bind(
    statement: &Statement,
    data: StatementData,
    markers: &[Marker],
    known: Known<'_>,
) -> Result<Plan, (Vec<Mistake>, Vec<Unfit>)> {
    let mut binding =
        Binding { statement, data: &data, markers, known, asked: Vec::new(), mistakes: vec![], unfit: vec![] };
    if statement.slots.len() != markers.len() {
        let (server, file) = (markers.len(), statement.slots.len());
        binding.refuse(format!("the server sees {server} bind markers in it, where the file has {file} ?"));
        return Err((binding.mistakes, binding.unfit));
    }
    let bound: Vec<Option<Bound>> = (0..markers.len()).map(|marker| binding.bound(marker)).collect();
    let routing = binding.routing();
    let is_missing = data.missing > 0.0;
    for asked in &binding.asked {
        if is_missing && asked.rows.missing() == 0 {
            let name = &asked.rows.table().name;
            let message = format!("missing: all keys of {name} that its partition key has values for are loaded");
            binding.unfit.push(Unfit::statement(&statement.name, message));
        }
    }
    let Binding { asked, mistakes, mut unfit, .. } = binding;
    if let Some(bound) = bound.iter().map(Option::as_ref).collect::<Option<Vec<&Bound>>>() {
        let found = unused(&data, markers, &asked, &bound);
        unfit.extend(found.into_iter().map(|message| Unfit::statement(&statement.name, message)));
    }
    match bound.into_iter().collect::<Option<Vec<Bound>>>() {
        Some(markers) if mistakes.is_empty() && unfit.is_empty() => Ok(Plan { asked, markers, routing, data }),
        _ => Err((mistakes, unfit)),
    }
}

struct Binding<'a> {
    statement: &'a Statement,
    data: &'a StatementData,
    markers: &'a [Marker],
    known: Known<'a>,
    asked: Vec<Asked>,
    mistakes: Vec<Mistake>,
    unfit: Vec<Unfit>,
}

impl<'a> Binding<'a> {
    fn refuse(&mut self, message: String) {
        self.mistakes.push(Mistake::new(self.statement.line, self.statement.span.clone(), message));
    }

    /// Says that something has to be stated of the statement.
    fn lacks<T>(&mut self, key: &str, why: &str) -> Option<T> {
        let message = format!("state {key}: the statement has {why}");
        self.unfit.push(Unfit::statement(&self.statement.name, message));
        None
    }

    fn bound(&mut self, at: usize) -> Option<Bound> {
        let (marker, slot): (&'a Marker, Slot) = (&self.markers[at], self.statement.slots[at]);
        let constant = |number: u32| Bound::Constant(number.to_be_bytes().to_vec());
        match named(&marker.name) {
            Named::Limit => match self.data.limit {
                Some(limit) => Some(constant(limit)),
                None => self.lacks("limit", "LIMIT ?"),
            },
            Named::Ttl => match self.data.ttl_s {
                Some(ttl_s) => Some(constant(ttl_s)),
                None => self.lacks("ttl_s", "TTL ?"),
            },
            Named::Timestamp => Some(Bound::Now),
            Named::Token | Named::Argument { of_token: true, .. }
                if slot.operator == Operator::Less && self.has_lower_end(at) =>
            {
                let instead = "write the lower end alone and a LIMIT";
                self.refuse(format!("a range of tokens with two ends would be empty at times; {instead}"));
                None
            }
            Named::Token => Some(Bound::Token),
            Named::Argument { of_token: false, .. } => Some(Bound::Fresh(usual(&marker.cql_type, Role::Other))),
            of_table => match self.of_no_row(at) {
                Some(fresh) => Some(fresh),
                None => {
                    let asked = self.asks(at)?;
                    self.of_table(at, of_table, asked)
                }
            },
        }
    }

    /// A marker of SQL that is written, where the statement names no key of its table: the value is of no row of it.
    fn of_no_row(&self, at: usize) -> Option<Bound> {
        self.statement.sql.as_ref()?;
        let marker = &self.markers[at];
        let rows = self.known.rows.iter().find(|rows| rows.table().name == marker.table)?;
        let column = rows.column(&marker.name)?;
        let is_key = |other: &Marker| {
            other.table == marker.table && rows.column(&other.name).is_some_and(|column| rows.is_key(column).1)
        };
        let is_written = self.statement.slots[at].clause == Clause::Written;
        let fits = rows.columns()[column].cql_type == marker.cql_type;
        let is_of_row = !is_written || !fits || self.markers.iter().any(is_key);
        (!is_of_row).then(|| Bound::Fresh(rows.maker(column).clone()))
    }

    /// Whether a marker is of a statement that makes rows of this table which are not there.
    fn makes(&self, at: usize, table: &str) -> bool {
        match (&self.statement.sql, self.statement.slots[at].verb) {
            (Some(sql), _) => sql.markers[at].inserted_into.iter().any(|into| into == table),
            (None, Verb::Insert) => true,
            (None, Verb::Update) => self.statement.effect != Effect::Conditional,
            (None, Verb::Select | Verb::Delete) => false,
        }
    }

    /// What is asked of the table that a marker belongs to.
    fn asks(&mut self, at: usize) -> Option<usize> {
        let (marker, slot): (&'a Marker, Slot) = (&self.markers[at], self.statement.slots[at]);
        let table = self.known.tables.iter().find(|table| table.name == marker.table);
        let base = table.map(|table| table.view_of.as_ref().unwrap_or(&table.name));
        let rows = base.and_then(|base| self.known.rows.iter().find(|rows| rows.table().name == *base));
        let number = base.and_then(|base| self.known.shared.table(base));
        let (Some(rows), Some(number)) = (rows, number) else {
            self.refuse(format!("no data are stated of table {}, which it asks for", marker.table));
            return None;
        };
        let makes = self.makes(at, &rows.table().name);
        let at = self.asked.iter().position(|asked| asked.table == number).unwrap_or_else(|| {
            let (partitions, parts) = (1, Vec::new());
            self.asked.push(Asked { rows: rows.clone(), table: number, partitions, parts, makes: true });
            self.asked.len() - 1
        });
        let asked = &mut self.asked[at];
        asked.makes &= makes;
        if !asked.parts.contains(&slot.part) {
            asked.parts.push(slot.part);
        }
        Some(at)
    }

    fn of_table(&mut self, at: usize, named: Named<'_>, asked: usize) -> Option<Bound> {
        let (marker, slot): (&'a Marker, Slot) = (&self.markers[at], self.statement.slots[at]);
        let rows = self.asked[asked].rows.clone();
        let is_condition = matches!(slot.clause, Clause::Where | Clause::If);
        match named {
            Named::Column(name) => match rows.column(name) {
                Some(column) => self.column(at, asked, column),
                // A field of a user-defined type: `address.street`.
                None if name.split_once('.').is_some_and(|(column, _)| rows.column(column).is_some()) => {
                    Some(Bound::Fresh(usual(&marker.cql_type, Role::Other)))
                }
                None => self.unknown(marker),
            },
            Named::Argument { number, .. } => {
                let table = self.known.tables.iter().find(|table| table.name == marker.table)?;
                let column = table.partition_key.get(number).and_then(|column| rows.column(&column.name));
                match column {
                    Some(column) => Some(Bound::Value { asked, column, partition: 0, step: Step::Next(0) }),
                    None => self.unknown(marker),
                }
            }
            Named::Index => {
                let mut zero = Vec::new();
                Whole::Int.put(0, &mut zero);
                Some(Bound::Constant(zero))
            }
            Named::Element { column: name, is_value } => {
                let Some(column) = rows.column(name) else { return self.unknown(marker) };
                let is_map = matches!(rows.columns()[column].cql_type, CqlType::Map(..));
                let is_value = is_value && is_map;
                let stated = rows.maker(column).element(is_value).cloned();
                let otherwise = stated.unwrap_or_else(|| usual(&marker.cql_type, Role::Other));
                Some(if is_condition {
                    Bound::Element { asked, column, is_value, otherwise }
                } else {
                    Bound::Fresh(otherwise)
                })
            }
            Named::List(names) => self.list(marker, asked, &names),
            Named::Tuple(names) => {
                let columns = self.columns(marker, asked, &names)?;
                let step = self.step(at, asked, columns[0])?;
                Some(Bound::Tuple { asked, columns, step })
            }
            Named::Limit | Named::Ttl | Named::Timestamp | Named::Token => None,
        }
    }

    fn unknown(&mut self, marker: &Marker) -> Option<Bound> {
        let Marker { name, cql_type, table } = marker;
        let marker = format!("`{name}` ({cql_type}, table {table})");
        self.refuse(format!("no value can be made for the marker that the server calls {marker}"));
        None
    }

    fn columns(&mut self, marker: &Marker, asked: usize, names: &[&str]) -> Option<Vec<usize>> {
        let columns: Option<Vec<usize>> = names.iter().map(|name| self.asked[asked].rows.column(name)).collect();
        let columns = columns.filter(|columns| !columns.is_empty());
        if columns.is_none() {
            self.unknown(marker);
        }
        columns
    }

    /// `IN ?`.
    fn list(&mut self, marker: &Marker, asked: usize, names: &[&str]) -> Option<Bound> {
        let columns = self.columns(marker, asked, names)?;
        let Some(keys) = self.data.in_keys else { return self.lacks("in_keys", "IN ?") };
        let keys = keys as usize;
        let is_tuple = columns.len() > 1;
        let (is_of_partitions, _) = self.asked[asked].rows.is_key(columns[0]);
        if is_of_partitions {
            self.several_partitions(asked, keys)?;
        }
        Some(Bound::List { asked, columns, is_tuple, keys, is_of_partitions })
    }

    /// Says that so many partitions are asked for at once.
    fn several_partitions(&mut self, asked: usize, partitions: usize) -> Option<()> {
        let table = self.asked[asked].rows.table();
        if table.partition_key.len() > 1 && partitions > 1 {
            let name = table.name.clone();
            self.refuse(format!("IN on a part of the partition key of {name} asks for keys that are not there"));
            return None;
        }
        let most = &mut self.asked[asked].partitions;
        *most = partitions.max(*most);
        Some(())
    }

    /// A marker that is a column itself.
    fn column(&mut self, at: usize, asked: usize, column: usize) -> Option<Bound> {
        let (marker, slot): (&'a Marker, Slot) = (&self.markers[at], self.statement.slots[at]);
        let rows = &self.asked[asked].rows;
        let expected = &rows.columns()[column].cql_type;
        if *expected != marker.cql_type {
            let message = format!("the server takes a {} for {}, which is a {expected}", marker.cql_type, marker.name);
            self.refuse(message);
            return None;
        }
        let (is_of_partition, is_of_key) = rows.is_key(column);
        let is_written = matches!(slot.clause, Clause::Written | Clause::Other);
        let step = self.step(at, asked, column)?;
        if is_written && !is_of_key {
            return Some(Bound::New { asked, column, step });
        }
        let mut partition = 0;
        if is_of_partition && slot.operator == Operator::In {
            partition = self.in_lists_before(at);
            self.several_partitions(asked, partition + 1)?;
        }
        Some(Bound::Value { asked, column, partition, step })
    }

    /// How many markers in a list (`IN (?, ?)`) of the same column stand before this one.
    fn in_lists_before(&self, at: usize) -> usize {
        let before = (0..at).filter(|before| self.is_of_same_column(*before, at));
        before.filter(|before| self.statement.slots[*before].operator == Operator::In).count()
    }

    /// Whether two markers have the same name, table and statement of a batch.
    fn is_of_same_column(&self, one: usize, other: usize) -> bool {
        let (markers, slots) = (self.markers, &self.statement.slots);
        let is_same_part = slots[one].part == slots[other].part;
        is_same_part && markers[one].name == markers[other].name && markers[one].table == markers[other].table
    }

    /// Which row a marker of a key's column is of.
    fn step(&mut self, at: usize, asked: usize, column: usize) -> Option<Step> {
        let slot = self.statement.slots[at];
        let parts = &self.asked[asked].parts;
        let part = parts.iter().position(|part| *part == slot.part).unwrap_or(0) as u64;
        match slot.operator {
            Operator::In => Some(Step::Next(part + self.in_lists_before(at) as u64)),
            Operator::Less if self.has_lower_end(at) => {
                let rows = &self.asked[asked].rows;
                if !rows.maker(column).grows() {
                    let name = &rows.columns()[column].name;
                    let needs = "values that grow from row to row (sequence, advancing)";
                    self.refuse(format!("its range over {name} has two ends, which needs {needs}"));
                    return None;
                }
                let least = rows.maker(column).repeats();
                match self.data.range_rows {
                    Some(range) if range < least => {
                        let name = &rows.columns()[column].name;
                        let message = format!("range_rows: {least} rows may have the same {name}: state at least that");
                        self.unfit.push(Unfit::statement(&self.statement.name, message));
                        None
                    }
                    Some(range) => Some(Step::Beyond(part + range)),
                    None => self.lacks("range_rows", "a range with two ends"),
                }
            }
            _ => Some(Step::Next(part)),
        }
    }

    /// Whether a marker of the same column is the lower end of a range of which this is the upper one.
    fn has_lower_end(&self, at: usize) -> bool {
        let slots = &self.statement.slots;
        (0..slots.len()).any(|other| self.is_of_same_column(other, at) && slots[other].operator == Operator::Greater)
    }

    /// The markers that have the whole partition key of the first table (or view) that a marker names; none in SQL,
    /// where one server has all of it.
    fn routing(&self) -> Option<Vec<usize>> {
        if self.statement.sql.is_some() {
            return None;
        }
        let tables = self.known.tables;
        let table = self.markers.iter().find_map(|marker| tables.iter().find(|table| table.name == marker.table))?;
        let marker_of = |column: &str| {
            self.markers.iter().zip(&self.statement.slots).position(|(marker, slot)| {
                let is_compared = match slot.clause {
                    Clause::Where => matches!(slot.operator, Operator::Equal | Operator::In),
                    Clause::Written => slot.verb == Verb::Insert,
                    Clause::If | Clause::Other => false,
                };
                is_compared && marker.table == table.name && marker.name == column
            })
        };
        table.partition_key.iter().map(|column| marker_of(&column.name)).collect()
    }
}
