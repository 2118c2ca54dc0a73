//! How a node of PostgreSQL shares out its memory.

use product::{NodeMemory, Settings};

use crate::amount::{Unit, amount};
use crate::check::CONF;

/// Bytes of a page: the unit in which tables and indexes are read, cached and written (`block_size`, fixed when
/// PostgreSQL is built).
pub const PAGE_BYTES: u64 = 8_192;

/// The setting of PostgreSQL's own cache of pages.
pub const SHARED_BUFFERS: &str = "shared_buffers";

const MIB: f64 = 1_048_576.0;

/// `shared_buffers` as a share of memory: "a reasonable starting value" of PostgreSQL's documentation ("Resource
/// Consumption", Memory), which says too that the operating system's cache needs the rest.
const SHARED_BUFFERS_SHARE: f64 = 0.25;
/// Two pages for each of the thousand connections that a node takes, which a model of a small machine still has where
/// nothing is stated.
pub(crate) const LEAST_SHARED_BUFFERS: f64 = 16.0 * MIB;
/// PostgreSQL's own least: 16 pages, 128 kB (`pg_settings.min_val`).
pub(crate) const LEAST_STATED: f64 = 16.0 * PAGE_BYTES as f64;
/// What its processes have for themselves: a node is asked over at most 64 connections as a rule, with some 4 MiB of
/// private memory each (reckoned, not measured here yet; what is held is seen in each trial's samples, and the page
/// cache is held at its budget whatever this is).
pub(crate) const PROCESSES_BYTES: f64 = 256.0 * MIB;
/// `maintenance_work_mem` of one vacuum (PostgreSQL's default).
const MAINTENANCE_BYTES: f64 = 64.0 * MIB;

/// What a node takes of so much memory. In whole units, of which PostgreSQL rounds none.
pub(crate) fn plan(memory_bytes: f64, scale: f64, stated_main_bytes: Option<f64>) -> NodeMemory {
    let full = memory_bytes * SHARED_BUFFERS_SHARE;
    let by_memory = || (full / scale).max(LEAST_SHARED_BUFFERS.min(full));
    let main_bytes = match stated_main_bytes {
        Some(stated) => whole(stated, PAGE_BYTES as f64),
        None => whole(by_memory(), MIB),
    };
    NodeMemory { main_bytes, buffer_bytes: MAINTENANCE_BYTES, key_cache_bytes: 0.0 }
}

/// Bytes in whole units, at least one.
fn whole(bytes: f64, unit: f64) -> f64 {
    (bytes / unit).floor().max(1.0) * unit
}

/// `shared_buffers` as these settings state them, rounded to whole pages as PostgreSQL does. What is stated was checked
/// before.
pub(crate) fn stated_bytes(settings: &Settings) -> Option<f64> {
    let stated = settings.keys(CONF).get(SHARED_BUFFERS)?;
    Some(amount(Unit::of_settings("8kB"), stated.value())?.round() * PAGE_BYTES as f64)
}

#[cfg(test)]
mod tests {
    use product::{Section, Setting};

    use super::*;

    #[test]
    fn shared_buffers_are_a_quarter_of_memory_and_a_model_divides_them() {
        let gib = 1_024.0 * MIB;
        assert_eq!(plan(32.0 * gib, 1.0, None).main_bytes, 8.0 * gib);
        assert_eq!(plan(32.0 * gib, 16.0, None).main_bytes, 512.0 * MIB);
        assert_eq!(plan(32.0 * gib, 1_024.0, None).main_bytes, LEAST_SHARED_BUFFERS);
        assert_eq!(plan(256.0 * MIB, 1.0, None).main_bytes, 64.0 * MIB, "no more than the rule gives at full scale");
        assert_eq!(plan(gib, 1.0, None).key_cache_bytes, 0.0);
    }

    #[test]
    fn stated_shared_buffers_are_taken_in_whole_pages_whatever_memory_there_is() {
        let page = PAGE_BYTES as f64;
        assert_eq!(plan(1_024.0 * MIB, 1.0, Some(LEAST_STATED)).main_bytes, LEAST_STATED);
        assert_eq!(plan(1_024.0 * MIB, 3.0, Some(100.5 * page)).main_bytes, 100.0 * page);
        let stated = |value: &str| {
            let keys = [(SHARED_BUFFERS.to_owned(), Setting::Value(value.to_owned()))].into();
            stated_bytes(&Settings::default().with(CONF, Section::Keys(keys)))
        };
        assert_eq!((stated("8GB"), stated("16")), (Some(8_192.0 * MIB), Some(LEAST_STATED)));
        assert_eq!((stated("1.5GB"), stated("100007kB")), (Some(1_536.0 * MIB), Some(12_501.0 * page)));
        assert_eq!(stated_bytes(&Settings::default()), None);
    }
}
