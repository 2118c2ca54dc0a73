//! Did a host's clock run away from the controller's during the trial? Samples are placed by the mean of the offsets at
//! the trial's start and end, so that they are off by half of what it moved.

use evidence::HostId;
use serde::{Deserialize, Serialize};

use crate::measurement::TrialMeasurement;
use crate::seen::Seen;

/// A host's clock moved during the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockDrift {
    /// Whose clock moved most.
    pub host: HostId,
    /// Against the controller's, beyond what readings cannot tell, milliseconds.
    pub drift_ms: f64,
    /// Allowed milliseconds.
    pub threshold: f64,
}

/// Milliseconds that an offset may move within a trial, beyond what the readings cannot resolve: a twentieth of the
/// second that one sample stands for (practice).
const DRIFT_MAX_MS: f64 = 50.0;

/// The host whose clock moved most, if that is too much.
pub(crate) fn finding(trial: &TrialMeasurement) -> Option<Seen<ClockDrift>> {
    let drifts = trial.record.clocks.iter().filter_map(|(host, clock)| Some((host, clock.drift_ms()?)));
    let (host, drift_ms) = drifts.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let figures = ClockDrift { host: *host, drift_ms, threshold: DRIFT_MAX_MS };
    (drift_ms > DRIFT_MAX_MS).then_some(figures.into())
}

#[cfg(test)]
mod tests {
    use evidence::{Clock, ClockReading, HostId};

    use crate::rule::Rule;
    use crate::rules::cases::{fires, recorded};

    #[test]
    fn a_clock_that_moved_more_than_its_readings_can_tell() {
        let reading = |offset_ms, round_trip_ms| ClockReading { offset_ms, round_trip_ms };
        fires(
            Rule::ClockDrift,
            &[
                (None, false),
                (Some((3_000.0, 1.0)), false),
                (Some((3_050.5, 1.0)), false),
                (Some((3_052.0, 1.0)), true),
                (Some((2_948.0, 1.0)), true),
                (Some((3_052.0, 9.0)), false),
            ],
            |end| {
                recorded(|r| {
                    let clock = Clock {
                        start: reading(3_000.0, 1.0),
                        end: end.map(|(offset, round_trip)| reading(offset, round_trip)),
                    };
                    r.clocks.insert(HostId::DATABASE, clock);
                })
            },
        );
    }
}
