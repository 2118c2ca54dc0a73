//! A PostgreSQL of `iopslab db`, loaded by hand, and one of a run whose WAL a setting gives its space.

use serde_json::{Value, json};

use crate::support::{Exits, Laboratory, Said, lane::Share};

/// The server of `iopslab db`, stopped at the end whatever happens.
struct Local<'a>(&'a Laboratory);

impl Local<'_> {
    #[track_caller]
    fn db(&self, code: i32, arguments: &[&str]) -> Said {
        let directory = self.0.path().join("db").display().to_string();
        self.0.iopslab(&[&["db", "--directory", &directory], arguments].concat()).exits(code)
    }

    #[track_caller]
    fn load(&self, code: i32, more: &[&str]) -> Said {
        let usual = ["load", "--database", "postgresql", "--hosts", "127.0.0.1", "--format", "json"];
        let short = ["--workload", "a", "--concurrency", "4", "--warmup", "1s", "--duration", "1s"];
        self.0.exits(code, &[&usual[..], &short, more].concat())
    }
}

impl Drop for Local<'_> {
    fn drop(&mut self) {
        let directory = self.0.path().join("db").display().to_string();
        self.0.output(&["db", "--directory", &directory, "stop"]);
    }
}

#[test]
fn a_local_postgresql_is_loaded_by_hand_and_stopped_in_order() {
    let lab = Laboratory::on_machine(Share::Half);
    let local = Local(&lab);
    let started = local.db(0, &["start", "postgresql", "--format", "json"]).json();
    assert_eq!(started["contact_points"], json!(["127.0.0.1:5432"]));
    let status = local.db(0, &["status", "--format", "json"]).json();
    assert_eq!((&status["database"], &status["nodes"][0]["answers"]), (&json!("PostgreSQL"), &json!(true)));

    // Its client makes the table, without being anybody's superuser.
    let loaded = local.load(0, &["--records", "2000", "--load-data"]).json();
    assert_eq!(loaded["loaded"]["records"], 2_000, "{loaded:#}");
    assert_eq!((&loaded["errors"], &loaded["keyspace"]), (&json!({}), &json!("ycsb")), "{loaded:#}");
    assert!(loaded["completed"]["read"].as_u64().unwrap() > 0 && loaded["completed"]["update"].as_u64().unwrap() > 0);
    let again = local.load(0, &["--records", "2000", "--load-data"]);
    assert!(again.stderr.contains("2000 records, loaded before"), "{}", again.all());
    assert!(again.json()["loaded"].is_null(), "{}", again.all());
    let other = local.load(1, &["--records", "3000", "--load-data"]).stderr;
    assert!(other.contains("holds another data set") && other.contains("name another --table"), "{other}");
    let missing = local.load(1, &["--records", "2000", "--table", "elsewhere"]).stderr;
    assert!(missing.contains("elsewhere") && missing.contains("does not exist"), "what the server said: {missing}");

    assert!(local.db(1, &["start", "postgresql"]).stderr.contains("already runs"));
    local.db(0, &["stop", "--keep-data"]);
    let status = local.db(0, &["status", "--format", "json"]).json();
    assert_eq!(status["nodes"][0]["pid"], Value::Null, "{status:#}");
    let refused = local.db(1, &["start"]).stderr;
    assert!(refused.contains("1 node(s) of PostgreSQL") && refused.contains("of Cassandra"), "{refused}");
    // Nothing had to be recovered, and the records are there.
    let started = local.db(0, &["start", "postgresql"]).stdout;
    let directory = lab.path().join("db");
    assert!(
        started.contains(&format!("stop with: iopslab db stop --directory {}\n", directory.display())),
        "{started}"
    );
    let log = std::fs::read_to_string(lab.path().join("db/node1/logs/postgresql.log")).unwrap();
    assert!(log.contains("database system was shut down at"), "{log}");
    local.load(0, &["--records", "2000"]);
    local.db(0, &["stop"]);
    assert!(!lab.path().join("db").exists());
}

const RUN: &str = r#"
name = "wal"

[target]
database = "postgresql"

[dataset]
records = 8_000

[[configuration]]
name = "a"
instance = { vcpus = 2, memory_gib = 4 }
data_volume = { iops = 3000, mib_per_s = 125, size_gib = 100 }
commitlog_volume = { iops = 3000, mib_per_s = 125, size_gib = 20 }
settings = { postgresql = { max_wal_size = "1GB" } }

[[variant]]
name = "large"
settings = { postgresql = { max_wal_size = "8GB" } }

[[workload]]
name = "writes"
update = 1.0

[load]
rate = [100]
rest_max_s = 0
warmup_s = 1
duration_s = 2
repetitions = 1

[provider.local]
scale = 4
"#;

#[test]
fn the_space_of_the_wal_that_is_stated_is_in_force_divided_by_the_scale() {
    let lab = Laboratory::on_machine(Share::Half);
    lab.write("wal.toml", RUN);
    // So deep that a socket there has a longer path than the 107 bytes that the kernel takes for one.
    lab.iopslab(&["run", "wal.toml"]).env("IOPSLAB_WORK", lab.path().join("deep".repeat(25))).exits(0);
    let shown = |configuration: &str| {
        let cell = lab.trials().into_iter().find(|(cell, _)| cell.starts_with(&format!("{configuration}."))).unwrap();
        let record = lab.record(&cell.0, &cell.1);
        assert_eq!(record["nodes"].as_array().map(Vec::len), Some(1), "{record:#}");
        record["nodes"][0]["settings"]["postgresql"]["max_wal_size"].clone()
    };
    assert_eq!((shown("a"), shown("a_large")), (json!("256 MB"), json!("2048 MB")));
    assert_eq!(lab.leftovers(), Vec::<String>::new());
}
