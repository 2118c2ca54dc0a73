//! The ledger: everything that iopslab creates on a machine is written down *before* it is created.
//!
//! A run can be killed at any instant. Whatever order things happen in, one of two states is found afterwards: an entry
//! without a thing (cleaning it does nothing) or an entry with its thing (cleaning removes it). A thing without an
//! entry cannot occur, because the entry reaches the disk (append, fsync) first. The one exception is a process, whose
//! number is known only once it runs; it is started inside a cgroup that has an entry already, and cleaning a cgroup
//! ends its members.
//!
//! The file holds one JSON object per line: `{"intend":{"id":7,"item":{...}}}` and `{"done":7}`. A last line that was
//! cut off by a crash is ignored: its thing had not been created yet. A line that could not be written whole is taken
//! back. One that cannot be understood costs nothing but itself: it is named, and the others count.
//!
//! Paths lie below the ledger's own directory, or below one that was allowed ([`Ledger::allow`]), which is recorded in
//! a file beside the ledger and then stands in the entry (`root`): nothing else is ever undone.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use guarded::{check_way, if_there, open_private};
use serde::{Deserialize, Serialize};

use crate::error::{Result, StorageError, io_error};
use crate::ledger_item::Entry;
pub use crate::ledger_item::LedgerItem;
use crate::permitted::{self, is_below, paths_of};
use crate::roots;

/// Identity of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LedgerId(u64);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Intend {
        id: LedgerId,
        #[serde(flatten)]
        entry: Entry,
    },
    Done(LedgerId),
}

/// What a ledger says.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Entries without `done`, by id, which is the order of creation.
    pub entries: BTreeMap<LedgerId, Entry>,
    /// Lines that cannot be understood.
    pub bad: Vec<StorageError>,
}

/// The append-only list of what exists.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    /// Its directory.
    base: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    last_id: u64,
    /// Directories elsewhere below which things may be made.
    roots: Vec<PathBuf>,
}

impl Ledger {
    /// Opens or creates the ledger at `path`. What it holds stays outstanding: call [`crate::clean()`] first to undo
    /// it. Errors: it, or its directory, is not ours alone.
    pub fn open(path: &Path) -> Result<Self> {
        let base = base_of(path)?;
        let how = &mut OpenOptions::new();
        let mut file =
            open_private(path, how.create(true).append(true).read(true)).map_err(io_error("open the ledger", path))?;
        // A line cut off by a crash would spoil the next one; end it.
        if last_byte(&file).map_err(io_error("read", path))?.is_some_and(|last| last != b'\n') {
            write_whole(&mut file, b"\n").map_err(io_error("write to the ledger", path))?;
        }
        // The new file's name must survive a crash as well as its content.
        File::open(&base).and_then(|d| d.sync_all()).map_err(io_error("fsync", &base))?;
        Ok(Self { path: path.to_owned(), base, state: Mutex::new(State { file, last_id: 0, roots: Vec::new() }) })
    }

    /// From now on things may be made below this directory, too, which is there. Errors: [`StorageError::NotPrivate`]:
    /// others could put something else in its place, which would then be undone.
    pub fn allow(&self, root: &Path) -> Result<()> {
        let root = fs::canonicalize(root).map_err(io_error("resolve", root))?;
        check_way(&root)?;
        let mut state = self.state();
        roots::record(&self.base, &root)?;
        state.roots.push(root);
        Ok(())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes down that `item` is about to be created; returns once that is on the disk. Errors:
    /// [`StorageError::NotOurs`]: it would not be undone. Paths lie below the ledger's directory, or one that was
    /// allowed.
    pub fn intend(&self, item: LedgerItem) -> Result<LedgerId> {
        let mut state = self.state();
        let root = self.root_of(&item, &state.roots);
        let entry = Entry { item, root };
        permitted::check(&entry, &self.base, &state.roots)?;
        // Ids follow the clock, so that they differ between openings of a file that `clean` may have emptied.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        state.last_id = now.max(state.last_id + 1);
        let id = LedgerId(state.last_id);
        append(&mut state.file, &self.path, &Line::Intend { id, entry })?;
        Ok(id)
    }

    /// The directory elsewhere that all paths of an item lie below.
    fn root_of(&self, item: &LedgerItem, roots: &[PathBuf]) -> Option<PathBuf> {
        let paths = paths_of(item);
        let holds = |root: &Path| paths.iter().all(|path| is_below(path, root));
        if holds(&self.base) { None } else { roots.iter().find(|root| holds(root)).cloned() }
    }

    /// Writes down that the entry needs no cleaning any more: its thing is gone, or is meant to stay (a finished
    /// snapshot).
    pub fn done(&self, id: LedgerId) -> Result<()> {
        append(&mut self.state().file, &self.path, &Line::Done(id))
    }

    /// What may still exist, oldest first, as far as it can be understood. A missing ledger holds nothing.
    pub fn outstanding(path: &Path) -> Result<Vec<LedgerItem>> {
        let entries = contents(path)?.entries.into_values();
        Ok(entries.map(|entry| entry.item).collect())
    }
}

/// The directory of a ledger, absolute and without symbolic links; ours alone.
pub(crate) fn base_of(path: &Path) -> Result<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let base = fs::canonicalize(parent).map_err(io_error("resolve", parent))?;
    check_way(&base)?;
    Ok(base)
}

