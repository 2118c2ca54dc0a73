//! What is true of several configurations or workloads is said once, with their names.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A sentence, which may be about configurations, workloads or files by their names.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    before: String,
    names: Vec<String>,
    after: String,
}

impl Sentence {
    /// About `name`, with what stands before and after that.
    pub(crate) fn of(before: impl Into<String>, name: impl Into<String>, after: impl Into<String>) -> Self {
        Self { before: before.into(), names: vec![name.into()], after: after.into() }
    }

    /// The same with words before it.
    pub(crate) fn behind(mut self, words: &str) -> Self {
        self.before.insert_str(0, words);
        self
    }

    /// Takes over what the same sentence is about elsewhere. `false`: it is another one, or about nothing by name, or
    /// about the same once more, as of two volumes of a configuration.
    pub(crate) fn takes(&mut self, other: &Self) -> bool {
        let is_same = !self.names.is_empty()
            && !other.names.is_empty()
            && (&self.before, &self.after) == (&other.before, &other.after)
            && !other.names.iter().any(|name| self.names.contains(name));
        if is_same {
            self.names.extend(other.names.iter().cloned());
        }
        is_same
    }
}

/// `name: words`.
impl<N: Into<String>, W: fmt::Display> From<(N, W)> for Sentence {
    fn from((name, words): (N, W)) -> Self {
        Self::of("", name, format!(": {words}"))
    }
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Self { before: text, names: Vec::new(), after: String::new() }
    }
}

impl From<&str> for Sentence {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.before, listed(&self.names), self.after)
    }
}

/// The sentence (`message`), and all names that it is about (`about`).
impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Sentence", 2)?;
        fields.serialize_field("message", &self.to_string())?;
        fields.serialize_field("about", &self.names)?;
        fields.end()
    }
}

/// `a`, `a and b`, `a, b and c`, `a, b and 3 others`.
pub fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown = if names.len() > 3 { &names[..2] } else { names };
    let mut shown: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
    let others = names.len() - shown.len();
    let last = match others {
        0 => shown.pop().unwrap_or_default().to_owned(),
        others => format!("{others} others"),
    };
    if shown.is_empty() { last } else { format!("{} and {last}", shown.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_and_many_are_counted() {
        for (names, expected) in [
            (&[][..], ""),
            (&["a"], "a"),
            (&["a", "b"], "a and b"),
            (&["a", "b", "c"], "a, b and c"),
            (&["a", "b", "c", "d", "e"], "a, b and 3 others"),
        ] {
            assert_eq!(listed(names), expected);
        }
    }

    #[test]
    fn the_same_sentence_takes_over_names_and_another_does_not() {
        let of = |name: &str, words: &str| Sentence::of("settings of ", name, words);
        let mut first = of("a", ": none");
        assert!(first.takes(&of("b", ": none")) && !first.takes(&of("c", ": some")));
        assert!(!first.takes(&of("a", ": none")), "it is said of a second thing of a");
        assert_eq!(first.clone().behind("refused: ").to_string(), "refused: settings of a and b: none");
        assert!(!Sentence::from("none").takes(&"none".into()), "they are at different places");
    }
}
