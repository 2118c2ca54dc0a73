//! Names: what becomes part of file names, and that no two are alike.

use std::collections::BTreeSet;

use toml::Spanned;

use crate::mistakes::Collector;

/// A name that becomes part of file names.
pub(super) fn safe_name(name: &Spanned<String>, of: &str, mistakes: &mut Collector<'_>) -> Option<String> {
    let text = name.get_ref();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || (of != "configuration" && c == '.');
    if text.is_empty() || text.len() > 64 || text.starts_with('.') || !text.chars().all(allowed) {
        let help = "1 to 64 letters, digits, - and _; it becomes part of file names";
        mistakes.add(name.span(), format!("`{text}` cannot be the name of the {of}"), help);
        return None;
    }
    Some(text.clone())
}

/// Refuses the second of two like names.
pub(super) fn unique<'n>(names: impl Iterator<Item = &'n Spanned<String>>, of: &str, mistakes: &mut Collector<'_>) {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name.get_ref()) {
            let message = format!("two {of}s are called `{}`", name.get_ref());
            mistakes.add(name.span(), message, "names must be unique");
        }
    }
}
