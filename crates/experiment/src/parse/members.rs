//! `count`, `layout` and `chunk_kib` of a volume: several volumes for the data of a node.

use std::ops::{Range, RangeInclusive};

use super::inline::within;
use crate::mistakes::Collector;
use crate::raw::LayoutWord;
use crate::words::Word as _;
use crate::{DataLayout, VolumeRole, raw};

/// Volumes that a node may have for its data.
const COUNT: RangeInclusive<u32> = 1..=VolumeRole::DATA.len() as u32;
/// Chunks of RAID 0, KiB: the kernel wants whole pages of 4 KiB; larger ones than 1 MiB nobody uses.
const CHUNK_KIB: RangeInclusive<u32> = 4..=1024;

/// How many volumes of this kind hold the data of a node, and how it lies on several; `None` where something is wrong,
/// which is reported.
pub(super) fn check(
    span: &Range<usize>,
    raw: &raw::Volume,
    key: &str,
    mistakes: &mut Collector<'_>,
) -> Option<(u32, Option<DataLayout>)> {
    if key != "data_volume" {
        return mistakes.sound(|mistakes| {
            let stated = [
                ("count", raw.count.is_some()),
                ("layout", raw.layout.is_some()),
                ("chunk_kib", raw.chunk_kib.is_some()),
            ];
            for (word, _) in stated.into_iter().filter(|(_, is)| *is) {
                let message = format!(
                    "`{word}` of {key}: the commit log is one sequence of files in one directory, on one volume"
                );
                mistakes.add_within(span, word, message, "remove it; `count` is for data_volume");
            }
            (1, None)
        });
    }
    mistakes.sound(|mistakes| {
        let count = raw.count.unwrap_or(1);
        if !COUNT.contains(&count) {
            let help = format!("a whole number from {} to {}", COUNT.start(), COUNT.end());
            mistakes.add_within(span, "count", format!("count cannot be {count}"), help);
        }
        let layout = raw.layout.as_ref().and_then(|word| {
            let at = within(mistakes.text, span, word);
            mistakes.one_of(at, word, "layout cannot be", LayoutWord::WORDS)
        });
        if raw.layout.is_some() && count == 1 {
            let message = "`layout` says how data lies on several volumes, and this is one";
            mistakes.add_within(span, "layout", message, "state count = 2 or more, or remove it");
        }
        let is_striped = layout == Some(LayoutWord::Raid0);
        if let Some(kib) = raw.chunk_kib {
            if !is_striped {
                let message = "`chunk_kib` is of RAID 0, and these volumes are not striped";
                mistakes.add_within(span, "chunk_kib", message, "state layout = \"raid0\", or remove it");
            } else if !CHUNK_KIB.contains(&kib) || !kib.is_power_of_two() {
                let help = format!("a power of two from {} to {}", CHUNK_KIB.start(), CHUNK_KIB.end());
                mistakes.add_within(span, "chunk_kib", format!("chunk_kib cannot be {kib}"), help);
            }
        }
        let layout = match is_striped {
            true => DataLayout::Raid0 { chunk_kib: raw.chunk_kib.unwrap_or(DataLayout::CHUNK_KIB) },
            false => DataLayout::Directories,
        };
        (count, (count > 1).then_some(layout))
    })
}

/// Where the data volumes of a file state more than one, with the name of their configuration and their number.
pub(super) fn places<'f>(
    file: &'f raw::Experiment,
    text: &'f str,
) -> impl Iterator<Item = (Range<usize>, &'f str, i64)> {
    file.configuration.iter().filter_map(move |c| {
        let count = c.data_volume.get("count")?.as_integer()?;
        let at = within(text, &c.data_volume.span(), "count");
        (count > 1).then(|| (at, c.name.as_str(), count))
    })
}
