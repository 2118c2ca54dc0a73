//! Copying a data set: restoring it before a trial, and moving it between volumes.
//!
//! On the same XFS a file is cloned by reference (FICLONE, ioctl_ficlone(2)): its blocks are shared until one side
//! writes, so that restoring a data set takes as long as creating its files. Elsewhere bytes are copied.
//!
//! Root does this in directories of the database's user, also while that one runs: it may exchange any of them for a
//! link at any moment. So a directory is opened where the one above it is open, through no link (openat(2)), and what
//! is done to it, its owner and mode included, is done to what was opened ([`Place`]).

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, readlinkat, statat, symlinkat, unlinkat};
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
    restore(pristine, target, true)
}

/// The same with blocks of its own, for files that are written in place: of one that is shared, the first write of each
/// block goes elsewhere, and the volume takes what the file system notes of that besides.
pub fn restore_apart(pristine: &Path, target: &Path) -> Result<Restored> {
    restore(pristine, target, false)
}

fn restore(pristine: &Path, target: &Path, reflink: bool) -> Result<Restored> {
    // Looked at before anything is deleted: a wrong path must not cost the old data.
    let source = Place::open("restore from", pristine)?;
    let target = Place::make(target)?;
    target.clear()?;
    copy(&source, &target, reflink)
}

/// Copies the directory `from` to `to`, which may lie on another file system and is created if missing; what `to`
/// holds under other names stays. Returns once everything is on the disk.
pub fn copy_tree(from: &Path, to: &Path) -> Result<Restored> {
    let source = Place::open("copy from", from)?;
    copy(&source, &Place::make(to)?, true)
}

/// Removes `directory` with everything below it; nothing happens if it is not there.
pub fn remove_tree(directory: &Path) -> Result<()> {
    // It follows no link, wherever it is.
    guarded::if_there(fs::remove_dir_all(directory)).map_err(io_error("remove", directory)).map(drop)
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
        // A file with holes may be as long as it likes.
        .fold(0, u64::saturating_add)
}

/// How directories are opened: through no link.
pub(crate) const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// And files; what turns out to be a pipe is not waited for.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// And files that are made: under names that are free.
const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory that is open, and what it is called.
struct Place {
    directory: File,
    path: PathBuf,
}

impl Place {
    /// One that is there. The way to it is ours; itself it may be no link.
    fn open(doing: &str, path: &Path) -> Result<Self> {
        let opened = openat(CWD, path, DIRECTORY, Mode::empty()).map_err(io_error(doing, path))?;
        Ok(Self { directory: File::from(opened), path: path.to_owned() })
    }

    /// The same, made if it is missing.
    fn make(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(io_error("create", path))?;
        Self::open("open", path)
    }

    /// What a name in it is called.
    fn named(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    fn opened(&self, name: &OsStr, how: OFlags, mode: u32) -> rustix::io::Result<OwnedFd> {
        openat(&self.directory, name, how, Mode::from_raw_mode(mode))
    }

    /// A directory in it.
    fn below(&self, name: &OsStr) -> Result<Self> {
        let path = self.named(name);
        let opened = self.opened(name, DIRECTORY, 0).map_err(io_error("open", &path))?;
        Ok(Self { directory: File::from(opened), path })
    }

    /// The same, made if it is missing.
    fn made_below(&self, name: &OsStr) -> Result<Self> {
        match mkdirat(&self.directory, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
            Ok(()) | Err(Errno::EXIST) => self.below(name),
            Err(error) => Err(io_error("create", &self.named(name))(error)),
        }
    }

    fn names(&self) -> Result<Vec<OsString>> {
        let list = || -> rustix::io::Result<Vec<OsString>> {
            let mut names = Vec::new();
            for entry in Dir::read_from(&self.directory)? {
                let entry = entry?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name != "." && name != ".." {
                    names.push(name.to_owned());
                }
            }
            Ok(names)
        };
        list().map_err(io_error("list", &self.path))
    }

    /// What has a name in it, a link as itself.
    fn kind_of(&self, name: &OsStr) -> Result<FileType> {
        let about = statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW);
        let about = about.map_err(io_error("examine", &self.named(name)))?;
        Ok(FileType::from_raw_mode(about.st_mode))
    }

    /// Empties it without removing it: it may be a mount point.
    fn clear(&self) -> Result<()> {
        for name in self.names()? {
            let how = match self.kind_of(&name)? {
                FileType::Directory => {
                    self.below(&name)?.clear()?;
                    AtFlags::REMOVEDIR
                }
                _ => AtFlags::empty(),
            };
            unlinkat(&self.directory, name.as_os_str(), how).map_err(io_error("delete", &self.named(&name)))?;
        }
        Ok(())
    }

