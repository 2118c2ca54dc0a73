//! Ends an agent whose controller has not been heard of for too long: where a connection is cut, stdin stays open.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How often it looks.
const PERIOD: Duration = Duration::from_millis(250);
/// What is under way gets this long to end by itself, and as long again whenever less is left meanwhile; then what the
/// ledger names is undone from here.
const LAST_PATIENCE: Duration = Duration::from_secs(15);

/// What the reader of stdin and the watchdog share.
#[derive(Debug)]
pub(super) struct Heard {
    began: Instant,
    last_ms: AtomicU64,
    over: AtomicBool,
}

impl Heard {
    pub fn new() -> Self {
        Self { began: Instant::now(), last_ms: AtomicU64::new(0), over: AtomicBool::new(false) }
    }

    /// The controller has said something.
    pub fn note(&self) {
        self.last_ms.store(self.now_ms(), Ordering::Relaxed);
    }

    /// Whether the controller was given up: whatever still comes is too late.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn silence(&self) -> Duration {
        Duration::from_millis(self.now_ms().saturating_sub(self.last_ms.load(Ordering::Relaxed)))
    }
}

/// Calls `on_silence` once nothing has been heard for `patience`, and `at_last` where this process has not ended by
/// itself soon after, and its end does not come nearer (`advances`) either.
pub(super) fn watch(
    heard: Arc<Heard>,
    patience: Duration,
    on_silence: impl FnOnce() + Send + 'static,
    mut advances: impl FnMut() -> bool + Send + 'static,
    at_last: impl FnOnce() + Send + 'static,
) {
    std::thread::spawn(move || {
        while heard.silence() < patience {
            std::thread::sleep(PERIOD);
        }
        heard.over.store(true, Ordering::Relaxed);
        tracing::warn!("nothing heard of the controller for {} s: cleaning up", patience.as_secs());
        on_silence();
        // What is there at first is what is compared with.
        advances();
        std::thread::sleep(LAST_PATIENCE);
        while advances() {
            std::thread::sleep(LAST_PATIENCE);
        }
        at_last();
    });
}

/// Undoes what the ledger names, and ends this process: something cannot be interrupted, or waits for a connection that
/// is gone.
#[expect(clippy::exit, reason = "a thread that hangs ends with the process alone")]
pub(super) fn undo_and_end(ledger: &OnceLock<PathBuf>) {
    if let Some(ledger) = ledger.get()
        && let Err(error) = storage::clean(ledger)
    {
        tracing::warn!("{error}");
    }
    std::process::exit(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_speaks_is_never_given_up_and_a_silent_one_is() {
        let heard = Arc::new(Heard::new());
        let silent = Arc::new(AtomicBool::new(false));
        let reported = Arc::clone(&silent);
        let patience = Duration::from_secs(2);
        // Whoever would end the process here would end all tests with it, once they take longer.
        watch(Arc::clone(&heard), patience, move || reported.store(true, Ordering::Relaxed), || false, || {});
        for _ in 0..13 {
            std::thread::sleep(Duration::from_millis(200));
            heard.note();
        }
        assert!(!heard.is_over() && !silent.load(Ordering::Relaxed));
        let given_up = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            silent.load(Ordering::Relaxed)
        });
        assert!(given_up && heard.is_over());
    }
}
