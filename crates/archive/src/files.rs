//! Files that are either there completely or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use evidence::FORMAT_VERSION;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Result, RunError};

/// Permissions of what is made, less the umask; the run directory itself is closed to others.
const PERMISSIONS: u32 = 0o666;
/// Most bytes of a JSON file of a run. A plan of 25,000 trials has 4 MB; parsed, JSON takes up to 25 times as much
/// memory.
const JSON_MOST_BYTES: u64 = 16 << 20;

/// All of a file of a run that has at most so many bytes. It is no link: a received directory can hold any.
pub fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
    guarded::read_no_link(path, most_bytes).map_err(|e| RunError::file("read", path, e))
}

/// Writes a new file and waits until it is on the device.
pub fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = guarded::create(path).map_err(|e| RunError::file("create", path, e))?;
    file.write_all(bytes).map_err(|e| RunError::file("write", path, e))?;
    file.sync_all().map_err(|e| RunError::file("fsync", path, e))
}

/// Makes a rename or a new name in this directory durable.
pub fn sync_directory(path: &Path) -> Result<()> {
    File::open(path).and_then(|d| d.sync_all()).map_err(|e| RunError::file("fsync", path, e))
}

/// Creates a directory and its parents; the new names are durable once their parents are synced.
pub fn create_directories(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| RunError::file("create", path, e))
}

/// Removes a directory and all that is in it, if it is there.
pub fn remove_directory(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(|e| RunError::file("remove", path, e))?;
    }
    Ok(())
}

/// Replaces `directory/name` by a rename, so that a reader sees the old or the new content, never half of it.
pub fn replace(directory: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let target = directory.join(plain_name(name)?);
    guarded::replace(&target, bytes, PERMISSIONS).map_err(|e| RunError::file("write", &target, e))?;
    Ok(target)
}

/// A name that stays inside its directory and does not clash with what is written aside.
pub fn plain_name(name: &str) -> Result<&str> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
        return Err(RunError::BadName { name: name.to_owned() });
    }
    Ok(name)
}

/// Pretty JSON with a `format_version` in front, whether or not the value has one of its own.
pub fn versioned_json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>> {
    let value = serde_json::to_value(value).map_err(|e| RunError::damaged(path, e))?;
    let mut document = serde_json::Map::new();
    document.insert("format_version".into(), FORMAT_VERSION.into());
    match value {
        Value::Object(fields) => document.extend(fields),
        other => {
            document.insert("entries".into(), other);
        }
    }
    let mut bytes = serde_json::to_vec_pretty(&document).map_err(|e| RunError::damaged(path, e))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads JSON of this program's version.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    parse_json(path, &read(path, JSON_MOST_BYTES)?)
}

/// The same of a document that the crate of its type reads.
pub fn read_document<T>(path: &Path, read: fn(Value) -> serde_json::Result<T>) -> Result<T> {
    read(read_json(path)?).map_err(|e| RunError::damaged(path, e))
}

/// The same of a file that has these bytes.
pub fn parse_json<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    let value: Value = serde_json::from_slice(bytes).map_err(|e| RunError::damaged(path, e))?;
    RunError::check_format(path, value.get("format_version").and_then(Value::as_u64))?;
    serde_json::from_value(value).map_err(|e| RunError::damaged(path, e))
}
