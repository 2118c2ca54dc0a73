//! `run.sha256`: the hash of every file of evidence, as it was when it was stored.
//!
//! The form is that of sha256sum(1): `sha256sum --check run.sha256` in the run directory checks it without this
//! program. Listed are the frozen inputs and the files of every trial in place. The journal is not, because it grows;
//! nor is what is made from the evidence (`analysis.json`, the reports), because it can be made again; nor are trials
//! that were set aside, because they are no part of an answer.
//!
//! It shows damage and mistakes, such as a directory copied to a wrong place. It is no signature: who may write
//! evidence may write this file too.
//!
//! The lines of a trial are appended together, that of its record last. A trial without that last line was cut off by a
//! kill, and the next writer lists it anew.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::files::{self, replace};
use crate::{Result, RunError};

const MANIFEST: &str = "run.sha256";

/// Most bytes of the list: a trial has about ten files, a line of 150 bytes each.
const MOST_BYTES: u64 = 64 << 20;

/// SHA-256 in hexadecimal digits, by path relative to the run directory.
pub type Hashes = BTreeMap<String, String>;

/// What a look at all evidence found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files that are as they were stored.
    pub same: usize,
    /// Files that are not.
    pub changed: Vec<String>,
    /// Files that are gone or cannot be read.
    pub missing: Vec<String>,
    /// Files among the trials that no run stored.
    pub unlisted: Vec<String>,
}

impl Verified {
    /// Whether all evidence is what was stored, and nothing else is there.
    pub fn is_whole(&self) -> bool {
        self.changed.is_empty() && self.missing.is_empty() && self.unlisted.is_empty()
    }
}

/// SHA-256 in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    guarded::hex(&Sha256::digest(bytes))
}

/// The same of a file. The path is whatever the list says: it stays in the run directory, and is a regular file.
fn hash_file(run: &Path, path: &str) -> std::io::Result<String> {
    guarded::sha256(guarded::open_below(run, Path::new(path))?)
}

fn line(path: &str, hash: &str) -> String {
    format!("{hash}  {path}\n")
}

/// The list.
pub fn read(run: &Path) -> Result<Hashes> {
    let path = run.join(MANIFEST);
    let bytes = files::read(&path, MOST_BYTES)?;
    parse(&path, bytes)
}

/// What a list says.
pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Hashes> {
    let text = String::from_utf8(bytes).map_err(|e| RunError::damaged(path, e))?;
    let complete = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
    // A path that leaves the run would disclose the hash of a stranger's file.
    let entry = |line: &str| {
        let (hash, path) = line.split_once("  ")?;
        guarded::plain_relative(Path::new(path)).ok()?;
        Some((path.to_owned(), hash.to_owned()))
    };
    complete
        .lines()
        .map(|line| {
            entry(line).ok_or_else(|| {
                RunError::damaged(path, format!("not a line of sha256sum about a file of the run: {line:?}"))
            })
        })
        .collect()
}

/// Begins the list of a new run.
pub fn create(run: &Path, hashes: &Hashes) -> Result<()> {
    let text: String = hashes.iter().map(|(path, hash)| line(path, hash)).collect();
    replace(run, MANIFEST, text.as_bytes()).map(drop)
}

/// Adds lines in the given order; a line torn by an earlier kill is cut off first, and so is what could not be written
/// whole.
pub fn append(run: &Path, entries: &[(String, String)]) -> Result<()> {
    let path = run.join(MANIFEST);
    let failed = |doing| {
        let path = path.clone();
        move |error| RunError::file(doing, &path, error)
    };
    let bytes = files::read(&path, MOST_BYTES)?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1) as u64;
    let mut file = guarded::open_to_append(&path, 0o666).map_err(failed("open"))?;
    if end < bytes.len() as u64 {
        file.set_len(end).map_err(failed("cut the torn last line of"))?;
    }
    let text: String = entries.iter().map(|(path, hash)| line(path, hash)).collect();
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
    written.map_err(|error| {
        // If this fails too, the next writer cuts it off.
        let _ = file.set_len(end);
        failed("append to")(error)
    })
}

/// Compares everything listed, and everything below `trials`, with what is there.
pub fn verify(run: &Path, listed: &Hashes, trials: &str) -> Result<Verified> {
    let mut found = Verified::default();
    for (path, expected) in listed {
        match hash_file(run, path) {
            Ok(found_hash) if found_hash == *expected => found.same += 1,
            Ok(_) => found.changed.push(path.clone()),
            Err(_) => found.missing.push(path.clone()),
        }
    }
    found.unlisted = files_below(run, trials)?;
    found.unlisted.retain(|path| !listed.contains_key(path));
    Ok(found)
}

/// Hashes of all files below a directory of the run.
pub fn hashes_below(run: &Path, directory: &str) -> Result<Vec<(String, String)>> {
    let mut hashes = Vec::new();
    for relative in files_below(run, directory)? {
        let hash = hash_file(run, &relative).map_err(|e| RunError::file("read", &run.join(&relative), e))?;
        hashes.push((relative, hash));
    }
    Ok(hashes)
}

/// Paths of all files below a directory of the run, relative to the run, in order.
fn files_below(run: &Path, directory: &str) -> Result<Vec<String>> {
    let path = run.join(directory);
    let listing = |e| RunError::file("list", &path, e);
    let mut files = Vec::new();
    for entry in fs::read_dir(&path).map_err(listing)? {
        let entry = entry.map_err(listing)?;
        let name = format!("{directory}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().map_err(listing)?.is_dir() {
            files.extend(files_below(run, &name)?);
        } else {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}
