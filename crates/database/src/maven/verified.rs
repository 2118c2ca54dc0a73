//! What the cache remembers of the jars that it has hashed, so that they need not be hashed at every start.

use std::{
    fs::File,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::error::DistributionError;
use super::locked::Locked;

/// The cache's memory of what it has hashed.
pub(crate) struct Verified {
    path: PathBuf,
    lines: Vec<String>,
    changed: bool,
}

impl Verified {
    pub(crate) fn load(path: &Path) -> Self {
        // Unreadable means nothing verified: everything is hashed again.
        let lines = std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect();
        Self { path: path.to_owned(), lines, changed: false }
    }

    /// Whether the jar is there and is what the lock list says; a wrong one is removed so that it is fetched again.
    pub(crate) fn check(&mut self, jar: &Locked, path: &Path) -> Result<bool, DistributionError> {
        let failed = |source| DistributionError::Io { path: path.to_owned(), source };
        let there = guarded::if_there(std::fs::metadata(path)).map_err(failed)?;
        let Some(metadata) = there else { return Ok(false) };
        if self.lines.contains(&line(jar, &metadata)) {
            return Ok(true);
        }
        let good = metadata.len() == jar.size_bytes
            && File::open(path).and_then(guarded::sha256).map_err(failed)? == jar.sha256;
        if good {
            self.note(jar, path)?;
        } else {
            tracing::warn!(file = %path.display(), "cached jar is not what the lock list says; it is fetched again");
            std::fs::remove_file(path).map_err(failed)?;
        }
        Ok(good)
    }

    pub(crate) fn note(&mut self, jar: &Locked, path: &Path) -> Result<(), DistributionError> {
        let metadata =
            std::fs::metadata(path).map_err(|source| DistributionError::Io { path: path.to_owned(), source })?;
        self.lines.retain(|known| !known.ends_with(&format!(" {}", jar.path)));
        self.lines.push(line(jar, &metadata));
        self.changed = true;
        Ok(())
    }

    pub(crate) fn store(&self) -> Result<(), DistributionError> {
        if !self.changed {
            return Ok(());
        }
        let text = self.lines.join("\n") + "\n";
        guarded::replace(&self.path, text.as_bytes(), 0o644)
            .map_err(|source| DistributionError::Io { path: self.path.clone(), source })
    }
}

fn line(jar: &Locked, metadata: &std::fs::Metadata) -> String {
    format!("{} {} {}.{:09} {}", jar.sha256, metadata.len(), metadata.mtime(), metadata.mtime_nsec(), jar.path)
}
