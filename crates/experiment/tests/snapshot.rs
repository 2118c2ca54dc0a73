//! `[dataset] snapshot = "DIR"`, or in a bucket: tables that a cluster has had are the data set, and how what does not
//! go with it is refused.

use experiment::{
    DataSetPlace, Experiment, FoundSnapshot, Mistakes, ParseContext, Provider, ReadFor, SnapshotTable, WrittenSchema,
    parse, plan,
};

const SCRIPT: &str = "CREATE TABLE carts (shopper int, item int, amount int, PRIMARY KEY (shopper, item));
CREATE TABLE stock (item int PRIMARY KEY, pieces int);
-- statement read_cart weight 1
SELECT * FROM carts WHERE shopper = ?;
";

const CARTS: &str = "CREATE TABLE IF NOT EXISTS shop.carts (
    shopper int,
    item int,
    amount int,
    PRIMARY KEY (shopper, item)
) WITH ID = 1b255f4d-ef25-40a6-0000-000000000000;
CREATE INDEX by_amount ON shop.carts (amount);
";

const GOOD: &str = r#"name = "x"

[dataset]
snapshot = "monday"

[[configuration]]
name = "a"
instance = "r4.4xlarge"
data_volume = { type = "gp2", size_gib = 320 }

[[workload]]
cql = "shop.cql"

[workload.tables.carts]
partitions = 1000
columns.shopper = { kind = "sequence" }

[workload.tables.stock]
partitions = 0

[load]
concurrency = [4]
duration_s = 10
"#;

fn table(name: &str, bytes: u64) -> SnapshotTable {
    SnapshotTable { name: name.to_owned(), folders: 3, sstables: 12, bytes, sha256: format!("hash-of-{name}") }
}

fn found(tables: Vec<SnapshotTable>, schemas: &[&str]) -> FoundSnapshot {
    let schema = |text: &&str| WrittenSchema { path: "carts/schema.cql".to_owned(), text: (*text).to_owned() };
    FoundSnapshot { path: "/data/monday".to_owned(), tables, schemas: schemas.iter().map(schema).collect() }
}

fn read_with(text: &str, found: &Result<FoundSnapshot, String>, purpose: ReadFor) -> Result<Experiment, Mistakes> {
    read_as(text, &found.clone().map(Some), purpose)
}

/// A bucket is not asked where nothing was found and nothing failed.
fn read_as(
    text: &str,
    found: &Result<Option<FoundSnapshot>, String>,
    purpose: ReadFor,
) -> Result<Experiment, Mistakes> {
    let read = |_: &str| Ok(SCRIPT.to_owned());
    let snapshot = |place: &DataSetPlace| {
        assert!(["monday", "s3://our-backups/monday"].contains(&place.to_string().as_str()), "{place}");
        found.clone()
    };
    let beside = ParseContext { snapshot: &snapshot, ..ParseContext::files(&read) };
    parse(catalog::Catalog::built_in(), "x.toml", text, &beside, purpose)
}

fn usual() -> Result<FoundSnapshot, String> {
    Ok(found(vec![table("carts", 5_000_000), table("visits", 7)], &[CARTS]))
}

fn refused(text: &str, found: &Result<FoundSnapshot, String>) -> String {
    read_with(text, found, ReadFor::Anybody).unwrap_err().to_string()
}

#[test]
fn a_snapshot_is_the_data_set_of_the_statements() {
    let experiment = read_with(GOOD, &usual(), ReadFor::Anybody).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let snapshot = experiment.own.as_ref().and_then(|own| own.snapshot.as_ref()).unwrap();
    assert_eq!(snapshot.place, DataSetPlace::Directory { path: "/data/monday".to_owned() });
    assert_eq!(snapshot.bytes(), 5_000_000);
    assert_eq!(snapshot.tables, [table("carts", 5_000_000)]);
    assert!((snapshot.least_found - 0.9).abs() < 1e-9);
    // Room is made for its files, and not for what was guessed of rows.
    assert!((4_900_000..5_100_000).contains(&experiment.dataset.payload_bytes()), "{:?}", experiment.dataset);
    let notes: Vec<String> = experiment.notes.iter().map(ToString::to_string).collect();
    let has = |words: &str| notes.iter().any(|note| note.contains(words));
    assert!(has("tables of monday that shop.cql does not create are left out: visits"), "{notes:?}");
    assert!(has("monday/carts/schema.cql has by_amount, which a run has not"), "{notes:?}");
    let own = plan(&experiment).own.unwrap();
    assert_eq!(own.snapshot.as_ref(), Some(snapshot), "at full scale it is as it was");
    assert!(own.identity().ends_with("snapshot hash-of-carts"), "{}", own.identity());

    let stated = GOOD.replace("snapshot = \"monday\"", "snapshot = \"monday\"\nleast_found = 0.5");
    let least = read_with(&stated, &usual(), ReadFor::Anybody).unwrap().own.unwrap().snapshot.unwrap().least_found;
    assert!((least - 0.5).abs() < 1e-9);
}

