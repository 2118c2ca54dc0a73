//! A list of hashes (`run.sha256`): it names nothing outside of its run.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = archive::fuzzing::hashes(bytes);
});
