//! `[configuration.settings]`: what of a configuration is otherwise than iopslab has it.

use std::ops::Range;

use product::{At, Problem};

use crate::mistakes::{Collector, choice};
use crate::raw;
use crate::raw::Section;
use crate::spanned::Spanned;
use product::{Product, Settings};

/// The most that a device reads ahead, KiB.
const MOST_READ_AHEAD_KB: i64 = 1 << 16;
/// Linux reads ahead in whole pages, KiB.
const PAGE_KB: i64 = 4;

/// The settings of a configuration by its product and the version of that, of which nothing but what the file says is
/// known where the database is somebody else's (these settings are refused elsewhere); none where it states none.
pub(super) fn check(
    given: Option<&raw::Settings>,
    (product, version): (&Product, Option<&str>),
    mistakes: &mut Collector<'_>,
) -> Option<Settings> {
    let Some(given) = given else { return Some(Settings::default()) };
    mistakes.sound(|mistakes| {
        let read_ahead_kb = given.host.as_ref().and_then(|host| read_ahead_kb(host, mistakes));
        let (sections, problems) = (product.check_settings)(version, &given.stated());
        problems.into_iter().for_each(|problem| add(problem, given, mistakes));
        Settings::new(sections, read_ahead_kb)
    })
}

/// Where a configuration states the value of this section and key; all of it where it does not.
pub(super) fn place(raw: &Spanned<raw::Configuration>, (section, key): (&str, &str)) -> Range<usize> {
    let keys = raw.settings.as_deref().and_then(|settings| settings.keys(section));
    keys.and_then(|keys| keys.get(key)).map_or_else(|| raw.span(), |value| value.span())
}

/// Notes what is wrong with a setting, at its place.
fn add(Problem { section, at, what, help }: Problem, given: &raw::Settings, mistakes: &mut Collector<'_>) {
    match (given.sections.get(section), at) {
        (Some(Section::Options(options)), At::Option(number)) => {
            let at = options.get(number).map_or(0..0, |option| option.span());
            mistakes.add(at, what, help);
        }
        (Some(Section::Keys(keys)), At::Key(key)) => {
            let at = keys.get_key_value(key.as_str()).map_or(0..0, |(key, _)| key.span());
            mistakes.add(at, what, help);
        }
        (Some(Section::Keys(keys)), At::Value { key, word }) => {
            let at = keys.get(key.as_str()).map_or(0..0, |value| value.span());
            mistakes.add_within(&at, &word, what, help);
        }
        _ => mistakes.add(0..0, what, help),
    }
}

/// Read-ahead, if it is stated; the rest of a host is not ours.
fn read_ahead_kb(given: &raw::Keys, mistakes: &mut Collector<'_>) -> Option<u32> {
    let mut read_ahead = None;
    for (key, value) in given {
        let (at, what, help) = match (key.as_str(), value.as_integer()) {
            ("read_ahead_kb", Some(kb)) if (0..=MOST_READ_AHEAD_KB).contains(&kb) && kb % PAGE_KB == 0 => {
                read_ahead = u32::try_from(kb).ok();
                continue;
            }
            ("read_ahead_kb", _) => (
                value.span(),
                format!("read_ahead_kb cannot be {value}"),
                "whole pages of 4 KiB, 0 to 65536, without quotes: read_ahead_kb = 8",
            ),
            ("transparent_huge_pages", _) => (
                key.span(),
                "transparent_huge_pages belongs to the whole machine, which others may use".to_owned(),
                "set it by hand (/sys/kernel/mm/transparent_hugepage/enabled) and compare runs; \
                 each run keeps what it found",
            ),
            ("scheduler", _) => (
                key.span(),
                "scheduler: the devices of emulated volumes pass requests on as they come".to_owned(),
                "remove it",
            ),
            (other, _) => {
                let what = format!("a host has no setting `{other}`");
                mistakes.add(key.span(), what, choice(other, &["read_ahead_kb"]));
                continue;
            }
        };
        mistakes.add(at, what, help);
    }
    read_ahead
}
