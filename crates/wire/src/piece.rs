//! What a client measured goes over the wire in pieces: a message is no longer for a long trial than for a short one.

use evidence::{HostSample, Interval};
use serde::{Deserialize, Serialize};

use crate::{WireInterval, to_wire};

/// Bytes of latencies after which a piece goes out.
const INTERVALS_BYTES: usize = 1 << 20;
/// Bytes of an interval besides its histogram: its series, its times, and the names of all that.
const INTERVAL_BYTES: usize = 128;
/// Most samples of a piece: each has about a KiB, and with the figures of nine volumes six.
const SAMPLES: usize = 256;

/// A piece of what a client measured in a trial.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TrialPiece {
    /// Latencies by series and second.
    pub intervals: Vec<WireInterval>,
    /// Samples of the client host.
    pub samples: Vec<HostSample>,
}

impl TrialPiece {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty() && self.samples.is_empty()
    }
}

/// Sends what a client measured, piece by piece: latencies in their order, then samples in theirs.
pub fn in_pieces(intervals: &[Interval], samples: Vec<HostSample>, send: &mut dyn FnMut(TrialPiece)) {
    let (mut piece, mut bytes) = (TrialPiece::default(), 0);
    for interval in intervals {
        let interval = to_wire(interval);
        bytes += interval.histogram.len() + INTERVAL_BYTES;
        piece.intervals.push(interval);
        if bytes >= INTERVALS_BYTES {
            send(std::mem::take(&mut piece));
            bytes = 0;
        }
    }
    for sample in samples {
        piece.samples.push(sample);
        if piece.samples.len() >= SAMPLES {
            send(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        send(piece);
    }
}

#[cfg(test)]
mod tests {
    use evidence::{OperationKind, Series, empty_histogram};

    use super::*;
    use crate::{Event, from_wire};

    /// A second in which every bucket of the histogram has a count of its own: none is longer.
    fn fullest(second: u32) -> Interval {
        let mut histogram = empty_histogram();
        for value in (0..15).flat_map(|doubling| (1_024..2_048).map(move |step| step << doubling)) {
            histogram.saturating_record_n(value, 70_000 + value);
        }
        let series = Series::Response(OperationKind::Read);
        Interval { series, start_s: f64::from(second), length_s: 1.0, histogram }
    }

    /// The answer to a trial was one line: a day of six series would not have fitted into 256 MiB.
    #[test]
    fn a_long_trial_arrives_whole_in_messages_that_are_short() {
        let intervals: Vec<Interval> = (0..200).map(fullest).collect();
        let sample = |second: u32| HostSample { t_s: f64::from(second), ..HostSample::default() };
        let (mut longest, mut arrived) = (0, TrialPiece::default());
        in_pieces(&intervals, (0..3_600).map(sample).collect(), &mut |piece| {
            let mut line = Vec::new();
            crate::write(&mut line, &Event::Piece(Box::new(piece))).unwrap();
            longest = longest.max(line.len());
            let Some(Event::Piece(mut piece)) = crate::read(&mut line.as_slice()).unwrap() else {
                panic!("a piece is what was sent");
            };
            arrived.intervals.append(&mut piece.intervals);
            arrived.samples.append(&mut piece.samples);
        });
        assert!(longest < 2 << 20, "{longest}");
        assert_eq!((arrived.intervals.len(), arrived.samples.len()), (200, 3_600));
        for (sent, got) in intervals.iter().zip(&arrived.intervals) {
            let got = from_wire(got).unwrap();
            assert_eq!((got.start_s, got.histogram), (sent.start_s, sent.histogram.clone()));
        }
        assert!(arrived.samples.windows(2).all(|pair| pair[0].t_s + 1.0 == pair[1].t_s));
        in_pieces(&[], Vec::new(), &mut |piece| panic!("nothing was measured: {piece:?}"));
    }
}
