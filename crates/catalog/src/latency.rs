//! How long volumes take for a request that need not wait.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{VolumeType, table};

/// A log-normal time of service.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The median, microseconds.
    pub median_us: f64,
    /// Standard deviation of its logarithm; 0: always the same.
    pub sigma: f64,
}

/// What is known of a type's latency.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownLatency {
    /// `gp3`, or `local` for the disks of an instance.
    pub kind: String,
    /// Of which time, or of which kind of it.
    pub era: String,
    /// The time itself.
    pub latency: Latency,
    /// `documented`, `measured` or `assumed`.
    pub basis: String,
    /// Where it is from, or what it is assumed from.
    pub source: String,
}

/// Every latency that the catalog has.
pub fn latencies() -> &'static [KnownLatency] {
    static KNOWN: LazyLock<Vec<KnownLatency>> =
        LazyLock::new(|| table::read(include_str!("../data/latencies.csv"), read));
    &KNOWN
}

/// The latency of a type of volume; `None`: of the instance's own disks.
pub fn latency_of(kind: Option<VolumeType>) -> &'static KnownLatency {
    let name = kind.map_or("local", VolumeType::name);
    let found = latencies().iter().find(|known| known.kind == name);
    found.expect("data/latencies.csv has a row for each type, which a test holds")
}

fn read(row: &table::Row<'_>) -> KnownLatency {
    let text = |column: &str| row.text(column).unwrap_or_default().to_owned();
    KnownLatency {
        kind: text("type"),
        era: text("era"),
        latency: Latency { median_us: row.required("median_us"), sigma: row.required("sigma") },
        basis: text("basis"),
        source: text("source"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_one_with_its_basis_and_source() {
        for kind in VolumeType::ALL.map(Some).into_iter().chain([None]) {
            let known = latency_of(kind);
            assert!(["documented", "measured", "assumed"].contains(&known.basis.as_str()), "{known:?}");
            assert!(known.source.len() > 20 && known.latency.median_us > 0.0, "{known:?}");
        }
        assert_eq!(latencies().len(), VolumeType::ALL.len() + 1, "none twice");
    }
}
