//! The ledger of what a killed run has left on a machine.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Write as _;

fuzz_target!(|bytes: &[u8]| {
    let path = std::path::PathBuf::from(format!("/dev/shm/iopslab-fuzz-ledger-{}", std::process::id()));
    if std::fs::File::create(&path).and_then(|mut file| file.write_all(bytes)).is_ok() {
        let _ = storage::Ledger::outstanding(&path);
        let _ = std::fs::remove_file(&path);
    }
});
