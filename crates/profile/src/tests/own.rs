//! Statements of a log that a file can have, and those that it cannot, each with its reason.

use statements::Logged;

use super::*;

fn column(name: &str, cql_type: &str, kind: ColumnKind) -> ColumnSchema {
    ColumnSchema { name: name.to_owned(), cql_type: cql_type.to_owned(), kind, is_descending: false }
}

fn table(keyspace: &str, table: &str, described: Vec<ColumnSchema>) -> TableSchema {
    let partition_key = described.iter().filter(|column| matches!(column.kind, ColumnKind::PartitionKey(_))).count();
    let clustering = described.iter().filter(|column| matches!(column.kind, ColumnKind::Clustering(_))).count();
    TableSchema {
        name: TableName { keyspace: keyspace.to_owned(), table: table.to_owned() },
        partition_key: partition_key as u32,
        clustering: clustering as u32,
        described,
        copies: Some(2),
        ..TableSchema::default()
    }
}

/// A statement that was asked so often, with these numbers for what is numbered.
fn asked(requests: u64, text: &str, level: &str, number: i32) -> StatementSeen {
    let logged = Logged::of(text);
    let mut given = ValuesSeen::default();
    given.add(&number.to_be_bytes(), true);
    let values = vec![given; logged.as_ref().map_or(0, |logged| logged.markers.len())];
    let keyspace = logged.as_ref().ok().and_then(|logged| logged.keyspace.clone()).or(Some("shop".to_owned()));
    let (consistency, operations) = (Some(level.to_owned()), requests);
    StatementSeen { logged, keyspace, consistency, serial: None, requests, operations, values }
}

/// What is said of a cluster of three nodes with these statements.
fn with(statements: Vec<StatementSeen>) -> Profile {
    use ColumnKind::{Clustering, PartitionKey, Regular, Static};
    let mut seen = seen(Vec::new(), vec![node("db1", &[(300.0, 100.0); 11])]);
    seen.cluster.tables = vec![
        table(
            "shop",
            "orders",
            vec![
                column("id", "uuid", PartitionKey(0)),
                column("placed", "timestamp", Clustering(0)),
                column("Note", "uuid", Clustering(1)),
                column("order", "int", Static),
                column("lines", "list<frozen<tuple<int, text>>>", Regular),
            ],
        ),
        table(
            "shop",
            "days",
            vec![
                column("day", "date", PartitionKey(0)),
                column("shard", "int", PartitionKey(1)),
                column("n", "counter", Regular),
            ],
        ),
        table("shop", "people", vec![column("id", "uuid", PartitionKey(0)), column("home", "address", Regular)]),
        table("shop", "strange", vec![column("id", "uuid", PartitionKey(0)), column("at", "frozen<place>", Regular)]),
        table("shop", "odder", vec![column("id", "uuid", PartitionKey(0)), column("at", "frozen<odd>", Regular)]),
        table("shop", "flags", vec![column("is_on", "boolean", PartitionKey(0)), column("n", "int", Regular)]),
        table("other", "orders", vec![column("id", "uuid", PartitionKey(0))]),
        table("shop", "unread", Vec::new()),
    ];
    let own_type = |keyspace: &str, name: &str, fields: &[(&str, &str)]| TypeSchema {
        keyspace: keyspace.to_owned(),
        name: name.to_owned(),
        fields: fields.iter().map(|(field, of)| ((*field).to_owned(), (*of).to_owned())).collect(),
    };
    seen.cluster.types = vec![
        own_type("shop", "address", &[("street", "text"), ("zip", "frozen<code>"), ("Old", "list<frozen<code>>")]),
        own_type("shop", "code", &[("digits", "text")]),
        own_type("shop", "odd", &[("at", "frozen<place>")]),
        own_type("shop", "place", &[("x", "int")]),
        own_type("other", "place", &[("y", "int")]),
    ];
    let asked = |each: Vec<(u32, u32)>| PartitionsAsked { each, without_key: 0 };
    let flags = TableName { keyspace: "shop".to_owned(), table: "flags".to_owned() };
    let tables = BTreeMap::from([(orders(), asked(vec![(5, 2)])), (flags, asked(vec![(1, 0); 6]))]);
    let log = LogSeen { path: "/logs/fql".to_owned(), seconds: 300.0, lost: Vec::new(), statements, tables };
    seen.log = Some(log);
    judged(&seen)
}

fn own(statements: Vec<StatementSeen>) -> OwnUse {
    with(statements).log.unwrap().own
}

