//! `cql = "shop.cql"`: schema and statements of the user's own, and how mistakes in them are refused.

use experiment::{Experiment, Mistakes, OperationKind, Provider, ReadFor, plan};

use crate::story::{kind, read_beside};

const SCRIPT: &str = "\
CREATE TABLE carts (shopper uuid, item int, amount int, note text, PRIMARY KEY (shopper, item));

-- statement read_cart weight 60
SELECT * FROM carts WHERE shopper = ? LIMIT ?;

-- statement put weight 30 consistency quorum
INSERT INTO carts (shopper, item, amount, note) VALUES (?, ?, ?, ?);

-- statement take weight 10
UPDATE carts SET amount = ? WHERE shopper = ? AND item = ? IF amount = ?;
";

const GOOD: &str = r#"name = "x"

[[configuration]]
name = "a"
instance = "r4.4xlarge"
data_volume = { type = "gp2", size_gib = 320 }

[[workload]]
cql = "shop.cql"

[workload.tables.carts]
partitions = 1000
rows = 4
columns.note = { kind = "bytes", length = { min = 10, max = 90 } }

[workload.statements.read_cart]
limit = 10

[load]
concurrency = [10]
"#;

fn read(text: &str) -> Result<Experiment, Mistakes> {
    read_beside(text, SCRIPT, ReadFor::Anybody)
}

#[test]
fn statements_are_kinds_of_operations_with_their_shares() {
    let experiment = read(GOOD).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let [shop] = experiment.workloads.as_slice() else { panic!("one workload") };
    assert_eq!(shop.name, "shop");
    let shares: Vec<(OperationKind, f64)> = shop.kinds().map(|kind| (kind, shop.share(kind))).collect();
    assert_eq!(shares, [(kind("read_cart"), 0.6), (kind("put"), 0.3), (kind("take"), 0.1)]);
    // A conditional update reads, too.
    assert!((shop.reads() - 0.7).abs() < 1e-9 && (shop.writes() - 0.4).abs() < 1e-9);
    assert_eq!((experiment.dataset.records, experiment.dataset.field_length), (4000, 50 + 64));
}

#[test]
fn a_warm_up_to_rest_knows_statements_that_make_rows() {
    let auto = GOOD.replace("concurrency = [10]", "concurrency = [10]\nwarmup = \"auto\"");
    assert!(read(&auto).is_ok());
    for new in ["missing = 0.5", "rows = \"new\""] {
        let puts = |name: &str| read(&auto.replace("[load]", &format!("[workload.statements.{name}]\n{new}\n[load]")));
        let refused = puts("put").unwrap_err().to_string();
        assert!(refused.contains("its throughput never stabilises"), "{refused}");
        // A condition keeps `take` from making what is not there.
        assert!(puts("take").is_ok());
    }
}

#[test]
fn columns_of_text_count_without_being_stated() {
    let bytes = |text: &str, script: &str| {
        let read = read_beside(text, script, ReadFor::Anybody).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        read.dataset.field_length
    };
    let unstated = GOOD.replace("columns.note = { kind = \"bytes\", length = { min = 10, max = 90 } }\n", "");
    assert_eq!(bytes(&unstated, SCRIPT), 100 + 64);
    // A key is small, and so is a number.
    let of_key = SCRIPT.replace("shopper uuid", "shopper text").replace("amount int", "amount int, about blob");
    assert_eq!(bytes(&unstated, &of_key), 200 + 64);
    let tags = "columns.tags = { kind = \"collection\", size = 5 }\n[workload.statements";
    let with_tags = SCRIPT.replace("note text", "note text, tags set<text>");
    assert_eq!(bytes(&GOOD.replacen("\n[workload.statements", tags, 1), &with_tags), 50 + 5 * 20 + 64);
}

