//! What is mounted where, from `/proc/self/mountinfo` (proc(5)), and unmounting.
//!
//! A process with a mount namespace of its own (a container, `unshare --mount`, a service with private mounts) got a
//! copy of every mount that existed when it began. Unmounting here ends a copy there only where mounts propagate
//! (mount_namespaces(7)). Where they do not, the file system lives on, and with it its page cache: the device cannot be
//! detached, and the next mount would not be a cold start. So such copies are looked for, awaited, and named.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_bind, mount_change, unmount};

use crate::error::{Result, StorageError, io_error};
use crate::ledger::{Ledger, LedgerItem};
use crate::process::{holders, name_of, processes, wait_until};

/// How long a mount may stay busy: the files of a process that has just been killed take a moment to close.
const BUSY_PATIENCE: Duration = Duration::from_secs(3);

/// Mount points at `path` or below it, deepest (latest) last.
pub(crate) fn at_or_below(path: &Path) -> Result<Vec<PathBuf>> {
    let mountinfo = Path::new("/proc/self/mountinfo");
    let bytes = fs::read(mountinfo).map_err(io_error("read", mountinfo))?;
    Ok(mount_points(&bytes).filter(|mounted| mounted.starts_with(path)).collect())
}

/// Whether something is mounted exactly at `path`.
pub(crate) fn is_mounted(path: &Path) -> Result<bool> {
    Ok(at_or_below(path)?.iter().any(|mounted| mounted == path))
}

fn mount_points(mountinfo: &[u8]) -> impl Iterator<Item = PathBuf> {
    let lines = mountinfo.split(|byte| *byte == b'\n');
    lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescape)
}

/// The kernel writes space, tab, newline and backslash as three octal digits. What else is in a name stands there as it
/// is, and need not be UTF-8.
fn unescape(field: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = field;
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[3..] } else { after };
    }
    OsString::from_vec(path).into()
}

/// How long a copy in another mount namespace may live on: whoever made it may be about to end ...
const COPY_PATIENCE: Duration = Duration::from_secs(10);
/// ... and how long when it is looked for again after that: what ends looks several times, and must not take a minute.
const AGAIN_PATIENCE: Duration = Duration::from_secs(2);
/// Devices whose copies were waited for in vain.
static HELD: Mutex<BTreeSet<(u32, u32)>> = Mutex::new(BTreeSet::new());

/// Processes in whose mount namespaces, other than ours, the file system of a device is mounted: one of each namespace,
/// as `sshd (4711)`.
fn mounted_elsewhere(device: (u32, u32)) -> Vec<String> {
    let namespace = |process: &Path| fs::read_link(process.join("ns/mnt")).ok();
    let own = namespace(Path::new("/proc/self"));
    let mut others = BTreeMap::new();
    for (pid, process) in processes() {
        if let Some(found) = namespace(&process).filter(|found| Some(found) != own.as_ref()) {
            // Its first process, by number, is the one that made it more often than not.
            let first = others.entry(found).or_insert((pid, process.clone()));
            if pid < first.0 {
                *first = (pid, process);
            }
        }
    }
    let number = format!("{}:{}", device.0, device.1);
    let has_it = |process: &Path| {
        let mountinfo = fs::read(process.join("mountinfo")).unwrap_or_default();
        String::from_utf8_lossy(&mountinfo).lines().any(|line| line.split_ascii_whitespace().nth(2) == Some(&number))
    };
    let holding = others.into_values().filter(|(_, process)| has_it(process));
    holding.map(|(_, process)| name_of(&process)).collect()
}

/// Waits until the file system of a device is mounted in no other mount namespace.
pub(crate) fn await_copies(device: (u32, u32), path: &Path) -> Result<()> {
    let held = || HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let patience = if held().contains(&device) { AGAIN_PATIENCE } else { COPY_PATIENCE };
    let mut names = Vec::new();
    let ended = wait_until(patience, || {
        names = mounted_elsewhere(device);
        names.is_empty()
    });
    if ended {
        held().remove(&device);
        return Ok(());
    }
    held().insert(device);
    Err(StorageError::Busy {
        path: path.to_owned(),
        holders: format!("it is mounted in the mount namespace of {}, too", names.join(", ")),
    })
}

/// Has everything that is mounted below a directory from now on end in other mount namespaces when it ends here, as far
/// as those follow this one (slaves or peers, mount_namespaces(7)): that is so where the mount above is shared. It is
/// made if it is missing; nothing happens where it has been done.
pub fn share_mounts_below(ledger: &Ledger, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(io_error("create", directory))?;
    let path = fs::canonicalize(directory).map_err(io_error("resolve", directory))?;
    if is_mounted(&path)? {
        return Ok(());
    }
    ledger.intend(LedgerItem::Mount { path: path.clone() })?;
    mount_bind(&path, &path).map_err(io_error("mount onto itself", &path))?;
    mount_change(&path, MountPropagationFlags::SHARED).map_err(io_error("share the mounts below", &path))
}

/// Processes in whose mount namespaces a device is mounted that is mounted here no more, as `sshd (4711)`.
pub(crate) fn held_elsewhere(device: (u32, u32)) -> Option<String> {
    let names = mounted_elsewhere(device);
    (!names.is_empty()).then(|| names.join(", "))
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
            outcome = unmount(path, UnmountFlags::NOFOLLOW);
            outcome != Err(Errno::BUSY)
        });
        match outcome {
            Ok(()) => {}
            Err(_) if !settled && if_busy == IfBusy::Detach => {
                unmount(path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)
                    .map_err(io_error("lazily unmount", path))?;
            }
            Err(_) if !settled => {
                let names = holders(path);
                let holders = if names.is_empty() {
                    "it is busy, though no process has a file open in it (a mount or loop device inside?)".to_owned()
                } else {
                    format!("in use by {}", names.join(", "))
                };
                return Err(StorageError::Busy { path: path.to_owned(), holders });
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
        let text = b"36 35 98:0 /mnt1 /work/my\\040volume rw,noatime master:1 - xfs /dev/loop3 rw\n\
                     38 35 8:1 / /media/caf\xe9\\134040 rw - vfat /dev/sdb1 rw\n\
                     37 36 0:5 / /proc rw - proc proc rw\n";
        let points: Vec<_> = mount_points(text).collect();
        // Somebody's stick may be called so in Latin-1: no mount was found any more.
        let stick = PathBuf::from(OsString::from_vec(b"/media/caf\xe9\\040".to_vec()));
        assert_eq!(points, [PathBuf::from("/work/my volume"), stick, PathBuf::from("/proc")]);
    }
}
