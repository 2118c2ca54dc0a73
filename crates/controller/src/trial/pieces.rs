//! What clients measured arrives in pieces, which are put together here.

use std::collections::BTreeMap;
use std::time::Duration;

use evidence::{HostId, MOST_SAMPLES, Series};
use experiment::Definition;
use wire::{RequestError, TrialPiece};

use crate::run_failure::{Failure, Result};

/// The pieces of a trial's clients, as they come.
pub(super) struct Pieces {
    by_client: BTreeMap<HostId, TrialPiece>,
    most_intervals: usize,
}

impl Pieces {
    /// None yet, of a load of this workload that takes so long at most: each series has an interval a second. An
    /// interval is a histogram of up to 140 KiB, however few characters it was sent in.
    pub fn of(workload: &Definition, longest: Duration) -> Self {
        let seconds = usize::try_from(longest.as_secs()).unwrap_or(usize::MAX);
        let series = Series::most(workload.kinds().count());
        Self { by_client: BTreeMap::new(), most_intervals: seconds.saturating_mul(series) }
    }

    /// The next piece of a client. Samples beyond what a trial can have are passed over. Errors: it has more intervals
    /// than the trial had seconds.
    pub fn take(&mut self, client: HostId, piece: TrialPiece) -> Result<()> {
        let before = self.by_client.entry(client).or_default();
        let intervals = before.intervals.len() + piece.intervals.len();
        if intervals > self.most_intervals {
            let most = self.most_intervals;
            let error =
                RequestError::new(format!("it sent {intervals} intervals of latencies of a trial of {most} at most"));
            return Err(Failure::ClientFailed { client, error });
        }
        before.intervals.extend(piece.intervals);
        let room = MOST_SAMPLES.saturating_sub(before.samples.len());
        before.samples.extend(piece.samples.into_iter().take(room));
        Ok(())
    }

    /// All that a client has sent; nothing of it is left.
    pub fn of_client(&mut self, client: HostId) -> TrialPiece {
        self.by_client.remove(&client).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use evidence::HostSample;
    use experiment::{Distribution, Mix};
    use wire::WireInterval;

    use super::*;

    fn piece(intervals: usize) -> TrialPiece {
        let interval =
            WireInterval { series: "read".to_owned(), start_s: 0.0, length_s: 1.0, histogram: String::new() };
        TrialPiece { intervals: vec![interval; intervals], samples: vec![HostSample::default()] }
    }

    #[test]
    fn pieces_of_a_client_are_put_together_and_are_no_more_than_its_trial_can_have() {
        let mix = Mix { read: 0.9, update: 0.1, ..Mix::default() };
        let workload = Definition::new("mixed", mix, Distribution::Uniform);
        let most = 10 * Series::most(2);
        let mut pieces = Pieces::of(&workload, Duration::from_secs(10));
        for client in [HostId::CLIENT, HostId::client(1)] {
            pieces.take(client, piece(most - 1)).unwrap();
            pieces.take(client, piece(1)).unwrap();
        }
        let Err(Failure::ClientFailed { client, error }) = pieces.take(HostId::CLIENT, piece(1)) else {
            panic!("a trial of ten seconds has no more");
        };
        assert_eq!(client, HostId::CLIENT);
        assert!(error.message.contains(&format!("{} intervals", most + 1)), "{}", error.message);
        let whole = pieces.of_client(HostId::client(1));
        assert_eq!((whole.intervals.len(), whole.samples.len()), (most, 2));
        assert!(pieces.of_client(HostId::client(1)).is_empty());
    }
}
