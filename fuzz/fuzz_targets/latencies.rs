//! A log of histograms, line by line.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = archive::fuzzing::latencies(bytes);
});
