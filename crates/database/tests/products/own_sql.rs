//! Statements and transactions of the user's own, in PostgreSQL: loaded, asked for, and refused at their lines.

use std::sync::atomic::AtomicBool;

use database::postgresql::{Admin, PostgresConnect, PostgresDriver};
use database::{Client as _, NodePlan, OwnWork, Replication};
use engine::{Connect as _, Driver, ErrorKind, LoadPlan, Random, run_load};
use experiment::{KeyFormat, Own};
use statements::{Data, Generator, Population, Script, Size, TableData};
use workload::Distribution;

use crate::stage::{KEYSPACE, PATIENCE, Stage};
use crate::{POSTGRESQL, drive};

/// pgbench's, and tables of every type and of every kind of key.
const SCRIPT: &str = concat!(
    include_str!("../../../../examples/tpcb.sql"),
    "CREATE INDEX by_branch ON pgbench_accounts (bid);
     CREATE TABLE carts (shopper int, item int, amount int, PRIMARY KEY (shopper, item) INCLUDE (amount));
     CREATE TABLE kinds (id uuid PRIMARY KEY, b boolean, i2 smallint, i8 bigint, f4 real, f8 double precision,
         n numeric, d date, t time, ts timestamptz, ip inet, bytes bytea, v varchar(200));
     CREATE TABLE notes (note text);
     CREATE TABLE logged (id bigserial PRIMARY KEY, note text);
     -- statement log weight 1
     INSERT INTO logged (note) VALUES (:logged.note);
     -- statement broken weight 1
     BEGIN;
     UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = :bid;
     SELECT 1 / (bid - :bid) FROM pgbench_branches WHERE bid = :bid;
     COMMIT;
     -- statement prepares weight 1
     BEGIN;
     SELECT 1 FROM pgbench_branches WHERE bid = :bid;
     INSERT INTO logged (note) SELECT 'prepared in here' FROM pg_prepared_statements WHERE prepare_time >= now();
     COMMIT;
    "
);
const ACCOUNTS: u64 = 2_000;
/// Of all tables.
const ROWS: u64 = 2 + 20 + ACCOUNTS + 5 * 3 + 40 + 7;

static NEVER: AtomicBool = AtomicBool::new(false);

fn own(script: &str) -> Own {
    let table = |name: &str, partitions: u64, columns: &[(&str, Generator)]| TableData {
        columns: columns.iter().map(|(column, made)| ((*column).to_owned(), made.clone())).collect(),
        population: Population::Of(Distribution::Uniform),
        ..TableData::new(name, partitions)
    };
    let sequence = |each: u64| Generator::Sequence { start: 1, step: 1, each, cycle: None };
    let fixed = |value: &str| Generator::Fixed { value: value.to_owned() };
    let accounts =
        [("aid", sequence(1)), ("bid", sequence(ACCOUNTS / 2)), ("abalance", fixed("0")), ("filler", fixed(""))];
    let kinds = [
        ("n", fixed("-12345.678")),
        ("d", fixed("2026-01-31")),
        ("t", fixed("13:30:00.5")),
        ("ts", fixed("2026-01-31T12:00:00Z")),
        ("ip", fixed("192.0.2.1")),
    ];
    let tables = vec![
        table("pgbench_branches", 2, &[("bid", sequence(1)), ("bbalance", fixed("0"))]),
        table("pgbench_tellers", 20, &[("tid", sequence(1)), ("bid", sequence(10)), ("tbalance", fixed("0"))]),
        table("pgbench_accounts", ACCOUNTS, &accounts),
        table("pgbench_history", 0, &[("delta", Generator::Uniform { min: -5_000.0, max: 5_000.0 })]),
        TableData { rows: Size::fixed(3), ..table("carts", 5, &[]) },
        table("kinds", 40, &kinds),
        table("notes", 7, &[]),
        table("logged", 0, &[]),
    ];
    Own {
        file: "bank.sql".to_owned(),
        script: Script::parse_sql(script).unwrap(),
        row_bytes: tables.iter().map(|table| (table.table.clone(), 400)).collect(),
        data: Data { seed: 1, tables, ..Data::default() },
        replay: None,
        snapshot: None,
    }
}

fn load(stage: &Stage, plan: &NodePlan, own: Own) {
    let client = PostgresConnect::to(stage.table(plan)).with_own(OwnWork::rows(own, 0, 1));
    let plan = LoadPlan {
        first_record: 0,
        records: ROWS,
        fields: 1,
        field_length: 100,
        compressibility: 0.0,
        keys: KeyFormat::default(),
        concurrency: 32,
        threads: 0,
        seed: 1,
        overwrites_of: None,
        own_rows: true,
    };
    let loaded = run_load(&client, &plan, &mut |_| {}, &NEVER).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((loaded.records, loaded.retries), (ROWS, 0));
}

