//! Machines end themselves when nobody needs them: they are told that somebody does.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Several times in the shortest lifetime.
const PERIOD: Duration = Duration::from_secs(60);
/// Whose age the modules' user data watches.
const ALIVE: &str = "/var/lib/iopslab/alive";

/// Goes on until it is dropped.
#[derive(Debug)]
pub(super) struct Heartbeat {
    /// Its end is the thread's.
    _until: Sender<()>,
}

impl Heartbeat {
    /// To machines by their names in this configuration of ssh. One that cannot be told is told again a minute later:
    /// whoever uses it notices that it is gone.
    pub fn start(ssh_config: PathBuf, names: Vec<String>) -> Self {
        let (until, ended) = channel();
        thread::spawn(move || {
            loop {
                for name in &names {
                    let mut command = Command::new("ssh");
                    command.arg("-F").arg(&ssh_config);
                    for option in ["BatchMode=yes", "StrictHostKeyChecking=yes", "ConnectTimeout=10"] {
                        command.args(["-o", option]);
                    }
                    command.args(["-T", "--", name, &format!("touch {ALIVE}")]);
                    let _ = command
                        .stdin(Stdio::null())
                        .stdout(Stdio::null())
                        .stderr(Stdio::null())
                        .status();
                }
                if ended.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        Self { _until: until }
    }
}
