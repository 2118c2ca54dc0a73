//! A snapshot of somebody's tables: which files it has, read before anything is done with it, and copied to where a
//! node takes them in.
//!
//! `nodetool snapshot` leaves `KEYSPACE/TABLE-ID/snapshots/NAME/` with the SSTables, `manifest.json` and `schema.cql`,
//! below the data directory of each node. Taken as well: a folder for each table (`TABLE` or `TABLE-ID`) with its
//! SSTables, `schema.cql` in it or above. Those of several nodes lie in a folder for each node.
//!
//! It comes from elsewhere: of it regular files of known names are read, through no link, and no more bytes than were
//! there when it was looked at first. One that lies in a bucket is looked at by the list of its objects.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use experiment::{FoundSnapshot, Snapshot, SnapshotTable, WrittenSchema};
use sha2::{Digest as _, Sha256};

use super::sstable_files::partitioner;
use super::yaml::PARTITIONER;
use crate::server::Cancelled;

/// The directory of a table's snapshots.
const SNAPSHOTS: &str = "snapshots";
/// Hard links that Cassandra makes of each new SSTable below its table where it is asked to: no part of a snapshot.
const BACKUPS: &str = "backups";
const SCHEMA: &str = "schema.cql";
/// How deep directories may lie in each other: node, data directory, keyspace, table, `snapshots`, name, and two more.
const MOST_DEPTH: usize = 8;
/// What an SSTable's name goes on with (`Component`, `SSTableFormat.Components`): what makes a node read it. Files of
/// indexes are left out.
const COMPONENTS: [&str; 13] = [
    "Data.db",
    "Index.db",
    "Summary.db",
    "Partitions.db",
    "Rows.db",
    "Filter.db",
    "Statistics.db",
    "CompressionInfo.db",
    "CRC.db",
    "Digest.crc32",
    "Digest.adler32",
    "Digest.sha1",
    "TOC.txt",
];
/// Letters of a table's identity behind its name.
const ID_LETTERS: usize = 32;

/// A directory with a snapshot, looked at.
#[derive(Debug)]
pub struct TableSnapshot {
    root: PathBuf,
    folders: Vec<Folder>,
    schemas: Vec<WrittenSchema>,
}

/// SSTables of one table in one directory.
#[derive(Debug)]
struct Folder {
    /// Below the root.
    path: PathBuf,
    table: String,
    /// Its identity, where the name of the directory has it.
    id: Option<String>,
    /// Names of files and their bytes.
    files: Vec<(String, u64)>,
}

impl Folder {
    fn bytes(&self) -> u64 {
        self.files.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    fn sstables(&self) -> usize {
        self.files.iter().filter(|(name, _)| sstable(name).is_some()).count()
    }
}

/// What an SSTable is called whose data are in this file.
fn sstable(file: &str) -> Option<&str> {
    file.strip_suffix("-Data.db")
}

/// Reads a `schema.cql` by its path below the root.
type ReadSchema<'a> = &'a mut dyn FnMut(&Path) -> Result<String, String>;

impl TableSnapshot {
    /// Most files and directories that one may have.
    pub const MOST_ENTRIES: usize = 1_000_000;
    /// Most bytes of all `schema.cql` that differ: as many as a file beside an experiment may have.
    pub const MOST_SCHEMA_BYTES: u64 = 4 << 20;

    /// Looks at a directory; it reads `schema.cql`, and the beginning of one `Statistics.db` of each folder. Errors:
    /// what cannot be read, is no regular file, or is no snapshot, with its path.
    pub fn read(path: &Path) -> Result<Self, String> {
        let root = path.canonicalize().map_err(|error| failed(path, &error))?;
        let mut looking = Looking { root: &root, entries: 0, directories: Vec::new() };
        looking.at(PathBuf::new(), 0)?;
        let mut directories = looking.directories;
        // As those of a list are.
        directories.sort();
        let mut schema = |path: &Path| {
            let text = guarded::text_below(&root, path, Self::MOST_SCHEMA_BYTES);
            text.map_err(|error| failed(&root.join(path), &error))
        };
        let snapshot = Self::of(root.clone(), &directories, &mut schema)?;
        for folder in &snapshot.folders {
            if let Some(first) = folder.files.iter().find_map(|(name, _)| sstable(name)) {
                of_our_partitioner(&root, &folder.path.join(format!("{first}-Statistics.db")))?;
            }
        }
        Ok(snapshot)
    }

