//! How many operations may still be sent: one counter that all load threads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The bound on the number of measured operations, shared by all threads.
#[derive(Clone)]
pub(crate) struct Claims {
    left: Option<Arc<AtomicI64>>,
}

impl Claims {
    pub(crate) fn new(bound: Option<u64>) -> Self {
        let left = |bound| Arc::new(AtomicI64::new(i64::try_from(bound).unwrap_or(i64::MAX)));
        Self { left: bound.map(left) }
    }

    /// Takes one operation; `false` when none is left.
    #[inline]
    pub(crate) fn claim(&self) -> bool {
        self.left.as_ref().is_none_or(|left| left.fetch_sub(1, Relaxed) > 0)
    }
}
