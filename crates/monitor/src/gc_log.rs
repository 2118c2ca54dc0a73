//! The JVM's unified GC log: how often and how long the world stood still.
//!
//! A line of JDK 11 to 21 with `-Xlog:gc*`: `[12.345s][info][gc] GC(7) Pause Young (Normal) (G1 Evacuation Pause)
//! 24M->4M(256M) 3.123ms`. Only lines with the plain tag `gc` carry the whole pause; `gc,phases` and the others repeat
//! parts of it. Cassandra's own configuration asks for `gc=info` without tags: there a line ends its decorations with
//! the level, and a pause with its time is one of the plain tag.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use reported::{Reported, jvm};

/// Bytes that are read at a time.
const PIECE_BYTES: u64 = 1 << 20;
/// Most bytes of a look, so that who writes faster than this reads keeps no sample from being taken. The first look at
/// a process that has served other trials has all of their log to read: 10 KB a minute.
const LOOK_MOST_BYTES: u64 = 256 << 20;
/// Most bytes of a line: one of a pause has 150.
const LINE_MOST_BYTES: usize = 64 << 10;

/// Levels of the unified log: the last decoration of a line without tags.
const LEVELS: [&str; 5] = ["trace", "debug", "info", "warning", "error"];

/// Where a log is, and how it is opened: the database writes it, which could have put a pipe or a link there.
#[derive(Debug, Clone)]
pub struct LogSource {
    /// Where it is.
    pub path: PathBuf,
    /// Opens a regular file, or nothing.
    pub open: fn(&Path) -> io::Result<File>,
}

/// Reads what was appended since the last look.
#[derive(Debug)]
pub(crate) struct GcLog {
    log: LogSource,
    offset: u64,
    partial: String,
    /// Whether the line at the end is longer than any of a pause: the rest of it is passed over.
    is_long: bool,
    pauses: f64,
    total_s: f64,
    longest_s: f64,
    seen: bool,
}

impl GcLog {
    pub fn new(log: LogSource) -> Self {
        Self {
            log,
            offset: 0,
            partial: String::new(),
            is_long: false,
            pauses: 0.0,
            total_s: 0.0,
            longest_s: 0.0,
            seen: false,
        }
    }

    pub fn read(&mut self, reported: &mut Reported) {
        if self.take_in().is_some() {
            self.seen = true;
        }
        if self.seen {
            reported.set(&jvm::GC_PAUSES, Some(self.pauses));
            reported.set(&jvm::GC_PAUSE_S, Some(self.total_s));
            reported.set(&jvm::GC_LONGEST_PAUSE_S, Some(self.longest_s));
        }
    }

    /// Counts what was added; `None`: the log cannot be read.
    fn take_in(&mut self) -> Option<()> {
        let mut file = (self.log.open)(&self.log.path).ok()?;
        if file.metadata().ok()?.len() < self.offset {
            // Rotated: this is the next one.
            (self.offset, self.is_long) = (0, false);
        }
        file.seek(SeekFrom::Start(self.offset)).ok()?;
        let (mut piece, mut left) = (Vec::new(), LOOK_MOST_BYTES);
        loop {
            piece.clear();
            let read = file.by_ref().take(PIECE_BYTES.min(left)).read_to_end(&mut piece).ok()? as u64;
            self.offset += read;
            left -= read;
            self.count(&String::from_utf8_lossy(&piece));
            if read < PIECE_BYTES {
                return Some(());
            }
        }
    }

    fn count(&mut self, mut added: &str) {
        if self.is_long {
            let Some((_, next)) = added.split_once('\n') else { return };
            (added, self.is_long) = (next, false);
        }
        self.partial.push_str(added);
        // A line without its end waits for the rest.
        let complete = self.partial.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.partial.split_off(complete);
        for pause_s in std::mem::replace(&mut self.partial, rest).lines().filter_map(pause) {
            self.pauses += 1.0;
            self.total_s += pause_s;
            self.longest_s = self.longest_s.max(pause_s);
        }
        if self.partial.len() > LINE_MOST_BYTES {
            (self.partial, self.is_long) = (String::new(), true);
        }
    }
}

