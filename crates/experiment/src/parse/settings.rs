//! `[configuration.settings]`: what of a configuration is otherwise than iopslab has it.

use std::collections::BTreeSet;

use super::{cassandra_keys, table_options};
use crate::jvm_option::{is_jvm_setting, jvm_option_name, kept_jvm_option};
use crate::known::{known, known_versions};
use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{Settings, raw};

/// The most that a device reads ahead, KiB.
const MOST_READ_AHEAD_KB: i64 = 1 << 16;
/// Linux reads ahead in whole pages, KiB.
const PAGE_KB: i64 = 4;

/// The settings of a configuration, where the database is of this `version` (empty: somebody else's, whose settings are
/// refused elsewhere); none where it states none.
pub(super) fn check(given: Option<&raw::Settings>, version: &str, mistakes: &mut Collector<'_>) -> Option<Settings> {
    let Some(given) = given else {
        return Some(Settings::default());
    };
    let nothing = raw::Keys::new();
    let cassandra = given.cassandra.as_ref().unwrap_or(&nothing);
    let table = given.table.as_ref().unwrap_or(&nothing);
    let settings = mistakes.sound(|mistakes| {
        let mut settings = Settings {
            jvm: jvm_options(given.jvm.as_deref().unwrap_or_default(), mistakes),
            read_ahead_kb: given.host.as_ref().and_then(|host| read_ahead_kb(host, mistakes)),
            ..Settings::default()
        };
        let first = cassandra.keys().chain(table.keys()).next();
        if let Some(first) = first.filter(|_| !version.is_empty()) {
            let Some(known) = known(version) else {
                let message = format!("iopslab does not know what Cassandra {version} can be set to");
                mistakes.add(first.span(), message, format!("it knows {}", known_versions()));
                return settings;
            };
            settings.cassandra = cassandra_keys::check(cassandra, known, mistakes);
            settings.table = table_options::check(table, known, cassandra, mistakes);
        }
        settings
    });
    read_ahead_of_nothing(given, mistakes);
    settings
}

/// A buffer that reads ahead in compressed tables needs one.
fn read_ahead_of_nothing(given: &raw::Settings, mistakes: &mut Collector<'_>) {
    let keys = given.cassandra.as_ref();
    let buffer = keys.and_then(|keys| keys.get_key_value("compressed_read_ahead_buffer_size"));
    let compression = given.table.as_ref().and_then(|options| options.get("compression"));
    let is_off = compression.and_then(|c| c.get("enabled")?.as_bool()) == Some(false);
    if let Some((key, _)) = buffer.filter(|_| is_off) {
        let message = "compressed_read_ahead_buffer_size does nothing for a table without compression";
        mistakes.add(key.span(), message, "remove one of the two");
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
                "set it by hand (/sys/kernel/mm/transparent_hugepage/enabled) and compare runs; each run keeps what it found",
            ),
            ("scheduler", _) => (
                key.span(),
                "scheduler: the devices of emulated volumes pass requests on as they come".to_owned(),
                "remove it",
            ),
            (other, _) => (key.span(), format!("a host has no setting `{other}`"), "valid: read_ahead_kb"),
        };
        mistakes.add(at, what, help);
    }
    read_ahead
}

fn jvm_options(given: &[Spanned<String>], mistakes: &mut Collector<'_>) -> Vec<String> {
    let mut names = BTreeSet::new();
    for option in given {
        let is_new = names.insert(jvm_option_name(option));
        if let Some((what, help)) = problem(option, is_new) {
            mistakes.add(option.span(), what, help);
        }
    }
    given.iter().map(Spanned::to_string).collect()
}

fn problem(option: &str, is_new: bool) -> Option<(String, &'static str)> {
    const FOR_EXAMPLE: &str = "for example jvm = [\"-XX:TieredStopAtLevel=1\", \"-Xss512k\"]";
    if option.contains(|c: char| c.is_whitespace() || c.is_control()) {
        let what = format!("`{option}` is more than one word");
        return Some((what, "each option is an entry of its own, in quotes of its own"));
    }
    if !option.starts_with('-') {
        return Some((format!("`{option}` is no option of the JVM: they begin with `-`"), FOR_EXAMPLE));
    }
    if !is_jvm_setting(option) {
        return Some((format!("`{option}` sets nothing of a JVM"), FOR_EXAMPLE));
    }
    if let Some(kept) = kept_jvm_option(option) {
        return Some((format!("{option}: {}", kept.why), kept.help));
    }
    (!is_new).then(|| (format!("{} is set twice", jvm_option_name(option)), "the last one would win: remove the other"))
}
