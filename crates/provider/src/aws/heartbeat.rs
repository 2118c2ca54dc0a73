//! Machines end themselves when nobody needs them: a heartbeat keeps them.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::hosts::ssh::Ssh;

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
    /// To machines by their names. One that is missed is reached a minute later; whoever uses it notices that it is
    /// gone.
    pub fn start(ssh: Ssh, names: Vec<String>) -> Self {
        let (until, ended) = channel();
        thread::spawn(move || {
            loop {
                for name in &names {
                    let _ = ssh.run(name, &format!("touch {ALIVE}"), None);
                }
                if ended.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        Self { _until: until }
    }
}
