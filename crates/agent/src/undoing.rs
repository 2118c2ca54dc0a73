//! Whether what an agent undoes at its end becomes less.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use storage::Left;

use super::outbox::Outbox;

/// Looks at the ledger from time to time.
pub(super) struct Undoing {
    /// Where that is, once there is one.
    ledger: Arc<OnceLock<PathBuf>>,
    seen: Option<Left>,
}

impl Undoing {
    /// Nothing was seen yet.
    pub fn new(ledger: Arc<OnceLock<PathBuf>>) -> Self {
        Self { ledger, seen: None }
    }

    /// Whether anything has changed since the last look; what is seen for the first time has.
    pub fn advances(&mut self) -> bool {
        // One that cannot be read says nothing.
        let now = self.ledger.get().and_then(|ledger| Left::of(ledger).ok());
        now != std::mem::replace(&mut self.seen, now)
    }

    /// From now on whoever waits for the end of this process hears whenever it has come nearer.
    pub fn report(mut self, outbox: Outbox) {
        std::thread::spawn(move || {
            loop {
                if self.advances() {
                    let things = self.seen.map_or(0, |left| left.things);
                    outbox.progress(format!("cleaning up: {things} things are left"), None);
                }
                std::thread::sleep(Duration::from_secs(wire::AT_WORK_S));
            }
        });
    }
}