    fn about(&self) -> Result<Metadata> {
        self.directory.metadata().map_err(io_error("examine", &self.path))
    }
}

fn copy(from: &Place, to: &Place, mut reflink: bool) -> Result<Restored> {
    let mut restored = Restored { files: 0, bytes: 0, reflinked: true };
    copy_directory(from, to, &mut reflink, &mut restored)?;
    restored.reflinked &= restored.files > 0;
    // One syncfs(2) instead of an fsync per file: the volume has no other writer at this point.
    rustix::fs::syncfs(&to.directory).map_err(io_error("sync the file system of", &to.path))?;
    Ok(restored)
}

fn copy_directory(from: &Place, to: &Place, reflink: &mut bool, restored: &mut Restored) -> Result<()> {
    let about = from.about()?;
    for name in from.names()? {
        match from.kind_of(&name)? {
            FileType::Directory => copy_directory(&from.below(&name)?, &to.made_below(&name)?, reflink, restored)?,
            FileType::Symlink => {
                let source = from.named(&name);
                let link = readlinkat(&from.directory, name.as_os_str(), Vec::<u8>::new());
                let link = link.map_err(io_error("read", &source))?;
                symlinkat(&link, &to.directory, name.as_os_str()).map_err(io_error("create", &to.named(&name)))?;
            }
            FileType::RegularFile => {
                let (bytes, shared) = copy_file(from, to, &name, reflink)?;
                restored.files += 1;
                restored.bytes += bytes;
                restored.reflinked &= shared || bytes == 0;
            }
            // Sockets, pipes and devices are not data.
            _ => {}
        }
    }
    set_owner_and_mode(&to.directory, &to.path, &about, DIRECTORY_MODE)
}

/// Returns its length, and whether the copy shares its blocks with the source. `reflink` turns false at the first
/// refusal, so that a file system without it is asked once.
fn copy_file(from: &Place, to: &Place, name: &OsStr, reflink: &mut bool) -> Result<(u64, bool)> {
    let (source, target) = (from.named(name), to.named(name));
    let mut input = File::from(from.opened(name, FILE, 0).map_err(io_error("open", &source))?);
    let about = input.metadata().map_err(io_error("examine", &source))?;
    if !about.is_file() {
        // It was one a moment ago.
        return Err(io_error("copy", &source)(std::io::Error::from(ErrorKind::InvalidInput)));
    }
    let mut output = File::from(to.opened(name, NEW_FILE, FILE_MODE).map_err(io_error("create", &target))?);
    let mut shared = false;
    if *reflink {
        match rustix::fs::ioctl_ficlone(&output, &input) {
            Ok(()) => shared = true,
            // Another file system; or one that cannot; or an old kernel.
            Err(Errno::XDEV | Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL | Errno::NOSYS) => *reflink = false,
            Err(error) => return Err(io_error(format!("clone {} to", source.display()), &target)(error)),
        }
    }
    if !shared {
        // Not by the kernel (copy_file_range(2)), which shares blocks where it can.
        std::io::copy::<dyn Read, dyn Write>(&mut input, &mut output)
            .map_err(io_error(format!("copy {} to", source.display()), &target))?;
    }
    if let Ok(modified) = about.modified() {
        output.set_modified(modified).map_err(io_error("set the time of", &target))?;
    }
    set_owner_and_mode(&output, &target, &about, FILE_MODE)?;
    Ok((about.len(), shared))
}

/// What a data set holds is its owner's alone, and nothing of it is a program, whatever modes it came with.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

