//! Requests: which statement, which keys, and what each marker is given.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::support::{LEVELS, cart, markers, requests, table, values};
use statements::{
    Column, CqlType, Data, Generator, Marker, Misfit, Place, Population, Request, Requests, RowChoice, Script, Shared,
    Size, StatementData, Table, TableData, TableRows, Values,
};
use workload::{Distribution, Random};

const USER: (&str, CqlType) = ("user", CqlType::Uuid);
const ITEM: (&str, CqlType) = ("item", CqlType::Int);
const AMOUNT: (&str, CqlType) = ("amount", CqlType::Int);

/// 100 users with 10 items each; requests of the statement `it` as stated.
fn data(stated: StatementData) -> Data {
    let mut cart = TableData::new("cart", 100);
    (cart.rows, cart.population) = (Size::fixed(10), Population::Of(Distribution::Uniform));
    Data { seed: 1, tables: vec![cart], statements: BTreeMap::from([("it".to_owned(), stated)]) }
}

/// Values of so many requests of a statement on the cart.
fn asked(text: &str, stated: StatementData, all: &[(&str, CqlType)], many: usize) -> Vec<Vec<Vec<u8>>> {
    let mut requests = requests(text, &data(stated), &[cart()], markers("cart", all)).unwrap();
    values(&mut requests, many)
}

/// What such a statement is refused for.
fn refused(text: &str, stated: StatementData, all: &[(&str, CqlType)]) -> Vec<String> {
    let misfits = requests(text, &data(stated), &[cart()], markers("cart", all)).err().unwrap_or_default();
    misfits.iter().map(ToString::to_string).collect()
}

fn rows() -> TableRows {
    let data = data(StatementData::default());
    TableRows::new(&cart(), &data.tables[0], data.seed).unwrap()
}

/// The values of a row that is loaded: user, item, amount, note.
fn loaded(partition: u64, row: u64) -> Vec<Vec<u8>> {
    let mut values = Values::default();
    rows().row(Place { partition, row }, &mut values);
    values.iter().map(|value| value.unwrap().to_vec()).collect()
}

fn int(bytes: &[u8]) -> i32 {
    i32::from_be_bytes(bytes.try_into().unwrap())
}

