//! Places that nobody else can change.
//!
//! What iopslab finds in its directories it acts upon, as root as a rule: it deletes, unmounts, ends processes. So a
//! directory of its own has to belong to the user that it runs as, and nobody else may write there, nor in any
//! directory on the way to it: whoever can write in one of these can put another directory in its place. A directory
//! with the sticky bit (`/tmp`) is the exception: there everybody may make names, and only the owner of one can take it
//! away (unlink(2)).

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

use crate::read::open_no_link;

/// Why a place cannot be used as one's own.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum NotPrivate {
    /// A system call on a path failed.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: Error },
    /// Somebody else could change what is in a directory of ours.
    #[error(
        "{} cannot be used: {at} (mode {mode:o}, owner {owner}) can be changed by others than user {user}, and what is \
         found there is acted upon. If nobody else needs it: chown {user} {at} && chmod go-w {at}; else name another \
         directory",
        path.display(), at = part.display()
    )]
    Open {
        path: PathBuf,
        /// What others can change: the directory itself, or one on the way to it.
        part: PathBuf,
        owner: u32,
        mode: u32,
        user: u32,
    },
}

type Result<T> = std::result::Result<T, NotPrivate>;

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(Error) -> NotPrivate {
    let path = path.to_owned();
    move |source| NotPrivate::Io { doing, path, source }
}

/// Of a directory that is made: its owner's alone.
const OWN_MODE: u32 = 0o700;
/// Of a file that is made.
const OWN_FILE_MODE: u32 = 0o600;
/// Write permission of group and others.
const WRITTEN_BY_OTHERS: u32 = 0o022;
/// In such a directory a name can be taken away by its owner alone.
const STICKY: u32 = 0o1000;

/// Makes a directory of our own unless it is there, with what is missing on the way to it; gives its path, absolute and
/// without symbolic links.
///
/// # Errors
/// [`NotPrivate::Open`] when somebody else owns it or may write there, or in a directory on the way.
pub fn private_directory(path: &Path) -> Result<PathBuf> {
    // Before anything is made in it.
    check_directory(path)?;
    DirBuilder::new().recursive(true).mode(OWN_MODE).create(path).map_err(io_error("create the directory", path))?;
    check_directory(path)?;
    fs::canonicalize(path).map_err(io_error("resolve", path))
}

/// That a directory is ours alone, or would be if it were made; changes nothing.
///
/// # Errors
/// As [`private_directory`].
pub fn check_directory(path: &Path) -> Result<()> {
    let path = std::path::absolute(path).map_err(io_error("resolve", path))?;
    let there = path.ancestors().find(|ancestor| fs::symlink_metadata(ancestor).is_ok());
    let there = there.unwrap_or(&path);
    check_way(there)?;
    if there != path {
        return Ok(());
    }
    let resolved = fs::canonicalize(&path).map_err(io_error("resolve", &path))?;
    let about = fs::metadata(&resolved).map_err(io_error("examine", &resolved))?;
    // The sticky bit is no excuse here.
    match about.uid() == geteuid().as_raw() && about.mode() & WRITTEN_BY_OTHERS == 0 {
        true => Ok(()),
        false => Err(not_private(&resolved, &resolved, &about)),
    }
}

/// That `path`, which is there, and every directory on the way to it can be changed by root and by us alone.
///
/// # Errors
/// As [`private_directory`].
pub fn check_way(path: &Path) -> Result<()> {
    if path.components().any(|part| part == Component::ParentDir) || !path.is_absolute() {
        return Err(io_error("use", path)(Error::new(ErrorKind::InvalidInput, "it is no absolute path without `..`")));
    }
    for part in path.ancestors() {
        let about = fs::symlink_metadata(part).map_err(io_error("examine", part))?;
        if !is_ours(&about) {
            return Err(not_private(path, part, &about));
        }
        if about.is_symlink() {
            let target = fs::canonicalize(part).map_err(io_error("resolve", part))?;
            check_way(&target)?;
        }
    }
    Ok(())
}

/// That a regular file is there, and that nobody but root and we can change it or put another in its place, in whatever
/// directory on the way to it and through whatever link; gives its path without links.
///
/// # Errors
/// As [`private_directory`]; [`NotPrivate::Io`] where there is none, or something else.
pub fn check_file(path: &Path) -> Result<PathBuf> {
    check_way(path)?;
    let resolved = fs::canonicalize(path).map_err(io_error("resolve", path))?;
    let file = open_no_link(&resolved).map_err(io_error("open", path))?;
    let about = file.metadata().map_err(io_error("examine", path))?;
    // The sticky bit is no excuse here.
    match is_ours(&about) && about.mode() & WRITTEN_BY_OTHERS == 0 {
        true => Ok(resolved),
        false => Err(not_private(path, &resolved, &about)),
    }
}

