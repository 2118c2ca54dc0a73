//! The part of the kernel's FUSE protocol that one regular file needs (include/uapi/linux/fuse.h, version 7.31).
//!
//! All numbers are in the byte order of the machine. Fields are read and written by their offsets, so that nothing here
//! needs the layout of a C struct.

/// Size of the header of every request.
const HEADER: usize = 40;
/// Size of what precedes the bytes of a write, with the header. The bytes are aligned if this much lies before them.
pub(crate) const BEFORE_WRITE: usize = HEADER + 40;
/// The largest read or write.
pub(crate) const LARGEST: usize = 1 << 20;
/// Requests that the kernel has under way in the background; its own default of 12 would hold back a deep queue.
const MAX_BACKGROUND: u16 = 256;

const EIO: i32 = 5;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const ENOSYS: i32 = 38;

/// An error number, as it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub i32);

impl Errno {
    pub const IO: Self = Self(EIO);
    pub const INVALID: Self = Self(EINVAL);
    pub const NO_SPACE: Self = Self(ENOSPC);
    pub const NOT_KNOWN: Self = Self(ENOSYS);
}

/// What the kernel asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FuseOperation {
    Init {
        minor: u32,
        flags: u32,
        readahead: u32,
    },
    Attributes,
    /// Size of a block, which a loop device needs to know to pass discards on.
    FileSystem,
    Open,
    Read {
        offset: u64,
        length: usize,
    },
    /// The bytes follow at [`BEFORE_WRITE`].
    Write {
        offset: u64,
        length: usize,
    },
    Sync,
    /// Deallocate (`true`) or anything else that fallocate(2) does.
    Punch {
        offset: u64,
        length: u64,
        mode: u32,
    },
    /// Answered with nothing but success.
    Nothing,
    /// Not answered at all.
    Forget,
    Other,
}

/// A request and the number under which it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Message {
    pub unique: u64,
    pub asked: FuseOperation,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Understands a request; `None`: it is cut off.
pub(crate) fn parse(bytes: &[u8]) -> Option<Message> {
    let unique = u64_at(bytes, 8)?;
    let body = HEADER;
    let asked = match u32_at(bytes, 4)? {
        2 | 42 => FuseOperation::Forget,
        3 | 4 => FuseOperation::Attributes,
        14 => FuseOperation::Open,
        17 => FuseOperation::FileSystem,
        15 => FuseOperation::Read { offset: u64_at(bytes, body + 8)?, length: u32_at(bytes, body + 16)? as usize },
        16 => {
            let length = u32_at(bytes, body + 16)? as usize;
            bytes.get(BEFORE_WRITE..BEFORE_WRITE + length)?;
            FuseOperation::Write { offset: u64_at(bytes, body + 8)?, length }
        }
        20 => FuseOperation::Sync,
        18 | 25 | 38 => FuseOperation::Nothing,
        26 => FuseOperation::Init {
            minor: u32_at(bytes, body + 4)?,
            readahead: u32_at(bytes, body + 8)?,
            flags: u32_at(bytes, body + 12)?,
        },
        43 => FuseOperation::Punch {
            offset: u64_at(bytes, body + 8)?,
            length: u64_at(bytes, body + 16)?,
            mode: u32_at(bytes, body + 24)?,
        },
        _ => FuseOperation::Other,
    };
    Some(Message { unique, asked })
}

/// The header of an answer with so many bytes after it.
pub(crate) fn header(unique: u64, error: Option<Errno>, after: usize) -> [u8; 16] {
    let mut header = [0; 16];
    header[..4].copy_from_slice(&((16 + after) as u32).to_ne_bytes());
    header[4..8].copy_from_slice(&(-error.map_or(0, |e| e.0)).to_ne_bytes());
    header[8..].copy_from_slice(&unique.to_ne_bytes());
    header
}

