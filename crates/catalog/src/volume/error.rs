//! Volumes that AWS does not sell.

use std::fmt;

use super::VolumeType;
use super::rate::hundredths;

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
    /// The volume's type.
    pub kind: VolumeType,
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
        let by_mb = self.field == VolumeField::Throughput && self.kind.is_sold_by_mb();
        let mb = |mib_per_s: f64| hundredths(self.kind.in_its_unit(mib_per_s));
        match self.given {
            Some(given) if by_mb => write!(f, "`{name}` is {} ({} MB/s)", hundredths(given), mb(given))?,
            Some(given) => write!(f, "`{name}` is {given}")?,
            None => write!(f, "`{name}` is missing")?,
        }
        write!(f, ": {}", self.rule)?;
        match self.allowed {
            Some((least, most)) if by_mb => {
                // What is printed is allowed.
                let (least_mib, most_mib) = ((least * 100.0).ceil() / 100.0, (most * 100.0).floor() / 100.0);
                let (least, most) = (mb(least), mb(most));
                write!(f, "; expected {least_mib} to {most_mib} {unit} ({least} to {most} MB/s, written {most}MB)")?;
            }
            Some((least, most)) if least == most => write!(f, "; expected {least} {unit}")?,
            Some((least, most)) => write!(f, "; expected {least} to {most} {unit}")?,
            None => write!(f, "; leave it out")?,
        }
        write!(f, " (source: {})", self.source_of_rule)
    }
}
