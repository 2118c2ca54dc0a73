//! Which pages of files are in the page cache, and the same pages read into it again.
//!
//! The content that a workload's keys leave in a page cache comes slowly: measured, device reads for each operation
//! went on changing until the keys had turned it over 5 to 12 times. It need not come again for each trial: the pages
//! that are in memory when it has settled are noted here, and read into the page cache of the next trial.
//!
//! Which of them the kernel keeps rather than others it does not say. But what is in memory in two looks, between which
//! the keys have turned the page cache over, is what it keeps: these pages are read twice, which puts them on its list
//! of active ones. Measured (zipfian keys, chunks of 64 KiB, a page cache of 65 MiB; 0.99 to 1.03 device reads for each
//! operation when settled): rounds of 3 turnovers showed 0.74, 0.95, 0.99, 1.00 after files were read evenly, 0.79,
//! 0.90, 0.97, 1.01 after all pages were read once, and 0.83, 0.98, 0.99, 1.00 this way. The first is low because a
//! chunk that is missing whole is read at once, and one of which some pages are there in pieces; what the kernel
//! remembers of pages that it let go (mm/workingset.c) cannot be put back.
//!
//! The files of that one are clones under other names: Cassandra numbers anew what it takes in. A file is the same
//! where its directory has the same place, its length is equal, and so is what follows the last hyphen of its name
//! (`nb-7-big-Data.db`: the component).
//!
//! The files are the database's, and root asks: how they are found and opened is `warm.rs`'s. Memory is taken for pages
//! that are in memory alone, however long a file says it is.

use std::collections::{BTreeMap, HashMap, VecDeque};
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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FileKey {
    /// Place of the directory among those of the data set.
    directory: usize,
    component: String,
    bytes: u64,
}

/// Pages of a file, a bit each: of 64 neighbours a word, by its place, the first one lowest. There is no word of none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Pages(BTreeMap<u64, u64>);

/// Pages of a file that are to be read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FilePages {
    /// The directory of the data set.
    directory: PathBuf,
    /// Below it.
    file: PathBuf,
    pages: Pages,
    /// Those of them that are read twice.
    lasting: Pages,
}

impl Resident {
    /// What of the files below these directories is in the page cache now. Errors: a directory that cannot be read, a
    /// file that cannot be mapped. One that is gone is none.
    pub fn of(directories: &[PathBuf]) -> Result<Self> {
        let mut files = Vec::new();
        for (key, directory, name) in keyed(directories)? {
            let Some(file) = warm::open(directory, &name)? else { continue };
            let pages = resident_pages(&file, key.bytes);
            let pages = pages.map_err(io_error("ask what is in memory of", &directory.join(&name)))?;
            files.push(NotedFile { key, lasting: pages.clone(), pages });
        }
        Ok(Self { files })
    }

    /// Another look at the same files, a while later. Errors: as [`Self::of`].
    pub fn look_again(&mut self, directories: &[PathBuf]) -> Result<()> {
        let mut now = Self::of(directories)?;
        // A database may have very many files.
        let before = self.by_key();
        for file in &mut now.files {
            match before.get(&file.key).and_then(VecDeque::front) {
                Some(before) => file.lasting.keep_those_of(&before.lasting),
                None => file.lasting = Pages::default(),
            }
        }
        drop(before);
        *self = now;
        Ok(())
    }

    /// The same pages of the same files below these directories, whatever they are called there. Errors: a directory
    /// that cannot be read.
    pub fn found_below(&self, directories: &[PathBuf]) -> Result<Vec<FilePages>> {
        let mut noted = self.by_key();
        let mut found = Vec::new();
        for (key, directory, file) in keyed(directories)? {
            if let Some(NotedFile { pages, lasting, .. }) = noted.get_mut(&key).and_then(VecDeque::pop_front) {
                let directory = directory.to_owned();
                found.push(FilePages { directory, file, pages: pages.clone(), lasting: lasting.clone() });
            }
        }
        Ok(found)
    }

    /// The files that are the same, in their order.
    fn by_key(&self) -> HashMap<&FileKey, VecDeque<&NotedFile>> {
        let mut all: HashMap<&FileKey, VecDeque<&NotedFile>> = HashMap::new();
        for file in &self.files {
            all.entry(&file.key).or_default().push_back(file);
        }
        all
    }
}

impl FilePages {
    /// Bytes of these pages.
    pub fn bytes(&self) -> u64 {
        self.pages.0.values().map(|word| u64::from(word.count_ones())).sum::<u64>() * page_bytes()
    }
}

