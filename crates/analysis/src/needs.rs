//! What has to be done for the settings of one configuration to hold on a database that runs with those of another.

use std::collections::{BTreeMap, BTreeSet};

use cassandra_model::{compaction_strategy, jvm, table, yaml};

use crate::document::{ConfigurationFacts, Need};
use crate::hardware::is_same_but_for_settings;

/// Options of the table that its SSTables keep as they were when they were written.
const IN_FILES: [&str; 2] = ["bloom_filter_fp_chance", "compression"];
/// Keys of `cassandra.yaml` of which the same is true.
const KEYS_IN_FILES: [&str; 2] = ["column_index_size", "sstable"];

/// Empty where they differ in more than settings, or in none.
pub fn needs(from: &ConfigurationFacts, to: &ConfigurationFacts) -> Vec<Need> {
    if !is_same_but_for_settings(from, to) {
        return Vec::new();
    }
    let (before, after) = (&from.settings, &to.settings);
    let options = differing(table(before), table(after));
    let keys = differing(yaml(before), yaml(after));
    let are_in_files = options.iter().any(|option| IN_FILES.contains(option));
    let are_in_files = are_in_files || keys.iter().any(|key| KEYS_IN_FILES.contains(key));
    let all = [
        (Need::AlterTable, !options.is_empty()),
        (Need::Restart, !keys.is_empty() || jvm(before) != jvm(after)),
        (Need::Rewrite, are_in_files),
        (Need::Recompaction, compaction_strategy(before) != compaction_strategy(after)),
        (Need::Host, before.read_ahead_kb != after.read_ahead_kb),
    ];
    all.into_iter().filter(|(_, is)| *is).map(|(need, _)| need).collect()
}

/// The names under which the two do not have the same.
fn differing<'s, V: PartialEq>(one: &'s BTreeMap<String, V>, other: &'s BTreeMap<String, V>) -> Vec<&'s str> {
    let names: BTreeSet<&str> = one.keys().chain(other.keys()).map(String::as_str).collect();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use cassandra_model::{JVM, TABLE, YAML};
    use experiment::{Section, Setting, Settings};

    use super::*;
    use crate::analyse;
    use crate::story::{job, run, table, trials};

    /// A configuration with these settings, all else as in the story.
    fn with(settings: Settings) -> ConfigurationFacts {
        static STORY: LazyLock<ConfigurationFacts> =
            LazyLock::new(|| analyse(&run(&job(), &trials())).configurations.swap_remove(0));
        ConfigurationFacts { settings, ..STORY.clone() }
    }

    fn keys(section: &str, name: &str, value: &str) -> Settings {
        let keys = BTreeMap::from([(name.to_owned(), Setting::Value(value.to_owned()))]);
        Settings::default().with(section, Section::Keys(keys))
    }

    fn key(name: &str, value: &str) -> Settings {
        keys(YAML, name, value)
    }

    #[test]
    fn what_has_to_be_done_follows_from_where_a_setting_lives() {
        let plain = with(Settings::default());
        let jvm = Settings::default().with(JVM, Section::Options(vec!["-XX:+UseZGC".to_owned()]));
        let read_ahead = Settings { read_ahead_kb: Some(8), ..Settings::default() };
        let word = keys(TABLE, "speculative_retry", "NONE");
        let all: [(Settings, &[Need]); 9] = [
            (Settings::default(), &[]),
            (table("compression", "chunk_length_in_kb", "4"), &[Need::AlterTable, Need::Rewrite]),
            (table("compaction", "class", "LeveledCompactionStrategy"), &[Need::AlterTable, Need::Recompaction]),
            (table("compaction", "min_threshold", "8"), &[Need::AlterTable]),
            (word, &[Need::AlterTable]),
            (key("concurrent_reads", "64"), &[Need::Restart]),
            (key("sstable", "{\"selected_format\":\"bti\"}"), &[Need::Restart, Need::Rewrite]),
            (jvm, &[Need::Restart]),
            (read_ahead, &[Need::Host]),
        ];
        for (settings, expected) in all {
            let changed = with(settings);
            assert_eq!(needs(&plain, &changed), expected, "{:?}", changed.settings);
            assert_eq!(needs(&changed, &plain), expected, "back: {:?}", changed.settings);
        }
    }

    /// Another volume is no setting, whatever else differs.
    #[test]
    fn nothing_is_said_where_more_than_settings_differ() {
        let plain = with(Settings::default());
        let changes: [fn(&mut ConfigurationFacts); 4] = [
            |c| c.volumes[0].limits.read_iops = Some(61.0),
            |c| c.volumes[0].label = "gp3 320 GiB".to_owned(),
            |c| c.heap_bytes += 1,
            |c| c.exists_at = vec!["10.0.0.5".to_owned()],
        ];
        for change in changes {
            let mut other = with(key("concurrent_reads", "64"));
            assert_eq!(needs(&plain, &other), [Need::Restart]);
            change(&mut other);
            assert_eq!(needs(&plain, &other), []);
        }
    }
}
