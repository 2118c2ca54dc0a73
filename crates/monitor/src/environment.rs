//! Facts about a host that do not change during a run.

use std::path::Path;

use evidence::{Disk, Environment};

use crate::proc::{meminfo, text};

/// Looks below `root` (`/`, or a made-up tree) at `/proc`, `/sys` and `/etc`.
pub fn environment(root: &Path) -> Environment {
    let line = |path: &str| text(&root.join(path)).map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
    let cpuinfo = text(&root.join("proc/cpuinfo")).unwrap_or_default();
    let cpu_field = |name: &str| {
        let found = cpuinfo.lines().find_map(|l| l.split_once(':').filter(|(key, _)| key.trim() == name))?;
        Some(found.1.trim().to_owned())
    };
    Environment {
        hostname: line("proc/sys/kernel/hostname"),
        kernel: line("proc/sys/kernel/osrelease"),
        os: text(&root.join("etc/os-release")).and_then(|t| {
            let name = t.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
            Some(name.trim_matches('"').to_owned())
        }),
        cpu_model: cpu_field("model name"),
        microcode: cpu_field("microcode"),
        cpus: cpuinfo.lines().filter(|l| l.starts_with("processor")).count() as u32,
        virtual_machine: cpu_field("flags").is_some_and(|f| f.split(' ').any(|flag| flag == "hypervisor")),
        memory_bytes: memory_bytes(root),
        swap_bytes: meminfo(&root.join("proc"), "SwapTotal").map(|b| b as u64),
        clock_source: line("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        transparent_huge_pages: line("sys/kernel/mm/transparent_hugepage/enabled").and_then(|t| chosen(&t)),
        cgroups: cgroups(&root.join("proc/mounts")),
        disks: disks(&root.join("sys/block")),
    }
}

/// Main memory of the machine below `root`, bytes.
pub fn memory_bytes(root: &Path) -> Option<u64> {
    meminfo(&root.join("proc"), "MemTotal").map(|bytes| bytes as u64)
}

/// The word in brackets: `always [madvise] never`.
fn chosen(line: &str) -> Option<String> {
    Some(line.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn cgroups(mounts: &Path) -> Vec<String> {
    let mut found: Vec<String> = text(mounts)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let place = words.get(1)?.rsplit('/').next()?;
            match *words.get(2)? {
                "cgroup" => Some(format!("{place} (v1)")),
                "cgroup2" => Some(format!("{place} (v2)")),
                _ => None,
            }
        })
        .collect();
    found.sort();
    found
}

fn disks(block: &Path) -> Vec<Disk> {
    let Ok(entries) = std::fs::read_dir(block) else { return Vec::new() };
    let mut disks: Vec<_> = entries
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .filter(|(name, _)| !["loop", "ram", "zram"].iter().any(|kind| name.starts_with(kind)))
        .map(|(name, path)| {
            let number = |file: &str| text(&path.join(file))?.trim().parse::<u64>().ok();
            let scheduler = text(&path.join("queue/scheduler"));
            Disk {
                name,
                size_bytes: number("size").map(|sectors| sectors * 512),
                rotational: number("queue/rotational").map(|r| r == 1),
                scheduler: scheduler.and_then(|s| chosen(&s).or_else(|| Some(s.trim().to_owned()))),
                read_ahead_kib: number("queue/read_ahead_kb"),
            }
        })
        .collect();
    disks.sort_by(|a, b| a.name.cmp(&b.name));
    disks
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_machine_has_a_kernel_a_cpu_and_memory() {
        let facts = super::environment(std::path::Path::new("/"));
        assert!(facts.kernel.is_some() && facts.cpus >= 1 && facts.memory_bytes.is_some_and(|b| b > 0), "{facts:?}");
    }

    #[test]
    fn a_made_up_tree_gives_its_facts_and_leaves_loop_devices_out() {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("proc/sys/kernel/hostname", "db-1\n"),
            ("proc/sys/kernel/osrelease", "6.18.1\n"),
            ("proc/meminfo", "MemTotal: 2048 kB\nSwapTotal: 0 kB\n"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Xeon\nmicrocode\t: 0x1\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\n",
            ),
            (
                "proc/mounts",
                "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ncgroup /sys/fs/cgroup/blkio cgroup rw,blkio 0 \
                 0\n/dev/vda / ext4 rw 0 0\n",
            ),
            ("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian 12\"\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/block/vda/size", "2048\n"),
            ("sys/block/vda/queue/rotational", "1\n"),
            ("sys/block/vda/queue/scheduler", "[mq-deadline] none\n"),
            ("sys/block/vdb/queue/scheduler", "none\n"),
            ("sys/block/loop0/size", "8\n"),
        ] {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let text = |t: &str| Some(t.to_owned());
        let expected = evidence::Environment {
            hostname: text("db-1"),
            kernel: text("6.18.1"),
            os: text("Debian 12"),
            cpu_model: text("Xeon"),
            microcode: text("0x1"),
            cpus: 2,
            virtual_machine: true,
            memory_bytes: Some(2 << 20),
            swap_bytes: Some(0),
            clock_source: None,
            transparent_huge_pages: text("madvise"),
            cgroups: vec!["blkio (v1)".to_owned(), "unified (v2)".to_owned()],
            disks: vec![
                evidence::Disk {
                    name: "vda".to_owned(),
                    size_bytes: Some(1 << 20),
                    rotational: Some(true),
                    scheduler: text("mq-deadline"),
                    read_ahead_kib: None,
                },
                evidence::Disk { name: "vdb".to_owned(), scheduler: text("none"), ..evidence::Disk::default() },
            ],
        };
        assert_eq!(super::environment(root.path()), expected);
    }

    #[test]
    fn an_empty_tree_tells_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(super::environment(root.path()), evidence::Environment::default());
    }
}
