//! Files of Cassandra's full query log: read whole, refused where they are broken.

use std::ops::Range;

use crate::support::Cassandra::{V4_1, V5_0};
use crate::support::{Cassandra, Queue, field, options, text};
use proptest::prelude::*;
use query_log::{Log, Value};

const READ: &str = "SELECT * FROM shop.carts WHERE shopper = ?";
const NOW_MS: i64 = 1_764_180_000_123;

fn read(bytes: &[u8]) -> Log {
    let mut log = Log::default();
    log.read_full_query_log(bytes).unwrap();
    log.finish();
    log
}

fn refused(bytes: &[u8]) -> String {
    Log::default().read_full_query_log(bytes).unwrap_err().to_string()
}

/// Two reads of both protocols, an index between them, and a batch.
fn written(of: Cassandra, is_aligned: bool) -> Queue {
    let mut queue = Queue::new(of, is_aligned);
    queue.index();
    let values: &[Option<&[u8]>] = &[Some(b"ann"), None];
    queue.record(&of.single(NOW_MS, 4, &options(4, 6, None, values), Some("shop"), READ));
    queue.index();
    queue.record(&of.single(NOW_MS + 2, 5, &options(5, 4, Some(9), &[]), None, "SELECT now() FROM system.local"));
    let queries: &[(&str, &[&[u8]])] =
        &[("INSERT INTO carts (shopper) VALUES (?);", &[b"bob"]), ("DELETE FROM carts WHERE shopper = ?", &[b""])];
    queue.record(&of.batch(NOW_MS + 1, &options(5, 1, None, &[]), "UNLOGGED", queries));
    queue
}

#[test]
fn records_are_read_with_their_levels_values_and_times() {
    for (of, is_aligned) in [(V4_1, true), (V5_0, true), (V5_0, false)] {
        let log = read(&written(of, is_aligned).ended());
        let [first, batch, last] = log.requests() else { panic!("{:?}", log.requests()) };
        let statement = |request: &query_log::Request| &log.statements()[request.statement as usize];

        assert_eq!(first.at_us, 1_764_180_000_123_000);
        assert_eq!((statement(first).text.as_str(), statement(first).keyspace.as_deref()), (READ, Some("shop")));
        assert_eq!((statement(first).consistency.as_deref(), &statement(first).serial), (Some("local_quorum"), &None));
        assert_eq!(log.values(first).collect::<Vec<_>>(), [Value::Bytes(b"ann"), Value::Null]);

        let text = "BEGIN UNLOGGED BATCH INSERT INTO carts (shopper) VALUES (?); DELETE FROM carts WHERE shopper = ?; \
                    APPLY BATCH";
        assert_eq!((statement(batch).text.as_str(), batch.markers), (text, 2));
        assert_eq!(log.values(batch).collect::<Vec<_>>(), [Value::Bytes(b"bob"), Value::Bytes(b"")]);

        assert_eq!(
            (statement(last).consistency.as_deref(), statement(last).serial.as_deref()),
            (Some("quorum"), Some("local_serial"))
        );
        let summary = log.summary();
        assert_eq!((summary.end_us - summary.begin_us, summary.is_cut), (2_000, false));
    }
}

#[test]
fn a_file_that_is_still_written_is_read_as_far_as_it_is() {
    let whole = read(&written(V5_0, true).file());
    assert_eq!((whole.requests().len(), whole.summary().is_cut), (3, false));
    let mut begun = written(V5_0, true);
    begun.document(0x8000_0000, &[]);
    let cut = read(&begun.file());
    assert_eq!((cut.requests().len(), cut.summary().is_cut), (3, true));
}

#[test]
fn several_files_become_one_log_in_the_order_of_time() {
    let mut log = Log::default();
    let one = |at_ms| {
        let mut queue = Queue::new(V5_0, true);
        queue.record(&V5_0.single(at_ms, 4, &options(4, 1, None, &[Some(b"k")]), None, READ));
        queue.ended()
    };
    log.read_full_query_log(&one(NOW_MS + 1_000)).unwrap();
    log.read_full_query_log(&one(NOW_MS)).unwrap();
    log.finish();
    let times: Vec<u64> = log.requests().iter().map(|request| request.at_us).collect();
    assert_eq!(times, [1_764_180_000_123_000, 1_764_180_001_123_000]);
    assert_eq!((log.statements().len(), log.statements()[0].requests), (1, 2));
}

