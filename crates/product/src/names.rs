//! The name that was probably meant.

/// The nearest of `names`, if any is near enough to be a slip.
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    likest(given, names, 0.5)
}

/// The same among names of which all are alike, as options of a JVM are: it differs by a letter or two.
pub fn slip<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    likest(given, names, 0.85)
}

fn likest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>, least: f64) -> Option<&'n str> {
    names
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(given, name), name))
        .filter(|(likeness, _)| *likeness >= least)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// `did you mean `x`?`, or the whole choice.
pub fn choice(given: &str, names: &[&str]) -> String {
    match nearest(given, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? valid: {}", names.join(", ")),
        None => format!("valid: {}", names.join(", ")),
    }
}
