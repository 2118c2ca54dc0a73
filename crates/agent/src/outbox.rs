//! What an agent says: events, progress, and the two kinds of answer that are not a result.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wire::{Event, Progress};

/// The agent's way to the controller; clones share one stdout.
#[derive(Clone)]
pub(super) struct Outbox {
    stdout: Arc<Mutex<std::io::Stdout>>,
    pub cancelled: Arc<AtomicBool>,
    /// A request is under way.
    at_work: Arc<AtomicBool>,
}

impl Outbox {
    /// A way over stdout; `cancelled` is set when the request under way shall end.
    pub fn new(cancelled: Arc<AtomicBool>) -> Self {
        Self { stdout: Arc::new(Mutex::new(std::io::stdout())), cancelled, at_work: Arc::default() }
    }

    /// From now on [`Event::AtWork`] is sent while a request is under way.
    pub fn report_work(&self) {
        let outbox = self.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(wire::AT_WORK_S));
                if outbox.at_work.load(Ordering::Relaxed) {
                    outbox.send(&Event::AtWork);
                }
            }
        });
    }

    /// A request is under way, or is no more.
    pub fn works(&self, is_so: bool) {
        self.at_work.store(is_so, Ordering::Relaxed);
    }

    /// Sends an event. A controller that is gone shows on stdin, not here.
    pub fn send(&self, event: &Event) {
        if let Ok(mut stdout) = self.stdout.lock() {
            let _ = wire::write(&mut *stdout, event);
            let _ = stdout.flush();
        }
    }

    pub fn progress(&self, doing: impl Into<String>, share: Option<(u64, u64)>) {
        self.send(&Event::Progress(Progress { doing: doing.into(), share }));
    }

    /// Says what is waited for; whether to go on waiting.
    pub fn waits(&self, what: &str) -> bool {
        self.progress(what, None);
        !self.is_cancelled()
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
