//! Lines of releases: what differs between versions of Cassandra differs between these.

use std::cmp::Ordering;

/// A line of releases that iopslab starts, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// 4.1.
    V4_1,
    /// 5.0.
    V5_0,
    /// 6.0, of which there are alphas.
    V6_0,
}

impl Line {
    /// All, oldest first.
    pub const ALL: [Self; 3] = [Self::V4_1, Self::V5_0, Self::V6_0];

    /// As its releases begin.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V4_1 => "4.1",
            Self::V5_0 => "5.0",
            Self::V6_0 => "6.0",
        }
    }

    /// That of a release, such as `4.1.10` or `6.0-alpha2`.
    pub fn of(version: &str) -> Option<Self> {
        let goes_on = |rest: &str| rest.starts_with(['.', '-']);
        Self::ALL.into_iter().find(|line| version.strip_prefix(line.name()).is_some_and(goes_on))
    }
}

/// The key that decides in which format a version since 5.0 writes: iopslab has NONE, the file that it ships with
/// CASSANDRA_4.
pub const STORAGE_MODE: &str = "storage_compatibility_mode";

/// Whether a version has [`STORAGE_MODE`]; `None`: it is of no line that is known.
pub fn has_storage_mode(version: &str) -> Option<bool> {
    Line::of(version).map(|line| line >= Line::V5_0)
}

/// Whether a version has indexes that are attached to SSTables (SAI); one of no line that is known is taken for later.
pub fn has_attached_indexes(version: &str) -> bool {
    Line::of(version).is_none_or(|line| line >= Line::V5_0)
}

/// Whether two versions read and write the same files: releases of one line do. An alpha or beta promises nothing.
pub fn have_the_same_files(one: &str, other: &str) -> bool {
    let line = Line::of(one);
    one == other || line.is_some() && line == Line::of(other) && ![one, other].iter().any(|v| v.contains('-'))
}

/// Whether a version comes before another: by their numbers, and an alpha before a beta before a release.
pub fn compare_versions(one: &str, other: &str) -> Ordering {
    let parts = |version: &str| -> (Vec<u32>, bool, String, u32) {
        let (numbers, word) = version.split_once('-').unwrap_or((version, ""));
        let mut numbers: Vec<u32> = numbers.split('.').map(|number| number.parse().unwrap_or(0)).collect();
        // `6.0-alpha2` comes before `6.0.0`.
        numbers.resize(numbers.len().max(3), 0);
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        (numbers, word.is_empty(), name.to_owned(), word[name.len()..].parse().unwrap_or(0))
    };
    parts(one).cmp(&parts(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_of_its_line() {
        assert_eq!(Line::of("4.1.10"), Some(Line::V4_1));
        assert_eq!(Line::of("5.0.9"), Some(Line::V5_0));
        assert_eq!(Line::of("6.0-alpha2"), Some(Line::V6_0));
        for other in ["4.10.1", "4.1", "3.11.19", "", "5.00.1"] {
            assert_eq!(Line::of(other), None, "{other}");
        }
    }

    #[test]
    fn releases_of_one_line_have_the_same_files_and_an_alpha_has_its_own() {
        for (one, other, is_so) in [
            ("5.0.9", "5.0.10", true),
            ("4.1.10", "5.0.9", false),
            ("6.0-alpha2", "6.0.0", false),
            ("6.0-alpha2", "6.0-alpha2", true),
        ] {
            assert_eq!((have_the_same_files(one, other), have_the_same_files(other, one)), (is_so, is_so), "{one}");
        }
        let modes = ["4.1.10", "5.0.9", "3.11.19"].map(has_storage_mode);
        assert_eq!(modes, [Some(false), Some(true), None]);
        assert_eq!(["4.1.10", "5.0.9", "6.0-alpha2"].map(has_attached_indexes), [false, true, true]);
    }

    #[test]
    fn versions_are_in_the_order_of_their_numbers() {
        let sorted = ["4.1.9", "4.1.10", "5.0.9", "5.0.10", "6.0-alpha2", "6.0-alpha10", "6.0-beta1", "6.0.0", "6.0.1"];
        for pair in sorted.windows(2) {
            assert_eq!(compare_versions(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(compare_versions("5.0.9", "5.0.9"), Ordering::Equal);
    }
}
