//! `sql = "bank.sql"`: schema, statements and transactions of the user's own in SQL, and what does not go with them.

use experiment::{Experiment, Mistakes, OperationKind, ReadFor, plan};

use crate::story::{kind, read_beside};

const SCRIPT: &str = "\
CREATE TABLE accounts (aid int PRIMARY KEY, abalance int, filler char(84));
CREATE TABLE history (aid int, delta int, mtime timestamp);
CREATE INDEX by_balance ON accounts (abalance);

-- statement balance weight 3
SELECT abalance FROM accounts WHERE aid = :aid;

-- statement deposit weight 1
BEGIN;
UPDATE accounts SET abalance = abalance + :delta WHERE aid = :aid;
INSERT INTO history (aid, delta, mtime) VALUES (:aid, :delta, CURRENT_TIMESTAMP);
END;
";

const GOOD: &str = r#"name = "x"

[target]
database = "postgresql"

[[configuration]]
name = "a"
instance = "r4.4xlarge"
data_volume = { type = "gp2", size_gib = 320 }

[[workload]]
sql = "bank.sql"

[workload.tables.accounts]
partitions = 1000
columns.aid = { kind = "sequence", start = 1 }
columns.filler = { kind = "fixed", value = "" }

[workload.tables.history]
partitions = 0
columns.delta = { kind = "uniform", min = -5, max = 5 }

[load]
concurrency = [10]
"#;

fn read_with(text: &str, script: &str) -> Result<Experiment, Mistakes> {
    read_beside(text, script, ReadFor::Anybody)
}

fn read(text: &str) -> Result<Experiment, Mistakes> {
    read_with(text, SCRIPT)
}

#[test]
fn a_transaction_is_a_kind_of_operation_as_a_statement_is() {
    let experiment = read(GOOD).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let [bank] = experiment.workloads.as_slice() else { panic!("one workload") };
    assert_eq!(bank.name, "bank");
    let shares: Vec<(OperationKind, f64)> = bank.kinds().map(|kind| (kind, bank.share(kind))).collect();
    assert_eq!(shares, [(kind("balance"), 0.75), (kind("deposit"), 0.25)]);
    assert!((bank.writes() - 0.25).abs() < 1e-9);
    let plan = plan(&experiment);
    let own = plan.own.as_ref().unwrap();
    assert_eq!(own.tables(), ["accounts", "history"]);
    let again: experiment::Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(again.own, plan.own, "as it travels to the agents");
}

#[test]
fn what_is_loaded_names_a_data_set() {
    let identity = |script: &str| read_with(GOOD, script).unwrap().own.unwrap().identity();
    let usual = identity(SCRIPT);
    assert_ne!(identity(&SCRIPT.replace("(abalance)", "(abalance, aid)")), usual, "an index is in its files");
    assert_eq!(identity(&SCRIPT.replace("weight 3", "weight 4")), usual);
}

#[test]
fn each_language_goes_with_its_own_database() {
    let with_cassandra = read(&GOOD.replace("\"postgresql\"", "\"cassandra\"")).unwrap_err().to_string();
    assert!(with_cassandra.starts_with("x.toml:12:7: sql = \"bank.sql\": Apache Cassandra speaks no SQL"));
    let cql = GOOD.replace("sql = \"bank.sql\"", "cql = \"bank.cql\"");
    let with_postgresql = read_with(&cql, &SCRIPT.replace(':', "")).unwrap_err().to_string();
    assert!(with_postgresql.contains("cql = \"bank.cql\": PostgreSQL speaks no CQL"), "{with_postgresql}");
    assert!(with_postgresql.contains("state sql = \"FILE\""), "{with_postgresql}");
}

#[test]
fn what_does_not_go_with_sql_is_refused_at_its_place() {
    for (replace, by, said) in [
        ("sql = \"bank.sql\"", "sql = \"bank.sql\"\nread = 1.0", "`sql` and read exclude each other"),
        ("sql = \"bank.sql\"", "sql = \"bank.sql\"\ncql = \"b.cql\"", "`cql` and sql exclude each other"),
        ("sql = \"bank.sql\"", "sql = \"bank.yaml\"", "ends as a profile of cassandra-stress does"),
        ("[load]\n", "[workload.statements.balance]\nlimit = 5\n[load]\n", "`limit` of balance is for CQL"),
        ("[load]\n", "[workload.statements.nobody]\nmissing = 0.5\n[load]\n", "there is no such statement"),
        ("[load]\n", "[[fault]]\nkind = \"node-stop\"\nat_s = 5\n[load]\n", "[[fault]] with \"bank.sql\""),
        ("[load]\n", "[dataset]\nsnapshot = \"dir\"\n[load]\n", "a snapshot is files of Cassandra's so far"),
        ("concurrency = [10]", "concurrency = [10]\nwarmup = \"auto\"", "warmup = \"auto\": `bank` inserts, so that"),
        ("partitions = 0\n", "", "history has no `partitions`"),
        (
            "concurrency = [10]",
            "concurrency = [10]\n[objective.statements.balnce]\np99_ms = 5",
            "the objective bounds balnce, and no workload does any (did you mean `balance`? else remove it",
        ),
        ("history]", "nobody]", "the schema has no such table"),
    ] {
        assert!(GOOD.contains(replace));
        let mistakes = read(&GOOD.replacen(replace, by, 1)).unwrap_err().to_string();
        assert!(mistakes.contains(said), "expected: {said}\n message: {mistakes}");
    }
    let wrong = read_with(GOOD, &SCRIPT.replace("aid = :aid;", "aid = ?;")).unwrap_err().to_string();
    assert!(wrong.starts_with("bank.sql:6:") && wrong.contains("write :column or :table.column"), "{wrong}");
    let stray = GOOD.replace("sql = \"bank.sql\"", "name = \"w\"\nread = 1.0");
    assert!(read(&stray).unwrap_err().to_string().contains("`tables` is for statements of your own"));
}
