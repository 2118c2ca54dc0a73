//! `/proc`: CPU times, block devices, pressure, network, one process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evidence::{HostFigures, VolumeFigures};

/// Bytes of a sector in `/proc/diskstats`, whatever the device's own sector size (kernel:
/// Documentation/admin-guide/iostats.rst).
const SECTOR_BYTES: f64 = 512.0;

/// A small file as text; `None` if it is not there.
pub(crate) fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// What has a number as its name in a directory, each with its path, by number: processes in `/proc`, threads in
/// `task`.
pub(crate) fn numbered(directory: &Path) -> BTreeMap<u32, PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path()))).collect()
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// `/proc/stat`, first line: user nice system idle iowait irq softirq steal ..., in clock ticks.
pub(crate) fn cpu(proc: &Path, figures: &mut HostFigures) {
    let Some(stat) = text(&proc.join("stat")) else { return };
    let Some(line) = stat.lines().next().and_then(|l| l.strip_prefix("cpu ")) else { return };
    let hz = rustix::param::clock_ticks_per_second() as f64;
    let ticks = numbers(line);
    let seconds = |i: usize| ticks.get(i).map(|t| t / hz);
    let sum = |indices: &[usize]| indices.iter().map(|i| seconds(*i)).sum::<Option<f64>>();
    figures.cpu_user_s = sum(&[0, 1]);
    figures.cpu_system_s = sum(&[2, 5, 6]);
    figures.cpu_idle_s = seconds(3);
    figures.cpu_iowait_s = seconds(4);
    figures.cpu_steal_s = seconds(7);
}

/// What the kernel counts of a block device now; `None` where there is none of this name below `root`.
pub fn block_device(root: &Path, name: &str) -> Option<VolumeFigures> {
    device(&text(&root.join("proc/diskstats"))?, name)
}

/// One device's line in the text of `/proc/diskstats` (fields: Documentation/admin-guide/iostats.rst).
pub(crate) fn device(diskstats: &str, name: &str) -> Option<VolumeFigures> {
    let line = diskstats.lines().find(|l| l.split_ascii_whitespace().nth(2) == Some(name))?;
    let n: Vec<f64> = line.split_ascii_whitespace().skip(3).filter_map(|w| w.parse().ok()).collect();
    let at = |i: usize| n.get(i).copied();
    let seconds = |i: usize| at(i).map(|ms| ms / 1e3);
    Some(VolumeFigures {
        reads: at(0),
        reads_merged: at(1),
        read_bytes: at(2).map(|s| s * SECTOR_BYTES),
        read_wait_s: seconds(3),
        writes: at(4),
        writes_merged: at(5),
        write_bytes: at(6).map(|s| s * SECTOR_BYTES),
        write_wait_s: seconds(7),
        in_flight: at(8),
        busy_s: seconds(9),
        weighted_busy_s: seconds(10),
        ..VolumeFigures::default()
    })
}

/// `/proc/pressure/*`: lines `some avg10=.. avg60=.. avg300=.. total=MICROSECONDS`.
pub(crate) fn pressure(proc: &Path, figures: &mut HostFigures) {
    let total = |resource: &str, kind: &str| {
        let file = text(&proc.join("pressure").join(resource))?;
        let line = file.lines().find(|l| l.starts_with(kind))?;
        line.rsplit_once("total=")?.1.trim().parse::<f64>().ok().map(|us| us / 1e6)
    };
    figures.pressure_cpu_some_s = total("cpu", "some");
    figures.pressure_io_some_s = total("io", "some");
    figures.pressure_io_full_s = total("io", "full");
    figures.pressure_memory_some_s = total("memory", "some");
    figures.pressure_memory_full_s = total("memory", "full");
}

