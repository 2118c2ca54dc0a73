//! What is stated of a statement and cannot be, or changes nothing.

use std::collections::BTreeMap;

use crate::support::{cart, markers, requests, table, with};
use statements::{CqlType, Data, Generator, Marker, Population, RowChoice, Size, StatementData, Table, TableData};
use workload::Distribution;

const USER: (&str, CqlType) = ("user", CqlType::Uuid);
const ITEM: (&str, CqlType) = ("item", CqlType::Int);

const READ: &str = "SELECT * FROM cart WHERE user = ?";
const INSERT: &str = "INSERT INTO cart (user, item) VALUES (?, ?)";

/// 100 users with 10 items each.
fn carts() -> TableData {
    TableData { rows: Size::fixed(10), ..TableData::new("cart", 100) }
}

/// What the statement is refused for.
fn refused(text: &str, of: &Table, data: TableData, stated: StatementData, markers: Vec<Marker>) -> Vec<String> {
    let data = Data { seed: 1, tables: vec![data], statements: BTreeMap::from([("it".to_owned(), stated)]) };
    let misfits = requests(text, &data, std::slice::from_ref(of), markers).err().unwrap_or_default();
    misfits.iter().map(ToString::to_string).collect()
}

#[test]
fn what_no_marker_uses_is_refused() {
    let none = StatementData::default;
    for (stated, message) in [
        (StatementData { limit: Some(5), ..none() }, "limit changes nothing: the statement has no LIMIT ?"),
        (StatementData { ttl_s: Some(5), ..none() }, "ttl_s changes nothing: the statement has no USING TTL ?"),
        (StatementData { in_keys: Some(5), ..none() }, "in_keys changes nothing: the statement has no IN ?"),
        (
            StatementData { range_rows: Some(5), ..none() },
            "range_rows changes nothing: the statement has no range with two ends",
        ),
        (
            StatementData { rows: RowChoice::Newest, ..none() },
            "rows changes nothing: the statement has no ? of a clustering column",
        ),
    ] {
        let said = refused(READ, &cart(), carts(), stated, markers("cart", &[USER]));
        assert_eq!(said, [format!("statement it: {message}")]);
    }
}

#[test]
fn a_table_that_begins_empty_has_to_be_filled_and_its_newest_partitions_read() {
    let empty = || TableData { partitions: 0, ..carts() };
    let both = || markers("cart", &[USER, ITEM]);
    let all_new = StatementData { missing: 1.0, ..StatementData::default() };
    assert_eq!(
        refused(INSERT, &cart(), empty(), StatementData::default(), both()),
        ["statement it: cart begins empty: state missing = 1, else all requests write one partition"]
    );
    assert_eq!(refused(INSERT, &cart(), empty(), all_new, both()), Vec::<String>::new());
    let user = || markers("cart", &[USER]);
    let why = "else all requests ask for one partition";
    assert_eq!(
        refused(READ, &cart(), empty(), StatementData::default(), user()),
        [format!("statement it: cart begins empty: state distribution = \"latest\", {why}")]
    );
    let latest = StatementData { population: Some(Population::Of(Distribution::Latest)), ..StatementData::default() };
    assert_eq!(refused(READ, &cart(), empty(), latest, user()), Vec::<String>::new());
}

#[test]
fn a_hot_set_leaves_partitions_that_are_not_hot() {
    let hot = Population::HotSet { hot_partitions: 100, share: 0.9 };
    let of_table = TableData { population: hot, ..carts() };
    assert_eq!(
        refused(READ, &cart(), of_table, StatementData::default(), markers("cart", &[USER])),
        ["table cart: hot_set: all 100 partitions would be hot: state fewer"]
    );
    let of_statement = StatementData { population: Some(hot), ..StatementData::default() };
    assert_eq!(
        refused(READ, &cart(), carts(), of_statement, markers("cart", &[USER])),
        ["statement it: hot_set: all 100 partitions of cart would be hot: state fewer"]
    );
}

#[test]
fn a_range_that_may_be_empty_is_refused() {
    let text = "SELECT * FROM cart WHERE user = ? AND item >= ? AND item < ?";
    let stated = |range_rows| StatementData { range_rows: Some(range_rows), ..StatementData::default() };
    let each = Generator::Sequence { start: 0, step: 1, each: 3, cycle: None };
    let line = [("line", CqlType::Int)];
    let carts_of = |kind: CqlType| table("cart", &[USER], &[("item", kind), line[0].clone()], &[]);
    let all = |kind: CqlType| markers("cart", &[USER, ("item", kind.clone()), ("item", kind)]);
    let of = |range_rows, kind: CqlType, generator: &Generator| {
        let data = with(carts(), "item", generator.clone());
        refused(text, &carts_of(kind.clone()), data, stated(range_rows), all(kind))
    };
    let message =
        |least: u64| format!("statement it: range_rows: {least} rows may have the same item: state at least that");
    assert_eq!(of(2, CqlType::Int, &each), [message(3)]);
    assert_eq!(of(3, CqlType::Int, &each), Vec::<String>::new());
    let hours = Generator::Advancing { start_ms: 0, step_ms: 3_600_000 };
    assert_eq!(of(23, CqlType::Date, &hours), [message(24)]);
    assert_eq!(of(24, CqlType::Date, &hours), Vec::<String>::new());
}

#[test]
fn keys_of_what_is_new_do_not_run_out() {
    let few = table("cart", &[("user", CqlType::TinyInt)], &[ITEM], &[]);
    let full = TableData { partitions: 128, ..carts() };
    let missing = StatementData { missing: 0.5, ..StatementData::default() };
    let both = markers("cart", &[("user", CqlType::TinyInt), ITEM]);
    assert_eq!(
        refused(INSERT, &few, full, missing, both),
        ["statement it: missing: all keys of cart that its partition key has values for are loaded"]
    );
    let small = table("cart", &[USER], &[("item", CqlType::SmallInt)], &[]);
    let new = StatementData { rows: RowChoice::New, ..StatementData::default() };
    let both = markers("cart", &[USER, ("item", CqlType::SmallInt)]);
    let values = "the clustering columns of cart have 32768 values";
    assert_eq!(
        refused(INSERT, &small, carts(), new, both),
        [format!("statement it: rows = new: {values}, and new rows would soon be old ones")]
    );
}
