//! A server of PostgreSQL, whose counters know scans and rows.

use super::*;

/// One that is watched for ten minutes, and writes 100 bytes of its log a second.
fn server() -> Observation {
    let mut server = node("db1", &[(300.0, 100.0); 10]);
    for (minute, reading) in server.readings.iter_mut().enumerate() {
        reading.counted.insert("postgresql_wal_bytes", 6_000.0 * minute as f64);
    }
    let mut seen = seen(Vec::new(), vec![server]);
    let cluster = &mut seen.cluster;
    (cluster.counted_by, cluster.nodes, cluster.version) = (CountedBy::Postgresql, 1, "PostgreSQL 16.4".to_owned());
    cluster.tables[0].clustering = 0;
    cluster.settings = BTreeMap::from([("shared_buffers".to_owned(), "16384 x 8kB".to_owned())]);
    seen
}

#[test]
fn what_it_counts_is_a_rate_and_a_count_that_was_reset_makes_none() {
    let mut seen = server();
    let of = |seen: &Observation| judged(seen).workload.nodes[0].counted_per_s["postgresql_wal_bytes"];
    assert!((of(&seen) - 100.0).abs() < 1e-9);
    for reading in &mut seen.nodes[0].readings[4..] {
        reading.counted.insert("postgresql_wal_bytes", reading.counted["postgresql_wal_bytes"] - 20_000.0);
    }
    assert!((of(&seen) - 100.0).abs() < 1e-9, "the interval of the reset is left out");
}

#[test]
fn its_file_is_an_experiment_of_postgresql_in_its_own_words() {
    let profile = judged(&server());
    assert!(profile.unknown.contains(&Unknown::SqlStatements) && !profile.unknown.contains(&Unknown::Compressibility));
    let (text, experiment) = written(&profile);
    assert_eq!(experiment.target.database.product().name, "postgresql", "{text}");
    let mix = experiment.workloads[0].mix;
    assert!((mix.read - 0.75).abs() < 1e-4 && (mix.update - 0.25).abs() < 1e-4, "{text}");
    for said in [
        "# db1: 300.0 scans of an index (without those of updates and deletes)",
        "# shop.orders: 2000 bytes in the mean row",
        "# * shop.orders: 300.0 reads and 100.0 writes a second; 1000000 rows of 2000 bytes (estimated)",
        "# db1: 300000 MiB of tables and indexes on disk",
        "shared_buffers = 16384 x 8kB",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    for of_cassandra in ["SSTable", "a replica", "size_estimates"] {
        assert!(!text.contains(of_cassandra), "{of_cassandra}\n{text}");
    }
}

#[test]
fn statements_that_it_shows_are_in_the_file_and_are_not_unknown() {
    let mut seen = server();
    for (minute, reading) in seen.nodes[0].readings.iter_mut().enumerate() {
        let called = |a_second: f64| a_second * 60.0 * minute as f64;
        reading.calls.insert("SELECT *\n  FROM orders WHERE id = $1".to_owned(), called(300.0));
        reading.calls.insert("VACUUM".to_owned(), called(0.0));
    }
    let profile = judged(&seen);
    assert!(!profile.unknown.contains(&Unknown::SqlStatements), "{:?}", profile.unknown);
    let (text, _) = written(&profile);
    assert!(text.contains("# * 300.0 a second: SELECT * FROM orders WHERE id = $1"), "{text}");
    assert!(!text.contains("VACUUM"), "{text}");
}

/// An identifier of SQL may have any character but NUL.
#[test]
fn names_and_statements_of_somebody_else_are_nothing_but_comments_of_the_file() {
    let mut seen = server();
    let table = "o\"\n[target]\ndatabase = \"cassandra\"\r#".to_owned();
    let name = TableName { keyspace: "shop".to_owned(), table };
    seen.cluster.tables[0].name = name.clone();
    seen.cluster.name = "app\nbaseline = \"x\"".to_owned();
    for (minute, reading) in seen.nodes[0].readings.iter_mut().enumerate() {
        reading.tables = reading.tables.values().map(|table| (name.clone(), *table)).collect();
        reading.calls.insert("SELECT 1 \u{1b}[2J\u{85}\n[target]".to_owned(), 60.0 * minute as f64);
    }
    let (text, experiment) = written(&judged(&seen));
    assert_eq!(experiment.target.database.product().name, "postgresql", "{text}");
    for said in
        ["# * shop.o\" [target] database = \"cassandra\" #: ", "cluster app baseline = \"x\" of", "[2J [target]"]
    {
        let is_comment = |line: &str| line.starts_with("# ") && line.contains(said);
        assert!(text.lines().any(is_comment), "{said}\n{text}");
    }
    assert_eq!(text.lines().filter(|line| *line == "[target]").count(), 1, "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
}