/// Why requests of a script are not sent.
fn refused(stage: &Stage, plan: &NodePlan, script: &str) -> String {
    let client = PostgresConnect::to(stage.table(plan)).with_own(OwnWork::requests(own(script), 0, 1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { client.connect().await.err().unwrap() })
}

/// The sums of TPC-B agree whatever is asked at the same time: no transaction is there in part.
#[test]
fn postgresql_transactions_of_the_users_own_are_whole_and_mistakes_have_their_lines() {
    let stage = Stage::of(&POSTGRESQL);
    let plan = stage.plan("node", experiment::Settings::default());
    let mut node = stage.start(&plan);
    let own = own(SCRIPT);
    let mut broken = own.clone();
    let index = broken.script.schema.last_mut().unwrap();
    index.text = "CREATE INDEX ON notes (nothing)".to_owned();
    let words = node.0.create_own_schema(KEYSPACE, &broken, &Replication::Each(1)).unwrap_err().to_string();
    assert!(words.contains("bank.sql:") && words.contains("\"nothing\" does not exist"), "{words}");
    for _ in 0..2 {
        // What failed has left nothing, and a second time changes nothing.
        node.0.create_own_schema(KEYSPACE, &own, &Replication::Each(1)).unwrap_or_else(|error| panic!("{error}"));
    }
    load(&stage, &plan, own.clone());
    node.0.maintain(KEYSPACE).unwrap();
    assert_eq!(node.0.count_own_sample(KEYSPACE, &own, 32).unwrap(), (98, 98), "2, 20, 32, 5, 32 and 7 of each");
    let admin = Admin::connect(&plan.directories.own.join("socket"), plan.ports.clients, KEYSPACE, PATIENCE).unwrap();
    let texts = "SELECT n::text, d::text, t::text, (ts AT TIME ZONE 'UTC')::text, host(ip) FROM kinds LIMIT 1";
    let texts: Vec<String> =
        admin.rows(texts, &[], PATIENCE).map(|rows| (0..5_usize).map(|at| rows[0].get(at)).collect()).unwrap();
    assert_eq!(texts, ["-12345.678", "2026-01-31", "13:30:00.5", "2026-01-31 12:00:00", "192.0.2.1"]);
    assert_eq!(
        admin.number("SELECT count(DISTINCT bid) FROM pgbench_accounts WHERE aid BETWEEN 1 AND 2000", &[]).unwrap(),
        2
    );

    let mut asked = [0; 5];
    let client = PostgresConnect::to(stage.table(&plan)).with_own(OwnWork::requests(own, 0, 1));
    drive(&client, async |driver: PostgresDriver| {
        let (mut random, mut request) = (Random::from_seed(7), <PostgresDriver as Driver>::Own::default());
        for _ in 0..400 {
            let statement = driver.make(&mut random, &mut request);
            asked[statement] += 1;
            let answer = driver.send(&request).await.map(drop);
            assert_eq!(answer, if statement == 3 { Err(ErrorKind::Other) } else { Ok(()) });
        }
        // Two at once have two connections, and the second one has prepared nothing yet.
        while driver.make(&mut random, &mut request) != 4 {}
        assert!(matches!(tokio::join!(driver.send(&request), driver.send(&request)), (Ok(_), Ok(_))));
    });
    let said = client.first_errors();
    assert_eq!(said.into_iter().collect::<Vec<_>>(), [(ErrorKind::Other, "division by zero".to_owned())]);
    assert!(asked.iter().all(|requests| *requests > 50), "{asked:?}");
    assert_eq!(admin.number("SELECT count(*) FROM pgbench_history", &[]).unwrap(), asked[0]);
    let logged = admin.number("SELECT count(*) FROM logged", &[]).unwrap();
    assert_eq!(logged, asked[2], "a transaction that prepares its parts within itself writes more");
    let sums = "SELECT count(*) FROM (SELECT sum(abalance) FROM pgbench_accounts UNION
        SELECT sum(tbalance) FROM pgbench_tellers UNION SELECT sum(bbalance) FROM pgbench_branches UNION
        SELECT sum(delta) FROM pgbench_history) sums";
    assert_eq!(admin.number(sums, &[]).unwrap(), 1, "what broke was rolled back");

    let accounts = "CREATE TABLE pgbench_accounts (aid int PRIMARY KEY);\n-- statement s weight 1\n";
    let asking = |text: &str| refused(&stage, &plan, &format!("{accounts}{text}"));
    let unknown = asking("SELECT abalance,\n       nothing\n  FROM pgbench_accounts WHERE aid = :aid;");
    assert!(unknown.starts_with("bank.sql:4: `s`: column \"nothing\" does not exist"), "{unknown}");
    let wide = asking("SELECT 1 FROM pgbench_accounts WHERE aid::bigint = :aid;");
    assert!(wide.starts_with("bank.sql:3: `s`: the server takes :aid for a int8"), "{wide}");
}
