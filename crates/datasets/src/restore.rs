//! A data set comes back from a store.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use evidence::KeptPart;
use sha2::{Digest as _, Sha256};

use crate::error::StoreError;
use crate::place::{PartsLocation, Progress};
use crate::tar::{self, BLOCK, Header};
use crate::transfer::{Download, agent};

/// A piece that is written at a time.
const CHUNK: usize = 256 << 10;

/// What comes from a store is its owner's, and nothing of it is a program, whatever modes it was kept with: a setuid
/// file of root's would be one for everybody.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// Writes the files of an archive below the empty directory `into`, which is made; gives their bytes. What is there
/// after an error is of no use.
///
/// # Errors
/// [`StoreError::Damaged`] where a part is missing, or is not what was kept; what the store refuses; what cannot be
/// written here; [`StoreError::Cancelled`].
pub fn restore(
    parts: &[KeptPart],
    place: &PartsLocation,
    into: &Path,
    progress: Progress<'_>,
) -> Result<u64, StoreError> {
    fs::create_dir_all(into).map_err(StoreError::io("create", into))?;
    fs::set_permissions(into, Permissions::from_mode(DIRECTORY_MODE)).map_err(StoreError::io("change", into))?;
    let agent = agent();
    let mut archive =
        Archive { parts, place, agent: &agent, number: 0, source: None, hasher: Sha256::new(), position: 0, progress };
    let mut bytes = 0;
    let mut buffer = vec![0; CHUNK];
    loop {
        let mut header: Header = [0; BLOCK as usize];
        archive.fill(&mut header)?;
        if header.iter().all(|byte| *byte == 0) {
            break;
        }
        let entry = tar::entry(&header).map_err(|why| archive.damaged(why))?;
        let path = into.join(&entry.path);
        if entry.is_directory {
            fs::create_dir_all(&path).map_err(StoreError::io("create", &path))?;
            fs::set_permissions(&path, Permissions::from_mode(DIRECTORY_MODE))
                .map_err(StoreError::io("change", &path))?;
            continue;
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(&path)
            .map_err(StoreError::io("create", &path))?;
        let mut left = entry.bytes;
        while left > 0 {
            let room = left.min(CHUNK as u64) as usize;
            archive.fill(&mut buffer[..room])?;
            file.write_all(&buffer[..room]).map_err(StoreError::io("write to", &path))?;
            left -= room as u64;
        }
        archive.fill(&mut buffer[..tar::padding(entry.bytes) as usize])?;
        bytes += entry.bytes;
    }
    // To the very end: only there is a part known to be right.
    while archive.next(&mut buffer)? > 0 {}
    let directory = File::open(into).map_err(StoreError::io("open", into))?;
    let synced = rustix::fs::syncfs(&directory).map_err(std::io::Error::from);
    synced.map_err(StoreError::io("sync the file system of", into))?;
    Ok(bytes)
}

/// The bytes of all parts, one after the other.
struct Archive<'a, 'p> {
    parts: &'a [KeptPart],
    place: &'a PartsLocation,
    agent: &'a ureq::Agent,
    /// The part under way.
    number: usize,
    source: Option<Source<'a>>,
    hasher: Sha256,
    /// In the archive.
    position: u64,
    progress: &'p mut dyn FnMut(u64) -> bool,
}

enum Source<'a> {
    File { file: File, left: u64 },
    Url(Download<'a>),
}

impl<'a> Archive<'a, '_> {
    /// All of the buffer, or the archive is too short.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), StoreError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.next(&mut buffer[filled..])? {
                0 => return Err(self.damaged("it ends in the middle of a file")),
                read => filled += read,
            }
        }
        Ok(())
    }

    /// The next bytes; none at the end of the last part.
    fn next(&mut self, buffer: &mut [u8]) -> Result<usize, StoreError> {
        if !(self.progress)(self.position) {
            return Err(StoreError::Cancelled);
        }
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(part) = self.parts.get(self.number) {
            let reported = self.place.reported(&part.name);
            let read = match &mut self.source {
                None => {
                    self.source = Some(open(self.place, self.agent, part, self.number, &reported)?);
                    continue;
                }
                Some(Source::Url(download)) => download.next(buffer)?,
                Some(Source::File { file, left }) => {
                    let room = (*left).min(buffer.len() as u64) as usize;
                    let read = file.read(&mut buffer[..room]);
                    let read = read.map_err(StoreError::io("read", Path::new(&reported)))?;
                    *left -= read as u64;
                    read
                }
            };
            if read > 0 {
                self.hasher.update(&buffer[..read]);
                self.position += read as u64;
                return Ok(read);
            }
            let actual = guarded::hex(&std::mem::replace(&mut self.hasher, Sha256::new()).finalize());
            if actual != part.sha256 {
                return Err(StoreError::Damaged(format!(
                    "{reported} has the SHA-256 {actual}, and was kept with {}",
                    part.sha256
                )));
            }
            (self.number, self.source) = (self.number + 1, None);
        }
        Ok(0)
    }

    fn damaged(&self, why: &str) -> StoreError {
        let part = self.parts.get(self.number.min(self.parts.len().saturating_sub(1)));
        let name = part.map_or_else(String::new, |part| self.place.reported(&part.name));
        StoreError::Damaged(format!("{name} is no archive of iopslab: {why}"))
    }
}

