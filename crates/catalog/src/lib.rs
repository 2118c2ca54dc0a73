//! Facts about instance types and volume types, and arithmetic on them.

mod limits;

pub use limits::{Burst, IoLimits, MIB};
