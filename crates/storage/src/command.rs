//! Running the few system programs that this crate needs, and one of `iopslab doctor`, with a deadline and their last
//! words in the error.
//!
//! mkfs.xfs, losetup and fio are programs a user of Linux storage knows and can repeat by hand; the same work through
//! ioctls would need `unsafe` code.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Result, StorageError, io_error};

/// Lines of stderr kept in an error.
const TAIL_LINES: usize = 8;

/// Where `program` is installed, or the package to install.
pub(crate) fn require(program: &str, package: &'static str) -> Result<PathBuf> {
    guarded::program(program).ok_or_else(|| StorageError::NotInstalled { program: program.to_owned(), package })
}

/// Runs `program` of this package with `words` to its end and returns its stdout; after `patience` it is killed.
pub fn call(
    (program, package): (&str, &'static str),
    words: impl IntoIterator<Item = impl AsRef<OsStr>>,
    patience: Duration,
) -> Result<String> {
    let mut argv = vec![require(program, package)?.display().to_string()];
    argv.extend(words.into_iter().map(|word| word.as_ref().to_string_lossy().into_owned()));
    run(&argv, patience)
}

/// Runs `argv` to its end and returns its stdout; after `patience` it is killed.
pub(crate) fn run(argv: &[String], patience: Duration) -> Result<String> {
    let line = argv.join(" ");
    let program = argv.first().map(String::as_str).unwrap_or_default();
    let mut child = Command::new(program)
        .args(argv.iter().skip(1))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(io_error("start", Path::new(program)))?;
    // Both pipes are drained while we wait, or a talkative child would block on a full one.
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let deadline = Instant::now() + patience;
    let how = loop {
        match child.try_wait().map_err(io_error("wait for", Path::new(program)))? {
            Some(status) if status.success() => break None,
            Some(status) => break Some(status.to_string()),
            None if Instant::now() >= deadline => {
                // Fails only when it has just ended by itself.
                let _ = child.kill();
                let _ = child.wait();
                break Some(format!("no answer within {} s", patience.as_secs()));
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let text = |reader: thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&reader.join().unwrap_or_default()).trim_end().to_owned()
    };
    let (stdout, stderr) = (text(stdout), text(stderr));
    match how {
        None => Ok(stdout),
        Some(how) => {
            let lines: Vec<&str> = stderr.lines().collect();
            let stderr_tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
            Err(StorageError::Command { command: line, how, stderr_tail })
        }
    }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A read error means the pipe is gone; what arrived before is what there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn a_failure_names_the_command_and_its_last_words() {
        let error = run(&argv(&["sh", "-c", "echo no such thing >&2; exit 3"]), Duration::from_secs(5)).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("no such thing") && message.contains("exit status: 3"), "{message}");
    }

    #[test]
    fn a_stuck_program_is_killed() {
        let started = Instant::now();
        let error = run(&argv(&["sleep", "30"]), Duration::from_millis(100)).unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(25));
        assert!(error.to_string().contains("no answer"));
    }
}
