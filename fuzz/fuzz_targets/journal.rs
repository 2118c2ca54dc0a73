//! A journal that somebody else may have written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = archive::fuzzing::journal(bytes);
});
