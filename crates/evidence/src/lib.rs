//! What a trial leaves behind: records, latency intervals, host samples. Plain data, no I/O.

mod interval;
mod trial;

pub use interval::{HIGHEST_US, Interval, LOWEST_US, SIGNIFICANT_DIGITS, Series};
pub use spec::OperationKind;
pub use trial::{ClientResult, DatabaseFacts, ErrorKind, ProbeResult, SendLag, TrialRecord, Validity, VolumeFacts};

/// Version of every JSON file in a run directory. A newer one is refused.
pub const FORMAT_VERSION: u32 = 1;
