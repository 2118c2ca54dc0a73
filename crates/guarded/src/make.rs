//! Files that are made: under a name that was free, or whole in the place of another.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fsync, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::hash::hex;
use crate::read::{if_there, plain_relative};

/// Random bytes of a name that nobody can guess.
const RANDOM_BYTES: usize = 12;

/// A new file with these permissions (less the umask), open to be written. Its name must be free; a link there is none.
///
/// # Errors
/// As the system says; [`io::ErrorKind::AlreadyExists`].
pub fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).custom_flags(no_link()).open(path)
}

/// A new file that everybody may read, as far as the umask has it.
///
/// # Errors
/// As [`create_new`].
pub fn create(path: &Path) -> io::Result<File> {
    create_new(path, 0o666)
}

/// A new file in the place of whatever has its name: that is removed first, never written to. A reader may find
/// neither; where that matters, [`replace`] it.
pub fn write_anew(path: &Path, mode: u32) -> io::Result<File> {
    if_there(fs::remove_file(path))?;
    create_new(path, mode)
}

/// A file with these bytes in the place of whatever has its name; readers see the old or the new one, and it is on the
/// device when this returns.
///
/// # Errors
/// As the system says; what was there is still there then.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let name = path.file_name().ok_or_else(names_no_file)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    replace_below(directory, Path::new(name), bytes, mode)
}

/// As [`write_anew`], below `root` at a relative path of which others may write to any directory: they are made where
/// they are missing, and none of them may be a link.
///
/// # Errors
/// As the system says; [`io::ErrorKind::InvalidInput`] for a path that leaves `root`.
pub fn write_anew_below(root: &Path, relative: &Path, mode: u32) -> io::Result<File> {
    let (directory, name) = parent_below(root, relative)?;
    match unlinkat(&directory, name.as_os_str(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => new_in(&directory, &name, mode),
        Err(error) => Err(error.into()),
    }
}

/// As [`replace`], below `root` as [`write_anew_below`] has it.
///
/// # Errors
/// As [`write_anew_below`]; what was there is still there then.
pub fn replace_below(root: &Path, relative: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let (directory, name) = parent_below(root, relative)?;
    let aside = aside(Path::new(&name))?;
    let write = || -> io::Result<()> {
        let mut file = new_in(&directory, aside.as_os_str(), mode)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        renameat(&directory, aside.as_os_str(), &directory, name.as_os_str())?;
        Ok(fsync(&directory)?)
    };
    let written = write();
    if written.is_err() {
        // The error above is what the user must see; what is left aside is hidden, and nothing reads it.
        let _ = unlinkat(&directory, aside.as_os_str(), AtFlags::empty());
    }
    written
}

/// The directory of a file below `root`, and the file's name.
fn parent_below(root: &Path, relative: &Path) -> io::Result<(OwnedFd, OsString)> {
    let relative = plain_relative(relative)?;
    let mut parents: Vec<&OsStr> = relative.iter().collect();
    let name = parents.pop();
    let name = name.ok_or_else(names_no_file)?;
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = openat(CWD, root, how, Mode::empty())?;
    for parent in parents {
        match mkdirat(&directory, parent, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let below = openat(&directory, parent, how | OFlags::NOFOLLOW, Mode::empty());
        directory = below.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => {
                let words = format!("{} on the way to it is a symbolic link, or no directory", parent.display());
                io::Error::new(io::ErrorKind::InvalidInput, words)
            }
            other => other.into(),
        })?;
    }
    Ok((directory, name.to_owned()))
}

/// A new file in a directory that is open.
fn new_in(directory: &OwnedFd, name: &OsStr, mode: u32) -> io::Result<File> {
    let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(openat(directory, name, how, Mode::from_raw_mode(mode))?))
}

/// A word of so many random bytes, in hexadecimal digits: four distinguish, 24 are a password.
pub fn random_word(bytes: usize) -> io::Result<String> {
    let mut random = vec![0; bytes];
    getrandom(&mut random, GetRandomFlags::empty())?;
    Ok(hex(&random))
}

/// A hidden name beside a file that nobody can guess, so that nobody can have put a link there.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for a path that names no file.
pub fn aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(names_no_file)?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", random_word(RANDOM_BYTES)?));
    Ok(path.with_file_name(hidden))
}

/// Whose name this is aside: that of the file which [`replace`] was writing when its process was killed.
pub fn of_aside(name: &str) -> Option<&str> {
    let (of, word) = name.strip_prefix('.')?.rsplit_once('.')?;
    let is_ours = word.len() == 2 * RANDOM_BYTES && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_ours.then_some(of)
}

