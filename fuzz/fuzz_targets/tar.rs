//! Headers of an archive from a store: what they name lies below where it is restored.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../crates/datasets/src/tar.rs"]
mod tar;

fuzz_target!(|bytes: &[u8]| {
    let Some(header) = bytes.first_chunk::<512>() else { return };
    if let Ok(entry) = tar::entry(header) {
        let is_below = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
        assert!(entry.path.components().all(is_below), "{}", entry.path.display());
    }
});
