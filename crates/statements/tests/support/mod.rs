//! Tables and scripts that tests share.
#![allow(dead_code, reason = "not every program of tests needs all")]

use std::sync::Arc;

use statements::{
    Column, CqlType, Data, Generator, Marker, Misfit, Request, Requests, Script, Shared, Table, TableData,
};
use workload::Random;

pub const LEVELS: [&str; 3] = ["one", "quorum", "local_quorum"];

fn columns(columns: &[(&str, CqlType)]) -> Vec<Column> {
    columns.iter().map(|(name, cql_type)| Column::new(name, cql_type.clone())).collect()
}

/// A table of these columns.
pub fn table(
    name: &str,
    partition: &[(&str, CqlType)],
    clustering: &[(&str, CqlType)],
    rest: &[(&str, CqlType)],
) -> Table {
    Table {
        name: name.to_owned(),
        partition_key: columns(partition),
        clustering: columns(clustering),
        regular: columns(rest),
        ..Table::default()
    }
}

/// `user uuid, item int, amount int, note text`, a row for each item of a user.
pub fn cart() -> Table {
    use CqlType::{Int, Text, Uuid};
    table("cart", &[("user", Uuid)], &[("item", Int)], &[("amount", Int), ("note", Text)])
}

/// Its data, with a column made otherwise.
pub fn with(mut data: TableData, column: &str, generator: Generator) -> TableData {
    data.columns.insert(column.to_owned(), generator);
    data
}

pub fn markers(table: &str, all: &[(&str, CqlType)]) -> Vec<Marker> {
    let marker = |(name, cql_type): &(&str, CqlType)| Marker {
        name: (*name).to_owned(),
        cql_type: cql_type.clone(),
        table: table.to_owned(),
    };
    all.iter().map(marker).collect()
}

/// One statement of a load with its markers, on these tables.
pub fn requests(text: &str, data: &Data, tables: &[Table], markers: Vec<Marker>) -> Result<Requests, Vec<Misfit>> {
    let script = Script::parse(&format!("-- statement it weight 1\n{text}"), &LEVELS).unwrap();
    Requests::new(&script, data, tables, &[markers], Arc::new(Shared::new(data, 0, 1)))
}

/// The values of so many requests.
pub fn values(requests: &mut Requests, many: usize) -> Vec<Vec<Vec<u8>>> {
    let (mut random, mut request) = (Random::from_seed(5), Request::default());
    (0..many)
        .map(|_| {
            requests.next(&mut random, 0, &mut request);
            requests.ended(&request);
            request.values.iter().map(|value| value.unwrap().to_vec()).collect()
        })
        .collect()
}
