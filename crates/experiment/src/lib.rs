//! From an experiment file to a checked matrix and a plan.
//!
//! [`parse()`] turns text into an [`Experiment`] or into all its mistakes at once; [`plan()`] turns an experiment into
//! the [`Plan`] of cells and trials, and [`setups()`] says what its configurations become on a machine. All are pure.

mod access;
mod adaptive;
mod added;
mod assignment;
mod attached;
mod aws;
mod aws_pair;
mod backlog;
mod batches;
mod cache_state;
mod cache_tier;
mod checkpoints;
mod client_cost;
mod cluster;
mod consistency;
mod cpu_share;
mod data_set_files;
mod data_set_store;
mod disk_need;
mod disk_room;
mod draft;
mod existing;
mod experiment;
mod growth;
mod hosts;
mod imported;
mod job;
mod judged;
mod left_out;
mod local_bytes;
mod mistakes;
mod model_misses;
mod model_notes;
mod money;
mod node_fault;
mod note;
mod notes;
mod objective;
mod order;
mod ordered;
mod own;
mod own_snapshot;
mod parse;
mod place;
mod placement;
mod plan;
mod pricing;
mod products;
mod provider;
mod raw;
mod read_size;
mod role;
mod scale;
mod search;
mod sentence;
mod setup;
mod setup_at;
mod spanned;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod truth;
mod typed_number;
mod volume_kind;
mod volume_role;
mod volume_server;
mod warming;
mod words;

pub use access::{Access, Identity, Login, PasswordSource, Pem, Tls};
pub use adaptive::{Adaptive, Aim, NextBlock, Rested, Resting, RestsBecause};
pub use added::{Block, OtherMachine, block_on, with_blocks};
pub use assignment::{Assignment, Changed, set};
pub use aws::{
    AwsBackend, AwsBatch, AwsInitialisation, AwsLimits, AwsMachine, AwsNetwork, AwsPrice, AwsQuota, AwsQuotas,
    AwsSettings, AwsSite, AwsVolume, QuotaNeeds,
};
pub use aws_pair::{AwsLevel, AwsPair};
pub use backlog::{Backlog, BacklogFiles};
pub use cache_state::{CacheCondition, CacheState, Caches};
pub use cache_tier::{CachePolicy, CacheTier, CacheTierSetup};
pub use catalog::{
    BandwidthWeighting, Basis, Burst, ByteBurst, CPU_REFERENCE, CardPlacement, CostKind, CostLine, IoLimits, Latency,
    VolumeLevel, price_days,
};
pub use checkpoints::COMMITLOG_BYTES;
pub use client_cost::{ClientCost, SPARSE_PER_S};
pub use cluster::Cluster;
pub use consistency::{Consistency, ConsistencyLevels};
pub use cpu_share::CpuShare;
pub use data_set_files::DataSetFiles;
pub use data_set_store::{DataSetPlace, DataSetStore};
pub use disk_room::{DISK_FILL, DiskTooSmall};
pub use draft::{Draft, Origins, OwnDraft, RecordShape, draft};
pub use existing::{ExistingCluster, IdentityFiles, TableBefore, TlsFiles};
pub use experiment::{
    Configuration, ConfiguredVolume, Database, Dataset, EbsCards, Experiment, Find, Instance, Load, LoadLevel,
    Patience, Target, TrialShape, part_of,
};
pub use hosts::{CacheMachine, DatabaseMachine, HostsSettings, MachineStorage, SshFiles, WatchedNode};
pub use imported::{ImportedConfiguration, ImportedRun, ImportedTrial, mix_of};
pub use job::{Job, job};
pub use judged::CLIENT_CPU_MAX;
pub use left_out::LeftOut;
pub use mistakes::{Mistake, Mistakes};
pub use model_misses::{LEAST_MISSES, Misses, ModelMisses, own_buffers};
pub use money::{ConfigurationMoney, Money};
pub use node_fault::{FailingRequests, FaultAction, NodeFault, NodeFaultKind};
pub use note::Note;
pub use notes::static_notes;
pub use objective::{
    DEFAULT_HEADROOM, DecisionRules, DurabilityRule, ERROR_SHARE_MAX, LatencyFigure, LatencyObjective, Objective,
};
pub use ordered::memory_limit_gib;
pub use own::{Own, Recording, Replay};
pub use own_snapshot::{CountedRows, FoundSnapshot, Snapshot, SnapshotTable, StatementSample, WrittenSchema};
pub use parse::{ParseContext, ReadFor, parse, plain_words, refuse_unmeasurable};
pub use place::{Emulation, Machines, Model, PageCacheKeeps, Place};
pub use placement::Placement;
pub use plan::{Cell, Plan, PlannedTrial, plan};
pub use product::{Lack, Product, Section, Setting, Settings, SettingsInForce, choice, nearest};
pub use products::{PRODUCTS, Started, product_name, product_named, versions};
pub use provider::Provider;
pub use role::Role;
pub use scale::{setups, use_whole_cache_machines, use_whole_machines};
pub use search::{CEILING_IN_FLIGHT, LEVELS, Round, Search, SearchPlan, rounded};
pub use sentence::{Sentence, listed};
pub use setup::{BurstStart, FORMAT_VERSION, ServedAs, Setup, Setups, VolumeSetup};
pub use setup_at::SetupAt;
pub use truth::{Fault, FaultKind, SettingsEffect, Truth, WakingUp};
pub use typed_number::{grouped_by, typed_number};
pub use volume_kind::{DataLayout, VolumeKind};
pub use volume_role::VolumeRole;
pub use volume_server::ThisMachine;
pub use warming::CacheOf;
pub use words::Word;
pub use workload::{
    Arrivals, Definition, Distribution, KeyFormat, Mix, OperationKind, PageCache, ScanLength, StatementName,
    StatementShare,
};

/// What the schema is called, whatever address it is read from.
pub const SCHEMA_ID: &str = "urn:iopslab:schema:experiment:1";

/// The JSON Schema of the experiment file, generated from the types that read it.
pub fn json_schema() -> serde_json::Value {
    let mut generated = schemars::schema_for!(raw::Experiment);
    let dialect = generated.remove("$schema");
    let mut schema = serde_json::Map::new();
    schema.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
    schema.insert("$id".to_owned(), SCHEMA_ID.into());
    if let serde_json::Value::Object(rest) = generated.to_value() {
        schema.extend(rest);
    }
    schema.into()
}
