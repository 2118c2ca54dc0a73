//! Making a lock list: every jar that a version of Cassandra needs at run time, by the POMs of a Maven repository, with
//! the SHA-256 of what that repository gave.
//!
//! Which jars these are follows Maven's rules for a program that depends on `cassandra-all` alone
//! (<https://maven.apache.org/guides/introduction/introduction-to-dependency-mechanism.html>): the nearest version
//! wins, and of two as near the first; scopes `compile` and `runtime`; nothing that is optional; exclusions hold for
//! all that lies below them.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::path::Path;
use std::rc::Rc;

use cassandra_model::{Line, compare_versions};
use sha1::{Digest as _, Sha1};
use sha2::{Digest as _, Sha256};

use super::distribution::repository;
use super::distribution_error::DistributionError;
use super::fetch;
use super::pom::{self, Coordinates, Dependency};

const GROUP: &str = "org.apache.cassandra";
const ARTIFACT: &str = "cassandra-all";
/// Most bytes of a POM, a list of versions, or a checksum.
const TEXT_MOST_BYTES: u64 = 4 << 20;
/// Most bytes of a jar; the largest has 13 MB.
const JAR_MOST_BYTES: u64 = 256 << 20;

/// A list as it stands in the source: its text is what [`fmt::Display`] writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockList {
    /// Cassandra version.
    pub version: String,
    /// SHA-256, bytes and path of each jar, by path.
    pub jars: Vec<(String, u64, String)>,
}

impl fmt::Display for LockList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = &self.version;
        writeln!(
            f,
            "# {GROUP}:{ARTIFACT}:{version}, runtime scope. Made by `iopslab db lock cassandra {version}`; do not edit."
        )?;
        self.jars.iter().try_for_each(|(sha256, bytes, path)| writeln!(f, "{sha256}  {bytes}  {path}"))
    }
}

/// Makes the lock list of a version, or of the newest one of a line (`6.0`). The jars are in `cache` afterwards.
///
/// # Errors
/// The repository does not give something, a POM cannot be followed, or a jar is not what its SHA-1 there says.
pub fn make_lock_list(
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(&str),
) -> Result<LockList, DistributionError> {
    make_lock_list_from(&repository(), version, cache, on_progress)
}

/// [`make_lock_list`] from a given repository (`http(s)://...`, without a slash at its end).
///
/// # Errors
/// As [`make_lock_list`].
pub fn make_lock_list_from(
    repository: &str,
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(&str),
) -> Result<LockList, DistributionError> {
    let agent = fetch::agent();
    let bytes = |path: &str, most: u64| fetch::bytes(&agent, repository, path, most);
    let text = |path: &str| -> Result<String, DistributionError> {
        Ok(String::from_utf8_lossy(&bytes(path, TEXT_MOST_BYTES)?).into_owned())
    };
    let version = newest(version, &text)?;
    let paths = jars(&version, &mut |path| {
        on_progress(&format!("reading {}", path.rsplit('/').next().unwrap_or(path)));
        text(path)
    })?;
    let root = cache.join("cassandra");
    let mut jars = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        on_progress(&format!("fetching jar {} of {}: {path}", number + 1, paths.len()));
        let jar = bytes(path, JAR_MOST_BYTES)?;
        check_sha1(repository, path, &jar, &text(&format!("{path}.sha1"))?)?;
        let target = root.join(path);
        let kept = target.parent().map_or(Ok(()), std::fs::create_dir_all);
        // What is there already keeps its time: a start archive belongs to jars of theirs.
        let is_there = guarded::read(&target, JAR_MOST_BYTES).is_ok_and(|there| there == jar);
        let kept = kept.and_then(|()| if is_there { Ok(()) } else { guarded::replace(&target, &jar, 0o644) });
        kept.map_err(|source| DistributionError::Io { path: target, source })?;
        jars.push((guarded::hex(&Sha256::digest(&jar)), jar.len() as u64, path.clone()));
    }
    Ok(LockList { version, jars })
}

