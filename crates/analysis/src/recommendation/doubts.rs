//! What a reader must know before believing the answer: doubts, and configurations that could not be judged.

use std::collections::BTreeSet;

use experiment::{BurstStart, CpuShare, DiskTooSmall, ModelMisses, Setup, VolumeRole, VolumeSetup};
use reported::postgresql::{CHECKPOINT_AT_THE_END, CHECKPOINTER_BYTES_PER_OPERATION, CHECKPOINTS_OF_TRIAL};

use super::Answer;
use super::by_capacity::excluded_by_probe;
use crate::comparisons::places;
use crate::document::{
    AnswerOutcome, Capacity, CapacityOutcome, CellAnalysis, DecidedBy, Doubt, FleetOf, LimitedHere, MissesInModel,
    NodeAnalysis, NotConsidered, NotJudged, OfThisMachine, OverallCandidate, TrialCounts, Verdict, WorkloadAnswer,
    prices_decide,
};
use crate::finding::{Finding, Scope};
use crate::lists::{each_once, grouped};
use crate::rule::{Rule, Severity};

impl Answer<'_> {
    /// Configurations that could not be judged. One without a price was, where throughput alone decides and where
    /// nothing that has a price might be run; one without a trial, where probes showed that it misses the objective.
    pub(super) fn not_considered(
        &self,
        all_places: &[WorkloadAnswer],
        everywhere: &[OverallCandidate],
    ) -> Vec<NotConsidered> {
        let any_priced = self.cells.iter().any(|c| c.usd_per_month.is_some());
        let no_priced_might =
            !everywhere.is_empty() && !prices_decide(everywhere.iter().map(|c| (c.usd_per_month, c.meets)));
        let was_judged =
            |name: &str| no_priced_might || all_places.iter().any(|place| self.judges_unpriced(place, name));
        let misses_at_any_rate = |name: &str| {
            let mut own = self.capacities.iter().filter(|c| c.configuration == name);
            own.any(|c| c.outcome == CapacityOutcome::Floor)
        };
        let mut all = Vec::new();
        for setup in self.setups.iter() {
            let name = &setup.configuration;
            let cells: Vec<usize> = (0..self.cells.len()).filter(|i| self.cells[*i].configuration == *name).collect();
            let measured = cells.iter().filter(|i| self.cells[**i].valid_trials > 0).count();
            let has_no_price = !cells.is_empty() && cells.iter().all(|i| self.cells[*i].usd_per_month.is_none());
            let why = if let Some(why) = self.lost_writes(name) {
                Some(why)
            } else if !self.hardware.is_choice(name) {
                Some(NotJudged::OtherBacklog)
            } else if measured == 0 && !misses_at_any_rate(name) {
                Some(NotJudged::NoValidTrial)
            } else if any_priced && has_no_price && !was_judged(name) {
                Some(if cells.iter().any(|i| self.beats_all_priced(*i)) {
                    NotJudged::NoPriceThoughFaster
                } else {
                    NotJudged::NoPrice
                })
            } else if measured < cells.len() {
                Some(NotJudged::NotEverywhere)
            } else {
                None
            };
            all.extend(why.map(|why| NotConsidered { configuration: name.clone(), why }));
        }
        all
    }

    /// Whether a configuration was judged in a place where prices do not decide.
    fn judges_unpriced(&self, place: &WorkloadAnswer, name: &str) -> bool {
        let is_judged = |c: &CellAnalysis| c.configuration == name && c.valid_trials > 0 && place.is_of(c);
        !place.by_money && place.outcome != AnswerOutcome::NoObjective && self.cells.iter().any(is_judged)
    }

    /// What a configuration lost of its acknowledged writes, under whatever workload and load.
    pub(super) fn lost_writes(&self, configuration: &str) -> Option<NotJudged> {
        let cells = self.cells.iter().filter(|c| c.configuration == configuration);
        let (lost, values) = cells
            .filter_map(|c| c.writes.as_ref())
            .fold((0, 0), |(lost, values), w| (lost + w.lost(), values + w.values));
        (lost > 0).then_some(NotJudged::LostWrites { lost, values })
    }

    /// Configurations of a database that has checkpoints, and did none while it was written to.
    fn without_checkpoint(&self) -> Option<Doubt> {
        let writes = |cell: &&CellAnalysis| {
            let mut workloads = self.plan.workloads.iter().filter(|asked| asked.name == cell.workload);
            workloads.any(|asked| asked.writes() > 0.0)
        };
        // One that goes on to the end is counted only then, and shows by what it wrote, unless it is late: a
        // checkpointer hands its counts in while it waits, not to be early (`CheckpointWriteDelay`).
        let has_none = |cell: &&CellAnalysis| {
            let wrote = cell.database.get(&CHECKPOINTER_BYTES_PER_OPERATION).is_some_and(|bytes| bytes > 0.0);
            let goes_on = cell.database.get(&CHECKPOINT_AT_THE_END).is_some_and(|at_the_end| at_the_end > 0.0);
            !wrote && !goes_on && cell.database.get(&CHECKPOINTS_OF_TRIAL).is_some_and(|done| done < 0.5)
        };
        let cells = self.cells.iter().filter(writes).filter(has_none);
        let configurations = each_once(cells.map(|cell| cell.configuration.clone()));
        any(configurations, |configurations| Doubt::NoCheckpoint { configurations })
    }

    /// Whether no operation waited for another node, of a database whose requests can.
    fn is_one_copy(&self) -> bool {
        let database = &self.plan.target.database;
        let is_single = self.setups.iter().all(|setup| !setup.placement.is_cluster());
        database.version().is_some() && database.product().has_consistency && is_single
    }

    /// What ran the database, where that had options of its own or was not the same throughout.
    fn runtimes(&self) -> Vec<Doubt> {
        let all = evidence::runtimes(self.environment);
        let options = each_once(all.values().flatten().flat_map(|runtime| runtime.options.clone()));
        let added = any(options, |options| Doubt::RuntimeOptions { options });
        let unlike = all.into_iter().filter(|(_, runtimes)| runtimes.len() > 1);
        let unlike = unlike.map(|(version, runtimes)| Doubt::RuntimesDiffer { version, runtimes });
        added.into_iter().chain(unlike).collect()
    }

    /// Whether a bound on latency decides somewhere, in a model.
    fn latency_in_model(&self, all: &[WorkloadAnswer]) -> Option<Doubt> {
        let scale = self.plan.scale();
        let is_bounded = self.plan.objective.as_ref().is_some_and(|objective| !objective.latency.is_empty());
        let decides = |place: &WorkloadAnswer| matches!(place.by, DecidedBy::Objective | DecidedBy::Capacity);
        (scale > 1.0 && is_bounded && all.iter().any(decides)).then_some(Doubt::LatencyInModel { scale })
    }

    fn of_severity(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |f| f.severity == severity)
    }

    fn is_on_local_disks(&self, configuration: &str) -> bool {
        self.setups.of(configuration).is_some_and(|s| s.data.is_local)
    }

    /// Measured configurations on emulated local disks whose bytes a second are not known, and so were not limited.
    fn local_bytes_unknown(&self) -> Option<Doubt> {
        let has_no_limit = |volume: &VolumeSetup| {
            let limits = &volume.limits;
            volume.is_local && (limits.read_bytes_per_s.is_none() || limits.write_bytes_per_s.is_none())
        };
        let of_setup = |setup: &Setup| {
            let cells = self.cells.iter().filter(|c| c.configuration == setup.configuration && c.valid_trials > 0);
            let did = |node: &NodeAnalysis| Some(node.device_read_bytes_per_s? + node.device_write_bytes_per_s?);
            // Of a single node a cell says what an operation moved.
            let did_alone = |cell: &CellAnalysis| {
                let moved = cell.device_read_bytes_per_operation? + cell.device_write_bytes_per_operation?;
                Some(moved * cell.throughput_ops_per_s.as_ref()?.median)
            };
            let did_in =
                |cell: &CellAnalysis| cell.nodes.iter().filter_map(did).reduce(f64::max).or_else(|| did_alone(cell));
            let most = cells.filter_map(did_in).reduce(f64::max);
            (setup.configuration.clone(), most.map(|bytes| bytes * self.plan.scale()))
        };
        let is_measured =
            |setup: &&Setup| self.cells.iter().any(|c| c.configuration == setup.configuration && c.valid_trials > 0);
        let unknown = self.setups.iter().filter(|setup| setup.volumes().any(has_no_limit)).filter(is_measured);
        let configurations: Vec<(String, Option<f64>)> = unknown.map(of_setup).collect();
        (self.plan.place.is_modelled() && !configurations.is_empty())
            .then_some(Doubt::LocalBytesUnknown { configurations })
    }

    fn beats_all_priced(&self, cell: usize) -> bool {
        let ours = &self.cells[cell];
        let mut ratios = (0..self.cells.len())
            .filter(|i| {
                let other = &self.cells[*i];
                other.usd_per_month.is_some() && other.workload == ours.workload && other.load == ours.load
            })
            .filter_map(|i| self.throughput.ratio(cell, i))
            .peekable();
        ratios.peek().is_some() && ratios.all(|r| r.verdict == Verdict::Faster)
    }

    /// Configurations with a figure, by the batch of machines that they were measured in, with its site.
    fn batches(&self) -> Vec<(Vec<String>, Option<String>)> {
        let measured = self.cells.iter().filter(|cell| cell.valid_trials > 0);
        let mut batches = grouped(measured.map(|cell| (cell.batch, cell.configuration.clone())));
        batches.sort_by_key(|(batch, _)| *batch);
        let site = |batch: u32| {
            let reported = &self.environment[format!("batch-{}", batch + 1)]["site"];
            reported.as_str().map(str::to_owned)
        };
        let all = batches.into_iter();
        all.map(|(batch, together)| (each_once(together), site(batch))).collect()
    }

    /// Configurations that this machine limited in some cell, each once by each part of it.
    fn limited_here(&self) -> Vec<LimitedHere> {
        let limited = self.cells.iter().filter_map(|cell| Some((&cell.configuration, cell.limited_here?)));
        let each = each_once(limited).into_iter();
        each.map(|(configuration, by)| LimitedHere { configuration: configuration.clone(), by }).collect()
    }

    /// What was measured of page caches that the model misses more or less often than full scale.
    fn model_misses(&self) -> Option<Doubt> {
        let is_measured = |of: &&ModelMisses| {
            let mut cells = self.cells.iter().filter(|cell| cell.valid_trials > 0);
            cells.any(|cell| (&cell.configuration, &cell.workload) == (&of.configuration, &of.workload))
        };
        let differing: Vec<&ModelMisses> = self.misses.iter().filter(|of| of.differ()).filter(is_measured).collect();
        let can_be_kept = differing.iter().all(|of| of.can_be_kept);
        let all: Vec<MissesInModel> = differing
            .into_iter()
            .map(|of| MissesInModel {
                configuration: of.configuration.clone(),
                workload: of.workload.clone(),
                in_model: of.in_model,
                at_full_scale: of.at_full_scale,
                factor: of.factor(),
            })
            .collect();
        let own_buffers = experiment::own_buffers(self.plan.target.database.product()).map(str::to_owned);
        (!all.is_empty()).then_some(Doubt::ModelMisses { all, can_be_kept, own_buffers })
    }

    /// Configurations whose raised CPUs keep a ratio, or a demand, from carrying over.
    fn cpus_raised(&self) -> Option<Doubt> {
        let of_places = places(self.cells).into_iter().flat_map(|(_, _, members)| {
            let pairs = members.iter().flat_map(|a| members.iter().map(move |b| (*a, *b)));
            pairs.filter(|(a, b)| a < b).collect::<Vec<_>>()
        });
        let bounds = of_places.filter_map(|(a, b)| self.throughput.ratio(a, b)?.bound).flat_map(|bound| bound.by);
        let compared = bounds.filter(|of| of.by == OfThisMachine::LeastCpus).map(|of| of.configuration);
        let demand = self.plan.objective.as_ref().and_then(|objective| objective.throughput);
        let demanded = (0..self.cells.len())
            .filter(|cell| demand.is_some() && self.throughput.carried().is_at_raised_cpus(*cell))
            .map(|cell| self.cells[cell].configuration.clone());
        let configurations = each_once(compared.chain(demanded));
        let shares = configurations.iter().filter_map(|name| self.setups.of(name)?.stands_for.as_ref());
        let most_scale = shares.map(CpuShare::most_scale).reduce(f64::min)?;
        Some(Doubt::CpusRaised { configurations, most_scale })
    }

    /// Measured configurations whose disks would not hold the data at full scale.
    fn disks_too_small(&self) -> Vec<DiskTooSmall> {
        let is_measured = |of: &DiskTooSmall| {
            let mut cells = self.cells.iter().filter(|cell| cell.valid_trials > 0);
            cells.any(|cell| cell.configuration == of.configuration)
        };
        self.plan.disks_too_small().into_iter().filter(is_measured).collect()
    }

    /// The volumes that started with credits, by choice.
    fn burst_starts(&self) -> Vec<(String, VolumeRole)> {
        let started = |v: &&VolumeSetup| v.burst_start().is_some_and(|start| start != BurstStart::Baseline);
        let of_setup = |setup: &Setup| {
            let volumes = [Some(&setup.data), setup.commitlog.as_ref()].into_iter().flatten().filter(started);
            volumes.map(|volume| (setup.configuration.clone(), volume.role)).collect::<Vec<_>>()
        };
        self.setups.iter().flat_map(of_setup).collect()
    }

    /// Rules with suspect findings and their number, most first.
    fn suspect_rules(&self) -> Vec<(Rule, u64)> {
        let suspect = grouped(self.of_severity(Severity::Suspect).map(|finding| (finding.rule(), ())));
        let mut rules: Vec<(Rule, u64)> = suspect.into_iter().map(|(rule, all)| (rule, all.len() as u64)).collect();
        rules.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        rules
    }

    /// A trial that is invalid for another reason is not counted among the valid ones.
    fn too_short(&self) -> Option<Doubt> {
        let invalid: BTreeSet<&Scope> = self.of_severity(Severity::Invalid).map(|f| &f.scope).collect();
        let too_short = self.findings.iter().filter(|f| f.rule() == Rule::TooShortToJudge);
        let (trials, valid) = (too_short.filter(|f| !invalid.contains(&f.scope)).count() as u64, self.trials.valid);
        (trials > 0 && 2 * trials >= valid).then_some(Doubt::TooShort { trials, valid })
    }

    /// Others that measured on the same machine.
    fn beside(&self) -> Option<Doubt> {
        let others = self.environment.get("beside")?.as_array().into_iter().flatten();
        Some(Doubt::Beside { others: others.filter_map(|who| who.as_str().map(str::to_owned)).collect() })
    }

    pub(super) fn doubts(
        &self,
        all: &[WorkloadAnswer],
        everywhere: &[OverallCandidate],
        run: Option<&str>,
    ) -> Vec<Doubt> {
        let (place, scale) = (&self.plan.place, self.plan.scale());
        let TrialCounts { planned, done, valid } = self.trials;
        let candidates = candidates(all, run);
        let too_small = self.disks_too_small();
        // First where it is about what is recommended.
        let is_first = too_small.iter().any(|of| candidates.contains(of.configuration.as_str()));
        let too_small = any(too_small, |configurations| Doubt::DiskTooSmall { configurations });
        let open = all.iter().filter(|p| !matches!(p.outcome, AnswerOutcome::Run { .. })).count() as u64;
        let by_capacity = all.iter().filter(|place| place.by == DecidedBy::Capacity);
        let excluded = by_capacity.flat_map(|p| excluded_by_probe(p, self.capacities, scale));
        let on_local_disks = candidates.into_iter().filter(|c| self.is_on_local_disks(c));
        let batches = self.batches();
        let said = |doubts: Vec<Option<Doubt>>| doubts.into_iter().flatten();
        said(vec![
            too_small.clone().filter(|_| is_first),
            self.local_bytes_unknown(),
            self.latency_in_model(all),
            place.is_simulated().then_some(Doubt::Simulated),
            place.is_imported().then_some(Doubt::Imported),
            self.beside(),
        ])
        .chain(self.runtimes())
        .chain(said(vec![
            (done < planned).then(|| Doubt::Missing { trials: planned - done, planned }),
            any(self.skipped.to_vec(), |cells| Doubt::Skipped { cells }),
            (valid < done).then(|| Doubt::Invalid { trials: done - valid, done }),
            any(self.burst_starts(), |volumes| Doubt::BurstStart { volumes }),
            (run.is_some() && open > 0 && everywhere.is_empty()).then_some(Doubt::PlacesUndecided { places: open }),
        ]))
        .chain(run.into_iter().flat_map(|run| fleets_cheaper(all, everywhere, run)))
        .chain(self.capacities.iter().filter_map(not_monotone))
        .chain(said(vec![
            any(each_once(excluded), |configurations| Doubt::ClosedLoopOnce { configurations }),
            any(self.suspect_rules(), |rules| Doubt::Findings { rules }),
            self.too_short(),
            self.without_checkpoint(),
        ]))
        .chain(on_local_disks.map(|c| Doubt::LocalDisks { configuration: c.to_owned() }))
        .chain(said(vec![
            (batches.len() > 1 && !place.is_imported()).then_some(Doubt::Batches { batches }),
            too_small.filter(|_| !is_first),
            self.model_misses(),
            self.cpus_raised(),
            any(self.limited_here(), |all| Doubt::LimitedHere { all }),
            self.is_one_copy().then_some(Doubt::OneCopy),
            (scale != 1.0).then_some(Doubt::Scale { scale }),
            self.plan.adaptive.as_ref().and_then(|a| a.stopped.clone()).map(|why| Doubt::Stopped { why }),
        ]))
        .collect()
    }
}