fn open<'a>(
    place: &'a PartsLocation,
    agent: &'a ureq::Agent,
    part: &KeptPart,
    number: usize,
    reported: &str,
) -> Result<Source<'a>, StoreError> {
    match place {
        PartsLocation::Directory { store, key } => {
            let file = key.join(&part.name);
            let path = store.join(&file);
            let missing = |error: std::io::Error| match error.kind() {
                std::io::ErrorKind::NotFound => StoreError::Damaged(format!("{reported} is missing")),
                std::io::ErrorKind::InvalidInput | std::io::ErrorKind::NotADirectory => {
                    StoreError::Damaged(format!("{reported}: {error}"))
                }
                _ => StoreError::io("open", &path)(error),
            };
            // The name is whatever the store's document says.
            let file = guarded::open_below(store, &file).map_err(missing)?;
            let bytes = file.metadata().map_err(StoreError::io("examine", &path))?.len();
            match bytes == part.bytes {
                true => Ok(Source::File { file, left: bytes }),
                false => {
                    Err(StoreError::Damaged(format!("{reported} has {bytes} bytes, and was kept with {}", part.bytes)))
                }
            }
        }
        PartsLocation::Urls { name, urls } => {
            let url = urls.get(number);
            let url = url.ok_or_else(|| StoreError::Damaged(format!("no URL for {reported} in {name}")))?;
            Ok(Source::Url(Download {
                agent,
                url,
                what: format!("cannot fetch {reported}"),
                position: 0,
                bytes: part.bytes,
                under_way: None,
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::{Layout, keep};

    /// A data set of some files, one of them empty and one longer than a part.
    fn data_set() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let (data, store) = (directory.path().join("data"), directory.path().join("store"));
        fs::create_dir_all(data.join("ycsb/usertable-1")).unwrap();
        fs::create_dir_all(data.join("empty")).unwrap();
        let bytes: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
        fs::write(data.join("ycsb/usertable-1/nb-1-big-Data.db"), &bytes).unwrap();
        fs::write(data.join("ycsb/usertable-1/nb-1-big-TOC.txt"), "Data.db").unwrap();
        fs::write(data.join("nothing"), "").unwrap();
        fs::set_permissions(data.join("nothing"), Permissions::from_mode(0o600)).unwrap();
        (directory, data, store)
    }

    fn tree(root: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            if path.is_dir() {
                found.push((path.clone(), mode, Vec::new()));
                found.extend(tree(&path));
            } else {
                found.push((path.clone(), mode, fs::read(&path).unwrap()));
            }
        }
        let mut below: Vec<_> = found
            .into_iter()
            .map(|(path, mode, bytes)| (path.strip_prefix(root).unwrap_or(&path).to_owned(), mode, bytes))
            .collect();
        below.sort();
        below
    }

    fn at(store: &Path) -> PartsLocation {
        PartsLocation::Directory { store: store.to_owned(), key: "key".into() }
    }

    fn kept(data: &Path, store: &Path) -> Vec<KeptPart> {
        let layout = Layout::of(data).unwrap();
        let mut last = 0;
        let progress = &mut |done| {
            assert!(done >= last && done <= layout.bytes());
            last = done;
            true
        };
        keep(&layout, &at(store), "loading-1", 7_000, progress).unwrap()
    }

    #[test]
    fn what_was_kept_in_parts_is_restored_as_it_was() {
        let (directory, data, store) = data_set();
        let parts = kept(&data, &store);
        assert!(parts.len() > 5, "{parts:?}");
        let into = directory.path().join("restored");
        let bytes = restore(&parts, &at(&store), &into, &mut |_| true).unwrap();
        assert_eq!(bytes, 40_007);
        let contents = |root: &Path| tree(root).into_iter().map(|(path, _, bytes)| (path, bytes)).collect::<Vec<_>>();
        assert_eq!(contents(&into), contents(&data));
    }

    /// Whoever can write to a store would have root make programs that run as root, for everybody.
    #[test]
    fn modes_of_a_store_are_not_believed() {
        let (directory, data, store) = data_set();
        let chosen = [("nothing", 0o4755), ("ycsb/usertable-1/nb-1-big-TOC.txt", 0o777), ("empty", 0o2777)];
        for (name, mode) in chosen {
            fs::set_permissions(data.join(name), Permissions::from_mode(mode)).unwrap();
        }
        let parts = kept(&data, &store);
        let into = directory.path().join("restored");
        restore(&parts, &at(&store), &into, &mut |_| true).unwrap();
        for (path, mode, _) in tree(&into) {
            let is_directory = ["empty", "ycsb", "usertable-1"].iter().any(|name| path.ends_with(name));
            let expected = if is_directory { DIRECTORY_MODE } else { FILE_MODE };
            assert_eq!(mode & 0o7777, expected, "{}", path.display());
        }
        assert_eq!(fs::metadata(&into).unwrap().permissions().mode() & 0o7777, DIRECTORY_MODE);
    }

    #[test]
    fn any_tar_reads_the_parts() {
        let (directory, data, store) = data_set();
        let parts = kept(&data, &store);
        let whole: Vec<u8> =
            parts.iter().flat_map(|part| fs::read(store.join("key").join(&part.name)).unwrap()).collect();
        let (archive, into) = (directory.path().join("whole.tar"), directory.path().join("by-tar"));
        fs::write(&archive, whole).unwrap();
        fs::create_dir(&into).unwrap();
        let tar = std::process::Command::new("tar")
            .args(["-xpf", archive.to_str().unwrap(), "-C", into.to_str().unwrap()])
            .status();
        assert!(tar.unwrap().success());
        assert_eq!(tree(&into), tree(&data));
    }

    #[test]
    fn a_part_that_is_missing_short_or_changed_is_refused_with_its_name() {
        let (directory, data, store) = data_set();
        let parts = kept(&data, &store);
        let part = store.join("key").join(&parts[2].name);
        let sound = fs::read(&part).unwrap();
        let mut changed = sound.clone();
        changed[100] ^= 1;
        let cases: [(Option<&[u8]>, &str); 3] = [
            (Some(&changed), "data-0003.tar has the SHA-256"),
            (Some(&sound[..10]), "data-0003.tar has 10 bytes, and was kept with 7000"),
            (None, "data-0003.tar is missing"),
        ];
        for (number, (bytes, expected)) in cases.into_iter().enumerate() {
            match bytes {
                Some(bytes) => fs::write(&part, bytes).unwrap(),
                None => fs::remove_file(&part).unwrap(),
            }
            let into = directory.path().join(format!("restored-{number}"));
            let refused = restore(&parts, &at(&store), &into, &mut |_| true).unwrap_err();
            assert!(matches!(refused, StoreError::Damaged(_)), "{refused}");
            assert!(refused.to_string().contains(expected), "{refused}");
        }
    }

    #[test]
    fn both_ways_end_when_somebody_asks() {
        let (directory, data, store) = data_set();
        let parts = kept(&data, &store);
        let layout = Layout::of(&data).unwrap();
        let soon = &mut |done| done < 1_000;
        let ended = keep(&layout, &at(&store), "loading-2", 7_000, soon);
        assert!(matches!(ended, Err(StoreError::Cancelled)), "{ended:?}");
        let into = directory.path().join("restored");
        let ended = restore(&parts, &at(&store), &into, soon);
        assert!(matches!(ended, Err(StoreError::Cancelled)), "{ended:?}");
    }

    /// Whoever can write to a store would have root make files, and read them, wherever a link of theirs leads.
    #[test]
    fn a_link_in_the_place_of_a_data_set_leads_nowhere() {
        let (directory, data, store) = data_set();
        let parts = kept(&data, &store);
        let outside = directory.path().join("outside");
        fs::rename(store.join("key"), &outside).unwrap();
        std::os::unix::fs::symlink(&outside, store.join("key")).unwrap();
        let into = directory.path().join("restored");
        let refused = restore(&parts, &at(&store), &into, &mut |_| true);
        assert!(matches!(refused, Err(StoreError::Damaged(_))), "{refused:?}");

        let before = tree(&outside);
        let layout = Layout::of(&data).unwrap();
        for name in ["loading-1", "loading-2"] {
            let there = &at(&store);
            let refused = keep(&layout, there, name, 7_000, &mut |_| true).unwrap_err().to_string();
            assert!(refused.contains("key on the way to it is a symbolic link"), "{refused}");
        }
        assert_eq!(tree(&outside), before);
    }

    #[test]
    fn what_is_no_file_is_kept_nowhere() {
        let (_directory, data, _) = data_set();
        std::os::unix::fs::symlink("/etc", data.join("link")).unwrap();
        let refused = Layout::of(&data).unwrap_err().to_string();
        assert!(refused.contains("link is neither a file nor a directory"), "{refused}");
    }
}