#[test]
fn options_of_a_table_that_change_its_files_are_refused_at_their_line() {
    let with = |options: &str| SCRIPT.replace("(shopper, item));", &format!("(shopper, item))\nWITH {options};"));
    let refused = read_beside(GOOD, &with("gc_grace_seconds = 5\nAND cdc = true"), ReadFor::Anybody).unwrap_err();
    let refused = refused.to_string();
    let said = "cdc: copies of files would fill a volume of limited size";
    assert!(refused.starts_with("shop.cql:3:") && refused.contains(said), "{refused}");
    // Rows that are loaded stay all the same.
    let alive = with("default_time_to_live = 60 AND compaction = {'class': 'LeveledCompactionStrategy'}");
    assert!(read_beside(GOOD, &alive, ReadFor::Anybody).is_ok());
}

#[test]
fn a_model_divides_partitions_and_rows_stay_as_they_are() {
    let text = GOOD.replacen("[load]\n", "[provider.local]\nscale = 10\n[load]\n", 1);
    let plan = plan(&read(&text).unwrap_or_else(|mistakes| panic!("{mistakes}")));
    let own = plan.own.as_ref().unwrap();
    assert_eq!((own.data.tables[0].partitions, plan.dataset.records), (100, 400));
    let again: experiment::Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(again.own, plan.own);
}

#[test]
fn what_is_loaded_names_a_data_set_and_what_is_asked_of_it_does_not() {
    let identity = |text: &str, script: &str| {
        let read = read_beside(text, script, ReadFor::Anybody).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        read.own.unwrap().identity()
    };
    let usual = identity(GOOD, SCRIPT);
    assert_eq!(identity(&GOOD.replace("limit = 10", "limit = 20"), SCRIPT), usual);
    assert_eq!(identity(&GOOD.replace("rows = 4\n", "rows = 4\ndistribution = \"uniform\"\n"), SCRIPT), usual);
    assert_eq!(identity(GOOD, &SCRIPT.replace("weight 30", "weight 31")), usual);
    assert_ne!(identity(&GOOD.replace("rows = 4", "rows = 5"), SCRIPT), usual);
    assert_ne!(identity(&GOOD.replace("max = 90", "max = 91"), SCRIPT), usual);
    assert_ne!(identity(&format!("{GOOD}[dataset]\nseed = 2\n"), SCRIPT), usual);
    assert_ne!(identity(GOOD, &SCRIPT.replace("note text", "note ascii")), usual);
}

