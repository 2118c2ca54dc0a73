//! A value that the agent's threads share.

use std::sync::{Mutex, PoisonError};

/// Acts on the value; a thread that panicked with it in hand does not make it useless.
pub(super) fn with<T: ?Sized, R>(shared: &Mutex<T>, act: impl FnOnce(&mut T) -> R) -> R {
    act(&mut shared.lock().unwrap_or_else(PoisonError::into_inner))
}
