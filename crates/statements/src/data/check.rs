//! What of the data cannot be, whatever the server says of the tables.

use workload::Distribution;

use super::unfit::Unfit;
use super::{Data, Population, RowChoice, Size, StatementData, TableData};
use crate::script::{Script, Statement};

impl Data {
    /// What can be said without a server: names that the script does not have, tables without data, numbers out of
    /// their range.
    pub fn check(&self, script: &Script) -> Vec<Unfit> {
        let mut found = Vec::new();
        let tables: Vec<&str> = script.tables().collect();
        for table in tables.iter().filter(|table| self.table(table).is_none()) {
            found.push(Unfit::table(table, "its data are not stated: at least how many partitions it has"));
        }
        for (i, data) in self.tables.iter().enumerate() {
            let name = data.table.as_str();
            if !tables.contains(&name) && !script.schema.is_empty() {
                found.push(Unfit::table(name, format!("the schema has no such table; it has {}", tables.join(", "))));
            }
            if self.tables[..i].iter().any(|other| other.table == name) {
                found.push(Unfit::table(name, "its data are stated twice"));
            }
            found.extend(data.mistakes());
        }
        for (name, data) in &self.statements {
            match script.statements.iter().find(|statement| statement.name == *name) {
                Some(statement) => {
                    found.extend(data.mistakes(statement).into_iter().map(|message| Unfit::statement(name, message)));
                }
                None => {
                    let names: Vec<&str> = script.statements.iter().map(|statement| statement.name.as_str()).collect();
                    found.push(Unfit::statement(name, format!("there is no such statement: {}", names.join(", "))));
                }
            }
        }
        found
    }
}

impl TableData {
    /// What cannot be, whatever the table.
    pub(crate) fn mistakes(&self) -> Vec<Unfit> {
        let name = self.table.as_str();
        let rows = self.rows.mistake().or_else(|| {
            let is_none =
                self.rows.max() == 0 || (self.rows.min() == 0 && !matches!(self.rows, Size::LogNormal { .. }));
            is_none.then(|| "a partition has at least one row".to_owned())
        });
        let rows = rows.map(|message| Unfit::table(name, format!("rows: {message}")));
        let population =
            mistake_of(self.population).map(|message| Unfit::table(name, format!("population: {message}")));
        let all_hot = match self.population {
            Population::HotSet { hot_partitions, .. } if hot_partitions >= self.partitions => {
                let message = format!("hot_set: all {} partitions would be hot: state fewer", self.partitions);
                Some(Unfit::table(name, message))
            }
            _ => None,
        };
        let columns = self
            .columns
            .iter()
            .filter_map(|(column, generator)| generator.mistake().map(|message| Unfit::column(name, column, message)));
        rows.into_iter().chain(population).chain(all_hot).chain(columns).collect()
    }
}

impl StatementData {
    /// What cannot be of this statement.
    fn mistakes(&self, statement: &Statement) -> Vec<String> {
        let mut found = Vec::new();
        if !(0.0..=1.0).contains(&self.missing) {
            found.push(format!("missing = {} is no share between 0 and 1", self.missing));
        }
        found.extend(self.population.and_then(mistake_of).map(|message| format!("population: {message}")));
        for (key, is_none) in [
            ("limit", self.limit == Some(0)),
            ("in_keys", self.in_keys == Some(0)),
            ("range_rows", self.range_rows == Some(0)),
            ("ttl_s", self.ttl_s == Some(0)),
        ] {
            if is_none {
                found.push(format!("{key} is at least 1"));
            }
        }
        if self.limit.is_some_and(|limit| i32::try_from(limit).is_err()) {
            found.push("limit is more than an int has".to_owned());
        }
        // The greatest that Cassandra takes (`Attributes.MAX_TTL`).
        if self.ttl_s.is_some_and(|ttl_s| ttl_s > 20 * 365 * 24 * 3600) {
            found.push("ttl_s is more than 20 years, which Cassandra refuses".to_owned());
        }
        if self.rows == RowChoice::New && statement.reads() {
            found.push("rows = new is for writes: what it reads would never be there".to_owned());
        }
        found
    }
}

/// What cannot be of a population.
fn mistake_of(population: Population) -> Option<String> {
    let is_share = |share: f64| (0.0..=1.0).contains(&share);
    let is_so = match population {
        Population::HotSet { hot_partitions, share } => hot_partitions > 0 && is_share(share),
        Population::Of(Distribution::Zipfian { constant }) => constant > 0.0 && constant < 2.0,
        Population::Of(Distribution::Hotspot { data_fraction, operation_fraction }) => {
            is_share(data_fraction) && is_share(operation_fraction)
        }
        Population::Of(Distribution::Exponential { percentile, fraction }) => {
            percentile > 0.0 && percentile < 100.0 && fraction > 0.0
        }
        Population::Of(Distribution::Uniform | Distribution::Latest | Distribution::Sequential) => true,
    };
    let message = match population {
        Population::HotSet { .. } => "a hot set has at least one partition, and a share between 0 and 1".to_owned(),
        Population::Of(distribution) => format!("{distribution} has a number out of its range"),
    };
    (!is_so).then_some(message)
}
