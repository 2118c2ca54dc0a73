//! Lock lists: each jar of a version of a product with its SHA-256 and size.

use super::error::DistributionError;

/// The lists of a product, by version: the default version first, then the others, newest first.
pub(crate) type Locks = &'static [(&'static str, &'static str)];

/// One line of a lock list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Locked {
    pub(crate) sha256: &'static str,
    pub(crate) size_bytes: u64,
    pub(crate) path: &'static str,
}

/// The jars of a version of a product (its title, for people). Errors: the version is not known.
pub(crate) fn known(product: &'static str, locks: Locks, version: &str) -> Result<Vec<Locked>, DistributionError> {
    let found = locks.iter().find(|(known, _)| *known == version);
    found.map(|(_, text)| jars(text)).ok_or_else(|| DistributionError::UnknownVersion {
        product,
        version: version.to_owned(),
        nearest: nearest_version(locks, version),
        all: locks.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", "),
    })
}

/// The jars of a list.
pub(crate) fn jars(text: &'static str) -> Vec<Locked> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(parse_lock_line).collect()
}

/// The known version that has the longest beginning in common with this one.
fn nearest_version(locks: Locks, version: &str) -> &'static str {
    let common = |known: &str| known.bytes().zip(version.bytes()).take_while(|(a, b)| a == b).count();
    // max_by_key takes the last of equals; reversed, that is the first: the default, or else the newest.
    let nearest = locks.iter().rev().map(|(known, _)| *known).max_by_key(|known| common(known));
    nearest.unwrap_or_default()
}

fn parse_lock_line(line: &'static str) -> Option<Locked> {
    let mut words = line.split_whitespace();
    Some(Locked { sha256: words.next()?, size_bytes: words.next()?.parse().ok()?, path: words.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_version_names_the_nearest() {
        let locks: Locks = &[("5.0.9", ""), ("4.1.12", "")];
        let error = known("A database", locks, "5.0.99").unwrap_err().to_string();
        assert!(error.contains("A database 5.0.99") && error.contains("nearest it can fetch is 5.0.9"), "{error}");
        assert!(error.contains("(all: 5.0.9, 4.1.12)"), "{error}");
    }

    #[test]
    fn a_line_that_is_no_jar_is_none() {
        let found = jars("# a comment\nab 12 a/b.jar\nab x a/c.jar\n");
        assert_eq!(found.iter().map(|jar| (jar.size_bytes, jar.path)).collect::<Vec<_>>(), [(12, "a/b.jar")]);
    }
}
