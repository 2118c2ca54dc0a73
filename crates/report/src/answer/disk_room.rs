//! Nodes whose disks would not hold their part of the data at full scale.

use analysis::DiskTooSmall;

use crate::figures::{listed, number, when};

/// A sentence on all of them.
pub fn too_small(all: &[DiskTooSmall]) -> String {
    let each = all.iter().map(|of| {
        let (data, room) = (number(of.data_bytes / 1e9), number(of.room_bytes / 1e9));
        let compaction = when(of.is_compacted, || ", half of which compaction needs".to_owned());
        format!("{data} GB of data do not fit the {room} GB of disks of a node of {}{compaction}", of.configuration)
    });
    let price = match all {
        [_] => "its price is that of a node that would not hold them",
        _ => "their prices are those of nodes that would not hold them",
    };
    format!("At full scale {}: {price}.", listed(each))
}
