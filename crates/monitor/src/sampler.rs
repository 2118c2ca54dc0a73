//! One sample of everything that is watched.

use std::collections::BTreeMap;
use std::path::PathBuf;

use evidence::{HostSample, VolumeRole};
use reported::jvm;

use crate::cgroup::CgroupFiles;
use crate::compilers::CompilerMeter;
use crate::ebs::EbsCounters;
use crate::gc_log::GcLog;
use crate::proc;

/// What to watch.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// `/`, or a made-up tree with a `proc` below it.
    pub root: PathBuf,
    /// The database's cgroup.
    pub cgroup: CgroupFiles,
    /// A process.
    pub pid: Option<u32>,
    /// Whether that process is the database.
    pub is_database: bool,
    /// Kernel names of the volumes' devices.
    pub devices: BTreeMap<VolumeRole, String>,
    /// The JVM's GC log.
    pub gc_log: Option<PathBuf>,
}

/// Reads the sources; never fails, since missing figures are part of a sample.
#[derive(Debug)]
pub struct Sampler {
    sources: Sources,
    gc_log: Option<GcLog>,
    compilers: CompilerMeter,
    /// Of those volumes that are EBS volumes.
    ebs: BTreeMap<VolumeRole, EbsCounters>,
}

impl Sampler {
    /// A sampler of these sources.
    pub fn new(mut sources: Sources) -> Self {
        let gc_log = sources.gc_log.take().map(GcLog::new);
        let counters = |(role, device): (&VolumeRole, &String)| Some((*role, EbsCounters::of(&sources.root, device)?));
        let ebs = sources.devices.iter().filter_map(counters).collect();
        Self { sources, gc_log, compilers: CompilerMeter::default(), ebs }
    }

    /// One sample, stamped by the caller: seconds, and the wall clock in Unix milliseconds.
    pub fn sample(&mut self, t_s: f64, unix_ms: i64) -> HostSample {
        let mut sample = HostSample { t_s, unix_ms, ..HostSample::default() };
        let directory = self.sources.root.join("proc");
        let figures = &mut sample.host;
        proc::cpu(&directory, figures);
        proc::memory(&directory, figures);
        proc::pressure(&directory, figures);
        proc::network(&directory, figures);
        self.sources.cgroup.read(figures);
        if let Some(pid) = self.sources.pid {
            proc::process(&directory, pid, self.sources.is_database, figures);
            if self.sources.is_database {
                figures.database_pid = Some(f64::from(pid));
                sample.database.set(&jvm::COMPILER_CPU_S, self.compilers.read(&self.sources.root, pid));
            }
        }
        if let Some(log) = &mut self.gc_log {
            log.read(&mut sample.database);
        }
        if let Some(diskstats) = proc::text(&directory.join("diskstats")) {
            for (role, name) in &self.sources.devices {
                if let Some(device) = proc::device(&diskstats, name) {
                    sample.volumes.insert(*role, device);
                }
            }
        }
        sample.ebs.extend(self.ebs.iter().filter_map(|(role, counters)| Some((*role, counters.read()?))));
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(root: PathBuf) -> Sources {
        let devices = BTreeMap::from([(VolumeRole::Data, "loop3".to_owned())]);
        Sources { root, cgroup: CgroupFiles::default(), pid: Some(42), is_database: true, devices, gc_log: None }
    }

    #[test]
    fn a_made_up_tree_gives_its_numbers_in_base_units() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = root.path().join("proc").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        write("stat", "cpu  1000 200 300 4000 50 6 7 80 0 0\ncpu0 1 1 1 1\n");
        write("meminfo", "MemTotal: 100 kB\nMemAvailable: 64 kB\n");
        write("diskstats", "   7       2 loop2 9 9 9 9\n   7       3 loop3 100 1 800 250 40 2 1600 500 3 700 750\n");
        write(
            "pressure/io",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0 avg60=0 avg300=0 total=500000\n",
        );
        write("net/dev", "Inter-| Receive\n face |bytes\n    lo: 10 1 0 0 0 0 0 0 20 1\n  eth0: 5 1 0 0 0 0 0 0 7 1\n");
        write("net/snmp", "Tcp: RtoAlgorithm RetransSegs\nTcp: 1 17\n");
        write("pressure/memory", "some avg10=0 avg60=0 avg300=0 total=7\n");
        write("42/statm", "900 3 1 1 0 1 0\n");
        write("42/stat", "42 (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 150 50 7 3\n");
        // A process of its own for a connection, and one that has ended before it was counted.
        write("42/task/42/children", "43 99 \n");
        write("43/stat", "43 (c) S 42 1 1 0 -1 0 0 0 0 0 30 10 0 0\n");
        let sample = Sampler::new(sources(root.path().to_owned())).sample(1.5, 99);
        let hz = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!((sample.t_s, sample.unix_ms), (1.5, 99));
        assert_eq!(sample.host.cpu_user_s, Some(1200.0 / hz));
        assert_eq!(sample.host.cpu_steal_s, Some(80.0 / hz));
        assert_eq!(sample.host.process_cpu_s, Some(250.0 / hz), "with those that it has waited for and those that run");
        let page_bytes = rustix::param::page_size() as f64;
        assert_eq!(sample.host.process_rss_bytes, Some(3.0 * page_bytes));
        assert_eq!(sample.host.cpu_system_s, Some(313.0 / hz), "interrupts included");
        assert_eq!((sample.host.cpu_idle_s, sample.host.cpu_iowait_s), (Some(4000.0 / hz), Some(50.0 / hz)));
        assert_eq!(sample.host.memory_available_bytes, Some(65536.0));
        assert_eq!((sample.host.pressure_memory_some_s, sample.host.pressure_memory_full_s), (Some(7e-6), None));
        assert_eq!((sample.host.pressure_io_some_s, sample.host.pressure_io_full_s), (Some(2.5), Some(0.5)));
        assert_eq!((sample.host.network_received_bytes, sample.host.network_sent_bytes), (Some(15.0), Some(27.0)));
        assert_eq!(sample.host.tcp_retransmits, Some(17.0));
        assert_eq!(sample.host.pressure_cpu_some_s, None, "missing is not zero");
        let device = &sample.volumes[&VolumeRole::Data];
        assert_eq!((device.reads, device.read_bytes, device.read_wait_s), (Some(100.0), Some(409_600.0), Some(0.25)));
        assert_eq!((device.writes, device.write_bytes, device.in_flight), (Some(40.0), Some(819_200.0), Some(3.0)));
        assert_eq!((device.busy_s, device.weighted_busy_s), (Some(0.7), Some(0.75)));
    }

