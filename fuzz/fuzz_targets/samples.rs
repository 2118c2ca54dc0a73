//! Samples of a host in Parquet. The parquet crate panics at some of what makes no sense; the decoder makes that an
//! error.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: {
        // A panic that is caught is no crash: the fuzzer's own hook would end the process.
        std::panic::set_hook(Box::new(|_| {}));
    },
    |bytes: &[u8]| {
        let _ = archive::fuzzing::samples(bytes);
    }
);
