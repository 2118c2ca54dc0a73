//! Logs that somebody else writes on, which may turn into something else at any time.

use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use crate::read::open_no_link;

/// Most bytes of a line; a longer one is passed over.
const LINE_MOST_BYTES: u64 = 64 << 10;
/// Most bytes of a look, so that who writes faster than this reads keeps nobody waiting.
const LOOK_MOST_BYTES: u64 = 256 << 20;

/// A log that is read as it grows, as a regular file and through no link.
#[derive(Debug)]
pub struct GrowingLog {
    path: PathBuf,
    /// Bytes that have been taken in.
    offset: u64,
    /// Whether what follows is the rest of a line that was too long.
    is_long: bool,
}

impl GrowingLog {
    /// From its first line on.
    pub fn from_start(path: PathBuf) -> Self {
        Self { path, offset: 0, is_long: false }
    }

    /// From its end as it is now, or its first line where it does not exist.
    pub fn from_now(path: PathBuf) -> Self {
        let offset = open_no_link(&path).and_then(|file| file.metadata()).map_or(0, |found| found.len());
        Self { offset, ..Self::from_start(path) }
    }

    /// Hands over each line that was added since the last look. One without its end waits for the next one; a log that
    /// has become shorter was rotated, and is read from its start.
    ///
    /// # Errors
    /// As [`open_no_link`], or it cannot be read.
    pub fn new_lines(&mut self, mut take: impl FnMut(&str)) -> io::Result<()> {
        let mut file = open_no_link(&self.path)?;
        if file.metadata()?.len() < self.offset {
            (self.offset, self.is_long) = (0, false);
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut reader = BufReader::with_capacity(LINE_MOST_BYTES as usize, file.take(LOOK_MOST_BYTES));
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.by_ref().take(LINE_MOST_BYTES).read_until(b'\n', &mut line)? as u64;
            let is_whole = line.last() == Some(&b'\n');
            if !is_whole && read < LINE_MOST_BYTES {
                return Ok(());
            }
            self.offset += read;
            if is_whole && !self.is_long {
                take(&String::from_utf8_lossy(&line));
            }
            self.is_long = !is_whole;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn lines(log: &mut GrowingLog) -> Option<Vec<String>> {
        let mut found = Vec::new();
        log.new_lines(|line| found.push(line.to_owned())).ok().map(|()| found)
    }

    #[test]
    fn what_was_added_is_read_once_it_is_whole_and_a_rotated_log_from_its_start() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut log = GrowingLog::from_now(path.clone());
        assert_eq!(lines(&mut log), None, "no log yet");
        std::fs::write(&path, "one\ntw").unwrap();
        assert_eq!(lines(&mut log).unwrap(), ["one\n"]);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"o\nthree\n").unwrap();
        assert_eq!(lines(&mut log).unwrap(), ["two\n", "three\n"]);
        assert_eq!(lines(&mut GrowingLog::from_now(path.clone())).unwrap(), [""; 0]);
        std::fs::write(&path, "next\n").unwrap();
        assert_eq!(lines(&mut log).unwrap(), ["next\n"]);
    }

    /// Nobody writes to the pipe: opening it as a file waited without end, with whoever asked.
    #[test]
    fn a_pipe_or_a_link_in_the_place_of_a_log_is_no_log() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        std::fs::write(at("secret"), "one\n").unwrap();
        std::os::unix::fs::symlink("secret", at("link")).unwrap();
        for path in [at("pipe"), at("link")] {
            let (to, read) = channel();
            std::thread::spawn(move || to.send(lines(&mut GrowingLog::from_start(path))));
            assert_eq!(read.recv_timeout(Duration::from_secs(10)).expect("nothing waits for a pipe"), None);
        }
    }

    /// What does not end was kept in memory as a whole.
    #[test]
    fn a_line_that_does_not_end_is_passed_over_and_the_next_one_counts() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        std::fs::write(&path, "x".repeat(5 * LINE_MOST_BYTES as usize)).unwrap();
        let mut log = GrowingLog::from_start(path.clone());
        assert_eq!((lines(&mut log).unwrap().len(), log.offset), (0, 5 * LINE_MOST_BYTES));
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"the end of it\none\n").unwrap();
        assert_eq!(lines(&mut log).unwrap(), ["one\n"]);
    }
}
