//! What a cluster must do.

use std::fmt;
use std::str::FromStr;

use experiment::Consistency;
use serde::{Deserialize, Serialize};

/// What a cluster must do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Client operations per second.
    pub operations_per_s: f64,
    /// Share of the operations that read, 0..=1; the others write.
    pub read_share: f64,
    /// 99th percentile of the response time that clients may see, milliseconds.
    pub p99_ms: Option<f64>,
    /// Payload before replication, bytes, today.
    pub data_bytes: f64,
    /// Growth of the data a year, per cent.
    pub growth_percent_per_year: f64,
    /// Years for which the cluster must last.
    pub years: f64,
    /// Copies of each record.
    pub replication_factor: u32,
    /// Availability zones over which the nodes are spread evenly.
    pub zones: u32,
    /// Share of each resource that stays free in normal operation, per cent.
    pub headroom_percent: f64,
    /// What may be down while a quorum of every record answers and the target is still met.
    pub survive: Survive,
    /// Consistency of the requests, which says how many replicas a read asks.
    pub consistency: Consistency,
    /// Share of a node's disks that data may fill, per cent; size-tiered compaction needs up to as much again as it
    /// compacts.
    pub disk_fill_percent: f64,
}

/// What may be down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Survive {
    /// Nothing: all nodes are needed.
    None,
    /// Any one node.
    Node,
    /// All nodes of any one zone.
    Zone,
}

impl FromStr for Survive {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "none" => Ok(Self::None),
            "node" => Ok(Self::Node),
            "zone" => Ok(Self::Zone),
            other => Err(format!("`{other}` is none of none, node, zone")),
        }
    }
}

impl fmt::Display for Survive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "nothing",
            Self::Node => "a node",
            Self::Zone => "a zone",
        })
    }
}

/// A target that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum TargetError {
    #[error("{what} of {given} is out of range; expected {least} to {most}")]
    Figure { what: &'static str, given: f64, least: f64, most: f64 },
    #[error(
        "replication factor {replication_factor} over {zones} zones leaves {left} of the copies with {down} down, and \
         {needed} must answer (a quorum, and as many as the consistency asks); raise --replication-factor, ask for \
         less consistency, or give --survive none"
    )]
    TooFewCopies { replication_factor: u32, zones: u32, down: Survive, left: u32, needed: u32 },
}

/// Means and 95th percentiles are credible up to this use of a resource; with a part of the cluster down
/// each may be used as much, or more where the headroom asked for is smaller.
pub(super) const CREDIBLE: f64 = 0.8;

impl Target {
    /// Whether it can be.
    ///
    /// # Errors
    /// The first figure out of range, or too few copies for the quorum that is asked for.
    pub fn check(&self) -> Result<(), TargetError> {
        let ranges = [
            ("operations per second", self.operations_per_s, 1.0, 1e9),
            ("read share", self.read_share, 0.0, 1.0),
            ("p99, milliseconds,", self.p99_ms.unwrap_or(1.0), 0.01, 1e6),
            ("data, bytes,", self.data_bytes, 1e6, 1e18),
            ("growth a year, per cent,", self.growth_percent_per_year, 0.0, 10_000.0),
            ("years", self.years, 0.0, 20.0),
            ("replication factor", f64::from(self.replication_factor), 1.0, 11.0),
            ("zones", f64::from(self.zones), 1.0, 11.0),
            ("headroom, per cent,", self.headroom_percent, 0.0, 95.0),
            ("disk fill, per cent,", self.disk_fill_percent, 1.0, 100.0),
        ];
        for (what, given, least, most) in ranges {
            if !(least..=most).contains(&given) {
                return Err(TargetError::Figure { what, given, least, most });
            }
        }
        let copies = self.replication_factor;
        let (needed, down) = ((copies / 2 + 1).max(self.replicas_asked()), self.copies_down());
        if self.survive != Survive::None && copies - down < needed {
            return Err(TargetError::TooFewCopies {
                replication_factor: copies,
                zones: self.zones,
                down: self.survive,
                left: copies - down,
                needed,
            });
        }
        Ok(())
    }

    /// Copies of a record that are lost with what may be down, replicas being spread evenly over the zones.
    fn copies_down(&self) -> u32 {
        match self.survive {
            Survive::None => 0,
            Survive::Node => 1,
            Survive::Zone => self.replication_factor.div_ceil(self.zones),
        }
    }

    /// Nodes that may be down, of so many.
    pub(super) fn nodes_down(&self, nodes: u32) -> u32 {
        match self.survive {
            Survive::None => 0,
            Survive::Node => 1,
            Survive::Zone => nodes.div_ceil(self.zones),
        }
    }

    /// Payload before replication at the end of the time for which the cluster must last, bytes.
    pub fn data_at_the_end(&self) -> f64 {
        self.data_bytes * (1.0 + self.growth_percent_per_year / 100.0).powf(self.years)
    }

    /// How much more the others do while a part is down. A node's reads go to the nodes that hold the other copies:
    /// with a copy in every zone none of them is in its own.
    pub(super) fn load_when_down(&self, nodes: u32) -> f64 {
        let n = f64::from(nodes);
        if self.survive == Survive::Node && self.zones > 1 && self.zones >= self.replication_factor {
            let per_zone = n / f64::from(self.zones);
            return 1.0 + 1.0 / (per_zone * f64::from(self.zones - 1));
        }
        n / (n - f64::from(self.nodes_down(nodes)))
    }

    /// Replicas that a request asks.
    fn replicas_asked(&self) -> u32 {
        let copies = self.replication_factor;
        self.consistency.replicas(copies).min(copies)
    }

    /// What all nodes together do for one client operation: replicas read, replicas written.
    pub fn replica_operations(&self) -> (f64, f64) {
        (
            self.read_share * f64::from(self.replicas_asked()),
            (1.0 - self.read_share) * f64::from(self.replication_factor),
        )
    }

    /// Share of the reads among what the nodes do.
    pub fn replica_read_share(&self) -> f64 {
        let (reads, writes) = self.replica_operations();
        reads / (reads + writes)
    }

    /// The most of each resource that may be used in normal operation.
    pub fn busiest(&self) -> f64 {
        1.0 - self.headroom_percent / 100.0
    }

    /// The most of each resource that may be used with a part down.
    pub fn busiest_when_down(&self) -> f64 {
        self.busiest().max(CREDIBLE)
    }
}
