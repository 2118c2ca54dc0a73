//! Any text is read as a YCSB property file or refused with a reason; neither panics.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = workload::parse_ycsb("fuzz", text) {
        assert!(!error.to_string().is_empty());
    }
});
