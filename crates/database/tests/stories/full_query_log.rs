//! A full query log that Cassandra's own logger has written (`scripts/FullQueryLog.java`), read by our reader.

use std::path::Path;
use std::process::Command;

use database::ReadRecording;
use database::cassandra::{ensure_distribution, find_java};
use query_log::Value;

use crate::shared;

/// What Chronicle and Cassandra reach into on Java 11 and 17 (`jvm11-server.options`, `jvm17-server.options`).
const EXPORTS: [&str; 5] = [
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "jdk.unsupported/sun.misc",
    "jdk.compiler/com.sun.tools.javac.file",
];
const OPENS: [&str; 8] = [
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.reflect",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "jdk.compiler/com.sun.tools.javac",
];

/// Writes the log into a directory, by the logger of a version.
fn write_log(version: &str, directory: &Path) {
    let distribution = ensure_distribution(version, &shared::cache(), &mut |_| {}, &|| false).unwrap();
    let java = find_java(version).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/FullQueryLog.java");
    let exports = EXPORTS.map(|module| format!("--add-exports={module}=ALL-UNNAMED"));
    let output = Command::new(&java.path)
        .args(["-XX:TieredStopAtLevel=1", "-Xmx256m", "-Dchronicle.analytics.disable=true"])
        .arg("-Dchronicle.announcer.disable=true")
        .arg(format!("-Djava.io.tmpdir={}", directory.display()))
        .args(exports)
        .args(OPENS.map(|module| format!("--add-opens={module}=ALL-UNNAMED")))
        .arg("-cp")
        .arg(std::env::join_paths(&distribution.jars).unwrap())
        .arg(script)
        .arg(directory.join("fql"))
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", said(&output.stdout), said(&output.stderr));
}

#[test]
fn a_log_that_cassandra_wrote_is_read_with_every_statement_and_value() {
    is_read_whole("5.0.9");
}

#[test]
#[ignore = "needs a JDK 11 besides: asked for by name"]
fn a_log_that_cassandra_4_1_wrote_is_read_with_every_statement_and_value() {
    is_read_whole("4.1.10");
}

fn is_read_whole(version: &str) {
    let directory = tempfile::tempdir().unwrap();
    write_log(version, directory.path());
    let fql = directory.path().join("fql");
    let files = std::fs::read_dir(&fql).unwrap().map(|entry| entry.unwrap().path());
    let logs = files.filter(|path| path.extension().is_some_and(|end| end == "cq4"));
    assert!(logs.count() >= 2, "one was ended for the next");

    let log = ReadRecording::read(&fql).unwrap().log;
    assert!(!log.summary().is_cut);
    let [insert, update, select, named, batch] = log.requests() else { panic!("{:?}", log.requests()) };
    let statement = |request: &query_log::Request| {
        let of = &log.statements()[request.statement as usize];
        (of.text.as_str(), of.keyspace.as_deref(), of.consistency.as_deref().unwrap(), of.serial.as_deref())
    };
    let values = |request: &query_log::Request| log.values(request).collect::<Vec<_>>();
    let number = |number: i32| number.to_be_bytes();

    let times: Vec<u64> = log.requests().iter().map(|request| request.at_us).collect();
    assert_eq!(times, [0_u64, 1, 2, 3, 4].map(|after_ms| (1_764_180_000_123 + after_ms) * 1_000));

    let text = "INSERT INTO carts (shopper, item, amount, note) VALUES (?, ?, ?, ?)";
    assert_eq!(statement(insert), (text, Some("shop"), "local_quorum", None));
    // The third one was not set, which the log does not say.
    let seven = number(7);
    assert_eq!(values(insert), [Value::Bytes(&seven), Value::Null, Value::Bytes(b""), Value::Bytes(b"")]);

    let text = "UPDATE carts SET note = ? WHERE shopper = ? IF note = ?";
    assert_eq!(statement(update), (text, Some("shop"), "quorum", Some("local_serial")));
    let (less, cart) = (number(-1), "\u{1F6D2}");
    assert_eq!(values(update), ["grün".as_bytes(), less.as_slice(), cart.as_bytes()].map(Value::Bytes));

    let text = format!("SELECT * FROM shop.carts WHERE note = 'ü€{cart}'");
    assert_eq!((statement(select), values(select)), ((text.as_str(), None, "one", None), Vec::new()));

    // Their names are not in the log: they are in the order of the markers.
    let text = "SELECT * FROM carts WHERE shopper = :shopper AND note = :note";
    assert_eq!(statement(named), (text, Some("shop"), "local_one", None));
    let three = number(3);
    assert_eq!(values(named), [Value::Bytes(&three), Value::Bytes(b"n")]);

    let text = "BEGIN UNLOGGED BATCH INSERT INTO carts (shopper, note) VALUES (?, ?); \
                DELETE FROM carts WHERE shopper = 9; \
                UPDATE carts SET note = ? WHERE shopper = ? IF note = ?; APPLY BATCH";
    assert_eq!(statement(batch), (text, Some("shop"), "each_quorum", None));
    let (one, long, two) = (number(1), "x".repeat(300), number(2));
    let of_each = [one.as_slice(), long.as_bytes(), b"", two.as_slice(), b"b"];
    assert_eq!(values(batch), of_each.map(Value::Bytes));
}
