//! What a trial leaves behind: records, latency intervals, host samples. Plain data, no I/O.

mod environment;
mod host;
mod interval;
mod trial;

pub use environment::{Disk, Environment};
pub use host::{HostFigures, HostSample, VolumeFigures};
pub use interval::{HIGHEST_US, Interval, LOWEST_US, SIGNIFICANT_DIGITS, Series};
pub use spec::{OperationKind, VolumeRole};
pub use trial::{
    Cause, ClientResult, DatabaseFacts, ErrorKind, Overhead, ProbeResult, SendLag, TrialRecord, Validity, VolumeFacts,
};

/// Version of every JSON file in a run directory. A newer one is refused.
pub const FORMAT_VERSION: u32 = 1;