fn set_owner_and_mode(what: &File, path: &Path, like: &Metadata, mode: u32) -> Result<()> {
    let now = what.metadata().map_err(io_error("examine", path))?;
    if (now.uid(), now.gid()) != (like.uid(), like.gid()) {
        fchown(what, Some(like.uid()), Some(like.gid())).map_err(io_error("set the owner of", path))?;
    }
    if now.mode() & 0o7777 != mode {
        what.set_permissions(fs::Permissions::from_mode(mode)).map_err(io_error("set the mode of", path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use rustix::fs::{RenameFlags, renameat_with};

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
        let apart = restore_apart(&pristine, &target).unwrap();
        assert_eq!((apart.files, apart.bytes, apart.reflinked), (2, 100_000, false));
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

    #[test]
    fn a_link_in_the_place_of_a_directory_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("outside/deep")).unwrap();
        fs::write(at("outside/deep/kept"), "x").unwrap();
        fs::create_dir_all(at("pristine/ks")).unwrap();
        fs::write(at("pristine/ks/file"), "y").unwrap();
        symlink(at("outside"), at("link")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        for wrong in ["link", "dangling"] {
            assert!(restore_tree(&at("pristine"), &at(wrong)).is_err(), "to {wrong}");
            assert!(restore_tree(&at(wrong), &at("target")).is_err(), "from {wrong}");
            assert!(copy_tree(&at("pristine"), &at(wrong)).is_err(), "to {wrong}");
        }
        assert!(at("outside/deep/kept").exists() && !at("outside/ks").exists() && !at("nowhere").exists());

        // One inside is deleted, copied as a link, and kept out of what is made.
        fs::create_dir(at("target")).unwrap();
        symlink(at("outside"), at("target/old")).unwrap();
        symlink(at("outside"), at("pristine/new")).unwrap();
        restore_tree(&at("pristine"), &at("target")).unwrap();
        assert_eq!(fs::read_link(at("target/new")).unwrap(), at("outside"));
        assert!(!at("target/old").exists() && at("outside/deep/kept").exists());
        fs::remove_file(at("pristine/new")).unwrap();
        fs::create_dir(at("pristine/new")).unwrap();
        fs::write(at("pristine/new/file"), "z").unwrap();
        assert!(copy_tree(&at("pristine"), &at("target")).is_err(), "there is a link of that name");
        assert!(!at("outside/file").exists());
    }

    /// As the database's user may do it at any moment: a directory and a link to another place change places, again and
    /// again.
    fn exchanged(place: &Path, aside: &Path, outside: &Path, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            if !aside.is_symlink() {
                let _ = fs::remove_dir_all(aside);
                let _ = symlink(outside, aside);
            }
            for _ in 0..2 {
                let _ = renameat_with(CWD, place, CWD, aside, RenameFlags::EXCHANGE);
            }
        }
    }

    #[test]
    fn directories_that_are_exchanged_for_links_meanwhile_lead_nowhere() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        // What root alone may read, and where nobody else may write.
        fs::create_dir_all(at("outside")).unwrap();
        fs::write(at("outside/secret"), "root's").unwrap();
        fs::set_permissions(at("outside"), fs::Permissions::from_mode(0o751)).unwrap();
        fs::create_dir_all(at("pristine/ks/table")).unwrap();
        for number in 0..20 {
            fs::write(at("pristine/ks/table").join(format!("{number}.db")), "data").unwrap();
        }
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for (place, aside) in [("pristine/ks", "a"), ("pristine/ks/table", "b"), ("target/ks", "c")] {
                let (place, aside, outside, is_over) = (at(place), at(aside), at("outside"), &is_over);
                scope.spawn(move || exchanged(&place, &aside, &outside, is_over));
            }
            let began = Instant::now();
            let (mut whole, mut refused, mut leaked) = (0, 0, false);
            while began.elapsed() < Duration::from_secs(3) {
                // Either is well, as long as nothing is followed.
                let restored = Place::open("restore from", &at("pristine")).and_then(|source| {
                    let target = Place::make(&at("target"))?;
                    target.clear()?;
                    copy_directory(&source, &target, &mut true, &mut Restored { files: 0, bytes: 0, reflinked: true })
                });
                match restored {
                    Ok(()) => whole += 1,
                    Err(_) => refused += 1,
                }
                // Looked at without following either.
                let has_secret = |place: &Place| place.kind_of(OsStr::new("secret")).is_ok();
                let target = Place::open("look at", &at("target"));
                let ks = target.and_then(|target| target.below(OsStr::new("ks")));
                leaked |= ks.is_ok_and(|ks| {
                    has_secret(&ks) || ks.below(OsStr::new("table")).is_ok_and(|table| has_secret(&table))
                });
            }
            is_over.store(true, Ordering::Relaxed);
            println!("{whole} were restored, {refused} refused");
            assert!(!leaked, "what is outside was copied");
        });
        let outside: Vec<OsString> =
            fs::read_dir(at("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(outside, ["secret"], "nothing was made or deleted there");
        assert_eq!(fs::read(at("outside/secret")).unwrap(), b"root's");
        assert_eq!(fs::metadata(at("outside")).unwrap().mode() & 0o7777, 0o751, "nor was it changed");
    }
}
