//! What iopslab keeps to itself of a product's settings, and why.

/// Why an option cannot be stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptOption {
    /// What iopslab does with it, in words that follow the option.
    pub why: &'static str,
    /// What to do instead.
    pub help: &'static str,
}

/// Names of one purpose that iopslab keeps to itself, why, and what to do instead. A name that ends in `*` stands for
/// all that begin so.
pub type Kept = (&'static str, &'static str, &'static str);

/// Whether a name is one of these.
pub fn is_among(name: &str, patterns: &str) -> bool {
    patterns.split_whitespace().any(|pattern| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    })
}

/// Why a name is kept; `None`: it is not.
pub fn kept_among(name: &str, kept: &[Kept]) -> Option<KeptOption> {
    let found = kept.iter().find(|(names, _, _)| is_among(name, names));
    found.map(|(_, why, help)| KeptOption { why, help })
}

/// What helps with most of it.
pub const REMOVE: &str = "remove it";
