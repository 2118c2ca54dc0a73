//! What happened in a trial, before it is written down.

use std::collections::BTreeMap;

use evidence::{
    BacklogFound, Cause, ClockReading, FaultRecord, HostId, HostSample, MOST_SAMPLES, ModifiedVolume, Rest, Validity,
};
use experiment::TableBefore;
use wire::StartedTrial;

use super::clients::Measured;
use crate::run_failure::{Failure, Next, Result};

/// What happened in a trial, before it is written down.
#[derive(Default)]
pub(super) struct TrialState {
    /// When its preparation began.
    pub started_at: jiff::Timestamp,
    /// Volumes that were modified before that.
    pub modified: Vec<ModifiedVolume>,
    /// Ids of the volumes of EBS that hold each host's data.
    pub data_volumes: BTreeMap<HostId, Vec<String>>,
    pub started: BTreeMap<HostId, StartedTrial>,
    /// `host:port` of caches with machines of their own, in the order of their nodes.
    pub caches: Vec<String>,
    /// What the clients measured together.
    pub measured: Option<Measured>,
    pub samples: Samples,
    /// What was done to nodes, in order of time.
    pub faults: Vec<FaultRecord>,
    /// Backlogs that nodes were left to compact.
    pub backlogs: BTreeMap<HostId, BacklogFound>,
    pub clocks_at_start: BTreeMap<HostId, ClockReading>,
    pub clocks_at_end: BTreeMap<HostId, ClockReading>,
    /// How each node was brought to rest.
    pub rests: BTreeMap<HostId, Rest>,
    /// Seconds that took.
    pub rest_s: f64,
    /// Its table before it, in a database that exists.
    pub table: Option<TableBefore>,
    pub validity: Validity,
}

/// Samples of the hosts of a trial, as they come.
#[derive(Debug, Default)]
pub(super) struct Samples {
    by_host: BTreeMap<HostId, Vec<HostSample>>,
    count: usize,
}

impl Samples {
    /// Keeps samples of a host. What comes when there are as many as a trial can have is passed over: nobody could read
    /// it back.
    pub fn keep(&mut self, host: HostId, samples: impl IntoIterator<Item = HostSample>) {
        let of_host = self.by_host.entry(host).or_default();
        let before = of_host.len();
        of_host.extend(samples.into_iter().take(MOST_SAMPLES.saturating_sub(self.count)));
        self.count += of_host.len() - before;
    }

    /// Those of a host, in the order in which they came.
    pub fn of(&self, host: HostId) -> &[HostSample] {
        self.by_host.get(&host).map_or(&[], Vec::as_slice)
    }

    /// All of them; none are left.
    pub fn take(&mut self) -> BTreeMap<HostId, Vec<HostSample>> {
        self.count = 0;
        std::mem::take(&mut self.by_host)
    }
}

impl TrialState {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { started_at: jiff::Timestamp::now(), ..Self::default() }
    }

    /// A failure that makes the trial invalid and nothing else stands in its record; any other is given back.
    pub fn befallen_by(&mut self, failure: Failure) -> Result<()> {
        let (Next::TrialInvalid(_), Some(validity)) = (failure.next(), failure.validity()) else { return Err(failure) };
        self.validity = validity;
        Ok(())
    }

    /// The trial is invalid.
    pub fn invalidate(&mut self, cause: Cause, reason: String, log_tail: Vec<String>) {
        self.validity = Validity::Invalid { cause, reason, log_tail };
    }

    /// What a host's clock showed beyond the controller's, milliseconds: the mean of what was read of it.
    pub fn offset_ms(&self, host: HostId) -> f64 {
        let readings = [&self.clocks_at_start, &self.clocks_at_end];
        let offsets: Vec<f64> = readings.iter().filter_map(|at| Some(at.get(&host)?.offset_ms)).collect();
        offsets.iter().sum::<f64>() / offsets.len().max(1) as f64
    }

    /// The same for every host whose clock was read before.
    pub fn offsets_ms(&self) -> BTreeMap<HostId, f64> {
        let hosts = self.clocks_at_start.keys();
        hosts.map(|host| (*host, self.offset_ms(*host))).collect()
    }

    /// Start of measurement (of the first client) by the clock of a host, Unix milliseconds.
    pub fn measurement_began_ms(&self, host: HostId) -> Option<f64> {
        Some(self.measurement_began_here_ms()? + self.offset_ms(host))
    }

    /// The same by the controller's clock.
    fn measurement_began_here_ms(&self) -> Option<f64> {
        let by_client = self.measured.as_ref()?.started_unix_ms as f64;
        Some(by_client - self.offset_ms(HostId::CLIENT))
    }

    /// Start of the warm-up by the controller's clock; of a trial that never got to measure, when its preparation
    /// began.
    pub fn warmup_began(&self) -> jiff::Timestamp {
        let result = self.measured.as_ref().and_then(|measured| measured.result.as_ref());
        let began = self.measurement_began_here_ms().zip(result);
        let began = began.map(|(began_ms, result)| (began_ms - result.warmup_s * 1e3).round() as i64);
        let began = began.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        began.unwrap_or(self.started_at)
    }
}

#[cfg(test)]
mod tests {
    use evidence::ClientResult;

    use super::*;

    #[test]
    fn the_start_of_measurement_is_found_on_the_clock_of_every_host() {
        let reading = |offset_ms| ClockReading { offset_ms, round_trip_ms: 1.0 };
        let mut state = TrialState {
            measured: Some(Measured::starting_at(1_003_000)),
            clocks_at_start: BTreeMap::from([(HostId::CLIENT, reading(3_000.0)), (HostId::DATABASE, reading(-990.0))]),
            clocks_at_end: BTreeMap::from([(HostId::DATABASE, reading(-1_010.0))]),
            ..TrialState::new()
        };
        // The client is 3 s ahead of the controller; the database's clock is 1 s behind, in the mean of both ends.
        assert_eq!(state.measurement_began_ms(HostId::CLIENT), Some(1_003_000.0));
        assert_eq!(state.measurement_began_ms(HostId::DATABASE), Some(999_000.0));
        // A host whose clock nobody read is taken for right.
        assert_eq!(state.measurement_began_ms(HostId::database(1)), Some(1_000_000.0));
        // It had restored and started the database for some time before its three seconds of warm-up.
        let result = state.measured.as_mut().unwrap();
        result.result = Some(ClientResult { warmup_s: 3.0, measured_s: 10.0, threads: 1, ..ClientResult::default() });
        assert_eq!(state.warmup_began().as_millisecond(), 997_000);
        state.measured = None;
        assert_eq!(state.measurement_began_ms(HostId::DATABASE), None);
        assert_eq!(state.warmup_began(), state.started_at);
    }
}
