//! Data sets in a store: a directory tree as one archive (tar), cut into parts, in a directory or behind URLs.
//!
//! The archive is never on a disk: a [`Layout`] knows from names and sizes where each byte of it stands, so that the
//! length of a part is known before its first byte is read, and a part that did not arrive is sent again alone. What is
//! restored is written to files as it comes, and counts only when the SHA-256 of every part was right.

mod error;
mod keep;
mod layout;
mod place;
mod restore;
mod tar;
mod transfer;

pub use error::StoreError;
pub use keep::{keep, part_names};
pub use layout::Layout;
pub use place::{PartsLocation, Progress};
pub use restore::restore;

/// Bytes of a part but the last. A single request may carry 5 GiB to S3 ("Uploading objects", Amazon S3 User Guide);
/// what is lost by a request that fails should be less.
pub const PART_BYTES: u64 = 1 << 30;
