//! Files read into the page cache, so that a trial can begin with a warm one.
//!
//! Whoever brings a page in is charged for it (Documentation/admin-guide/cgroup-v1/memory.rst, "Accounting details";
//! the same in version 2): the reader must be in the cgroup whose limit is to hold the pages. Where not everything
//! fits, runs of 1 MiB at equal distances are read, of every file the same share: chunks of a table lie in the order of
//! hashed keys, so that one run is as popular as another, and a chunk is seldom cut in two.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, fadvise};
use serde::{Deserialize, Serialize};

use crate::error::{Result, io_error};

/// Bytes that are read in one piece.
const RUN_BYTES: u64 = 1 << 20;

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFiles {
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of all files.
    pub of_bytes: u64,
}

/// Reads the files below these directories, or the same share of each of them, so that it comes to `most_bytes`.
/// `goes_on` gets after each piece how far it is, and says whether to go on.
///
/// # Errors
/// A directory or file that cannot be read. One that is gone is none: a database removes files when it has compacted
/// them.
pub fn read_files(
    directories: &[PathBuf],
    most_bytes: u64,
    goes_on: &mut dyn FnMut(ReadFiles) -> bool,
) -> Result<ReadFiles> {
    let mut files = Vec::new();
    for directory in directories {
        list(directory, &mut files)?;
    }
    files.sort();
    let of_bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    let share = (most_bytes as f64 / of_bytes.max(1) as f64).min(1.0);
    let mut buffer = vec![0; RUN_BYTES as usize];
    let mut so_far = ReadFiles { bytes: 0, of_bytes };
    for (path, length) in &files {
        let Some(file) = open(path)? else { continue };
        for (from, to) in runs(*length, share) {
            so_far.bytes += read(&file, from..to, &mut buffer).map_err(io_error("read", path))?;
            if !goes_on(so_far) {
                return Ok(so_far);
            }
        }
    }
    Ok(so_far)
}

pub(crate) fn list(directory: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    for entry in fs::read_dir(directory).map_err(io_error("list", directory))? {
        let path = entry.map_err(io_error("list", directory))?.path();
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => list(&path, files)?,
            Ok(metadata) if metadata.is_file() => files.push((path, metadata.len())),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(io_error("examine", &path)(error)),
        }
    }
    Ok(())
}

/// `None`: it is gone.
pub(crate) fn open(path: &Path) -> Result<Option<File>> {
    // The database is at work there: it was a file a moment ago.
    let file = match guarded::open_no_link(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(io_error("open", path))?,
    };
    // Nothing is read besides what is asked for.
    fadvise(&file, 0, None, Advice::Random).map_err(io_error("advise on", path))?;
    Ok(Some(file))
}

/// This share of a file, in runs at equal distances.
fn runs(length: u64, share: f64) -> impl Iterator<Item = (u64, u64)> {
    let taken = move |runs: u64| (runs as f64 * share) as u64;
    (0..length.div_ceil(RUN_BYTES))
        .filter(move |run| taken(run + 1) > taken(*run))
        .map(move |run| (run * RUN_BYTES, length.min((run + 1) * RUN_BYTES)))
}

/// Bytes that were there.
pub(crate) fn read(file: &File, bytes: Range<u64>, buffer: &mut [u8]) -> std::io::Result<u64> {
    let mut at = bytes.start;
    while at < bytes.end {
        match file.read_at(&mut buffer[..(bytes.end - at) as usize], at)? {
            0 => break,
            n => at += n as u64,
        }
    }
    Ok(at - bytes.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_the_files_are_read_or_the_same_share_of_each() {
        let directory = tempfile::tempdir().unwrap();
        let table = directory.path().join("table");
        fs::create_dir(&table).unwrap();
        fs::write(table.join("Data.db"), vec![1; 10 << 20]).unwrap();
        fs::write(table.join("Index.db"), vec![2; (2 << 20) + 5]).unwrap();
        let directories = [directory.path().to_owned()];
        let all = (12 << 20) + 5;
        let read = |most| read_files(&directories, most, &mut |_| true).unwrap();
        assert_eq!(read(1 << 30), ReadFiles { bytes: all, of_bytes: all });
        // Half of ten runs, and one of three.
        assert_eq!(read(all / 2 + 1).bytes, 6 << 20);
        assert_eq!(read(0).bytes, 0);
        let one_piece = read_files(&directories, all, &mut |_| false).unwrap();
        assert_eq!(one_piece.bytes, 1 << 20);
        assert!(read_files(&[directory.path().join("none")], 1, &mut |_| true).is_err());
    }
}
