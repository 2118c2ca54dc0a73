//! JSON Lines: read, refused at their line, and summed up.

use query_log::{At, Log, LogError, Value};

fn read(text: &str) -> Result<Log, LogError> {
    let mut log = Log::default();
    log.read_json_lines(text.as_bytes())?;
    log.finish();
    Ok(log)
}

const TWO: &str = r#"
{"at": 2000000, "statement": "UPDATE carts SET a = ? WHERE b = ?", "values": [null,"0x616E6E"], "consistency": "QUORUM"}

{"at": 500000, "statement": "SELECT * FROM carts", "keyspace": "shop"}
"#;

#[test]
fn lines_become_requests_in_the_order_of_their_times() {
    let log = read(TWO).unwrap();
    let [first, second] = log.requests() else { panic!("{:?}", log.requests()) };
    assert_eq!((first.at_us, second.at_us), (500_000, 2_000_000));
    assert_eq!(log.values(second).collect::<Vec<_>>(), [Value::Null, Value::Bytes(b"ann")]);
    let update = &log.statements()[second.statement as usize];
    assert_eq!((update.consistency.as_deref(), update.requests), (Some("quorum"), 1));
    let select = &log.statements()[first.statement as usize];
    assert_eq!((select.consistency.as_deref(), select.keyspace.as_deref()), (None, Some("shop")));
}

#[test]
fn the_same_text_at_another_level_is_another_statement() {
    let line = |level: &str| format!(r#"{{"at": 1, "statement": "SELECT * FROM a", "consistency": "{level}"}}"#);
    let log = read(&[line("one"), line("ONE"), line("two")].join("\n")).unwrap();
    let counts: Vec<u64> = log.statements().iter().map(|statement| statement.requests).collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn a_line_that_cannot_be_read_is_refused_at_its_number() {
    for (line, message) in [
        ("{", "EOF while parsing an object"),
        (r#"{"at": 1}"#, "missing field `statement`"),
        (
            "INFO  [Native-Transport-Requests-1] FileAuditLogger.java:51 - user:anonymous|host:/10.0.0.1:7000\
             |source:/10.0.0.9|port:60878|timestamp:1795000000000|type:SELECT|category:QUERY|ks:shop|scope:carts\
             |operation:SELECT * FROM carts WHERE shopper = ?",
            "an audit log has no values of prepared statements",
        ),
        (r#"{"at": -1, "statement": "x"}"#, "invalid value: integer `-1`, expected u64"),
        (
            r#"{"at": 1, "statement": "x", "values": ["0x00", "42"]}"#,
            "value 2 is neither null nor hexadecimal digits after 0x, such as \"0x0000002a\" for the int 42",
        ),
        (
            r#"{"at": 1, "statement": "x", "time": 1}"#,
            "unknown field `time`, expected one of `at`, `statement`, `values`, `consistency`, `serial_consistency`, \
             `keyspace`",
        ),
    ] {
        let error = read(&format!("{TWO}{line}\n")).unwrap_err();
        assert_eq!(error.at, At::Line(5));
        assert!(error.message.starts_with(message), "{error}");
    }
}

#[test]
fn a_log_that_lost_requests_shows_a_hole() {
    let line = |at_us: u64| format!(r#"{{"at": {at_us}, "statement": "SELECT * FROM a"}}"#);
    let lines = |range: std::ops::Range<u64>| range.map(|ms| line(ms * 1_000)).collect::<Vec<_>>().join("\n");
    let whole = read(&lines(0..5_000)).unwrap().summary();
    assert_eq!((whole.gaps.number, whole.gaps.usual_per_s), (0, 1_000.0));
    let holed = read(&[lines(0..2_000), lines(3_000..5_000)].join("\n")).unwrap().summary();
    assert_eq!((holed.gaps.number, holed.gaps.longest_s), (1, 1.001));
}
