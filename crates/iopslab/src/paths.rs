//! Where things live on this machine, and the variables that move them.

use std::path::PathBuf;

/// Downloads: `IOPSLAB_CACHE`, else the user's cache directory.
pub fn cache_directory() -> PathBuf {
    if let Some(set) = std::env::var_os("IOPSLAB_CACHE") {
        return set.into();
    }
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .unwrap_or_else(|| PathBuf::from("/var/tmp"));
    base.join("iopslab")
}

/// Volumes, snapshots and the ledger: `IOPSLAB_WORK`,
/// else `/var/tmp/iopslab` (a real disk, unlike `/tmp` on many systems).
pub fn work_directory() -> PathBuf {
    std::env::var_os("IOPSLAB_WORK").map_or_else(|| PathBuf::from("/var/tmp/iopslab"), PathBuf::from)
}
