//! What is mounted where, from `/proc/self/mountinfo` (proc(5)), and unmounting.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use crate::error::{Result, StorageError, io_error};
use crate::process::{holders, wait_until};

/// How long a mount may stay busy: the files of a process that has just been killed take a moment to close.
const BUSY_PATIENCE: Duration = Duration::from_secs(3);

/// Mount points at `path` or below it, deepest (latest) last.
pub(crate) fn at_or_below(path: &Path) -> Result<Vec<PathBuf>> {
    let mountinfo = Path::new("/proc/self/mountinfo");
    let text = fs::read_to_string(mountinfo).map_err(io_error("read", mountinfo))?;
    Ok(mount_points(&text)
        .filter(|mounted| mounted.starts_with(path))
        .collect())
}

/// Whether something is mounted exactly at `path`.
pub(crate) fn is_mounted(path: &Path) -> Result<bool> {
    Ok(at_or_below(path)?.iter().any(|mounted| mounted == path))
}

fn mount_points(mountinfo: &str) -> impl Iterator<Item = PathBuf> {
    mountinfo
        .lines()
        .filter_map(|line| line.split_ascii_whitespace().nth(4))
        .map(|field| unescape(field).into())
}

/// The kernel writes space, tab, newline and backslash as three octal digits.
fn unescape(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(field.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

/// What to do with a mount that stays busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfBusy {
    /// Fail and name who holds it.
    Refuse,
    /// Take it out of the tree now; the kernel ends it when its last user goes (MNT_DETACH).
    Detach,
}

/// Unmounts everything mounted at `path`; nothing there is success. Returns whether there was something.
pub(crate) fn unmount_all(path: &Path, if_busy: IfBusy) -> Result<bool> {
    let mut found = false;
    while is_mounted(path)? {
        found = true;
        let mut outcome = Ok(());
        let settled = wait_until(BUSY_PATIENCE, || {
            outcome = unmount(path, UnmountFlags::empty());
            outcome != Err(Errno::BUSY)
        });
        match outcome {
            Ok(()) => {}
            Err(_) if !settled && if_busy == IfBusy::Detach => {
                unmount(path, UnmountFlags::DETACH).map_err(io_error("lazily unmount", path))?;
            }
            Err(_) if !settled => {
                let names = holders(path);
                let holders = if names.is_empty() {
                    "it is busy, though no process has a file open in it (a mount or loop device inside?)".to_owned()
                } else {
                    format!("in use by {}", names.join(", "))
                };
                return Err(StorageError::Busy {
                    path: path.to_owned(),
                    holders,
                });
            }
            Err(error) => return Err(io_error("unmount", path)(error)),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_the_fifth_field_unescaped() {
        let text = "36 35 98:0 /mnt1 /work/my\\040volume rw,noatime master:1 - xfs /dev/loop3 rw\n\
                    37 36 0:5 / /proc rw - proc proc rw\n";
        let points: Vec<_> = mount_points(text).collect();
        assert_eq!(points, [PathBuf::from("/work/my volume"), PathBuf::from("/proc")]);
    }
}
