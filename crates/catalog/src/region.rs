//! The region that is known without asking.

/// The region whose prices the program's own tables hold.
pub const REGION: &str = "us-east-1";
