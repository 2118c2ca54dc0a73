//! `replay = "shop.jsonl"`: what was recorded is a workload, and how what does not go with it is refused.

use experiment::{
    Arrivals, Experiment, LoadLevel, Mistakes, OperationKind, ParseContext, Provider, ReadFor, Recording, parse, plan,
};

use crate::story::kind;

const SCHEMA: &str = "CREATE TABLE carts (shopper int, item int, amount int, PRIMARY KEY (shopper, item));\n";

const UPDATE: &str = "UPDATE shop.carts SET amount = ? WHERE shopper = ? AND item = ? IF amount = ?";

const GOOD: &str = r#"name = "x"

[[configuration]]
name = "a"
instance = "r4.4xlarge"
data_volume = { type = "gp2", size_gib = 320 }

[[workload]]
replay = "logs/shop.jsonl"
speed = 4
cql = "shop.cql"

[workload.tables.carts]
partitions = 1000
rows = 4
columns.shopper = { kind = "sequence" }

[load]
warmup_s = 5
duration_s = 10
"#;

/// 100 s: a read every 10 ms, every tenth request is a conditional update, and drivers look around.
fn log() -> query_log::Log {
    let line = |i: u32| {
        let at = u64::from(i) * 10_000;
        match i {
            0 => format!(r#"{{"at": {at}, "statement": "SELECT * FROM system.local"}}"#),
            1 => format!(r#"{{"at": {at}, "statement": "USE shop"}}"#),
            _ if i % 10 == 9 => {
                let values = r#"["0x01", "0x02", "0x03", "0x04"]"#;
                let levels = r#""consistency": "QUORUM", "serial_consistency": "LOCAL_SERIAL""#;
                format!(r#"{{"at": {at}, "statement": "{UPDATE}", "values": {values}, {levels}}}"#)
            }
            _ => format!(r#"{{"at": {at}, "statement": "SELECT * FROM carts WHERE shopper = ?", "values": ["0x02"]}}"#),
        }
    };
    let lines: Vec<String> = (0..=10_000).map(line).collect();
    read_log(&lines.join("\n"))
}

fn read_log(lines: &str) -> query_log::Log {
    let mut log = query_log::Log::default();
    log.read_json_lines(lines.as_bytes()).unwrap();
    log.finish();
    log
}

fn read_with(text: &str, schema: &str, log: &query_log::Log, purpose: ReadFor) -> Result<Experiment, Mistakes> {
    let read = |_: &str| Ok(schema.to_owned());
    let recording = |name: &str| -> Result<Recording, String> {
        assert_eq!(name, "logs/shop.jsonl");
        Ok(Recording { path: format!("/work/{name}"), sha256: "abc".to_owned(), summary: log.summary() })
    };
    let beside = ParseContext { recording: &recording, ..ParseContext::files(&read) };
    parse(catalog::Catalog::built_in(), "x.toml", text, &beside, purpose)
}

fn read(text: &str) -> Experiment {
    read_with(text, SCHEMA, &log(), ReadFor::Anybody).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn refused(text: &str) -> String {
    read_with(text, SCHEMA, &log(), ReadFor::Anybody).unwrap_err().to_string()
}

#[test]
fn a_recording_has_its_statements_its_shares_and_its_load() {
    let experiment = read(GOOD);
    let [shop] = experiment.workloads.as_slice() else { panic!("one workload") };
    assert_eq!(shop.name, "shop");
    let kinds: Vec<OperationKind> = shop.kinds().collect();
    assert_eq!(kinds, [kind("select_carts"), kind("update_carts")]);
    // Of 10,001 requests 1,000 are updates, and two ask for no table of ours.
    assert!((shop.share(kinds[1]) - 1_000.0 / 9_999.0).abs() < 1e-9);
    assert!((shop.reads() - 1.0).abs() < 1e-9, "a conditional update reads, too");
    let replayed = shop.replayed.as_ref().unwrap();
    assert_eq!(replayed.to_string(), "replayed from logs/shop.jsonl, 9999 statements in 100 s, speed 4");
    let rate = LoadLevel::Rate { operations_per_s: 400.0, arrivals: Arrivals::Recorded };
    assert_eq!(experiment.load.levels, [rate]);
    let json = serde_json::to_string(&rate).unwrap();
    assert_eq!(json, r#"{"rate":{"operations_per_s":400.0,"arrivals":"recorded"}}"#);
    assert_eq!(serde_json::from_str::<LoadLevel>(&json).unwrap(), rate);

    let own = experiment.own.unwrap();
    let [select, update] = own.script.statements.as_slice() else { panic!("two statements") };
    assert_eq!((select.name.as_str(), &select.consistency), ("select_carts", &None));
    assert_eq!(update.text, "UPDATE carts SET amount = ? WHERE shopper = ? AND item = ? IF amount = ?");
    assert_eq!(
        (update.consistency.as_deref(), update.serial.map(|level| level.name())),
        (Some("quorum"), Some("local_serial"))
    );
    let replay = own.replay.unwrap();
    assert_eq!((replay.path.as_str(), replay.sha256.as_str(), replay.thinned), ("/work/logs/shop.jsonl", "abc", 1));
    let notes: Vec<&str> = experiment.notes.iter().map(|note| note.rule).collect();
    assert!(notes.contains(&"replay_left_out") && !notes.contains(&"replay_gaps"), "{notes:?}");
}

#[test]
fn as_fast_as_order_allows_is_a_closed_loop() {
    let text = GOOD.replace("speed = 4", "speed = \"as_fast_as_order_allows\"");
    let experiment = read(&text.replace("[load]\n", "[load]\nconcurrency = [8]\n"));
    assert_eq!(experiment.load.levels, [LoadLevel::Concurrency(8)]);
    let words = experiment.workloads[0].replayed.as_ref().unwrap().to_string();
    assert!(words.ends_with("as fast as their order allows"), "{words}");
    assert!(refused(&text).contains("[load] has no load level"));
}

#[test]
fn a_model_has_one_partition_of_n_whatever_its_number() {
    let text = GOOD.replacen("[load]\n", "[provider.local]\nscale = 10\n[load]\n", 1);
    let whole = read(GOOD).own.unwrap();
    let plan = plan(&read(&text));
    let own = plan.own.as_ref().unwrap();
    assert_eq!((own.data.tables[0].partitions, plan.dataset.records), (1000, 400));
    assert_eq!(own.replay.as_ref().unwrap().thinned, 10);
    let kept = (0..10_000_u32).filter(|key| own.keeps(&key.to_be_bytes())).count();
    assert!((800..1_200).contains(&kept), "{kept}");
    assert!((0..100_u32).all(|key| whole.keeps(&key.to_be_bytes())));
    assert_ne!(own.identity(), whole.identity(), "another data set");
    assert!(matches!(plan.cells[0].load, LoadLevel::Rate { operations_per_s, .. } if operations_per_s == 40.0));
    let again: experiment::Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(again, plan);
}

#[test]
fn a_recording_that_lost_requests_is_noted() {
    let line = |ms: u64| format!(r#"{{"at": {}, "statement": "SELECT * FROM carts"}}"#, ms * 1_000);
    let lines: Vec<String> = (0..40_000).chain(45_000..100_000).map(line).collect();
    let experiment = read_with(GOOD, SCHEMA, &read_log(&lines.join("\n")), ReadFor::Anybody).unwrap();
    let note = experiment.notes.iter().find(|note| note.rule == "replay_gaps").unwrap();
    let said = "logs/shop.jsonl seems to have lost requests: nothing for 5.0 s, of which 5.0 s at a time, where 1000 \
                requests a second are usual";
    assert_eq!(note.message.to_string(), said);
}

#[test]
fn what_does_not_go_with_a_replay_is_refused() {
    for (replace, by, said) in [
        ("cql = \"shop.cql\"\n", "", "a replay has no schema"),
        ("speed = 4", "speed = 0", "speed cannot be 0"),
        ("speed = 4", "speed = \"fast\"", "a number from 0.01 to 1000, or \"as_fast_as_order_allows\""),
        ("speed = 4", "speed = 8", "warm-up and measurement take 15 s, and logs/shop.jsonl lasts 12.5 s at speed 8"),
        ("speed = 4", "speed = 4\nweights = { select_carts = 1 }", "`weights` with replay"),
        ("speed = 4", "speed = 4\nread = 1.0", "`cql` and read exclude each other"),
        ("rows = 4", "rows = 4\ndistribution = \"uniform\"", "`distribution` of carts with replay"),
        ("[load]\n", "[workload.statements.select_carts]\nlimit = 5\n[load]\n", "`statements` with replay"),
        ("[load]\n", "[load]\nrate = [5]\n", "rate with replay"),
        ("[load]\n", "[load]\nconcurrency = [5]\n", "concurrency with replay"),
        ("[load]\n", "[load]\nclients = 2\n", "clients = 2 with replay"),
        ("warmup_s = 5", "warmup = \"auto\"", "warmup = \"auto\" with replay"),
        ("[load]\n", "[provider.local]\nscale = 1.4\n[load]\n", "scale = 1.4 with replay"),
        ("[load]\n", "[[workload]]\nname = \"b\"\ncql = \"shop.cql\"\n[load]\n", "another workload beside replay"),
        ("[load]\n", "[[fault]]\nkind = \"node-stop\"\nat_s = 5\n[load]\n", "[[fault]] with \"shop.cql\""),
    ] {
        assert!(GOOD.contains(replace), "{replace}");
        let mistakes = refused(&GOOD.replacen(replace, by, 1));
        assert!(mistakes.contains(said), "expected: {said}\n message: {mistakes}");
    }
    let fastest = GOOD.replace("speed = 4", "speed = \"as_fast_as_order_allows\"");
    let compacts = "[[fault]]\nkind = \"compaction\"\nat_s = 5\n[load]\nconcurrency = [4]\n";
    let compacts = refused(&fastest.replace("[load]\n", compacts));
    assert!(compacts.contains("a trial could end with the recording before it"), "{compacts}");
    let without = GOOD.replace("replay = \"logs/shop.jsonl\"\n", "");
    assert!(refused(&without).contains("`speed` is for a replay"));
    for (provider, said) in [
        (Provider::Simulated, "a simulation has no database to ask"),
        (Provider::Hosts, "a recording is read on this machine alone so far"),
        (Provider::Aws, "a recording is read on this machine alone so far"),
    ] {
        let mistakes = read_with(GOOD, SCHEMA, &log(), ReadFor::PlanOf(provider)).unwrap_err().to_string();
        assert!(mistakes.contains(said), "expected: {said}\n message: {mistakes}");
    }
}

#[test]
fn what_a_recording_cannot_be_sent_with_is_refused() {
    let with = |lines: &str| read_with(GOOD, SCHEMA, &read_log(lines), ReadFor::Anybody).unwrap_err().to_string();
    let line = |statement: &str, more: &str| format!("{{\"at\": 1, \"statement\": \"{statement}\"{more}}}\n");
    for (lines, said) in [
        (line("SELECT * FROM other", ""), "asks for no table of shop.cql: it has carts"),
        (
            line("SELECT * FROM a.carts", "") + &line("SELECT * FROM b.carts", ""),
            "asks for tables of several keyspaces: a, b",
        ),
        (line("SELECT * FROM carts", ", \"consistency\": \"serial\""), "was asked at consistency serial"),
        (line("SELECT * FROM carts", ""), "all requests have the same time"),
        (
            (0..70).map(|i| line(&format!("SELECT * FROM carts WHERE shopper = {i}"), "")).collect(),
            "more than 64 different statements",
        ),
    ] {
        let mistakes = with(&lines);
        assert!(mistakes.contains(said), "expected: {said}\n message: {mistakes}");
    }
    let statement = format!("{SCHEMA}-- statement a weight 1\nSELECT * FROM carts;\n");
    let stray = read_with(GOOD, &statement, &log(), ReadFor::Anybody).unwrap_err().to_string();
    assert!(stray.starts_with("shop.cql:3:") && stray.contains("the file has the schema alone"), "{stray}");
}
