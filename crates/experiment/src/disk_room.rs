//! Disks of a node that have no room for its part of the data at full scale.

use product::Lack;
use serde::{Deserialize, Serialize};

use crate::{Configuration, Database, Experiment, Place, Plan, VolumeKind};

/// Share of a node's disks that data may fill where they are compacted: size-tiered compaction writes all of them anew
/// before it frees anything (Cassandra's documentation, "Size Tiered Compaction Strategy").
pub const DISK_FILL: f64 = 0.5;

/// A configuration with nodes whose disks have no room for their part of the data at full scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiskTooSmall {
    /// Its name.
    pub configuration: String,
    /// The label of its data volume.
    pub volume: String,
    /// What a node has of the data, bytes.
    pub data_bytes: f64,
    /// What its data volumes have, bytes.
    pub room_bytes: f64,
    /// Whether compaction needs a part of that.
    pub is_compacted: bool,
}

impl Experiment {
    /// Bytes on disk of one replica at full scale; `None`: not known, of the user's own rows.
    pub(crate) fn full_bytes(&self) -> Option<f64> {
        let more = self.stands_for_records.map_or(1.0, |n| n as f64 / self.dataset.records as f64);
        self.own.is_none().then(|| self.dataset.bytes_on_disk() * more)
    }

    /// Configurations whose disks have no room for the data at full scale.
    pub(crate) fn disks_too_small(&self) -> Vec<DiskTooSmall> {
        too_small(&self.place, &self.target.database, self.full_bytes(), &self.configurations)
    }
}

impl Plan {
    /// How many times as many records as it has its data set stands for: N of its model, or what the experiment states.
    pub fn data_scale(&self) -> f64 {
        self.stands_for_records.map_or(self.scale(), |all| all as f64 / self.dataset.records as f64)
    }

    /// Records of the data set that its own stands for.
    pub fn full_records(&self) -> u64 {
        (self.dataset.records as f64 * self.data_scale()).round() as u64
    }

    /// Configurations whose disks have no room for the data at full scale.
    pub fn disks_too_small(&self) -> Vec<DiskTooSmall> {
        let bytes = self.own.is_none().then(|| self.dataset.bytes_on_disk() * self.data_scale());
        too_small(&self.place, &self.target.database, bytes, &self.configurations)
    }
}

/// Those of these configurations that would be bought, of a data set with so many bytes of each replica at full scale;
/// `None`: not known.
fn too_small(place: &Place, database: &Database, bytes: Option<f64>, all: &[Configuration]) -> Vec<DiskTooSmall> {
    let is_bought = place.existing().is_none() && !place.is_imported();
    let Some(bytes) = bytes.filter(|_| is_bought) else { return Vec::new() };
    let is_compacted = !database.product().lacks(Lack::Compaction);
    let fill = if is_compacted { DISK_FILL } else { 1.0 };
    let of = |configuration: &Configuration| {
        let volume = &configuration.data_volume;
        let is_sized = volume.kind != VolumeKind::Explicit && volume.size_bytes > 0;
        let data_bytes = bytes * configuration.placement.share_per_node();
        let room_bytes = volume.room_bytes();
        (is_sized && data_bytes > room_bytes * fill).then(|| DiskTooSmall {
            configuration: configuration.name.clone(),
            volume: volume.label.clone(),
            data_bytes,
            room_bytes,
            is_compacted,
        })
    };
    all.iter().filter_map(of).collect()
}
