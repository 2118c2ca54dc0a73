//! What rules remark: the figures of each, typed. Data only.
//!
//! One value for each rule, units in the names of its fields. They lie in files as the sentences do in crate `report`
//! (`wording/`): a rule of `storage.rs` has its words in `wording/storage.rs`. What only Cassandra does is in
//! `cassandra.rs`; another product has a file of its own beside it.
//!
//! Thresholds stand beside what was held against them, so that a reader can disagree with one and still use the
//! finding.

pub mod cassandra;
pub mod faults;
pub mod load;
pub mod machine;
pub mod nodes;
pub mod rest;
pub mod storage;
pub mod trial;
