//! `count`, `layout` and `chunk_kib` of a volume: several volumes for the data of a node.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;

use super::place::within;
use crate::mistakes::{Collector, choice};
use crate::{DataLayout, VolumeRole, raw};

/// Volumes that a node may have for its data.
const COUNT: RangeInclusive<i64> = 1..=VolumeRole::DATA.len() as i64;
/// A data directory on each, which is the default.
const DIRECTORIES: &str = "directories";
/// Striped by the kernel.
const RAID0: &str = "raid0";
/// Chunks of RAID 0, KiB: the kernel wants whole pages of 4 KiB; larger ones than 1 MiB nobody uses.
const CHUNK_KIB: RangeInclusive<i64> = 4..=1024;

/// How many volumes of a kind a node has, and how its data lies on them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Members {
    pub count: u32,
    /// `None` of one.
    pub layout: Option<DataLayout>,
}

/// The volumes of this kind that hold the data of a node; `None` where something is wrong, which is told.
pub(super) fn check(
    span: &Range<usize>,
    raw: &raw::Volume,
    key: &str,
    mistakes: &mut Collector<'_>,
) -> Option<Members> {
    let at = |mistakes: &Collector<'_>, word: &str| within(mistakes.text, span, word);
    if key != "data_volume" {
        let stated = [
            ("count", raw.count.is_some()),
            ("layout", raw.layout.is_some()),
            ("chunk_kib", raw.chunk_kib.is_some()),
        ];
        let stated: Vec<&str> = stated.into_iter().filter_map(|(key, is)| is.then_some(key)).collect();
        for word in &stated {
            mistakes.add(
                at(mistakes, word),
                format!("`{word}` of {key}: the commit log is one sequence of files in one directory, on one volume"),
                "remove it; `count` is for data_volume",
            );
        }
        let one = Members { count: 1, layout: None };
        return stated.is_empty().then_some(one);
    }
    let count = raw.count.unwrap_or(1);
    let mut sound = true;
    if !COUNT.contains(&count) {
        let help = format!("a whole number from {} to {}", COUNT.start(), COUNT.end());
        mistakes.add(at(mistakes, "count"), format!("count cannot be {count}"), help);
        sound = false;
    }
    let word = raw.layout.as_deref();
    match word {
        None | Some(DIRECTORIES | RAID0) => {}
        Some(other) => {
            let help = choice(other, &[DIRECTORIES, RAID0]);
            mistakes.add(at(mistakes, other), format!("layout cannot be `{other}`"), help);
            sound = false;
        }
    }
    if word.is_some() && count == 1 {
        let message = "`layout` says how data lies on several volumes, and this is one";
        mistakes.add(at(mistakes, "layout"), message, "state count = 2 or more, or remove it");
        sound = false;
    }
    if let Some(kib) = raw.chunk_kib {
        if word != Some(RAID0) {
            let message = "`chunk_kib` is of RAID 0, and these volumes are not striped";
            let help = "state layout = \"raid0\", or remove it";
            mistakes.add(at(mistakes, "chunk_kib"), message, help);
            sound = false;
        } else if !CHUNK_KIB.contains(&kib) || kib & (kib - 1) != 0 {
            let help = format!("a power of two from {} to {}", CHUNK_KIB.start(), CHUNK_KIB.end());
            mistakes.add(at(mistakes, "chunk_kib"), format!("chunk_kib cannot be {kib}"), help);
            sound = false;
        }
    }
    let chunk_kib = raw.chunk_kib.and_then(|kib| u32::try_from(kib).ok());
    let layout = match word {
        Some(RAID0) => DataLayout::Raid0 {
            chunk_kib: chunk_kib.unwrap_or(DataLayout::CHUNK_KIB),
        },
        _ => DataLayout::Directories,
    };
    sound.then(|| Members {
        count: u32::try_from(count).unwrap_or(1),
        layout: (count > 1).then_some(layout),
    })
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
