//! Requests of the kernel to the volume server.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../crates/served/src/fuse.rs"]
mod fuse;

fuzz_target!(|bytes: &[u8]| {
    let _ = fuse::parse(bytes);
});
