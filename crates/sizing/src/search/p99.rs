//! A p99 that was asked for: how much may be used so that open-loop cells kept it.

use super::error::SizingError;
use super::question::{SAME_MIX, Search};
use crate::observation::Observation;
use crate::target::CREDIBLE;

impl Search<'_> {
    /// Lowers the allowed utilisation to the highest at which an open-loop cell kept the p99.
    pub(super) fn hold_p99(&mut self) -> Result<(), SizingError> {
        let Some(asked_ms) = self.target.p99_ms else {
            return Ok(());
        };
        let measured: Vec<(f64, f64, &str)> = self
            .observations
            .iter()
            .filter(|o| o.is_open_loop)
            .filter_map(|o| {
                // What the configuration is known to do counts, if that is more than the model says.
                let same = |other: &&Observation<'_>| {
                    other.run == o.run
                        && other.configuration.name == o.configuration.name
                        && (other.read_share() - o.read_share()).abs() < SAME_MIX
                };
                let shown = self.observations.iter().filter(same).map(|other| other.throughput);
                let capacity = shown.fold(self.facts.demand.capacity_of(o), f64::max);
                Some((o.throughput / capacity, o.p99_us? / 1e3, o.name.as_str()))
            })
            .collect();
        let Some(lowest) = measured.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            self.hold(CREDIBLE);
            return Ok(());
        };
        // The lowest utilisation that failed bounds the highest that held: a lucky cell above it does not count.
        let failed = measured
            .iter()
            .filter(|(_, p99, _)| *p99 > asked_ms)
            .map(|m| m.0)
            .fold(f64::INFINITY, f64::min);
        let held = measured
            .iter()
            .filter(|(utilisation, p99, _)| *p99 <= asked_ms && *utilisation < failed)
            .map(|m| m.0)
            .max_by(f64::total_cmp);
        let Some(held) = held else {
            return Err(SizingError::P99 {
                asked_ms,
                lowest_ms: lowest.1,
                utilisation_percent: lowest.0 * 100.0,
                cell: lowest.2.to_owned(),
            });
        };
        self.facts.p99_utilisation = Some(held);
        self.hold(held);
        Ok(())
    }

    fn hold(&mut self, most: f64) {
        self.p99_lowered = most < self.busiest;
        self.busiest = self.busiest.min(most);
        self.busiest_when_down = self.busiest_when_down.min(most);
    }
}
