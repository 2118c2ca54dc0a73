//! Volumes that AWS does not sell.

use std::fmt;

/// Which part of a request is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VolumeField {
    /// `size_gib`.
    Size,
    /// `iops`.
    Iops,
    /// `mib_per_s`.
    Throughput,
}

impl VolumeField {
    /// The key in a request and in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size_gib",
            Self::Iops => "iops",
            Self::Throughput => "mib_per_s",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Size => "GiB",
            Self::Iops => "IOPS",
            Self::Throughput => "MiB/s",
        }
    }
}

/// A request that breaks a rule of its volume type.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub struct VolumeError {
    /// What is wrong.
    pub field: VolumeField,
    /// The value given, `None` when it is missing.
    pub given: Option<f64>,
    /// The rule in words.
    pub rule: String,
    /// Least and most that this volume may have; `None` when the value must not be given at all.
    pub allowed: Option<(f64, f64)>,
    /// Where the rule comes from.
    pub source_of_rule: String,
}

impl fmt::Display for VolumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit) = (self.field.name(), self.field.unit());
        match self.given {
            Some(given) => write!(f, "`{name}` is {given}: {}", self.rule)?,
            None => write!(f, "`{name}` is missing: {}", self.rule)?,
        }
        match self.allowed {
            Some((least, most)) if least == most => write!(f, "; expected {least} {unit}")?,
            Some((least, most)) => write!(f, "; expected {least} to {most} {unit}")?,
            None => write!(f, "; leave it out")?,
        }
        write!(f, " (source: {})", self.source_of_rule)
    }
}
