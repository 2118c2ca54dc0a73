//! What a load thread sends to the collecting thread.

use hdrhistogram::Histogram;

use crate::EngineError;
use crate::histograms::Histograms;
use crate::written::Notes;

/// From a load thread to the collecting thread.
pub(crate) enum Message {
    /// Ready to begin.
    Connected,
    /// A second has ended.
    Second { thread: usize, second: ThreadSecond },
    /// All its requests have ended.
    Finished { thread: usize, totals: Totals, notes: Notes },
    /// It gave up.
    Failed(EngineError),
}

/// What a thread (or all of them together) counted besides its histograms.
pub(crate) struct Totals {
    /// Operations sent in the measurement.
    pub(crate) sent: u64,
    /// When the last measured response came; 0 when there was none.
    pub(crate) last_done_ns: u64,
    /// Open loop: sent - due of the measured operations.
    pub(crate) lag: Histogram<u64>,
    /// Load phase: inserts sent again.
    pub(crate) retries: u64,
}

/// What a thread hands over for one second.
pub(crate) struct ThreadSecond {
    /// Seconds from the start of measurement, rounded down.
    pub(crate) second: i64,
    /// Operations of the phase that the second lies in.
    pub(crate) own: Box<Histograms>,
    /// Operations sent in warm-up whose response came in the measurement.
    pub(crate) late_warmup: Option<Box<Histograms>>,
    /// Requests in flight at its end.
    pub(crate) in_flight: u64,
}
