//! A user's file of SQL: what is read of it, what its markers mean, and what its requests ask for.

use std::sync::Arc;

use crate::support::with;
use statements::{
    Column, CqlType, Creates, Data, Effect, Generator, Marker, Request, Requests, Script, Shared, Sql, Table,
    TableData, TableRows,
};
use workload::Random;

const BANK: &str = "\
CREATE TABLE accounts (aid int PRIMARY KEY, abalance int, note char(20));
CREATE UNLOGGED TABLE IF NOT EXISTS history (aid int, delta int, at timestamp);
CREATE INDEX by_balance ON accounts (abalance);

-- statement balance weight 3
SELECT abalance::bigint, 'it''s :aid' FROM accounts WHERE aid = :aid;

-- statement deposit weight 1
BEGIN ISOLATION LEVEL REPEATABLE READ;
UPDATE accounts SET abalance = abalance + :delta
 WHERE aid = :aid; -- who pays
INSERT INTO history (aid, delta, at) VALUES (:aid, :delta, now());
END;
";

fn read(text: &str) -> Script {
    Script::parse_sql(text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

fn sql(script: &Script, statement: usize) -> &Sql {
    script.statements[statement].sql.as_ref().unwrap()
}

/// Tables as PostgreSQL describes them: a key of one column has the others as static ones, and history has no key.
fn tables() -> Vec<Table> {
    let column = |name: &str| Column::new(name, CqlType::Int);
    let accounts = Table {
        name: "accounts".to_owned(),
        partition_key: vec![column("aid")],
        statics: vec![column("abalance")],
        ..Table::default()
    };
    let regular = vec![column("aid"), column("delta"), Column::new("at", CqlType::Timestamp)];
    vec![accounts, Table { name: "history".to_owned(), regular, ..Table::default() }]
}

#[test]
fn a_transaction_is_sent_statement_by_statement_with_one_value_for_each_marker() {
    let script = read(BANK);
    let created: Vec<(Creates, &str)> = script.schema.iter().map(|made| (made.creates, made.name.as_str())).collect();
    assert_eq!(created, [(Creates::Table, "accounts"), (Creates::Table, "history"), (Creates::Index, "by_balance")]);
    let named: Vec<(&str, usize, Effect)> =
        script.statements.iter().map(|statement| (statement.name.as_str(), statement.line, statement.effect)).collect();
    assert_eq!(named, [("balance", 6, Effect::Read), ("deposit", 9, Effect::Write)]);

    let balance = sql(&script, 0);
    assert_eq!((balance.begin.as_deref(), balance.steps.len()), (None, 1));
    let text = "SELECT abalance::bigint, 'it''s :aid' FROM accounts WHERE aid = $1";
    assert_eq!((balance.steps[0].text.as_str(), &balance.steps[0].parameters[..]), (text, &[0][..]));

    let deposit = sql(&script, 1);
    assert_eq!(deposit.begin.as_deref(), Some("BEGIN ISOLATION LEVEL REPEATABLE READ"));
    let sent: Vec<(&str, &[usize], usize)> =
        deposit.steps.iter().map(|step| (step.text.as_str(), &step.parameters[..], step.line)).collect();
    assert_eq!(
        sent,
        [
            ("UPDATE accounts SET abalance = abalance + $1\n WHERE aid = $2", &[0, 1][..], 10),
            ("INSERT INTO history (aid, delta, at) VALUES ($1, $2, now())", &[1, 0][..], 12),
        ]
    );
    let markers: Vec<String> = deposit.markers.iter().map(ToString::to_string).collect();
    assert_eq!(markers, [":delta", ":aid"]);
    let text = serde_json::to_string(&script).unwrap();
    assert_eq!(serde_json::from_str::<Script>(&text).unwrap(), script, "as it travels with a plan");
}

/// Of each the marker outside is one, and nothing inside a string or a comment is.
#[test]
fn strings_names_and_comments_are_those_of_postgresql() {
    for (text, sent) in [
        (r"SELECT E'it\'s :a; ' || :a", r"SELECT E'it\'s :a; ' || $1"),
        ("SELECT $x$ it's :a; $x$ || :a", "SELECT $x$ it's :a; $x$ || $1"),
        ("SELECT /* a /* ; */ :a */ :a", "SELECT /* a /* ; */ :a */ $1"),
        ("SELECT 8 //* :a; */ :a", "SELECT 8 //* :a; */ $1"),
        ("SELECT 1 OPERATOR(public.//) :a", "SELECT 1 OPERATOR(public.//) $1"),
        ("SELECT :_größe, :a$b", "SELECT $1, $2"),
    ] {
        let script = read(&format!("CREATE TABLE t (a int);\n-- statement s weight 1\n{text};"));
        assert_eq!(sql(&script, 0).steps[0].text, sent);
    }
    let script = read("CREATE TABLE t (_größe int);\n-- statement s weight 1\nSELECT :_größe, :a$b;");
    let markers: Vec<String> = sql(&script, 0).markers.iter().map(ToString::to_string).collect();
    assert_eq!(markers, [":_größe", ":a$b"]);
}

#[test]
fn columns_of_text_are_found_behind_strings_and_comparisons_of_sql() {
    let script = read(
        r"CREATE TABLE t (a int PRIMARY KEY, b text DEFAULT E'it\'s, (', CHECK (a > 0), c text, partition int);
          -- statement s weight 1
          SELECT 1;",
    );
    assert_eq!(script.schema[0].text_columns(), ["b", "c"]);
}

#[test]
fn what_locks_rows_writes_and_a_transaction_of_reads_reads() {
    let schema = "CREATE TABLE t (a int PRIMARY KEY);\n-- statement s weight 1\n";
    let effect = |text: &str| read(&format!("{schema}{text}")).statements[0].effect;
    for lock in ["UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE"] {
        assert_eq!(effect(&format!("SELECT a FROM t WHERE a = :a FOR {lock};")), Effect::Write, "{lock}");
    }
    assert_eq!(effect("SELECT share FROM t;"), Effect::Read, "a column");
    assert_eq!(effect("SELECT a INTO u FROM t;"), Effect::Write, "it makes a table");
    for function in ["nextval", "pg_catalog.SETVAL", "\"lo_put\"", "lowrite"] {
        assert_eq!(effect(&format!("SELECT {function}('t_a_seq', 1);")), Effect::Write, "{function}");
    }
    assert_eq!(effect("SELECT nextval, lower('nextval(') FROM t;"), Effect::Read, "no call");
    assert_eq!(effect("BEGIN; SELECT pg_advisory_xact_lock(1); COMMIT;"), Effect::Read, "it has no page");
    assert_eq!(effect("BEGIN; SELECT a FROM t; SELECT 1; COMMIT;"), Effect::Read);
    assert_eq!(effect("BEGIN; SELECT a FROM t; DELETE FROM t WHERE a = :t.a; COMMIT;"), Effect::Write);
}

#[test]
fn an_insert_adds_rows_unless_it_gives_way() {
    let schema = "CREATE TABLE t (a int PRIMARY KEY);\n-- statement s weight 1\n";
    let adds = |text: &str| sql(&read(&format!("{schema}{text}")), 0).adds_rows();
    assert!(adds("INSERT INTO t VALUES (:a);"));
    assert!(adds("BEGIN; SELECT 1; insert into t values (:a); COMMIT;"));
    assert!(!adds("INSERT INTO t VALUES (:a) ON CONFLICT (a) DO UPDATE SET a = 1;"));
    assert!(!adds("INSERT INTO t VALUES (:a) ON -- if it is there\n CONFLICT DO NOTHING;"));
    assert!(adds("INSERT INTO t VALUES (:a, 'on conflict');"));
    assert!(!adds("UPDATE t SET a = a + 1 WHERE a = :a;"));
}

#[test]
fn a_marker_is_the_column_of_a_key_or_of_the_only_table_that_has_it() {
    let of = |marker: &str| -> Result<Vec<String>, String> {
        let text =
            format!("CREATE TABLE t (a int);\n-- statement s weight 1\nSELECT 1 FROM accounts WHERE 1 = {marker};");
        let script = read(&text);
        let tables = tables();
        let found = sql(&script, 0).columns(&tables);
        found.map(|found| found.iter().map(|(table, column)| format!("{}.{}", table.name, column.name)).collect())
    };
    let named = |column: &str| -> Result<Vec<String>, String> { Ok(vec![column.to_owned()]) };
    assert_eq!(of(":aid"), named("accounts.aid"), "a key there, and none in history");
    assert_eq!(of(":delta"), named("history.delta"));
    assert_eq!(of(":history.aid"), named("history.aid"));
    for (marker, said) in [
        (":nobody", ":nobody is a column of no table: write :table.column"),
        (":nobody.a", ":nobody.a: the file creates no table nobody"),
        (":accounts.delta", ":accounts.delta: accounts has no such column"),
        (":aid + :accounts.aid", ":aid and :accounts.aid are the same column"),
    ] {
        let refused = of(marker).unwrap_err();
        assert!(refused.starts_with(said), "{refused}");
    }
    let script = read("CREATE TABLE t (a int);\n-- statement s weight 1\nSELECT :v;");
    let column = |table: &str| Table {
        name: table.to_owned(),
        partition_key: vec![Column::new("k", CqlType::Int)],
        statics: vec![Column::new("v", CqlType::Int)],
        ..Table::default()
    };
    let two = [column("one"), column("other")];
    let refused = sql(&script, 0).columns(&two).unwrap_err();
    assert_eq!(refused, ":v is a column of one and other: write which, as :one.v");
}

#[test]
fn mistakes_are_refused_at_their_lines() {
    let with_statement = |text: &str| format!("CREATE TABLE t (a int PRIMARY KEY);\n-- statement s weight 1\n{text}");
    for (text, line, said) in [
        (with_statement("SELECT a FROM t WHERE a = ?;"), 3, "write :column or :table.column"),
        (with_statement("SELECT a FROM t\nWHERE a = $1;"), 4, "write :column or :table.column"),
        (with_statement("BEGIN;\nSELECT 1;\n"), 3, "this transaction has no COMMIT"),
        (with_statement("BEGIN;\nCOMMIT;"), 4, "this transaction does nothing"),
        (with_statement("BEGIN;\nSELECT 1;\nROLLBACK;\nCOMMIT;"), 5, "ROLLBACK within a transaction"),
        (with_statement("BEGIN;\nSELECT 1;\nCOMMIT AND CHAIN;"), 5, "ends with COMMIT or END alone"),
        (with_statement("BEGIN;\n-- statement u weight 1\nSELECT 1;\nCOMMIT;"), 4, "not within one"),
        (with_statement("VACUUM t;"), 3, "VACUUM is neither of a schema"),
        (with_statement("SELECT 1,\npg_try_advisory_lock(1);"), 4, "write pg_advisory_xact_lock"),
        (with_statement("SELECT 1;\nSELECT 2;"), 4, "no directive before this statement"),
        (with_statement("SELECT 1;\n-- statement s weight 1\nSELECT 2;"), 4, "there are two statements s"),
        ("-- statement s weight 1 consistency one\nSELECT 1;".to_owned(), 1, "a statement of SQL has none"),
        ("-- statement s weight 1 serial serial\nSELECT 1;".to_owned(), 1, "serial is CQL's"),
        ("CREATE TABLE t (a int PRIMARY KEY);".to_owned(), 1, "no statement for the load"),
        (with_statement("SELECT 1;\nCREATE TABLE u (a int REFERENCES t (a));"), 4, "a foreign key cannot be kept"),
        (with_statement("SELECT 1;\nCREATE TABLE public.u (a int);"), 4, "write the name alone"),
        (with_statement("SELECT 1;\nCREATE TABLE u AS SELECT 1;"), 4, "states its columns in brackets"),
        (with_statement("SELECT 1;\nCREATE TABLE u (a int) PARTITION BY HASH (a);"), 4, "a partitioned table"),
        (with_statement("SELECT 1;\nCREATE VIEW v AS SELECT 1;"), 4, "a schema here has tables and indexes"),
        (with_statement("SELECT 1;\nCREATE INDEX CONCURRENTLY i ON t (a);"), 4, "CONCURRENTLY: a schema is made whole"),
        (with_statement("SELECT 1;\nALTER ROLE x;"), 4, "a schema here has tables and indexes"),
    ] {
        let mistakes = Script::parse_sql(&text).expect_err(&text);
        let [mistake] = mistakes.as_slice() else { panic!("{text}: {mistakes:?}") };
        assert!(mistake.line == line && mistake.message.contains(said), "{text}: {mistake}");
    }
}

#[test]
fn a_column_may_be_called_as_what_cannot_be_measured() {
    let script = read("CREATE TABLE t (partition int PRIMARY KEY);\n-- statement s weight 1\nSELECT 1 FROM t;");
    assert_eq!(script.tables().collect::<Vec<_>>(), ["t"]);
}

fn marker(name: &str, table: &str) -> Marker {
    Marker { name: name.to_owned(), cql_type: CqlType::Int, table: table.to_owned() }
}

fn bank(missing: f64) -> Data {
    let accounts =
        with(TableData::new("accounts", 100), "aid", Generator::Sequence { start: 1, step: 1, each: 1, cycle: None });
    let delta = Generator::Uniform { min: -5.0, max: 5.0 };
    let history = with(TableData::new("history", 0), "delta", delta);
    let statements = [("put".to_owned(), statements::StatementData { missing, ..Default::default() })].into();
    Data { seed: 1, tables: vec![accounts, history], statements }
}

/// The numbers that so many requests of the only statement have.
fn numbers(text: &str, markers: Vec<Marker>, missing: f64) -> Vec<Vec<i32>> {
    let (script, data) = (read(text), bank(missing));
    let shared = Arc::new(Shared::new(&data, 0, 1));
    let mut requests = Requests::new(&script, &data, &tables(), &[markers], shared).unwrap();
    let (mut random, mut request) = (Random::from_seed(3), Request::default());
    let mut all = Vec::new();
    for _ in 0..200 {
        requests.next(&mut random, 0, &mut request);
        assert_eq!(request.routing_key(), None, "one server has all of it");
        requests.ended(&request);
        let number = |value: Option<&[u8]>| i32::from_be_bytes(value.unwrap().try_into().unwrap());
        all.push(request.values.iter().map(number).collect());
    }
    all
}

#[test]
fn a_request_names_keys_that_are_there_and_what_is_of_no_row_is_made_for_it() {
    let text = "CREATE TABLE accounts (aid int PRIMARY KEY);\n-- statement put weight 1\n\
                BEGIN; UPDATE accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
                INSERT INTO history (aid, delta) VALUES (:aid, :delta); COMMIT;";
    let all = numbers(text, vec![marker("delta", "history"), marker("aid", "accounts")], 0.0);
    assert!(all.iter().all(|of| (-5..=5).contains(&of[0]) && (1..=100).contains(&of[1])), "{all:?}");
    let mut deltas: Vec<i32> = all.iter().map(|of| of[0]).collect();
    deltas.sort_unstable();
    deltas.dedup();
    assert!(deltas.len() > 5, "history begins empty, and its values are made all the same: {deltas:?}");
}

#[test]
fn an_insert_into_its_own_table_makes_rows_and_one_into_another_does_not() {
    let schema = "CREATE TABLE accounts (aid int PRIMARY KEY);\n-- statement put weight 1\n";
    let markers = || vec![marker("aid", "accounts")];
    for table in ["accounts", "public.accounts"] {
        let own = numbers(&format!("{schema}INSERT INTO {table} (aid) VALUES (:aid);"), markers(), 1.0);
        assert_eq!(own.iter().map(|of| of[0]).take(3).collect::<Vec<_>>(), [101, 102, 103], "{table}");
    }
    let other = numbers(&format!("{schema}INSERT INTO history (aid) VALUES (:aid);"), markers(), 0.0);
    assert!(other.iter().all(|of| of[0] <= 100), "{other:?}");
    assert!(read(&format!("{schema}INSERT INTO accounts (aid) VALUES (:aid);")).statements[0].makes());
}

#[test]
fn rows_of_a_table_without_a_key_can_be_loaded_and_the_others_count_by_their_own_number() {
    let tables = tables();
    let [accounts, history] = tables.as_slice() else { panic!("two tables") };
    let rows = TableRows::new(history, &TableData::new("history", 5), 1).unwrap();
    assert!(!rows.has_key() && rows.load(0, 1).count() == 5);
    let each = Generator::Sequence { start: 1, step: 1, each: 10, cycle: None };
    let data = with(TableData::new("accounts", 100), "abalance", each);
    let rows = TableRows::new(accounts, &data, 1).unwrap();
    let mut values = statements::Values::default();
    let branch = |place: statements::Place, values: &mut statements::Values| {
        rows.row(place, values);
        i32::from_be_bytes(values.get(1).unwrap().try_into().unwrap())
    };
    let of_each: Vec<i32> = rows.load(0, 1).map(|place| branch(place, &mut values)).collect();
    assert_eq!((of_each[0], of_each[9], of_each[10], of_each[99]), (1, 1, 2, 10));
}
