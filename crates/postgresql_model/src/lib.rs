//! PostgreSQL as an experiment knows it: which versions, what they can be set to, how a node shares out its memory.

mod amount;
mod check;
mod checkpoints;
mod in_force;
mod kept_key;
mod known;
mod memory;

pub use check::CONF;
pub use check::refusal;
pub use checkpoints::MAX_WAL_SIZE;
pub use in_force::{is_value, shown};
pub use known::{keys, versions};
pub use memory::{PAGE_BYTES, SHARED_BUFFERS};

use std::collections::BTreeMap;

use product::{Lack, MemoryRules, Product, SectionKind, Setting, Settings, SettingsSection, ShapesFiles, StatedBytes};

/// Used when the file names no version.
const DEFAULT_VERSION: &str = "18.3";

/// Most requests in flight: each has a connection of its own, and so a process of the server.
pub const MOST_IN_FLIGHT: u32 = 900;

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
                `shared_buffers` and `max_wal_size` are those of full scale, which a 1:N model divides. Refused are \
                those\nthat iopslab keeps to itself: other memory, files, addresses, security, replication.",
        kind: SectionKind::Keys,
        // Pages are written in one form, whatever is set: a data set is loaded once for all settings.
        shapes_files: ShapesFiles::None,
    }],
    check_settings: check::check,
    memory: MemoryRules {
        plan: memory::plan,
        stated: Some(StatedBytes {
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
    checkpoints: Some(checkpoints::RULES),
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
    fn what_it_has_nothing_for_is_stated_and_it_compiles_nothing() {
        assert!(POSTGRESQL.lacks(Lack::Clusters) && !POSTGRESQL.has_consistency && POSTGRESQL.backlog.is_none());
        assert!(!POSTGRESQL.compiles_itself(), "no code is waited for");
        assert!(POSTGRESQL.section(CONF).is_some() && POSTGRESQL.section("table").is_none());
        assert_eq!(POSTGRESQL.unit_bytes_of(&Settings::default()), 8_192.0);
    }
}
