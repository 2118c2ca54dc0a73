//! What a volume is.

use std::fmt;

use catalog::VolumeType;
use serde::{Deserialize, Serialize};

/// What a volume is; frozen by its name (`gp2`, `io1`, ..., `local`, `explicit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum VolumeKind {
    /// An EBS volume of this type.
    Ebs(VolumeType),
    /// The disks of the instance itself.
    Local,
    /// Given by its limits.
    Explicit,
}

impl VolumeKind {
    /// In the experiment file too, where a volume of this kind is given by its name.
    pub const LOCAL: &str = "local";
    const EXPLICIT: &str = "explicit";

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ebs(kind) => kind.name(),
            Self::Local => Self::LOCAL,
            Self::Explicit => Self::EXPLICIT,
        }
    }
}

impl fmt::Display for VolumeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<VolumeKind> for &'static str {
    fn from(kind: VolumeKind) -> Self {
        kind.name()
    }
}

impl TryFrom<String> for VolumeKind {
    type Error = catalog::UnknownVolumeType;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        match name.as_str() {
            Self::LOCAL => Ok(Self::Local),
            Self::EXPLICIT => Ok(Self::Explicit),
            ebs => ebs.parse().map(Self::Ebs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_frozen_by_its_name() {
        for (kind, name) in [
            (VolumeKind::Ebs(VolumeType::Gp2), "gp2"),
            (VolumeKind::Local, "local"),
            (VolumeKind::Explicit, "explicit"),
        ] {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(text, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<VolumeKind>(&text).unwrap(), kind);
        }
        assert!(serde_json::from_str::<VolumeKind>("\"gp9\"").is_err());
    }
}
