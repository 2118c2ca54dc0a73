//! Planted logs: requests of the examples' own statements, drawn by their weights. The files that `iopslab profile`
//! makes of them have these statements, with these shares, and nothing that a user gave.

use std::collections::BTreeMap;
use std::path::Path;

use catalog::{Basis, Catalog, ClusterRequest};
use database::ReadRecording;
use experiment::{Draft, Experiment, ParseContext, ReadFor};
use profile::ColumnKind::{Clustering, PartitionKey, Regular};
use profile::{
    Cluster, ColumnKind, ColumnSchema, NodeReading, NodeSeen, Observation, Operations, Profile, TableName,
    TableReading, TableSchema, drafted, judge,
};
use serde_json::json;
use workload::Random;

const REQUESTS: u64 = 20_000;
const PARTITIONS: u64 = 1_000;

fn example(name: &str) -> Experiment {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).map_err(|error| error.to_string());
    let text = read(name).unwrap();
    experiment::parse(Catalog::built_in(), name, &text, &ParseContext::files(&read), ReadFor::Anybody)
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// What a statement of an example is given, in the protocol's form; its partition is that of the key.
fn values(statement: &str, key: u64) -> Vec<Vec<u8>> {
    let int = |number: u64| (number as u32).to_be_bytes().to_vec();
    let long = |number: u64| number.to_be_bytes().to_vec();
    let uuid = |number: u64| [number.to_be_bytes(), [0x40; 8]].concat();
    let text = |bytes: usize| vec![b'x'; bytes];
    let list = |elements: &[Vec<u8>]| {
        let mut all = int(elements.len() as u64);
        for element in elements {
            all.extend(int(element.len() as u64));
            all.extend(element);
        }
        all
    };
    match statement {
        "read_item" => vec![int(key)],
        "read_cart" => vec![uuid(key)],
        "last_orders" => vec![uuid(key), int(5)],
        "put_in_cart" => vec![uuid(key), int(7), int(1), text(30), list(&[text(8), text(8)]), int(86_400)],
        "take_piece" => vec![int(3), int(key), int(4)],
        "place_order" => vec![uuid(key), long(key), uuid(key), list(&[text(16)]), text(6), uuid(key)],
        "recent_views" => vec![long(key), int(20)],
        "views_between" => vec![long(key), long(1), long(2)],
        "bookmarks_of" => vec![long(key)],
        "about_titles" => vec![list(&(0..8).map(|more| int(key + more)).collect::<Vec<_>>())],
        "add_view" => vec![long(key), long(key), int(1), int(2), text(12), text(800)],
        "move_bookmark" => vec![int(2), long(key), long(key), int(1)],
        other => panic!("nobody has planted {other}"),
    }
}

/// A request as a line of the log.
fn line(at_us: u64, text: &str, values: &[Vec<u8>], levels: (Option<&str>, Option<&str>)) -> String {
    let hex = |value: &Vec<u8>| value.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"));
    let values: Vec<String> = values.iter().map(hex).collect();
    let mut line = json!({ "at": at_us, "statement": text, "values": values, "keyspace": "ours" });
    for (key, level) in [("consistency", levels.0), ("serial_consistency", levels.1)] {
        if let Some(level) = level {
            line[key] = json!(level.to_uppercase());
        }
    }
    line.to_string()
}

/// So many requests of an example's statements; how many of each.
fn planted(example: &Experiment, seed: u64) -> (Vec<String>, BTreeMap<String, u64>) {
    let script = &example.own.as_ref().unwrap().script;
    let mut random = Random::from_seed(seed);
    let mut asked: BTreeMap<String, u64> = BTreeMap::new();
    let one = |number: u64| {
        let mut left = random.next_unit();
        let place = (0..script.statements.len()).find(|place| {
            left -= script.share(*place);
            left < 0.0
        });
        let statement = &script.statements[place.unwrap_or_default()];
        *asked.entry(statement.name.clone()).or_default() += 1;
        let values = values(&statement.name, random.next_u64() % PARTITIONS);
        let levels = (statement.consistency.as_deref(), statement.serial.map(|serial| serial.name()));
        line(number * 1_000, &statement.text, &values, levels)
    };
    ((0..REQUESTS).map(one).collect(), asked)
}

