//! `[configuration.settings]`: what of a configuration is otherwise than iopslab has it.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::{cassandra_keys, table_options};
use crate::jvm_option::{is_jvm_setting, jvm_option_name, kept_jvm_option};
use crate::known::{known, known_versions};
use crate::mistakes::Collector;
use crate::{Settings, raw};

/// The most that a device reads ahead, KiB.
const MOST_READ_AHEAD_KB: i64 = 1 << 16;
/// Linux reads ahead in whole pages, KiB.
const PAGE_KB: i64 = 4;

/// The settings of a configuration, where the database is of this `version` (empty: somebody else's, whose settings are
/// refused elsewhere); none where it states none.
pub(super) fn check(
    given: Option<&Spanned<raw::Settings>>,
    version: &str,
    mistakes: &mut Collector<'_>,
) -> Option<Settings> {
    let Some(given) = given.map(Spanned::get_ref) else {
        return Some(Settings::default());
    };
    let jvm = jvm_options(given.jvm.as_deref().unwrap_or_default(), mistakes);
    let read_ahead_kb = given.host.as_ref().map(|host| host_settings(host, mistakes));
    let nothing = BTreeMap::new();
    let cassandra = given.cassandra.as_ref().unwrap_or(&nothing);
    let table = given.table.as_ref().unwrap_or(&nothing);
    let (mut keys, mut options) = (Some(BTreeMap::new()), Some(BTreeMap::new()));
    if let Some(first) = cassandra
        .keys()
        .chain(table.keys())
        .next()
        .filter(|_| !version.is_empty())
    {
        match known(version) {
            Some(known) => {
                keys = cassandra_keys::check(cassandra, known, mistakes);
                options = table_options::check(table, known, cassandra, mistakes);
            }
            None => {
                mistakes.add(
                    first.span(),
                    format!("iopslab does not know what Cassandra {version} can be set to"),
                    format!("it knows {}", known_versions()),
                );
                return None;
            }
        }
    }
    read_ahead_of_nothing(given, mistakes);
    Some(Settings {
        jvm: jvm?,
        cassandra: keys?,
        table: options?,
        read_ahead_kb: match read_ahead_kb {
            Some(checked) => checked?,
            None => None,
        },
    })
}

/// A buffer that reads ahead in compressed tables needs one.
fn read_ahead_of_nothing(given: &raw::Settings, mistakes: &mut Collector<'_>) {
    let entry = |keys: &Option<raw::Keys>, name: &str| {
        let keys = keys.as_ref()?;
        let found = keys.iter().find(|(key, _)| key.get_ref() == name);
        found.map(|(key, value)| (key.span(), value.get_ref().clone()))
    };
    let buffer = entry(&given.cassandra, "compressed_read_ahead_buffer_size");
    let compression = entry(&given.table, "compression");
    let is_off =
        compression.is_some_and(|(_, value)| value.get("enabled").is_some_and(|on| on.as_bool() == Some(false)));
    if let Some((at, _)) = buffer.filter(|_| is_off) {
        mistakes.add(
            at,
            "compressed_read_ahead_buffer_size does nothing for a table without compression",
            "remove one of the two",
        );
    }
}

/// Read-ahead, if it is stated (`None`: a mistake); the rest of a host is not ours.
fn host_settings(given: &raw::Keys, mistakes: &mut Collector<'_>) -> Option<Option<u32>> {
    let mut read_ahead = None;
    let mut all_good = true;
    for (key, value) in given {
        let (at, what, help) = match (key.get_ref().as_str(), value.get_ref().as_integer()) {
            ("read_ahead_kb", Some(kb)) if (0..=MOST_READ_AHEAD_KB).contains(&kb) && kb % PAGE_KB == 0 => {
                read_ahead = u32::try_from(kb).ok();
                continue;
            }
            ("read_ahead_kb", _) => (
                value.span(),
                format!("read_ahead_kb cannot be {}", value.get_ref()),
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
            (other, _) => (
                key.span(),
                format!("a host has no setting `{other}`"),
                "valid: read_ahead_kb",
            ),
        };
        mistakes.add(at, what, help);
        all_good = false;
    }
    all_good.then_some(read_ahead)
}

fn jvm_options(given: &[Spanned<String>], mistakes: &mut Collector<'_>) -> Option<Vec<String>> {
    let mut names = BTreeSet::new();
    let mut all_good = true;
    for option in given {
        let is_new = names.insert(jvm_option_name(option.get_ref()));
        if let Some((what, help)) = problem(option.get_ref(), is_new) {
            mistakes.add(option.span(), what, help);
            all_good = false;
        }
    }
    all_good.then(|| given.iter().map(|option| option.get_ref().clone()).collect())
}

fn problem(option: &str, is_new: bool) -> Option<(String, &'static str)> {
    const FOR_EXAMPLE: &str = "for example jvm = [\"-XX:TieredStopAtLevel=1\", \"-Xss512k\"]";
    if option.contains(|c: char| c.is_whitespace() || c.is_control()) {
        let what = format!("`{option}` is more than one word");
        return Some((what, "each option is an entry of its own, in quotes of its own"));
    }
    if !option.starts_with('-') {
        return Some((
            format!("`{option}` is no option of the JVM: they begin with `-`"),
            FOR_EXAMPLE,
        ));
    }
    if !is_jvm_setting(option) {
        return Some((format!("`{option}` sets nothing of a JVM"), FOR_EXAMPLE));
    }
    if let Some(kept) = kept_jvm_option(option) {
        return Some((format!("{option}: {}", kept.why), kept.help));
    }
    (!is_new).then(|| {
        (
            format!("{} is set twice", jvm_option_name(option)),
            "the last one would win: remove the other",
        )
    })
}
