//! What only Cassandra does beside its work. A product of its own has a folder of its own beside this one.

pub mod code_not_warm;
pub mod compaction_backlog;
pub mod compaction_debt;
pub mod dropped_messages;
pub mod gc_pauses;
pub mod writes_not_flushed;
