//! Files read into the page cache, so that a trial can begin with a warm one.
//!
//! Whoever brings a page in is charged for it (Documentation/admin-guide/cgroup-v1/memory.rst, "Accounting details";
//! the same in version 2): the reader must be in the cgroup whose limit is to hold the pages. Where not everything
//! fits, runs of 1 MiB at equal distances are read, of every file the same share: chunks of a table lie in the order of
//! hashed keys, so that one run is as popular as another, and a chunk is seldom cut in two.
//!
//! Root does this in directories of the database's user while the database runs, which may exchange anything there for
//! anything else at any moment. So directories are opened one inside the other through no link, and files below them
//! likewise; and what such a directory says of itself is bounded before memory or time is given to it: a hole in a file
//! costs nothing, and makes it as long as one likes.

use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, AtFlags, CWD, Dir, FileType, Mode, fadvise, fstatvfs, openat, statat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::{Result, io_error};
use crate::tree::DIRECTORY;

/// Bytes that are read in one piece.
const RUN_BYTES: u64 = 1 << 20;
/// Names below the directory of a data set; a table has 8 to 10 for each of its SSTables, which are thousands at most.
const MOST_NAMES: u64 = 1 << 20;
/// Directories inside one another: keyspaces, tables, what is copied or indexed below these.
const MOST_DEPTH: usize = 16;

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFiles {
    /// Bytes read.
    pub bytes: u64,
    /// Bytes of all files.
    pub of_bytes: u64,
}

/// Reads the files below these directories, or the same share of each of them, so that it comes to `most_bytes`.
/// `goes_on` gets after each piece how far it is, and says whether to go on. Errors: a directory or file that cannot be
/// read. One that is gone is none: a database removes files when it has compacted them.
pub fn read_files(
    directories: &[PathBuf],
    most_bytes: u64,
    goes_on: &mut dyn FnMut(ReadFiles) -> bool,
) -> Result<ReadFiles> {
    let mut files: Vec<(&Path, PathBuf, u64)> = Vec::new();
    for directory in directories {
        files.extend(list(directory)?.into_iter().map(|(file, bytes)| (directory.as_path(), file, bytes)));
    }
    files.sort();
    let of_bytes = files.iter().map(|(_, _, bytes)| *bytes).fold(0, u64::saturating_add);
    let share = (most_bytes as f64 / of_bytes.max(1) as f64).min(1.0);
    let mut buffer = vec![0; RUN_BYTES as usize];
    let mut so_far = ReadFiles { bytes: 0, of_bytes };
    for (directory, name, length) in &files {
        let Some(file) = open(directory, name)? else { continue };
        for (from, to) in runs(*length, share) {
            let read = read(&file, from..to, &mut buffer);
            so_far.bytes += read.map_err(|error| io_error("read", &directory.join(name))(error))?;
            if !goes_on(so_far) {
                return Ok(so_far);
            }
        }
    }
    Ok(so_far)
}

/// Regular files below a directory, by their paths relative to it and in the order of these, with their lengths.
///
/// The way to the directory is ours; itself it may be no link. A file that says to be longer than what its file system
/// could still hold beside the others is none of a data set, and passed over.
pub(crate) fn list(directory: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let opened = openat(CWD, directory, DIRECTORY, Mode::empty()).map_err(io_error("list", directory))?;
    let about = fstatvfs(&opened).map_err(io_error("examine the file system of", directory))?;
    list_within(&opened, directory, about.f_blocks.saturating_mul(about.f_frsize))
}

fn list_within(opened: &OwnedFd, directory: &Path, most_bytes: u64) -> Result<Vec<(PathBuf, u64)>> {
    let mut list = List { root: directory, files: Vec::new(), names_left: MOST_NAMES, bytes_left: most_bytes };
    list.add(opened, Path::new(""), 0)?;
    list.files.sort();
    Ok(list.files)
}

/// What was found below a directory, and how much more may be.
struct List<'p> {
    root: &'p Path,
    files: Vec<(PathBuf, u64)>,
    names_left: u64,
    bytes_left: u64,
}

