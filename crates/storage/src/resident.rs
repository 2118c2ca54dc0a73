//! Which pages of files are in the page cache, and the same pages read into it again.
//!
//! The content that a workload's keys leave in a page cache comes slowly: measured, device reads for each operation
//! went on changing until the keys had turned it over 5 to 12 times. It need not come again for each trial: the pages
//! that are in memory when it has settled are noted here, and read into the page cache of the next trial.
//!
//! Which of them the kernel keeps rather than others it does not say. But what is in memory in two looks, between which
//! the keys have turned the page cache over, is what it keeps: these pages are read twice, which puts them on its list of
//! active ones. Measured (zipfian keys, chunks of 64 KiB, a page cache of 65 MiB; 0.99 to 1.03 device reads for each
//! operation when settled): rounds of 3 turnovers showed 0.74, 0.95, 0.99, 1.00 after files were read evenly, 0.79, 0.90,
//! 0.97, 1.01 after all pages were read once, and 0.83, 0.98, 0.99, 1.00 this way. The first is low because a chunk that is
//! missing whole is read at once, and one of which some pages are there in pieces; what the kernel remembers of pages that
//! it let go (mm/workingset.c) cannot be put back.
//!
//! The files of that one are clones under other names: Cassandra numbers anew what it takes in. A file is the same
//! where its directory has the same place, its length is equal, and so is what follows the last hyphen of its name
//! (`nb-7-big-Data.db`: the component).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, fadvise};
use rustix::mm::{MapFlags, ProtFlags};
use serde::{Deserialize, Serialize};

use crate::error::{Result, io_error};
use crate::warm::{self, ReadFiles};

/// Bytes of a file that are looked at in one step.
const STEP_BYTES: u64 = 1 << 30;
/// Runs of pages that are asked for at once, so that a disk has more than one request to work on.
const RUNS_AT_ONCE: usize = 64;
/// Bytes that are read in one piece.
const PIECE_BYTES: u64 = 1 << 20;

/// The pages of a data set that were in the page cache at one moment.
#[derive(Debug, Clone, Default)]
pub struct Resident {
    files: Vec<NotedFile>,
}

#[derive(Debug, Clone)]
struct NotedFile {
    key: FileKey,
    /// Pages that were in memory in the last look.
    pages: Pages,
    /// Those of them that were there in every look.
    lasting: Pages,
}

/// What makes files of two data directories the same.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileKey {
    /// Place of the directory among those of the data set.
    directory: usize,
    component: String,
    bytes: u64,
}

/// Pages of a file, a bit each, the first one lowest in the first word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Pages(Vec<u64>);

/// Pages of a file that are to be read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FilePages {
    path: PathBuf,
    pages: Pages,
    /// Those of them that are read twice.
    lasting: Pages,
}

impl Resident {
    /// What of the files below these directories is in the page cache now.
    ///
    /// # Errors
    /// A directory that cannot be read, a file that cannot be mapped. One that is gone is none.
    pub fn of(directories: &[PathBuf]) -> Result<Self> {
        let mut files = Vec::new();
        for (key, path) in keyed(directories)? {
            let Some(file) = warm::open(&path)? else { continue };
            let pages = resident_pages(&file, key.bytes).map_err(io_error("ask what is in memory of", &path))?;
            files.push(NotedFile { key, lasting: pages.clone(), pages });
        }
        Ok(Self { files })
    }

    /// Another look at the same files, a while later.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn look_again(&mut self, directories: &[PathBuf]) -> Result<()> {
        let mut now = Self::of(directories)?;
        for file in &mut now.files {
            if let Some(before) = self.files.iter().find(|before| before.key == file.key) {
                file.lasting.keep_those_of(&before.lasting);
            }
        }
        *self = now;
        Ok(())
    }

    /// The same pages of the same files below these directories, whatever they are called there.
    ///
    /// # Errors
    /// A directory that cannot be read.
    pub fn found_below(&self, directories: &[PathBuf]) -> Result<Vec<FilePages>> {
        let mut noted: Vec<_> = self.files.iter().collect();
        let mut found = Vec::new();
        for (key, path) in keyed(directories)? {
            if let Some(place) = noted.iter().position(|file| file.key == key) {
                let NotedFile { pages, lasting, .. } = noted.remove(place);
                found.push(FilePages { path, pages: pages.clone(), lasting: lasting.clone() });
            }
        }
        Ok(found)
    }
}

