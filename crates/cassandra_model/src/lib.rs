//! Cassandra as an experiment knows it: which versions, what they can be set to, how a node shares out its memory.

mod amount;
mod check;
mod in_force;
mod jvm_option;
mod kept_key;
mod keys;
mod known;
mod line;
mod memory;
mod settings;
mod table_options;

pub use in_force::{is_value, values};
pub use jvm_option::{jvm_option_name, kept_jvm_option};
pub use known::{has_key, takes_parameters, versions};
pub use line::{Line, STORAGE_MODE, compare_versions, has_attached_indexes, has_storage_mode, have_the_same_files};
pub use product::KeptOption;
pub use settings::{
    CHUNK_BYTES, JVM, KEYS_IN_FILES, OPTIONS_IN_FILES, TABLE, USUAL_STRATEGY, YAML, chunk_bytes, compaction_strategy,
    is_compressed, jvm, table, yaml,
};
pub use table_options::kept_table_option;

use product::{BacklogRules, Lack, MemoryRules, Product, SectionKind, SettingsSection, ShapesFiles};

/// Used when the file names no version.
const DEFAULT_VERSION: &str = "5.0.9";

/// Apache Cassandra.
pub static CASSANDRA: Product = Product {
    name: "cassandra",
    title: "Apache Cassandra",
    short: "Cassandra",
    default_version: DEFAULT_VERSION,
    versions: || versions().collect(),
    sections: &[
        SettingsSection {
            name: JVM,
            about: "Options of its JVM, after iopslab's own, such as `-XX:TieredStopAtLevel=1`. \
                    Refused are those that iopslab\n\
                    keeps to itself: memory, CPUs, files, logs, ports, start and end.",
            kind: SectionKind::Options(jvm_option_name),
            shapes_files: ShapesFiles::None,
        },
        SettingsSection {
            name: YAML,
            about: "Keys of `cassandra.yaml`, such as `concurrent_reads = 64` or `compaction_throughput \
                    = \"16MiB/s\"`. Refused are\n\
                    those that iopslab keeps to itself: directories, addresses, place in the cluster, security.",
            kind: SectionKind::Keys,
            shapes_files: ShapesFiles::Keys(&[
                "column_index_size",
                "memtable",
                "sstable",
                "storage_compatibility_mode",
            ]),
        },
        SettingsSection {
            name: TABLE,
            about: "Options of the data set's table (`WITH` of CQL), \
                    such as `compression = { chunk_length_in_kb = 4 }`. The data\n\
                    set is loaded with them and kept apart.",
            kind: SectionKind::Keys,
            shapes_files: ShapesFiles::All,
        },
    ],
    check_settings: check::check,
    memory: MemoryRules {
        plan: memory::plan,
        stated: None,
        process_bytes: memory::NATIVE_BYTES,
        least_main_bytes: memory::LEAST_HEAP,
        in_words: "heap (a quarter, at most 8 GiB) and 0.5 GiB of the JVM's own memory come first",
    },
    unit_bytes: CHUNK_BYTES,
    stated_unit_bytes: settings::stated_chunk_bytes,
    // A CQL connection has 32,768 stream ids, and one connection per load thread is used.
    most_in_flight: 30_000,
    has_consistency: true,
    // An SSTable of a backlog is one flush of one memtable: a loading node has 2 GiB of heap, and flushes by itself
    // when its memtables have 170 MiB of it, which 64 MiB of fields of 100 bytes do not fill. Where several nodes load
    // they share those 2 GiB.
    backlog: Some(BacklogRules {
        most_alone_bytes: 67_108_864.0,
        most_of_several_bytes: 33_554_432.0,
        kept: (YAML, "autocompaction_on_startup_enabled"),
    }),
    checkpoints: None,
    lacks: &[Lack::Sql, Lack::Rds],
    reports: &reported::cassandra::REPORTS,
};
