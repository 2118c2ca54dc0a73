//! Rows that are loaded: bytes of each type as the protocol has them, rows that can be made again, and data that cannot
//! be.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{cart, table, with};
use proptest::prelude::*;
use statements::{CqlType, Data, Generator, Place, Population, Size, Table, TableData, TableRows, Values};
use workload::Distribution;

fn rows(table: &Table, data: &TableData) -> TableRows {
    TableRows::new(table, data, 42).unwrap()
}

/// What cannot be of these data of a table.
fn unfit(table: &Table, data: &TableData) -> Vec<String> {
    data.check(table).iter().map(ToString::to_string).collect()
}

fn row(rows: &TableRows, partition: u64, row: u64) -> Vec<Option<Vec<u8>>> {
    let mut values = Values::default();
    rows.row(Place { partition, row }, &mut values);
    values.iter().map(|value| value.map(<[u8]>::to_vec)).collect()
}

fn fixed(value: &str) -> Generator {
    Generator::Fixed { value: value.to_owned() }
}

/// A table with one column of this type beside its key.
fn one(cql_type: CqlType) -> Table {
    table("t", &[("k", CqlType::BigInt)], &[], &[("v", cql_type)])
}

/// The bytes of the column of such a table.
fn encoded(cql_type: CqlType, generator: Generator) -> Vec<u8> {
    let rows = rows(&one(cql_type), &with(TableData::new("t", 10), "v", generator));
    let column = rows.columns().iter().position(|column| column.name == "v").unwrap();
    row(&rows, 3, 0).remove(column).unwrap()
}

