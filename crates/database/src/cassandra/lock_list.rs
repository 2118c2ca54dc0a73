//! The lock lists: every jar of a Cassandra version with its SHA-256 and size.

/// The list of one version.
macro_rules! lock {
    ($version:literal) => {
        ($version, include_str!(concat!("lock/", $version, ".txt")))
    };
}

/// Lock lists, one line each: the default version first, then the others, newest first. `iopslab db lock` makes a list;
/// what a plan knows of the same version is in `cassandra_model`.
const LOCKS: &[(&str, &str)] = &[lock!("5.0.9"), lock!("6.0-alpha2"), lock!("4.1.10")];

const VERSIONS: [&str; LOCKS.len()] = {
    let mut versions = [""; LOCKS.len()];
    let mut number = 0;
    while number < LOCKS.len() {
        versions[number] = LOCKS[number].0;
        number += 1;
    }
    versions
};

/// Cassandra versions that can be fetched: the default first, then the others, newest first.
pub fn versions() -> &'static [&'static str] {
    &VERSIONS
}

/// One line of a lock list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Locked {
    pub(crate) sha256: &'static str,
    pub(crate) size_bytes: u64,
    pub(crate) path: &'static str,
}

/// The jars of a version; `None` if the version is not known.
pub(crate) fn lock_list(version: &str) -> Option<Vec<Locked>> {
    let (_, text) = LOCKS.iter().find(|(known, _)| *known == version)?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Some(lines.filter_map(parse_lock_line).collect())
}

/// The known version that has the longest beginning in common with this one.
pub(crate) fn nearest_version(version: &str) -> &'static str {
    let common = |known: &str| known.bytes().zip(version.bytes()).take_while(|(a, b)| a == b).count();
    // max_by_key takes the last of equals; reversed, that is the first: the default, or else the newest.
    let nearest = versions().iter().rev().max_by_key(|known| common(known));
    nearest.copied().unwrap_or_default()
}

fn parse_lock_line(line: &'static str) -> Option<Locked> {
    let mut words = line.split_whitespace();
    Some(Locked { sha256: words.next()?, size_bytes: words.next()?.parse().ok()?, path: words.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_has_a_sound_lock_list() {
        assert_eq!(VERSIONS[0], cassandra_model::CASSANDRA.default_version);
        assert_eq!(VERSIONS.to_vec(), cassandra_model::versions().collect::<Vec<_>>(), "plans know the same");
        for (version, text) in LOCKS {
            let jars = lock_list(version).unwrap();
            assert_eq!(jars.len(), text.lines().filter(|line| !line.starts_with('#')).count(), "every line parses");
            assert!(jars.iter().any(|jar| jar.path.ends_with(&format!("cassandra-all-{version}.jar"))));
            assert!(jars.iter().all(|jar| jar.sha256.len() == 64 && jar.size_bytes > 0 && !jar.path.contains("..")));
        }
    }
}
