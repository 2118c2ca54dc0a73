//! What has to be done for one configuration to hold on a database that runs as another of the same price, where that
//! differs in settings, in how its instances' bandwidth is weighted, or in the EBS cards of its volumes.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use cassandra_model::{
    JVM, KEYS_IN_FILES, OPTIONS_IN_FILES, STORAGE_MODE, TABLE, YAML, compaction_strategy, compare_versions,
    has_storage_mode, have_the_same_files, jvm, table, yaml,
};
use experiment::{BandwidthWeighting, Section, Settings};

use crate::document::{ConfigurationFacts, Need};
use crate::hardware::is_same_but_for_settings;

/// What has to be done, or given, by what differs. Where more than settings, weighting and cards does, it is weighting
/// alone: the network gives it whatever differs besides.
pub fn needs(from: &ConfigurationFacts, to: &ConfigurationFacts) -> Vec<Need> {
    let is_other_path = from.bandwidth_weighting != to.bandwidth_weighting || are_on_other_cards(from, to);
    let alike = if is_other_path { Cow::Owned(on_path_of(from, to)) } else { Cow::Borrowed(to) };
    let weighting = weighted(from, to).into_iter();
    if !is_same_but_for_settings(from, &alike) {
        return weighting.collect();
    }
    let cards = are_on_other_cards(from, to).then_some(Need::EbsCards);
    weighting.chain(cards).chain(of_settings(from, to)).collect()
}

/// Another weighting of the instances' bandwidth.
fn weighted(from: &ConfigurationFacts, to: &ConfigurationFacts) -> Option<Need> {
    match (from.bandwidth_weighting, to.bandwidth_weighting) {
        (before, after) if before == after => None,
        (_, Some(BandwidthWeighting::Ebs1)) => Some(Need::NetworkBandwidth),
        (_, Some(BandwidthWeighting::Default) | None) => Some(Need::DefaultWeighting),
    }
}

fn are_on_other_cards(from: &ConfigurationFacts, to: &ConfigurationFacts) -> bool {
    let cards = from.volumes.iter().zip(&to.volumes).map(|(before, after)| before.card.zip(after.card));
    cards.flatten().any(|(before, after)| before != after)
}

/// A configuration with the path to EBS, and the cards, of another, and what these let through to volumes that are
/// otherwise the same.
fn on_path_of(of: &ConfigurationFacts, configuration: &ConfigurationFacts) -> ConfigurationFacts {
    let mut alike = configuration.clone();
    (alike.bandwidth_weighting, alike.instance_limits) = (of.bandwidth_weighting, of.instance_limits);
    for (volume, of) in alike.volumes.iter_mut().zip(&of.volumes) {
        if (volume.role, &volume.label) == (of.role, &of.label) {
            (volume.card, volume.limits) = (of.card, of.limits);
            (volume.burst, volume.byte_burst) = (of.burst, of.byte_burst);
        }
    }
    alike
}

fn of_settings(from: &ConfigurationFacts, to: &ConfigurationFacts) -> Vec<Need> {
    let (before, after) = (&from.settings, &to.settings);
    let options = differing(table(before), table(after));
    let keys = differing(yaml(before), yaml(after));
    let are_in_files = options.iter().any(|option| OPTIONS_IN_FILES.contains(option));
    let are_in_files = are_in_files || keys.iter().any(|key| KEYS_IN_FILES.contains(key));
    // Where only one is known they are of different runs.
    let versions = from.version.as_deref().zip(to.version.as_deref());
    let step = versions.map_or(Ordering::Equal, |(before, after)| compare_versions(before, after));
    let have_other_files = versions.is_some_and(|(before, after)| !have_the_same_files(before, after));
    let is_of_host = before.read_ahead_kb != after.read_ahead_kb;
    if step == Ordering::Greater && have_other_files {
        let host = is_of_host.then_some(Need::Host);
        return std::iter::once(Need::EarlierVersion).chain(host).collect();
    }
    let is_mode_new = versions.is_some_and(|(before, after)| {
        (has_storage_mode(before), has_storage_mode(after)) == (Some(false), Some(true))
    });
    let all = [
        (Need::Upgrade, step == Ordering::Less),
        (Need::SetBack, step == Ordering::Greater),
        // One that is stated is among the settings.
        (Need::StorageMode, step == Ordering::Less && is_mode_new && !yaml(after).contains_key(STORAGE_MODE)),
        (Need::AlterTable, !options.is_empty()),
        (Need::Restart, !keys.is_empty() || jvm(before) != jvm(after)),
        (Need::Settings, of_others(before) != of_others(after)),
        // What was measured was loaded by the later version.
        (Need::Rewrite, are_in_files || have_other_files),
        (Need::Recompaction, compaction_strategy(before) != compaction_strategy(after)),
        (Need::Host, is_of_host),
    ];
    all.into_iter().filter(|(_, is)| *is).map(|(need, _)| need).collect()
}

