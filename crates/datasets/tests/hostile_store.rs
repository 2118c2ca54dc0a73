//! A store that somebody else may write to: its parts are regular files of it, and nothing else is read.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use datasets::{Layout, PartsLocation, StoreError, keep, restore};
use evidence::KeptPart;
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// Why parts are refused, which takes no time.
fn refused(parts: &[KeptPart], store: &Path, into: &Path) -> String {
    let place = PartsLocation::Directory { store: store.to_owned(), key: "key".into() };
    let began = Instant::now();
    let refused = restore(parts, &place, into, &mut |_| true).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(60), "{refused}");
    assert!(matches!(refused, StoreError::Damaged(_)), "{refused}");
    refused.to_string()
}

/// A pipe was waited for, a device read for ever, and any other file of the host confirmed to have a hash, or not.
#[test]
fn a_part_is_a_regular_file_of_its_store_or_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let [data, store, into] = ["data", "store", "into"].map(|name| directory.path().join(name));
    fs::create_dir(&data).unwrap();
    fs::write(data.join("a"), "a").unwrap();
    let place = PartsLocation::Directory { store: store.clone(), key: "key".into() };
    let parts = keep(&Layout::of(&data).unwrap(), &place, "loading-1", 7_000, &mut |_| true).unwrap();

    fs::write(directory.path().join("secret"), "s").unwrap();
    for name in ["../../secret", "loading-1/../../../secret", "/etc/passwd", ".."] {
        let mut elsewhere = parts.clone();
        name.clone_into(&mut elsewhere[0].name);
        let words = refused(&elsewhere, &store, &into);
        assert!(words.contains(name) && words.contains("leaves its directory"), "{words}");
    }
    let (name, part) = (&parts[0].name, store.join("key").join(&parts[0].name));
    fs::remove_file(&part).unwrap();
    mknodat(CWD, &part, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let words = refused(&parts, &store, &into);
    assert!(words.contains(name) && words.contains("it is a pipe"), "{words}");
    fs::remove_file(&part).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &part).unwrap();
    let words = refused(&parts, &store, &into);
    assert!(words.contains(name) && words.contains("it is a symbolic link"), "{words}");
}
