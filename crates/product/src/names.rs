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

/// `did you mean `x`?`, or the whole choice, each name once.
pub fn choice(given: &str, names: &[&str]) -> String {
    let mut each: Vec<&str> = Vec::new();
    for name in names {
        if !each.contains(name) {
            each.push(name);
        }
    }
    match nearest(given, each.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? valid: {}", each.join(", ")),
        None => format!("valid: {}", each.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_there_twice_is_offered_once() {
        assert_eq!(choice("nope", &["fast", "slow", "fast"]), "valid: fast, slow");
        assert_eq!(choice("fasd", &["fast", "fast"]), "did you mean `fast`? valid: fast");
    }
}