    /// Looks at what a list says of files elsewhere: their paths below `root`, which is a name for people, and their
    /// bytes. The same files in a directory are the same snapshot. Errors: a path that no directory could have, or what
    /// is no snapshot; what `schema` says.
    pub fn listed(
        root: &str,
        files: impl IntoIterator<Item = (String, u64)>,
        schema: ReadSchema<'_>,
    ) -> Result<Self, String> {
        let root = PathBuf::from(root);
        let is_plain =
            |part: &str| !part.is_empty() && part != "." && part != ".." && !part.chars().any(char::is_control);
        let mut directories: BTreeMap<PathBuf, Vec<(String, u64)>> = BTreeMap::new();
        for (key, bytes) in files {
            // What stands for an empty directory.
            if key.is_empty() || key.ends_with('/') {
                continue;
            }
            if !key.split('/').all(is_plain) {
                return Err(format!("{} has {key:?}, which is no path of a file", root.display()));
            }
            let mut parts: Vec<&str> = key.split('/').collect();
            let name = parts.pop().unwrap_or_default().to_owned();
            if parts.len() > MOST_DEPTH {
                return Err(too_deep(&root.join(parts.join("/"))));
            }
            let within = std::iter::once(own_name(&root)).chain(parts.iter().copied().map(Some));
            if !parts.iter().zip(within).any(|(part, within)| is_left_out(part, within)) {
                directories.entry(parts.iter().collect()).or_default().push((name, bytes));
            }
        }
        let mut directories: Vec<Listed> = directories.into_iter().collect();
        directories.iter_mut().for_each(|(_, files)| files.sort());
        Self::of(root, &directories, schema)
    }

    /// The snapshot that is in these directories, which are in the order of their paths.
    fn of(root: PathBuf, directories: &[Listed], schema: ReadSchema<'_>) -> Result<Self, String> {
        let is_kept = |(path, _): &&Listed| parent_name(path) == Some(SNAPSHOTS);
        let has_tables = |(_, files): &&Listed| files.iter().any(|(name, _)| sstable(name).is_some());
        let kept: BTreeSet<&str> =
            directories.iter().filter(has_tables).filter(is_kept).filter_map(|(path, _)| own_name(path)).collect();
        if kept.len() > 1 {
            let names = kept.into_iter().collect::<Vec<_>>().join(", ");
            return Err(format!("{} has several snapshots ({names}): copy one of them alone", root.display()));
        }
        let mut folders = Vec::new();
        for (path, files) in directories.iter().filter(has_tables) {
            if !kept.is_empty() && parent_name(path) != Some(SNAPSHOTS) {
                let at = root.join(path);
                return Err(format!("{} has files of a running node beside a snapshot: copy that alone", at.display()));
            }
            folders.push(folder(&root, path, files)?);
        }
        if folders.is_empty() {
            return Err(format!("{} has no SSTable (NAME-Data.db)", root.display()));
        }
        one_of_each(&root, &folders)?;
        let (mut schemas, mut left): (Vec<WrittenSchema>, u64) = (Vec::new(), Self::MOST_SCHEMA_BYTES);
        for (path, files) in directories {
            if files.iter().any(|(name, _)| name == SCHEMA) {
                let path = path.join(SCHEMA);
                let text = schema(&path)?;
                if schemas.iter().any(|known| known.text == text) {
                    continue;
                }
                left = left.checked_sub(text.len() as u64).ok_or_else(|| {
                    format!("{} has more than {} MiB of {SCHEMA}", root.display(), Self::MOST_SCHEMA_BYTES >> 20)
                })?;
                schemas.push(WrittenSchema { path: path.display().to_string(), text });
            }
        }
        Ok(Self { root, folders, schemas })
    }

    /// This one, if it has the files that a plan names of its tables. Errors: other files are there than when the plan
    /// was made.
    pub fn as_planned(self, snapshot: &Snapshot) -> Result<Self, String> {
        let found = self.found().tables;
        match snapshot.tables.iter().all(|table| found.contains(table)) {
            true => Ok(self),
            false => Err(format!("{} has other files than when the experiment was read", self.root.display())),
        }
    }

    /// The files of the tables that a plan names, by their paths below the root, with their bytes.
    pub fn files(&self, snapshot: &Snapshot) -> Vec<(PathBuf, u64)> {
        let is_planned = |folder: &&Folder| snapshot.tables.iter().any(|table| table.name == folder.table);
        let of_folder = |folder: &Folder| {
            let file = |(name, bytes): &(String, u64)| (folder.path.join(name), *bytes);
            folder.files.iter().map(file).collect::<Vec<_>>()
        };
        self.folders.iter().filter(is_planned).flat_map(of_folder).collect()
    }

