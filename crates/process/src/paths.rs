//! Where things live on this machine, and the variables that move them.
//!
//! What is acted upon as root lies where root alone can write: never below a directory such as `/var/tmp`, in which
//! everybody may make the first step.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
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
    let (stated, home) = (std::env::var_os(kind.variable), std::env::var_os("HOME"));
    place(kind, rustix::process::geteuid().is_root(), stated, home)
}

fn place(kind: &Kind, is_root: bool, stated: Option<OsString>, home: Option<OsString>) -> PathBuf {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let of_home = || Some(home.and_then(absolute)?.join(kind.below_home));
    let base = match is_root {
        true => None,
        // Without a home there is no directory of one's own; root's then says by itself who may write there.
        false => stated.and_then(absolute).or_else(of_home),
    };
    base.unwrap_or_else(|| PathBuf::from(kind.of_root)).join("iopslab")
}

/// Writes a document of ours: whole, or not there. Its directory is made where it is missing.
pub fn keep_json(path: &Path, document: &impl Serialize, mode: u32) -> std::io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    guarded::replace(path, &serde_json::to_vec_pretty(document)?, mode)
}

/// Where the work directory was by default in earlier versions: everybody may make it there first.
const BEFORE: &str = "/var/tmp/iopslab";

/// What is left in the place of earlier versions.
pub struct Left {
    /// In words.
    pub what: String,
    /// What removes it.
    pub command: String,
}

/// A work directory of this user's in the place of earlier versions, which nothing uses any more.
pub fn left_before() -> Option<Left> {
    let about = std::fs::symlink_metadata(BEFORE).ok()?;
    let is_own = about.is_dir() && about.uid() == rustix::process::geteuid().as_raw();
    (is_own && work_directory() != Path::new(BEFORE)).then(|| Left {
        what: format!("{BEFORE} is a work directory of an earlier version, which nothing uses any more"),
        command: format!("iopslab clean --work-directory {BEFORE} --snapshots && rm -r {BEFORE}"),
    })
}

/// What whoever measures on this machine holds: `IOPSLAB_MACHINE_LOCK`, else a file of root's in `/run`; `None`:
/// without root there is no place that all see.
pub fn machine_lock() -> Option<PathBuf> {
    let stated = std::env::var_os("IOPSLAB_MACHINE_LOCK").map(PathBuf::from);
    let is_root = rustix::process::geteuid().is_root();
    stated.or_else(|| is_root.then(|| PathBuf::from("/run/iopslab/measuring")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_the_system_s_places_and_others_their_own_or_none() {
        let (cache, state) = (place_of(&CACHE), place_of(&STATE));
        for (is_root, stated, home, of_cache, of_state) in [
            (true, Some("/mine"), Some("/home/me"), "/var/cache/iopslab", "/var/lib/iopslab"),
            (true, None, None, "/var/cache/iopslab", "/var/lib/iopslab"),
            (false, Some("/mine"), Some("/home/me"), "/mine/iopslab", "/mine/iopslab"),
            (false, None, Some("/home/me"), "/home/me/.cache/iopslab", "/home/me/.local/state/iopslab"),
            // The specification has a relative one ignored, and nobody's home is wherever one happens to be.
            (false, Some("mine"), Some("/home/me"), "/home/me/.cache/iopslab", "/home/me/.local/state/iopslab"),
            (false, None, Some(""), "/var/cache/iopslab", "/var/lib/iopslab"),
            (false, Some(""), Some("."), "/var/cache/iopslab", "/var/lib/iopslab"),
            (false, None, None, "/var/cache/iopslab", "/var/lib/iopslab"),
        ] {
            assert_eq!(cache(is_root, stated, home), Path::new(of_cache), "{is_root} {stated:?} {home:?}");
            assert_eq!(state(is_root, stated, home), Path::new(of_state), "{is_root} {stated:?} {home:?}");
        }
    }

    fn place_of(kind: &Kind) -> impl Fn(bool, Option<&str>, Option<&str>) -> PathBuf {
        move |is_root, stated, home| place(kind, is_root, stated.map(OsString::from), home.map(OsString::from))
    }
}
