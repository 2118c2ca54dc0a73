//! How a node of Cassandra shares out its memory.

use product::NodeMemory;

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;

/// The JVM's own memory besides heap and direct buffers: code, metaspace, threads, GC structures. Cassandra 5.0 with a
/// 1 GiB heap and 256 MiB of direct memory was measured at about 1.5 GB resident.
pub(crate) const NATIVE_BYTES: f64 = 512.0 * MIB;
/// The heap rule of the DSE guide: a quarter of memory, at most 8 GiB.
const MOST_HEAP: f64 = 8.0 * GIB;
/// Cassandra does not run well below this heap; the rule's result is raised to it in a model.
pub(crate) const LEAST_HEAP: f64 = GIB;

/// Heap at full scale.
fn heap_rule(memory_bytes: f64) -> f64 {
    (memory_bytes / 4.0).min(MOST_HEAP)
}

/// Direct buffers: a quarter of the heap, at most 512 MiB (Cassandra's `file_cache_size` default; the chunk cache
/// itself is off, as shipped with 5.0, so that blocks are cached by the page cache alone).
fn direct_rule(heap_bytes: f64) -> f64 {
    (heap_bytes / 4.0).min(512.0 * MIB)
}

/// The key cache: a twentieth of the heap, at most 100 MiB (Cassandra's `key_cache_size` default).
fn key_cache_rule(heap_bytes: f64) -> f64 {
    (heap_bytes / 20.0).min(100.0 * MIB)
}

/// The key cache of a 1:N model, in whole MiB as Cassandra counts it: that of the full heap, divided. By the rule on
/// the model's own heap, which is not divided, it would hold most of the model's keys where it holds few of the full
/// data set, and would fill for as many reads as there are keys: at 47 IOPS, for hours.
fn key_cache(full_heap: f64, heap: f64, scale: f64) -> f64 {
    let bytes = if scale > 1.0 { key_cache_rule(full_heap) / scale } else { key_cache_rule(heap) };
    (bytes / MIB).round().max(1.0) * MIB
}

/// What a node takes of so much memory.
pub(crate) fn plan(memory_bytes: f64, scale: f64, stated_heap_bytes: Option<f64>) -> NodeMemory {
    let full_heap = heap_rule(memory_bytes);
    let heap = stated_heap_bytes.unwrap_or_else(|| (full_heap / scale).max(LEAST_HEAP.min(full_heap)));
    NodeMemory { main_bytes: heap, buffer_bytes: direct_rule(heap), key_cache_bytes: key_cache(full_heap, heap, scale) }
}
