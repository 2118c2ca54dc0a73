//! How a node of PostgreSQL shares out its memory.

use product::NodeMemory;

const MIB: f64 = 1_048_576.0;

/// `shared_buffers` as a share of memory: "a reasonable starting value" of PostgreSQL's documentation ("Resource
/// Consumption", Memory), which says too that the operating system's cache needs the rest.
const SHARED_BUFFERS_SHARE: f64 = 0.25;
/// Two pages for each of the thousand connections that a node takes, which a model of a small machine still has.
pub(crate) const LEAST_SHARED_BUFFERS: f64 = 16.0 * MIB;
/// What its processes have for themselves: a node is asked over at most 64 connections as a rule, with some 4 MiB of
/// private memory each (reckoned, not measured here yet; what is held is seen in each trial's samples, and the page
/// cache is held at its budget whatever this is).
pub(crate) const PROCESSES_BYTES: f64 = 256.0 * MIB;
/// `maintenance_work_mem` of one vacuum (PostgreSQL's default).
const MAINTENANCE_BYTES: f64 = 64.0 * MIB;

/// What a node takes of so much memory. What is stated of main memory is another product's.
pub(crate) fn plan(memory_bytes: f64, scale: f64, stated_main_bytes: Option<f64>) -> NodeMemory {
    let full = memory_bytes * SHARED_BUFFERS_SHARE;
    let scaled = (full / scale).max(LEAST_SHARED_BUFFERS.min(full));
    // In whole MiB: a setting that PostgreSQL rounds would be found to be another one.
    let main = (stated_main_bytes.unwrap_or(scaled) / MIB).floor().max(1.0) * MIB;
    NodeMemory { main_bytes: main, buffer_bytes: MAINTENANCE_BYTES, key_cache_bytes: 0.0 }
}

#[cfg(test)]
mod tests {
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
}