#[test]
fn what_a_file_cannot_have_has_its_reason() {
    let cases = [
        ("SELECT * FROM orders WHERE id = ? AND placed >= ? AND placed < ? LIMIT ?", "quorum", 5, None),
        ("UPDATE days SET n = n + ? WHERE day = ? AND shard = ?", "local_quorum", 5, None),
        ("UPDATE orders SET \"order\" = ? WHERE id = ? IF \"order\" = ?", "one", 5, None),
        ("SELECT * FROM orders WHERE \"order\" = ? ALLOW FILTERING", "one", 5, None),
        ("DELETE FROM orders WHERE id IN ?", "any", 5, None),
        ("SELECT * FROM orders WHERE id = ?", "two", 5, Some("the one node that is measured could never answer it")),
        ("SELECT * FROM orders WHERE id = ?", "serial", 5, Some("which a statement of a file cannot have")),
        ("SELECT * FROM orders WHERE id = ?", "any", 5, Some("its consistency is any, and it reads")),
        ("SELECT * FROM orders WHERE id = ? LIMIT ?", "one", 0, Some("its LIMIT was never given, or is mostly 0")),
        ("SELECT * FROM orders WHERE id IN ?", "one", 1_001, Some("its list has mostly 1001 keys")),
        ("SELECT * FROM orders WHERE \"order\" = ?", "one", 5, Some("it asks by order, which is not of the key")),
        ("SELECT * FROM orders WHERE id = ? AND total = ?", "one", 5, Some("no column total any more")),
        (
            "SELECT * FROM orders WHERE id = ? AND placed = ? AND \"Note\" > ? AND \"Note\" <= ?",
            "one",
            5,
            Some("its range has two ends of Note (uuid)"),
        ),
        ("SELECT * FROM days WHERE day IN ? AND shard = ?", "one", 5, Some("IN by day, a part of the partition key")),
        (
            "SELECT * FROM days WHERE day IN (?, ?) AND shard = ?",
            "one",
            5,
            Some("IN by day, a part of the partition key"),
        ),
        ("SELECT * FROM days WHERE day IN (?) AND shard = ?", "one", 5, None),
        ("SELECT * FROM orders WHERE id IN ('a', ?)", "one", 5, None),
        (
            "BEGIN UNLOGGED BATCH DELETE FROM people WHERE id = ?; DELETE FROM people WHERE id = ?; APPLY BATCH",
            "one",
            5,
            Some("it may write several partitions of people, and a batch of a run has one of each table"),
        ),
        ("UPDATE people SET home.street = ? WHERE id = ?", "one", 5, Some("does not follow from its text")),
        ("SELECT home FROM people WHERE id = ?", "one", 5, None),
        ("SELECT * FROM strange WHERE id = ?", "one", 5, Some("strange.at is of a type that was not read, or that")),
        ("SELECT * FROM odder WHERE id = ?", "one", 5, Some("odder.at is of a type that was not read")),
        ("SELECT * FROM unread WHERE id = ?", "one", 5, Some("the columns of unread were not read")),
        ("SELECT * FROM system.local", "one", 5, Some("local is none of the tables that were read")),
        ("USE shop", "one", 5, Some("it is none of a load")),
    ];
    for (text, level, number, reason) in cases {
        let own = own(vec![asked(7, text, level, number)]);
        let why: Vec<&str> = own.left_out.iter().map(|one| one.why.as_str()).collect();
        match reason {
            None => assert_eq!((why, own.carried()), (Vec::new(), Some(1.0)), "{text}"),
            Some(reason) => assert!(why.len() == 1 && why[0].contains(reason), "{text} at {level}: {why:?}"),
        }
    }
}

#[test]
fn names_are_unique_and_the_keyspace_that_is_asked_most_is_the_files() {
    let own = own(vec![
        asked(10, "SELECT id FROM orders WHERE id = ?", "one", 5),
        asked(30, "SELECT * FROM orders WHERE id = ?", "one", 5),
        asked(20, "SELECT * FROM orders WHERE id = ?", "quorum", 5),
        asked(5, "SELECT * FROM other.orders WHERE id = ?", "one", 5),
        asked(1, "USE shop", "one", 5),
        asked(2, "USE shop", "quorum", 5),
    ]);
    let named: Vec<(&str, u64)> = own.statements.iter().map(|one| (one.name.as_str(), one.requests)).collect();
    assert_eq!(named, [("select_orders", 30), ("select_orders_2", 20), ("select_orders_3", 10)]);
    let left_out: Vec<(&str, u64)> = own.left_out.iter().map(|one| (one.what.as_str(), one.requests)).collect();
    assert_eq!(left_out, [("SELECT * FROM orders WHERE id = ?", 5), ("USE SHOP", 3)]);
    assert_eq!(own.left_out[0].why, "it asks for other.orders beside shop.orders: a run has one keyspace");
    assert!((own.carried().unwrap() - 60.0 / 68.0).abs() < 1e-9);
    assert!(own.not_all().unwrap().starts_with("Own statements have 88.2 % of the requests"), "{own:?}");
}

