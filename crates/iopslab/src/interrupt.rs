//! Ctrl-C and its relatives: the first asks to stop in order, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `on_first` once when the user asks to stop, and sets the returned flag. A third signal exits with the shell's
/// code for Ctrl-C: whatever is left behind is in the ledger.
pub fn install(on_first: impl Fn() + Send + 'static) -> std::io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = AtomicU32::new(0);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let shared = Arc::clone(&flag);
    std::thread::spawn(move || {
        for _ in signals.forever() {
            match seen.fetch_add(1, Ordering::Relaxed) {
                0 => {
                    shared.store(true, Ordering::Relaxed);
                    on_first();
                }
                1 => eprintln!("stopping; press Ctrl-C once more to leave at once (then: iopslab clean)"),
                _ => std::process::exit(130),
            }
        }
    });
    Ok(flag)
}
