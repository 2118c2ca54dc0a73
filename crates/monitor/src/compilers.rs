//! CPU time of a JVM's compiler threads, from `/proc/PID/task/*/stat`.
//!
//! The JVM's own count (`CompilationMXBean`) is wall time: beside a load on few CPUs it is several times the CPU time.
//! Threads come and go (`UseDynamicNumberOfCompilerThreads`), so that the last value of each one that has ended is
//! kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::proc::{cpu_s, numbered, text};

/// How the kernel shows the name of those of HotSpot's compiler threads that compile well what runs often
/// (`C2 CompilerThread1`, cut to 15 characters).
const THOROUGH: &str = "C2 CompilerThre";
/// The names of all of them: the others compile quickly what has run a little.
const NAMES: [&str; 2] = ["C1 CompilerThre", THOROUGH];

/// Adds up what compiler threads of one process have used.
#[derive(Debug, Default)]
pub struct CompilerMeter {
    /// By thread: seconds.
    threads: BTreeMap<u32, f64>,
}

impl CompilerMeter {
    /// CPU time of all compiler threads that this meter has seen, seconds; `root` is `/`, or a made-up tree with a
    /// `proc` below it. `None`: the process is gone, or none of its threads is called like a compiler.
    pub fn read(&mut self, root: &Path, pid: u32) -> Option<f64> {
        let used =
            compiler_threads(root, pid, &NAMES).filter_map(|(thread, directory)| Some((thread, cpu_s(&directory)?)));
        self.threads.extend(used);
        (!self.threads.is_empty()).then(|| self.threads.values().sum())
    }
}

/// Ids of the threads of a process that compile now.
pub fn compiler_thread_ids(root: &Path, pid: u32) -> Vec<u32> {
    compiler_threads(root, pid, &NAMES).map(|(thread, _)| thread).collect()
}

/// Of these, the threads that compile well what runs often, and take most of the CPU time.
pub fn thorough_compiler_thread_ids(root: &Path, pid: u32) -> Vec<u32> {
    compiler_threads(root, pid, &[THOROUGH]).map(|(thread, _)| thread).collect()
}

/// Those with one of these names: each by its id, with its directory.
fn compiler_threads(root: &Path, pid: u32, names: &'static [&'static str]) -> impl Iterator<Item = (u32, PathBuf)> {
    let is_compiler =
        move |directory: &Path| text(&directory.join("comm")).is_some_and(|name| names.contains(&name.trim_end()));
    let threads = numbered(&root.join(format!("proc/{pid}/task"))).into_iter();
    threads.filter(move |(_, directory)| is_compiler(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_have_ended_still_count_and_others_do_not() {
        let root = tempfile::tempdir().unwrap();
        let thread = |id: u32, name: &str, ticks: u32| {
            let directory = root.path().join(format!("proc/42/task/{id}"));
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(directory.join("comm"), format!("{name}\n")).unwrap();
            let stat = format!("{id} ({name}) S 1 1 1 0 -1 0 0 0 0 0 {ticks} 50 0 0\n");
            std::fs::write(directory.join("stat"), stat).unwrap();
            directory
        };
        let hz = rustix::param::clock_ticks_per_second() as f64;
        let mut meter = CompilerMeter::default();
        assert_eq!(meter.read(root.path(), 42), None, "no such process");
        thread(43, "main", 900);
        assert_eq!(meter.read(root.path(), 42), None, "missing is not zero");
        thread(44, "C2 CompilerThre", 150);
        let first = thread(45, "C1 CompilerThre", 50);
        assert_eq!(meter.read(root.path(), 42), Some(300.0 / hz));
        assert_eq!(thorough_compiler_thread_ids(root.path(), 42), [44], "the other one compiles quickly");
        std::fs::remove_dir_all(first).unwrap();
        thread(44, "C2 CompilerThre", 250);
        thread(46, "C2 CompilerThre", 0);
        assert_eq!(meter.read(root.path(), 42), Some(450.0 / hz));
        let mut ids = compiler_thread_ids(root.path(), 42);
        ids.sort_unstable();
        assert_eq!(ids, [44, 46]);
    }
}