/// Reads these pages into the page cache of whoever calls. `goes_on` gets after each run of neighbours how far it is,
/// and says whether to go on. Errors: a file that cannot be read. One that is gone is none.
pub fn read_pages(files: &[FilePages], goes_on: &mut dyn FnMut(ReadFiles) -> bool) -> Result<ReadFiles> {
    let of_bytes = files.iter().map(FilePages::bytes).sum();
    let mut so_far = ReadFiles { bytes: 0, of_bytes };
    let mut buffer = vec![0; PIECE_BYTES as usize];
    for FilePages { directory, file, pages, lasting } in files {
        let path = &directory.join(file);
        let Some(file) = warm::open(directory, file)? else { continue };
        let runs: Vec<Range<u64>> = pages.runs().collect();
        for runs in runs.chunks(RUNS_AT_ONCE) {
            for run in runs {
                let length = std::num::NonZeroU64::new(run.end - run.start);
                fadvise(&file, run.start, length, Advice::WillNeed).map_err(io_error("advise on", path))?;
            }
            for run in runs {
                so_far.bytes += warm::read(&file, run.clone(), &mut buffer).map_err(io_error("read", path))?;
                if !goes_on(so_far) {
                    return Ok(so_far);
                }
            }
        }
        // What is asked for again goes to the active list.
        for run in lasting.runs() {
            warm::read(&file, run, &mut buffer).map_err(io_error("read", path))?;
            if !goes_on(so_far) {
                return Ok(so_far);
            }
        }
    }
    Ok(so_far)
}

impl Pages {
    fn keep_those_of(&mut self, other: &Self) {
        self.0.retain(|place, word| {
            *word &= other.0.get(place).copied().unwrap_or_default();
            *word != 0
        });
    }

    fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().flat_map(|(&place, &word)| {
            let set = (0..64_u64).filter(move |bit| (word >> *bit) & 1 == 1);
            set.map(move |bit| place * 64 + bit)
        })
    }

    /// Runs of neighbouring pages, as bytes of the file.
    fn runs(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let most = PIECE_BYTES / page_bytes();
        let mut numbers = self.numbers().peekable();
        std::iter::from_fn(move || {
            let from = numbers.next()?;
            let mut to = from + 1;
            while to - from < most && numbers.next_if_eq(&to).is_some() {
                to += 1;
            }
            Some(from * page_bytes()..to * page_bytes())
        })
    }
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// The files below these directories, in the order of their names: each with its directory, and its path below it.
fn keyed(directories: &[PathBuf]) -> Result<Vec<(FileKey, &Path, PathBuf)>> {
    let mut all = Vec::new();
    for (directory, path) in directories.iter().enumerate() {
        let files = warm::list(path)?.into_iter();
        all.extend(files.map(|(file, bytes)| {
            let component = component(&file);
            (FileKey { directory, component, bytes }, path.as_path(), file)
        }));
    }
    Ok(all)
}

fn component(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit('-').next().unwrap_or_default().to_owned()
}

/// Pages of a file of this length that are in the page cache (mincore(2); whoever may write to a file may ask). Of one
/// that is shorter by now there are none beyond its end.
fn resident_pages(file: &File, bytes: u64) -> io::Result<Pages> {
    let mut pages = Pages::default();
    for from in (0..bytes).step_by(STEP_BYTES as usize) {
        let states = in_memory(file, from..bytes.min(from + STEP_BYTES))?;
        // Steps are whole words: 64 pages of 16 MiB at most.
        for (place, states) in (from / page_bytes() / 64..).zip(states.chunks(64)) {
            // The other bits are reserved.
            let set = |word: u64, (bit, state): (usize, &u8)| word | (u64::from(*state & 1) << bit);
            let word = states.iter().enumerate().fold(0, set);
            if word != 0 {
                pages.0.insert(place, word);
            }
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
            let words = (0..).zip(words.iter().copied()).filter(|(_, word)| *word != 0);
            Pages(words.collect()).runs().map(|run| (run.start / page_bytes(), run.end / page_bytes())).collect()
        };
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[0, 0]), []);
        assert_eq!(runs(&[0b1011, 0, 1]), [(0, 2), (3, 4), (128, 129)]);
        assert_eq!(runs(&[1 << 63, 1]), [(63, 65)]);
        let all = runs(&[u64::MAX; 16]);
        assert_eq!(all.iter().map(|(from, to)| to - from).sum::<u64>(), 1_024);
        assert!(all.iter().all(|(from, to)| page(to - from) <= PIECE_BYTES));
    }

    #[test]
    fn a_file_of_holes_takes_no_memory_and_one_that_is_shorter_by_now_is_asked() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = directory.path().join("nb-1-big-Data.db");
        fs::write(&path, vec![1; page(3) as usize]).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let of_content = resident_pages(&file, page(3)).unwrap();
        file.set_len(4 * STEP_BYTES + 5).unwrap();
        assert_eq!(resident_pages(&file, 4 * STEP_BYTES + 5).unwrap(), of_content);
        assert!(of_content.0.len() <= 1);
        file.set_len(0).unwrap();
        assert_eq!(resident_pages(&file, 4 * STEP_BYTES).unwrap(), Pages::default());
    }

    /// As it goes to the process that reads them.
    #[test]
    fn pages_are_the_same_after_they_were_written_down() {
        let pages = Pages(BTreeMap::from([(0, 0b1011), (1 << 40, 1 << 63)]));
        let written = serde_json::to_string(&pages).unwrap();
        assert_eq!(serde_json::from_str::<Pages>(&written).unwrap(), pages);
        let mut kept = pages.clone();
        kept.keep_those_of(&Pages(BTreeMap::from([(0, 0b0110)])));
        assert_eq!(kept, Pages(BTreeMap::from([(0, 0b0010)])));
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
            let file = warm::open(&before, Path::new(&format!("nb-7-big-{component}"))).unwrap().unwrap();
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
        let file = warm::open(&directories[0], Path::new("nb-7-big-Data.db")).unwrap().unwrap();
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
