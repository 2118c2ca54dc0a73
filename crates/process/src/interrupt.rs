//! Ctrl-C and its relatives: the first asks to stop in order, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `on_first` once when the user asks to stop, and sets the returned flag. A second signal exits with the shell's
/// code for Ctrl-C: agents undo what they have made once they are alone, and whatever is left behind is in the ledger.
#[expect(clippy::exit, reason = "who asks twice waits for nothing")]
pub fn install(on_first: impl Fn() + Send + 'static) -> std::io::Result<Arc<AtomicBool>> {
    watch(on_first, || {
        eprintln!("left at once; agents undo what they have made (look with: iopslab clean)");
        std::process::exit(130)
    })
}

/// The same where a second signal changes nothing: an agent that is asked to stop undoes what it has made, however
/// often it is asked.
pub fn install_once(on_first: impl Fn() + Send + 'static) -> std::io::Result<Arc<AtomicBool>> {
    watch(on_first, || {})
}

fn watch(
    on_first: impl Fn() + Send + 'static,
    on_further: impl Fn() + Send + 'static,
) -> std::io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let shared = Arc::clone(&flag);
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if shared.swap(true, Ordering::Relaxed) { on_further() } else { on_first() }
        }
    });
    Ok(flag)
}