fn table(name: &str, columns: &[(&str, &str, ColumnKind)]) -> TableSchema {
    let described = columns.iter().map(|(column, cql_type, kind)| ColumnSchema {
        name: (*column).to_owned(),
        cql_type: (*cql_type).to_owned(),
        kind: *kind,
        is_descending: ["placed", "viewed"].contains(column),
    });
    let described: Vec<ColumnSchema> = described.collect();
    let key = described.iter().filter(|column| matches!(column.kind, PartitionKey(_)));
    let key: Vec<String> = key.map(|column| column.name.clone()).collect();
    let clustering = described.iter().filter(|column| matches!(column.kind, Clustering(_))).count();
    let compaction = BTreeMap::from([("class".to_owned(), "LeveledCompactionStrategy".to_owned())]);
    TableSchema {
        name: TableName { keyspace: "ours".to_owned(), table: name.to_owned() },
        partition_key: key.len() as u32,
        columns: (described.len() - key.len() - clustering) as u32,
        clustering: clustering as u32,
        key,
        options: BTreeMap::from([("compaction".to_owned(), compaction)]),
        copies: Some(1),
        described,
        ..TableSchema::default()
    }
}

/// The tables of both examples.
fn tables() -> Vec<TableSchema> {
    let (key, first, second) = (PartitionKey(0), Clustering(0), Clustering(1));
    vec![
        table(
            "carts",
            &[
                ("shopper", "uuid", key),
                ("item", "int", first),
                ("amount", "int", Regular),
                ("note", "text", Regular),
                ("tags", "set<text>", Regular),
            ],
        ),
        table(
            "orders",
            &[
                ("shopper", "uuid", key),
                ("placed", "timestamp", first),
                ("id", "timeuuid", second),
                ("lines", "list<text>", Regular),
                ("total", "decimal", Regular),
            ],
        ),
        table(
            "stock",
            &[("item", "int", key), ("about", "text", Regular), ("pieces", "int", Regular), ("title", "text", Regular)],
        ),
        table(
            "history",
            &[
                ("customer", "bigint", key),
                ("viewed", "timestamp", first),
                ("details", "blob", Regular),
                ("device", "text", Regular),
                ("position", "int", Regular),
                ("title", "int", Regular),
            ],
        ),
        table(
            "bookmarks",
            &[
                ("customer", "bigint", key),
                ("title", "int", first),
                ("changed", "timestamp", Regular),
                ("position", "int", Regular),
            ],
        ),
        table("titles", &[("title", "int", key), ("about", "text", Regular), ("name", "text", Regular)]),
    ]
}

/// What is said of a cluster of one node with this log.
fn profiled(lines: &[String]) -> Profile {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("asked.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let tables = tables();
    let log = ReadRecording::read(&file).unwrap().asked_keys(&tables);
    let reading = |at_s: f64| {
        let counts = Some(Operations { reads: at_s * 300.0, scans: 0.0, writes: at_s * 100.0 });
        let of_table = TableReading {
            clients: counts,
            replicas: counts,
            disk_mib: Some(100.0),
            partitions: Some(PARTITIONS as f64),
            mean_partition_bytes: Some(1_500.0),
            ..TableReading::default()
        };
        let tables = tables.iter().map(|table| (table.name.clone(), of_table)).collect();
        NodeReading { at_s, generation: Some(1), tables, ..NodeReading::default() }
    };
    let node = NodeSeen { node: "db1".to_owned(), readings: vec![reading(0.0), reading(60.0)], not_read: Vec::new() };
    let today = ClusterRequest::parse(Catalog::built_in(), "r6i.2xlarge+gp3:500GiB:12000:500").unwrap();
    let seen = Observation {
        cluster: Cluster { name: "ours".to_owned(), nodes: 1, tables: tables.clone(), ..Cluster::default() },
        nodes: vec![node],
        hosts: Vec::new(),
        today: Some(today),
        log: Some(log),
        seconds: 60.0,
        ended_early: false,
    };
    judge(Catalog::built_in(), &Basis::default(), &seen)
}

/// The experiment that would be written, its text, and that of its statements.
fn written(profile: &Profile) -> (Experiment, String, String) {
    let draft: Draft = drafted(profile, "like-ours", 2.0).unwrap();
    let text = experiment::draft(Catalog::built_in(), &draft);
    let own = draft.own.unwrap();
    let read = |file: &str| {
        assert_eq!(file, "like-ours.cql");
        Ok(own.text.clone())
    };
    let context = ParseContext::files(&read);
    let read = experiment::parse(Catalog::built_in(), "like-ours.toml", &text, &context, ReadFor::Anybody);
    let experiment = read.unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}\n{}", own.text));
    assert!(!experiment::plan(&experiment).trials.is_empty(), "{text}");
    (experiment, text, own.text)
}

