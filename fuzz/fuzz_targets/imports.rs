//! Any text is read as results of another tool, as an HdrHistogram log beside some, or as the map of a study, or
//! refused with a reason; nothing panics, and what is read can stand in a record.
#![no_main]

use evidence::ClientResult;
use libfuzzer_sys::fuzz_target;

const YCSB: &str = include_str!("../seeds/imports/ycsb-read-modify-write.txt");

fuzz_target!(|text: &str| {
    match imports::read(text, None) {
        Err(refusal) => assert!(!refusal.message.is_empty()),
        Ok(results) => {
            let client = ClientResult {
                measured_s: results.measured_s,
                completed: results.completed,
                errors: results.failed,
                ..ClientResult::default()
            };
            assert!(client.measured_s > 0.0);
            client.check().expect("what is read can stand in a record");
        }
    }
    let _ = imports::read(text, Some(experiment::OperationKind::Read));
    let mut beside = imports::read(YCSB, None).expect("a seed is read");
    if let Err(refusal) = imports::take_histograms(&mut beside, text) {
        assert!(!refusal.message.is_empty());
    }
    if let Err(wrong) = imports::Study::read(text) {
        assert!(!wrong.is_empty());
    }
});