/// The version itself, or the newest one of the line that is named.
fn newest(
    version: &str,
    text: &dyn Fn(&str) -> Result<String, DistributionError>,
) -> Result<String, DistributionError> {
    let Some(line) = Line::ALL.into_iter().find(|line| line.name() == version) else {
        return Ok(version.to_owned());
    };
    let path = format!("{}/{ARTIFACT}/maven-metadata.xml", GROUP.replace('.', "/"));
    let all = pom::released(&text(&path)?).map_err(|reason| unclear(format!("{path}: {reason}")))?;
    let of_line = all.into_iter().filter(|version| Line::of(version) == Some(line));
    let newest = of_line.max_by(|one, other| compare_versions(one, other));
    newest.ok_or_else(|| unclear(format!("{path} has no release of {version}")))
}

/// Maven asks for the same of a repository that it is to be strict with.
fn check_sha1(repository: &str, path: &str, jar: &[u8], said: &str) -> Result<(), DistributionError> {
    let expected = said.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let actual = guarded::hex(&Sha1::digest(jar));
    match actual == expected {
        true => Ok(()),
        false => Err(unclear(format!("{repository}/{path} has SHA-1 {actual}, and {path}.sha1 says {expected}"))),
    }
}

fn unclear(reason: String) -> DistributionError {
    DistributionError::NoLockList { reason }
}

/// A dependency with what is excluded on the way to it.
struct Wanted {
    dependency: Dependency,
    excluded: Rc<Vec<(String, String)>>,
}

/// Paths of all jars that a version needs at run time, sorted. `read` gives the text of a POM by its path.
fn jars(
    version: &str,
    read: &mut dyn FnMut(&str) -> Result<String, DistributionError>,
) -> Result<Vec<String>, DistributionError> {
    let root = Dependency {
        group: GROUP.to_owned(),
        artifact: ARTIFACT.to_owned(),
        version: Some(version.to_owned()),
        kind: "jar".to_owned(),
        ..Dependency::default()
    };
    // Nearest first, and of those as near in the order of their POMs.
    let mut wanted = VecDeque::from([Wanted { dependency: root, excluded: Rc::new(Vec::new()) }]);
    let (mut seen, mut paths) = (BTreeSet::new(), BTreeSet::new());
    while let Some(Wanted { mut dependency, excluded }) = wanted.pop_front() {
        let pom = loop {
            if !seen.insert(dependency.key()) {
                break None;
            }
            let of = coordinates(&dependency)?;
            let pom = pom::effective(&of, read, &unclear)?;
            let Some(Coordinates { group, artifact, version }) = pom.moved_to.clone() else { break Some((of, pom)) };
            dependency = Dependency { group, artifact, version: Some(version), ..dependency };
        };
        let Some((of, pom)) = pom else { continue };
        if dependency.kind == "jar" {
            paths.insert(of.jar_path(dependency.classifier.as_deref()).map_err(unclear)?);
        }
        let below = Rc::new([excluded.as_slice(), dependency.exclusions.as_slice()].concat());
        let needed = pom.dependencies.into_iter().filter(|next| is_needed(next) && !is_excluded(next, &below));
        wanted.extend(needed.map(|dependency| Wanted { dependency, excluded: Rc::clone(&below) }));
    }
    Ok(paths.into_iter().collect())
}

fn coordinates(dependency: &Dependency) -> Result<Coordinates, DistributionError> {
    let Dependency { group, artifact, version, .. } = dependency;
    let version = version.clone().ok_or_else(|| unclear(format!("nobody says which version of {group}:{artifact}")))?;
    Ok(Coordinates { group: group.clone(), artifact: artifact.clone(), version })
}

/// Whether a program that runs needs it.
fn is_needed(dependency: &Dependency) -> bool {
    let scope = dependency.scope.as_deref().unwrap_or("compile");
    dependency.is_optional != Some(true) && matches!(scope, "compile" | "runtime")
}

fn is_excluded(dependency: &Dependency, excluded: &[(String, String)]) -> bool {
    let is = |pattern: &str, name: &str| pattern == "*" || pattern == name;
    excluded.iter().any(|(group, artifact)| is(group, &dependency.group) && is(artifact, &dependency.artifact))
}
