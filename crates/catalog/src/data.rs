//! How much data each node of a fleet holds.

use serde::Serialize;

use crate::{Catalog, ClusterRequest, GIB};

/// Bytes in one GB, by which AWS states local disks.
const GB: f64 = 1e9;

/// The nodes of one configuration and the data on each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeData {
    /// The configuration.
    pub configuration: String,
    /// Its nodes.
    pub nodes: u32,
    /// Bytes that each node holds.
    pub bytes: f64,
    /// Bytes of its disks: its volumes, or without any its local disks.
    pub disk_bytes: f64,
    /// Share of the disks that is full; `None` without disks. Above 1 it does not fit.
    pub fill: Option<f64>,
}

impl Catalog {
    /// Spreads `payload` bytes in `copies` evenly over all nodes of a fleet, as Cassandra's tokens do: a larger node
    /// holds no more.
    /// Indexes, compression and what compaction needs beside the data are not counted. Types that the catalog does not
    /// know have no disks.
    pub fn data_per_node(&self, fleet: &[ClusterRequest], payload: f64, copies: u32) -> Vec<NodeData> {
        let nodes: u32 = fleet.iter().map(|kind| kind.nodes).sum();
        let bytes = payload * f64::from(copies) / f64::from(nodes.max(1));
        let of = |kind: &ClusterRequest| {
            let disk_bytes = if kind.volumes.is_empty() {
                let disks = self.instance(&kind.instance).and_then(|known| known.local_disks.as_ref());
                disks.map_or(0.0, |disks| disks.total_gb() * GB)
            } else {
                kind.volumes.iter().map(|volume| volume.size_gib * GIB).sum()
            };
            NodeData {
                configuration: kind.to_string(),
                nodes: kind.nodes,
                bytes,
                disk_bytes,
                fill: (disk_bytes > 0.0).then(|| bytes / disk_bytes),
            }
        };
        fleet.iter().map(of).collect()
    }
}
