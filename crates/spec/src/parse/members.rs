//! `count` and `layout` of a volume: several volumes for the data of a node.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;

use super::place::within;
use crate::mistakes::{Collector, choice};
use crate::{VolumeRole, raw};

/// Volumes that a node may have for its data.
const COUNT: RangeInclusive<i64> = 1..=VolumeRole::DATA.len() as i64;
/// A data directory on each, which is the default.
const DIRECTORIES: &str = "directories";
/// Striped by the kernel.
const RAID0: &str = "raid0";

/// How many volumes of this kind hold the data of a node; `None` where something is wrong, which is told.
pub(super) fn count(span: &Range<usize>, raw: &raw::Volume, key: &str, mistakes: &mut Collector<'_>) -> Option<u32> {
    let at = |mistakes: &Collector<'_>, word: &str| within(mistakes.text, span, word);
    if key != "data_volume" {
        let stated = [("count", raw.count.is_some()), ("layout", raw.layout.is_some())];
        let stated: Vec<&str> = stated.into_iter().filter_map(|(key, is)| is.then_some(key)).collect();
        for word in &stated {
            mistakes.add(
                at(mistakes, word),
                format!("`{word}` of {key}: the commit log is one sequence of files in one directory, on one volume"),
                "remove it; `count` is for data_volume",
            );
        }
        return stated.is_empty().then_some(1);
    }
    let count = raw.count.unwrap_or(1);
    let mut sound = true;
    if !COUNT.contains(&count) {
        let help = format!("a whole number from {} to {}", COUNT.start(), COUNT.end());
        mistakes.add(at(mistakes, "count"), format!("count cannot be {count}"), help);
        sound = false;
    }
    if let Some(layout) = &raw.layout {
        match layout.as_str() {
            RAID0 => {
                let help = "use layout = \"directories\": a data directory of the database on each volume";
                let message = "layout = \"raid0\" is not built yet: iopslab makes no md device";
                mistakes.add(at(mistakes, RAID0), message, help);
                sound = false;
            }
            DIRECTORIES if count == 1 => {
                let message = "`layout` says how data lies on several volumes, and this is one";
                mistakes.add(at(mistakes, "layout"), message, "state count = 2 or more, or remove it");
                sound = false;
            }
            DIRECTORIES => {}
            other => {
                let help = choice(other, &[DIRECTORIES, RAID0]);
                mistakes.add(at(mistakes, other), format!("layout cannot be `{other}`"), help);
                sound = false;
            }
        }
    }
    sound.then_some(u32::try_from(count).unwrap_or(1))
}

/// Where the data volumes of a file state more than one, with the name of their configuration and their number.
pub(super) fn places<'f>(
    file: &'f raw::Experiment,
    text: &'f str,
) -> impl Iterator<Item = (Range<usize>, &'f str, i64)> {
    file.configuration.iter().map(Spanned::get_ref).filter_map(move |c| {
        let count = c.data_volume.get_ref().get("count")?.as_integer()?;
        let at = within(text, &c.data_volume.span(), "count");
        (count > 1).then(|| (at, c.name.get_ref().as_str(), count))
    })
}
