//! Logs of a trial while they arrive, piece by piece: none of them is ever whole in memory.
//!
//! They are written aside, hashed as they come, and renamed into the trial's directory when it is stored.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::files::{create_directories, plain_name, remove_directory};
use crate::{Result, RunError};

/// The logs of one trial, complete once [`crate::RunDirectory::write_trial`] takes them. Dropped before, nothing of
/// them remains.
#[derive(Debug)]
pub struct TrialLogs {
    directory: PathBuf,
    files: BTreeMap<String, Arriving>,
}

#[derive(Debug)]
struct Arriving {
    file: File,
    hash: Sha256,
}

impl TrialLogs {
    /// None yet; `directory` is made with the first one.
    pub(crate) fn aside(directory: PathBuf) -> Result<Self> {
        remove_directory(&directory)?;
        Ok(Self { directory, files: BTreeMap::new() })
    }

    /// Adds bytes to the end of a log, which begins with the first of them.
    ///
    /// # Errors
    /// [`RunError::DiskFull`]; [`RunError::BadName`] for a name that leaves the trial's directory.
    pub fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.directory.join(plain_name(name)?);
        if !self.files.contains_key(name) {
            create_directories(&self.directory)?;
            let file = guarded::create(&path).map_err(|e| RunError::file("create", &path, e))?;
            let hash = Sha256::new();
            self.files.insert(name.to_owned(), Arriving { file, hash });
        }
        if let Some(arriving) = self.files.get_mut(name) {
            let written = arriving.file.write_all(bytes);
            written.map_err(|e| RunError::file("write", &path, e))?;
            arriving.hash.update(bytes);
        }
        Ok(())
    }

    /// Puts them into a trial's directory, each on the device; gives the hash of each by its name.
    pub(crate) fn place(mut self, trial: &Path) -> Result<Vec<(String, String)>> {
        let mut hashes = Vec::new();
        for (name, arrived) in std::mem::take(&mut self.files) {
            let (from, to) = (self.directory.join(&name), trial.join(&name));
            arrived.file.sync_all().map_err(|e| RunError::file("fsync", &from, e))?;
            fs::rename(&from, &to).map_err(|e| RunError::file("rename to", &to, e))?;
            hashes.push((name, guarded::hex(&arrived.hash.finalize())));
        }
        Ok(hashes)
    }
}

impl Drop for TrialLogs {
    fn drop(&mut self) {
        // Whatever remains aside is never read, and is removed by the next lock.
        let _ = fs::remove_dir_all(&self.directory);
    }
}
