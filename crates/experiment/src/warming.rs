//! What a page cache of a stated condition is on a machine: its size, and how long it takes to fill it.

use crate::cache_state::Caches;
use crate::{ConfiguredVolume, Dataset, Placement, Setup, VolumeKind};

/// Bytes a second at which files are read into the page cache while no limit holds. On two cores 108 MB of Cassandra's
/// files behind a loop device were read in 0.106 s (2026-11-24); a third of that is expected, since a large data set
/// comes from the disk of a machine that nobody has measured.
const WARMING_BYTES_PER_S: f64 = 300.0 * catalog::MIB;

/// Bytes a second that reads by a workload's keys bring into the page cache while no limit holds. With chunks of 16 KiB
/// and compiled code 80 to 170 MiB/s were measured on two cores (2026-11-25), the fewer the more the workload writes.
const FILLING_BYTES_PER_S: f64 = 150.0 * catalog::MIB;

/// Seconds after which a page cache is expected to have settled, however large it is.
const FILLING_MAX_S: f64 = 60.0;

impl Caches {
    /// The setup as trials of a workload find it: the page cache of a size that the experiment asks for.
    #[must_use]
    pub fn setup(&self, setup: &Setup, workload: &str, dataset: &Dataset) -> Setup {
        let Some(ratio) = self.conditions.get(workload).and_then(|condition| condition.ratio) else {
            return setup.clone();
        };
        let bytes = budget_bytes(dataset, setup.placement, ratio) as u64;
        Setup {
            page_cache_budget_bytes: bytes,
            memory_limit_bytes: setup.memory_limit_bytes - setup.page_cache_budget_bytes + bytes,
            ..setup.clone()
        }
    }
}

/// Page cache of which a node's part of the data set is so many times the size.
pub(crate) fn budget_bytes(dataset: &Dataset, placement: Placement, ratio: f64) -> f64 {
    dataset.bytes_on_disk() * placement.share_per_node() / ratio
}

/// Seconds until a node's files, or as much of them as its page cache holds, have been read: as fast as this machine
/// reads them; from a volume of EBS that is bought, as fast as that delivers. Where they do not fit, reads by the
/// workload's keys follow on machines whose limits are ours.
pub(crate) fn warming_s(volume: &ConfiguredVolume, is_bought: bool, bytes_of_node: f64, budget_bytes: f64) -> f64 {
    let delivered = volume.effective_limits.read_bytes_per_s;
    let is_held = is_bought && volume.kind != VolumeKind::Local;
    let most = delivered.filter(|_| is_held).unwrap_or(f64::INFINITY);
    let filling_s = match bytes_of_node > budget_bytes && !is_bought {
        true => (budget_bytes / FILLING_BYTES_PER_S).min(FILLING_MAX_S),
        false => 0.0,
    };
    bytes_of_node.min(budget_bytes) / most.min(WARMING_BYTES_PER_S) + filling_s
}