/// Sections of products other than Cassandra, of whose settings nothing more is known here.
fn of_others(settings: &Settings) -> BTreeMap<&String, &Section> {
    settings.sections.iter().filter(|(name, _)| ![JVM, YAML, TABLE].contains(&name.as_str())).collect()
}

/// The names under which the two do not have the same.
fn differing<'s, V: PartialEq>(one: &'s BTreeMap<String, V>, other: &'s BTreeMap<String, V>) -> Vec<&'s str> {
    let names: BTreeSet<&str> = one.keys().chain(other.keys()).map(String::as_str).collect();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use experiment::Setting;

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

    /// A version is no hardware: it costs no money, and its own word says what it takes.
    #[test]
    fn another_version_is_an_upgrade_and_the_way_back_is_none() {
        let of = |version: &str| ConfigurationFacts { version: Some(version.to_owned()), ..with(Settings::default()) };
        let (old, new) = (of("4.1.10"), of("5.0.9"));
        assert_eq!(needs(&old, &new), [Need::Upgrade, Need::StorageMode, Need::Rewrite]);
        assert_eq!(needs(&of("5.0.9"), &of("6.0-alpha2")), [Need::Upgrade, Need::Rewrite], "both have it");
        assert_eq!(needs(&new, &old), [Need::EarlierVersion]);
        // New nodes have the settings from their start, but not their hosts.
        let mut plain = of("4.1.10");
        plain.settings = key("concurrent_reads", "64");
        assert_eq!(needs(&new, &plain), [Need::EarlierVersion]);
        plain.settings.read_ahead_kb = Some(8);
        assert_eq!(needs(&new, &plain), [Need::EarlierVersion, Need::Host]);
        // Releases of one line read the same files.
        assert_eq!(needs(&of("5.0.9"), &of("5.0.10")), [Need::Upgrade]);
        assert_eq!(needs(&of("5.0.10"), &of("5.0.9")), [Need::SetBack]);
        assert_eq!(needs(&of("6.0.0"), &of("6.0-alpha2")), [Need::EarlierVersion]);
        assert_eq!(needs(&old, &old), []);
        assert_eq!(needs(&of("6.0-alpha2"), &of("6.0.0")), [Need::Upgrade, Need::Rewrite]);
        assert!(is_same_but_for_settings(&old, &new));
    }

    /// What weighting changes of the limits in force is weighting, too, and settings beside it are named.
    #[test]
    fn bandwidth_weighting_costs_network_whatever_differs_besides() {
        let plain = with(Settings::default());
        let weighted = |settings: Settings| {
            let mut to = with(settings);
            to.bandwidth_weighting = Some(BandwidthWeighting::Ebs1);
            to.volumes[0].limits.read_bytes_per_s = Some(1.0);
            to.instance_limits = Some(experiment::IoLimits::default());
            to
        };
        let to = weighted(Settings::default());
        assert_eq!(needs(&plain, &to), [Need::NetworkBandwidth]);
        assert_eq!(needs(&to, &plain), [Need::DefaultWeighting]);
        assert_eq!(needs(&to, &to), []);
        let with_key = weighted(key("concurrent_reads", "64"));
        assert_eq!(needs(&plain, &with_key), [Need::NetworkBandwidth, Need::Restart]);
        let larger = ConfigurationFacts { memory_limit_bytes: 2 * plain.memory_limit_bytes, ..with_key };
        assert_eq!(needs(&plain, &larger), [Need::NetworkBandwidth], "another machine");
    }

    #[test]
    fn volumes_on_other_cards_are_attached_anew() {
        let on_card = |card: u32| {
            let mut of = with(Settings::default());
            (of.volumes[0].card, of.volumes[0].limits.read_iops) = (Some(card), Some(f64::from(card)));
            of
        };
        assert_eq!(needs(&on_card(0), &on_card(1)), [Need::EbsCards]);
        assert_eq!(needs(&on_card(1), &on_card(1)), []);
        assert_eq!(needs(&with(Settings::default()), &on_card(0)), [], "another instance");
    }

    /// More of it for the database itself, and so less for the page cache.
    #[test]
    fn another_part_of_the_same_memory_is_a_setting() {
        let plain = with(Settings::default());
        let set = with(keys("postgresql", "shared_buffers", "2GB"));
        let set = ConfigurationFacts { heap_bytes: 2 * plain.heap_bytes, page_cache_budget_bytes: 1, ..set };
        assert_eq!(needs(&plain, &set), [Need::Settings]);
    }

    /// Another volume is no setting, whatever else differs.
    #[test]
    fn nothing_is_said_where_more_than_settings_differ() {
        let plain = with(Settings::default());
        let changes: [fn(&mut ConfigurationFacts); 4] = [
            |c| c.volumes[0].limits.read_iops = Some(61.0),
            |c| c.volumes[0].label = "gp3 320 GiB".to_owned(),
            |c| c.memory_limit_bytes *= 2,
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