#[test]
fn a_request_asks_for_a_row_that_is_loaded() {
    let users: BTreeSet<Vec<u8>> = (0..100).map(|partition| loaded(partition, 0).remove(0)).collect();
    let asked = asked("SELECT * FROM cart WHERE user = ? AND item = ?", StatementData::default(), &[USER, ITEM], 2_000);
    let seen: BTreeSet<Vec<u8>> = asked.iter().map(|values| values[0].clone()).collect();
    assert_eq!(seen, users, "every user, and nobody else");
    let items: BTreeSet<i32> = asked.iter().map(|values| int(&values[1])).collect();
    assert_eq!(items.into_iter().collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

#[test]
fn statements_come_by_their_weights() {
    let text = "-- statement few weight 1\nSELECT * FROM cart;\n-- statement many weight 9\nSELECT * FROM cart;";
    let script = Script::parse(text, &LEVELS).unwrap();
    let data = data(StatementData::default());
    let shared = Arc::new(Shared::new(&data, 0, 1));
    let requests = Requests::new(&script, &data, &[cart()], &[vec![], vec![]], shared).unwrap();
    let mut random = Random::from_seed(1);
    let few = (0..10_000).filter(|_| requests.choose(&mut random) == 0).count();
    assert!((900..1_100).contains(&few), "{few}");
}

#[test]
fn the_same_seed_asks_the_same() {
    let ask = || asked("SELECT * FROM cart WHERE user = ?", StatementData::default(), &[USER], 50);
    assert_eq!(ask(), ask());
}

#[test]
fn keys_that_are_not_there_are_asked_for_in_their_share() {
    let users: BTreeSet<Vec<u8>> = (0..100).map(|partition| loaded(partition, 0).remove(0)).collect();
    let stated = StatementData { missing: 0.2, ..StatementData::default() };
    let mut requests =
        requests("SELECT * FROM cart WHERE user = ?", &data(stated), &[cart()], markers("cart", &[USER])).unwrap();
    let (mut random, mut request) = (Random::from_seed(5), Request::default());
    let mut missing = 0;
    for _ in 0..10_000 {
        requests.next(&mut random, 0, &mut request);
        assert_eq!(users.contains(request.values.get(0).unwrap()), request.exists);
        missing += u32::from(!request.exists);
    }
    assert!((1_850..2_150).contains(&missing), "{missing}");
}

#[test]
fn an_insert_of_a_missing_key_makes_a_partition_that_latest_then_chooses() {
    let text = "-- statement put weight 1\nINSERT INTO cart (user, item, amount) VALUES (?, ?, ?);\n\
                -- statement it weight 1\nSELECT * FROM cart WHERE user = ?;";
    let script = Script::parse(text, &LEVELS).unwrap();
    let latest = Some(Population::Of(Distribution::Latest));
    let mut data = data(StatementData { population: latest, ..StatementData::default() });
    data.statements.insert("put".to_owned(), StatementData { missing: 1.0, ..StatementData::default() });
    let all = [markers("cart", &[USER, ITEM, AMOUNT]), markers("cart", &[USER])];
    // The second of two clients: every other new partition is its own.
    let shared = Arc::new(Shared::new(&data, 1, 2));
    let mut requests = Requests::new(&script, &data, &[cart()], &all, Arc::clone(&shared)).unwrap();
    let (mut random, mut request) = (Random::from_seed(5), Request::default());
    let expected: Vec<Vec<u8>> = (0..50).map(|new| loaded(100 + 2 * new + 1, 0).remove(0)).collect();
    for user in &expected {
        requests.fill(0, &mut random, 0, &mut request);
        assert_eq!(request.values.get(0), Some(&user[..]));
        assert!(!request.exists);
        requests.ended(&request);
    }
    assert_eq!(shared.claimed(), [("cart".to_owned(), 50)]);
    let mut newest = 0;
    for _ in 0..1_000 {
        requests.fill(1, &mut random, 0, &mut request);
        assert!(request.exists);
        newest += u32::from(request.values.get(0) == Some(&expected[49][..]));
    }
    // The first rank of a zipfian choice of 149: about 1 in 6.
    assert!((120..260).contains(&newest), "{newest}");
}

#[test]
fn a_hot_set_gets_its_share() {
    let population = Some(Population::HotSet { hot_partitions: 5, share: 0.8 });
    let stated = StatementData { population, ..StatementData::default() };
    let hot: BTreeSet<Vec<u8>> = (0..5).map(|partition| loaded(partition, 0).remove(0)).collect();
    let asked = asked("SELECT * FROM cart WHERE user = ?", stated, &[USER], 10_000);
    let to_hot = asked.iter().filter(|values| hot.contains(&values[0])).count();
    assert!((7_800..8_200).contains(&to_hot), "{to_hot}");
}

#[test]
fn what_is_written_is_new_and_what_is_compared_was_loaded() {
    let text = "UPDATE cart SET amount = ? WHERE user = ? AND item = ? IF amount = ?";
    let all = [AMOUNT, USER, ITEM, AMOUNT];
    let amounts: BTreeMap<(Vec<u8>, Vec<u8>), Vec<u8>> = (0..100)
        .flat_map(|partition| (0..10).map(move |row| loaded(partition, row)))
        .map(|row| ((row[0].clone(), row[1].clone()), row[2].clone()))
        .collect();
    for values in asked(text, StatementData::default(), &all, 200) {
        let there = &amounts[&(values[1].clone(), values[2].clone())];
        assert_eq!(&values[3], there);
        assert_ne!(&values[0], there);
    }
}

#[test]
fn limits_and_times_to_live_are_as_stated_and_timestamps_those_of_the_request() {
    let stated = StatementData { limit: Some(20), ttl_s: Some(3_600), ..StatementData::default() };
    let limit = ("[limit]", CqlType::Int);
    let of_read = StatementData { ttl_s: None, ..stated.clone() };
    let values = asked("SELECT * FROM cart WHERE user = ? LIMIT ?", of_read, &[USER, limit.clone()], 1);
    assert_eq!(int(&values[0][1]), 20);
    let stated = StatementData { limit: None, ..stated };
    let text = "INSERT INTO cart (user, item) VALUES (?, ?) USING TTL ? AND TIMESTAMP ?";
    let all = [USER, ITEM, ("[ttl]", CqlType::Int), ("[timestamp]", CqlType::BigInt)];
    let mut insert = requests(text, &data(stated), &[cart()], markers("cart", &all)).unwrap();
    let mut request = Request::default();
    insert.next(&mut Random::from_seed(1), 1_234_567, &mut request);
    assert_eq!(int(request.values.get(2).unwrap()), 3_600);
    assert_eq!(request.values.get(3), Some(&1_234_567_i64.to_be_bytes()[..]));
    assert_eq!(
        refused("SELECT * FROM cart WHERE user = ? LIMIT ?", StatementData::default(), &[USER, limit]),
        ["statement it: state limit: the statement has LIMIT ?"]
    );
}

#[test]
fn lists_have_several_keys_that_are_different() {
    let stated = StatementData { in_keys: Some(3), ..StatementData::default() };
    let list = ("in(user)", CqlType::List(Box::new(CqlType::Uuid)));
    for values in asked("SELECT * FROM cart WHERE user IN ?", stated.clone(), std::slice::from_ref(&list), 100) {
        assert_eq!((values[0].len(), int(&values[0][..4])), (4 + 3 * 20, 3));
        let keys: BTreeSet<&[u8]> = (0..3).map(|key| &values[0][8 + 20 * key..24 + 20 * key]).collect();
        assert_eq!(keys.len(), 3);
    }
    for values in asked("SELECT * FROM cart WHERE user IN (?, ?)", StatementData::default(), &[USER, USER], 100) {
        assert_ne!(values[0], values[1]);
    }
    // Items of one user: three rows that follow each other.
    let items = ("in(item)", CqlType::List(Box::new(CqlType::Int)));
    for values in asked("SELECT * FROM cart WHERE user = ? AND item IN ?", stated, &[USER, items.clone()], 100) {
        let all: Vec<i32> = (0..3).map(|key| int(&values[1][8 + 8 * key..12 + 8 * key])).collect();
        assert_eq!(all, [all[0], (all[0] + 1) % 10, (all[0] + 2) % 10]);
    }
    assert_eq!(
        refused("SELECT * FROM cart WHERE user IN ?", StatementData::default(), &[list]),
        ["statement it: state in_keys: the statement has IN ?"]
    );
}

#[test]
fn a_range_has_as_many_rows_between_its_ends_as_stated() {
    let text = "SELECT * FROM cart WHERE user = ? AND item >= ? AND item < ?";
    let stated = StatementData { range_rows: Some(4), ..StatementData::default() };
    for values in asked(text, stated, &[USER, ITEM, ITEM], 100) {
        assert_eq!(int(&values[2]) - int(&values[1]), 4);
        assert!(int(&values[2]) <= 10, "a cart has ten items");
    }
    assert_eq!(
        refused(text, StatementData::default(), &[USER, ITEM, ITEM]),
        ["statement it: state range_rows: the statement has a range with two ends"]
    );
    // One end needs nothing.
    assert!(
        refused("SELECT * FROM cart WHERE user = ? AND item > ?", StatementData::default(), &[USER, ITEM]).is_empty()
    );
    let of_tuple = "SELECT * FROM cart WHERE user = ? AND (item) > ?";
    let tuple = ("(item)", CqlType::Tuple(vec![CqlType::Int]));
    let values = asked(of_tuple, StatementData::default(), &[USER, tuple], 1);
    assert_eq!(values[0][1][..4], [0, 0, 0, 4]);
}

#[test]
fn rows_are_chosen_as_stated() {
    let of = |rows| {
        let stated = StatementData { rows, ..StatementData::default() };
        let text = "UPDATE cart SET amount = ? WHERE user = ? AND item = ?";
        let asked = asked(text, stated, &[AMOUNT, USER, ITEM], 20);
        asked.iter().map(|values| int(&values[2])).collect::<Vec<_>>()
    };
    assert_eq!(of(RowChoice::Oldest), [0; 20]);
    assert_eq!(of(RowChoice::Newest), [9; 20]);
    assert_eq!(of(RowChoice::New), (10..30).collect::<Vec<_>>());
}

#[test]
fn each_statement_of_a_batch_has_a_row_of_its_own_in_the_same_partition() {
    let text = "BEGIN UNLOGGED BATCH\n INSERT INTO cart (user, item) VALUES (?, ?);\n\
                INSERT INTO cart (user, item) VALUES (?, ?);\n DELETE FROM cart WHERE user = ? AND item = ?;\n\
                APPLY BATCH";
    for values in asked(text, StatementData::default(), &[USER, ITEM, USER, ITEM, USER, ITEM], 50) {
        assert!(values[0] == values[2] && values[2] == values[4]);
        let first = int(&values[1]);
        assert_eq!([int(&values[3]), int(&values[5])], [(first + 1) % 10, (first + 2) % 10]);
    }
    let stated = StatementData { rows: RowChoice::New, ..StatementData::default() };
    let values = asked(text, stated, &[USER, ITEM, USER, ITEM, USER, ITEM], 2);
    let items: Vec<i32> = values.iter().flat_map(|values| [1, 3, 5].map(|marker| int(&values[marker]))).collect();
    assert_eq!(items, [10, 11, 12, 13, 14, 15]);
}

#[test]
fn an_index_and_a_view_are_asked_for_values_that_are_there() {
    let amounts: BTreeSet<Vec<u8>> =
        (0..100).flat_map(|partition| (0..10).map(move |row| loaded(partition, row).remove(2))).collect();
    for values in asked("SELECT * FROM cart WHERE amount = ?", StatementData::default(), &[AMOUNT], 100) {
        assert!(amounts.contains(&values[0]));
    }
    let view = Table {
        view_of: Some("cart".to_owned()),
        ..table("by_amount", &[AMOUNT], &[USER, ITEM], &[("note", CqlType::Text)])
    };
    let text = "SELECT * FROM by_amount WHERE amount = ?";
    let asked = markers("by_amount", &[AMOUNT]);
    let mut requests = requests(text, &data(StatementData::default()), &[cart(), view], asked).unwrap();
    let mut request = Request::default();
    requests.next(&mut Random::from_seed(1), 0, &mut request);
    assert!(amounts.contains(request.values.get(0).unwrap()));
    assert_eq!(request.routing_key(), request.values.get(0));
}

#[test]
fn elements_of_a_collection_are_asked_for_where_it_has_them() {
    let tags = CqlType::Map(Box::new(CqlType::Text), Box::new(CqlType::Int));
    let page = table("page", &[("id", CqlType::Int)], &[], &[("tags", tags)]);
    let data = Data { seed: 1, tables: vec![TableData::new("page", 1)], ..Data::default() };
    let made = TableRows::new(&page, &data.tables[0], 1).unwrap();
    let mut row = Values::default();
    made.row(Place { partition: 0, row: 0 }, &mut row);
    let first_key = row.get(1).unwrap()[8..24].to_vec();
    let all = markers("page", &[("key(tags)", CqlType::Text)]);
    let mut contains =
        requests("SELECT * FROM page WHERE tags CONTAINS KEY ?", &data, std::slice::from_ref(&page), all).unwrap();
    assert_eq!(values(&mut contains, 1)[0][0], first_key);
    let all = markers("page", &[("key(tags)", CqlType::Text), ("value(tags)", CqlType::Int), ("id", CqlType::Int)]);
    let mut put = requests("UPDATE page SET tags[?] = ? WHERE id = ?", &data, &[page], all).unwrap();
    let values = values(&mut put, 1).remove(0);
    assert_eq!(values.iter().map(Vec::len).collect::<Vec<_>>(), [16, 4, 4]);
    assert_ne!(values[0], first_key);
}

#[test]
fn a_request_knows_where_it_belongs() {
    let mut request = Request::default();
    let mut first = |text: &str, all: &[(&str, CqlType)], tables: &[Table], data: &Data, name: &str| {
        let mut requests = requests(text, data, tables, markers(name, all)).unwrap();
        requests.next(&mut Random::from_seed(1), 0, &mut request);
        request.routing_key().map(<[u8]>::to_vec)
    };
    let of_cart = data(StatementData::default());
    let cart = [cart()];
    let users: BTreeSet<Vec<u8>> = (0..100).map(|partition| loaded(partition, 0).remove(0)).collect();
    let insert = first("INSERT INTO cart (user, item) VALUES (?, ?)", &[USER, ITEM], &cart, &of_cart, "cart");
    assert!(users.contains(&insert.unwrap()));
    assert_eq!(first("SELECT * FROM cart WHERE amount = ?", &[AMOUNT], &cart, &of_cart, "cart"), None);
    let argument = ("arg0(system.token)", CqlType::Uuid);
    let scan = "SELECT * FROM cart WHERE token(user) >= token(?)";
    assert_eq!(first(scan, &[argument], &cart, &of_cart, "cart"), None);
    let two = table("t", &[("a", CqlType::Int), ("b", CqlType::Int)], &[], &[]);
    let data = Data { seed: 1, tables: vec![TableData::new("t", 1)], ..Data::default() };
    let all = [("b", CqlType::Int), ("a", CqlType::Int)];
    let key = first("SELECT * FROM t WHERE b = ? AND a = ?", &all, &[two], &data, "t").unwrap();
    assert_eq!(key, [0, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0]);
}

#[test]
fn times_that_a_request_writes_are_its_own() {
    let seen = Column::new("seen", CqlType::Timestamp);
    let page = Table { regular: vec![seen], ..table("page", &[("id", CqlType::Int)], &[], &[]) };
    let mut pages = TableData::new("page", 10);
    pages.columns.insert("seen".to_owned(), Generator::Advancing { start_ms: 5, step_ms: 1 });
    let data = Data { seed: 1, tables: vec![pages], ..Data::default() };
    let all = markers("page", &[("seen", CqlType::Timestamp), ("id", CqlType::Int)]);
    let mut requests = requests("UPDATE page SET seen = ? WHERE id = ?", &data, &[page], all).unwrap();
    let mut request = Request::default();
    requests.next(&mut Random::from_seed(1), 7_000_999, &mut request);
    assert_eq!(request.values.get(0), Some(&7_000_i64.to_be_bytes()[..]));
}

#[test]
fn what_the_server_says_otherwise_is_refused_at_the_line() {
    let text = "SELECT * FROM cart WHERE user = ?";
    let none = StatementData::default;
    let misfits = requests(text, &data(none()), &[cart()], vec![]).err().unwrap();
    let [Misfit::Statement(mistake)] = &misfits[..] else { panic!("{misfits:?}") };
    assert_eq!(mistake.line, 2);
    assert_eq!(mistake.message, "the server sees 0 bind markers in it, where the file has 1 ?");
    for (all, message) in [
        (("user", CqlType::Int), "line 2: the server takes a int for user, which is a uuid"),
        (
            ("[json]", CqlType::Text),
            "line 2: no value can be made for the marker that the server calls `[json]` (text, table cart)",
        ),
    ] {
        assert_eq!(refused(text, none(), &[all]), [message]);
    }
    let tokens = "SELECT * FROM cart WHERE token(user) > ? AND token(user) <= ?";
    let token = ("partition key token", CqlType::BigInt);
    assert_eq!(
        refused(tokens, none(), &[token.clone(), token]),
        ["line 2: a range of tokens with two ends would be empty at times; write the lower end alone and a LIMIT"]
    );
    let other = requests("SELECT * FROM t WHERE k = ?", &data(none()), &[cart()], markers("t", &[ITEM])).err().unwrap();
    assert_eq!(other[0].to_string(), "line 2: no data are stated of table t, which it asks for");
}

#[test]
fn what_is_stated_of_a_statement_is_checked_before_there_is_a_server() {
    let script =
        Script::parse("CREATE TABLE cart (k int PRIMARY KEY);\n-- statement it weight 1\nSELECT 1;", &LEVELS).unwrap();
    let of = |stated: StatementData| -> Vec<String> {
        data(stated).check(&script).iter().map(ToString::to_string).collect()
    };
    assert!(of(StatementData::default()).is_empty());
    let stated = StatementData {
        missing: 1.5,
        limit: Some(0),
        rows: RowChoice::New,
        ttl_s: Some(u32::MAX),
        ..StatementData::default()
    };
    assert_eq!(
        of(stated),
        [
            "statement it: missing = 1.5 is no share between 0 and 1",
            "statement it: limit is at least 1",
            "statement it: ttl_s is more than 20 years, which Cassandra refuses",
            "statement it: rows = new is for writes: what it reads would never be there",
        ]
    );
    let mut unknown = data(StatementData::default());
    unknown.statements.insert("that".to_owned(), StatementData::default());
    unknown.tables.push(TableData::new("orders", 1));
    let all: Vec<String> = unknown.check(&script).iter().map(ToString::to_string).collect();
    assert_eq!(
        all,
        ["table orders: the schema has no such table; it has cart", "statement that: there is no such statement: it"]
    );
    let none = Data::default().check(&script);
    assert_eq!(none[0].to_string(), "table cart: its data are not stated: at least how many partitions it has");
}

/// A request that has been filled once needs no more memory for the next ones.
#[test]
fn requests_are_filled_in_place() {
    let text = "UPDATE cart SET amount = ? WHERE user = ? AND item = ?";
    let all = markers("cart", &[AMOUNT, USER, ITEM]);
    let mut requests = requests(text, &data(StatementData::default()), &[cart()], all).unwrap();
    let (mut random, mut request) = (Random::from_seed(1), Request::default());
    requests.next(&mut random, 0, &mut request);
    let at = (request.values.wire().as_ptr(), request.routing_key().map(<[u8]>::as_ptr));
    for _ in 0..1_000 {
        requests.next(&mut random, 0, &mut request);
        requests.ended(&request);
    }
    assert_eq!((request.values.wire().as_ptr(), request.routing_key().map(<[u8]>::as_ptr)), at);
}

/// What a load thread needs may be sent to it.
#[test]
fn requests_can_be_sent_to_threads() {
    fn is_sent<T: Send + 'static>() {}
    fn is_shared<T: Send + Sync + 'static>() {}
    is_sent::<Requests>();
    is_sent::<Request>();
    is_shared::<Shared>();
    is_shared::<TableRows>();
    is_shared::<Marker>();
}
