//! The one place of a run that knows which database is under test: it chooses the implementation, and says which
//! of its own words (heap, garbage collector, caches) is which figure of the evidence.

use std::collections::BTreeMap;
use std::path::PathBuf;

use database::cassandra::{Cassandra, GC_LOG, series};
use database::{Account, MemoryPlan, Metrics, NodeLog, Server};
use evidence::HostFigures;
use experiment::{Setup, VolumeRole};
use monitor::{CgroupFiles, LogSource, Sources};

/// The database under test; its processes run as this user.
pub fn server(version: &str, account: Option<Account>) -> Box<dyn Server> {
    Box::new(Cassandra::new(version).run_as(account))
}

/// The memory of a configuration's node.
pub(super) fn memory(setup: &Setup) -> MemoryPlan {
    MemoryPlan {
        main_bytes: setup.heap_bytes,
        buffer_bytes: setup.direct_memory_bytes,
        key_cache_bytes: setup.key_cache_bytes,
    }
}

/// What the monitor watches of a node, the pauses in its collector's log included.
pub(super) fn sources(
    pid: u32,
    cgroup: CgroupFiles,
    devices: BTreeMap<VolumeRole, String>,
    logs: &[NodeLog],
) -> Sources {
    Sources {
        root: PathBuf::from("/"),
        cgroup,
        pid: Some(pid),
        is_database: true,
        devices,
        gc_log: logs.iter().find(|log| log.name == GC_LOG).map(|log| gc_log(log.path.clone())),
    }
}

/// A log of a garbage collector. The database writes it: it could be a link to a file of root's, or a pipe.
pub(super) fn gc_log(path: PathBuf) -> LogSource {
    LogSource { path, open: guarded::open_no_link }
}

/// A figure of the evidence.
type Figure = fn(&mut HostFigures) -> &mut Option<f64>;

/// Which series is which figure.
const FIGURES: &[(&str, Figure)] = &[
    (series::PENDING_COMPACTIONS, |host| &mut host.pending_compactions),
    (series::PENDING_HINT_FILES, |host| &mut host.pending_hint_files),
    (series::CHUNK_CACHE_HITS, |host| &mut host.chunk_cache_hits),
    (series::CHUNK_CACHE_REQUESTS, |host| &mut host.chunk_cache_requests),
    (series::KEY_CACHE_HITS, |host| &mut host.key_cache_hits),
    (series::KEY_CACHE_REQUESTS, |host| &mut host.key_cache_requests),
    (series::COORDINATOR_READS, |host| &mut host.coordinator_reads),
    (series::COORDINATOR_WRITES, |host| &mut host.coordinator_writes),
    (series::COORDINATOR_READ_P99_MS, |host| &mut host.coordinator_read_p99_ms),
    (series::COORDINATOR_WRITE_P99_MS, |host| &mut host.coordinator_write_p99_ms),
    (series::CLIENT_REQUESTS, |host| &mut host.client_requests),
    (series::PENDING_READS, |host| &mut host.pending_reads),
    (series::PENDING_MUTATIONS, |host| &mut host.pending_mutations),
    (series::DROPPED_MESSAGES, |host| &mut host.dropped_messages),
    (series::TABLE_READS, |host| &mut host.table_reads),
    (series::SSTABLES_MERGED, |host| &mut host.sstables_merged),
    (series::BLOOM_FALSE_POSITIVES, |host| &mut host.bloom_false_positives),
    (series::COMPRESSION_RATIO, |host| &mut host.compression_ratio),
    (series::COMPRESSION_METADATA_BYTES, |host| &mut host.compression_metadata_bytes),
    (series::SSTABLES, |host| &mut host.sstables),
    (series::FLUSHES, |host| &mut host.flushes),
    (series::FLUSHED_BYTES, |host| &mut host.flushed_bytes),
    (series::COMPACTIONS, |host| &mut host.compactions),
    (series::COMPACTED_BYTES, |host| &mut host.compacted_bytes),
];

/// Writes what the database says about itself into a sample; what it does not say stays missing.
pub(super) fn note(metrics: &Metrics, host: &mut HostFigures) {
    for (name, figure) in FIGURES {
        *figure(host) = metrics.get(name).copied();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_series_has_a_figure_of_its_own_and_nothing_else_is_touched() {
        let before = HostFigures { gc_pauses: Some(1.0), pending_reads: Some(9.0), ..HostFigures::default() };
        let mut host = before.clone();
        note(&Metrics::new(), &mut host);
        assert_eq!((host.gc_pauses, host.pending_reads), (Some(1.0), None), "missing is not the last value");

        let metrics: Metrics = FIGURES.iter().zip(1..).map(|((name, _), n)| (*name, f64::from(n))).collect();
        assert_eq!(metrics.len(), FIGURES.len(), "no name stands twice");
        note(&metrics, &mut host);
        for ((name, figure), n) in FIGURES.iter().zip(1..) {
            assert_eq!(*figure(&mut host), Some(f64::from(n)), "{name}: two series share a figure");
        }
        assert_eq!((host.coordinator_reads, host.dropped_messages), (Some(7.0), Some(14.0)));
    }

    /// Nobody writes to the pipe: opening it as a file waited without end, and every sample with it.
    #[test]
    fn a_pipe_or_a_link_in_the_place_of_a_log_keeps_no_sample_from_being_taken() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};

        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        std::fs::write(at("file"), "[1.0s][info][gc] GC(9) Pause Remark 30M->30M(256M) 1.5ms\n").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        let pauses = |name: &str| {
            let logs = [NodeLog { name: GC_LOG, path: at(name) }];
            let sources = sources(std::process::id(), CgroupFiles::default(), BTreeMap::new(), &logs);
            let (to, sample) = std::sync::mpsc::channel();
            std::thread::spawn(move || to.send(Box::new(monitor::Sampler::new(sources).sample(0.0, 0))));
            let sample = sample.recv_timeout(std::time::Duration::from_secs(10)).expect("a sample waits for no pipe");
            sample.host.gc_pauses
        };
        assert_eq!((pauses("file"), pauses("pipe"), pauses("link")), (Some(1.0), None, None));
    }
}