/// A doubt about some of them; `None` about none.
fn any<T>(some: Vec<T>, doubt: impl FnOnce(Vec<T>) -> Doubt) -> Option<Doubt> {
    (!some.is_empty()).then(|| doubt(some))
}

fn not_monotone(capacity: &Capacity) -> Option<Doubt> {
    let (missed_ops_per_s, met_ops_per_s) = capacity.contradiction()?;
    Some(Doubt::NotMonotone {
        configuration: capacity.configuration.clone(),
        workload: capacity.workload.clone(),
        missed_ops_per_s,
        met_ops_per_s,
    })
}

/// The configuration to run, or those between which the choice is.
fn candidates<'a>(all: &'a [WorkloadAnswer], run: Option<&'a str>) -> BTreeSet<&'a str> {
    let between = all.iter().filter_map(|place| match &place.outcome {
        AnswerOutcome::Between { configurations, .. } if run.is_none() => {
            Some(configurations.iter().map(String::as_str))
        }
        _ => None,
    });
    run.into_iter().chain(between.flatten()).collect()
}

/// A configuration, its price, and how many of it carry the demand.
type Fleet<'a> = (&'a str, Option<f64>, Option<FleetOf>);

/// Everywhere together, or in each place.
fn fleets_cheaper(all: &[WorkloadAnswer], everywhere: &[OverallCandidate], run: &str) -> Vec<Doubt> {
    let of_place = |place: &WorkloadAnswer| {
        fleet_cheaper(place.candidates.iter().map(|c| (c.configuration.as_str(), c.usd_per_month, c.fleet)), run)
    };
    let of_all = everywhere.iter().map(|c| (c.configuration.as_str(), c.usd_per_month, c.fleet));
    match everywhere.is_empty() {
        true => all.iter().filter_map(of_place).collect(),
        false => fleet_cheaper(of_all, run).into_iter().collect(),
    }
}

/// More of a cheaper configuration that carries the demand for less than the one to run.
fn fleet_cheaper<'a>(all: impl Iterator<Item = Fleet<'a>> + Clone, run: &str) -> Option<Doubt> {
    let (_, ours, of_chosen) = all.clone().find(|(name, ..)| *name == run)?;
    let (of_chosen, ours) = (of_chosen?, ours?);
    let others = all.filter(|(name, ..)| *name != run).filter_map(|(name, _, fleet)| Some((name.to_owned(), fleet?)));
    let (configuration, fleet) = others.min_by(|a, b| a.1.usd_per_month.total_cmp(&b.1.usd_per_month))?;
    (fleet.usd_per_month < ours.max(of_chosen.usd_per_month)).then_some(Doubt::FleetCheaper { configuration, fleet })
}