pub(crate) fn append(file: &mut File, path: &Path, line: &Line) -> Result<()> {
    let mut text = serde_json::to_string(line).map_err(|error| StorageError::Ledger {
        path: path.to_owned(),
        line: 0,
        reason: error.to_string(),
    })?;
    text.push('\n');
    write_whole(file, text.as_bytes()).map_err(io_error("write to the ledger", path))?;
    file.sync_data().map_err(io_error("fsync the ledger", path))
}

/// Appends all of it or nothing: half a line would join the next one. One write call as a rule, so that a concurrent
/// reader or a crash sees whole lines except perhaps the last.
fn write_whole(file: &mut File, bytes: &[u8]) -> std::io::Result<()> {
    let before = file.metadata()?.len();
    file.write_all(bytes).inspect_err(|_| {
        // The first error is the one to report; half a line that stays is named by whoever reads it.
        let _ = file.set_len(before);
    })
}

/// The last byte of a file; an empty one has none.
fn last_byte(file: &File) -> std::io::Result<Option<u8>> {
    let Some(at) = file.metadata()?.len().checked_sub(1) else { return Ok(None) };
    let mut last = [0];
    file.read_exact_at(&mut last, at)?;
    Ok(Some(last[0]))
}

/// Largest ledger that is read: a run of a thousand trials writes some 300 kB.
const LARGEST_BYTES: u64 = 64 << 20;

/// What a ledger says. A missing one says nothing. Errors: it cannot be read, or not all of it: what its end says of
/// its beginning (`done`) is not known then.
pub(crate) fn contents(path: &Path) -> Result<Contents> {
    let opened = if_there(open_private(path, OpenOptions::new().read(true)));
    let Some(file) = opened.map_err(io_error("open the ledger", path))? else { return Ok(Contents::default()) };
    let mut bytes = Vec::new();
    let read = file.take(LARGEST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(io_error("read", path))?;
    if bytes.len() as u64 > LARGEST_BYTES {
        let too_large = format!(
            "it has more than {} MiB, which no run writes; nothing is undone by it. Look at what it names, \
             and move it away",
            LARGEST_BYTES >> 20
        );
        return Err(io_error("read all of the ledger", path)(Error::new(ErrorKind::FileTooLarge, too_large)));
    }
    let mut contents = Contents::default();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(Line::Intend { id, entry }) => {
                contents.entries.insert(id, entry);
            }
            Ok(Line::Done(id)) => {
                contents.entries.remove(&id);
            }
            // Only a write cut off by a crash ends before the object does; what it announced was never created.
            Err(error) if error.is_eof() => {}
            Err(error) => contents.bad.push(StorageError::Ledger {
                path: path.to_owned(),
                line: index + 1,
                reason: error.to_string(),
            }),
        }
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(directory: &tempfile::TempDir, name: &str) -> LedgerItem {
        let path = directory.path().join(name);
        LedgerItem::File { path }
    }

    #[test]
    fn entries_stay_until_done_and_survive_reopening() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        assert!(Ledger::outstanding(&path).unwrap().is_empty(), "a missing ledger holds nothing");
        let ledger = Ledger::open(&path).unwrap();
        let a = ledger.intend(file(&directory, "a")).unwrap();
        ledger.intend(file(&directory, "b")).unwrap();
        ledger.done(a).unwrap();
        drop(ledger);
        Ledger::open(&path).unwrap().intend(file(&directory, "c")).unwrap();
        assert_eq!(Ledger::outstanding(&path).unwrap(), [file(&directory, "b"), file(&directory, "c")]);
    }

    #[test]
    fn a_line_cut_off_by_a_crash_is_ignored_and_does_not_spoil_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        Ledger::open(&path).unwrap().intend(file(&directory, "a")).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(br#"{"intend":{"id":9,"it"#).unwrap();
        assert_eq!(Ledger::outstanding(&path).unwrap(), [file(&directory, "a")]);
        Ledger::open(&path).unwrap().intend(file(&directory, "b")).unwrap();
        assert_eq!(Ledger::outstanding(&path).unwrap(), [file(&directory, "a"), file(&directory, "b")]);
    }

    #[test]
    fn a_line_that_cannot_be_understood_is_named_and_the_others_count() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger.jsonl");
        let ledger = Ledger::open(&path).unwrap();
        ledger.intend(file(&directory, "a")).unwrap();
        let mut raw = OpenOptions::new().append(true).open(&path).unwrap();
        raw.write_all(b"{\"intend\":{\"id\":1,\"item\":{\"spaceship\":{}}}}\n\xff\xfe\n").unwrap();
        ledger.intend(file(&directory, "b")).unwrap();
        let found = contents(&path).unwrap();
        let said: Vec<String> = found.bad.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 2);
        assert!(said[0].contains("line 2") && said[1].contains("line 3"), "{said:?}");
        assert_eq!(Ledger::outstanding(&path).unwrap(), [file(&directory, "a"), file(&directory, "b")]);
    }

    #[test]
    fn what_would_not_be_undone_is_not_begun() {
        let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = directory.path().join("ledger.jsonl");
        let ledger = Ledger::open(&path).unwrap();
        let refusal = ledger.intend(file(&elsewhere, "a")).unwrap_err().to_string();
        assert!(refusal.contains("is not below"), "{refusal}");
        ledger.allow(elsewhere.path()).unwrap();
        ledger.intend(file(&elsewhere, "a")).unwrap();
        let entries = contents(&path).unwrap().entries;
        let roots: Vec<_> = entries.values().map(|entry| entry.root.clone()).collect();
        let root = elsewhere.path().canonicalize().unwrap();
        assert_eq!(roots, [Some(root.clone())]);
        assert_eq!(crate::roots::recorded(directory.path()).unwrap(), [root]);
    }
}
