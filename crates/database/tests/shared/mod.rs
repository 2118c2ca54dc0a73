//! Where the jars are that `iopslab` has fetched.

use std::path::PathBuf;

/// The cache of whoever runs the tests, as the program finds it.
pub fn cache() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").expect("tests run with a home directory"));
    let usual = || match rustix::process::geteuid().is_root() {
        true => PathBuf::from("/var/cache/iopslab"),
        false => home().join(".cache/iopslab"),
    };
    std::env::var_os("IOPSLAB_CACHE").map_or_else(usual, PathBuf::from)
}
