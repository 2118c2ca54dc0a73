//! What a ledger may have undone: its own directory's contents and what was made below directories that were recorded
//! beside it ([`crate::roots`]), never anything else. A root that an entry names is compared with these.
//!
//! The ledger lies where nobody else can write ([`guarded::private_directory`]). This is the second line: an entry that
//! was never ours, by whatever way it came to be there, is named and left alone.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use guarded::check_way;
use rustix::io::Errno;

use crate::error::{Result, StorageError, io_error};
use crate::ledger_item::{Entry, LedgerItem};
use crate::roots;

/// `f_type` of a mounted cgroup tree, version 1 and 2 (statfs(2): CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC).
const CGROUP_FILE_SYSTEMS: [u64; 2] = [0x0027_e0eb, 0x6367_7270];
/// Every table of network rules of ours has a name that begins like this.
const TABLES: &str = "iopslab";

/// Paths of an item that lie below a directory of ours.
pub(crate) fn paths_of(item: &LedgerItem) -> Vec<&Path> {
    match item {
        LedgerItem::LoopDevice { image: path }
        | LedgerItem::Mount { path }
        | LedgerItem::Directory { path }
        | LedgerItem::File { path } => vec![path],
        LedgerItem::Array { members } => members.iter().map(PathBuf::as_path).collect(),
        LedgerItem::Cgroup { .. }
        | LedgerItem::Process { .. }
        | LedgerItem::ServedFile { .. }
        | LedgerItem::ReadAhead { .. }
        | LedgerItem::NetworkCut { .. }
        | LedgerItem::FileSystem { .. } => Vec::new(),
    }
}

/// Whether a path lies below a directory, or is it, as it is written: absolute, without `..`.
pub(crate) fn is_below(path: &Path, directory: &Path) -> bool {
    path.is_absolute() && path.starts_with(directory) && !path.components().any(|part| part == Component::ParentDir)
}

/// That what an entry of the ledger in `base` names can be ours; `roots` were recorded there. Errors:
/// [`StorageError::NotOurs`] says what speaks against it.
pub(crate) fn check(entry: &Entry, base: &Path, roots: &[PathBuf]) -> Result<()> {
    let item = &entry.item;
    let refuse = |reason: String| Err(StorageError::NotOurs { what: item.to_string(), reason });
    let root = match entry.root.as_deref() {
        None => base,
        Some(root) if roots.iter().any(|known| known == root) => root,
        Some(root) => {
            let file = roots::file_in(base);
            return refuse(format!("{} is none of the directories in {}", root.display(), file.display()));
        }
    };
    for path in paths_of(item) {
        if !is_below(path, root) {
            return refuse(format!("{} is not below {}", path.display(), root.display()));
        }
        if let Err(error) = check_parent(path) {
            return refuse(error.to_string());
        }
    }
    match item {
        LedgerItem::FileSystem { device, uuid } => {
            let kind = fs::symlink_metadata(device).map(|about| about.file_type());
            if kind.is_ok_and(|kind| !kind.is_block_device()) {
                return refuse(format!("{} is no block device", device.display()));
            }
            if !is_uuid(uuid) {
                return refuse(format!("`{uuid}` identifies no file system"));
            }
        }
        LedgerItem::ReadAhead { device, .. } if !is_plain(device) => {
            return refuse(format!("`{device}` is no device's name"));
        }
        LedgerItem::NetworkCut { table } if !(table.starts_with(TABLES) && is_plain(table)) => {
            return refuse(format!("no table of ours is called `{table}`"));
        }
        _ => {}
    }
    Ok(())
}

/// That nobody else can put something else in the place of what has this name. What is not there any more is not looked
/// at.
fn check_parent(path: &Path) -> Result<()> {
    let there = path.ancestors().skip(1).find(|ancestor| fs::symlink_metadata(ancestor).is_ok());
    there.map_or(Ok(()), |there| Ok(check_way(there)?))
}

/// Whether a directory is part of a mounted cgroup tree, so that its `cgroup.procs` is the kernel's.
#[allow(clippy::useless_conversion, reason = "the type of f_type is another one elsewhere")]
pub(crate) fn is_cgroup(path: &Path) -> Result<bool> {
    match rustix::fs::statfs(path) {
        Ok(about) => Ok(CGROUP_FILE_SYSTEMS.contains(&(about.f_type as u64))),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(io_error("examine", path)(error)),
    }
}

/// Letters, digits, `-` and `_`: it can neither leave a directory nor end a word of a command.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// `8-4-4-4-12` hexadecimal digits.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(item: LedgerItem, root: Option<&Path>, base: &Path) -> Option<String> {
        let root = root.map(Path::to_owned);
        let roots: Vec<PathBuf> = root.iter().cloned().collect();
        check(&Entry { item, root }, base, &roots).err().map(|error| error.to_string())
    }

    #[test]
    fn an_entry_cannot_name_its_root_by_itself() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().join("work");
        let item = LedgerItem::Directory { path: "/etc/x".into() };
        let recorded = [directory.path().join("data")];
        for root in ["/", "/etc", "/etc/x"] {
            let entry = Entry { item: item.clone(), root: Some(root.into()) };
            let refused = check(&entry, &base, &recorded).unwrap_err().to_string();
            assert!(refused.contains(&format!("{root} is none of the directories in")), "{refused}");
        }
    }

    #[test]
    fn paths_must_lie_below_the_ledger_s_directory_or_one_that_its_entry_names() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().join("work");
        fs::create_dir_all(base.join("open")).unwrap();
        let item = |path: PathBuf| LedgerItem::Directory { path };
        assert_eq!(refusal(item(base.join("runs/x")), None, &base), None);
        for outside in [PathBuf::from("/etc"), directory.path().to_owned(), base.join("../other"), "runs".into()] {
            let refused = refusal(item(outside.clone()), None, &base).unwrap();
            assert!(refused.contains("is not below"), "{outside:?}: {refused}");
        }
        assert_eq!(refusal(item(directory.path().join("data/x")), Some(directory.path()), &base), None);

        // What others could exchange is not touched, wherever it lies.
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(base.join("open"), fs::Permissions::from_mode(0o777)).unwrap();
        let refused = refusal(item(base.join("open/x")), None, &base).unwrap();
        assert!(refused.contains("can be changed by others"), "{refused}");
    }

    #[test]
    fn devices_and_tables_are_reported_by_what_they_are() {
        let base = Path::new("/");
        let uuid = "0c3b2d3e-7a0e-4f5b-9e35-1d0a5f2b9a11";
        let system = |device: &str, uuid: &str| LedgerItem::FileSystem { device: device.into(), uuid: uuid.to_owned() };
        assert!(refusal(system("/etc/passwd", uuid), None, base).unwrap().contains("no block device"));
        assert!(refusal(system("/dev/none", ","), None, base).unwrap().contains("identifies no file system"));
        let table = |table: &str| LedgerItem::NetworkCut { table: table.to_owned() };
        assert_eq!(refusal(table("iopslab-1"), None, base), None);
        for name in ["firewall", "iopslab; flush ruleset"] {
            assert!(refusal(table(name), None, base).is_some(), "{name}");
        }
        let device = LedgerItem::ReadAhead { device: "../../../etc".to_owned(), disk: String::new(), kb: 1 };
        assert!(refusal(device, None, base).is_some());
        assert!(!is_cgroup(Path::new("/tmp")).unwrap() && !is_cgroup(Path::new("/no/such")).unwrap());
    }
}
