//! How far the work is.

/// Called with how many bytes of the archive are done; `false` ends the work.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> bool;
