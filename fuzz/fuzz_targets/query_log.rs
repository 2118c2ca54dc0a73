//! Any bytes are read as a file of Cassandra's full query log, or as JSON Lines, or refused with a reason; nothing
//! panics, no length of theirs is believed, and what is read can be asked for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use query_log::{Log, LogError, MOST_VALUE_BYTES};

fn check(bytes: &[u8], read: impl Fn(&mut Log) -> Result<(), LogError>) {
    let mut log = Log::default();
    if let Err(error) = read(&mut log) {
        assert!(!error.message.is_empty());
    }
    log.finish();
    let mut value_bytes = 0;
    for request in log.requests() {
        assert!((request.statement as usize) < log.statements().len());
        assert_eq!(log.values(request).count(), usize::from(request.markers));
        value_bytes += log.values(request).count() * 4;
    }
    assert!(value_bytes <= MOST_VALUE_BYTES && log.requests().len() <= bytes.len());
    let summary = log.summary();
    assert!(summary.begin_us <= summary.end_us && summary.gaps.longest_s.is_finite());
}

fuzz_target!(|bytes: &[u8]| {
    check(bytes, |log| log.read_full_query_log(bytes));
    check(bytes, |log| log.read_json_lines(bytes));
});
