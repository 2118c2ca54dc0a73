//! A node's data set in a store: looked for, restored, kept.

use std::io::ErrorKind;
use std::path::Path;

use datasets::{Layout, PART_BYTES, PartsLocation, StoreError};
use evidence::{KeptDataSet, SnapshotFacts};
use experiment::DataSetFiles;
use wire::{Reply, RequestError, Result, Transfer};

use super::host::Host;
use super::loading::data_of;
use super::pace::Pace;
use super::server::Database;

/// Written last: a data set without this file is not one.
const DOCUMENT: &str = "snapshot.json";
/// Most bytes of it: a part of 1 GiB has a line of 150 bytes.
const DOCUMENT_MOST_BYTES: u64 = 16 << 20;

/// What a directory has of this node's data set.
pub(super) fn find(database: &Database, files: &DataSetFiles, directory: &str) -> Result<Reply> {
    let key = database.snapshot_key(files)?;
    let (store, document) = (Path::new(directory), Path::new(&key).join(DOCUMENT));
    let path = store.join(&document);
    let text = match guarded::text_below(store, &document, DOCUMENT_MOST_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Reply::Kept(None)),
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotADirectory) => {
            return Ok(Reply::StoreProblem(format!("{}: {error}", path.display())));
        }
        Err(error) => return Err(RequestError::new(format!("cannot read {}: {error}", path.display()))),
    };
    Ok(match KeptDataSet::read(&text, &key) {
        Ok(kept) => Reply::Kept(Some(Box::new(kept))),
        Err(why) => Reply::StoreProblem(format!("{}: {why}", path.display())),
    })
}

/// Makes this node's snapshot of what a store has.
pub(super) fn restore(
    host: &Host,
    database: &Database,
    files: &DataSetFiles,
    kept: &KeptDataSet,
    from: &Transfer,
) -> Result<Reply> {
    let key = database.snapshot_key(files)?;
    let directory = host.loading_directory(&key)?;
    let data = data_of(&directory);
    let place = place_of(from, &key);
    let mut pace =
        Pace::new(&host.outbox, format!("restoring the data set from {}", place.name()), kept.archive_bytes());
    let restored = datasets::restore(&kept.parts, &place, &data, &mut |done| pace.goes_on(done));
    let restored = match restored {
        Ok(bytes) if bytes == kept.snapshot.bytes => Ok(bytes),
        Ok(bytes) => Err(StoreError::Damaged(format!(
            "{}: its files have {bytes} bytes, and had {} when it was kept",
            place.name(),
            kept.snapshot.bytes
        ))),
        Err(error) => Err(error),
    };
    let facts = SnapshotFacts { key, ..kept.snapshot.clone() };
    let reply = match restored {
        Ok(_) => host.keep_snapshot(&data, &facts).map(|()| Reply::Snapshot(facts)),
        Err(StoreError::Damaged(why)) => Ok(Reply::StoreProblem(why)),
        Err(error) => Err(refusal(error)),
    };
    storage::remove_tree(&directory)?;
    reply
}

/// How long an archive of this node's snapshot would be.
pub(super) fn measure(host: &Host, database: &Database, files: &DataSetFiles) -> Result<Reply> {
    let facts = snapshot(host, database, files)?;
    let layout = Layout::of(&host.snapshot_directory(&facts.key).join("data")).map_err(refusal)?;
    Ok(Reply::Archive { parts: datasets::part_names(&layout, &below(&facts), PART_BYTES), bytes: layout.bytes() })
}

/// Brings this node's snapshot to a store. What the store refuses is no reason to end a run that has its data set.
pub(super) fn keep(
    host: &Host,
    database: &Database,
    files: &DataSetFiles,
    to: &Transfer,
    run: String,
) -> Result<Reply> {
    let facts = snapshot(host, database, files)?;
    let layout = Layout::of(&host.snapshot_directory(&facts.key).join("data")).map_err(refusal)?;
    let place = place_of(to, &facts.key);
    let mut pace = Pace::new(&host.outbox, format!("keeping the data set in {}", place.name()), layout.bytes());
    let sent = datasets::keep(&layout, &place, &below(&facts), PART_BYTES, &mut |done| pace.goes_on(done));
    let parts = match sent {
        Ok(parts) => parts,
        Err(StoreError::Cancelled) => return Err(RequestError::cancelled()),
        Err(error) => return Ok(Reply::StoreProblem(in_words(&error))),
    };
    let kept = KeptDataSet {
        format_version: KeptDataSet::VERSION,
        snapshot: facts,
        made_by: run,
        made_at: jiff::Timestamp::now().to_string(),
        parts,
    };
    if let PartsLocation::Directory { store, key } = &place
        && let Err(error) = write_down(store, &key.join(DOCUMENT), &kept)
    {
        return Ok(Reply::StoreProblem(format!("cannot write {}/{DOCUMENT}: {error}", place.name())));
    }
    Ok(Reply::Kept(Some(Box::new(kept))))
}

fn snapshot(host: &Host, database: &Database, files: &DataSetFiles) -> Result<SnapshotFacts> {
    let key = database.snapshot_key(files)?;
    let facts = host.snapshot(&key);
    facts.ok_or_else(|| RequestError::new(format!("there is no snapshot {key} to keep")))
}

/// Parts of a loading lie below its name: two runs that keep one data set at the same time do not mix.
fn below(facts: &SnapshotFacts) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    match facts.loading.chars().filter(plain).collect::<String>() {
        name if name.is_empty() => "loading".to_owned(),
        name => name,
    }
}

/// Whole, or not there.
fn write_down(store: &Path, document: &Path, kept: &KeptDataSet) -> std::io::Result<()> {
    guarded::replace_below(store, document, &serde_json::to_vec_pretty(kept)?, 0o644)
}

/// Where a key's parts are.
fn place_of(transfer: &Transfer, key: &str) -> PartsLocation {
    match transfer {
        Transfer::Directory(directory) => PartsLocation::Directory { store: directory.into(), key: key.into() },
        Transfer::Urls { name, urls } => {
            PartsLocation::Urls { name: format!("{name}/{key}"), urls: urls.iter().map(|url| url.0.clone()).collect() }
        }
    }
}

fn in_words(error: &StoreError) -> String {
    match error {
        StoreError::Refused { permission: Some(permission), .. } => {
            format!("{error} (permission {permission} is missing)")
        }
        other => other.to_string(),
    }
}

fn refusal(error: StoreError) -> RequestError {
    let help = match &error {
        StoreError::Cancelled => return RequestError::cancelled(),
        StoreError::Refused { permission: Some(permission), .. } => {
            format!("allow {permission} on the keys of [dataset.store]: docs/aws.md")
        }
        StoreError::Refused { .. } => {
            "see that the database hosts reach it; without [dataset.store] the data set is loaded".to_owned()
        }
        StoreError::Io { .. } => "make room, or see to the disk, and go on with --resume".to_owned(),
        _ => return RequestError::new(error),
    };
    RequestError::new(error).help(help)
}