impl List<'_> {
    /// Adds what is in a directory that is open, at its path relative to the root.
    fn add(&mut self, directory: &OwnedFd, below: &Path, depth: usize) -> Result<()> {
        let place = self.root.join(below);
        let refused = |what: &str| Err(io_error("list", &place)(std::io::Error::other(what)));
        if depth > MOST_DEPTH {
            return refused("more directories lie inside one another than a data set has");
        }
        for entry in Dir::read_from(directory).map_err(io_error("list", &place))? {
            let entry = entry.map_err(io_error("list", &place))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let Some(left) = self.names_left.checked_sub(1) else {
                return refused("there are more files than a data set has");
            };
            self.names_left = left;
            let about = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                about => about.map_err(io_error("examine", &place.join(name)))?,
            };
            match FileType::from_raw_mode(about.st_mode) {
                FileType::Directory => match openat(directory, name, DIRECTORY, Mode::empty()) {
                    Err(Errno::NOENT) => {}
                    opened => {
                        let opened = opened.map_err(io_error("list", &place.join(name)))?;
                        self.add(&opened, &below.join(name), depth + 1)?;
                    }
                },
                FileType::RegularFile => {
                    let bytes = u64::try_from(about.st_size).unwrap_or_default();
                    if let Some(left) = self.bytes_left.checked_sub(bytes) {
                        self.bytes_left = left;
                        self.files.push((below.join(name), bytes));
                    }
                }
                // Links, pipes, sockets and devices are not data.
                _ => {}
            }
        }
        Ok(())
    }
}

/// A file below a directory, at its path relative to it, as [`list`] has found it; `None`: it is gone.
pub(crate) fn open(directory: &Path, file: &Path) -> Result<Option<File>> {
    let path = directory.join(file);
    // The database is at work there: the directory itself may have become a link, too.
    let opened = match (directory.parent(), directory.file_name()) {
        (Some(parent), Some(name)) if parent != Path::new("") => {
            guarded::open_below(parent, &Path::new(name).join(file))
        }
        _ => guarded::open_below(directory, file),
    };
    let Some(file) = guarded::if_there(opened).map_err(io_error("open", &path))? else { return Ok(None) };
    // Nothing is read besides what is asked for.
    fadvise(&file, 0, None, Advice::Random).map_err(io_error("advise on", &path))?;
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
    use std::fs;
    use std::os::unix::fs::symlink;

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

    fn pipe(path: &Path) {
        rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    #[test]
    fn what_is_no_file_of_the_directory_is_neither_listed_nor_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("ks/table")).unwrap();
        fs::create_dir_all(at("outside/table")).unwrap();
        fs::write(at("ks/table/Data.db"), "data").unwrap();
        fs::write(at("outside/table/Data.db"), "of somebody else").unwrap();
        symlink(at("outside/table/Data.db"), at("ks/table/link.db")).unwrap();
        symlink(at("outside/table"), at("ks/linked")).unwrap();
        pipe(&at("ks/table/pipe.db"));
        assert_eq!(list(&at("ks")).unwrap(), [(PathBuf::from("table/Data.db"), 4)]);
        let opened = |file: &str| open(&at("ks"), Path::new(file));
        assert!(opened("table/Data.db").unwrap().is_some());
        assert!(opened("table/gone.db").unwrap().is_none());
        for refused in ["table/pipe.db", "table/link.db", "linked/Data.db", "table", "../outside/table/Data.db"] {
            assert!(opened(refused).is_err(), "{refused}");
        }
        // What was a directory when it was listed is a link when it is opened.
        fs::rename(at("ks"), at("was-ks")).unwrap();
        symlink(at("outside"), at("ks")).unwrap();
        assert!(opened("table/Data.db").is_err());
        assert!(list(&at("ks")).is_err());
        assert!(read_files(&[at("ks")], 1 << 20, &mut |_| true).is_err());
    }

    #[test]
    fn a_file_that_its_file_system_could_not_hold_is_passed_over_and_depth_has_an_end() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let of_length = |name: &str, bytes: u64| {
            fs::write(at(name), "").unwrap();
            File::options().write(true).open(at(name)).unwrap().set_len(bytes).unwrap();
        };
        of_length("a", 1 << 40);
        of_length("b", 600);
        of_length("c", 400);
        let opened = || openat(CWD, directory.path(), DIRECTORY, Mode::empty()).unwrap();
        let names =
            |most_bytes| -> Vec<(PathBuf, u64)> { list_within(&opened(), directory.path(), most_bytes).unwrap() };
        assert_eq!(names(1_000), [(PathBuf::from("b"), 600), (PathBuf::from("c"), 400)]);
        assert_eq!(names(999).len(), 1, "one of both");
        let deep = (0..20).fold(directory.path().to_owned(), |path, _| path.join("d"));
        fs::create_dir_all(deep).unwrap();
        let refusal = list(directory.path()).unwrap_err().to_string();
        assert!(refusal.contains("inside one another"), "{refusal}");
    }
}
