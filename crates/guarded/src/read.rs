//! Regular files, of a bounded size.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Never the terminal of this process, never handed to a child, and no waiting for the other end of a pipe.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A regular file, open to be read. A link is followed: this is for files that the user names.
///
/// # Errors
/// As the system says; [`io::ErrorKind::InvalidInput`] for what is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    regular(openat(CWD, path, READ, Mode::empty())?)
}

/// The same, and the last part of the path may be no link.
///
/// # Errors
/// As [`open`].
pub fn open_no_link(path: &Path) -> io::Result<File> {
    regular(openat(CWD, path, READ | OFlags::NOFOLLOW, Mode::empty()).map_err(reported)?)
}

/// A regular file below `root`, at a relative path that somebody else may have written: no part of it is `..`, and no
/// part below `root` is a link.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::InvalidInput`] for a path that leaves `root`.
pub fn open_below(root: &Path, relative: &Path) -> io::Result<File> {
    let relative = plain_relative(relative)?;
    let mut directory = openat(CWD, root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let parts: Vec<_> = relative.iter().collect();
    let Some((name, parents)) = parts.split_last() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
    };
    for parent in parents {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        directory = openat(&directory, *parent, flags, Mode::empty()).map_err(reported)?;
    }
    regular(openat(directory.as_fd(), *name, READ | OFlags::NOFOLLOW, Mode::empty()).map_err(reported)?)
}

/// A relative path without `..`: it names something below wherever it is looked for.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for any other.
pub fn plain_relative(path: &Path) -> io::Result<PathBuf> {
    let plain = |part: Component<'_>| match part {
        Component::Normal(name) => Ok(Some(name.to_owned())),
        Component::CurDir => Ok(None),
        Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "the path leaves its directory"))
        }
    };
    let parts = path.components().map(plain).collect::<io::Result<Vec<_>>>()?;
    Ok(parts.into_iter().flatten().collect())
}

/// What was done to something; `None`: there was nothing of its name.
///
/// # Errors
/// Every other error of it.
pub fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

/// All of a regular file that has at most so many bytes. A link is followed.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::FileTooLarge`] beyond `most_bytes`.
pub fn read(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    whole(open(path)?, most_bytes)
}

/// The same, and the last part of the path may be no link.
///
/// # Errors
/// As [`read`].
pub fn read_no_link(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    whole(open_no_link(path)?, most_bytes)
}

/// As [`read`], and it is UTF-8.
///
/// # Errors
/// As [`read`]; [`io::ErrorKind::InvalidData`] for other bytes.
pub fn text(path: &Path, most_bytes: u64) -> io::Result<String> {
    String::from_utf8(read(path, most_bytes)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// All of a file below `root`, as [`open_below`] has it, that has at most so many bytes of UTF-8.
///
/// # Errors
/// As [`open_below`] and [`text`].
pub fn text_below(root: &Path, relative: &Path, most_bytes: u64) -> io::Result<String> {
    let bytes = whole(open_below(root, relative)?, most_bytes)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// What was opened, if it is a regular file.
fn regular(opened: OwnedFd) -> io::Result<File> {
    let file = File::from(opened);
    let kind = file.metadata()?.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(file),
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a regular file")))
}

/// The size is looked at before anything is taken into memory, and again while it is read: it may grow meanwhile.
fn whole(file: File, most_bytes: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let too_large = || {
        io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {most_bytes} bytes, which is more than such a file ever needs"),
        )
    };
    if length > most_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes { Err(too_large()) } else { Ok(bytes) }
}

/// The system's words for a link that may not be followed ("too many levels of symbolic links") mislead.
fn reported(error: rustix::io::Errno) -> io::Error {
    match error {
        rustix::io::Errno::LOOP => io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link"),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        let words = |path: &Path| open(path).unwrap_err().to_string();
        assert_eq!(words(&pipe), "it is a pipe, not a regular file");
        assert_eq!(words(Path::new("/dev/zero")), "it is a device, not a regular file");
        assert_eq!(words(directory.path()), "it is a directory, not a regular file");
    }

    #[test]
    fn no_more_is_read_than_the_bound() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        fs::write(&path, [7; 10]).unwrap();
        assert_eq!(read(&path, 10).unwrap().len(), 10);
        assert_eq!(read(&path, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        // It says that it has no bytes, and has many.
        assert!(read(Path::new("/proc/self/maps"), 100).is_err());
    }

    #[test]
    fn nothing_below_a_directory_leads_out_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("run");
        fs::create_dir_all(root.join("trials")).unwrap();
        fs::write(directory.path().join("secret"), "s").unwrap();
        fs::write(root.join("trials/a"), "a").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink("..", root.join("up")).unwrap();
        let read = |relative: &str| whole(open_below(&root, Path::new(relative))?, 10);
        assert_eq!(read("trials/a").unwrap(), b"a");
        assert_eq!(read("./trials/./a").unwrap(), b"a");
        for refused in ["../secret", "trials/../../secret", "link", "up/secret", "/etc/passwd", "", "."] {
            read(refused).unwrap_err();
        }
        assert_eq!(read_no_link(&root.join("link"), 10).unwrap_err().to_string(), "it is a symbolic link");
        assert_eq!(super::read(&root.join("link"), 10).unwrap(), b"s", "a user's own name is followed");
    }
}
