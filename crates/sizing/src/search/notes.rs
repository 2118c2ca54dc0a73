//! What a reader must know before trusting a figure.

use std::collections::BTreeSet;

use workload::Distribution;

use super::Search;
use crate::target::CREDIBLE;

/// Trials shorter than this, seconds, see little of what writes cost later (practice: a memtable takes minutes to fill).
const COMPACTION_SHOWS_S: f64 = 600.0;

impl Search<'_> {
    /// What a reader must know before trusting the figures.
    pub(super) fn notes(&self) -> Vec<String> {
        let models: BTreeSet<&str> = self
            .runs
            .iter()
            .filter_map(|run| cpu_model(&run.evidence.environment))
            .collect();
        let models: Vec<&str> = models.into_iter().collect();
        let scale = self.observations.iter().map(|o| o.scale).fold(1.0, f64::max);
        let durations = self.runs.iter().map(|run| run.evidence.plan.shape.duration_s);
        let shortest_s = durations.fold(f64::INFINITY, f64::min);
        let mut notes = vec![
            "Each replica's part is charged like a whole operation of a single node: coordination is counted, repair, streaming and hints are not."
                .to_owned(),
            format!(
                "CPU time is that of {}; a vCPU of each type is taken as one of these. That is not part of the error shown with a figure.",
                if models.is_empty() { "the measured machine".to_owned() } else { models.join(" and ") }
            ),
        ];
        if self.busiest_when_down > CREDIBLE {
            notes.push(format!(
                "Resources may be used up to {:.0} %: above {:.0} % response times are not credible and grow fast.",
                self.busiest_when_down * 100.0,
                CREDIBLE * 100.0
            ));
        }
        if scale > 1.0 {
            notes.push(format!(
                "The evidence is a 1:{} model: throughput, IOPS and CPUs are taken to grow together by that factor.",
                scale
            ));
        }
        if let (Some(asked_ms), None) = (self.target.p99_ms, self.facts.p99_utilisation) {
            let shown = self
                .observations
                .iter()
                .filter_map(|o| o.p99_us)
                .fold(f64::INFINITY, f64::min);
            notes.push(format!(
                "p99 <= {} ms is NOT checked: the evidence has closed-loop cells only (lowest p99 there: {:.1} ms), which promise nothing about an offered \
                 load; measure with `rate` to check it. Utilisation is held at {:.0} % or less.",
                asked_ms,
                shown / 1e3,
                self.busiest * 100.0
            ));
        }
        if let Some(utilisation) = self.facts.p99_utilisation {
            notes.push(format!(
                "p99 is advisory: open-loop cells kept it up to {:.0} % utilisation, so no resource is used more.",
                utilisation * 100.0
            ));
        }
        let held = &self.facts.held_out;
        match (held.median_error, held.is_accepted()) {
            (None, _) => notes.push("No cell could be held out, so the model's error is not known.".to_owned()),
            (Some(_), false) => {
                notes.push("The model fails its held-out test; only measured machines are proposed.".to_owned())
            }
            (Some(_), true) => {}
        }
        if matches!(self.distribution, Distribution::Exponential { .. }) {
            notes.push("Exponential keys are taken for uniform ones where the page cache is concerned.".to_owned());
        }
        if !self.facts.demand.cpu_told_apart {
            notes.push("One mix was measured: reads and writes are taken to cost the same CPU time.".to_owned());
        }
        if self.facts.suspect_trials > 0 {
            let rules: BTreeSet<&str> = self
                .observations
                .iter()
                .flat_map(|o| &o.suspicions)
                .map(|rule| rule.name())
                .collect();
            notes.push(format!(
                "{} of {} trials are suspect ({}): iopslab report RUN tells why.",
                self.facts.suspect_trials,
                self.facts.trials,
                rules.into_iter().collect::<Vec<_>>().join(", ")
            ));
        }
        if shortest_s < COMPACTION_SHOWS_S && self.observations.iter().any(|o| o.writes > 0.0) {
            notes.push(format!(
                "Trials of {:.0} s see few flushes and compactions: what a write costs the disks is understated, less so the more reads there are.",
                shortest_s
            ));
        }
        if self.facts.capacity_cells == 0 {
            notes.push(
                "No cell was bounded by a resource of the database: capacities were never seen, only demands."
                    .to_owned(),
            );
        }
        notes
    }
}

fn cpu_model(environment: &serde_json::Value) -> Option<&str> {
    environment.get("database")?.get("cpu_model")?.as_str()
}
