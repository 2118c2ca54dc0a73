//! Near matches for a name that does not exist.

/// At most `most` names that differ from what was written by at most `slips` insertions, deletions, replacements or
/// swaps of neighbours, capitals aside; nearest first, then by name.
pub(crate) fn by_slips<'a>(
    written: &str,
    names: impl Iterator<Item = &'a str>,
    slips: usize,
    most: usize,
) -> Vec<&'a str> {
    let written = written.to_ascii_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .map(|name| (strsim::damerau_levenshtein(&written, &name.to_ascii_lowercase()), name))
        .filter(|(distance, _)| *distance <= slips)
        .collect();
    near.sort_unstable();
    near.into_iter().take(most).map(|(_, name)| name).collect()
}
