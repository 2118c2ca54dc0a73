//! Which programs that are no part of a run have used this machine's CPUs, from `/proc/PID/stat`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use evidence::OtherProgram;

use crate::proc::{numbered, stat_fields, text};

/// Parent of all kernel threads: they work for those who ask them to.
const KTHREADD: u32 = 2;
/// How many programs are named, those that used most.
const NAMED: usize = 5;
/// CPUs below which a program is not worth its name.
const WORTH_NAMING: f64 = 0.01;
/// Processes above one another that are followed at most.
const DEEPEST: usize = 100;

/// What every process of a machine had used when a watch began.
#[derive(Debug)]
pub struct OthersWatch {
    began: Instant,
    before: BTreeMap<u32, Process>,
}

#[derive(Debug, Clone)]
struct Process {
    name: String,
    parent: u32,
    /// Clock ticks after boot: a pid may be given to another process.
    started: u64,
    /// CPU time, that of its children that have ended included, seconds.
    cpu_s: f64,
}

impl OthersWatch {
    /// From now on; `root` is `/`, or a made-up tree with a `proc` below it.
    pub fn begin(root: &Path) -> Self {
        Self { began: Instant::now(), before: processes(root) }
    }

    /// The programs outside of the run of process `own` that used most since then, by name. One that came and went
    /// between two looks is found in what its parent waited for, or not at all.
    pub fn end(&self, root: &Path, own: u32) -> Vec<OtherProgram> {
        self.used(root, own, self.began.elapsed().as_secs_f64())
    }

    fn used(&self, root: &Path, own: u32, seconds: f64) -> Vec<OtherProgram> {
        let now = processes(root);
        let of_the_run = family(&now, head(root, &now, own));
        let inherited = self.inherited(&now);
        let mut by_name = BTreeMap::<&str, f64>::new();
        for (pid, process) in &now {
            if of_the_run.contains(pid) || process.parent == KTHREADD || *pid == KTHREADD {
                continue;
            }
            let same = self.before.get(pid).filter(|before| before.started == process.started);
            let before_s = same.map_or(0.0, |before| before.cpu_s) + inherited.get(pid).unwrap_or(&0.0);
            *by_name.entry(&process.name).or_default() += (process.cpu_s - before_s).max(0.0);
        }
        let mut programs: Vec<OtherProgram> = by_name
            .into_iter()
            .map(|(name, cpu_s)| OtherProgram { name: name.to_owned(), cpus: cpu_s / seconds.max(1e-3) })
            .filter(|program| program.cpus >= WORTH_NAMING)
            .collect();
        programs.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
        programs.truncate(NAMED);
        programs
    }

    /// What processes that have ended since had used before: their nearest ancestor that is left has it now, seconds.
    fn inherited(&self, now: &BTreeMap<u32, Process>) -> BTreeMap<u32, f64> {
        let is_left = |pid: u32, process: &Process| now.get(&pid).is_some_and(|now| now.started == process.started);
        let mut inherited = BTreeMap::new();
        for (_, ended) in self.before.iter().filter(|(pid, process)| !is_left(**pid, process)) {
            let above = |pid: &u32| Some(self.before.get(pid).filter(|parent| !is_left(*pid, parent))?.parent);
            let heir = std::iter::successors(Some(ended.parent), above).take(DEEPEST).last();
            *inherited.entry(heir.unwrap_or(ended.parent)).or_default() += ended.cpu_s;
        }
        inherited
    }
}

/// The process that a run begins with: on one machine the controller, whose program its agents are, too.
fn head(root: &Path, processes: &BTreeMap<u32, Process>, own: u32) -> u32 {
    let program = |pid: u32| std::fs::read_link(root.join(format!("proc/{pid}/exe"))).ok();
    let parent = processes.get(&own).map_or(own, |process| process.parent);
    match program(parent) {
        Some(of_parent) if Some(&of_parent) == program(own).as_ref() => parent,
        _ => own,
    }
}

