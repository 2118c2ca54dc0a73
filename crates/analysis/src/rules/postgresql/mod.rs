//! What only PostgreSQL does beside its work.

pub mod checkpoints_requested;
