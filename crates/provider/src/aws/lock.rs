//! Who works in a directory of Terraform: this program has its lock while it changes what lies there, and every Terraform
//! that it starts while that lives, also where this program is killed before.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::error::AwsError;

/// What is locked (flock). It holds nothing.
pub(super) const LOCK: &str = "at-work";
/// A Terraform whose controller was killed is waited for so long.
const PATIENCE: Duration = Duration::from_secs(300);
/// Between two looks at whether it has ended.
const LOOK: Duration = Duration::from_millis(100);

/// The lock, once nobody else has it; it is given back when the file is closed, and by a process that inherits it, when
/// that ends.
pub(super) fn taken(directory: &Path) -> Result<File, AwsError> {
    taken_within(directory, PATIENCE)
}

fn taken_within(directory: &Path, patience: Duration) -> Result<File, AwsError> {
    let path = directory.join(LOCK);
    let failed = |error| AwsError::file("lock", &path, error);
    let file = guarded::open_to_append(&path, 0o600).map_err(failed)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => thread::sleep(LOOK),
            Err(TryLockError::WouldBlock) => {
                return Err(AwsError::AtWork { directory: directory.to_owned(), waited_s: patience.as_secs() });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_program_that_was_started_with_it_has_it_until_it_ends() {
        let directory = tempfile::tempdir().unwrap();
        let lock = taken(directory.path()).unwrap();
        let mut command = Command::new("sleep");
        let mut child = command.arg("600").stdin(Stdio::from(lock)).spawn().unwrap();
        // This process has it no longer.
        drop(command);
        let words = taken_within(directory.path(), Duration::from_millis(300)).unwrap_err().to_string();
        assert!(words.contains("still works in"), "{words}");
        child.kill().unwrap();
        child.wait().unwrap();
        taken_within(directory.path(), Duration::ZERO).unwrap();
    }

    #[test]
    fn a_link_is_not_locked() {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/null", directory.path().join(LOCK)).unwrap();
        taken(directory.path()).unwrap_err();
    }
}
