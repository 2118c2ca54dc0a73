//! What a JVM answers, in Java's serialization.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The decoder alone, without the database and its driver: they would compile for minutes.
#[allow(dead_code, unused_imports)]
#[path = "../../crates/database/src/cassandra/serialized.rs"]
mod serialized;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mut stream) = serialized::Stream::open(bytes) {
        while stream.value().is_ok() {}
    }
});
