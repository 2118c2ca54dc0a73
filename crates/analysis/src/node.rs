//! One node of a trial's database: what its host says of it, and what it showed in the measured window.

use std::collections::BTreeMap;

use evidence::{HostId, NodeFacts, TrialRecord, VolumeFacts, VolumeRole};

use crate::activity::VolumeActivity;
use crate::host::DatabaseHost;

/// A node; a database of one node has one of them.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// Its host.
    pub id: HostId,
    /// What it was given; all zero where the host never said.
    pub facts: &'a NodeFacts,
    /// What it showed.
    pub host: &'a DatabaseHost,
}

impl<'a> Node<'a> {
    /// One of its volumes with what it did, where both are known.
    pub fn volume(&self, role: VolumeRole) -> Option<(&'a VolumeFacts, &'a VolumeActivity)> {
        let facts = self.facts.volumes.iter().find(|v| v.role == role)?;
        Some((facts, self.activity(role)?))
    }

    /// Page cache of its database at the end, bytes, without what is the program itself.
    pub fn page_cache_bytes(&self) -> Option<f64> {
        let program = self.facts.program_cache_bytes.unwrap_or(0) as f64;
        Some((self.host.page_cache_bytes? - program).max(0.0))
    }

    /// What one of its volumes did.
    pub fn activity(&self, role: VolumeRole) -> Option<&'a VolumeActivity> {
        self.host.volumes.get(&role)
    }
}

/// The database hosts of a trial: those of its record; the first one where the record has none, because the trial never
/// came that far.
pub fn hosts(record: &TrialRecord) -> Vec<HostId> {
    match record.nodes.as_slice() {
        [] => vec![HostId::DATABASE],
        nodes => nodes.iter().map(|n| n.host).collect(),
    }
}

/// The nodes of a trial by their hosts, in the hosts' order.
pub fn of<'a>(
    record: &'a TrialRecord,
    hosts: &'a BTreeMap<HostId, DatabaseHost>,
) -> impl Iterator<Item = Node<'a>> + Clone {
    static UNKNOWN: NodeFacts = NodeFacts::UNKNOWN;
    hosts.iter().map(|(id, host)| Node {
        id: *id,
        facts: record.nodes.iter().find(|n| n.host == *id).unwrap_or(&UNKNOWN),
        host,
    })
}
