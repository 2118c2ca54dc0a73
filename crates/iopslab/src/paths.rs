//! Where things live on this machine, and the variables that move them.
//!
//! What is acted upon as root lies where root alone can write: never below a directory such as `/var/tmp`, in which
//! everybody may make the first step.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// What a directory is for, by the file hierarchy standard for root and by the XDG base directory specification for
/// others.
struct Kind {
    of_root: &'static str,
    variable: &'static str,
    below_home: &'static str,
}

const CACHE: Kind = Kind { of_root: "/var/cache", variable: "XDG_CACHE_HOME", below_home: ".cache" };
const STATE: Kind = Kind { of_root: "/var/lib", variable: "XDG_STATE_HOME", below_home: ".local/state" };

/// Downloads: `IOPSLAB_CACHE`, else `/var/cache/iopslab` for root, and the user's cache directory for others.
pub fn cache_directory() -> PathBuf {
    std::env::var_os("IOPSLAB_CACHE").map_or_else(|| usual(&CACHE), PathBuf::from)
}

/// Volumes, snapshots and the ledger: `IOPSLAB_WORK`, else `/var/lib/iopslab` for root, and the user's state directory
/// for others.
pub fn work_directory() -> PathBuf {
    std::env::var_os("IOPSLAB_WORK").map_or_else(|| usual(&STATE), PathBuf::from)
}

fn usual(kind: &Kind) -> PathBuf {
    let stated = || std::env::var_os(kind.variable).map(PathBuf::from);
    let of_home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(kind.below_home));
    let of_user = || stated().filter(|path| path.is_absolute()).or_else(of_home);
    let base = match rustix::process::geteuid().is_root() {
        true => None,
        // Without a home there is no directory of one's own; root's then says by itself who may write there.
        false => of_user(),
    };
    base.unwrap_or_else(|| PathBuf::from(kind.of_root)).join("iopslab")
}

/// Writes a document of ours: whole, or not there. Its directory is made where it is missing.
pub fn keep_json(path: &Path, document: &impl Serialize, mode: u32) -> std::io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    guarded::replace(path, &serde_json::to_vec_pretty(document)?, mode)
}

/// What whoever measures on this machine holds: `IOPSLAB_MACHINE_LOCK`, else a file of root's in `/run`; `None`:
/// without root there is no place that all see.
pub fn machine_lock() -> Option<PathBuf> {
    let stated = std::env::var_os("IOPSLAB_MACHINE_LOCK").map(PathBuf::from);
    let is_root = rustix::process::geteuid().is_root();
    stated.or_else(|| is_root.then(|| PathBuf::from("/run/iopslab/measuring")))
}