/// Seconds of the pause that a line reports.
fn pause(line: &str) -> Option<f64> {
    let (decorations, message) = line.split_once("] GC(")?;
    let tags = decorations.rsplit('[').next()?.trim();
    let message = message.split_once(") ")?.1;
    let is_whole = tags == "gc" || LEVELS.contains(&tags);
    if !is_whole || !message.starts_with("Pause") {
        return None;
    }
    message.trim_end().strip_suffix("ms")?.rsplit(' ').next()?.parse::<f64>().ok().map(|ms| ms / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn log(path: &Path) -> GcLog {
        GcLog::new(LogSource { path: path.to_owned(), open: |path| File::open(path) })
    }

    #[test]
    fn only_whole_pauses_count() {
        let line = "[12.345s][info][gc] GC(7) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.123ms";
        assert!((pause(line).unwrap() - 0.003_123).abs() < 1e-12);
        assert_eq!(pause("[1.0s][info][gc,phases   ] GC(7)   Evacuate Collection Set: 2.8ms"), None);
        assert_eq!(pause("[1.0s][info][gc          ] GC(8) Concurrent Mark Cycle 12.1ms"), None);
        assert_eq!(pause("[1.0s][info][gc          ] GC(9) Pause Remark 30M->30M(256M) 1.5ms"), Some(0.0015));
        assert_eq!(pause("[1.0s][info][gc,start    ] GC(9) Pause Remark"), None);
    }

    /// Lines of JDK 17 with the decorations that the database's own `-Xlog` asks for (time,uptime,level,tags).
    #[test]
    fn lines_as_the_database_writes_them() {
        let pauses: Vec<f64> = [
            "[2026-11-21T00:26:25.636+0000][0.599s][info][gc,start    ] GC(0) Pause Young (Normal) \
             (G1 Evacuation Pause)",
            "[2026-11-21T00:26:25.636+0000][0.599s][info][gc,cpu      ] GC(0) User=0.01s Sys=0.00s Real=0.00s",
            "[2026-11-21T00:26:25.636+0000][0.599s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation \
             Pause) 6M->3M(64M) 5.292ms",
            "[2026-11-21T00:26:25.637+0000][0.599s][info][safepoint   ] Safepoint \"G1CollectForAllocation\", Time \
             since last: 572761595 ns, Reaching safepoint: 1591683 ns, Cleanup: 79388 ns, At safepoint: 5343055 ns, \
             Total: 7014126 ns",
            "[2026-11-21T00:26:26.053+0000][1.015s][info][gc          ] GC(3) Pause Young (Normal) (G1 Evacuation \
             Pause) 30M->6M(64M) 8.873ms",
        ]
        .into_iter()
        .filter_map(pause)
        .collect();
        assert_eq!(pauses.len(), 2);
        assert!((pauses.iter().sum::<f64>() - 0.014_165).abs() < 1e-12, "{pauses:?}");
    }

    /// `-Xlog:gc=info,...:time,uptime,pid,tid,level`, as `jvm11-server.options` of Cassandra has it.
    #[test]
    fn lines_without_tags_are_those_of_the_plain_tag() {
        let line = "[2026-11-21T00:26:25.636+0000][0.599s][4711][4720][info ] GC(7) Pause Young (Normal) (G1 \
                    Evacuation Pause) 24M->4M(256M) 3.123ms";
        assert!((pause(line).unwrap() - 0.003_123).abs() < 1e-12);
        let heap = "[2026-11-21T00:26:25.636+0000][0.599s][4711][4720][trace] GC(7) Eden regions: 12->0(10)";
        assert_eq!(pause(heap), None);
    }

    #[test]
    fn a_log_that_was_rotated_is_read_from_its_start() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("gc.log");
        let line = |ms: f64| format!("[1s][info][gc] GC(0) Pause Young (Normal) 24M->4M(256M) {ms:.1}ms\n");
        std::fs::write(&path, line(2.0) + &line(3.0)).unwrap();
        let (mut log, mut figures) = (log(&path), Reported::default());
        log.read(&mut figures);
        std::fs::write(&path, line(4.0)).unwrap();
        log.read(&mut figures);
        assert_eq!(figures.get(&jvm::GC_PAUSES), Some(3.0));
        assert!((figures.get(&jvm::GC_PAUSE_S).unwrap() - 0.009).abs() < 1e-12);
    }

    #[test]
    fn a_partial_last_line_waits_for_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("gc.log");
        let mut log = log(&path);
        let mut figures = Reported::default();
        log.read(&mut figures);
        assert_eq!(figures.get(&jvm::GC_PAUSES), None, "no log yet");
        let mut file = File::create(&path).unwrap();
        write!(file, "[1s][info][gc] GC(0) Pause Young (Normal) 24M->4M(256M) 2.0ms\n[2s][info][gc] GC(1) Pause Young")
            .unwrap();
        log.read(&mut figures);
        assert_eq!((figures.get(&jvm::GC_PAUSES), figures.get(&jvm::GC_PAUSE_S)), (Some(1.0), Some(0.002)));
        writeln!(file, " (Normal) 24M->4M(256M) 6.0ms").unwrap();
        log.read(&mut figures);
        assert_eq!((figures.get(&jvm::GC_PAUSES), figures.get(&jvm::GC_PAUSE_S)), (Some(2.0), Some(0.008)));
        assert_eq!(figures.get(&jvm::GC_LONGEST_PAUSE_S), Some(0.006));
    }

    /// What does not end was kept in memory as a whole.
    #[test]
    fn a_line_that_does_not_end_is_passed_over_and_the_next_one_counts() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("gc.log");
        let line = "[1s][info][gc] GC(0) Pause Young (Normal) 24M->4M(256M) 2.0ms\n";
        std::fs::write(&path, "x".repeat(3 << 20)).unwrap();
        let (mut log, mut figures) = (log(&path), Reported::default());
        log.read(&mut figures);
        assert_eq!((figures.get(&jvm::GC_PAUSES), log.partial.len()), (Some(0.0), 0));
        let mut file = File::options().append(true).open(&path).unwrap();
        write!(file, "{line}{line}").unwrap();
        log.read(&mut figures);
        assert_eq!(figures.get(&jvm::GC_PAUSES), Some(1.0), "the first is the end of the long one");
    }
}