/// A regular file open to be read and appended to, made where there is none; it may be no link, and have no second
/// name, which may lie anywhere.
///
/// # Errors
/// As the system says; [`io::ErrorKind::InvalidInput`] for what is no regular file, or has two names.
pub fn open_to_append(path: &Path, mode: u32) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(mode)
        .custom_flags(no_link() | OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .map_err(|error| match error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
            true => io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link"),
            false => error,
        })?;
    let about = file.metadata()?;
    let found = match () {
        () if !about.is_file() => "it is not a regular file",
        () if about.nlink() > 1 => "the file has a second name elsewhere",
        () => return Ok(file),
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, found))
}

fn names_no_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it names no file")
}

fn no_link() -> i32 {
    OFlags::NOFOLLOW.bits() as i32
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_link_is_replaced_and_what_it_names_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("authorized_keys"), "mine").unwrap();
        for name in ["report.md", "log", "new", "journal"] {
            symlink(at("authorized_keys"), at(name)).unwrap();
        }
        replace(&at("report.md"), b"report", 0o600).unwrap();
        write_anew(&at("log"), 0o600).unwrap().write_all(b"log").unwrap();
        assert_eq!(create(&at("new")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let refused = open_to_append(&at("journal"), 0o600).unwrap_err().to_string();
        assert_eq!(refused, "it is a symbolic link");
        fs::write(at("twice"), "mine").unwrap();
        fs::hard_link(at("twice"), at("second")).unwrap();
        let refused = open_to_append(&at("second"), 0o600).unwrap_err().to_string();
        assert_eq!(refused, "the file has a second name elsewhere");
        fs::remove_file(at("twice")).unwrap();
        open_to_append(&at("second"), 0o600).unwrap().write_all(b"more").unwrap();
        assert_eq!(fs::read(at("second")).unwrap(), b"minemore");
        assert_eq!(fs::read(at("authorized_keys")).unwrap(), b"mine");
        assert_eq!(fs::read(at("report.md")).unwrap(), b"report");
        assert_eq!(fs::read(at("log")).unwrap(), b"log");
        let metadata = fs::symlink_metadata(at("report.md")).unwrap();
        assert_eq!((metadata.is_file(), metadata.permissions().mode() & 0o777), (true, 0o600));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 6, "nothing is left aside");
    }

    #[test]
    fn no_directory_on_the_way_is_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let store = at("store");
        fs::create_dir_all(at("outside")).unwrap();
        fs::create_dir(&store).unwrap();
        symlink(at("outside"), store.join("key")).unwrap();
        let made = |relative: &str| write_anew_below(&store, Path::new(relative), 0o600).map(drop);
        let replaced = |relative: &str| replace_below(&store, Path::new(relative), b"x", 0o600);
        for wrong in ["key/part", "key/deep/part", "../outside/part", "/etc/part", ""] {
            assert!(made(wrong).is_err() && replaced(wrong).is_err(), "{wrong}");
        }
        assert!(made("key/part").unwrap_err().to_string().contains("key on the way to it is a symbolic link"));
        assert_eq!(fs::read_dir(at("outside")).unwrap().count(), 0);

        // A link in the place of the file itself is replaced, as everywhere.
        fs::write(at("outside/kept"), "kept").unwrap();
        for name in ["part", "document"] {
            fs::create_dir_all(store.join("other")).unwrap();
            symlink(at("outside/kept"), store.join("other").join(name)).unwrap();
        }
        write_anew_below(&store, Path::new("other/part"), 0o600).unwrap().write_all(b"part").unwrap();
        replaced("other/document").unwrap();
        replaced("new/deep/document").unwrap();
        assert_eq!(fs::read(at("outside/kept")).unwrap(), b"kept");
        assert_eq!(fs::read(store.join("other/part")).unwrap(), b"part");
        assert_eq!(fs::read(store.join("new/deep/document")).unwrap(), b"x");
        assert_eq!(fs::read_dir(store.join("other")).unwrap().count(), 2, "nothing is left aside");
    }

    #[test]
    fn no_two_names_aside_are_alike() {
        let names: std::collections::BTreeSet<PathBuf> =
            (0..100).map(|_| aside(Path::new("/x/analysis.json")).unwrap()).collect();
        assert_eq!(names.len(), 100);
        assert!(names.iter().all(|name| name.starts_with("/x")));
        let of = |name: &Path| of_aside(name.file_name()?.to_str()?).map(str::to_owned);
        assert!(names.iter().all(|name| of(name).as_deref() == Some("analysis.json")));
        let aside_of_hidden = aside(Path::new("/x/.lock")).unwrap();
        assert_eq!(of(&aside_of_hidden).as_deref(), Some(".lock"));
        for other in [".evil.auto.tfvars", ".x", "analysis.json", ".analysis.json.0123456789ab", ""] {
            assert_eq!(of_aside(other), None, "{other}");
        }
    }
}
