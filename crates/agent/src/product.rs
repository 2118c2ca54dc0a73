//! What of a setup's memory is what of a database, and which of its logs is a collector's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use database::cassandra::GC_LOG;
use database::{MemoryPlan, NodeLog};
use experiment::{Setup, VolumeRole};
use monitor::{CgroupFiles, Sources};
use reported::Series;

/// The memory of a configuration's node.
pub(super) fn memory(setup: &Setup) -> MemoryPlan {
    MemoryPlan {
        main_bytes: setup.heap_bytes,
        buffer_bytes: setup.direct_memory_bytes,
        key_cache_bytes: setup.key_cache_bytes,
    }
}

/// The series that counts the files of a table that a read may have to merge: what a backlog is made of.
pub(super) const BACKLOG_FILES: &Series = &reported::cassandra::SSTABLES;

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
        gc_log: logs.iter().find(|log| log.name == GC_LOG).map(|log| log.path.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            sample.database.get(&reported::jvm::GC_PAUSES)
        };
        assert_eq!((pauses("file"), pauses("pipe"), pauses("link")), (Some(1.0), None, None));
    }
}
