//! Making a lock list: every jar that a version of Cassandra needs at run time, by the POMs of a Maven repository, with
//! the SHA-256 of what that repository gave.
//!
//! Which jars these are follows Maven's rules for a program that depends on `cassandra-all` alone
//! (<https://maven.apache.org/guides/introduction/introduction-to-dependency-mechanism.html>): the nearest version
//! wins, and of two as near the first; scopes `compile` and `runtime`; nothing that is optional; exclusions hold for
//! all that lies below them.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::rc::Rc;

use cassandra_model::{Line, compare_versions};

use super::pom::{self, Coordinates, Dependency};
use crate::maven::{DistributionError, LockList, Repository, unclear};

const GROUP: &str = "org.apache.cassandra";
const ARTIFACT: &str = "cassandra-all";

/// Makes the lock list of a version, or of the newest one of a line (`6.0`), by a repository (`http(s)://...`, without
/// a slash at its end). The jars are in `cache` afterwards. Errors: the repository does not give something, a POM
/// cannot be followed, or a jar is not what its SHA-1 there says.
pub fn make_lock_list(
    repository: &str,
    version: &str,
    cache: &Path,
    on_progress: &mut dyn FnMut(&str),
) -> Result<LockList, DistributionError> {
    let repository = Repository::at(repository);
    let version = newest(version, &repository)?;
    let paths = jars(&version, &mut |path| {
        on_progress(&format!("reading {}", path.rsplit('/').next().unwrap_or(path)));
        repository.text(path)
    })?;
    let root = cache.join("cassandra");
    let mut jars = Vec::new();
    for (number, path) in paths.iter().enumerate() {
        on_progress(&format!("fetching jar {} of {}: {path}", number + 1, paths.len()));
        jars.push(repository.jar(path, &root)?);
    }
    let made = format!("Made by `iopslab db lock cassandra {version}`; do not edit.");
    Ok(LockList { about: format!("{GROUP}:{ARTIFACT}:{version}, runtime scope. {made}"), version, jars })
}

/// The version itself, or the newest one of the line that is named.
fn newest(version: &str, repository: &Repository<'_>) -> Result<String, DistributionError> {
    let Some(line) = Line::ALL.into_iter().find(|line| line.name() == version) else { return Ok(version.to_owned()) };
    repository.newest((GROUP, ARTIFACT), version, |all| {
        let of_line = all.into_iter().filter(|version| Line::of(version) == Some(line));
        of_line.max_by(|one, other| compare_versions(one, other))
    })
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