/// Whether only root and we can change what has this name, or what is in it.
fn is_ours(about: &Metadata) -> bool {
    let is_owned = about.uid() == 0 || about.uid() == geteuid().as_raw();
    let is_closed = about.mode() & WRITTEN_BY_OTHERS == 0 || about.mode() & STICKY != 0;
    // The mode of a link says nothing.
    is_owned && (is_closed || about.is_symlink())
}

fn not_private(path: &Path, part: &Path, about: &Metadata) -> NotPrivate {
    NotPrivate::Open {
        path: path.to_owned(),
        part: part.to_owned(),
        owner: about.uid(),
        mode: about.mode() & 0o7777,
        user: geteuid().as_raw(),
    }
}

/// Opens a file of our own; one that is made is ours alone. No link is followed, nothing that is no file is waited for.
///
/// # Errors
/// It is a link, no regular file, has a second name, or belongs to somebody else.
pub fn open_private(path: &Path, how: &mut OpenOptions) -> std::io::Result<File> {
    let careful = (OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits() as i32;
    let file = how.mode(OWN_FILE_MODE).custom_flags(careful).open(path)?;
    let about = file.metadata()?;
    let found = match () {
        () if !about.is_file() => "it is no regular file",
        () if about.nlink() > 1 => "the file has a second name elsewhere",
        () if about.uid() != geteuid().as_raw() => "the file belongs to somebody else",
        () if about.mode() & WRITTEN_BY_OTHERS != 0 => "others may write to the file",
        () => return Ok(file),
    };
    Err(Error::new(ErrorKind::PermissionDenied, found))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn open_to(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_directory_is_made_for_its_owner_alone_and_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let made = private_directory(&directory.path().join("a/b")).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
        assert_eq!(private_directory(&made).unwrap(), made);
        let link = directory.path().join("link");
        symlink(&made, &link).unwrap();
        assert_eq!(private_directory(&link).unwrap(), made, "a link of our own is followed");
    }

    #[test]
    fn one_that_others_can_write_to_is_refused_wherever_on_the_way_that_is() {
        let directory = tempfile::tempdir().unwrap();
        let (outer, inner) = (directory.path().join("outer"), directory.path().join("outer/inner"));
        private_directory(&inner).unwrap();
        for (open, mode) in [(&inner, 0o770), (&inner, 0o1777), (&outer, 0o777)] {
            open_to(open, mode);
            let refusal = private_directory(&inner).unwrap_err().to_string();
            assert!(refusal.contains(&format!("{} (mode {mode:o}", open.display())), "{refusal}");
            open_to(open, 0o700);
        }
        open_to(&outer, 0o1777);
        private_directory(&inner).unwrap();
        let new = outer.join("new");
        open_to(&outer, 0o777);
        assert!(private_directory(&new).is_err() && !new.exists(), "nothing is made there");
    }

    #[test]
    fn a_file_is_ours_where_nobody_can_put_another_in_its_place() {
        let directory = tempfile::tempdir().unwrap();
        // As the system has it: the temporary directory may be named through a link.
        let root = fs::canonicalize(directory.path()).unwrap();
        let (outer, file) = (root.join("outer"), root.join("outer/inner/config"));
        private_directory(&root.join("outer/inner")).unwrap();
        fs::write(&file, "").unwrap();
        open_to(&file, 0o644);
        assert_eq!(check_file(&file).unwrap(), file);
        for (open, mode, back) in
            [(&file, 0o664, 0o644), (&file, 0o1666, 0o644), (&outer, 0o770, 0o700), (&outer, 0o777, 0o700)]
        {
            open_to(open, mode);
            let refusal = check_file(&file).unwrap_err().to_string();
            assert!(refusal.contains(&format!("{} (mode {mode:o}", open.display())), "{refusal}");
            open_to(open, back);
        }
        // A link is as good as the way to what it names.
        let link = root.join("link");
        symlink(&file, &link).unwrap();
        assert_eq!(check_file(&link).unwrap(), file);
        open_to(&outer, 0o777);
        check_file(&link).unwrap_err();
        open_to(&outer, 0o700);
        let missing = check_file(&root.join("none")).unwrap_err();
        assert!(matches!(missing, NotPrivate::Io { source, .. } if source.kind() == ErrorKind::NotFound));
        check_file(&root).unwrap_err();
        check_file(&root.join("outer/../link")).unwrap_err();
        check_file(Path::new("Cargo.toml")).unwrap_err();
    }

    #[test]
    fn a_link_a_pipe_and_a_second_name_are_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("target"), "kept").unwrap();
        symlink(at("target"), at("link")).unwrap();
        fs::hard_link(at("target"), at("second")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .unwrap();
        for name in ["link", "second", "pipe"] {
            let how = &mut OpenOptions::new();
            assert!(open_private(&at(name), how.read(true).write(true).create(true)).is_err(), "{name}");
        }
        let made = open_private(&at("new"), OpenOptions::new().write(true).create(true)).unwrap();
        assert_eq!(made.metadata().unwrap().mode() & 0o777, 0o600);
    }
}
