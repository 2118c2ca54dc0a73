//! Whose files a directory holds.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Something in a directory that is not simply this user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Which.
    pub path: PathBuf,
    /// What about it.
    pub why: ForeignReason,
}

/// Why something is not simply this user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignReason {
    /// It belongs to this user.
    Owner(u32),
    /// Everybody may write to it.
    Writable,
    /// A group may write to it.
    GroupWritable,
    /// It is a symbolic link.
    Link,
    /// It is a pipe, a socket or a device.
    Special,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.why {
            ForeignReason::Owner(uid) => write!(f, "{path} belongs to user {uid}, and you are user {}", me()),
            ForeignReason::Writable => write!(f, "{path} can be written by every user of this machine"),
            ForeignReason::GroupWritable => write!(f, "{path} can be written by its group (chmod -R g-w)"),
            ForeignReason::Link => write!(f, "{path} is a symbolic link"),
            ForeignReason::Special => write!(f, "{path} is a pipe, a socket or a device"),
        }
    }
}

/// The effective user.
fn me() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The first thing in `directory`, itself included, that is a link, is special, belongs to somebody else than the
/// effective user, or can be written by a group or by everybody. Directories of the name `but` are not looked into:
/// what is in them is thrown away before anything obeys it.
pub fn foreign(directory: &Path, but: Option<&str>) -> io::Result<Option<Foreign>> {
    // The directory itself may be named through a link.
    let found = fs::metadata(directory)?;
    let why = judged(&found);
    if let Some(why) = why {
        let path = directory.to_owned();
        return Ok(Some(Foreign { path, why }));
    }
    below(directory, but)
}

fn below(directory: &Path, but: Option<&str>) -> io::Result<Option<Foreign>> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, found) = (entry.path(), entry.metadata()?);
        if let Some(why) = judged(&found) {
            return Ok(Some(Foreign { path, why }));
        }
        if found.is_dir()
            && but.is_none_or(|name| entry.file_name() != name)
            && let Some(inside) = below(&path, but)?
        {
            return Ok(Some(inside));
        }
    }
    Ok(None)
}

fn judged(found: &fs::Metadata) -> Option<ForeignReason> {
    match found.file_type() {
        kind if kind.is_symlink() => Some(ForeignReason::Link),
        kind if !kind.is_file() && !kind.is_dir() => Some(ForeignReason::Special),
        _ if found.uid() != me() => Some(ForeignReason::Owner(found.uid())),
        _ if found.mode() & 0o002 != 0 => Some(ForeignReason::Writable),
        _ if found.mode() & 0o020 != 0 => Some(ForeignReason::GroupWritable),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_directory_of_ones_own_is_so_until_a_link_or_another_owner_is_in_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("trials")).unwrap();
        fs::write(root.join("trials/x"), "").unwrap();
        assert_eq!(foreign(root, None).unwrap(), None);

        symlink("/etc/passwd", root.join("trials/y")).unwrap();
        let words = foreign(root, None).unwrap().unwrap().to_string();
        assert!(words.ends_with("trials/y is a symbolic link"), "{words}");
        assert_eq!(foreign(root, Some("trials")).unwrap(), None, "nobody obeys what is in there");
        fs::remove_file(root.join("trials/y")).unwrap();

        fs::set_permissions(root.join("trials/x"), fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(foreign(root, None).unwrap().unwrap().why, ForeignReason::Writable);
        fs::set_permissions(root.join("trials/x"), fs::Permissions::from_mode(0o664)).unwrap();
        let words = foreign(root, None).unwrap().unwrap().to_string();
        assert!(words.contains("trials/x can be written by its group"), "{words}");
        fs::set_permissions(root.join("trials/x"), fs::Permissions::from_mode(0o644)).unwrap();

        if std::os::unix::fs::chown(root.join("trials/x"), Some(65_534), None).is_ok() {
            let found = foreign(root, None).unwrap().unwrap();
            assert_eq!((found.path, found.why), (root.join("trials/x"), ForeignReason::Owner(65_534)));
        }
    }
}