#[test]
fn of_several_nodes_the_one_whose_log_has_holes_is_named() {
    let written = |seconds: &Range<i64>| {
        let mut queue = Queue::new(V5_0, true);
        for at_ms in (seconds.start * 1_000..seconds.end * 1_000).step_by(10) {
            queue.record(&V5_0.single(NOW_MS + at_ms, 4, &options(4, 1, None, &[Some(b"k")]), None, READ));
        }
        queue.ended()
    };
    let summary = |files: &[(&str, Range<i64>)]| {
        let mut log = Log::default();
        for (node, seconds) in files {
            log.of_node(node);
            log.read_full_query_log(&written(seconds)).unwrap();
        }
        log.finish();
        log.summary()
    };
    let whole = summary(&[("db1", 0..10), ("db2", 0..10)]);
    assert_eq!((whole.gaps.number, whole.gaps_of), (0, None));
    // What db1 has recorded meanwhile hides nothing.
    let holed = summary(&[("db1", 0..10), ("db2", 0..4), ("db2", 6..10)]);
    assert_eq!((holed.gaps.number, holed.gaps_of.as_deref()), (1, Some("db2")));
    let late = summary(&[("db1", 3..10), ("db2", 0..10)]);
    assert_eq!((late.gaps.number, late.gaps_of.as_deref(), late.gaps.longest_s), (1, Some("db1"), 3.0));
    let alone = summary(&[("db2", 0..4), ("db2", 6..10)]);
    assert_eq!((alone.gaps.number, alone.gaps_of), (1, None));
}

#[test]
fn a_further_page_of_a_result_is_counted_and_left_out() {
    let mut queue = Queue::new(V5_0, true);
    queue.record(&V5_0.single(NOW_MS, 4, &options(4, 1, None, &[Some(b"k")]), None, READ));
    // ONE; a paging state of one byte.
    queue.record(&V5_0.single(NOW_MS + 1, 4, &[0, 1, 0x08, 0, 0, 0, 1, 7], None, READ));
    let log = read(&queue.ended());
    assert_eq!((log.requests().len(), log.summary().later_pages), (1, 1));
}

#[test]
fn what_is_no_log_is_refused_with_the_reason() {
    assert_eq!(refused(b"{}"), "byte 0: this is no file of a full query log (Chronicle Queue, .cq4): it is too short");
    assert!(refused(b"{\"at\": 1}").contains("its first document is no header"));
    assert!(refused(&[0x10, 0, 0, 0x40, 1]).contains("its header is cut"));
    assert!(refused(&[4, 0, 0, 0x40, 1, 2, 3, 4]).contains("its header has another type"));
}

#[test]
fn a_broken_record_is_refused_at_its_byte() {
    let good = V5_0.single(NOW_MS, 4, &options(4, 1, None, &[]), None, READ);
    let with = |record: &[u8]| {
        let mut queue = Queue::new(V5_0, true);
        queue.record(record);
        refused(&queue.file())
    };
    assert!(with(&good[..good.len() - 1]).contains("bytes belong here, and the record has"));
    // The name of a field and its length, the code of a byte, the byte.
    let of_version_1 = [&good[..9], &[1], &good[10..]].concat();
    assert!(with(&of_version_1).ends_with("a record of version 1, and only 0 is known"));
    assert!(with(&V5_0.single(NOW_MS, 99, &options(4, 1, None, &[]), None, READ)).contains("protocol-version 99"));
    assert!(with(&V5_0.single(NOW_MS, 4, &[0], None, READ)).contains("query-options: they end too early"));
    assert!(
        with(&V5_0.single(-1, 4, &options(4, 1, None, &[]), None, READ)).contains("query-start-time -1 is no moment")
    );
    assert!(
        with(&V5_0.batch(NOW_MS, &options(5, 1, None, &[]), "OTHER", &[])).contains("batch-type OTHER is not known")
    );
    let message = text(Some("user:cassandra|type:SELECT|category:QUERY|operation:SELECT * FROM carts"));
    let audit = [field("version"), V5_0.integer(0), field("type"), text(Some("audit")), field("message"), message];
    assert!(with(&audit.concat()).contains("an audit log has no values of prepared statements"));
    let copied_half = written(V5_0, true).file();
    assert!(refused(&copied_half[..copied_half.len() - 4_100]).contains("it was not copied whole"));
}

proptest! {
    /// Whatever one changed byte does: the file is read or refused, and nothing of its lengths is believed.
    #[test]
    fn no_byte_makes_it_panic(is_of_4_1: bool, at in 0_usize..1_000, byte: u8, length in 0_usize..5_000) {
        let mut bytes = written(if is_of_4_1 { V4_1 } else { V5_0 }, true).ended();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = Log::default().read_full_query_log(&bytes);
        let _ = Log::default().read_full_query_log(&bytes[..length.min(bytes.len())]);
    }
}
