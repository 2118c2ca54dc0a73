//! Latency intervals on the wire: HdrHistogram's V2 compact encoding in base64, so that nothing is lost or averaged.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use evidence::{Interval, Series};
use serde::{Deserialize, Serialize};

/// An [`Interval`] in transit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WireInterval {
    /// [`Series::tag`].
    pub series: String,
    /// Seconds from the start of measurement.
    pub start_s: f64,
    /// Seconds.
    pub length_s: f64,
    /// HdrHistogram V2, base64.
    pub histogram: String,
}

/// Encodes an interval.
pub fn to_wire(interval: &Interval) -> WireInterval {
    WireInterval {
        series: interval.series.tag(),
        start_s: interval.start_s,
        length_s: interval.length_s,
        histogram: STANDARD.encode(evidence::encode_histogram(&interval.histogram)),
    }
}

/// Decodes an interval; the error says what is wrong with it.
pub fn from_wire(interval: &WireInterval) -> Result<Interval, String> {
    let series =
        Series::from_tag(&interval.series).ok_or_else(|| format!("unknown latency series {:?}", interval.series))?;
    let bytes = STANDARD.decode(&interval.histogram).map_err(|e| format!("histogram is not base64: {e}"))?;
    let interval = Interval {
        series,
        start_s: interval.start_s,
        length_s: interval.length_s,
        histogram: evidence::decode_histogram(&bytes)?,
    };
    interval.check()?;
    Ok(interval)
}

#[cfg(test)]
mod tests {
    use evidence::{ErrorKind, HIGHEST_US, Interval, OperationKind, Series, empty_histogram};

    #[test]
    fn every_count_arrives_under_its_series() {
        for series in [
            Series::Response(OperationKind::Read),
            Series::Service(OperationKind::ReadModifyWrite),
            Series::Failed(ErrorKind::ClientTimeout),
        ] {
            let mut histogram = empty_histogram();
            for (value, count) in [(1, 3), (950, 70_000), (1_700_000, 1), (HIGHEST_US, 2)] {
                histogram.record_n(value, count).unwrap();
            }
            let sent = Interval { series, start_s: -2.0, length_s: 1.0, histogram };
            let got = super::from_wire(&super::to_wire(&sent)).unwrap();
            assert_eq!((got.series, got.start_s, got.length_s), (series, -2.0, 1.0));
            assert_eq!(got.histogram, sent.histogram);
        }
    }
}
