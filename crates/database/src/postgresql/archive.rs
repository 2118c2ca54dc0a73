//! A jar with a `.txz` in it: how the binaries are packed.
//!
//! A jar is a zip file (PKWARE, APPNOTE 6.3). Its one large entry is read here, stored or deflated; `tar` and `xz` of
//! the machine unpack what it holds. The jar was verified by its SHA-256 before.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::process::Command;

use flate2::read::DeflateDecoder;

use crate::maven::DistributionError;

/// "PK" 05 06: the end of the central directory, which says where that begins.
const END: [u8; 4] = *b"PK\x05\x06";
/// "PK" 01 02: an entry of the central directory.
const ENTRY: [u8; 4] = *b"PK\x01\x02";
/// Bytes of the end of the central directory without a comment, of an entry of it, and of what precedes a file.
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: u64 = 30;
/// The longest end: its comment has at most 65,535 bytes.
const END_MOST_BYTES: u64 = END_BYTES as u64 + 65_535;
/// Most bytes of the central directory of a jar with a handful of files.
const DIRECTORY_MOST_BYTES: usize = 1 << 20;

/// Where a file of a zip is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// 0: stored; 8: deflated.
    method: u16,
    packed_bytes: u64,
    unpacked_bytes: u64,
    /// Where what precedes it begins.
    at: u64,
}

/// Unpacks the `.txz` of a jar into an empty directory. Errors: the jar holds none, the machine lacks `tar` or `xz`, or
/// they refuse.
pub(crate) fn unpack(jar: &Path, into: &Path) -> Result<(), DistributionError> {
    let not_it = |reason: String| DistributionError::NotTheSoftware { path: jar.to_owned(), reason };
    let failed = |source: io::Error| DistributionError::Io { path: jar.to_owned(), source };
    for program in ["tar", "xz"] {
        if guarded::program(program).is_none() {
            return Err(not_it(format!("{program} is not installed, without which it cannot be unpacked")));
        }
    }
    let packed = into.join("binaries.txz");
    let mut file = File::open(jar).map_err(failed)?;
    let entry = find(&mut file, ".txz").map_err(failed)?;
    let entry = entry.ok_or_else(|| not_it("there is no .txz in it".to_owned()))?;
    let kept = |source: io::Error| DistributionError::Io { path: packed.clone(), source };
    let mut to = guarded::write_anew(&packed, 0o600).map_err(kept)?;
    extract(&mut file, &entry, &mut to).and_then(|()| to.sync_all()).map_err(kept)?;
    let tar = Command::new("tar").arg("-xJf").arg(&packed).arg("--no-same-owner").arg("-C").arg(into).output();
    let tar = tar.map_err(kept)?;
    if !tar.status.success() {
        return Err(not_it(format!("tar: {}", String::from_utf8_lossy(&tar.stderr).trim())));
    }
    std::fs::remove_file(&packed).map_err(kept)
}

/// The entry whose name ends so.
fn find(file: &mut File, ending: &str) -> io::Result<Option<Entry>> {
    let length = file.metadata()?.len();
    let tail = length.min(END_MOST_BYTES);
    file.seek(SeekFrom::Start(length - tail))?;
    let mut end = Vec::new();
    Read::take(&mut *file, tail).read_to_end(&mut end)?;
    let Some(at) = end.windows(END.len()).rposition(|bytes| bytes == END) else {
        return Err(damaged("it has no central directory"));
    };
    let end = &end[at..];
    let (size, from) = (number(end, 12, 4), number(end, 16, 4));
    let (Some(size), Some(from)) = (size, from) else { return Err(damaged("its central directory is cut")) };
    let size = usize::try_from(size).ok().filter(|size| *size <= DIRECTORY_MOST_BYTES);
    let size = size.ok_or_else(|| damaged("its central directory is too long"))?;
    file.seek(SeekFrom::Start(from))?;
    let mut directory = vec![0; size];
    file.read_exact(&mut directory)?;
    let mut rest = directory.as_slice();
    while rest.starts_with(&ENTRY) {
        let of = |at, bytes| number(rest, at, bytes).ok_or_else(|| damaged("an entry is cut"));
        let [name, extra, comment] = [of(28, 2)?, of(30, 2)?, of(32, 2)?].map(|bytes| bytes as usize);
        let entry =
            Entry { method: of(10, 2)? as u16, packed_bytes: of(20, 4)?, unpacked_bytes: of(24, 4)?, at: of(42, 4)? };
        let text = rest.get(ENTRY_BYTES..ENTRY_BYTES + name).ok_or_else(|| damaged("an entry is cut"))?;
        if text.ends_with(ending.as_bytes()) {
            return Ok(Some(entry));
        }
        rest = rest.get(ENTRY_BYTES + name + extra + comment..).unwrap_or_default();
    }
    Ok(None)
}

