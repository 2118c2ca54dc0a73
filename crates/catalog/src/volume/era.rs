//! Which rules were in force when.
//!
//! Published studies name a year. The table's rows begin on days that AWS documented, or that two versions of its
//! documents enclose, so a year is read as the middle of that year unless a row's own era names it.

use super::VolumeType;
use super::rules::{VolumeRules, rules_of_all_eras};
use crate::day;

/// An era for which a type has no known rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no rules of {kind} volumes are known for `{given}`; expected today, an era ({}) or a date from {earliest} on, \
     such as 2017 or 2017-11-12",
    .eras.join(", ")
)]
pub struct UnknownEra {
    /// Type.
    pub kind: VolumeType,
    /// What was asked for.
    pub given: String,
    /// The eras of the type, as an experiment file may name them.
    pub eras: Vec<String>,
    /// First day of the oldest known rules.
    pub earliest: String,
}

/// The era in force now.
pub const TODAY: &str = "today";

/// The rules of a type in an era: [`TODAY`], the first word of [`VolumeRules::era`], or a date (`2017`, `2017-11`,
/// `2017-11-12`).
///
/// # Errors
///
/// When no rules of that time are known: the type did not exist, or nobody recorded them.
pub fn rules_in(kind: VolumeType, era: &str) -> Result<&'static VolumeRules, UnknownEra> {
    let of_type = || rules_of_all_eras().iter().filter(move |rules| rules.kind == kind);
    let found = match era {
        TODAY => of_type().next_back(),
        _ => of_type()
            .find(|rules| first_word(rules) == era && era != "since")
            .or_else(|| of_type().find(|rules| covers(rules, era)))
            .or_else(|| in_force(of_type(), era)),
    };
    found.ok_or_else(|| UnknownEra {
        kind,
        given: era.to_owned(),
        eras: of_type()
            .map(first_word)
            .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            .map(str::to_owned)
            .collect(),
        earliest: of_type().next().map(begins).unwrap_or_default(),
    })
}

/// The rules in force on a day, or the oldest known ones when it lies before them.
pub(crate) fn rules_on(kind: VolumeType, day: &str) -> &'static VolumeRules {
    let of_type = || rules_of_all_eras().iter().filter(move |rules| rules.kind == kind);
    of_type()
        .rfind(|rules| begins(rules).as_str() <= day)
        .or_else(|| of_type().next())
        .unwrap_or_else(|| super::rules(kind))
}

fn in_force<'a>(
    of_type: impl DoubleEndedIterator<Item = &'a VolumeRules> + Clone,
    era: &str,
) -> Option<&'a VolumeRules> {
    let last = day::last(era)?;
    let middle = if era.len() == 4 { format!("{era}-07-01") } else { last.clone() };
    of_type
        .clone()
        .rfind(|rules| begins(rules) <= middle)
        .or_else(|| of_type.clone().find(|rules| begins(rules) <= last))
}

fn first_word(rules: &VolumeRules) -> &str {
    rules.era.split(' ').next().unwrap_or_default()
}

/// Whether the era is a span of years that holds `year`.
fn covers(rules: &VolumeRules, year: &str) -> bool {
    let is_year = |text: &str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    first_word(rules)
        .split_once('-')
        .is_some_and(|(from, to)| [from, to, year].into_iter().all(is_year) && from <= year && year <= to)
}

/// The first day on which the rules are sure to have held: the documents say `2018-12-03`, `2015 (...)`, or
/// `between 2016-11-03 and 2017-06-02`, of which the later one is sure.
fn begins(rules: &VolumeRules) -> String {
    let mut dates = rules.valid_from.split(|c: char| !c.is_ascii_digit() && c != '-').filter_map(day::first);
    let first = dates.next().unwrap_or_default();
    if rules.valid_from.starts_with("between") { dates.next().unwrap_or(first) } else { first }
}