/// `/proc/net/dev` summed over interfaces, and retransmitted segments from `/proc/net/snmp`.
pub(crate) fn network(proc: &Path, figures: &mut HostFigures) {
    if let Some(dev) = text(&proc.join("net/dev")) {
        let rows: Vec<_> = dev.lines().filter_map(|l| l.split_once(':')).map(|(_, row)| numbers(row)).collect();
        let sum = |i: usize| rows.iter().map(|row| row.get(i).copied()).sum::<Option<f64>>();
        figures.network_received_bytes = sum(0);
        figures.network_sent_bytes = sum(8);
    }
    if let Some(snmp) = text(&proc.join("net/snmp")) {
        // Two lines: names, then values in the same order.
        let mut tcp = snmp.lines().filter_map(|l| l.strip_prefix("Tcp:"));
        if let (Some(names), Some(values)) = (tcp.next(), tcp.next()) {
            let at = names.split_ascii_whitespace().position(|name| name == "RetransSegs");
            figures.tcp_retransmits =
                at.and_then(|i| values.split_ascii_whitespace().nth(i)).and_then(|v| v.parse().ok());
        }
    }
}

/// `MemAvailable` of `/proc/meminfo`.
pub(crate) fn memory(proc: &Path, figures: &mut HostFigures) {
    figures.memory_available_bytes = meminfo(proc, "MemAvailable");
}

/// A field of `/proc/meminfo`, bytes.
pub(crate) fn meminfo(proc: &Path, field: &str) -> Option<f64> {
    let file = text(&proc.join("meminfo"))?;
    let line = file.lines().find(|l| l.split(':').next() == Some(field))?;
    line.split_ascii_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib * 1024.0)
}

/// CPU time of a process now, seconds; `None` once it is gone.
pub fn process_cpu_s(root: &Path, pid: u32) -> Option<f64> {
    cpu_s(&root.join("proc").join(pid.to_string()))
}

/// CPU time of a process and of its children, those that it has waited for included, seconds: of a server with a
/// process for each connection. `None` once it is gone.
pub fn family_cpu_s(root: &Path, pid: u32) -> Option<f64> {
    family_cpu_of(&root.join("proc"), pid)
}

fn family_cpu_of(proc: &Path, pid: u32) -> Option<f64> {
    let with_waited_for = |pid: u32| {
        let stat = text(&proc.join(pid.to_string()).join("stat"))?;
        let field = stat_fields(&stat)?.1;
        // utime, stime, cutime, cstime.
        let ticks: Option<f64> = (14..=17).map(field).sum();
        Some(ticks? / rustix::param::clock_ticks_per_second() as f64)
    };
    // First those that run: one that ends meanwhile is seen with its parent, or twice as late.
    let listed = text(&proc.join(format!("{pid}/task/{pid}/children"))).unwrap_or_default();
    let children = listed.split_ascii_whitespace().filter_map(|word| word.parse().ok());
    let of_children: f64 = children.filter_map(with_waited_for).sum();
    Some(with_waited_for(pid)? + of_children)
}

/// utime + stime of the `stat` of a process or of a thread, by its directory, seconds.
pub(crate) fn cpu_s(directory: &Path) -> Option<f64> {
    let stat = text(&directory.join("stat"))?;
    let field = stat_fields(&stat)?.1;
    Some((field(14)? + field(15)?) / rustix::param::clock_ticks_per_second() as f64)
}

/// The name in a `stat`, and its numeric fields by their numbers in proc(5). The name may hold spaces and parentheses:
/// fields count from the last one, and the first after it is field 3.
pub(crate) fn stat_fields(stat: &str) -> Option<(&str, impl Fn(usize) -> Option<f64> + '_)> {
    let (head, rest) = stat.rsplit_once(')')?;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let field = move |number: usize| words.get(number.checked_sub(3)?)?.parse().ok();
    Some((head.split_once('(')?.1, field))
}

/// CPU time of a process, with its children where it is a database, and its resident set; all `None` once it is gone.
pub(crate) fn process(proc: &Path, pid: u32, is_database: bool, figures: &mut HostFigures) {
    let directory = proc.join(pid.to_string());
    figures.process_cpu_s = if is_database { family_cpu_of(proc, pid) } else { cpu_s(&directory) };
    figures.process_rss_bytes = text(&directory.join("statm")).and_then(|statm| {
        let pages: f64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as f64)
    });
}
