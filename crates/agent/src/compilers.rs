//! Priorities of a JVM's compilers among its threads: last while the database starts, first from then on.
//!
//! A start runs through much code a few times. What the thorough compilers make of it comes too late to shorten it, and
//! on few CPUs they take these from it: measured on two quiet cores, 3.1 s to the first CQL answer instead of 3.9, with
//! 5.3 s of CPU instead of 6.9. The quick ones come last nowhere: what they make is used at once.

use std::path::Path;

use rustix::process::{Pid, setpriority_process};

/// Priority of all compilers once the database answers: the highest. Beside 32 requests in flight on two CPUs they got
/// a fifth of a CPU without it, and 0.6 of one at -10. They keep it when limits come into force: what is left to be
/// compiled is done in the warm-up then, and not in a fifteenth of the CPU throughout the window.
const FIRST: i32 = -20;
/// That of the thorough ones until it has settled: the lowest.
const LAST: i32 = 19;

/// Whether the compilers of this process come before its other threads now; not where the system refuses.
pub(super) fn put_first(pid: u32) -> bool {
    // A thread that has ended meanwhile needs nothing.
    count(monitor::compiler_thread_ids(Path::new("/"), pid), |thread| is_put(thread, FIRST)) > 0
}

/// Has the thorough compilers of this process come after its other threads, until [`put_first`]; not where the system
/// would refuse that. Whether it has compilers at all now: the thorough ones, if any, come first.
pub(super) fn put_last(pid: u32) -> bool {
    let put = |thread| is_put(thread, FIRST) && is_put(thread, LAST);
    count(monitor::thorough_compiler_thread_ids(Path::new("/"), pid), put);
    !monitor::compiler_thread_ids(Path::new("/"), pid).is_empty()
}

fn count(threads: Vec<u32>, put: impl Fn(Pid) -> bool) -> usize {
    let thread = |id: u32| i32::try_from(id).ok().and_then(Pid::from_raw);
    threads.into_iter().filter_map(thread).filter(|thread| put(*thread)).count()
}

/// Linux takes the id of a thread for that of a process here, and changes that thread alone (setpriority(2)).
fn is_put(thread: Pid, nice: i32) -> bool {
    setpriority_process(Some(thread), nice).is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use rustix::process::getpriority_process;
    use rustix::thread::gettid;

    use super::*;

    /// Threads of this process that are called as the JVM's compilers are.
    #[test]
    fn while_a_database_starts_its_thorough_compilers_come_last_and_then_all_come_first() {
        // Of a thread of its own, which keeps that.
        if !std::thread::spawn(|| is_put(gettid(), FIRST)).join().unwrap() {
            println!("skipped: the system refuses higher priorities here");
            return;
        }
        let start = |name: &str| {
            let (say, said) = channel();
            let (stay, stays) = channel::<()>();
            let run = move || {
                say.send(gettid()).unwrap();
                // Until the sender is gone.
                let _ = stays.recv();
            };
            std::thread::Builder::new().name(name.to_owned()).spawn(run).unwrap();
            (said.recv().unwrap(), stay)
        };
        let pid = std::process::id();
        let nice = |(thread, _): &(Pid, _)| getpriority_process(Some(*thread)).unwrap();
        assert!(!put_last(pid) && !put_first(pid), "it has no compilers yet");
        let main = start("main");
        let (quick, thorough) = (start("C1 CompilerThread0"), start("C2 CompilerThread0"));
        let usual = nice(&main);
        assert!(put_last(pid));
        assert_eq!([&main, &quick, &thorough].map(nice), [usual, usual, LAST]);
        assert!(put_first(pid));
        assert_eq!([&main, &quick, &thorough].map(nice), [usual, FIRST, FIRST]);
    }
}