impl FilePages {
    /// Bytes of these pages.
    pub fn bytes(&self) -> u64 {
        self.pages.0.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() * page_bytes()
    }
}

/// Reads these pages into the page cache of whoever calls. `goes_on` gets after each step how far it is, and says
/// whether to go on.
///
/// # Errors
/// A file that cannot be read. One that is gone is none.
pub fn read_pages(files: &[FilePages], goes_on: &mut dyn FnMut(ReadFiles) -> bool) -> Result<ReadFiles> {
    let of_bytes = files.iter().map(FilePages::bytes).sum();
    let mut so_far = ReadFiles { bytes: 0, of_bytes };
    let mut buffer = vec![0; PIECE_BYTES as usize];
    for FilePages { path, pages, lasting } in files {
        let Some(file) = warm::open(path)? else { continue };
        let runs: Vec<Range<u64>> = pages.runs().collect();
        for runs in runs.chunks(RUNS_AT_ONCE) {
            for run in runs {
                let length = std::num::NonZeroU64::new(run.end - run.start);
                fadvise(&file, run.start, length, Advice::WillNeed).map_err(io_error("advise on", path))?;
            }
            for run in runs {
                so_far.bytes += warm::read(&file, run.clone(), &mut buffer).map_err(io_error("read", path))?;
            }
            if !goes_on(so_far) {
                return Ok(so_far);
            }
        }
        // What is asked for again goes to the active list.
        for run in lasting.runs() {
            warm::read(&file, run, &mut buffer).map_err(io_error("read", path))?;
        }
    }
    Ok(so_far)
}

impl Pages {
    fn keep_those_of(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    /// Runs of neighbouring pages, as bytes of the file.
    fn runs(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let pages = self.0.len() as u64 * 64;
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < pages && !self.has(at) {
                // Whole words of nothing are passed over.
                at += if at.is_multiple_of(64) && self.0[(at / 64) as usize] == 0 { 64 } else { 1 };
            }
            let from = at;
            let most = PIECE_BYTES / page_bytes();
            while at < pages && at - from < most && self.has(at) {
                at += 1;
            }
            (at > from).then(|| from * page_bytes()..at * page_bytes())
        })
    }

    fn has(&self, page: u64) -> bool {
        self.0[(page / 64) as usize] >> (page % 64) & 1 == 1
    }
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// The files below these directories, in the order of their names.
fn keyed(directories: &[PathBuf]) -> Result<Vec<(FileKey, PathBuf)>> {
    let mut all = Vec::new();
    for (directory, path) in directories.iter().enumerate() {
        let mut files = Vec::new();
        warm::list(path, &mut files)?;
        files.sort();
        all.extend(
            files.into_iter().map(|(path, bytes)| (FileKey { directory, component: component(&path), bytes }, path)),
        );
    }
    Ok(all)
}

fn component(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit('-').next().unwrap_or_default().to_owned()
}

/// Pages of a file of this length that are in the page cache (mincore(2); whoever may write to a file may ask).
fn resident_pages(file: &File, bytes: u64) -> io::Result<Pages> {
    let words = bytes.div_ceil(page_bytes()).div_ceil(64);
    let mut pages = Pages(vec![0; words as usize]);
    for from in (0..bytes).step_by(STEP_BYTES as usize) {
        let step = from..bytes.min(from + STEP_BYTES);
        let first = from / page_bytes();
        for (page, state) in (first..).zip(in_memory(file, step)?) {
            // The other bits are reserved.
            pages.0[(page / 64) as usize] |= u64::from(state & 1) << (page % 64);
        }
    }
    Ok(pages)
}