fn spelled(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Each statement of an example comes back with its text, its levels and its share.
fn comes_back(name: &str, seed: u64) -> (String, String) {
    let example = example(name);
    let (lines, asked) = planted(&example, seed);
    let profile = profiled(&lines);
    let own_use = &profile.log.as_ref().unwrap().own;
    assert_eq!((own_use.left_out.as_slice(), own_use.requests()), (&[][..], REQUESTS));
    let (experiment, text, cql) = written(&profile);
    // What a node counts several times is one request of a run.
    let several = |name: &str| match name {
        "about_titles" => 8,
        "place_order" => 2,
        _ => 1,
    };
    let operations: u64 = asked.iter().map(|(name, requests)| requests * several(name)).sum();
    let of_node = profile.workload.nodes[0].replicas.unwrap().busiest.total();
    let throughput = (of_node / (operations as f64 / REQUESTS as f64)).ceil();
    assert!(operations > REQUESTS && text.contains(&format!("throughput = {throughput} ")), "{throughput}\n{text}");
    let (theirs, ours) = (&example.own.as_ref().unwrap().script, &experiment.own.as_ref().unwrap().script);
    assert_eq!(ours.statements.len(), theirs.statements.len(), "{cql}");
    for (place, planted) in theirs.statements.iter().enumerate() {
        let found = ours.statements.iter().position(|one| spelled(&one.text) == spelled(&planted.text));
        let found = found.unwrap_or_else(|| panic!("{} is not in\n{cql}", planted.text));
        let written = &ours.statements[found];
        assert_eq!((&written.consistency, written.serial), (&planted.consistency, planted.serial), "{cql}");
        assert!((written.weight - asked[&planted.name] as f64).abs() < 0.5, "{cql}");
        let share = theirs.share(place);
        let error = (share * (1.0 - share) / REQUESTS as f64).sqrt();
        assert!((ours.share(found) - share).abs() < 4.0 * error, "{}: {} of {share}", planted.name, ours.share(found));
    }
    let mut tables: Vec<&str> = theirs.tables().collect();
    tables.sort_unstable();
    assert_eq!(ours.tables().collect::<Vec<_>>(), tables, "{cql}");
    (text, cql)
}

fn has(text: &str, all: &[&str]) {
    for said in all {
        assert!(text.contains(said), "{said}\n{text}");
    }
}

#[test]
fn a_shops_statements_come_back_from_its_log() {
    let (text, cql) = comes_back("shop.toml", 1);
    has(
        &text,
        &[
            "[[workload]]\ncql = \"like-ours.cql\"\n",
            "[workload.tables.stock]\npartitions = 1_000\ndistribution = \"uniform\"\n",
            "# Keys: uniform; at most ",
            "columns.note = { kind = \"bytes\", length = 30 }\n",
            "columns.tags = { kind = \"collection\", size = 2, element = { kind = \"bytes\", length = 8 } }\n",
            "columns.lines = { kind = \"collection\", size = 1, element = { kind = \"bytes\", length = 16 } }\n",
            "limit = 5\n",
            "ttl_s = 86_400\n",
        ],
    );
    has(
        &cql,
        &[
            "CREATE TABLE orders (\n    shopper uuid,\n    placed timestamp,\n",
            "    PRIMARY KEY (shopper, placed, id)\n) WITH CLUSTERING ORDER BY (placed DESC, id ASC)\n",
            "\n    AND compaction = {'class': 'LeveledCompactionStrategy'};\n",
            "-- statement update_stock weight ",
            " consistency quorum serial local_serial\n",
        ],
    );
}

#[test]
fn a_video_services_statements_come_back_from_its_log() {
    let (text, _) = comes_back("netflix-2012.toml", 2);
    has(
        &text,
        &[
            "limit = 20\n",
            "in_keys = 8\n",
            "# 10 rows of a range are an assumption",
            "range_rows = 10\n",
            "columns.details = { kind = \"bytes\", length = 800 }\n",
            "columns.device = { kind = \"bytes\", length = 12 }\n",
        ],
    );
}

#[test]
fn what_users_gave_is_in_no_file_and_what_is_missing_is_said_first() {
    let (mut lines, _) = planted(&example("shop.toml"), 3);
    let mut add = |count: u64, text: &dyn Fn(u64) -> String| {
        let at = lines.len() as u64;
        lines.extend((0..count).map(|number| line((at + number) * 1_000, &text(number), &[], (Some("one"), None))));
    };
    add(300, &|number| format!("SELECT title FROM ours.stock /* for Jo */ WHERE item = {}", 987_600_000 + number));
    add(200, &|number| {
        let uuid = format!("{number:08x}-e89b-12d3-a456-426614174000");
        format!("INSERT INTO carts (shopper, item, note, tags) VALUES ({uuid}, -7, 'Jo Secret', {{'crimson'}})")
    });
    add(1, &|_| "CREATE ROLE jo WITH PASSWORD = 'Hush' AND LOGIN = true".to_owned());
    add(1_500, &|_| "SELECT price(title) FROM stock WHERE item = 987600199".to_owned());
    add(900, &|_| "SELECT item FROM stock WHERE title = 'Jo Secret'".to_owned());
    let profile = profiled(&lines);
    let (experiment, text, cql) = written(&profile);
    let statements = &experiment.own.as_ref().unwrap().script.statements;
    let weight = |text: &str| statements.iter().find(|one| one.text == text).map(|one| one.weight);
    assert_eq!(weight("SELECT title FROM stock WHERE item = ?"), Some(300.0), "{cql}");
    assert_eq!(weight("INSERT INTO carts (shopper, item, note, tags) VALUES (?, ?, ?, ?)"), Some(200.0), "{cql}");
    let report = report::profile_markdown(&profile);
    let document = report::profile_document(&profile).to_string();
    for secret in ["9876000", "Secret", "crimson", "Hush", "e89b", "for Jo"] {
        for file in [&text, &cql, &report, &document] {
            assert!(!file.contains(secret), "{secret}\n{file}");
        }
    }
    // 2,401 of 22,901.
    let first = "Own statements have 89.5 % of the requests of the query log";
    assert!(cql.starts_with(&format!("-- {first}")), "{cql}");
    assert!(text.find(first).unwrap() < text.find("From iopslab profile").unwrap(), "{text}");
    assert!(report.find(first).unwrap() < report.find("No verdict").unwrap(), "{report}");
    has(
        &cql,
        &[
            "-- * 6.55 %: SELECT price(title) FROM stock WHERE item = ?",
            "price is a function of your own",
            "-- * 3.93 %: SELECT item FROM stock WHERE title = ?: it asks by title, which is not of the key",
            "%: CREATE ROLE: it is none of a load",
        ],
    );
    has(&report, &["Statements of the query log that own statements cannot have"]);
}