    /// What an experiment is to know of it.
    pub fn found(&self) -> FoundSnapshot {
        let mut of_tables: BTreeMap<&str, Vec<&Folder>> = BTreeMap::new();
        for folder in &self.folders {
            of_tables.entry(&folder.table).or_default().push(folder);
        }
        FoundSnapshot {
            path: self.root.display().to_string(),
            tables: of_tables.into_iter().map(|(name, folders)| table(name, &folders)).collect(),
            schemas: self.schemas.clone(),
        }
    }

    /// Copies the files of some tables below an empty directory, as a node takes them in: below `PLACE/KEYSPACE/` a
    /// directory for the table, and a place for each folder of the snapshot. Gives the places. Errors: a file cannot be
    /// read or written, or has not as many bytes as it had; `cancelled` said so.
    pub fn copy(
        &self,
        tables: &[String],
        (into, keyspace): (&Path, &str),
        on_bytes: &mut dyn FnMut(u64),
        cancelled: Cancelled<'_>,
    ) -> Result<Vec<PathBuf>, String> {
        let mut places = Vec::new();
        let mut copied = 0_u64;
        for (number, folder) in self.folders.iter().enumerate().filter(|(_, folder)| tables.contains(&folder.table)) {
            let place = into.join(number.to_string());
            // The node looks for the name; which identity it is does not matter there.
            let target = place.join(keyspace).join(format!("{}-{number:032x}", folder.table));
            std::fs::create_dir_all(&target).map_err(|error| format!("cannot create {}: {error}", target.display()))?;
            for (name, bytes) in &folder.files {
                if cancelled() {
                    return Err("cancelled while copying the snapshot".to_owned());
                }
                let (from, to) = (folder.path.join(name), target.join(name));
                copy_file((&self.root, &from), &to, *bytes)?;
                copied += bytes;
                on_bytes(copied);
            }
            places.push(place);
        }
        Ok(places)
    }
}

/// What an experiment is to know of a table.
fn table(name: &str, folders: &[&Folder]) -> SnapshotTable {
    let (mut sstables, mut bytes, mut hash) = (0_usize, 0_u64, Sha256::new());
    for folder in folders {
        sstables += folder.sstables();
        bytes = bytes.saturating_add(folder.bytes());
        for (file, bytes) in &folder.files {
            hash.update(format!("{bytes}  {}\n", folder.path.join(file).display()));
        }
    }
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    SnapshotTable {
        name: name.to_owned(),
        folders: count(folders.len()),
        sstables: count(sstables),
        bytes,
        sha256: guarded::hex(&hash.finalize()),
    }
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("cannot read {}: {error}", path.display())
}

/// A directory below the root, with names and bytes of the files in it.
type Listed = (PathBuf, Vec<(String, u64)>);

/// A snapshot that is being looked through.
struct Looking<'r> {
    root: &'r Path,
    entries: usize,
    /// Each with its files in the order of their names.
    directories: Vec<Listed>,
}

impl Looking<'_> {
    fn at(&mut self, path: PathBuf, depth: usize) -> Result<(), String> {
        let whole = self.root.join(&path);
        if depth > MOST_DEPTH {
            return Err(too_deep(&whole));
        }
        let (mut files, mut below) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(&whole).map_err(|error| failed(&whole, &error))? {
            let entry = entry.map_err(|error| failed(&whole, &error))?;
            let at = entry.path();
            self.entries += 1;
            if self.entries > TableSnapshot::MOST_ENTRIES {
                return Err(format!("{} has more than {} files", self.root.display(), TableSnapshot::MOST_ENTRIES));
            }
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                return Err(format!("{} has a name that is no text", at.display()));
            };
            // Of a link that of the link.
            let found = std::fs::symlink_metadata(&at).map_err(|error| failed(&at, &error))?;
            if found.is_dir() {
                if !is_left_out(&name, own_name(&whole)) {
                    below.push(name);
                }
            } else if found.is_file() {
                files.push((name, found.len()));
            } else {
                return Err(format!("{} is neither a file nor a directory: a snapshot has no links", at.display()));
            }
        }
        files.sort();
        below.sort();
        for name in below {
            self.at(path.join(name), depth + 1)?;
        }
        self.directories.push((path, files));
        Ok(())
    }
}

fn own_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn parent_name(path: &Path) -> Option<&str> {
    own_name(path.parent()?)
}

