//! What a tier of memcached in front of a database reports: all of its nodes together. It is no database, so that no
//! table of databases has figures of it.

use crate::statement::{Chart, Reports, Series, series};

series! {
    /// Records that were asked for in the cache tier and were there.
    HITS "memcached_get_hits" counter;
    /// Those that were not there.
    MISSES "memcached_get_misses" counter;
    /// Records that were put there.
    SETS "memcached_cmd_set" counter;
    /// Records that it was told to delete, whether they were there or not.
    DELETES "memcached_deletes" counter;
    /// Records that were taken out before their time to make room.
    EVICTIONS "memcached_evictions" counter;
    /// Bytes of records with their keys that are there, now.
    BYTES "memcached_bytes" level;
    /// Records that are there, now.
    ITEMS "memcached_curr_items" level;
    /// Bytes that it has received from its clients.
    RECEIVED_BYTES "memcached_bytes_read" counter;
    /// Bytes that it has sent to them.
    SENT_BYTES "memcached_bytes_written" counter;
    /// CPU time of its processes, seconds.
    CPU_S "memcached_cpu_s" counter;
}

const MIB: f64 = 1_048_576.0;

/// A cache tier.
pub static REPORTS: Reports = Reports {
    series: &[SERIES],
    figures: &[],
    charts: &[
        &Chart {
            title: "Cache tier",
            unit: "1/s",
            lines: &[("hits", &HITS, 1.0), ("misses", &MISSES, 1.0), ("evictions", &EVICTIONS, 1.0)],
        },
        &Chart { title: "Memory of the cache tier", unit: "MiB", lines: &[("records", &BYTES, 1.0 / MIB)] },
        &Chart {
            title: "Network of the cache tier",
            unit: "MiB/s",
            lines: &[("received", &RECEIVED_BYTES, 1.0 / MIB), ("sent", &SENT_BYTES, 1.0 / MIB)],
        },
        &Chart { title: "CPUs of the cache tier", unit: "CPUs", lines: &[("memcached", &CPU_S, 1.0)] },
    ],
    background: &[],
    how_to_read: "",
    main_memory: "",
    risks: &[],
};
