//! What a page cache of a stated condition is on a machine: its size, and how long it takes to fill it.

use product::Settings;

use crate::cache_state::Caches;
use crate::{
    CacheTierSetup, ConfiguredVolume, ConsistencyLevels, DataLayout, DataSetFiles, Dataset, Placement, Setup,
    VolumeKind,
};

/// Bytes a second at which files are read into the page cache while no limit holds. On two cores 108 MB of Cassandra's
/// files behind a loop device were read in 0.106 s (2026-11-24); a third of that is expected, since a large data set
/// comes from the disk of a machine that nobody has measured.
const WARMING_BYTES_PER_S: f64 = 300.0 * catalog::MIB;

/// Bytes a second that reads by a workload's keys bring into the page cache while no limit holds. With chunks of 16 KiB
/// and compiled code 80 to 170 MiB/s were measured on two cores (2026-11-25), the fewer the more the workload writes.
const FILLING_BYTES_PER_S: f64 = 150.0 * catalog::MIB;

/// Seconds after which a page cache is expected to have settled, however large it is.
const FILLING_MAX_S: f64 = 60.0;

/// Seconds that the first trial of a workload takes at least until its page cache has settled: eight rounds of a
/// second, two looks at it, and the data taken in again. Measured at 10 to 20 on two quiet cores (2026-11-26).
const SETTLING_LEAST_S: f64 = 15.0;

/// Times that keys turn a page cache over until it has settled: 4 are the least, and reads go on changing for 5 to 12
/// (docs/method.md, "Cold and warm").
const TURNOVERS: f64 = 8.0;

/// What of a setup decides which pages a workload leaves in the page cache: once that has settled, trials of all setups
/// that agree in this begin with those pages.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheOf {
    budget_bytes: u64,
    files: DataSetFiles,
    settings: Settings,
    /// How many replicas a read asks.
    consistency: Option<ConsistencyLevels>,
    /// A request may be two to members of an array.
    layout: Option<DataLayout>,
    data_volumes: u32,
    /// Where keys lie is known from memory, or read: heap, direct memory, key cache.
    memory_bytes: [u64; 3],
    /// What a cache in front of the database answers, the database is not asked for.
    cache_tier: Option<CacheTierSetup>,
}

impl CacheOf {
    /// That of a setup.
    pub fn new(setup: &Setup) -> Self {
        Self {
            budget_bytes: setup.page_cache_budget_bytes,
            files: DataSetFiles::of(setup),
            settings: setup.settings.clone(),
            consistency: setup.consistency,
            layout: setup.layout,
            data_volumes: setup.data_volume_count(),
            memory_bytes: [setup.heap_bytes, setup.direct_memory_bytes, setup.key_cache_bytes],
            cache_tier: setup.cache_tier.clone(),
        }
    }

    /// The page cache that the database may fill, in bytes.
    pub fn budget_bytes(&self) -> u64 {
        self.budget_bytes
    }
}

impl Caches {
    /// The setup as trials of a workload find it: the page cache of a size that the experiment asks for.
    #[must_use]
    pub fn setup(&self, setup: &Setup, workload: &str, dataset: &Dataset) -> Setup {
        let ratio = self.conditions.get(workload).and_then(|condition| condition.ratio);
        let of_ratio = ratio.map(|ratio| budget_bytes(dataset, setup.placement, ratio) as u64);
        let kept = self.same_misses(&setup.configuration, workload);
        let Some(bytes) = of_ratio.or(kept) else { return setup.clone() };
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

/// Seconds that the first trial of a workload takes more than later ones, until its page cache has settled: at once
/// where all of the data fits, and no longer than is waited for. On machines that are bought nothing says how much a
/// turnover is.
pub(crate) fn settling_s(is_bought: bool, bytes_of_node: f64, budget_bytes: f64, rest_max_s: f64) -> f64 {
    let turned_over_s = if is_bought { 0.0 } else { TURNOVERS * budget_bytes / FILLING_BYTES_PER_S };
    if bytes_of_node > budget_bytes { turned_over_s.max(SETTLING_LEAST_S).min(rest_max_s) } else { 0.0 }
}
