//! Configurations that are measured on the same machines of AWS: between their trials a volume is modified from the
//! level of one to that of another, so that machines' own differences are no part of their ratio.

use catalog::{VolumeLevel, modification_s};
use serde::{Deserialize, Serialize};

/// Two or more such configurations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwsPair {
    /// Each with the level of its data volume, in the order of the file. The first one gives machines their names.
    pub levels: Vec<AwsLevel>,
    /// Size of the volume, GiB.
    pub size_gib: u32,
    /// How often each volume is modified in the whole run.
    pub modifications: u32,
}

/// A configuration with the level of its data volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwsLevel {
    /// Its name.
    pub configuration: String,
    /// Type, IOPS and MiB/s.
    #[serde(flatten)]
    pub volume: VolumeLevel,
}

impl AwsPair {
    /// The configuration whose name machines have.
    pub fn owner(&self) -> &str {
        self.levels.first().map_or("", |first| &first.configuration)
    }

    /// The level of a configuration; `None`: it is none of these.
    pub fn level_of(&self, configuration: &str) -> Option<VolumeLevel> {
        self.levels.iter().find(|one| one.configuration == configuration).map(|one| one.volume)
    }

    /// Seconds that its modifications take in all, by what AWS calls typical.
    pub fn estimated_s(&self) -> f64 {
        f64::from(self.modifications) * modification_s(f64::from(self.size_gib))
    }
}