/// Databases of a run ask nobody for a password, and had generated records alone.
#[test]
fn that_others_can_read_it_while_a_run_lasts_is_said_before() {
    let experiment = read_with(GOOD, &usual(), ReadFor::Anybody).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let notes = experiment::static_notes(catalog::Catalog::built_in(), &experiment, None, None);
    let open: Vec<String> = notes.iter().filter(|note| note.rule == "own_data_open").map(ToString::to_string).collect();
    let [said] = open.as_slice() else { panic!("{open:?}") };
    assert!(said.contains("data of yours in /data/monday come into databases that ask for no password"), "{said}");
}

#[test]
fn a_schema_that_differs_is_refused_at_its_line() {
    let other = CARTS.replace("    amount int,", "    amount bigint,");
    let said = refused(GOOD, &Ok(found(vec![table("carts", 1)], &[&other])));
    assert!(said.contains("monday/carts/schema.cql:4"), "{said}");
    assert!(said.contains("carts.amount is bigint here and int in the script, line 1"), "{said}");
}

/// Each that is shown has the whole text with it: a hostile schema would fill the memory.
#[test]
fn of_many_differences_the_first_are_shown() {
    let columns: String = (0..300).map(|n| format!("    c{n} int,\n")).collect();
    let other = CARTS.replace("    amount int,\n", &format!("    amount int,\n{columns}"));
    let refused = read_with(GOOD, &Ok(found(vec![table("carts", 1)], &[&other])), ReadFor::Anybody).unwrap_err();
    assert_eq!(refused.list().len(), 51);
    let said = refused.to_string();
    assert!(said.contains("carts has no c49 in the script") && !said.contains("carts has no c50"), "{said}");
    assert!(said.contains("monday/carts/schema.cql differs in 250 places more"), "{said}");
}

#[test]
fn what_does_not_go_with_a_snapshot_is_refused_with_the_reason() {
    let of_ycsb = GOOD.split("[[workload]]").next().unwrap().replace("snapshot", "records = 1000\nsnapshot");
    let of_ycsb = format!("{of_ycsb}[[workload]]\nname = \"w\"\nread = 1.0\n[load]\nconcurrency = [4]\n");
    let scaled = format!("{GOOD}\n[provider.local]\nscale = 16.0\n");
    let alone = GOOD.replace("snapshot = \"monday\"", "least_found = 0.5");
    let elsewhere = |place: &str| GOOD.replace("\"monday\"", place);
    let (server, of_server) = (elsewhere("\"https://backups/monday\""), "is neither a directory nor a bucket");
    let (nowhere, without_region) = (elsewhere("\"s3://our-backups/monday\""), "a bucket needs its region");
    let (hostile, no_prefix) = (
        elsewhere("\"s3://our-backups/../x\"\nregion = \"eu-west-1\""),
        "`s3://our-backups/../x` is no bucket with a prefix",
    );
    let local = elsewhere("\"monday\"\nregion = \"eu-west-1\"");
    let profile = GOOD.replace("snapshot = \"monday\"", "profile = \"lab\"");
    let stock = GOOD.replace("partitions = 0", "partitions = 10");
    let schemas = |schemas: &[&str]| Ok(found(vec![table("carts", 1)], schemas));
    for (text, found, words) in [
        (&of_ycsb, usual(), "YCSB's records are in no cluster of yours"),
        (&scaled, usual(), "snapshot = \"monday\" at 1:16: files of a snapshot are restored whole"),
        (&alone, usual(), "`least_found` is for a snapshot"),
        (&server, usual(), of_server),
        (&nowhere, usual(), without_region),
        (&hostile, usual(), no_prefix),
        (&local, usual(), "a directory has no region"),
        (&profile, usual(), "`profile` is for a snapshot"),
        (&stock, usual(), "monday has no files of table stock, of which partitions are stated"),
        (&GOOD.to_owned(), schemas(&[]), "no schema.cql in monday has CREATE TABLE of carts"),
        (&GOOD.to_owned(), schemas(&["'"]), "a string begins here and never ends"),
        (&GOOD.to_owned(), Err("/monday has no SSTable (NAME-Data.db)".to_owned()), "has no SSTable"),
    ] {
        let said = refused(text, &found);
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// With what S3 says of a bucket, and in a plan, which does not ask it.
#[test]
fn a_snapshot_in_a_bucket_is_one_that_a_run_asks_for() {
    let text = GOOD.replace("\"monday\"", "\"s3://our-backups/monday/\"\nregion = \"eu-west-1\"\nprofile = \"lab\"");
    let in_bucket = FoundSnapshot { path: "s3://our-backups/monday".to_owned(), ..usual().unwrap() };
    let read = read_with(&text, &Ok(in_bucket), ReadFor::Anybody).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let snapshot = read.own.as_ref().and_then(|own| own.snapshot.as_ref()).unwrap();
    let [bucket, prefix, region] = ["our-backups", "monday", "eu-west-1"].map(str::to_owned);
    assert_eq!(snapshot.place, DataSetPlace::S3 { bucket, prefix, region, profile: Some("lab".to_owned()) });
    assert_eq!((snapshot.bytes(), snapshot.bytes_fetched()), (5_000_000, 5_000_000));

    let said = read_with(&text, &Err("AccessDenied".to_owned()), ReadFor::Anybody).unwrap_err().to_string();
    assert!(said.contains("AccessDenied") && said.contains("what a snapshot in a bucket needs"), "{said}");

    let planned = read_as(&text, &Ok(None), ReadFor::Anybody).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_eq!(planned.own.and_then(|own| own.snapshot), None);
    let notes: Vec<String> = planned.notes.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("the bucket is not asked for a plan")), "{notes:?}");

    // By SSH nothing fetches it, unless it is in a store.
    let hosts = format!("{text}\n[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]\n");
    let said = read_as(&hosts, &Ok(None), ReadFor::PlanOf(Provider::Hosts)).unwrap_err().to_string();
    assert!(said.contains("a bucket's files are fetched to this machine alone so far"), "{said}");
}

