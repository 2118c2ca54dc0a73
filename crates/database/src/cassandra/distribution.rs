//! Cassandra's jars: fetched from a Maven repository by a committed lock list, verified, cached.
//!
//! A lock list (`lock/VERSION.txt`, made by `lock/make-lock.sh`) names every jar of the runtime closure of
//! `org.apache.cassandra:cassandra-all` with its SHA-256 and size. A jar is written aside, hashed, and only then
//! renamed to its place, so that the cache never holds half a file under a final name, whoever is killed when.
//!
//! **Verified before use.** Hashing 69 MB at each start would cost about half a second, so the cache remembers what it
//! has verified: `verified-VERSION.txt` holds each jar's SHA-256, size and modification time in nanoseconds. A jar
//! whose size and time still match is taken as verified; any other is hashed again. This guards against truncation,
//! mix-ups and bad mirrors, not against somebody who can write to the cache on purpose (they could replace Java too).

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{fetch::fetch_all, verified::Verified};

/// Environment variable with the address of another Maven repository.
pub const MIRROR_VARIABLE: &str = "IOPSLAB_MAVEN_MIRROR";
/// The public repository, used when the variable is not set.
pub const DEFAULT_REPOSITORY: &str = "https://repo.maven.apache.org/maven2";

/// Lock lists, newest version first.
const LOCKS: &[(&str, &str)] = &[("5.0.9", include_str!("lock/5.0.9.txt"))];
const VERSIONS: &[&str] = &["5.0.9"];

/// Cassandra versions that can be fetched, newest first.
pub fn versions() -> &'static [&'static str] {
    VERSIONS
}

/// A complete, verified set of jars.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// Cassandra version.
    pub version: String,
    /// All jars, in the order of the lock list.
    pub jars: Vec<PathBuf>,
    /// The directory that holds them, and the start archives made from them.
    pub cache: PathBuf,
    /// Class-data archive for faster starts, once [`super::ensure_start_archive`] has made one.
    pub start_archive: Option<PathBuf>,
    /// Heap bytes of a memtable row besides its data, as [`super::ensure_start_archive`] has found; `None`: measured at
    /// every start.
    pub row_overhead_bytes: Option<u32>,
}

impl Distribution {
    /// The class path. Its order is fixed: a class-data archive is only valid for the class path it was made with.
    pub fn classpath(&self) -> String {
        let jars: Vec<_> = self.jars.iter().map(|jar| jar.to_string_lossy()).collect();
        jars.join(":")
    }

    /// The jar whose file name starts with `prefix`.
    pub(crate) fn jar(&self, prefix: &str) -> Option<&Path> {
        let named = |jar: &&PathBuf| jar.file_name().is_some_and(|n| n.to_string_lossy().starts_with(prefix));
        self.jars.iter().find(named).map(PathBuf::as_path)
    }
}

/// Progress of [`ensure_distribution`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetched {
    /// Jars present and verified.
    pub files_done: usize,
    /// Jars in the lock list.
    pub files_total: usize,
    /// Bytes present, including those of downloads under way.
    pub bytes_done: u64,
    /// Bytes in the lock list.
    pub bytes_total: u64,
}

/// Why the jars could not be had.
#[derive(Debug, thiserror::Error)]
pub enum DistributionError {
    /// Not in [`versions`].
    #[error("Cassandra {version} is not known to this iopslab; the nearest it can fetch is {nearest} (all: {})", VERSIONS.join(", "))]
    UnknownVersion {
        /// As asked.
        version: String,
        /// The known version closest to it.
        nearest: &'static str,
    },
    /// The repository did not give the file.
    #[error(
        "cannot fetch {url}: {reason}. Check the network, or set {MIRROR_VARIABLE} to a Maven repository that this machine \
         can reach (now {repository})"
    )]
    Unreachable {
        /// What was asked for.
        url: String,
        /// The repository in use.
        repository: String,
        /// What went wrong.
        reason: String,
    },
    /// The file is not the one that the lock list means.
    #[error(
        "{url} has the wrong content and was removed: SHA-256 {actual}, expected {expected}. The mirror is damaged or not a \
         copy of Maven Central; try again or set {MIRROR_VARIABLE} to another one"
    )]
    WrongHash {
        /// Where it came from.
        url: String,
        /// What the lock list says.
        expected: String,
        /// What the file has.
        actual: String,
    },
    /// No space left.
    #[error("no space left for {} ({needed_bytes} bytes): free some, or put the cache elsewhere", path.display())]
    DiskFull {
        /// The file being written.
        path: PathBuf,
        /// Its full size.
        needed_bytes: u64,
    },
    /// Any other trouble with the cache.
    #[error("cannot use the cache: {}: {source}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `cancelled` said so.
    #[error("fetching Cassandra was cancelled; what is complete stays in the cache")]
    Cancelled,
}

