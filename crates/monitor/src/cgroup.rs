//! Memory and CPU of one cgroup, version 1 or 2.

use std::path::{Path, PathBuf};

use evidence::HostFigures;

use crate::proc::text;

/// Where a cgroup's files are; a controller that is not there gives no figures.
#[derive(Debug, Clone, Default)]
pub struct CgroupFiles {
    /// Directory with `memory.stat`.
    pub memory_dir: Option<PathBuf>,
    /// Directory with `cpu.stat`.
    pub cpu_dir: Option<PathBuf>,
    /// Version 1: directory with `cpuacct.usage`.
    pub cpuacct_dir: Option<PathBuf>,
    /// Whether these are files of version 2.
    pub v2: bool,
}

impl CgroupFiles {
    pub(crate) fn read(&self, figures: &mut HostFigures) {
        if let Some(directory) = &self.memory_dir {
            self.memory(directory, figures);
        }
        if let Some(stat) = self.cpu_dir.as_ref().and_then(|d| text(&d.join("cpu.stat"))) {
            let (throttled, per_second) = if self.v2 { ("throttled_usec", 1e6) } else { ("throttled_time", 1e9) };
            figures.cgroup_periods = field(&stat, "nr_periods");
            figures.cgroup_throttled_periods = field(&stat, "nr_throttled");
            figures.cgroup_throttled_s = field(&stat, throttled).map(|t| t / per_second);
            if self.v2 {
                figures.cgroup_cpu_s = field(&stat, "usage_usec").map(|us| us / 1e6);
            }
        }
        if let (false, Some(directory)) = (self.v2, &self.cpuacct_dir) {
            figures.cgroup_cpu_s = single(directory, "cpuacct.usage").map(|ns| ns / 1e9);
        }
    }

    fn memory(&self, directory: &Path, figures: &mut HostFigures) {
        let usage = if self.v2 { "memory.current" } else { "memory.usage_in_bytes" };
        figures.cgroup_memory_bytes = single(directory, usage);
        let Some(stat) = text(&directory.join("memory.stat")) else { return };
        // Version 1: the hierarchical totals.
        let names = if self.v2 {
            ["anon", "file", "file_mapped", "file_dirty", "file_writeback", "pgmajfault", "shmem"]
        } else {
            [
                "total_rss",
                "total_cache",
                "total_mapped_file",
                "total_dirty",
                "total_writeback",
                "total_pgmajfault",
                "total_shmem",
            ]
        };
        let [anonymous, cache, mapped, dirty, writeback, faults, shared] = names.map(|name| field(&stat, name));
        // The kernel counts shared memory as page cache, though no file is behind it: a server's buffers are its own.
        let shared = shared.unwrap_or(0.0);
        let without_shared = |bytes: Option<f64>| bytes.map(|bytes| (bytes - shared).max(0.0));
        figures.cgroup_anonymous_bytes = anonymous.map(|bytes| bytes + shared);
        figures.cgroup_file_bytes = without_shared(cache);
        figures.cgroup_mapped_bytes = without_shared(mapped);
        figures.cgroup_dirty_bytes = dirty;
        figures.cgroup_writeback_bytes = writeback;
        figures.cgroup_major_faults = faults;
    }
}

/// `name value` in a stat file.
fn field(stat: &str, name: &str) -> Option<f64> {
    stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

fn single(directory: &Path, file: &str) -> Option<f64> {
    text(&directory.join(file))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(v2: bool, files: &[(&str, &str)]) -> HostFigures {
        let directory = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(directory.path().join(name), content).unwrap();
        }
        let path = Some(directory.path().to_owned());
        let mut figures = HostFigures::default();
        CgroupFiles { memory_dir: path.clone(), cpu_dir: path.clone(), cpuacct_dir: path, v2 }.read(&mut figures);
        figures
    }

    #[test]
    fn version_1_counts_in_nanoseconds_and_hierarchical_totals() {
        let figures = read(
            false,
            &[
                ("memory.stat", "cache 1\nrss 2\ntotal_cache 4096\ntotal_rss 8192\ntotal_dirty 512\n"),
                ("memory.usage_in_bytes", "12288\n"),
                ("cpuacct.usage", "2500000000\n"),
                ("cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 400000000\n"),
            ],
        );
        assert_eq!(figures.cgroup_file_bytes, Some(4096.0));
        assert_eq!(figures.cgroup_anonymous_bytes, Some(8192.0));
        assert_eq!(figures.cgroup_memory_bytes, Some(12288.0));
        assert_eq!(figures.cgroup_cpu_s, Some(2.5));
        assert_eq!((figures.cgroup_throttled_periods, figures.cgroup_throttled_s), (Some(3.0), Some(0.4)));
        assert_eq!(figures.cgroup_major_faults, None, "missing is not zero");
    }

    #[test]
    fn version_2_counts_in_microseconds() {
        let figures = read(
            true,
            &[
                ("memory.stat", "anon 100\nfile 200\nfile_mapped 50\npgmajfault 7\n"),
                ("memory.current", "300\n"),
                ("cpu.stat", "usage_usec 1500000\nnr_periods 4\nnr_throttled 1\nthrottled_usec 250000\n"),
            ],
        );
        assert_eq!((figures.cgroup_anonymous_bytes, figures.cgroup_file_bytes), (Some(100.0), Some(200.0)));
        assert_eq!((figures.cgroup_cpu_s, figures.cgroup_throttled_s), (Some(1.5), Some(0.25)));
        assert_eq!((figures.cgroup_mapped_bytes, figures.cgroup_major_faults), (Some(50.0), Some(7.0)));
    }

    /// PostgreSQL's shared buffers are shared memory, which would count as page cache, and once more as its own.
    #[test]
    fn shared_memory_is_no_page_cache() {
        for (v2, stat) in [
            (true, "anon 100\nfile 900\nfile_mapped 750\nshmem 700\n"),
            (false, "total_rss 100\ntotal_cache 900\ntotal_mapped_file 750\ntotal_shmem 700\n"),
        ] {
            let figures = read(v2, &[("memory.stat", stat)]);
            assert_eq!((figures.cgroup_anonymous_bytes, figures.cgroup_file_bytes), (Some(800.0), Some(200.0)));
            assert_eq!(figures.cgroup_mapped_bytes, Some(50.0));
        }
    }

    #[test]
    fn nothing_there_is_nothing_known() {
        assert_eq!(read(true, &[]), HostFigures::default());
    }
}
