//! Headers of tar archives: the `ustar` form of POSIX.1-1988, with sizes above 8 GiB as GNU tar writes them, so that
//! any `tar` reads what is in a store.

use std::path::{Component, Path, PathBuf};

/// Everything is a multiple of it.
pub(crate) const BLOCK: u64 = 512;
/// So many zeros end an archive.
pub(crate) const END: u64 = 2 * BLOCK;

/// Fields of a header: where they begin, and their lengths.
const NAME: (usize, usize) = (0, 100);
const MODE: (usize, usize) = (100, 8);
const OWNER: (usize, usize) = (108, 8);
const GROUP: (usize, usize) = (116, 8);
const SIZE: (usize, usize) = (124, 12);
const CHANGED: (usize, usize) = (136, 12);
const SUM: (usize, usize) = (148, 8);
const KIND: usize = 156;
const MAGIC: (usize, usize) = (257, 8);
const PREFIX: (usize, usize) = (345, 155);

pub(crate) type Header = [u8; BLOCK as usize];

/// What stands in an archive.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Below the archive's root.
    pub path: PathBuf,
    pub is_directory: bool,
    pub mode: u32,
    /// Bytes of a file.
    pub bytes: u64,
}

/// The header of an entry; `changed_s` is its time, Unix seconds. `None` where its name has no place in one.
pub(crate) fn header(entry: &Entry, changed_s: u64) -> Option<Header> {
    let mut header = [0; BLOCK as usize];
    let mut name = entry.path.to_str()?.to_owned();
    if entry.is_directory {
        name.push('/');
    }
    let (prefix, name) = split(&name)?;
    put(&mut header, NAME, name.as_bytes());
    put(&mut header, PREFIX, prefix.as_bytes());
    put(&mut header, MODE, format!("{:07o}", entry.mode & 0o7777).as_bytes());
    put(&mut header, OWNER, b"0000000");
    put(&mut header, GROUP, b"0000000");
    if entry.bytes < 1 << 33 {
        put(&mut header, SIZE, format!("{:011o}", entry.bytes).as_bytes());
    } else {
        // GNU: the first bit says that a binary number follows.
        header[SIZE.0] = 0x80;
        header[SIZE.0 + 4..SIZE.0 + 12].copy_from_slice(&entry.bytes.to_be_bytes());
    }
    put(&mut header, CHANGED, format!("{changed_s:011o}").as_bytes());
    header[KIND] = if entry.is_directory { b'5' } else { b'0' };
    put(&mut header, MAGIC, b"ustar\x0000");
    let sum = sum(&header);
    put(&mut header, SUM, format!("{sum:06o}\0 ").as_bytes());
    Some(header)
}

/// The entry of a header; `Err` says what is wrong with it.
pub(crate) fn entry(header: &Header) -> Result<Entry, &'static str> {
    if octal(field(header, SUM)) != Some(u64::from(sum(header))) {
        return Err("a header's checksum is wrong");
    }
    let is_directory = match header[KIND] {
        b'0' | 0 => false,
        b'5' => true,
        _ => return Err("an entry is neither a file nor a directory"),
    };
    let words = |field: &[u8]| {
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
        std::str::from_utf8(&field[..end]).map(str::to_owned)
    };
    let (Ok(prefix), Ok(name)) = (words(field(header, PREFIX)), words(field(header, NAME))) else {
        return Err("a name is no UTF-8");
    };
    let path = Path::new(&prefix).join(name);
    // An archive must not write elsewhere.
    if path.as_os_str().is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err("a name leads out of the data set");
    }
    let size = field(header, SIZE);
    let bytes = match size[0] & 0x80 {
        0 => octal(size),
        _ => size[4..].try_into().ok().map(u64::from_be_bytes),
    };
    let mode = octal(field(header, MODE)).and_then(|mode| u32::try_from(mode).ok());
    match (bytes, mode) {
        (Some(bytes), Some(mode)) => {
            Ok(Entry { path, is_directory, mode: mode & 0o7777, bytes: if is_directory { 0 } else { bytes } })
        }
        _ => Err("a header has no size or no mode"),
    }
}

/// Zeros after a file of so many bytes.
pub(crate) fn padding(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK) - bytes
}

/// A long name's beginning has a field of its own.
fn split(name: &str) -> Option<(&str, &str)> {
    if name.len() <= NAME.1 {
        return Some(("", name));
    }
    let slashes = name.match_indices('/').map(|(at, _)| at);
    let mut fitting = slashes.filter(|at| *at <= PREFIX.1 && (1..=NAME.1).contains(&(name.len() - at - 1)));
    fitting.next().map(|at| (&name[..at], &name[at + 1..]))
}

fn put(header: &mut Header, (at, length): (usize, usize), value: &[u8]) {
    debug_assert!(value.len() <= length, "a field is too short");
    header[at..at + value.len()].copy_from_slice(value);
}

fn field(header: &Header, (at, length): (usize, usize)) -> &[u8] {
    &header[at..at + length]
}

/// Of all bytes, where the sum's own count as spaces.
fn sum(header: &Header) -> u32 {
    let own = SUM.0..SUM.0 + SUM.1;
    let bytes = header.iter().enumerate();
    bytes.map(|(at, byte)| if own.contains(&at) { 32 } else { u32::from(*byte) }).sum()
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    u64::from_str_radix(text.trim_matches(['\0', ' ']), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, bytes: u64) -> Entry {
        Entry { path: path.into(), is_directory: false, mode: 0o640, bytes }
    }

    #[test]
    fn an_entry_comes_back_whatever_its_length_and_size() {
        let long = format!("{}/nb-12-big-Data.db", "usertable-a0b1/".repeat(9).trim_end_matches('/'));
        assert!(long.len() > NAME.1);
        for one in [file("a", 0), file("ycsb/b", 8 << 30), file(&long, 3 << 40)] {
            let header = header(&one, 1_700_000_000).unwrap();
            assert_eq!(entry(&header), Ok(one));
        }
        let directory = Entry { is_directory: true, mode: 0o755, ..file("ycsb", 0) };
        assert_eq!(entry(&header(&directory, 0).unwrap()), Ok(directory));
        assert!(header(&file(&"x".repeat(300), 1), 0).is_none(), "it has no place");
    }

    #[test]
    fn a_damaged_header_and_one_that_leads_elsewhere_are_refused() {
        let sound = header(&file("a", 7), 0).unwrap();
        let mut damaged = sound;
        damaged[0] = b'b';
        assert_eq!(entry(&damaged), Err("a header's checksum is wrong"));
        for path in ["../a", "/etc/passwd", "a/../../b"] {
            let header = header(&file(path, 7), 0).unwrap();
            assert_eq!(entry(&header), Err("a name leads out of the data set"), "{path}");
        }
    }
}
