//! Where each byte of an archive stands, known before any file is read.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::tar::{self, BLOCK, END, Entry, Header};

/// The archive of a directory tree.
#[derive(Debug)]
pub struct Layout {
    root: PathBuf,
    pieces: Vec<Piece>,
    bytes: u64,
}

/// An entry with its header; a file's bytes follow it.
#[derive(Debug)]
struct Piece {
    /// Where its header stands.
    offset: u64,
    header: Header,
    entry: Entry,
}

impl Piece {
    /// Bytes of header, file and zeros.
    fn bytes(&self) -> u64 {
        BLOCK + self.entry.bytes + tar::padding(self.entry.bytes)
    }
}

impl Layout {
    /// That of everything below `root`, which does not change until it is read.
    ///
    /// # Errors
    /// When the tree cannot be listed, or has what is neither a file nor a directory, or a name that is too long.
    pub fn of(root: &Path) -> Result<Self, StoreError> {
        let mut layout = Self { root: root.to_owned(), pieces: Vec::new(), bytes: 0 };
        layout.add(Path::new(""))?;
        layout.bytes += END;
        Ok(layout)
    }

    /// Bytes of the whole archive.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its parts of so many bytes each, the last one of what is left.
    pub fn parts(&self, part_bytes: u64) -> Vec<Range<u64>> {
        let starts = (0..self.bytes).step_by(part_bytes.max(1) as usize);
        starts.map(|start| start..(start + part_bytes).min(self.bytes)).collect()
    }

    /// The bytes of a part.
    pub(crate) fn read(&self, part: Range<u64>) -> PartReader<'_> {
        PartReader { layout: self, part, open: None }
    }

    fn add(&mut self, below: &Path) -> Result<(), StoreError> {
        let directory = self.root.join(below);
        let listed = fs::read_dir(&directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = listed.map_err(StoreError::io("list", &directory))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for found in entries {
            let path = found.path();
            let about = fs::symlink_metadata(&path).map_err(StoreError::io("examine", &path))?;
            if !about.is_dir() && !about.is_file() {
                let why = "is neither a file nor a directory: it cannot be in a store";
                return Err(StoreError::Unfit { path, why });
            }
            let entry = Entry {
                path: below.join(found.file_name()),
                is_directory: about.is_dir(),
                mode: about.mode() & 0o7777,
                bytes: if about.is_file() { about.len() } else { 0 },
            };
            let changed_s = u64::try_from(about.mtime()).unwrap_or_default();
            let Some(header) = tar::header(&entry, changed_s) else {
                let why = "has a name that is too long for tar, or no UTF-8";
                return Err(StoreError::Unfit { path, why });
            };
            let is_directory = entry.is_directory.then(|| entry.path.clone());
            let piece = Piece { offset: self.bytes, header, entry };
            self.bytes += piece.bytes();
            self.pieces.push(piece);
            if let Some(below) = is_directory {
                self.add(&below)?;
            }
        }
        Ok(())
    }
}

/// Reads a part of the archive.
pub(crate) struct PartReader<'l> {
    layout: &'l Layout,
    /// What is left of it.
    part: Range<u64>,
    /// The file under way, by the number of its piece, at the place that comes next.
    open: Option<(usize, File)>,
}

impl Read for PartReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let at = self.part.start;
        let room = (buffer.len() as u64).min(self.part.end.saturating_sub(at)) as usize;
        let buffer = &mut buffer[..room];
        if buffer.is_empty() {
            return Ok(0);
        }
        let pieces = &self.layout.pieces;
        let number = pieces.partition_point(|piece| piece.offset <= at).checked_sub(1);
        let piece = number.and_then(|number| Some((number, pieces.get(number)?)));
        let read = match piece.map(|(number, piece)| (number, piece, at - piece.offset)) {
            Some((_, piece, within)) if within < BLOCK => {
                let header = &piece.header[within as usize..];
                let read = header.len().min(buffer.len());
                buffer[..read].copy_from_slice(&header[..read]);
                read
            }
            Some((number, piece, within)) if within < BLOCK + piece.entry.bytes => {
                let within = within - BLOCK;
                let left = piece.entry.bytes - within;
                let room = left.min(buffer.len() as u64) as usize;
                self.read_file(number, piece, within, &mut buffer[..room])?
            }
            // Zeros up to the next header, or to the end.
            other => {
                let end = other.map_or(self.layout.bytes, |(number, piece, _)| match pieces.get(number + 1) {
                    Some(_) => piece.offset + piece.bytes(),
                    None => self.layout.bytes,
                });
                let read = (end - at).min(buffer.len() as u64) as usize;
                buffer[..read].fill(0);
                read
            }
        };
        self.part.start += read as u64;
        Ok(read)
    }
}

impl PartReader<'_> {
    fn read_file(&mut self, number: usize, piece: &Piece, within: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let path = self.layout.root.join(&piece.entry.path);
        let reported = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if self.open.as_ref().is_none_or(|(of, _)| *of != number) {
            let mut file = guarded::open_no_link(&path).map_err(reported)?;
            file.seek(SeekFrom::Start(within)).map_err(reported)?;
            self.open = Some((number, file));
        }
        let Some((_, file)) = &mut self.open else { return Ok(0) };
        match file.read(buffer).map_err(reported)? {
            0 => Err(io::Error::other(format!("{} became shorter", path.display()))),
            read => Ok(read),
        }
    }
}
