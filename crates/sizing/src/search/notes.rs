//! What a reader must know before trusting a figure.

use std::collections::BTreeSet;

use analysis::{Rule, RunEvidence, each_once};
use experiment::{ModelMisses, PageCacheKeeps};
use workload::Distribution;

use super::question::Search;
use crate::document::Note;
use crate::observation::Observation;
use crate::target::CREDIBLE;

/// Trials shorter than this, seconds, see little of what writes cost later (practice: a memtable takes minutes to
/// fill).
const COMPACTION_SHOWS_S: f64 = 600.0;

impl Search<'_> {
    /// What a reader must know before trusting the figures.
    pub(super) fn notes(&self) -> Vec<Note> {
        let models: BTreeSet<&str> = self.runs.iter().filter_map(|run| cpu_model(&run.environment)).collect();
        let is_cluster = |o: &Observation<'_>| o.setup.placement.is_cluster();
        let alone = self.observations.iter().any(|o| !is_cluster(o));
        let together = self.observations.iter().any(is_cluster);
        let mut notes: Vec<Note> = Vec::new();
        match self.facts.demand.coordinator_share {
            Some(share) => notes.push(Note::Coordination { share }),
            None => {
                notes.extend(alone.then_some(Note::ReplicaAsNode));
                notes.extend(together.then_some(Note::ReplicaOfCluster));
            }
        }
        let models = models.into_iter().map(str::to_owned).collect();
        notes.push(Note::Cpu { models, by_speed: self.facts.cpu_unit.is_some() });
        let most_for_p99 = self.p99.as_ref().map_or(f64::INFINITY, |p99| p99.most);
        let busiest_when_down = self.target.busiest_when_down().min(most_for_p99);
        if busiest_when_down > CREDIBLE {
            notes.push(Note::BeyondCredible { used: busiest_when_down, credible: CREDIBLE });
        }
        let scale = self.observations.iter().map(|o| o.scale).fold(1.0, f64::max);
        if scale > 1.0 {
            notes.push(Note::Scale { scale });
        }
        notes.extend(self.about_data());
        notes.extend(self.about_p99());
        notes.extend(self.about_the_model());
        notes.extend(self.about_trials());
        notes.extend((self.target.zones > 1).then_some(Note::TrafficBetweenZones));
        notes
    }

    /// What the data of models stand for, and whether their page caches miss as often as those of that.
    fn about_data(&self) -> Vec<Note> {
        let mut notes: Vec<Note> = Vec::new();
        for RunEvidence { plan, setups, .. } in self.runs {
            notes.extend(plan.stands_for_records.map(|_| Note::StandsFor { times: plan.data_scale() }));
            if plan.place.model().page_cache == PageCacheKeeps::Calibrated {
                notes.push(Note::CacheCalibrated);
                continue;
            }
            let mut differing: Vec<ModelMisses> = plan.misses().all(setups);
            differing.retain(ModelMisses::differ);
            let can_be_kept = differing.iter().all(|of| of.can_be_kept);
            let off = |factor: &f64| factor.ln().abs();
            match differing.iter().map(ModelMisses::factor).max_by(|a, b| off(a).total_cmp(&off(b))) {
                Some(factor) => notes.push(Note::MissesDiffer { factor, can_be_kept }),
                None if !plan.caches.same_misses_bytes.is_empty() => notes.push(Note::MissesKept),
                None => {}
            }
        }
        each_once(notes)
    }

    fn about_p99(&self) -> Option<Note> {
        let (asked_ms, p99) = self.target.p99_ms.zip(self.p99.as_ref())?;
        let (used, configurations) = (p99.most, self.facts.p99_carried.clone());
        let Some(why) = p99.unchecked else {
            let open = self.observations.iter().filter(|o| o.is_open_loop);
            let scale = open.map(|o| o.scale).fold(1.0, f64::max);
            return Some(match configurations.is_empty() {
                true => Note::P99Kept { asked_ms, used, scale },
                false => Note::P99Carried { asked_ms, configurations, used, scale },
            });
        };
        let measured = self.observations.iter().filter_map(|o| o.p99_us);
        let lowest_ms = measured.min_by(f64::total_cmp).map(|us| us / 1e3);
        let used = used.min(self.target.busiest());
        Some(Note::P99NotChecked { asked_ms, found: configurations, why, lowest_ms, used })
    }

    fn about_the_model(&self) -> Vec<Note> {
        let held = &self.facts.held_out;
        let test = match (held.median_error, held.is_accepted()) {
            (None, _) => Some(Note::NothingHeldOut),
            (Some(_), false) => Some(Note::ModelRefused),
            (Some(_), true) => None,
        };
        let is_exponential = matches!(self.distribution, Distribution::Exponential { .. });
        let keys = is_exponential.then_some(Note::ExponentialAsUniform);
        let mix = (!self.facts.demand.cpu_told_apart).then_some(Note::OneMix);
        [test, keys, mix].into_iter().flatten().collect()
    }

    fn about_trials(&self) -> Vec<Note> {
        let suspicions = self.observations.iter().flat_map(|o| o.suspicions.iter().copied());
        let mut rules: Vec<Rule> = suspicions.collect::<BTreeSet<Rule>>().into_iter().collect();
        rules.sort_by_key(|rule| rule.name());
        let suspect = (self.facts.suspect_trials > 0).then_some(Note::Suspect {
            suspect: self.facts.suspect_trials,
            trials: self.facts.trials,
            rules,
        });
        let seconds = self.runs.iter().map(|run| run.plan.shape.duration_s).fold(f64::INFINITY, f64::min);
        let writes = self.observations.iter().any(|o| o.work.writes > 0.0);
        let short = (seconds < COMPACTION_SHOWS_S && writes).then_some(Note::ShortTrials { seconds });
        let capacity =
            (self.facts.capacity_cells == 0 && self.facts.p99_carried.is_empty()).then_some(Note::NoCapacitySeen);
        [suspect, short, capacity].into_iter().flatten().collect()
    }
}

fn cpu_model(environment: &serde_json::Value) -> Option<&str> {
    environment.get("database")?.get("cpu_model")?.as_str()
}