#[test]
fn another_workload_of_the_file_has_other_weights() {
    let second = "[[workload]]\nname = \"reads\"\ncql = \"shop.cql\"\nweights = { put = 0, take = 0 }\n";
    let text = format!("{GOOD}\n{second}");
    let experiment = read(&text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let reads = &experiment.workloads[1];
    assert_eq!(reads.kinds().collect::<Vec<_>>(), [kind("read_cart")]);
    let own = experiment.own.as_ref().unwrap().of_workload(reads);
    assert_eq!(own.script.statements.len(), 1);

    for (wrong, said) in [
        (second.replace("put = 0", "puts = 0"), "weights: shop.cql has no statement `puts`"),
        (second.replace("put = 0", "read_cart = 0, put = 0"), "all statements have weight 0"),
        (second.replace("shop.cql", "other.cql"), "cql = \"other.cql\" beside \"shop.cql\""),
        (format!("{second}[workload.tables.carts]\npartitions = 5\n"), "`tables` of a second workload of shop.cql"),
    ] {
        let mistakes = read(&format!("{GOOD}\n{wrong}")).unwrap_err().to_string();
        assert!(mistakes.contains(said), "{mistakes}");
    }
}

#[test]
fn a_mistake_in_the_script_has_its_line_there() {
    let wrong = |script: &str| read_beside(GOOD, script, ReadFor::Anybody).unwrap_err().to_string();
    let named = wrong(&SCRIPT.replace("statement put weight", "statement update weight"));
    assert!(named.contains("shop.cql:") && named.contains("`update` is a kind of operation of YCSB"), "{named}");
    let reads = wrong(&SCRIPT.replace("read_cart weight 60", "read_cart weight 60 consistency any"));
    assert!(reads.starts_with("shop.cql:4:") && reads.contains("`any` is for writes alone"), "{reads}");
    let three = wrong(&SCRIPT.replace("consistency quorum", "consistency three"));
    let said = "consistency `three` waits for 3 replicas, and a keeps 1: every `put` would fail";
    assert!(three.starts_with("shop.cql:7:") && three.contains(said), "{three}");
    assert!(wrong("-- statement a weight x\nSELECT * FROM carts;\n").starts_with("shop.cql:"));
}

#[test]
fn what_of_a_schema_cannot_be_measured_is_refused_with_the_reason() {
    let sasi = "CUSTOM INDEX ON carts (note) USING 'org.apache.cassandra.index.sasi.SASIIndex'";
    for (creates, said) in [
        ("INDEX by_note ON carts (note)", "an index in a hidden table cannot be measured: a node that takes its table"),
        ("INDEX ON carts (note) USING 'legacy_local_table'", "write USING 'sai' (since Cassandra 5.0)"),
        (sasi, "SASI cannot be measured: it is experimental"),
        ("CUSTOM INDEX ON carts (note) USING 'com.shop.Index'", "an index of class com.shop.Index cannot be measured"),
        ("FUNCTION one () CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return 1;'", "run no code of yours"),
    ] {
        let refused = read_beside(GOOD, &format!("{SCRIPT}CREATE {creates};\n"), ReadFor::Anybody).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.starts_with("shop.cql:11:") && refused.contains(said), "{creates}: {refused}");
    }
}

const INDEX: &str = "CREATE CUSTOM INDEX by_note ON carts (note) USING 'StorageAttachedIndex';\n";
const VIEW: &str = "CREATE MATERIALIZED VIEW by_amount AS SELECT * FROM carts WHERE amount IS NOT NULL AND \
                    shopper IS NOT NULL AND item IS NOT NULL PRIMARY KEY (amount, shopper, item);\n";

#[test]
fn an_index_of_sai_and_a_view_are_of_the_data_set_and_room_is_made_for_the_view() {
    let read = |more: &str| {
        let script = format!("{SCRIPT}{more}");
        read_beside(GOOD, &script, ReadFor::Anybody).unwrap_or_else(|mistakes| panic!("{mistakes}"))
    };
    let (without, with) = (read(""), read(&format!("{INDEX}{VIEW}")));
    assert_eq!((with.dataset.records, with.dataset.field_length), (without.dataset.records, 2 * (50 + 64)));
    let own = with.own.unwrap();
    assert_ne!(own.identity(), without.own.unwrap().identity());
    assert_eq!(own.tables(), ["carts"]);
    assert_eq!(own.tables_and_views(), ["carts", "by_amount"]);
}

#[test]
fn an_index_of_sai_is_refused_where_a_configuration_has_a_version_without_it() {
    let read = |text: &str| read_beside(text, &format!("{SCRIPT}{INDEX}"), ReadFor::Anybody);
    let volume = "data_volume = { type = \"gp2\", size_gib = 320 }\n";
    let old = GOOD.replacen(volume, &format!("{volume}database = {{ version = \"4.1.10\" }}\n"), 1);
    let refused = read(&old).unwrap_err().to_string();
    let said = "a has Cassandra 4.1.10, and SAI is in 5.0 and later ones";
    assert!(refused.starts_with("shop.cql:11:") && refused.contains(said), "{refused}");
    let target = GOOD.replacen("\n[[configuration]]", "\n[target]\nversion = \"4.1.10\"\n\n[[configuration]]", 1);
    assert!(read(&target).unwrap_err().to_string().contains(said));
    assert!(read(&target.replace("4.1.10", "6.0-alpha2")).is_ok());
}

