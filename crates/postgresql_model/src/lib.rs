//! PostgreSQL as an experiment knows it: which versions, what they can be set to, how a node shares out its memory.

mod amount;
mod check;
mod in_force;
mod kept_key;
mod known;
mod memory;

pub use check::CONF;
pub use check::refusal;
pub use in_force::{is_value, shown};
pub use known::{keys, versions};
pub use memory::{PAGE_BYTES, SHARED_BUFFERS};

use std::collections::BTreeMap;

use amount::{Unit, amount};
use product::{
    CheckpointRules, Lack, MemoryRules, Product, SectionKind, Setting, Settings, SettingsSection, ShapesFiles,
    StatedMemory,
};

/// Used when the file names no version.
const DEFAULT_VERSION: &str = "18.3";

/// Most requests in flight: each has a connection of its own, and so a process of the server.
pub const MOST_IN_FLIGHT: u32 = 900;

/// The setting of the time from one checkpoint to the next.
const CHECKPOINT_TIMEOUT: &str = "checkpoint_timeout";
/// Where it is not set: five minutes (PostgreSQL's default).
const CHECKPOINT_S: f64 = 300.0;
/// `checkpoint_completion_target` where it is not set (PostgreSQL's default from version 14 on).
const CHECKPOINT_COMPLETION: f64 = 0.9;

/// PostgreSQL.
pub static POSTGRESQL: Product = Product {
    name: "postgresql",
    title: "PostgreSQL",
    short: "PostgreSQL",
    default_version: DEFAULT_VERSION,
    versions: || versions().collect(),
    sections: &[SettingsSection {
        name: CONF,
        about: "Settings of PostgreSQL's `postgresql.conf`, such as `checkpoint_timeout = \"15min\"` or \
                `full_page_writes = false`.\n\
                `shared_buffers` is that of full scale, which a 1:N model divides. Refused are those that iopslab \
                keeps to\nitself: other memory, files, addresses, security, replication.",
        kind: SectionKind::Keys,
        // Pages are written in one form, whatever is set: a data set is loaded once for all settings.
        shapes_files: ShapesFiles::None,
    }],
    check_settings: check::check,
    memory: MemoryRules {
        plan: memory::plan,
        stated: Some(StatedMemory {
            setting: (CONF, SHARED_BUFFERS),
            bytes: memory::stated_bytes,
            least_bytes: memory::LEAST_STATED,
        }),
        process_bytes: memory::PROCESSES_BYTES,
        least_main_bytes: memory::LEAST_SHARED_BUFFERS,
        in_words: "shared_buffers (a quarter unless stated), 64 MiB for maintenance and 256 MiB for its processes come \
                   first",
    },
    unit_bytes: PAGE_BYTES as f64,
    stated_unit_bytes: no_other_unit,
    most_in_flight: MOST_IN_FLIGHT,
    has_consistency: false,
    backlog: None,
    checkpoints: Some(CheckpointRules {
        setting: (CONF, CHECKPOINT_TIMEOUT),
        least: "30s",
        smaller_log: (CONF, "wal_compression", "pglz"),
        interval_s: checkpoint_interval_s,
        log_share: checkpoint_log_share,
    }),
    lacks: &[
        Lack::Clusters,
        Lack::DataDirectories,
        Lack::Heap,
        Lack::Compaction,
        Lack::Cql,
        Lack::Simulation,
        Lack::Aws,
    ],
    reports: &reported::postgresql::REPORTS,
};

/// Settings of `postgresql.conf`, each with its value as that file has it, without quotes.
pub fn conf(settings: &Settings) -> &BTreeMap<String, Setting> {
    settings.keys(CONF)
}

/// The major version of a release: 18 of `18.3`.
pub fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

/// What is stated was checked before.
fn checkpoint_interval_s(settings: &Settings) -> f64 {
    let stated = conf(settings).get(CHECKPOINT_TIMEOUT);
    stated.and_then(|stated| amount(Unit::of_settings("s"), stated.value())).unwrap_or(CHECKPOINT_S)
}

/// Of `max_wal_size`: 1 / (1 + `checkpoint_completion_target`), so that what is logged while a checkpoint is spread
/// over its time fits too (PostgreSQL, `CalculateCheckpointSegments` in `xlog.c`). What is stated was checked before.
fn checkpoint_log_share(settings: &Settings) -> f64 {
    let stated = conf(settings).get("checkpoint_completion_target");
    let target = stated.and_then(|stated| stated.value().parse().ok()).unwrap_or(CHECKPOINT_COMPLETION);
    1.0 / (1.0 + target)
}

/// No setting changes the size of a page.
fn no_other_unit(_: &Settings) -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_version_is_named_with_those_known() {
        assert_eq!(POSTGRESQL.expected_version(DEFAULT_VERSION), None);
        let help = POSTGRESQL.expected_version("9.6").expect("it is not known");
        assert!(help.starts_with("known: ") && help.contains(DEFAULT_VERSION), "{help}");
        assert_eq!((major("18.3"), major("x")), (Some(18), None));
    }

    #[test]
    fn a_checkpoint_comes_as_often_as_is_set_or_every_five_minutes() {
        let interval_s = POSTGRESQL.checkpoints.expect("it has checkpoints").interval_s;
        let set = |value: &str| {
            let keys = BTreeMap::from([(CHECKPOINT_TIMEOUT.to_owned(), Setting::Value(value.to_owned()))]);
            interval_s(&Settings::default().with(CONF, product::Section::Keys(keys)))
        };
        assert_eq!([set("30s"), set("15min"), set("90"), interval_s(&Settings::default())], [30.0, 900.0, 90.0, 300.0]);
    }

    #[test]
    fn a_checkpoint_comes_before_the_log_has_reached_its_goal() {
        let log_share = POSTGRESQL.checkpoints.expect("it has checkpoints").log_share;
        let set = |value: &str| {
            let keys = BTreeMap::from([("checkpoint_completion_target".to_owned(), Setting::Value(value.to_owned()))]);
            log_share(&Settings::default().with(CONF, product::Section::Keys(keys)))
        };
        assert_eq!(
            [set("0"), set("1.0"), set("0.9"), log_share(&Settings::default())],
            [1.0, 0.5, 1.0 / 1.9, 1.0 / 1.9]
        );
    }

    #[test]
    fn what_it_has_nothing_for_is_stated_and_it_compiles_nothing() {
        assert!(POSTGRESQL.lacks(Lack::Clusters) && !POSTGRESQL.has_consistency && POSTGRESQL.backlog.is_none());
        assert!(!POSTGRESQL.compiles_itself(), "no code is waited for");
        assert!(POSTGRESQL.section(CONF).is_some() && POSTGRESQL.section("table").is_none());
        assert_eq!(POSTGRESQL.unit_bytes_of(&Settings::default()), 8_192.0);
    }
}