fn extract(file: &mut File, entry: &Entry, to: &mut impl Write) -> io::Result<()> {
    file.seek(SeekFrom::Start(entry.at))?;
    let mut local = [0; LOCAL_BYTES as usize];
    file.read_exact(&mut local)?;
    // Name and extra field of this copy of the entry may be longer than those of the directory.
    let skipped = number(&local, 26, 2).unwrap_or(0) + number(&local, 28, 2).unwrap_or(0);
    file.seek(SeekFrom::Start(entry.at + LOCAL_BYTES + skipped))?;
    let packed = file.take(entry.packed_bytes);
    let written = match entry.method {
        0 => io::copy(&mut { packed }, to)?,
        // One byte more than it says is already too much.
        8 => io::copy(&mut DeflateDecoder::new(packed).take(entry.unpacked_bytes + 1), to)?,
        other => return Err(damaged(&format!("it is packed by method {other}"))),
    };
    if written == entry.unpacked_bytes { Ok(()) } else { Err(damaged("its file has another length than it says")) }
}

/// A number of so many bytes, the least significant first.
fn number(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + count)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::read::DeflateEncoder;

    use super::*;

    /// A zip of these files: name, method, content.
    fn zip(files: &[(&str, u16, &[u8])]) -> Vec<u8> {
        let (mut out, mut directory) = (Vec::new(), Vec::new());
        for (name, method, content) in files {
            let mut packed = content.to_vec();
            if *method == 8 {
                packed.clear();
                DeflateEncoder::new(*content, Compression::default()).read_to_end(&mut packed).unwrap();
            }
            let at = out.len() as u32;
            let common = |to: &mut Vec<u8>| {
                to.extend([20, 0, 0, 0]);
                to.extend(method.to_le_bytes());
                to.extend([0; 8]);
                to.extend((packed.len() as u32).to_le_bytes());
                to.extend((content.len() as u32).to_le_bytes());
                to.extend((name.len() as u16).to_le_bytes());
            };
            out.extend(*b"PK\x03\x04");
            common(&mut out);
            // Longer by two bytes of extra field than the directory says.
            out.extend([2, 0]);
            out.extend(name.as_bytes());
            out.extend([7, 7]);
            out.extend(&packed);
            directory.extend(ENTRY);
            directory.extend([20, 0]);
            common(&mut directory);
            directory.extend([0; 12]);
            directory.extend(at.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let from = out.len() as u32;
        out.extend(&directory);
        out.extend(END);
        out.extend([0; 4]);
        out.extend((files.len() as u16).to_le_bytes());
        out.extend((files.len() as u16).to_le_bytes());
        out.extend((directory.len() as u32).to_le_bytes());
        out.extend(from.to_le_bytes());
        out.extend([0, 0]);
        out
    }

    fn found(bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let Some(entry) = find(&mut file, ".txz")? else { return Ok(None) };
        let mut content = Vec::new();
        extract(&mut file, &entry, &mut content)?;
        Ok(Some(content))
    }

    #[test]
    fn the_archive_of_a_jar_is_found_stored_or_deflated() {
        let binaries = b"binaries ".repeat(1_000);
        for method in [0, 8] {
            let jar =
                zip(&[("META-INF/MANIFEST.MF", 8, b"Manifest-Version: 1.0"), ("postgres.txz", method, &binaries)]);
            assert_eq!(found(&jar).unwrap().as_deref(), Some(binaries.as_slice()), "method {method}");
        }
        assert_eq!(found(&zip(&[("README", 0, b"x")])).unwrap(), None);
    }

    #[test]
    fn a_file_that_is_no_jar_or_is_cut_says_so() {
        let jar = zip(&[("postgres.txz", 0, b"binaries")]);
        let no_end = found(&jar[..jar.len() - 30]).unwrap_err().to_string();
        assert_eq!(no_end, "it has no central directory");
        let mut other = jar.clone();
        let at = other.windows(4).position(|bytes| bytes == ENTRY).unwrap();
        other[at + 10] = 12;
        assert_eq!(found(&other).unwrap_err().to_string(), "it is packed by method 12");
        let mut long = jar;
        long[at + 24] = 9;
        assert_eq!(found(&long).unwrap_err().to_string(), "its file has another length than it says");
    }
}
