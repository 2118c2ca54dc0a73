//! The one number by which a program knows whether files of a run are its own.

/// Version of the files of a run directory, and of what is made from them. A program reads its own alone.
pub const FORMAT_VERSION: u32 = 3;