/// Whoever takes files in builds their indexes of SAI; a view is made of writes.
#[test]
fn indexes_of_the_file_go_with_a_snapshot_and_views_do_not() {
    let read = |more: &str| {
        let file = |_: &str| Ok(SCRIPT.replacen("-- statement", &format!("{more};\n-- statement"), 1));
        let schema = CARTS.replace(" (amount);", " (amount) USING 'StorageAttachedIndex';");
        let snapshot = |_: &DataSetPlace| Ok(Some(found(vec![table("carts", 1)], &[&schema])));
        let beside = ParseContext { snapshot: &snapshot, ..ParseContext::files(&file) };
        parse(catalog::Catalog::built_in(), "x.toml", GOOD, &beside, ReadFor::Anybody)
    };
    let left_out = |more: &str| {
        let experiment = read(more).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        experiment.notes.iter().any(|note| note.rule == "snapshot_without_indexes")
    };
    assert!(!left_out("CREATE INDEX ON carts (amount) USING 'sai'"));
    assert!(left_out("CREATE INDEX ON stock (pieces) USING 'sai'"));
    let view = "CREATE MATERIALIZED VIEW by_item AS SELECT * FROM carts WHERE item IS NOT NULL AND shopper IS NOT NULL \
                PRIMARY KEY (item, shopper)";
    let refused = read(view).unwrap_err().to_string();
    let said = "with the materialised view by_item: it is made of what is written to carts";
    assert!(refused.starts_with("x.toml:") && refused.contains(said), "{refused}");
}

#[test]
fn machines_of_aws_have_it_from_a_store_alone() {
    let aws = format!("{GOOD}\n[provider.aws]\ncontroller_cidr = \"203.0.113.7/32\"\npublic_address = true\n");
    let said = read_with(&aws, &usual(), ReadFor::PlanOf(Provider::Aws)).unwrap_err().to_string();
    assert!(said.contains("machines of AWS have no such directory"), "{said}");
    let store = "[dataset]\nstore = { at = \"s3://data-sets/x\", region = \"us-east-1\" }\n";
    let stored = aws.replace("[dataset]\n", store);
    let refused = |text: &str| {
        let read = read_with(text, &usual(), ReadFor::PlanOf(Provider::Aws));
        read.err().map(|mistakes| mistakes.to_string()).unwrap_or_default()
    };
    let of_cluster = "a snapshot for the 3 nodes of a: each is restored only at the address that it had";
    let said = refused(&stored);
    assert!(!said.contains("have no such directory") && !said.contains("restored only at the address"), "{said}");
    // New machines have neither a directory of yours nor the addresses that nodes had.
    let said = refused(&stored.replace("at = \"s3://data-sets/x\", region = \"us-east-1\"", "at = \"/mnt/sets\""));
    assert!(said.contains("[dataset.store] at = \"/mnt/sets\": machines of AWS have no such directory"), "{said}");
    let said = refused(&stored.replace("name = \"a\"\n", "name = \"a\"\nnodes = 3\n"));
    assert!(said.contains(of_cluster), "{said}");
}
