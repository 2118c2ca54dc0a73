//! A cluster that runs, as it was watched for some minutes: what it asks of its volumes beside what they may do, what
//! else would hold that, and an experiment that resembles it.
//!
//! ```text
//! CQL, SQL: NodeSeen, Cluster  --workload-->  Workload   rates by table and node, from differences of counters
//! SSH: HostSeen                --device--->   DeviceUse  seconds, minutes, time at the limit
//! a log: LogSeen               --log------>   LogUse     how often each partition is asked for, by which statements
//! CQL, SSH and what is bought  --verdict-->   Verdict    what was asked for, what is withheld and why, what costs less
//! all of it                    --file----->   Draft      an experiment file, each figure with where it comes from
//!                              --own_file->              and the file of statements that it names, of a log
//! ```
//!
//! Evidence at a limit may raise a demand, never lower it: a device that was at its limit shows what it may do, not
//! what was wanted of it. Counters are differenced, never read as they are; an interval in which a node started again
//! is left out and counted. What nobody could see is named ([`Unknown`]), never guessed.

mod around;
mod capacity;
mod device;
mod file;
mod flow;
mod judged;
mod keys;
mod log;
mod logged;
mod own_file;
mod own_tables;
mod reading;
#[cfg(test)]
mod tests;
mod unknown;
mod values;
mod verdict;
mod workload;

pub use self::workload::{Hour, NodeUse, Rates, TableUse, Workload};
pub use ::workload::skew::{Fitted, Law, Skew};
pub use capacity::Allowed;
pub use device::{Asked, CpuUse, DeviceCounters, DeviceUse, HostSeen, Moment};
pub use file::{NoFile, drafted};
pub use flow::Flow;
pub use judged::{Observation, OwnLoad, Profile, judge};
pub use keys::{PartitionsAsked, TableKeys};
pub use log::{LogSeen, LogUse};
pub use logged::{LeftOut, OwnStatement, OwnUse, StatementSeen};
pub use own_tables::OwnTable;
pub use reading::{
    CacheCounts, Cluster, ColumnKind, ColumnSchema, CountedBy, NodeReading, NodeSeen, NotRead, Operations, TableName,
    TableReading, TableSchema, TypeSchema,
};
pub use unknown::Unknown;
pub use values::ValuesSeen;
pub use verdict::{Candidate, Need, Priced, Verdict, Withheld};
