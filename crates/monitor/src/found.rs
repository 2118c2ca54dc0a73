//! A process that somebody else started: which one it is, and what it has open.
//!
//! Whose process it is decides what may be seen: its command line, its CPU time and its memory are open to everybody,
//! its open files to its own user and to root (proc(5), "ptrace access mode").

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::proc::{numbered, text};

/// `st` of a socket that listens, in `/proc/net/tcp` (include/net/tcp_states.h: `TCP_LISTEN`).
const LISTENS: &str = "0A";

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProcess {
    root: PathBuf,
    /// Its number.
    pub pid: u32,
    /// Its short name, such as `java`.
    pub name: String,
}

/// Why there is no such process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFound {
    /// Nothing listens there; nobody is called so.
    None,
    /// Something listens, and whose it is may not be seen.
    Hidden,
    /// More than one, each as `java (4711)`.
    Several(Vec<String>),
}

/// A file that a process has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFile {
    /// As the process calls it, which may be in a container.
    pub name: String,
    /// By which it is reached from outside.
    pub path: PathBuf,
}

/// Where a process writes about its garbage collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GcLogPlace {
    /// In this file, whose lines can be read.
    File(PathBuf),
    /// In this file, whose lines do not say enough of themselves.
    Bare(PathBuf),
    /// Nowhere that its command line names.
    Nowhere,
}

impl FoundProcess {
    /// The process that listens on one of these TCP ports, of the network that this program is in. `root`: `/`, or a
    /// made-up tree.
    ///
    /// # Errors
    /// There is none, or more than one, or it may not be seen.
    pub fn listening(root: &Path, ports: &[u16]) -> Result<Self, NotFound> {
        let sockets = sockets(root, ports);
        if sockets.is_empty() {
            return Err(NotFound::None);
        }
        let mut hidden = false;
        let mut has_one = |pid: &u32| {
            let links = std::fs::read_dir(root.join(format!("proc/{pid}/fd")));
            // One that has just ended is gone; others keep theirs from this user.
            hidden |= links.as_ref().is_err_and(|error| error.kind() != ErrorKind::NotFound);
            let mut links = links.into_iter().flatten().flatten();
            links.any(|link| std::fs::read_link(link.path()).is_ok_and(|to| sockets.contains(&*to.to_string_lossy())))
        };
        let mut found = processes(root);
        found.retain(|pid| has_one(pid));
        Self::one(root, found, if hidden { NotFound::Hidden } else { NotFound::None })
    }

    /// The process that has these words in its command line, this one left out.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub fn called(root: &Path, words: &str) -> Result<Self, NotFound> {
        let own = std::process::id();
        let is_called = |pid: &u32| *pid != own && command_line(root, *pid).join(" ").contains(words);
        Self::one(root, processes(root).into_iter().filter(is_called).collect(), NotFound::None)
    }

    fn one(root: &Path, pids: Vec<u32>, none: NotFound) -> Result<Self, NotFound> {
        let found = |pid| Self {
            root: root.to_owned(),
            pid,
            name: text(&root.join(format!("proc/{pid}/comm"))).unwrap_or_default().trim().to_owned(),
        };
        match pids.as_slice() {
            [] => Err(none),
            [pid] => Ok(found(*pid)),
            several => {
                let each = several.iter().map(|pid| found(*pid));
                Err(NotFound::Several(each.map(|p| format!("{} ({})", p.name, p.pid)).collect()))
            }
        }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root.join(format!("proc/{}/{below}", self.pid))
    }

    /// How many CPUs it may run on.
    pub fn cpus(&self) -> Option<u32> {
        let status = text(&self.path("status"))?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        let count = |part: &str| -> Option<u32> {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            (last.parse::<u32>().ok()? + 1).checked_sub(first.parse().ok()?)
        };
        list.trim().split(',').map(count).sum()
    }

    /// The files that it has open or mapped; `None` where this user may not look.
    pub fn open_files(&self) -> Option<Vec<OpenFile>> {
        let links = std::fs::read_dir(self.path("fd")).ok()?;
        let opened = links.flatten().filter_map(|link| {
            let name = std::fs::read_link(link.path()).ok()?.to_string_lossy().into_owned();
            Some(OpenFile { name, path: link.path() })
        });
        let mut files: Vec<OpenFile> = opened.filter(|file| file.name.starts_with('/')).collect();
        let maps = text(&self.path("maps")).unwrap_or_default();
        let names: BTreeSet<&str> = maps.lines().filter_map(|line| Some(&line[line.find('/')?..])).collect();
        files.extend(names.into_iter().map(|name| OpenFile { name: name.to_owned(), path: self.inside(name) }));
        Some(files)
    }

    /// An absolute path of the process, as it is reached from outside.
    fn inside(&self, path: &str) -> PathBuf {
        let by_root = self.path("root").join(path.trim_start_matches('/'));
        match by_root.exists() {
            true => by_root,
            // What is not in a container has the same name here.
            false => PathBuf::from(path),
        }
    }

    /// Where its garbage collector's pauses are written, by `-Xlog` of its command line.
    pub fn gc_log(&self) -> GcLogPlace {
        let words = command_line(&self.root, self.pid);
        let logs = words.iter().filter_map(|word| word.strip_prefix("-Xlog:"));
        let (mut found, pid) = (GcLogPlace::Nowhere, self.pid.to_string());
        for log in logs {
            let parts: Vec<&str> = log.split(':').collect();
            let file = parts.get(1).and_then(|output| output.strip_prefix("file="));
            let Some(file) = file.filter(|_| parts[0].split(',').any(is_of_pauses)) else { continue };
            let file = file.trim_matches('"').replace("%p", &pid);
            let path = match Path::new(&file).is_absolute() {
                true => self.inside(&file),
                false => self.path("cwd").join(file),
            };
            let decorations = parts.get(2).copied().unwrap_or_default();
            let reported = |names: [&str; 2]| decorations.split(',').any(|d| names.contains(&d));
            // Without any said, a line has its level and its tags.
            found = match decorations.is_empty() || reported(["tags", "tg"]) || reported(["level", "l"]) {
                true => GcLogPlace::File(path),
                false => GcLogPlace::Bare(path),
            };
        }
        found
    }
}