/// One line of a lock list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Locked {
    pub(crate) sha256: &'static str,
    pub(crate) size_bytes: u64,
    pub(crate) path: &'static str,
}

/// Make sure that all jars of `version` are in `cache`, verified; fetch what is missing.
///
/// The repository is [`DEFAULT_REPOSITORY`], or what the environment variable [`MIRROR_VARIABLE`] says.
pub fn ensure_distribution(
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Distribution, DistributionError> {
    let mirror = std::env::var(MIRROR_VARIABLE)
        .ok()
        .filter(|mirror| !mirror.trim().is_empty());
    let repository = mirror
        .as_deref()
        .unwrap_or(DEFAULT_REPOSITORY)
        .trim()
        .trim_end_matches('/');
    ensure_distribution_from(repository, version, cache, on_progress, cancelled)
}

/// [`ensure_distribution`] from a given repository (`http(s)://...`, without a slash at its end).
pub fn ensure_distribution_from(
    repository: &str,
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(Fetched),
    cancelled: &dyn Fn() -> bool,
) -> Result<Distribution, DistributionError> {
    let locked = lock_list(version)?;
    let root = cache.join("cassandra");
    let mut verified = Verified::load(&root.join(format!("verified-{version}.txt")));
    let mut progress = Fetched {
        files_done: 0,
        files_total: locked.len(),
        bytes_done: 0,
        bytes_total: locked.iter().map(|jar| jar.size_bytes).sum(),
    };
    let mut missing = Vec::new();
    for jar in &locked {
        if cancelled() {
            return Err(DistributionError::Cancelled);
        }
        if verified.check(jar, &root.join(jar.path))? {
            progress.files_done += 1;
            progress.bytes_done += jar.size_bytes;
        } else {
            missing.push(*jar);
        }
    }
    if !missing.is_empty() {
        on_progress(progress);
        fetch_all(repository, &root, &missing, &mut progress, on_progress, cancelled)?;
        for jar in &missing {
            verified.note(jar, &root.join(jar.path))?;
        }
    }
    verified.store()?;
    Ok(Distribution {
        version: version.to_owned(),
        jars: locked.iter().map(|jar| root.join(jar.path)).collect(),
        cache: root,
        start_archive: None,
        row_overhead_bytes: None,
    })
}

/// Bytes of all jars of a version.
///
/// # Errors
/// The version is not known.
pub fn download_bytes(version: &str) -> Result<u64, DistributionError> {
    Ok(lock_list(version)?.iter().map(|jar| jar.size_bytes).sum())
}

fn lock_list(version: &str) -> Result<Vec<Locked>, DistributionError> {
    let Some((_, text)) = LOCKS.iter().find(|(known, _)| *known == version) else {
        let common = |known: &str| known.bytes().zip(version.bytes()).take_while(|(a, b)| a == b).count();
        // max_by_key takes the last of equals; reversed, that is the newest.
        let nearest = VERSIONS
            .iter()
            .rev()
            .max_by_key(|known| common(known))
            .copied()
            .unwrap_or_default();
        return Err(DistributionError::UnknownVersion {
            version: version.to_owned(),
            nearest,
        });
    };
    Ok(text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(parse_lock_line)
        .collect())
}

fn parse_lock_line(line: &'static str) -> Option<Locked> {
    let mut words = line.split_whitespace();
    Some(Locked {
        sha256: words.next()?,
        size_bytes: words.next()?.parse().ok()?,
        path: words.next()?,
    })
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_a_sound_lock_list() {
        assert_eq!(VERSIONS, LOCKS.iter().map(|(version, _)| *version).collect::<Vec<_>>());
        for (version, text) in LOCKS {
            let jars = lock_list(version).unwrap();
            assert_eq!(
                jars.len(),
                text.lines().filter(|line| !line.starts_with('#')).count(),
                "every line parses"
            );
            assert!(
                jars.iter()
                    .any(|jar| jar.path.ends_with(&format!("cassandra-all-{version}.jar")))
            );
            assert!(
                jars.iter()
                    .all(|jar| jar.sha256.len() == 64 && jar.size_bytes > 0 && !jar.path.contains(".."))
            );
        }
    }

    #[test]
    fn an_unknown_version_names_the_nearest() {
        let error = lock_list("5.0.99").unwrap_err().to_string();
        assert!(
            error.contains("5.0.99") && error.contains("nearest it can fetch is 5.0.9"),
            "{error}"
        );
    }
}
