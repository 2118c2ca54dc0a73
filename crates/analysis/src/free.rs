//! Free before paid: of configurations that cost the same, which is the fastest, what does it cost besides money, and
//! which more expensive one does it replace?
//!
//! Settings cost nothing, so that a configuration and its variants have one price. Verdicts are those of the
//! comparisons that every other sentence is read from.

use std::collections::BTreeMap;

use experiment::{BacklogFiles, LoadLevel, Plan};
use reported::cassandra::{CHUNK_OFFSET_BYTES, COMPACTED_BYTES_PER_OPERATION, FLUSHED_BYTES_PER_OPERATION};
use stats::{Layout, Samples, Series};

use crate::activity::VolumeActivity;
use crate::comparisons::{Comparisons, is_open, places, verdict};
use crate::document::{CellAnalysis, ConfigurationFacts, FreeStep, Need, Replaced, Spending, SpendingChange, Verdict};
use crate::figures::Figures;
use crate::hardware::is_one_price;
use crate::measurement::TrialMeasurement;
use crate::needs::needs;
use crate::value::{Priced, kept_its_writes, priced};

/// What steps are read from.
pub struct Measured<'a> {
    /// The plan: workloads and data set.
    pub plan: &'a Plan,
    /// The configurations as they were built.
    pub configurations: &'a [ConfigurationFacts],
    pub cells: &'a [CellAnalysis],
    /// Their valid trials.
    pub figures: &'a Figures<'a>,
    pub throughput: &'a Comparisons,
}

impl Measured<'_> {
    /// All steps, by workload and load level, cheapest first. Only closed loops: at a given rate throughput says
    /// nothing.
    pub fn steps(&self) -> Vec<FreeStep> {
        let mut steps = Vec::new();
        for (workload, load, members) in places(self.cells) {
            if is_open(load) {
                continue;
            }
            let judged: Vec<usize> = members.into_iter().filter(|i| self.is_judged(*i)).collect();
            let mut backlogs: Vec<_> = judged.iter().map(|i| self.backlog(*i)).collect();
            backlogs.sort_unstable();
            backlogs.dedup();
            // Nobody chooses whether there is one.
            for backlog in backlogs {
                let alike: Vec<usize> = judged.iter().copied().filter(|i| self.backlog(*i) == backlog).collect();
                steps.extend(self.of_place((&workload, load), &alike));
            }
        }
        steps
    }

    /// The steps among cells of one workload and load level, which can be chosen from.
    fn of_place(&self, place: (&str, LoadLevel), members: &[usize]) -> Vec<FreeStep> {
        let mut steps = Vec::new();
        let all = priced(self.cells, members, self.throughput);
        let mut rest = all.as_slice();
        while let Some(first) = rest.first() {
            let same = |p: &Priced| is_one_price(p.usd, first.usd);
            let (group, dearer) = rest.split_at(rest.iter().take_while(|p| same(p)).count());
            steps.extend(self.of_group(place, group, dearer));
            rest = dearer;
        }
        steps
    }

    /// The backlog of compaction with which the trials of a cell began.
    fn backlog(&self, cell: usize) -> Option<BacklogFiles> {
        let name = &self.cells[cell].configuration;
        self.configurations.iter().find(|c| c.name == *name)?.backlog
    }

    /// Nothing is said of what was not measured in its sustained state, or lost acknowledged writes.
    fn is_judged(&self, cell: usize) -> bool {
        self.cells[cell].withheld.is_none() && kept_its_writes(self.cells, cell)
    }

    fn of_group(&self, (workload, load): (&str, LoadLevel), group: &[Priced], dearer: &[Priced]) -> Option<FreeStep> {
        // Cells stand in the order of the experiment.
        let from = group.iter().min_by_key(|p| p.cell)?;
        let others = || group.iter().filter(|p| p.cell != from.cell);
        // What is shown to be faster comes before what only looks it.
        let is_faster = |p: &Priced| {
            let ratio = self.throughput.ratio(p.cell, from.cell);
            ratio.is_some_and(|r| r.verdict == Verdict::Faster)
        };
        let rank = |p: &&Priced| (is_faster(p), p.figure);
        let to = others().max_by(|a, b| {
            let ((shown, figure), (than, other)) = (rank(a), rank(b));
            shown.cmp(&than).then(figure.total_cmp(&other))
        })?;
        let ratio = self.throughput.ratio(to.cell, from.cell)?;
        let name = |p: &Priced| self.cells[p.cell].configuration.clone();
        let mut tried: Vec<&Priced> = others().collect();
        tried.sort_by_key(|p| p.cell);
        let is_shown = ratio.verdict == Verdict::Faster;
        let replaced = dearer.iter().filter(|_| is_shown).filter_map(|other| {
            let ratio = self.throughput.ratio(to.cell, other.cell)?;
            matches!(ratio.verdict, Verdict::Faster | Verdict::Same).then(|| Replaced {
                configuration: name(other),
                extra_usd_per_month: other.usd - to.usd,
                throughput_ratio: ratio,
            })
        });
        let (before, after) = (&self.cells[from.cell], &self.cells[to.cell]);
        Some(FreeStep {
            workload: workload.to_owned(),
            load,
            usd_per_month: from.usd,
            from: name(from),
            to: name(to),
            tried: tried.into_iter().map(name).collect(),
            per_operation: self.spent(before, after),
            elsewhere: self.elsewhere(before, after),
            needs: self.needs(before, after),
            replaces: replaced.collect(),
            throughput_ratio: ratio,
        })
    }

    fn needs(&self, from: &CellAnalysis, to: &CellAnalysis) -> Vec<Need> {
        let of = |cell: &CellAnalysis| self.configurations.iter().find(|c| c.name == cell.configuration);
        match (of(from), of(to)) {
            (Some(from), Some(to)) => needs(from, to),
            _ => Vec::new(),
        }
    }

    fn elsewhere(&self, from: &CellAnalysis, to: &CellAnalysis) -> Vec<SpendingChange> {
        let workload = self.plan.workloads.iter().find(|w| w.name == from.workload);
        // How much a statement of the user's own writes is not known.
        let payload = workload.filter(|w| !w.is_own()).map(|w| self.plan.dataset.payload_written(w));
        // Without a flush in its trials nothing is known of what becomes of a written byte.
        let amplification = |cell: &CellAnalysis| {
            let flushed = cell.database.get(&FLUSHED_BYTES_PER_OPERATION).filter(|bytes| *bytes > 0.0)?;
            let compacted = cell.database.get(&COMPACTED_BYTES_PER_OPERATION)?;
            stats::ratio(flushed + compacted, payload?)
        };
        let all = known([
            (Spending::DiskBytes, from.bytes_on_disk, to.bytes_on_disk),
            (Spending::ChunkOffsetBytes, from.database.get(&CHUNK_OFFSET_BYTES), to.database.get(&CHUNK_OFFSET_BYTES)),
            (Spending::WriteAmplification, amplification(from), amplification(to)),
        ]);
        all.filter(|of| of.what != Spending::WriteAmplification || self.differ(of.what, from, to)).collect()
    }

    fn spent(&self, from: &CellAnalysis, to: &CellAnalysis) -> Vec<SpendingChange> {
        let cpu_us = |cell: &CellAnalysis| {
            let throughput = cell.throughput_ops_per_s.as_ref()?.median;
            Some(stats::ratio(cell.database_cpus_used?, throughput)? * 1e6)
        };
        let all = known([
            (Spending::DeviceReads, from.device_reads_per_operation, to.device_reads_per_operation),
            (Spending::DeviceReadBytes, from.device_read_bytes_per_operation, to.device_read_bytes_per_operation),
            (Spending::DeviceWriteBytes, from.device_write_bytes_per_operation, to.device_write_bytes_per_operation),
            (Spending::DatabaseCpuUs, cpu_us(from), cpu_us(to)),
        ]);
        all.filter(|of| self.differ(of.what, from, to)).collect()
    }

    /// Whether what varies from trial to trial is shown to differ between two cells, and not to be the same within the
    /// margin.
    fn differ(&self, what: Spending, from: &CellAnalysis, to: &CellAnalysis) -> bool {
        let series = |(column, cell): (usize, &CellAnalysis)| {
            let trials = self.figures.trials(&cell.id).iter();
            let figures = trials.filter_map(|t| Some((t.record.block, of_trial(what, t)?)));
            let by_block: BTreeMap<u32, f64> =
                figures.filter(|(_, f)| f.is_finite() && *f > 0.0).map(|(block, f)| (block, f.ln())).collect();
            Series { group: 0, column, kind: 0, process: 0, by_block }
        };
        let both = [(0, from), (1, to)].map(series);
        let contrast = match from.batch == to.batch {
            true => Layout::new(both.into()).contrast(1, 0),
            // Of two batches of machines no block is shared.
            false => {
                let [before, after] = both.map(|of| of.by_block.into_values().collect::<Vec<f64>>());
                Samples::new([&before, &after].into_iter().map(Vec::as_slice)).contrast(&after, &before)
            }
        };
        let share = self.figures.share_of(&from.id).min(self.figures.share_of(&to.id));
        contrast.is_some_and(|contrast| {
            let (low, high) = contrast.interval(stats::LEVEL * share / VARYING);
            matches!(verdict(low, high, self.plan.decision.margin, true), Verdict::Faster | Verdict::Slower)
        })
    }
}