    #[test]
    fn an_empty_tree_gives_an_empty_sample() {
        let root = tempfile::tempdir().unwrap();
        let mut sources = sources(root.path().to_owned());
        sources.pid = None;
        let sample = Sampler::new(sources).sample(0.0, 0);
        assert_eq!(sample, HostSample::default());
    }

    #[test]
    fn a_process_or_a_device_that_went_away_takes_its_figures_with_it() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        std::fs::write(root.path().join("proc/diskstats"), "   7       30 loop30 1 1 1 1\n").unwrap();
        let sample = Sampler::new(sources(root.path().to_owned())).sample(0.0, 0);
        assert_eq!((sample.host.process_cpu_s, sample.host.process_rss_bytes), (None, None));
        assert!(sample.volumes.is_empty(), "loop30 is not loop3");
    }

    /// What the kernel takes to make the texts is beyond us; what is made of them costs no multiple of that. Both are
    /// measured side by side, because machines differ a hundredfold; the figure itself is printed.
    #[test]
    fn sampling_this_machine_costs_little() {
        let directory = tempfile::tempdir().unwrap();
        let gc_log = directory.path().join("gc.log");
        std::fs::write(&gc_log, "[1.0s][info][gc] GC(9) Pause Remark 30M->30M(256M) 1.5ms\n").unwrap();
        let mut sources = sources(PathBuf::from("/"));
        sources.pid = Some(std::process::id());
        sources.gc_log = Some(gc_log);
        // The root groups, where the machine has version 1; elsewhere these files are missing, which is allowed.
        let controller = |name: &str| Some(PathBuf::from("/sys/fs/cgroup").join(name));
        sources.cgroup = CgroupFiles {
            memory_dir: controller("memory"),
            cpu_dir: controller("cpu"),
            cpuacct_dir: controller("cpuacct"),
            v2: false,
        };
        let mut sampler = Sampler::new(sources);
        let read = || {
            for name in [
                "stat",
                "diskstats",
                "meminfo",
                "net/dev",
                "net/snmp",
                "self/stat",
                "pressure/cpu",
                "pressure/io",
                "pressure/memory",
            ] {
                let _ = std::fs::read_to_string(PathBuf::from("/proc").join(name));
            }
        };
        let cpu_us = |act: &mut dyn FnMut()| {
            let now = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            let (before, _, after) = (now(), act(), now());
            (after.tv_sec - before.tv_sec) as f64 * 1e6 + (after.tv_nsec - before.tv_nsec) as f64 / 1e3
        };
        let (mut of_reading, mut of_sampling) = (0.0, 0.0);
        for i in 0..200 {
            of_reading += cpu_us(&mut || read());
            of_sampling += cpu_us(&mut || {
                let sample = sampler.sample(f64::from(i), 0);
                assert!(sample.host.cpu_user_s.is_some() && sample.host.process_rss_bytes.is_some());
            });
        }
        let us = of_sampling / 200.0;
        println!("{us:.0} us of CPU per sample");
        assert!(of_sampling < 6.0 * of_reading, "{us} us, reading alone {} us", of_reading / 200.0);
    }
}
