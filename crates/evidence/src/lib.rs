//! What a trial leaves behind: records, latency intervals, host samples. Plain data, no I/O.

mod bounds;
mod clock;
mod columns;
mod data_set;
mod environment;
mod host;
mod host_id;
mod imported;
mod interval;
mod latency_counts;
mod node_fault;
mod rate_probe;
mod rest;
mod trial;

pub use bounds::{
    HistogramDecoder, LONGEST_S, MOST_COUNTED, MOST_SAMPLES, check_counted, check_length, check_moment, check_seconds,
    decode_histogram, decode_histogram_up_to, encode_histogram,
};
pub use clock::{Clock, ClockReading};
pub use columns::Column;
pub use data_set::{DataSetOrigin, KeptDataSet, KeptPart, SnapshotFacts};
pub use environment::{Disk, Environment, RUNTIMES, Runtime, Runtimes, runtimes};
pub use experiment::{Consistency, FORMAT_VERSION, OperationKind, Role, VolumeRole};
pub use host::{EbsFigures, HostFigures, HostSample, VolumeFigures};
pub use host_id::{HostId, NoSuchHost};
pub use imported::{CountedFrom, Imported, Progress, StatedLatency, Tool, TwoClocks};
pub use interval::{
    CacheAnswer, HIGHEST_US, Interval, LOWEST_US, Series, add_counts, empty_histogram, short_histogram,
};
pub use latency_counts::{LatencyCounts, LatencySum};
pub use node_fault::{FaultRecord, LostValue, ProcessEnd, WriteCheck};
pub use rate_probe::{LatencyFigures, RateProbe};
pub use rest::{BacklogFound, Fork, Rest, RestRound, Warmed};
pub use trial::{
    Cause, ClientPart, ClientResult, ErrorKind, Initialised, ModifiedVolume, NodeFacts, OtherProgram, Overhead,
    ProbeResult, SendLag, TrialRecord, Validity, VolumeFacts,
};