/// native_protocol_v4.spec, section 6; `duration` is in native_protocol_v5.spec, section 5.
#[test]
fn each_type_has_the_bytes_of_the_protocol() {
    use CqlType::{
        Ascii, BigInt, Blob, Boolean, Counter, Date, Decimal, Double, Duration, Float, Inet, Int, SmallInt, Text, Time,
        TimeUuid, Timestamp, TinyInt, Uuid, VarInt,
    };
    let uuid = vec![0x55, 0x0E, 0x84, 0x00, 0xE2, 0x9B, 0x11, 0xD4, 0xA7, 0x16, 0x44, 0x66, 0x55, 0x44, 0x00, 0x00];
    for (cql_type, value, bytes) in [
        (Ascii, "ab", vec![b'a', b'b']),
        (BigInt, "-2", vec![0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE]),
        (Blob, "0xCAfe", vec![0xCA, 0xFE]),
        (Boolean, "true", vec![1]),
        (Counter, "7", vec![0, 0, 0, 0, 0, 0, 0, 7]),
        (Date, "1970-01-01", vec![0x80, 0, 0, 0]),
        (Date, "2000-03-01", vec![0x80, 0, 0x2B, 0x09]),
        (Date, "1969-12-31", vec![0x7F, 0xFF, 0xFF, 0xFF]),
        (Decimal, "12.34", vec![0, 0, 0, 2, 0x04, 0xD2]),
        (Decimal, "-1", vec![0, 0, 0, 0, 0xFF]),
        (Double, "1.5", vec![0x3F, 0xF8, 0, 0, 0, 0, 0, 0]),
        (Duration, "1mo2d3ns", vec![2, 4, 6]),
        (Float, "1.5", vec![0x3F, 0xC0, 0, 0]),
        (Inet, "192.0.2.1", vec![192, 0, 2, 1]),
        (Inet, "::1", vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        (Int, "258", vec![0, 0, 1, 2]),
        (SmallInt, "-1", vec![0xFF, 0xFF]),
        (Text, "é", vec![0xC3, 0xA9]),
        (Time, "00:00:01.5", vec![0, 0, 0, 0, 0x59, 0x68, 0x2F, 0x00]),
        (TimeUuid, "550e8400-e29b-11d4-a716-446655440000", uuid.clone()),
        (Timestamp, "1970-01-02T00:00:00.001Z", vec![0, 0, 0, 0, 0x05, 0x26, 0x5C, 0x01]),
        (Timestamp, "-1", vec![0xFF; 8]),
        (TinyInt, "-128", vec![0x80]),
        (Uuid, "550E8400-e29b-11d4-a716-446655440000", uuid),
        (VarInt, "-129", vec![0xFF, 0x7F]),
    ] {
        assert_eq!(encoded(cql_type.clone(), fixed(value)), bytes, "{cql_type} {value}");
    }
}

#[test]
fn collections_tuples_types_and_vectors_are_made_of_their_elements() {
    let int = || Box::new(CqlType::Int);
    let text = || Box::new(CqlType::Text);
    let of = |element: &str, key: Option<&str>| Generator::Collection {
        size: Size::fixed(2),
        element: Some(Box::new(fixed(element))),
        key: key.map(|key| Box::new(fixed(key))),
    };
    let two = vec![0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 5];
    assert_eq!(encoded(CqlType::List(int()), of("5", None)), two);
    assert_eq!(encoded(CqlType::Set(int()), of("5", None)), two);
    let map = encoded(CqlType::Map(text(), int()), of("5", Some("k")));
    assert_eq!(map[..17], [0, 0, 0, 2, 0, 0, 0, 1, b'k', 0, 0, 0, 4, 0, 0, 0, 5]);
    assert_eq!(map.len(), 4 + 2 * 13);

    let usual = |cql_type: CqlType| row(&rows(&one(cql_type), &TableData::new("t", 10)), 3, 0).remove(1).unwrap();
    let tuple = usual(CqlType::Tuple(vec![CqlType::Int, CqlType::Boolean]));
    assert_eq!((&tuple[..4], &tuple[8..12], tuple.len()), (&[0, 0, 0, 4][..], &[0, 0, 0, 1][..], 13));
    let fields = vec![("street".to_owned(), CqlType::Text), ("number".to_owned(), CqlType::SmallInt)];
    let udt = usual(CqlType::Udt { name: "address".to_owned(), fields });
    assert_eq!((&udt[..4], udt.len()), (&[0, 0, 0, 16][..], 4 + 16 + 4 + 2));
    // Elements of a fixed length follow each other; others have their length before them.
    let vector = |element: CqlType| usual(CqlType::Vector { element: Box::new(element), dimensions: 3 });
    assert_eq!(vector(CqlType::Float).len(), 12);
    let of_text = vector(CqlType::Text);
    assert_eq!((of_text[0], of_text[17], of_text.len()), (16, 16, 3 * 17));
}

#[test]
fn a_row_depends_on_its_numbers_and_the_seed_alone() {
    let mut data = TableData::new("cart", 1_000);
    data.rows = Size::Uniform { min: 1, max: 9 };
    let first = rows(&cart(), &data);
    let last = row(&first, 999, 0);
    let _ = row(&first, 3, 1);
    let again = rows(&cart(), &data);
    assert_eq!(row(&again, 999, 0), last);
    assert_ne!(row(&first, 998, 0), last);
    assert_ne!(row(&TableRows::new(&cart(), &data, 43).unwrap(), 999, 0), last);
    // What is stated of one column changes no other one.
    let other = rows(&cart(), &with(data.clone(), "amount", fixed("1")));
    assert_eq!(row(&other, 999, 0)[3], last[3]);
    // Nor does how many there are.
    data.partitions = 5_000;
    assert_eq!(row(&rows(&cart(), &data), 999, 0), last);
}

#[test]
fn all_rows_are_loaded_once_by_all_parts_together() {
    let mut data = TableData::new("cart", 100);
    data.rows = Size::Histogram { sizes: vec![(1, 1.0), (4, 1.0)] };
    let rows = rows(&cart(), &data);
    let mut all: Vec<Place> = (0..3).flat_map(|part| rows.load(part, 3)).collect();
    all.sort_unstable();
    let expected: Vec<Place> =
        (0..100).flat_map(|partition| (0..rows.rows_of(partition)).map(move |row| Place { partition, row })).collect();
    assert_eq!(all, expected);
    let keys: BTreeSet<Vec<u8>> = all
        .iter()
        .map(|place| {
            let mut key = Values::default();
            rows.key(*place, &mut key);
            key.wire().to_vec()
        })
        .collect();
    assert_eq!(keys.len(), all.len(), "each row has a key of its own");
    assert_eq!(rows.load(0, 1).count(), all.len());
}

#[test]
fn partitions_have_as_many_rows_as_their_distribution_says() {
    let mut data = TableData::new("cart", 20_000);
    data.rows = Size::LogNormal { median: 10.0, sigma: 1.0, max: 200 };
    let rows = rows(&cart(), &data);
    let counts: Vec<u64> = (0..20_000).map(|partition| rows.rows_of(partition)).collect();
    let total: u64 = counts.iter().sum();
    assert!((total as f64 / data.expected_rows() - 1.0).abs() < 0.03, "{total} of {}", data.expected_rows());
    assert!(counts.iter().all(|count| (1..=200).contains(count)));
    let mut sorted = counts;
    sorted.sort_unstable();
    assert!((9..=11).contains(&sorted[10_000]), "{}", sorted[10_000]);
    // One that a request makes later has one row.
    assert_eq!(rows.rows_of(20_000), 1);
}

#[test]
fn statements_of_a_load_name_every_column() {
    let mut table = cart();
    table.statics = vec![statements::Column::new("Since", CqlType::Timestamp)];
    let rows = rows(&table, &TableData { rows: Size::fixed(3), ..TableData::new("cart", 10) });
    let insert = r#"INSERT INTO ks."cart" ("user", "item", "Since", "amount", "note") VALUES (?, ?, ?, ?, ?)"#;
    assert_eq!(rows.insert("ks"), format!("{insert} USING TTL 0"));
    let select = r#"SELECT "user", "item", "Since", "amount", "note" FROM ks."cart" WHERE "user" = ? AND "item" = ?"#;
    assert_eq!(rows.select("ks"), select);
    // A static column is written once for a partition.
    assert!(row(&rows, 4, 0)[2].is_some());
    assert!(row(&rows, 4, 1)[2].is_none());
    assert_eq!(row(&rows, 4, 0)[0], row(&rows, 4, 1)[0]);
    assert_eq!(row(&rows, 4, 2)[1].as_deref(), Some(&[0, 0, 0, 2][..]), "rows are in the order of their numbers");
}

#[test]
fn counters_are_added_to() {
    let seen = table("seen", &[("page", CqlType::Text)], &[("day", CqlType::Date)], &[("hits", CqlType::Counter)]);
    let rows = rows(&seen, &with(TableData::new("seen", 10), "hits", Generator::Uniform { min: 5.0, max: 5.0 }));
    assert!(rows.is_counters());
    let update = r#"UPDATE ks."seen" SET "hits" = "hits" + ? WHERE "page" = ? AND "day" = ?"#;
    assert_eq!(rows.insert("ks"), update);
    let values = row(&rows, 0, 0);
    assert_eq!(values[0].as_deref(), Some(&[0, 0, 0, 0, 0, 0, 0, 5][..]));
    assert_eq!(values[1].as_ref().map(Vec::len), Some(16));
    assert!(rows.select("ks").ends_with(r#"WHERE "page" = ? AND "day" = ?"#));
}

#[test]
fn a_routing_key_is_what_a_token_is_computed_from() {
    let mut key = Vec::new();
    let single = rows(&cart(), &TableData::new("cart", 10));
    single.routing_key(3, &mut key);
    assert_eq!(Some(&key), row(&single, 3, 0)[0].as_ref());
    let two = table("t", &[("a", CqlType::Int), ("b", CqlType::Text)], &[], &[]);
    let two = rows(&two, &with(TableData::new("t", 10), "b", fixed("xy")));
    two.routing_key(3, &mut key);
    assert_eq!(key, [0, 4, 0, 0, 0, 3, 0, 0, 2, b'x', b'y', 0]);
}

#[test]
fn a_key_may_be_made_of_sequences() {
    let days = table("t", &[("sensor", CqlType::Int), ("day", CqlType::Int)], &[], &[]);
    let sequence = |each, cycle| Generator::Sequence { start: 100, step: 2, each, cycle };
    let data = with(TableData::new("t", 90), "sensor", sequence(30, None));
    let data = with(data, "day", sequence(1, Some(30)));
    let made = rows(&days, &data);
    let keys: BTreeSet<_> = (0..90).map(|partition| row(&made, partition, 0)).collect();
    assert_eq!(keys.len(), 90);
    assert_eq!(row(&made, 31, 0), [Some(vec![0, 0, 0, 102]), Some(vec![0, 0, 0, 102])]);
    // 29 days, then the next sensor only after 30: two partitions would be the same.
    let gap = with(data.clone(), "day", sequence(1, Some(29)));
    assert_eq!(unfit(&days, &gap), ["table t: its partition key has 29 values, fewer than 90 partitions"]);
    let same = with(data, "day", fixed("1"));
    let message = "table t: partitions would have the same key: leave one column of it unstated, or state sequences, \
                   of which one has `each` where another has `cycle`";
    assert_eq!(unfit(&days, &same), [message]);
}

#[test]
fn text_repeats_as_much_as_is_stated() {
    let generator = |compressibility| Generator::Bytes { length: Size::fixed(1_000), compressibility };
    for (compressibility, repeated) in [(0.0, 0), (0.4, 400), (1.0, 1_000)] {
        let text = encoded(CqlType::Text, generator(compressibility));
        assert_eq!(text.len(), 1_000);
        assert!(text.iter().all(|byte| (b' '..=b'~').contains(byte)));
        // The same character by chance in one of 95 others.
        let same = text.iter().filter(|byte| **byte == b'x').count();
        assert!((repeated..=repeated + 25).contains(&same), "{same}");
    }
    // A key of text has the length that is stated, and no two are alike.
    let names = table("t", &[("k", CqlType::Text)], &[], &[]);
    let named = rows(&names, &with(TableData::new("t", 1_000), "k", generator(0.9)));
    let keys: BTreeSet<_> = (0..1_000).map(|partition| row(&named, partition, 0)[0].clone().unwrap()).collect();
    assert_eq!(keys.len(), 1_000);
    assert!(keys.iter().all(|key| key.len() == 1_000));
}

#[test]
fn values_come_as_often_as_their_weights_say() {
    let values = vec![("new".to_owned(), 1.0), ("paid".to_owned(), 3.0)];
    let data = with(TableData::new("t", 10_000), "v", Generator::Values { values });
    let made = rows(&one(CqlType::Text), &data);
    let mut counts = BTreeMap::new();
    (0..10_000).for_each(|partition| *counts.entry(row(&made, partition, 0)[1].clone().unwrap()).or_insert(0) += 1);
    assert_eq!(counts.len(), 2);
    assert!((7_300..7_700).contains(&counts[&b"paid"[..]]), "{counts:?}");
}

#[test]
fn numbers_lie_where_they_are_stated() {
    let number = |made: &TableRows, partition| {
        let bytes = row(made, partition, 0)[1].clone().unwrap();
        i32::from_be_bytes(bytes.try_into().unwrap())
    };
    let uniform = with(TableData::new("t", 10_000), "v", Generator::Uniform { min: -2.0, max: 2.0 });
    let uniform = rows(&one(CqlType::Int), &uniform);
    let seen: BTreeSet<i32> = (0..1_000).map(|partition| number(&uniform, partition)).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
    let zipfian = Generator::Zipfian { min: 10, max: 19, constant: 0.99 };
    let zipfian = rows(&one(CqlType::Int), &with(TableData::new("t", 10_000), "v", zipfian));
    let mut counts = [0; 10];
    (0..10_000).for_each(|partition| counts[(number(&zipfian, partition) - 10) as usize] += 1);
    assert!(counts[0] > 2 * counts[2] && counts[2] > counts[9] && counts[9] > 0, "{counts:?}");
}

#[test]
fn times_advance_from_row_to_row() {
    let events = table("t", &[("k", CqlType::Int)], &[("at", CqlType::Timestamp)], &[("id", CqlType::TimeUuid)]);
    let data = TableData { rows: Size::fixed(5), ..TableData::new("t", 2) };
    let data = with(data, "at", Generator::Advancing { start_ms: 1_000, step_ms: 250 });
    let made = rows(&events, &data);
    let at = |number| i64::from_be_bytes(row(&made, 1, number)[1].clone().unwrap().try_into().unwrap());
    assert_eq!((0..5).map(at).collect::<Vec<_>>(), [1_000, 1_250, 1_500, 1_750, 2_000]);
    assert_eq!(row(&made, 1, 0)[2].as_ref().map(|id| id[6] >> 4), Some(1), "version 1");
}

#[test]
fn data_that_do_not_fit_their_table_are_refused() {
    let of = |column: &str, generator| with(TableData::new("cart", 10), column, generator);
    let bytes = Generator::Bytes { length: Size::fixed(8), compressibility: 0.0 };
    let text_key = table("cart", &[("user", CqlType::Text)], &[], &[]);
    let several = TableData { rows: Size::fixed(2), ..TableData::new("cart", 10) };
    let tiny = table("cart", &[("user", CqlType::TinyInt)], &[], &[]);
    let zipfian = |constant| Generator::Zipfian { min: 1, max: 9, constant };
    for (table, data, message) in [
        (cart(), of("amount", bytes.clone()), "table cart, column amount: bytes makes no values of int"),
        (cart(), of("amount", fixed("x")), "table cart, column amount: `x` is no int: for example 12"),
        (
            cart(),
            of("amount", Generator::Uniform { min: 0.0, max: 3e9 }),
            "table cart, column amount: 3000000000 is no int: those go from -2147483648 to 2147483647",
        ),
        (
            cart(),
            of("amount", Generator::Uniform { min: 0.5, max: 3.0 }),
            "table cart, column amount: 0.5 is no whole number below 2^53",
        ),
        (cart(), of("amount", zipfian(1.0)), "table cart, column amount: constant 1 is not between 0 and 1"),
        (cart(), of("price", fixed("1")), "table cart, column price: the table has no such column"),
        (
            cart(),
            of("note", Generator::Advancing { start_ms: 0, step_ms: 1 }),
            "table cart, column note: advancing makes no values of text",
        ),
        (
            cart(),
            of("note", Generator::Collection { size: Size::fixed(1), element: None, key: None }),
            "table cart, column note: collection makes no values of text",
        ),
        (
            text_key.clone(),
            of("user", bytes),
            "table cart, column user: length begins at 8: keys differ by their first 16 bytes, so that it cannot be \
             less than 16",
        ),
        (text_key, several, "table cart: rows: it has no clustering column, so that a partition has one row"),
        (tiny, TableData::new("cart", 129), "table cart: its partition key has 128 values, fewer than 129 partitions"),
        (
            cart(),
            TableData { rows: Size::Uniform { min: 0, max: 3 }, ..TableData::new("cart", 10) },
            "table cart: rows: a partition has at least one row",
        ),
        (
            cart(),
            TableData {
                population: Population::HotSet { hot_partitions: 0, share: 0.5 },
                ..TableData::new("cart", 10)
            },
            "table cart: population: a hot set has at least one partition, and a share between 0 and 1",
        ),
    ] {
        assert_eq!(unfit(&table, &data), [message]);
    }
    let constant = TableData { rows: Size::fixed(2), ..of("item", fixed("1")) };
    assert!(unfit(&cart(), &constant)[0].starts_with("table cart: rows of a partition would have the same key"));
}

#[test]
fn zipfian_partitions_have_a_constant_between_0_and_2() {
    for (constant, is_so) in [(0.0, false), (0.5, true), (1.0, true), (1.95, true), (2.0, false)] {
        let population = Population::Of(Distribution::Zipfian { constant });
        let data = TableData { population, ..TableData::new("cart", 10) };
        assert_eq!(unfit(&cart(), &data).is_empty(), is_so, "{constant}");
    }
}

#[test]
fn a_model_has_fewer_partitions_of_the_same_kind() {
    let mut cart = TableData::new("cart", 1_000);
    cart.rows = Size::fixed(7);
    cart.population = Population::HotSet { hot_partitions: 10, share: 0.9 };
    let data = Data { seed: 1, tables: vec![cart.clone(), TableData::new("empty", 0)], ..Data::default() };
    let scaled = data.scaled(64.0);
    assert_eq!(scaled.tables[0].partitions, 16);
    assert_eq!(scaled.tables[0].population, Population::HotSet { hot_partitions: 1, share: 0.9 });
    assert_eq!((&scaled.tables[0].rows, scaled.tables[1].partitions), (&cart.rows, 0));
    assert_eq!(data.scaled(1.0), data);
    assert_eq!(data.scaled(2.5).tables[0].partitions, 400);
    assert_eq!(data.scaled(2.5).tables[0].population, Population::HotSet { hot_partitions: 4, share: 0.9 });
    let stored = serde_json::to_string(&data).unwrap();
    assert_eq!(serde_json::from_str::<Data>(&stored).unwrap(), data);
}

#[test]
fn the_mean_size_of_a_row_is_that_of_its_values() {
    let data = with(
        TableData::new("cart", 50_000),
        "note",
        Generator::Bytes { length: Size::Uniform { min: 0, max: 200 }, compressibility: 0.0 },
    );
    let bytes = rows(&cart(), &data).bytes_per_row();
    assert!((bytes - (16.0 + 4.0 + 4.0 + 100.0)).abs() < 8.0, "{bytes}");
}

proptest! {
    /// Whatever the type of a key, no two partitions have the same, as far as it has so many.
    #[test]
    fn keys_are_all_different(seed in any::<u64>(), which in 0_usize..13) {
        use CqlType::{
            Ascii, BigInt, Blob, Date, Decimal, Double, Inet, Int, SmallInt, Text, TimeUuid, Timestamp, Uuid,
        };
        let types = [
            Ascii, BigInt, Blob, Date, Decimal, Double, Inet, Int, SmallInt, Text, TimeUuid, Timestamp, Uuid,
        ];
        let made = TableRows::new(
            &table("t", &[("k", types[which].clone())], &[("c", types[which].clone())], &[]),
            &TableData { rows: Size::fixed(20), ..TableData::new("t", 20) },
            seed,
        ).unwrap();
        let mut key = Values::default();
        let keys: BTreeSet<Vec<u8>> = made.load(0, 1).map(|place| {
            made.key(place, &mut key);
            key.wire().to_vec()
        }).collect();
        prop_assert_eq!(keys.len(), 400);
    }
}