/// Figures of a step that vary from trial to trial: the level is shared out among them (Bonferroni).
const VARYING: f64 = 5.0;

/// A figure of one trial, in any unit; `None` of what does not vary.
fn of_trial(what: Spending, trial: &TrialMeasurement) -> Option<f64> {
    let volumes =
        |pick: fn(&VolumeActivity) -> f64| trial.per_operation(trial.sum(|node| node.host.sum_of_volumes(pick)));
    match what {
        Spending::DeviceReads => volumes(|v| v.reads),
        Spending::DeviceReadBytes => volumes(|v| v.read_bytes),
        Spending::DeviceWriteBytes => volumes(|v| v.write_bytes),
        Spending::DatabaseCpuUs => stats::ratio(trial.sum(|node| node.host.cpus_used)?, trial.throughput()?),
        Spending::WriteAmplification => {
            let flushed = trial.reported(&FLUSHED_BYTES_PER_OPERATION)?;
            Some(flushed + trial.reported(&COMPACTED_BYTES_PER_OPERATION)?)
        }
        Spending::DiskBytes | Spending::ChunkOffsetBytes => None,
    }
}

/// Those of which both are known.
fn known<const N: usize>(all: [(Spending, Option<f64>, Option<f64>); N]) -> impl Iterator<Item = SpendingChange> {
    let both = |(what, before, after): (Spending, Option<f64>, Option<f64>)| {
        Some(SpendingChange { what, before: before?, after: after? })
    };
    all.into_iter().filter_map(both)
}
