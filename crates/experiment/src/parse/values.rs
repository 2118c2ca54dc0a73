//! What a value may be: a number of a range, a word of a choice, a name. Else it is a mistake that says what is valid.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};

use crate::mistakes::{Collector, choice};
use crate::spanned::Spanned;
use crate::typed_number::of_per_cent;
use crate::words::Word;

impl Collector<'_> {
    fn ranged<N: Copy + PartialOrd + Display, S>(
        &mut self,
        given: Option<&Spanned<N, S>>,
        key: &str,
        range: RangeInclusive<N>,
        (kind, most): (&str, N),
        more: impl FnOnce(N) -> String,
    ) -> Option<N> {
        let value = **given?;
        if range.contains(&value) {
            return Some(value);
        }
        let help = match *range.end() == most {
            true => format!("{kind}, at least {}", range.start()),
            false => format!("{kind} from {} to {}{}", range.start(), range.end(), more(value)),
        };
        self.add(given?.span(), format!("{key} cannot be {value}"), help);
        None
    }

    /// The whole number that a key states; `None` where it is absent or out of its range.
    pub(super) fn stated_integer<'g, S: 'g>(
        &mut self,
        given: impl Into<Option<&'g Spanned<i64, S>>>,
        key: &str,
        range: RangeInclusive<i64>,
    ) -> Option<i64> {
        self.ranged(given.into(), key, range, ("a whole number", i64::MAX), |_| String::new())
    }

    /// The number that a key states; `None` where it is absent or out of its range.
    pub(super) fn stated_number<'g>(
        &mut self,
        given: impl Into<Option<&'g Spanned<f64>>>,
        key: &str,
        range: RangeInclusive<f64>,
    ) -> Option<f64> {
        let (is_share, most) = (*range.start() == 0.0 && *range.end() <= 1.0, *range.end());
        self.ranged(given.into(), key, range, ("a number", f64::MAX), |value| {
            let share = of_per_cent(value);
            let is_per_cent = is_share && value > 1.0 && share <= most;
            if is_per_cent { format!("; {value} % is {key} = {share}") } else { String::new() }
        })
    }

    /// A whole number in its range; the default where the key is absent, or where it is a mistake.
    pub(super) fn integer<'g, S: 'g>(
        &mut self,
        given: impl Into<Option<&'g Spanned<i64, S>>>,
        key: &str,
        range: RangeInclusive<i64>,
        default: i64,
    ) -> i64 {
        self.stated_integer(given, key, range).unwrap_or(default)
    }

    /// A number in its range; the default where the key is absent, or where it is a mistake.
    pub(super) fn number<'g>(
        &mut self,
        given: impl Into<Option<&'g Spanned<f64>>>,
        key: &str,
        range: RangeInclusive<f64>,
        default: f64,
    ) -> f64 {
        self.stated_number(given, key, range).unwrap_or(default)
    }

    /// What is called so among `words`; else a mistake that begins with `said`.
    pub(super) fn one_of<W: Copy>(
        &mut self,
        at: Range<usize>,
        given: &str,
        said: &str,
        words: &[(&str, W)],
    ) -> Option<W> {
        let found = words.iter().find(|(word, _)| *word == given);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.add(at, format!("{said} `{given}`"), choice(given, &names));
        }
        found.map(|(_, meant)| *meant)
    }

    /// The same where the words are those of an enum.
    pub(super) fn word<W: Word, S>(&mut self, given: &Spanned<String, S>, said: &str) -> Option<W> {
        self.one_of(given.span(), given, said, W::WORDS)
    }

    /// Refuses a word that is none of these.
    pub(super) fn refuse_other(&mut self, given: &Spanned<String>, said: &str, words: &[&str]) {
        if !words.contains(&given.as_str()) {
            self.add(given.span(), format!("{said} `{given}`"), choice(given, words));
        }
    }

    /// A name that becomes part of file names.
    pub(super) fn safe_name(&mut self, name: &Spanned<String>, of: &str) -> Option<String> {
        let allowed =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || (of != "configuration" && c == '.');
        if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.chars().all(allowed) {
            let help = "1 to 64 letters, digits, - and _; it becomes part of file names";
            self.add(name.span(), format!("`{name}` cannot be the name of the {of}"), help);
            return None;
        }
        Some(name.get_ref().clone())
    }

    /// Refuses the second of two like names.
    pub(super) fn unique<'n>(&mut self, names: impl Iterator<Item = (Range<usize>, &'n str)>, of: &str) {
        let mut seen = BTreeSet::new();
        for (at, name) in names {
            if !seen.insert(name) {
                self.add(at, format!("two {of}s are called `{name}`"), "names must be unique");
            }
        }
    }

    /// Refuses keys that are stated where they mean nothing.
    pub(super) fn stray<'k>(
        &mut self,
        keys: impl IntoIterator<Item = (&'k str, Option<Range<usize>>)>,
        message: impl Fn(&str) -> String,
        help: &str,
    ) {
        for (key, at) in keys {
            if let Some(at) = at {
                self.add(at, message(key), help);
            }
        }
    }
}
