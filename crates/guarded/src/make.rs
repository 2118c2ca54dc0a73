//! Files that are made: under a name that was free, or whole in the place of another.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::hash::hex;

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
///
/// # Errors
/// As the system says.
pub fn write_anew(path: &Path, mode: u32) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    create_new(path, mode)
}

/// A file with these bytes in the place of whatever has its name; readers see the old or the new one, and it is on the
/// device when this returns.
///
/// # Errors
/// As the system says; what was there is still there then.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let aside = aside(path)?;
    let written = create_new(&aside, mode)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&aside, path))
        .and_then(|()| {
            File::open(path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))?.sync_all()
        });
    if written.is_err() {
        // The error above is what the user must see; what is left aside is hidden, and nothing reads it.
        let _ = fs::remove_file(&aside);
    }
    written
}

/// A word of so many random bytes, in hexadecimal digits: four distinguish, 24 are a password.
///
/// # Errors
/// As the system says.
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
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
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

/// A regular file open to be read and appended to, made where there is none; it may be no link.
///
/// # Errors
/// As the system says; [`io::ErrorKind::InvalidInput`] for what is no regular file.
pub fn open_to_append(path: &Path, mode: u32) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(mode)
        .custom_flags(no_link() | OFlags::NONBLOCK.bits() as i32)
        .open(path)
        .map_err(|error| match error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            true => io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link"),
            false => error,
        })?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

fn no_link() -> i32 {
    OFlags::NOFOLLOW.bits() as i32
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

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
        assert_eq!(fs::read(at("authorized_keys")).unwrap(), b"mine");
        assert_eq!(fs::read(at("report.md")).unwrap(), b"report");
        assert_eq!(fs::read(at("log")).unwrap(), b"log");
        let metadata = fs::symlink_metadata(at("report.md")).unwrap();
        assert_eq!((metadata.is_file(), metadata.permissions().mode() & 0o777), (true, 0o600));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 5, "nothing is left aside");
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
