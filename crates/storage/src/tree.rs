//! Copying a data set: restoring it before a trial, and moving it between volumes.
//!
//! On the same XFS a file is cloned by reference (FICLONE, ioctl_ficlone(2)): its blocks are shared until one side
//! writes, so that restoring a data set takes as long as creating its files. Elsewhere bytes are copied.

use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use rustix::io::Errno;

use crate::error::{Result, io_error};

/// What a copy moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Regular files.
    pub files: u64,
    /// Their length in bytes.
    pub bytes: u64,
    /// Every file that has content shares its blocks with its source.
    pub reflinked: bool,
}

/// Makes the directory `target` hold exactly what `pristine` holds, by reference where the file system can.
///
/// Returns once everything is on the volume, so that no leftover write is charged to the trial that follows.
pub fn restore_tree(pristine: &Path, target: &Path) -> Result<Restored> {
    // Looked at before anything is deleted: a wrong path must not cost the old data.
    let source = fs::metadata(pristine).map_err(io_error("restore from", pristine))?;
    if !source.is_dir() {
        return Err(io_error("restore from", pristine)(std::io::Error::from(ErrorKind::NotADirectory)));
    }
    clear(target)?;
    copy_tree(pristine, target)
}

/// Removes `directory` with everything below it; nothing happens if it is not there.
pub fn remove_tree(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error("remove", directory)(error)),
        _ => Ok(()),
    }
}

/// Bytes of all files below `directory` (their lengths); what cannot be read counts as nothing, since a live database
/// removes files at any moment.
pub fn tree_bytes(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => tree_bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Empties a directory without removing it: it may be a mount point.
fn clear(directory: &Path) -> Result<()> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io_error("list", directory)(error)),
    };
    for entry in entries {
        let path = entry.map_err(io_error("list", directory))?.path();
        let kind = fs::symlink_metadata(&path).map_err(io_error("examine", &path))?;
        if kind.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }
            .map_err(io_error("delete", &path))?;
    }
    Ok(())
}

/// Copies the directory `from` to `to`, which may lie on another file system and is created if missing; what `to`
/// holds under other names stays. Returns once everything is on the disk.
pub fn copy_tree(from: &Path, to: &Path) -> Result<Restored> {
    let mut reflink = true;
    let mut restored = Restored { files: 0, bytes: 0, reflinked: true };
    copy_directory(from, to, &mut reflink, &mut restored)?;
    restored.reflinked &= restored.files > 0;
    // One syncfs(2) instead of an fsync per file: the volume has no other writer at this point.
    let directory = File::open(to).map_err(io_error("open", to))?;
    rustix::fs::syncfs(&directory).map_err(io_error("sync the file system of", to))?;
    Ok(restored)
}

fn copy_directory(from: &Path, to: &Path, reflink: &mut bool, restored: &mut Restored) -> Result<()> {
    let metadata = fs::metadata(from).map_err(io_error("examine", from))?;
    fs::create_dir_all(to).map_err(io_error("create", to))?;
    for entry in fs::read_dir(from).map_err(io_error("list", from))? {
        let entry = entry.map_err(io_error("list", from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let metadata = fs::symlink_metadata(&source).map_err(io_error("examine", &source))?;
        if metadata.is_dir() {
            copy_directory(&source, &target, reflink, restored)?;
        } else if metadata.is_symlink() {
            let link = fs::read_link(&source).map_err(io_error("read", &source))?;
            symlink(link, &target).map_err(io_error("create", &target))?;
        } else if metadata.is_file() {
            let shared = copy_file(&source, &target, &metadata, reflink)?;
            restored.files += 1;
            restored.bytes += metadata.len();
            restored.reflinked &= shared || metadata.len() == 0;
        }
        // Sockets, pipes and devices are not data.
    }
    set_owner_and_mode(to, &metadata, DIRECTORY_MODE)
}

/// Returns whether the copy shares its blocks with the source. `reflink` turns false at the first refusal, so that a
/// file system without it is asked once.
fn copy_file(source: &Path, target: &Path, metadata: &Metadata, reflink: &mut bool) -> Result<bool> {
    // It was looked at a moment ago, and is what it was.
    let mut input = guarded::open_no_link(source).map_err(io_error("open", source))?;
    let mut output = guarded::create_new(target, FILE_MODE).map_err(io_error("create", target))?;
    let mut shared = false;
    if *reflink {
        match rustix::fs::ioctl_ficlone(&output, &input) {
            Ok(()) => shared = true,
            // Another file system; or one that cannot; or an old kernel.
            Err(Errno::XDEV | Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL | Errno::NOSYS) => *reflink = false,
            Err(error) => return Err(io_error(format!("clone {} to", source.display()), target)(error)),
        }
    }
    if !shared {
        std::io::copy(&mut input, &mut output).map_err(io_error(format!("copy {} to", source.display()), target))?;
    }
    if let Ok(modified) = metadata.modified() {
        output.set_modified(modified).map_err(io_error("set the time of", target))?;
    }
    drop(output);
    set_owner_and_mode(target, metadata, FILE_MODE)?;
    Ok(shared)
}

/// What a data set holds is its owner's alone, and nothing of it is a program, whatever modes it came with.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

fn set_owner_and_mode(path: &Path, like: &Metadata, mode: u32) -> Result<()> {
    let now = fs::metadata(path).map_err(io_error("examine", path))?;
    if (now.uid(), now.gid()) != (like.uid(), like.gid()) {
        std::os::unix::fs::chown(path, Some(like.uid()), Some(like.gid()))
            .map_err(io_error("set the owner of", path))?;
    }
    if now.mode() & 0o7777 != mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(io_error("set the mode of", path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restored_tree_equals_the_pristine_one_and_nothing_else_survives() {
        let directory = tempfile::tempdir().unwrap();
        let (pristine, target) = (directory.path().join("pristine"), directory.path().join("target"));
        fs::create_dir_all(pristine.join("ks/table")).unwrap();
        fs::write(pristine.join("ks/table/big.db"), vec![7; 100_000]).unwrap();
        fs::write(pristine.join("empty"), "").unwrap();
        symlink("ks/table", pristine.join("link")).unwrap();
        fs::set_permissions(pristine.join("empty"), fs::Permissions::from_mode(0o4755)).unwrap();
        fs::create_dir_all(target.join("ks/old")).unwrap();
        fs::write(target.join("stale"), "x").unwrap();

        let restored = restore_tree(&pristine, &target).unwrap();
        assert_eq!((restored.files, restored.bytes), (2, 100_000));
        assert!(!target.join("stale").exists() && !target.join("ks/old").exists());
        assert_eq!(fs::read(target.join("ks/table/big.db")).unwrap(), vec![7; 100_000]);
        assert_eq!(fs::read_link(target.join("link")).unwrap(), Path::new("ks/table"));
        assert_eq!(
            fs::metadata(target.join("empty")).unwrap().permissions().mode() & 0o7777,
            0o600,
            "nothing of a data set is a program"
        );

        fs::write(target.join("ks/table/big.db"), "changed by a trial").unwrap();
        assert_eq!(fs::metadata(pristine.join("ks/table/big.db")).unwrap().len(), 100_000, "the pristine copy is safe");
    }

    #[test]
    fn a_wrong_source_costs_nothing() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("kept"), "x").unwrap();
        assert!(restore_tree(Path::new("/no/such/snapshot"), directory.path()).is_err());
        assert!(directory.path().join("kept").exists());
    }
}