/// Bytes of an answer, field by field.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn u16(mut self, value: u16) -> Self {
        self.0.extend_from_slice(&value.to_ne_bytes());
        self
    }
    fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_ne_bytes());
        self
    }
    fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_ne_bytes());
        self
    }
}

/// What the connection can do: direct I/O that does not wait, many requests at a time, 1 MiB each.
pub(crate) fn init(minor: u32, flags: u32, readahead: u32) -> Vec<u8> {
    const ASYNC_READ: u32 = 1;
    const BIG_WRITES: u32 = 1 << 5;
    const ASYNC_DIO: u32 = 1 << 15;
    const MAX_PAGES: u32 = 1 << 22;
    let wanted = flags & (ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES);
    let answer = Fields::default()
        .u32(7)
        .u32(minor.min(31))
        .u32(readahead)
        .u32(wanted)
        .u16(MAX_BACKGROUND)
        .u16(MAX_BACKGROUND)
        .u32(LARGEST as u32)
        .u32(1)
        .u16((LARGEST / 4096) as u16)
        .u16(0);
    let mut bytes = answer.0;
    // Reserved.
    bytes.resize(64, 0);
    bytes
}

/// A regular file of so many bytes, for root alone. Valid for an hour: its size does not change.
pub(crate) fn attributes(size: u64) -> Vec<u8> {
    let head = Fields::default().u64(3600).u32(0).u32(0);
    let file = head.u64(1).u64(size).u64(size.div_ceil(512)).u64(0).u64(0).u64(0);
    let rest = file.u32(0).u32(0).u32(0).u32(0o100_600).u32(1).u32(0).u32(0).u32(0);
    rest.u32(4096).u32(0).0
}

/// A file system with blocks of 4 KiB and room for nothing else.
pub(crate) fn file_system(size: u64) -> Vec<u8> {
    let counts = Fields::default().u64(size / 4096).u64(0).u64(0).u64(1).u64(0);
    let mut bytes = counts.u32(4096).u32(255).u32(4096).0;
    // Reserved.
    bytes.resize(80, 0);
    bytes
}

/// Opened: past the page cache, which the device above has already, and with writes beside each other.
pub(crate) fn opened() -> Vec<u8> {
    const DIRECT_IO: u32 = 1;
    const PARALLEL_DIRECT_WRITES: u32 = 1 << 6;
    Fields::default().u64(1).u32(DIRECT_IO | PARALLEL_DIRECT_WRITES).u32(0).0
}

/// So many bytes were written.
pub(crate) fn written(length: usize) -> Vec<u8> {
    Fields::default().u32(length as u32).u32(0).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(opcode: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes[4..8].copy_from_slice(&opcode.to_ne_bytes());
        bytes[8..16].copy_from_slice(&77_u64.to_ne_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    #[test]
    fn requests_are_understood_and_what_is_cut_off_is_not() {
        let body = Fields::default().u64(1).u64(8192).u32(512).u32(0).u64(0).u32(0).u32(0).0;
        let read = request(15, &body);
        let asked = FuseOperation::Read { offset: 8192, length: 512 };
        assert_eq!(parse(&read), Some(Message { unique: 77, asked }));
        assert_eq!(parse(&read[..50]), None);
        let mut write = request(16, &body);
        assert_eq!(parse(&write), None, "512 bytes are announced and none are there");
        write.resize(BEFORE_WRITE + 512, 1);
        assert!(matches!(parse(&write).unwrap().asked, FuseOperation::Write { length: 512, .. }));
        assert_eq!(parse(&request(99, &[])).unwrap().asked, FuseOperation::Other);
    }

    #[test]
    fn answers_have_the_sizes_that_the_kernel_expects() {
        assert_eq!(init(45, u32::MAX, 1).len(), 64);
        assert_eq!(attributes(1 << 30).len(), 104);
        assert_eq!(opened().len(), 16);
        assert_eq!(file_system(1 << 30).len(), 80);
        assert_eq!(header(1, Some(Errno::IO), 0)[4..8], (-5_i32).to_ne_bytes());
    }
}
