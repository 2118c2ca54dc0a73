//! Making files cold where nothing can be mounted anew: their pages leave the page cache one file at a time, which
//! needs no root and touches nobody else's.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Advice, fadvise, major, minor};

use crate::error::{Result, io_error};

/// Drops the pages of every file below `directory` from the page cache (posix_fadvise(2), `POSIX_FADV_DONTNEED`); what
/// has not been written yet stays, so sync first. Names and sizes that the kernel keeps (dentries, inodes) stay too.
pub fn drop_page_cache(directory: &Path) -> Result<()> {
    let entries = guarded::if_there(fs::read_dir(directory)).map_err(io_error("list", directory))?;
    for entry in entries.into_iter().flatten() {
        let path = entry.map_err(io_error("list", directory))?.path();
        let kind = fs::symlink_metadata(&path).map_err(io_error("examine", &path))?;
        if kind.is_dir() {
            drop_page_cache(&path)?;
        } else if kind.is_file() {
            // A database may be at work there: it was a file a moment ago.
            let file = guarded::open_no_link(&path).map_err(io_error("open", &path))?;
            fadvise(&file, 0, None, Advice::DontNeed).map_err(io_error("drop from the page cache", &path))?;
        }
    }
    Ok(())
}

/// Kernel name of the device that holds `path`: `nvme0n1p1`. `None` where the file system has no device of its own
/// (overlay, btrfs, network).
pub fn device_of(path: &Path) -> Option<String> {
    let number = fs::metadata(path).ok()?.dev();
    let link = format!("/sys/dev/block/{}:{}", major(number), minor(number));
    let device = fs::canonicalize(link).ok()?;
    Some(device.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_read_leave_the_page_cache_and_stay_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("deep/file");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, vec![7_u8; 1 << 20]).unwrap();
        fs::File::open(&file).unwrap().sync_all().unwrap();
        drop_page_cache(directory.path()).unwrap();
        assert_eq!(fs::read(&file).unwrap(), vec![7_u8; 1 << 20]);
        drop_page_cache(&directory.path().join("none")).unwrap();
    }

    #[test]
    fn a_directory_on_a_disk_names_it() {
        // /proc has no device; where the tests run may have none either, but then it has no name that is wrong.
        assert_eq!(device_of(Path::new("/proc")), None);
        if let Some(name) = device_of(Path::new(env!("CARGO_MANIFEST_DIR"))) {
            assert!(Path::new("/sys/class/block").join(&name).exists(), "{name}");
        }
    }
}
