//! A snapshot's `schema.cql` beside the script of a run: the same columns, types and keys, or the line that differs.

use statements::Script;

const SCRIPT: &str = "CREATE TYPE address (street text, town text);
CREATE TABLE carts (
    shopper uuid,
    item int,
    amount int,
    note varchar,
    seen timestamp STATIC,
    home frozen<address>,
    PRIMARY KEY (shopper, item)
) WITH CLUSTERING ORDER BY (item DESC) AND compaction = {'class': 'LeveledCompactionStrategy'};
ALTER TABLE carts DROP note USING TIMESTAMP 1672531200000000;
CREATE TABLE stock (item int PRIMARY KEY, pieces bigint);
-- statement read_cart weight 1
SELECT * FROM carts WHERE shopper = ?;";

/// As Cassandra 5.0 writes it, shortened.
const SCHEMA: &str = "CREATE TYPE IF NOT EXISTS shop.address (
    street text,
    town text
);
CREATE TABLE IF NOT EXISTS shop.carts (
    shopper uuid,
    item int,
    seen timestamp static,
    amount int,
    home frozen<address>,
    note text,
    PRIMARY KEY (shopper, item)
) WITH ID = 1b255f4d-ef25-40a6-0000-000000000000
    AND CLUSTERING ORDER BY (item DESC)
    AND bloom_filter_fp_chance = 0.01
    AND compaction = {'class': 'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy'};
ALTER TABLE shop.carts DROP note USING TIMESTAMP 1672531200000000;
CREATE INDEX carts_by_amount ON shop.carts (amount);";

fn script() -> Script {
    Script::parse(SCRIPT, &["one"]).unwrap()
}

/// What is said of a schema in which one line was exchanged: line and message of each disagreement.
fn said(from: &str, to: &str) -> Vec<(usize, String)> {
    assert!(SCHEMA.contains(from), "{from}");
    let agreement = script().agreement(&SCHEMA.replace(from, to));
    agreement.disagreements.into_iter().map(|mistake| (mistake.line, mistake.message)).collect()
}

#[test]
fn a_schema_agrees_whatever_its_keyspace_spelling_order_and_options() {
    let agreement = script().agreement(SCHEMA);
    assert!(agreement.disagreements.is_empty(), "{:?}", agreement.disagreements);
    assert_eq!(agreement.tables, ["carts"]);
    assert_eq!(agreement.left_out, ["carts_by_amount"], "a run has no index");
}

/// Its name may be the server's, and its class be written in other words.
#[test]
fn an_index_that_the_script_creates_too_is_not_left_out() {
    let left_out = |own: &str, theirs: &str| {
        let script = SCRIPT.replace("-- statement", &format!("{own};\n-- statement"));
        let script = Script::parse(&script, &["one"]).unwrap();
        script.agreement(&SCHEMA.replace(" ON shop.carts (amount);", theirs)).left_out
    };
    let own = "CREATE INDEX ON carts (amount) USING 'sai'";
    let class = " ON shop.carts (amount) USING 'StorageAttachedIndex';";
    assert_eq!(left_out(own, class), [""; 0]);
    assert_eq!(left_out(own, " ON shop.carts (amount);"), ["carts_by_amount"], "another kind");
    assert_eq!(left_out(own, " ON shop.carts (seen) USING 'sai';"), ["carts_by_amount"], "another column");
}

#[test]
fn each_difference_is_named_at_its_line_of_the_snapshot() {
    for (from, to, line, message) in [
        ("    amount int,", "    amount bigint,", 9, "carts.amount is bigint here and int in the script, line 5"),
        (
            "seen timestamp static",
            "seen timestamp",
            8,
            "carts.seen is timestamp here and timestamp static in the script",
        ),
        ("    amount int,", "    amount int,\n    extra int,", 10, "carts has no extra in the script, line 2"),
        ("    amount int,\n", "", 5, "carts has no amount here, and in the script, line 5, it has"),
        (
            "PRIMARY KEY (shopper, item)",
            "PRIMARY KEY ((shopper, item))",
            12,
            "the key of carts is ((shopper, item), ) here and ((shopper), item desc) in the script",
        ),
        ("(item DESC)", "(item ASC)", 12, "the key of carts is ((shopper), item) here"),
        (
            "    street text,\n    town text",
            "    town text,\n    street text",
            1,
            "address has its fields in another order",
        ),
        ("AND bloom_filter_fp_chance = 0.01", "AND COMPACT STORAGE", 5, "carts has COMPACT STORAGE in one of the two"),
        ("1672531200000000", "1", 17, "carts was altered so, and is not in the script"),
    ] {
        let said = said(from, to);
        assert!(said.iter().any(|(at, what)| *at == line && what.contains(message)), "{message}: {said:?}");
    }
}

#[test]
fn an_alter_that_was_never_done_is_a_difference_too() {
    let said = said("ALTER TABLE shop.carts DROP note USING TIMESTAMP 1672531200000000;", "");
    assert!(said.iter().any(|(_, what)| what.contains("the script has `ALTER TABLE carts DROP note")), "{said:?}");
}

#[test]
fn what_is_no_schema_panics_nowhere() {
    for text in
        ["", ";", "CREATE", "CREATE TABLE", "CREATE TABLE carts", "CREATE TABLE carts (", "ALTER TABLE carts", "x 'y"]
    {
        let _ = script().agreement(text);
    }
    let cut = (0..SCHEMA.len()).filter(|end| SCHEMA.is_char_boundary(*end));
    cut.for_each(|end| drop(script().agreement(&SCHEMA[..end])));
}