/// A process and all that descend from it.
fn family(processes: &BTreeMap<u32, Process>, head: u32) -> BTreeSet<u32> {
    let mut family = BTreeSet::from([head]);
    loop {
        let children =
            processes.iter().filter(|(pid, process)| family.contains(&process.parent) && !family.contains(*pid));
        let children: Vec<u32> = children.map(|(pid, _)| *pid).collect();
        if children.is_empty() {
            return family;
        }
        family.extend(children);
    }
}

fn processes(root: &Path) -> BTreeMap<u32, Process> {
    let all = numbered(&root.join("proc")).into_iter();
    all.filter_map(|(pid, path)| Some((pid, process(&text(&path.join("stat"))?)?))).collect()
}

fn process(stat: &str) -> Option<Process> {
    let (name, field) = stat_fields(stat)?;
    // ppid is field 4; utime, stime, cutime, cstime are 14 to 17; starttime is 22.
    let ticks: Option<f64> = (14..=17).map(&field).sum();
    Some(Process {
        name: name.to_owned(),
        parent: field(4)? as u32,
        started: field(22)? as u64,
        cpu_s: ticks? / rustix::param::clock_ticks_per_second() as f64,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn gone(&self, pid: u32) {
            std::fs::remove_dir_all(self.0.path().join(format!("proc/{pid}"))).unwrap();
        }

        fn process(&self, pid: u32, name: &str, parent: u32, started: u32, cpu_s: f64) {
            let directory = self.0.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&directory).unwrap();
            let ticks = (cpu_s * rustix::param::clock_ticks_per_second() as f64) as u64;
            let stat = format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {started} 0 0\n");
            std::fs::write(directory.join("stat"), stat).unwrap();
            let exe = directory.join("exe");
            let _ = std::fs::remove_file(&exe);
            symlink(format!("/bin/{name}"), exe).unwrap();
        }
    }

    #[test]
    fn programs_outside_of_the_run_are_named_with_what_they_used() {
        let machine = Machine(tempfile::tempdir().unwrap());
        let root = machine.0.path();
        let tree = |times: f64| {
            machine.process(2, "kthreadd", 0, 1, 0.0);
            machine.process(3, "kworker/0:1", 2, 1, 5.0 * times);
            machine.process(10, "bash", 1, 1, 0.0);
            machine.process(11, "iopslab", 10, 1, 1.0 * times);
            machine.process(12, "iopslab", 11, 1, 1.0 * times);
            machine.process(13, "java", 12, 1, 9.0 * times);
            machine.process(20, "java", 1, 1, 2.0 * times);
            machine.process(21, "a (b) c", 10, 1, 4.0 * times);
            machine.process(22, "sleep", 1, 1, 0.01);
            // It had waited for 60 s of compilation in all by the second look, 59 of them used before the first.
            machine.process(24, "make", 1, 1, 60.0 * (times - 1.0));
        };
        tree(1.0);
        machine.process(25, "sh", 24, 1, 9.0);
        machine.process(26, "cc1", 25, 1, 50.0);
        machine.process(23, "old", 1, 1, 100.0);
        let watch = OthersWatch::begin(root);
        tree(2.0);
        machine.gone(25);
        machine.gone(26);
        // Another process that has got the same pid.
        machine.process(23, "rustc", 10, 2, 3.0);
        let named = |own| -> Vec<(String, f64)> {
            let programs = watch.used(root, own, 10.0).into_iter();
            programs.map(|program| (program.name, program.cpus)).collect()
        };
        let outside = [("a (b) c", 0.4), ("rustc", 0.3), ("java", 0.2), ("make", 0.1)]
            .map(|(name, cpus)| (name.to_owned(), cpus));
        assert_eq!(named(12), outside, "the controller and its other agents are of the run");
        assert_eq!(named(13).first().map(|(name, _)| name.as_str()), Some("a (b) c"));
        let beside = named(20);
        assert!(beside.iter().any(|(name, _)| name == "iopslab"), "another run is somebody else: {beside:?}");
    }

    /// This very process is of the run, and costs what it costs.
    #[test]
    fn a_real_machine_is_read() {
        let own = std::process::id();
        let watch = OthersWatch::begin(Path::new("/"));
        assert!(watch.before.contains_key(&own));
        let named = watch.end(Path::new("/"), own);
        assert!(named.len() <= NAMED && named.iter().all(|program| program.cpus.is_finite()));
    }
}
