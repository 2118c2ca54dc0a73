//! The JVM's unified GC log: how often and how long the world stood still.
//!
//! A line of JDK 11 to 21 with `-Xlog:gc*`: `[12.345s][info][gc] GC(7) Pause Young (Normal) (G1 Evacuation Pause)
//! 24M->4M(256M) 3.123ms`. Only lines with the plain tag `gc` carry the whole pause; `gc,phases` and the others repeat
//! parts of it. Cassandra's own configuration asks for `gc=info` without tags: there a line ends its decorations with
//! the level, and a pause with its time is one of the plain tag. The JVM writes numbers as the language of its
//! environment has them: `3,123ms` in German.

use std::path::PathBuf;

use guarded::GrowingLog;
use reported::{Reported, jvm};

/// Levels of the unified log: the last decoration of a line without tags.
const LEVELS: [&str; 5] = ["trace", "debug", "info", "warning", "error"];

/// Reads what was appended since the last look.
#[derive(Debug)]
pub(crate) struct GcLog {
    log: GrowingLog,
    pauses: f64,
    total_s: f64,
    longest_s: f64,
    seen: bool,
}

impl GcLog {
    pub fn new(log: PathBuf) -> Self {
        Self { log: GrowingLog::from_start(log), pauses: 0.0, total_s: 0.0, longest_s: 0.0, seen: false }
    }

    pub fn read(&mut self, reported: &mut Reported) {
        let Self { log, pauses, total_s, longest_s, seen } = self;
        let read = log.new_lines(|line| {
            if let Some(pause_s) = pause(line) {
                *pauses += 1.0;
                *total_s += pause_s;
                *longest_s = f64::max(*longest_s, pause_s);
            }
        });
        *seen |= read.is_ok();
        if *seen {
            reported.set(&jvm::GC_PAUSES, Some(*pauses));
            reported.set(&jvm::GC_PAUSE_S, Some(*total_s));
            reported.set(&jvm::GC_LONGEST_PAUSE_S, Some(*longest_s));
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
    let ms = message.trim_end().strip_suffix("ms")?.rsplit(' ').next()?;
    ms.replace(',', ".").parse::<f64>().ok().map(|ms| ms / 1e3)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::*;

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

    /// Of a database that somebody else has started: its pauses were none.
    #[test]
    fn a_decimal_comma_is_a_decimal_point() {
        let line = "[0,599s][info][gc          ] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 30M->6M(64M) 8,873ms";
        assert!((pause(line).unwrap() - 0.008_873).abs() < 1e-12);
    }

    #[test]
    fn a_partial_last_line_waits_for_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("gc.log");
        let mut log = GcLog::new(path.clone());
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
}
