//! What a product (a database that iopslab starts) brings to an experiment: plain data and pure functions.
//!
//! `experiment` names products in one place, `experiment::PRODUCTS`; all that it knows of one is a [`Product`].

mod kept;
mod names;
mod settings;

pub use kept::{Kept, KeptOption, REMOVE, is_among, kept_among};
pub use names::{choice, nearest, slip};
pub use settings::{Section, Setting, Settings, SettingsInForce};

use std::collections::BTreeMap;

use reported::{Meaning, Reports};

/// A product.
#[derive(Debug, Clone, Copy)]
pub struct Product {
    /// As `[target] database` and the files of a run have it.
    pub name: &'static str,
    /// For people, with its maker: `Apache Cassandra`.
    pub title: &'static str,
    /// The same without: `Cassandra`.
    pub short: &'static str,
    /// Used where the file names no version.
    pub default_version: &'static str,
    /// The versions that are supported: that one first, then the others, newest first.
    pub versions: fn() -> Vec<&'static str>,
    /// What a configuration may set, in the order of the reference.
    pub sections: &'static [SettingsSection],
    /// Checks what is set in these sections.
    pub check_settings: CheckSettings,
    /// Memory of a node.
    pub memory: MemoryRules,
    /// Bytes in which a table is read and cached where its settings do not state them.
    pub unit_bytes: f64,
    /// Those that the settings state.
    pub stated_unit_bytes: fn(&Settings) -> Option<f64>,
    /// Most requests in flight at once, over all of its clients.
    pub most_in_flight: u32,
    /// Whether a request states how many replicas must answer.
    pub has_consistency: bool,
    /// Backlogs of compaction; `None`: it has none.
    pub backlog: Option<BacklogRules>,
    /// When it writes what has changed; `None`: it has no checkpoints.
    pub checkpoints: Option<CheckpointRules>,
    /// What else an experiment may state and this product has nothing for.
    pub lacks: &'static [Lack],
    /// What it reports of itself.
    pub reports: &'static Reports,
}

/// What is stated in the sections of a product, each as a list or a table by its name, for this version (`None`: a
/// cluster that exists, of whose version nothing is known). Gives what is sound of it, and what is wrong with the rest.
pub type CheckSettings = fn(Option<&str>, &toml::Table) -> (BTreeMap<String, Section>, Vec<Problem>);

/// One kind of settings, a key below `settings` of a configuration. Products that share a name mean the same by it.
#[derive(Debug)]
pub struct SettingsSection {
    /// Its key.
    pub name: &'static str,
    /// Its comment in the reference of the file.
    pub about: &'static str,
    /// What stands in it.
    pub kind: SectionKind,
    /// Which of its settings decide what is in the files of a data set.
    pub shapes_files: ShapesFiles,
}

/// What stands in a section.
#[derive(Debug, Clone, Copy)]
pub enum SectionKind {
    /// Options of a command line. The function gives what one of them sets, without its value.
    Options(fn(&str) -> String),
    /// Keys with their values.
    Keys,
}

/// Which settings of a section decide what is in the files of a data set, or without which it cannot be loaded.
#[derive(Debug, Clone, Copy)]
pub enum ShapesFiles {
    /// None.
    None,
    /// These keys.
    Keys(&'static [&'static str]),
    /// All.
    All,
}

/// What is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Name of its section.
    pub section: &'static str,
    /// Where it stands there.
    pub at: At,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: String,
}

/// A place in a section.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum At {
    /// The option of this number, from 0.
    Option(usize),
    /// A key.
    Key(String),
    /// The value of a key, or a word inside it (empty: all of it).
    Value { key: String, word: String },
}

/// How a node shares out its memory, bytes.
#[derive(Debug, Clone, Copy)]
pub struct MemoryRules {
    /// What it takes of so much memory in a 1:N model of this scale (1: the real thing), with so much main memory in
    /// that model where it is stated.
    pub plan: fn(memory_bytes: f64, scale: f64, stated_main_bytes: Option<f64>) -> NodeMemory,
    /// The setting that states main memory; `None`: it follows from the node's memory alone.
    pub stated: Option<StatedBytes>,
    /// What its process takes besides.
    pub process_bytes: f64,
    /// It does not run well with less main memory.
    pub least_main_bytes: f64,
    /// For people: what comes before the page cache.
    pub in_words: &'static str,
}

