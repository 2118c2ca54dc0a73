//! A CQL file: what it is split into, what its statements do, and what is refused at which line.

use crate::support::LEVELS;
use proptest::prelude::*;
use statements::{Batch, Creates, Effect, IndexKind, Script, SerialConsistency};

const SHOP: &str = r#"-- The shop: a prose comment.
CREATE TABLE cart (user uuid, item int, amount int, PRIMARY KEY (user, item)) WITH comment = 'carts; all of them';
CREATE TYPE IF NOT EXISTS address (street text, town text);
CREATE CUSTOM INDEX IF NOT EXISTS by_amount ON cart (amount) USING 'StorageAttachedIndex';
CREATE INDEX ON cart (amount);
CREATE MATERIALIZED VIEW "Items" AS SELECT * FROM cart WHERE item > 0 AND user IS NOT NULL PRIMARY KEY (item, user);
CREATE OR REPLACE FUNCTION twice (x int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS $$ return 2 * x; $$;
ALTER TABLE cart ADD note text;

-- statement read_cart weight 40 consistency LOCAL_QUORUM
SELECT * FROM cart WHERE user = ? LIMIT ?; /* ; */ // ;
// statement put weight 0.5
INSERT INTO cart (user, item, note) VALUES (?, ?, 'a;b''c');
-- statement take weight 5 consistency quorum serial local_serial
UPDATE cart SET amount = ? WHERE user = ? AND item = ? IF amount = ?;
-- statement order weight 1
BEGIN UNLOGGED BATCH
  INSERT INTO cart (user, item) VALUES (?, ?);
  DELETE FROM cart WHERE user = ? AND item = ?;
APPLY BATCH;
-- statement plain weight 1
BEGIN BATCH UPDATE cart SET amount = 1 WHERE user = ? AND item = 1 APPLY BATCH"#;

#[test]
fn a_file_is_split_into_its_schema_and_its_statements() {
    let script = Script::parse(SHOP, &LEVELS).unwrap();
    let schema: Vec<_> = script.schema.iter().map(|made| (made.line, made.creates, made.name.as_str())).collect();
    assert_eq!(
        schema,
        [
            (2, Creates::Table, "cart"),
            (3, Creates::Type, "address"),
            (4, Creates::Index, "by_amount"),
            (5, Creates::Index, ""),
            (6, Creates::View, "Items"),
            (7, Creates::Function, "twice"),
            (8, Creates::Change, "cart"),
        ]
    );
    assert_eq!(script.tables().collect::<Vec<_>>(), ["cart"]);
    assert_eq!(script.views().collect::<Vec<_>>(), [("Items", "cart".to_owned())]);
    let statements: Vec<_> = script
        .statements
        .iter()
        .map(|statement| {
            (statement.name.as_str(), statement.line, statement.effect, statement.batch, statement.markers())
        })
        .collect();
    assert_eq!(
        statements,
        [
            ("read_cart", 11, Effect::Read, None, 2),
            ("put", 13, Effect::Write, None, 2),
            ("take", 15, Effect::Conditional, None, 4),
            ("order", 17, Effect::Write, Some(Batch::Unlogged), 4),
            ("plain", 22, Effect::Write, Some(Batch::Logged), 1),
        ]
    );
    let read = &script.statements[0];
    assert_eq!(read.text, "SELECT * FROM cart WHERE user = ? LIMIT ?");
    assert_eq!(&SHOP[read.span.clone()], read.text);
    assert_eq!((read.consistency.as_deref(), read.weight), (Some("local_quorum"), 40.0));
    assert_eq!(script.statements[2].serial, Some(SerialConsistency::LocalSerial));
    assert!((script.share(0) - 40.0 / 47.5).abs() < 1e-12);
    let stored = serde_json::to_string(&script).unwrap();
    assert_eq!(serde_json::from_str::<Script>(&stored).unwrap(), script);
}

#[test]
fn an_index_is_of_the_kind_that_stands_after_using() {
    for (text, kind) in [
        ("CREATE INDEX ON cart (amount)", Some(IndexKind::HiddenTable)),
        ("CREATE INDEX ON cart (amount) USING 'legacy_local_table'", Some(IndexKind::HiddenTable)),
        ("CREATE INDEX ON cart (amount) USING 'sai'", Some(IndexKind::Attached)),
        ("create index a on cart (amount) using 'SAI' WITH OPTIONS = {'ascii': 'true'}", Some(IndexKind::Attached)),
        ("CREATE CUSTOM INDEX a ON cart (amount) USING 'StorageAttachedIndex'", Some(IndexKind::Attached)),
        (
            "CREATE CUSTOM INDEX a ON cart (amount) USING 'org.apache.cassandra.index.sai.StorageAttachedIndex'",
            Some(IndexKind::Attached),
        ),
        (
            "CREATE CUSTOM INDEX a ON cart (amount) USING 'org.apache.cassandra.index.sasi.SASIIndex'",
            Some(IndexKind::Other("org.apache.cassandra.index.sasi.SASIIndex".to_owned())),
        ),
        ("CREATE TABLE t (k int PRIMARY KEY) WITH comment = 'USING'", None),
    ] {
        let script = Script::parse_schema(&format!("{text};"), &[]).unwrap();
        assert_eq!(script.schema[0].index(), kind, "{text}");
    }
}

#[test]
fn tables_get_the_keyspace_of_the_run() {
    let script = Script::parse(SHOP, &LEVELS).unwrap();
    let schema: Vec<String> = script.schema.iter().map(|made| made.cql("run_1")).collect();
    assert!(schema[0].starts_with("CREATE TABLE run_1.cart (user uuid,"), "{}", schema[0]);
    assert!(schema[1].starts_with("CREATE TYPE IF NOT EXISTS run_1.address ("), "{}", schema[1]);
    assert!(schema[2].contains("by_amount ON run_1.cart (amount)"), "{}", schema[2]);
    assert_eq!(schema[3], "CREATE INDEX ON run_1.cart (amount)");
    assert!(schema[4].starts_with("CREATE MATERIALIZED VIEW run_1.\"Items\" AS SELECT * FROM run_1.cart WHERE"));
    assert!(schema[5].starts_with("CREATE OR REPLACE FUNCTION run_1.twice (x int)"), "{}", schema[5]);
    assert_eq!(schema[6], "ALTER TABLE run_1.cart ADD note text");
    let batch = script.statements[3].cql("run_1");
    assert!(batch.contains("INSERT INTO run_1.cart (") && batch.contains("DELETE FROM run_1.cart WHERE"), "{batch}");
    assert_eq!(script.statements[0].cql("run_1"), "SELECT * FROM run_1.cart WHERE user = ? LIMIT ?");
}

#[test]
fn what_cannot_be_is_refused_at_its_line() {
    let read = "\nSELECT * FROM t WHERE k = ?;";
    for (text, line, message) in [
        (
            "CREATE TABLE t (k int PRIMARY KEY);".to_owned(),
            1,
            "no statement for the load: write `-- statement NAME weight W` before one",
        ),
        (
            format!("-- statement a weight 1{read}\n\nCREATE KEYSPACE x WITH y = 1;"),
            4,
            "CREATE KEYSPACE: the run has a keyspace of its own; remove this",
        ),
        (format!("USE x;\n-- statement a weight 1{read}"), 1, "USE: the run has a keyspace of its own; remove this"),
        (
            format!("CREATE TABLE shop.t (k int PRIMARY KEY);\n-- statement a weight 1{read}"),
            1,
            "shop.t names a keyspace: the run has one of its own, so write t",
        ),
        (
            format!("CREATE TABLE t (k int PRIMARY KEY, a frozen<shop.address>);\n-- statement a weight 1{read}"),
            1,
            "shop.address names a keyspace: the run has one of its own, so write address",
        ),
        (
            "-- statement a weight 1\nSELECT * FROM shop.t;".to_owned(),
            2,
            "shop.t names a keyspace: the run has one of its own, so write t",
        ),
        (
            format!("DROP TABLE t;\n-- statement a weight 1{read}"),
            1,
            "DROP is neither of a schema (CREATE, ALTER) nor of a load (SELECT, INSERT, UPDATE, DELETE, BEGIN BATCH)",
        ),
        (
            format!("CREATE ROLE r;\n-- statement a weight 1{read}"),
            1,
            "CREATE ROLE: a schema here has tables, types, indexes, materialised views, functions and aggregates",
        ),
        (
            format!("SELECT 1;\n-- statement a weight 1{read}"),
            1,
            "no directive before this statement: write `-- statement NAME weight W`",
        ),
        (format!("-- statement a{read}"), 1, "the statement has no weight: for example `-- statement read weight 40`"),
        (format!("-- statement a weight 0{read}"), 1, "weight 0 is no number from 1e-9 to 1e9"),
        (format!("-- statement a weight inf{read}"), 1, "weight inf is no number from 1e-9 to 1e9"),
        (format!("-- statement a weight 1e308{read}"), 1, "weight 1e308 is no number from 1e-9 to 1e9"),
        (format!("-- statement a weight 1 weight 2{read}"), 1, "weight is stated twice"),
        (format!("-- statement a weight{read}"), 1, "weight has no value"),
        (
            format!("-- statement a weight 1 speed 2{read}"),
            1,
            "unknown word `speed`: a statement has weight, consistency, serial",
        ),
        (
            format!("-- statement a weight 1 consistency most{read}"),
            1,
            "unknown consistency `most`: valid are one, quorum, local_quorum",
        ),
        (
            format!("-- statement a weight 1 serial serial{read}"),
            1,
            "serial is for statements with IF, which a has not",
        ),
        (
            format!("-- statement A weight 1{read}"),
            1,
            "`A` cannot be a statement's name: a name has a small letter first, then small letters, digits and _, at \
             most 40 in all",
        ),
        (format!("-- statement a weight 1{read}\n-- statement a weight 1{read}"), 3, "there are two statements a"),
        (format!("-- statement a weight 1\n-- statement b weight 1{read}"), 1, "no statement follows this directive"),
        (format!("-- statement a weight 1{read}\n-- statement b weight 1\n"), 3, "no statement follows this directive"),
        (
            format!("-- statement a weight 1{read}\n-- statement b weight 1\nCREATE TABLE t (k int PRIMARY KEY);"),
            3,
            "what follows is of the schema, not of the load",
        ),
        (
            "-- statement a weight 1\nSELECT *\n-- statement b weight 1\nFROM t;".to_owned(),
            3,
            "a directive stands before its statement, not within one: is a ; missing?",
        ),
        (
            "-- statement a weight 1\nBEGIN BATCH UPDATE t SET a = 1 WHERE k = 1;".to_owned(),
            2,
            "this batch has no APPLY BATCH",
        ),
        (
            "-- statement a weight 1\nSELECT * FROM t WHERE k = :key;".to_owned(),
            2,
            "a named marker hides from us which column it belongs to; write ? instead",
        ),
        ("-- statement a weight 1\nSELECT 'x FROM t;".to_owned(), 2, "a string begins here and never ends"),
    ] {
        let mistakes = Script::parse(&text, &LEVELS).unwrap_err();
        let all: Vec<_> = mistakes.iter().map(|mistake| (mistake.line, mistake.message.as_str())).collect();
        assert_eq!(all, [(line, message)], "{text}");
    }
}

#[test]
fn all_mistakes_are_named_in_their_order() {
    let text = "USE x;\n-- statement a weight 0\nSELECT 1;\nDROP TABLE t;";
    let lines: Vec<usize> = Script::parse(text, &LEVELS).unwrap_err().iter().map(|mistake| mistake.line).collect();
    assert_eq!(lines, [1, 2, 4]);
}

#[test]
fn a_file_has_64_statements_at_most() {
    let text = |many: usize| -> String {
        (0..many).map(|i| format!("-- statement s{i} weight 1\nSELECT * FROM t WHERE k = ?;\n")).collect()
    };
    assert_eq!(Script::parse(&text(64), &LEVELS).unwrap().statements.len(), 64);
    let mistakes = Script::parse(&text(65), &LEVELS).unwrap_err();
    assert_eq!((mistakes.len(), mistakes[0].line), (1, 129));
}

/// What a script is made of, in any order.
const PIECES: &str = "(-- statement [a-c] weight 1\n|SELECT|BEGIN|APPLY BATCH|CREATE TABLE|\
                      [;?'\"$/*\\-:.(){}a\n é]){0,40}";

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_within_it(text in PIECES) {
        match Script::parse(&text, &LEVELS) {
            Ok(script) => {
                for statement in &script.statements {
                    prop_assert_eq!(&text[statement.span.clone()], &statement.text);
                    prop_assert!(statement.text.len() <= statement.cql("k").len());
                }
            }
            Err(mistakes) => {
                prop_assert!(!mistakes.is_empty());
                for mistake in mistakes {
                    prop_assert!(text.get(mistake.span.clone()).is_some());
                    prop_assert!(mistake.line <= text.matches('\n').count() + 1);
                }
            }
        }
    }

    /// What stands in strings, names and comments changes nothing of what a statement is.
    #[test]
    fn what_is_hidden_decides_nothing(hidden in "[;?:A-Z ]{0,20}") {
        let text =
            format!("-- statement a weight 1\nSELECT '{hidden}', \"x{hidden}\" /* {hidden} */ FROM t WHERE k = ?;");
        let script = Script::parse(&text, &LEVELS).unwrap();
        prop_assert_eq!(script.statements.len(), 1);
        prop_assert_eq!((script.statements[0].markers(), script.statements[0].effect), (1, Effect::Read));
    }
}
