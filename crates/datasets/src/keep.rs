//! A data set goes to a store.

use std::fs;
use std::io::{self, Read, Write as _};
use std::ops::Range;
use std::path::Path;

use evidence::KeptPart;
use sha2::{Digest as _, Sha256};

use crate::error::StoreError;
use crate::layout::Layout;
use crate::place::{PartsLocation, Progress};
use crate::transfer::{ATTEMPTS, TransferFailure, agent, pause, put};

/// A piece that is read at a time.
const CHUNK: usize = 256 << 10;

/// Names of an archive's parts below the name `below`.
pub fn part_names(layout: &Layout, below: &str, part_bytes: u64) -> Vec<String> {
    let parts = 1..=layout.parts(part_bytes).len();
    parts.map(|number| format!("{below}/data-{number:04}.tar")).collect()
}

/// Brings an archive to a store, part by part, each `part_bytes` long and below the name `below`. It is of no use until
/// whoever asked writes down what is given here: that makes it a data set.
///
/// # Errors
/// What the store refuses, what cannot be read here, and [`StoreError::Cancelled`].
pub fn keep(
    layout: &Layout,
    place: &PartsLocation,
    below: &str,
    part_bytes: u64,
    progress: Progress<'_>,
) -> Result<Vec<KeptPart>, StoreError> {
    let parts = layout.parts(part_bytes);
    if let PartsLocation::Urls { name, urls } = place
        && urls.len() != parts.len()
    {
        let (urls, parts) = (urls.len(), parts.len());
        let message = format!("{urls} URLs for {parts} parts in {name}: this is a bug of iopslab");
        return Err(StoreError::Damaged(message));
    }
    let agent = agent();
    let mut kept = Vec::new();
    let names = part_names(layout, below, part_bytes).into_iter();
    for (number, (range, name)) in parts.into_iter().zip(names).enumerate() {
        let sha256 = match place {
            PartsLocation::Directory { store, key } => {
                to_file(layout, range.clone(), (store, &key.join(&name)), progress)?
            }
            PartsLocation::Urls { urls, .. } => {
                let what = format!("cannot bring a part to {}", place.reported(&name));
                to_url(&agent, layout, range.clone(), &urls[number], &what, progress)?
            }
        };
        kept.push(KeptPart { name, bytes: range.end - range.start, sha256 });
    }
    Ok(kept)
}

fn to_file(
    layout: &Layout,
    range: Range<u64>,
    (store, part): (&Path, &Path),
    progress: Progress<'_>,
) -> Result<String, StoreError> {
    let path = &store.join(part);
    fs::create_dir_all(store).map_err(StoreError::io("create", store))?;
    let mut file = guarded::write_anew_below(store, part, 0o600).map_err(StoreError::io("create", path))?;
    let mut hashed = Hashed::new(layout, range, progress);
    let mut buffer = vec![0; CHUNK];
    loop {
        match hashed.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => file.write_all(&buffer[..read]).map_err(StoreError::io("write to", path))?,
            Err(_) if hashed.is_cancelled => return Err(StoreError::Cancelled),
            Err(error) => return Err(StoreError::io("read the data set for", path)(error)),
        }
    }
    file.sync_all().map_err(StoreError::io("write to", path))?;
    Ok(hashed.finish())
}

fn to_url(
    agent: &ureq::Agent,
    layout: &Layout,
    range: Range<u64>,
    url: &str,
    what: &str,
    progress: Progress<'_>,
) -> Result<String, StoreError> {
    let mut attempt = 1;
    loop {
        let mut hashed = Hashed::new(layout, range.clone(), progress);
        let sent = put(agent, url, what, &mut hashed, range.end - range.start);
        if hashed.is_cancelled {
            return Err(StoreError::Cancelled);
        }
        match sent {
            Ok(()) => return Ok(hashed.finish()),
            Err(TransferFailure { error, may_pass }) if !may_pass || attempt == ATTEMPTS => return Err(error),
            Err(_) => pause(attempt),
        }
        attempt += 1;
    }
}

/// A part as it is read, with what is known of it at its end.
struct Hashed<'a, 'p> {
    part: crate::layout::PartReader<'a>,
    hasher: Sha256,
    position: u64,
    progress: &'p mut dyn FnMut(u64) -> bool,
    is_cancelled: bool,
}

impl<'a, 'p> Hashed<'a, 'p> {
    fn new(layout: &'a Layout, range: Range<u64>, progress: &'p mut dyn FnMut(u64) -> bool) -> Self {
        Self { position: range.start, part: layout.read(range), hasher: Sha256::new(), progress, is_cancelled: false }
    }

    fn finish(self) -> String {
        guarded::hex(&self.hasher.finalize())
    }
}

impl Read for Hashed<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !(self.progress)(self.position) {
            self.is_cancelled = true;
            return Err(io::Error::other("cancelled"));
        }
        let read = self.part.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        self.position += read as u64;
        Ok(read)
    }
}