/// Whether a selection of `-Xlog` has the lines on pauses: `gc`, `gc*`, at level info or below.
fn is_of_pauses(selection: &str) -> bool {
    let (tags, level) = selection.split_once('=').unwrap_or((selection, "info"));
    ["gc", "gc*", "all"].contains(&tags) && ["info", "debug", "trace"].contains(&level)
}

fn command_line(root: &Path, pid: u32) -> Vec<String> {
    let line = std::fs::read(root.join(format!("proc/{pid}/cmdline"))).unwrap_or_default();
    let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

fn processes(root: &Path) -> Vec<u32> {
    numbered(&root.join("proc")).into_keys().collect()
}

/// The sockets that listen on these ports, as links of open files name them: `socket:[4711]`.
fn sockets(root: &Path, ports: &[u16]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        let table = text(&root.join("proc/net").join(table)).unwrap_or_default();
        found.extend(table.lines().filter_map(|line| {
            // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let port = u16::from_str_radix(words.get(1)?.rsplit_once(':')?.1, 16).ok()?;
            (*words.get(3)? == LISTENS && ports.contains(&port))
                .then(|| format!("socket:[{}]", words.get(9).copied().unwrap_or_default()))
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with processes by number: name, command line, open files.
    fn tree(processes: &[(u32, &str, &str, &[&str])]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: String, content: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        write(
            "proc/net/tcp".to_owned(),
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             \x20  0: 0100007F:2352 00000000:0000 0A 00000000:00000000 00:00000000 00000000   0 0 \
             1001 1 0 100 0 0 10 0\n\
             \x20  1: 0100007F:2352 0100007F:D431 01 00000000:00000000 00:00000000 00000000   0 0 \
             1002 1 0 100 0 0 10 0\n",
        );
        write(
            "proc/net/tcp6".to_owned(),
            "   0: 00000000000000000000000000000000:2353 00000000000000000000000000000000:0000 0A 00000000:00000000 \
             00:00000000 00000000   0 0 1003 1 0 100 0 0 10 0\n",
        );
        for (pid, name, line, files) in processes {
            write(format!("proc/{pid}/comm"), &format!("{name}\n"));
            write(format!("proc/{pid}/cmdline"), &(line.replace(' ', "\0") + "\0"));
            write(format!("proc/{pid}/status"), "Name:\tx\nCpus_allowed_list:\t0-2,7\n");
            let directory = root.path().join(format!("proc/{pid}/fd"));
            std::fs::create_dir_all(&directory).unwrap();
            for (number, file) in files.iter().enumerate() {
                std::os::unix::fs::symlink(file, directory.join(number.to_string())).unwrap();
            }
        }
        root
    }

    #[test]
    fn the_one_that_listens_is_found_and_a_connection_to_it_is_not_it() {
        let root = tree(&[
            (7, "client", "client", &["socket:[1002]"]),
            (42, "java", "java CassandraDaemon", &["/dev/null", "socket:[1001]"]),
            (43, "other", "other", &["socket:[1003]"]),
        ]);
        let found = FoundProcess::listening(root.path(), &[9042]).unwrap();
        assert_eq!((found.pid, found.name.as_str(), found.cpus()), (42, "java", Some(4)));
        assert_eq!(FoundProcess::listening(root.path(), &[9043]).unwrap().pid, 43);
        assert_eq!(FoundProcess::listening(root.path(), &[9044]), Err(NotFound::None));
        let both = Err(NotFound::Several(vec!["java (42)".to_owned(), "other (43)".to_owned()]));
        assert_eq!(FoundProcess::listening(root.path(), &[9042, 9043]), both);
        let own = root.path().join("proc/42/fd");
        std::fs::remove_dir_all(&own).unwrap();
        assert_eq!(FoundProcess::listening(root.path(), &[9042]), Err(NotFound::None), "it has just ended");
        // What cannot be listed may be the one.
        std::fs::write(&own, "").unwrap();
        assert_eq!(FoundProcess::listening(root.path(), &[9042]), Err(NotFound::Hidden));
    }

    #[test]
    fn words_of_the_command_line_name_one_process_or_none() {
        let root = tree(&[(1, "a", "java Daemon one", &[]), (2, "b", "java Daemon two", &[])]);
        assert_eq!(FoundProcess::called(root.path(), "Daemon two").unwrap().pid, 2);
        assert_eq!(FoundProcess::called(root.path(), "scylla"), Err(NotFound::None));
        let both = Err(NotFound::Several(vec!["a (1)".to_owned(), "b (2)".to_owned()]));
        assert_eq!(FoundProcess::called(root.path(), "Daemon"), both);
    }

    #[test]
    fn open_files_are_those_with_a_name_and_what_is_mapped() {
        let root = tree(&[(9, "java", "java", &["socket:[1001]", "/data/ks/t/nb-1-big-Data.db"])]);
        let found = FoundProcess::called(root.path(), "java").unwrap();
        let map = "7f00-7f01 r--s 00000000 08:01 12  /log/CommitLog-7-1.log\n7f02-7f03 rw-p 00000000 00:00 0\n";
        std::fs::write(root.path().join("proc/9/maps"), map).unwrap();
        let files = found.open_files().unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["/data/ks/t/nb-1-big-Data.db", "/log/CommitLog-7-1.log"]);
        assert_eq!(files[0].path, root.path().join("proc/9/fd/1"));
        std::fs::remove_dir_all(root.path().join("proc/9/fd")).unwrap();
        assert_eq!(found.open_files(), None, "not to be seen is not none");
    }

    #[test]
    fn a_collectors_log_is_one_whose_lines_say_what_they_are() {
        let of = |line: &str| {
            let root = tree(&[(5, "java", line, &[])]);
            FoundProcess::called(root.path(), "java").unwrap().gc_log()
        };
        let file = || GcLogPlace::File(PathBuf::from("/no/gc-5.log"));
        for (line, expected) in [
            (
                "java \
                 -Xlog:gc=info,heap*=trace,safepoint=info:file=/no/gc-%p.log:time,uptime,pid,tid,level:filecount=10",
                file(),
            ),
            ("java -Xlog:gc*:file=/no/gc-5.log", file()),
            ("java -Xlog:gc*:file=/no/gc-5.log:uptime,tags", file()),
            ("java -Xlog:gc*:file=/no/gc-5.log:uptime", GcLogPlace::Bare(PathBuf::from("/no/gc-5.log"))),
            ("java -Xlog:gc*", GcLogPlace::Nowhere),
            ("java -Xlog:gc=warning:file=/no/gc-5.log", GcLogPlace::Nowhere),
            ("java -Xloggc:/no/gc-5.log", GcLogPlace::Nowhere),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
        // A name that begins where the process was started.
        let root = tree(&[(5, "java", "java -Xlog:gc*:file=logs/gc.log", &[])]);
        let found = FoundProcess::called(root.path(), "java").unwrap().gc_log();
        assert_eq!(found, GcLogPlace::File(root.path().join("proc/5/cwd/logs/gc.log")));
    }
}