#[test]
fn a_file_has_the_statements_that_are_asked_most_and_no_more_than_it_may() {
    let text = |number: u64| format!("SELECT id AS a{number} FROM orders WHERE id = ?");
    let own = own((1..=66).map(|number| asked(number, &text(number), "one", 5)).collect());
    assert_eq!((own.statements.len(), own.left_out.len()), (64, 2));
    assert_eq!(own.left_out.iter().map(|one| one.requests).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(own.not_all(), None, "3 of 2211");
}

#[test]
fn tables_are_those_of_the_schema_with_what_one_node_has_of_them() {
    let profile = with(vec![asked(7, "SELECT * FROM orders WHERE id = ? LIMIT ?", "quorum", 20)]);
    let draft = drafted(&profile, "like-ours", 2.0).unwrap();
    let own = draft.own.as_ref().unwrap();
    let expected = "CREATE TABLE orders (
    id uuid,
    placed timestamp,
    \"Note\" uuid,
    \"order\" int static,
    lines list<frozen<tuple<int, text>>>,
    PRIMARY KEY (id, placed, \"Note\")
);

-- statement select_orders weight 7 consistency quorum
SELECT * FROM orders WHERE id = ? LIMIT ?;
";
    assert!(own.text.ends_with(expected), "{}", own.text);
    let data = &own.tables[0].0;
    // The one of three nodes that was read estimates a million, each of which two nodes have.
    assert_eq!((data.table.as_str(), data.partitions), ("orders", 2_000_000));
    // 2,000 bytes in the mean partition; a row has 64, and five lines of two values each, of which nothing was seen.
    assert_eq!((&data.rows, own.tables[0].1), (&statements::Size::fixed(8), 264));
    assert_eq!(own.statements[0].1.limit, Some(20));
    assert!(!profile.unknown.iter().any(|unknown| matches!(unknown, Unknown::Rows(_))), "{:?}", profile.unknown);
}

#[test]
fn a_table_has_no_more_partitions_than_its_key_has_values() {
    let profile = with(vec![asked(7, "SELECT n FROM flags WHERE is_on IN (?, ?)", "one", 5)]);
    let draft = drafted(&profile, "like-ours", 2.0).unwrap();
    // Six, of which a node of three with two copies has four.
    let (data, _, origin) = &draft.own.as_ref().unwrap().tables[0];
    assert_eq!((data.table.as_str(), data.partitions), ("flags", 2));
    assert!(origin.contains(&"Its partition key has 2 values as they are made.".to_owned()), "{origin:?}");
}

/// 400 operations/s of a node, and what a log has of 1.6 of them in each request.
#[test]
fn a_throughput_is_of_requests_where_a_node_counts_each_several_times() {
    let drafted = |operations: u64, text: &str| {
        let several = StatementSeen { operations, ..asked(6, text, "one", 5) };
        let profile = with(vec![asked(4, "SELECT n FROM flags WHERE is_on = ?", "one", 5), several]);
        drafted(&profile, "like-ours", 2.0).unwrap()
    };
    let lists = "SELECT n FROM flags WHERE is_on IN (?, ?)";
    let draft = drafted(12, lists);
    assert_eq!(draft.demand, Some(250.0));
    let said = |draft: &experiment::Draft| draft.origins.objective.join(" ");
    assert!(said(&draft).starts_with("db1: 400 operations/s as a replica"), "{}", said(&draft));
    assert!(said(&draft).contains(" the request once: divided by 1.600, the operations of"), "{}", said(&draft));
    let rate = "To send what was seen in the busiest minute instead: rate = [250]".to_owned();
    assert!(draft.origins.load.contains(&rate), "{:?}", draft.origins.load);
    let of_one = drafted(6, lists);
    assert_eq!((of_one.demand, said(&of_one).contains("divided")), (Some(400.0), false));
    // What no file has is in no divisor.
    let left_out = drafted(12, "SELECT price(n) FROM flags WHERE is_on IN (?, ?)");
    assert_eq!((left_out.demand, said(&left_out).contains("divided")), (Some(400.0), false));
}

#[test]
fn a_batch_of_several_rows_says_that_they_are_of_one_partition() {
    let batch = "BEGIN BATCH DELETE FROM orders WHERE id = ? AND placed = ?; DELETE FROM people WHERE id = ?; ";
    let text = |batch: String| {
        let draft = drafted(&with(vec![asked(7, &batch, "one", 5)]), "like-ours", 2.0).unwrap();
        draft.own.unwrap().text
    };
    let said =
        "\n-- An assumption: what it writes into one table are rows of one partition.\n-- statement batch weight 7";
    let one = text(format!("{batch}APPLY BATCH"));
    assert!(!one.contains("An assumption") && one.contains("\n\n-- statement batch weight 7"), "{one}");
    let several = text(format!("{batch}DELETE FROM orders WHERE id = ? AND placed = ?; APPLY BATCH"));
    assert!(several.contains(said), "{several}");
}

#[test]
fn types_are_created_before_what_needs_them() {
    let profile = with(vec![asked(7, "INSERT INTO people (id, home) VALUES (?, ?)", "one", 5)]);
    let draft = drafted(&profile, "like-ours", 2.0).unwrap();
    let own = draft.own.unwrap();
    let text = own.text;
    // A street, a code, and a list of five codes.
    assert_eq!(own.tables[0].1, 64 + 20 + 20 + 100);
    let expected = "
CREATE TYPE code (
    digits text
);

CREATE TYPE address (
    street text,
    zip frozen<code>,
    \"Old\" list<frozen<code>>
);

CREATE TABLE people (";
    assert!(text.contains(expected), "{text}");
}
