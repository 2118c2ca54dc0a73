//! What the evidence does not carry, and what a reader must know before trusting a figure.

use std::collections::BTreeSet;

use catalog::InstanceType;
use workload::Distribution;

use super::{Found, Loaded, SAME_CACHE, SAME_MIX, Search};
use crate::document::Range;
use crate::target::CREDIBLE;

/// The evidence carries this far beyond its range before a proposal is marked as lying beyond it (practice).
const CARRIES: f64 = 2.0;
/// The same for the data of a node: SSTables read and bytes compacted grow with its logarithm only (practice).
const DATA_CARRIES: f64 = 10.0;
/// Trials shorter than this, seconds, see little of what writes cost later (practice: a memtable takes minutes to fill).
const COMPACTION_SHOWS_S: f64 = 600.0;

impl Search<'_> {
    /// Whether mix, ratio of memory to data and vCPUs lie between what was measured.
    pub(super) fn is_between(&self, instance: &InstanceType, loaded: &Loaded) -> bool {
        self.is_mix_measured()
            && self.facts.cache_share.holds(loaded.cache_share, 1.0 + SAME_CACHE)
            && self.facts.data_bytes_per_node.holds(loaded.data_bytes, DATA_CARRIES)
            && self.facts.vcpus.holds(f64::from(instance.vcpus), 1.0)
    }

    fn is_mix_measured(&self) -> bool {
        let measured = &self.facts.read_share;
        (measured.low - SAME_MIX..=measured.high + SAME_MIX).contains(&self.facts.replica_read_share)
    }

    /// What lies so far outside the evidence that its held-out error says nothing about it.
    pub(super) fn beyond(&self, instance: &InstanceType, found: &Found) -> Vec<String> {
        let (mut beyond, loaded) = (Vec::new(), &found.loaded);
        let facts = &self.facts;
        let percent = |range: &Range| {
            let (low, high) = (range.low * 100.0, range.high * 100.0);
            if high - low < 1.0 {
                format!("{high:.0} %")
            } else {
                format!("{low:.0} to {high:.0} %")
            }
        };
        if !self.is_mix_measured() {
            beyond.push(format!(
                "replicas do {:.0} % reads, measured: {}",
                facts.replica_read_share * 100.0,
                percent(&facts.read_share)
            ));
        }
        if facts.capacity_cells > 0 && !self.observations.iter().any(|o| o.bounded_by().contains(&found.limit)) {
            beyond.push(format!("no cell was bounded by {}", found.limit.words()));
        }
        if !facts.demand.misses_measured && loaded.work.hit_ratio < 1.0 {
            beyond.push("no cell read from its device".to_owned());
        }
        if !facts.cache_share.holds(loaded.cache_share, CARRIES) {
            beyond.push(format!(
                "{:.1} % of the data fits the page cache, measured: {}",
                loaded.cache_share * 100.0,
                percent(&facts.cache_share)
            ));
        }
        if !facts.data_bytes_per_node.holds(loaded.data_bytes, DATA_CARRIES) {
            let gb = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
            let measured = span(&facts.data_bytes_per_node, gb);
            beyond.push(format!(
                "{} of data on a node, measured: {measured}",
                gb(loaded.data_bytes)
            ));
        }
        if !facts.vcpus.holds(f64::from(instance.vcpus), CARRIES) {
            let measured = span(&facts.vcpus, |vcpus| vcpus.to_string());
            beyond.push(format!("{} vCPUs, measured: {measured}", instance.vcpus));
        }
        beyond
    }

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

/// `4 to 8`, or `8` where both ends read alike.
fn span(range: &Range, show: impl Fn(f64) -> String) -> String {
    let (low, high) = (show(range.low), show(range.high));
    if low == high { high } else { format!("{low} to {high}") }
}