/// Whether a directory in this one is no part of a snapshot: files of indexes lie in hidden ones. Elsewhere than below
/// a table `backups` may be the name of a table or of a node.
fn is_left_out(name: &str, within: Option<&str>) -> bool {
    name.starts_with('.') || (name == BACKUPS && within.and_then(with_id).is_some())
}

fn too_deep(path: &Path) -> String {
    format!("{} lies deeper than a snapshot has directories", path.display())
}

/// A table and its identity, where the name of its directory has it.
fn with_id(directory: &str) -> Option<(&str, &str)> {
    let is_id = |id: &str| id.len() == ID_LETTERS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    directory.rsplit_once('-').filter(|(_, id)| is_id(id))
}

/// The SSTables in one directory.
fn folder(root: &Path, path: &Path, files: &[(String, u64)]) -> Result<Folder, String> {
    let whole = root.join(path);
    let named = match parent_name(path) {
        Some(SNAPSHOTS) => whole.parent().and_then(parent_name),
        // The root itself may be the folder of a table.
        _ => own_name(&whole),
    };
    let named = named.unwrap_or_default();
    let (table, id) = match with_id(named) {
        Some((table, id)) => (table, Some(id.to_owned())),
        None => (named, None),
    };
    let is_plain = !table.is_empty() && table.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_plain {
        return Err(format!(
            "{} has SSTables, and its name is that of no table: TABLE, TABLE-ID, or TABLE-ID/{SNAPSHOTS}/NAME",
            whole.display()
        ));
    }
    let sstables: BTreeSet<&str> = files.iter().filter_map(|(name, _)| sstable(name)).collect();
    let is_of_one = |name: &str| {
        COMPONENTS.iter().any(|component| {
            let own = name.strip_suffix(component).and_then(|own| own.strip_suffix('-'));
            own.is_some_and(|own| sstables.contains(own))
        })
    };
    let files: Vec<(String, u64)> = files.iter().filter(|(name, _)| is_of_one(name)).cloned().collect();
    let empty = files.iter().find(|(name, bytes)| sstable(name).is_some() && *bytes == 0);
    if let Some((name, _)) = empty {
        return Err(format!("{} is empty: the snapshot is not whole", whole.join(name).display()));
    }
    Ok(Folder { path: path.to_owned(), table: table.to_owned(), id, files })
}

/// A node that is to take in an SSTable of another partitioner than its own ends at once (`SSTableReader.open`). A
/// cluster has one: one SSTable of each folder is asked.
fn of_our_partitioner(root: &Path, statistics: &Path) -> Result<(), String> {
    let whole = root.join(statistics);
    let file = guarded::if_there(guarded::open_below(root, statistics)).map_err(|error| failed(&whole, &error))?;
    let Some(file) = file else { return Ok(()) };
    match partitioner(file).map_err(|error| failed(&whole, &error))? {
        Some(other) if other != PARTITIONER => Err(format!(
            "{} is of {other}, and nodes of iopslab are of {PARTITIONER}: they take in none of its rows",
            whole.display()
        )),
        _ => Ok(()),
    }
}

/// Two tables of one name cannot both be restored: of two keyspaces, or one that was dropped and made again.
fn one_of_each(root: &Path, folders: &[Folder]) -> Result<(), String> {
    let mut known: BTreeMap<&str, &Folder> = BTreeMap::new();
    for folder in folders.iter().filter(|folder| folder.id.is_some()) {
        let first = known.entry(&folder.table).or_insert(folder);
        if first.id != folder.id {
            return Err(format!(
                "{} has two tables {}, in {} and {}: leave one of them",
                root.display(),
                folder.table,
                first.path.display(),
                folder.path.display()
            ));
        }
    }
    Ok(())
}

/// Copies a file of so many bytes.
fn copy_file((root, from): (&Path, &Path), to: &Path, bytes: u64) -> Result<(), String> {
    let whole = root.join(from);
    let source = guarded::open_below(root, from).map_err(|error| failed(&whole, &error))?;
    let mut target = guarded::create(to).map_err(|error| format!("cannot create {}: {error}", to.display()))?;
    // One more than it had shows that it has grown.
    let copied = io::copy(&mut source.take(bytes.saturating_add(1)), &mut target);
    let copied = copied.map_err(|error| format!("cannot copy {} to {}: {error}", whole.display(), to.display()))?;
    if copied == bytes { Ok(()) } else { Err(format!("{} has changed while it was copied", whole.display())) }
}

#[cfg(test)]
mod tests;
