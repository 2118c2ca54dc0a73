//! Control files: which interface they belong to, where they are, how a value gets into one.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Result, io_error};

/// Version of the control group interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgroupVersion {
    /// One tree per controller.
    V1,
    /// One tree for all.
    V2,
}

/// Where one controller's files of a cgroup are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerPath {
    /// Which names the files have.
    pub version: CgroupVersion,
    /// Directory.
    pub path: PathBuf,
}

/// Writes one value to a control file; a refusal names the file and the value. Control files take whole values, so
/// appending is the same as writing; in a fake tree it keeps every line.
pub(super) fn write_control(directory: &Path, file: &str, value: &str) -> Result<()> {
    let path = directory.join(file);
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut open| open.write_all(format!("{value}\n").as_bytes()))
        .map_err(io_error(format!("write `{value}` to"), &path))
}