#[test]
fn all_mistakes_of_the_data_are_reported_each_at_its_place() {
    let text = GOOD
        .replace("partitions = 1000", "partitions = -1")
        .replace("length = { min = 10, max = 90 }", "length = { min = 10 }")
        .replace("limit = 10", "limit = 0\nrows = \"latest\"");
    let mistakes = read(&text).unwrap_err();
    let lines: Vec<(usize, &str)> = mistakes.list().iter().map(|m| (m.line, m.message.as_str())).collect();
    assert_eq!(
        lines,
        [
            (12, "partitions cannot be -1"),
            (14, "note: length is none of the distributions that it can have"),
            (17, "limit cannot be 0"),
            (18, "rows cannot be `latest`"),
        ],
        "{mistakes}"
    );
}

#[test]
fn how_many_partitions_a_table_has_must_be_stated() {
    let mistakes = read(&GOOD.replace("partitions = 1000\n", "")).unwrap_err();
    let [mistake] = mistakes.list() else { panic!("{mistakes}") };
    assert_eq!((mistake.line, mistake.message.as_str()), (11, "carts has no `partitions`"));
}

#[test]
fn what_does_not_go_with_own_statements_is_refused() {
    for (replace, by, said) in [
        ("cql = \"shop.cql\"", "cql = \"shop.cql\"\nread = 1.0", "`cql` and read exclude each other"),
        ("[load]\n", "[dataset]\nrecords = 5\n[load]\n", "records is for YCSB's records"),
        ("[load]\n", "[[workload]]\nname = \"y\"\nread = 1.0\n[load]\n", "a workload of YCSB beside \"shop.cql\""),
        ("[load]\n", "[[fault]]\nkind = \"node-stop\"\nat_s = 5\n[load]\n", "[[fault]] with \"shop.cql\""),
        ("[load]\n", "[sweep]\ncache_ratio = [1, 2]\n[load]\n", "cache_ratio with \"shop.cql\""),
        ("[load]\n", "[objective.statements.nobody]\np99_ms = 5\n[load]\n", "and no workload does any"),
    ] {
        assert!(GOOD.contains(replace));
        let mistakes = read(&GOOD.replacen(replace, by, 1)).unwrap_err().to_string();
        assert!(mistakes.contains(said), "expected: {said}\n message: {mistakes}");
    }
    let simulated = read_beside(GOOD, SCRIPT, ReadFor::PlanOf(Provider::Simulated)).unwrap_err().to_string();
    assert!(simulated.contains("a simulation has no database to ask"), "{simulated}");
    let without = GOOD.replace("cql = \"shop.cql\"", "name = \"w\"\nread = 1.0");
    let without = read(&without).unwrap_err().to_string();
    assert!(without.contains("`tables` is for statements of your own"), "{without}");
    assert!(without.contains("the key `dataset` is missing"), "{without}");
}

/// It loses no writes, which nobody could look for; all tables are compacted.
#[test]
fn of_faults_a_compaction_goes_with_own_statements() {
    let text = GOOD.replacen("[load]\n", "[[fault]]\nkind = \"compaction\"\nat_s = 20\n[load]\nduration_s = 60\n", 1);
    let plan = plan(&read(&text).unwrap_or_else(|mistakes| panic!("{mistakes}")));
    let planned: Vec<String> = plan.faults.iter().map(experiment::NodeFault::label).collect();
    assert_eq!(planned, ["compaction on node 1 at 20 s"]);
}

#[test]
fn an_objective_bounds_a_statement_by_its_name() {
    let text = GOOD.replacen("[load]\n", "[objective.statements]\nread_cart = { p99_ms = 5 }\n[load]\n", 1);
    let experiment = read(&text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let bounds = experiment.objective.unwrap().latency;
    assert_eq!(bounds.iter().map(|bound| bound.operation).collect::<Vec<_>>(), [Some(kind("read_cart"))]);
}