/// A setting that states bytes of main memory, or of a log, at full scale; a 1:N model divides it.
#[derive(Debug, Clone, Copy)]
pub struct StatedBytes {
    /// Its section and key.
    pub setting: (&'static str, &'static str),
    /// What these settings state, bytes; `None`: nothing.
    pub bytes: fn(&Settings) -> Option<f64>,
    /// The product does not start with less, bytes.
    pub least_bytes: f64,
}

/// Memory that a node takes for itself, bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeMemory {
    /// Records, indexes and working memory. For a server in Java: its heap.
    pub main_bytes: f64,
    /// Buffers for network and files besides.
    pub buffer_bytes: f64,
    /// Of main memory, where keys lie in the files; 0 where the product has no such cache.
    pub key_cache_bytes: f64,
}

impl MemoryRules {
    /// Main memory that these settings state at full scale, bytes.
    pub fn stated_bytes(&self, settings: &Settings) -> Option<f64> {
        (self.stated?.bytes)(settings)
    }

    /// What a memory limit leaves a node with these settings for the page cache at full scale; `None` when nothing is
    /// left.
    pub fn page_cache_bytes(&self, memory_limit_bytes: u64, settings: &Settings) -> Option<f64> {
        let memory = memory_limit_bytes as f64;
        let node = (self.plan)(memory, 1.0, self.stated_bytes(settings));
        Some(memory - node.main_bytes - node.buffer_bytes - self.process_bytes).filter(|left| *left > 0.0)
    }
}

/// What a backlog of compaction can be.
#[derive(Debug, Clone, Copy)]
pub struct BacklogRules {
    /// Payload that one file of it can have on a node that loads alone, bytes.
    pub most_alone_bytes: f64,
    /// The same where several nodes load.
    pub most_of_several_bytes: f64,
    /// Section and key of the setting that iopslab keeps to itself where there is a backlog.
    pub kept: (&'static str, &'static str),
}

/// When a database writes what has changed to its files, and begins to log whole pages anew.
#[derive(Debug, Clone, Copy)]
pub struct CheckpointRules {
    /// Section and key of the setting that says how often.
    pub setting: (&'static str, &'static str),
    /// Its least value, seconds; a file has it as `"30s"`.
    pub least_s: f64,
    /// Section, key and value of a setting that costs no money and makes the whole pages smaller that are logged after
    /// a checkpoint.
    pub smaller_log: (&'static str, &'static str, &'static str),
    /// The setting that states the log's goal; without it iopslab gives the log a space that fits on every volume.
    pub log: StatedBytes,
    /// Seconds from one to the next, by a node's settings.
    pub interval_s: fn(&Settings) -> f64,
    /// Share of the log's goal that is written until one comes earlier, by a node's settings.
    pub log_share: fn(&Settings) -> f64,
}

/// Something that an experiment may state, and not every product can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// A cluster: more nodes than one, with replicas and racks.
    Clusters,
    /// Several data directories that the product itself spreads its files over.
    DataDirectories,
    /// A Java heap.
    Heap,
    /// A compaction beside the load.
    Compaction,
    /// Schema and statements of the user's own in CQL.
    Cql,
    /// The same in SQL.
    Sql,
    /// A model of it, which answers in a simulation.
    Simulation,
    /// Machines on AWS, which are made with what it needs.
    Aws,
    /// Amazon's service RDS, and so its storage volumes.
    Rds,
}

/// Its name says which it is.
impl PartialEq for Product {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Product {}

impl Product {
    /// The section of this name.
    pub fn section(&self, name: &str) -> Option<&'static SettingsSection> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// What is expected instead of a version that is not supported; `None`: it is.
    pub fn expected_version(&self, version: &str) -> Option<String> {
        let known = (self.versions)();
        (!known.contains(&version)).then(|| format!("known: {}", known.join(", ")))
    }

    /// Whether it has nothing for that.
    pub fn lacks(&self, what: Lack) -> bool {
        self.lacks.contains(&what)
    }

    /// Whether it compiles its own code while it runs, as a JVM does, so that it is slow at first.
    pub fn compiles_itself(&self) -> bool {
        self.reports.all_series().any(|series| series.meaning == Some(Meaning::CompilerCpuS))
    }

    /// Bytes in which a table with these settings is read and cached.
    pub fn unit_bytes_of(&self, settings: &Settings) -> f64 {
        (self.stated_unit_bytes)(settings).unwrap_or(self.unit_bytes)
    }
}