/// A byte for each page of this part of a file, its lowest bit set where the page is in memory.
#[expect(
    unsafe_code,
    reason = "no crate that is kept up offers mincore(2) otherwise. The mapping allows no access (PROT_NONE), nothing \
              points into it, and it ends here; the kernel writes one byte for each page of it, for which there is room"
)]
fn in_memory(file: &File, part: Range<u64>) -> io::Result<Vec<u8>> {
    let length = (part.end - part.start) as usize;
    let mut states = vec![0_u8; length.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping at an address that the kernel chooses.
    let mapping = unsafe {
        rustix::mm::mmap(std::ptr::null_mut(), length, ProtFlags::empty(), MapFlags::SHARED, file, part.start)
    }?;
    // SAFETY: all of `length` is mapped, and `states` has a byte for each of its pages.
    let asked = match unsafe { libc::mincore(mapping, length, states.as_mut_ptr()) } {
        0 => Ok(states),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: the mapping made above, of which nothing is held.
    unsafe { rustix::mm::munmap(mapping, length) }?;
    asked
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn page(n: u64) -> u64 {
        n * page_bytes()
    }

    #[test]
    fn runs_are_the_pages_that_are_set() {
        let runs = |words: &[u64]| -> Vec<_> {
            Pages(words.to_vec()).runs().map(|run| (run.start / page_bytes(), run.end / page_bytes())).collect()
        };
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[0, 0]), []);
        assert_eq!(runs(&[0b1011, 0, 1]), [(0, 2), (3, 4), (128, 129)]);
        assert_eq!(runs(&[1 << 63, 1]), [(63, 65)]);
        let all = runs(&[u64::MAX; 16]);
        assert_eq!(all.iter().map(|(from, to)| to - from).sum::<u64>(), 1_024);
        assert!(all.iter().all(|(from, to)| page(to - from) <= PIECE_BYTES));
    }

    /// A table of a database, with a generation in its names.
    fn table(root: &Path, generation: u32) -> PathBuf {
        let directory = root.join(generation.to_string());
        fs::create_dir(&directory).unwrap();
        let file = |component: &str| directory.join(format!("nb-{generation}-big-{component}"));
        fs::write(file("Data.db"), vec![1; page(300) as usize + 5]).unwrap();
        fs::write(file("Index.db"), vec![2; page(20) as usize]).unwrap();
        for component in ["Data.db", "Index.db"] {
            File::open(file(component)).unwrap().sync_all().unwrap();
        }
        crate::drop_page_cache(&directory).unwrap();
        directory
    }

    /// On a disk: what lies in memory alone is always there.
    #[test]
    fn pages_that_were_in_memory_are_read_again_under_another_name() {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        let before = table(root.path(), 7);
        assert!(
            Resident::of(std::slice::from_ref(&before))
                .unwrap()
                .files
                .iter()
                .all(|file| file.pages.runs().count() == 0)
        );
        let read = |component: &str, pages: Range<u64>| {
            let file = warm::open(&before.join(format!("nb-7-big-{component}"))).unwrap().unwrap();
            warm::read(&file, page(pages.start)..page(pages.end), &mut vec![0; 1 << 20]).unwrap();
        };
        read("Data.db", 3..5);
        read("Data.db", 64..65);
        read("Data.db", 300..301);
        read("Index.db", 0..20);
        let resident = Resident::of(&[before]).unwrap();

        let after = table(root.path(), 12);
        fs::write(after.join("nb-13-big-Data.db"), "a flush, with another length").unwrap();
        let found = resident.found_below(std::slice::from_ref(&after)).unwrap();
        assert_eq!(found.iter().map(FilePages::bytes).sum::<u64>(), page(24));
        let read = read_pages(&found, &mut |_| true).unwrap();
        assert_eq!(read, ReadFiles { bytes: page(23) + 5, of_bytes: page(24) }, "the last page is not whole");
        let again = Resident::of(&[after]).unwrap();
        let pages = |resident: &Resident| -> Vec<Pages> {
            let noted = |file: &&NotedFile| file.key.bytes >= page(20);
            resident.files.iter().filter(noted).map(|file| file.pages.clone()).collect()
        };
        assert_eq!(pages(&again), pages(&resident));
    }

    #[test]
    fn what_is_in_memory_in_both_looks_lasts() {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        let directories = [table(root.path(), 7)];
        let file = warm::open(&directories[0].join("nb-7-big-Data.db")).unwrap().unwrap();
        let read = |pages: Range<u64>| {
            warm::read(&file, page(pages.start)..page(pages.end), &mut vec![0; 1 << 20]).unwrap();
        };
        read(0..4);
        let mut resident = Resident::of(&directories).unwrap();
        crate::drop_page_cache(&directories[0]).unwrap();
        read(2..8);
        resident.look_again(&directories).unwrap();
        let found = resident.found_below(&directories).unwrap();
        let pages =
            |pages: &Pages| pages.runs().map(|run| (run.start / page(1), run.end / page(1))).collect::<Vec<_>>();
        assert_eq!(pages(&found[0].pages), [(2, 8)]);
        assert_eq!(pages(&found[0].lasting), [(2, 4)]);
    }
}
