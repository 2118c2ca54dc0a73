//! Directories elsewhere below which a work directory may make things: the data directory of a host, a place for
//! downloads, where `iopslab volume` mounts.
//!
//! They stand in a file of its own beside the ledger, so that an entry of the ledger cannot say by itself where it is
//! to be undone. They stay when the ledger is emptied: they are few, and a ledger that is open goes on with them.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use guarded::{if_there, open_private};

use crate::error::{Result, io_error};

const NAME: &str = "roots.json";
/// Its owner's alone.
const MODE: u32 = 0o600;
/// So much of it is read; what is longer cannot be understood.
const LARGEST_BYTES: u64 = 1 << 20;

/// Where the directories of the work directory `base` are recorded.
pub(crate) fn file_in(base: &Path) -> PathBuf {
    base.join(NAME)
}

/// Those of the work directory `base`; none where nothing was recorded. Errors: the file is not ours alone, or cannot
/// be understood.
pub(crate) fn recorded(base: &Path) -> Result<Vec<PathBuf>> {
    let path = file_in(base);
    let opened = if_there(open_private(&path, OpenOptions::new().read(true))).map_err(io_error("open", &path))?;
    let Some(file) = opened else { return Ok(Vec::new()) };
    let mut bytes = Vec::new();
    file.take(LARGEST_BYTES).read_to_end(&mut bytes).map_err(io_error("read", &path))?;
    serde_json::from_slice(&bytes).map_err(io_error("understand", &path))
}

/// Records one more; it is on the disk when this returns.
pub(crate) fn record(base: &Path, root: &Path) -> Result<()> {
    let mut roots = recorded(base)?;
    if roots.iter().any(|known| known == root) {
        return Ok(());
    }
    roots.push(root.to_owned());
    let path = file_in(base);
    let text = serde_json::to_vec_pretty(&roots).map_err(io_error("write", &path))?;
    guarded::replace(&path, &text, MODE).map_err(io_error("write", &path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_recorded_once_and_a_file_that_is_not_ours_alone_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        assert!(recorded(base).unwrap().is_empty());
        for root in ["/mnt/a", "/mnt/b", "/mnt/a"] {
            record(base, Path::new(root)).unwrap();
        }
        assert_eq!(recorded(base).unwrap(), [PathBuf::from("/mnt/a"), PathBuf::from("/mnt/b")]);

        std::fs::rename(file_in(base), base.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(base.join("elsewhere"), file_in(base)).unwrap();
        assert!(recorded(base).is_err() && record(base, Path::new("/mnt/c")).is_err());
        std::fs::remove_file(file_in(base)).unwrap();
        std::fs::write(file_in(base), "what is this").unwrap();
        let refusal = recorded(base).unwrap_err().to_string();
        assert!(refusal.contains("cannot understand") && refusal.contains(NAME), "{refusal}");
    }
}
