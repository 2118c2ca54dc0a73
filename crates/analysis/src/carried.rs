//! What carries over from this machine to those that are bought.
//!
//! Volumes and the way to them are emulated: where they limit a cell, its throughput is that of its configuration at
//! 1:N. CPUs, the disk beneath the volumes and the client are this machine's. Where one of them limits a cell, the
//! configuration itself does as much or more, as long as a vCPU of it does no less than a CPU here. So a ratio whose
//! one side is limited so is a bound, and one whose both sides are says nothing.
//!
//! CPUs are emulated *among each other*: each configuration has its vCPUs / scale, by their speed. So two cells that
//! the CPU limits compare as the configurations do, as long as the CPU would limit both there, too. With faster CPUs
//! the volumes of one of them may come to be its limit first: that of which more is used here. A part that is less than
//! a database can be given is raised, and then CPUs are in no proportion: to each other, or to the volumes beside them.
//!
//! Page caches are emulated by their share of the data, and of fewer zipfian keys the same share misses more often
//! ([`ModelMisses`]). A cell at its volume then does less than its configuration by that factor at the most; one at its
//! CPU does the same, or less where it misses less often here than at full scale. A verdict that this would change is
//! none.

use std::collections::BTreeSet;

use experiment::{ModelMisses, Place, Plan, Setup, Setups};

use crate::document::limit::{LimitKind, ResourceUse};
use crate::document::{Bound, BoundIs, CellAnalysis, ConfigurationFacts, LimitedHere, OfThisMachine};
use crate::fact::VolumeLimit;
use crate::finding::Finding;
use crate::limit::NEAR_CAP;
use crate::rules;
use crate::rules::emulation_floor::EmulationFloor;
use crate::rules::emulation_off_limit::EmulationOffLimit;

/// Two cells that the CPU limits carry over where both use at most this share of what is emulated: on CPUs of twice the
/// speed both would still be limited by them (threshold: ours).
const ROOM: f64 = 0.5;
/// Shares of what is emulated within this factor are alike: both would come to their volumes' limits at the same time.
const ALIKE: f64 = 1.05;
/// CPUs that were raised by less than this factor have their part: rounding.
const ROUNDING: f64 = 1.05;
/// CPUs that differ by less than this share are as many: rounding.
const EQUAL: f64 = 0.01;

/// What of this machine limited each cell, if anything of it did.
#[derive(Debug, Clone, Default)]
pub struct CarriedOver {
    sides: Vec<Side>,
}

#[derive(Debug, Clone)]
struct Side {
    configuration: String,
    limited: Option<OfThisMachine>,
    /// Share of the emulated resource that is fullest.
    emulated: f64,
    /// Whether its data volumes, or the way to them, limited it.
    at_volume: bool,
    /// Whether CPUs did.
    at_cpu: bool,
    /// Whether it may do more where fewer reads go to a volume: nothing else limited it.
    waits_for_reads: bool,
    /// Share of its CPUs that was in use.
    cpu: f64,
    /// How many times its part of the CPUs it has, where that was raised to the least; else 1.
    raised: f64,
    /// How many times as often as at full scale it misses the page cache; 1 where that counts as the same.
    misses: f64,
    /// What its CPUs are; `None`: nothing is known of its setup.
    setup: Option<Setup>,
}

impl CarriedOver {
    /// Of these cells, whose limits are known by now; noted in each of them as well.
    pub fn of(
        plan: &Plan,
        setups: &Setups,
        configurations: &[ConfigurationFacts],
        misses: &[ModelMisses],
        cells: &mut [CellAnalysis],
    ) -> Self {
        let side = |cell: &mut CellAnalysis| {
            let setup = setups.of(&cell.configuration);
            let facts = configurations.iter().find(|c| c.name == cell.configuration);
            let short = facts.map_or_else(BTreeSet::new, below_their_limit);
            // Volumes and CPUs are those of machines that are held to limits.
            let is_emulated = matches!(plan.place, Place::Emulated { .. }) && setup.is_some();
            cell.limited_here = is_emulated.then(|| limited_here(cell, &short)).flatten();
            let share = setup.and_then(|setup| setup.stands_for.as_ref());
            let missed = misses.iter().filter(|of| of.differ());
            let mut missed =
                missed.filter(|of| (&of.configuration, &of.workload) == (&cell.configuration, &cell.workload));
            Side {
                configuration: cell.configuration.clone(),
                limited: cell.limited_here,
                emulated: fullest(cell, LimitKind::is_volume).map_or(0.0, ResourceUse::share),
                at_volume: cell.limit.is_volume() && cell.limit.kind != LimitKind::CommitLog,
                at_cpu: cell.limit.is_cpu() || cell.limit.kind == LimitKind::Gc,
                waits_for_reads: waits_for_reads(cell),
                cpu: fullest(cell, |kind| kind == LimitKind::Cpu).map_or(0.0, ResourceUse::share),
                raised: share.map_or(1.0, |share| share.raised_by(plan.scale())),
                misses: missed.next().map_or(1.0, ModelMisses::factor),
                setup: setup.cloned(),
            }
        };
        Self { sides: cells.iter_mut().map(side).collect() }
    }

    /// The factors between which the throughput of a cell at full scale, over N times that of its model, may lie for
    /// what page caches miss here, and for CPUs that were raised.
    pub fn reach(&self, cell: usize) -> (f64, f64) {
        self.sides.get(cell).map_or((1.0, 1.0), |side| {
            let (least, most) = side.by_misses();
            (if side.is_at_its_part() { least / side.raised } else { least }, most)
        })
    }

    /// Whether CPUs limited a cell that were raised, or would with their part.
    pub fn is_at_raised_cpus(&self, cell: usize) -> bool {
        self.sides.get(cell).is_some_and(|side| side.is_raised() && side.is_at_its_part())
    }

    /// The factors between which the ratio of cell `a` to cell `b` at full scale, over that of their models, may lie
    /// for what page caches miss here. Two cells at their volumes do so much more at full scale as they miss less
    /// often, while their CPUs have room for it.
    pub fn shift(&self, a: usize, b: usize) -> (f64, f64) {
        let (Some(a), Some(b)) = (self.sides.get(a), self.sides.get(b)) else { return (1.0, 1.0) };
        let follows = |side: &Side| side.at_volume && side.cpu * side.raised * side.misses < 1.0;
        if follows(a) && follows(b) {
            let factor = a.misses / b.misses;
            return (factor, factor);
        }
        let (of_a, of_b) = (a.by_misses(), b.by_misses());
        (of_a.0 / of_b.1, of_a.1 / of_b.0)
    }

    /// Why a verdict on cell `a` over cell `b` does not carry over that [`Self::shift`] would change.
    pub fn missed(&self, a: usize, b: usize) -> Bound {
        let sides = [a, b].into_iter().filter_map(|cell| self.sides.get(cell));
        let differing = sides.filter(|side| side.misses != 1.0);
        let by = differing.map(|side| side.limited_by(OfThisMachine::PageCache));
        Bound { is: BoundIs::Nothing, by: by.collect() }
    }

    /// What of the throughput of cell `a` over that of cell `b` holds for their configurations; `None`: all of it.
    pub fn bound(&self, a: usize, b: usize) -> Option<Bound> {
        let (a, b) = (self.sides.get(a)?, self.sides.get(b)?);
        if let Some(bound) = by_raised_cpus(a, b) {
            return Some(bound);
        }
        let is = match (a.limited, b.limited) {
            (None, None) => return None,
            (Some(_), None) => BoundIs::AtLeast,
            (None, Some(_)) => BoundIs::AtMost,
            (Some(OfThisMachine::Cpu), Some(OfThisMachine::Cpu)) if are_in_proportion(a, b) => by_room(a, b)?,
            (Some(_), Some(_)) => BoundIs::Nothing,
        };
        let by = [a, b].into_iter().filter_map(|side| Some(side.limited_by(side.limited?)));
        Some(Bound { is, by: by.collect() })
    }
}

impl Side {
    fn limited_by(&self, by: OfThisMachine) -> LimitedHere {
        LimitedHere { configuration: self.configuration.clone(), by }
    }

    /// The factors between which its throughput at full scale may lie for what its page cache misses: where it waits
    /// for reads it is all of that, or less where CPUs come to be the limit; elsewhere it is nothing, or all of it
    /// where the volume would be.
    fn by_misses(&self) -> (f64, f64) {
        let most = if self.waits_for_reads { self.misses } else { 1.0 };
        (self.misses.min(1.0), most.max(1.0))
    }

    /// Whether it has more than its part of the CPUs.
    fn is_raised(&self) -> bool {
        self.raised > ROUNDING
    }

    /// Whether CPUs limited it, or would with their part.
    fn is_at_its_part(&self) -> bool {
        self.at_cpu || (self.is_raised() && self.cpu * self.raised >= 1.0)
    }
}

/// CPUs that were raised to the least: where they limit a cell, or would with their part, its ratio to one that they do
/// not limit is not that of the configurations, nor is the ratio of two that were raised by different factors.
fn by_raised_cpus(a: &Side, b: &Side) -> Option<Bound> {
    let alike = a.at_cpu && b.at_cpu && (1.0 / ROUNDING..=ROUNDING).contains(&(a.raised / b.raised));
    let raised: Vec<&Side> = [a, b].into_iter().filter(|side| side.is_raised()).collect();
    ((a.is_at_its_part() || b.is_at_its_part()) && !raised.is_empty() && !alike).then(|| Bound {
        is: BoundIs::Nothing,
        by: raised.iter().map(|side| side.limited_by(OfThisMachine::LeastCpus)).collect(),
    })
}

/// Whether a cell may do more where fewer of its reads miss.
fn waits_for_reads(cell: &CellAnalysis) -> bool {
    match cell.limit.kind {
        LimitKind::VolumeIops
        | LimitKind::VolumeThroughput
        | LimitKind::InstanceEbsBandwidth
        | LimitKind::BurstSpent
        | LimitKind::Compaction
        | LimitKind::NoneFound
        | LimitKind::NotWatched => !cell.limit.is_cpu(),
        LimitKind::Cpu
        | LimitKind::Gc
        | LimitKind::Network
        | LimitKind::Client
        | LimitKind::CommitLog
        | LimitKind::CacheTierCpu
        | LimitKind::OfferedRate
        | LimitKind::NotAtRest
        | LimitKind::NotComparable => false,
    }
}

/// Both are limited by CPUs that are in proportion: the one that uses less of its volumes gains more by faster ones.
fn by_room(a: &Side, b: &Side) -> Option<BoundIs> {
    let (less, more) = (a.emulated.min(b.emulated), a.emulated.max(b.emulated));
    match more <= ROOM || more <= less * ALIKE {
        true => None,
        false if a.emulated < b.emulated => Some(BoundIs::AtLeast),
        false => Some(BoundIs::AtMost),
    }
}

/// Whether both have CPUs of this machine in proportion to those of their instances.
fn are_in_proportion(a: &Side, b: &Side) -> bool {
    let (Some(a), Some(b)) = (&a.setup, &b.setup) else { return false };
    match (&a.stands_for, &b.stands_for) {
        (Some(of_a), Some(of_b)) => of_a.is_in_proportion(a.cpus, of_b, b.cpus),
        // They are what they are.
        _ => (a.cpus / b.cpus - 1.0).abs() < EQUAL,
    }
}

/// What of this machine limited a cell. `short` are limits of volumes that this machine's disk does not come to.
fn limited_here(cell: &CellAnalysis, short: &BTreeSet<LimitKind>) -> Option<OfThisMachine> {
    let limit = &cell.limit;
    // Whatever else is full: more than its volume lets through it would not do elsewhere.
    let at_cap = limit.uses.iter().filter(|u| u.at_cap).map(|u| u.kind);
    if at_cap.chain([limit.kind]).any(|kind| kind.is_volume() && !short.contains(&kind)) {
        return None;
    }
    match limit.kind {
        LimitKind::Cpu | LimitKind::Gc | LimitKind::CacheTierCpu => Some(OfThisMachine::Cpu),
        LimitKind::Client => Some(OfThisMachine::Client),
        kind if kind.is_volume() => Some(OfThisMachine::Disk),
        LimitKind::NoneFound | LimitKind::Compaction => near(cell),
        _ => None,
    }
}

/// Where nothing was at its cap: what was nearest to it, if that is this machine's.
fn near(cell: &CellAnalysis) -> Option<OfThisMachine> {
    let late = cell.findings.iter().filter_map(Finding::figures::<EmulationFloor>);
    let late = late.filter(|floor| floor.volume == experiment::VolumeRole::Data);
    if 2 * late.count() as u64 >= cell.valid_trials.max(1) {
        return Some(OfThisMachine::Disk);
    }
    let here = fullest(cell, |kind| matches!(kind, LimitKind::Cpu | LimitKind::Client))?;
    let emulated = fullest(cell, LimitKind::is_volume).map_or(0.0, ResourceUse::share);
    (here.share() >= NEAR_CAP && here.share() > emulated).then_some(match here.kind {
        LimitKind::Client => OfThisMachine::Client,
        _ => OfThisMachine::Cpu,
    })
}

fn fullest(cell: &CellAnalysis, is: impl Fn(LimitKind) -> bool) -> Option<&ResourceUse> {
    let uses = cell.limit.uses.iter().filter(|u| is(u.kind) && u.capacity > 0.0);
    uses.max_by(|a, b| a.share().total_cmp(&b.share()))
}

/// The limits of its data volumes to which fio did not come: there the disk beneath them is what was measured.
fn below_their_limit(configuration: &ConfigurationFacts) -> BTreeSet<LimitKind> {
    let found = rules::off_limit(configuration);
    let off = found.iter().filter_map(Finding::figures::<EmulationOffLimit>);
    let below = off.filter(|off| off.volume.is_data() && off.off_by < 0.0);
    let kind = |off: &EmulationOffLimit| match off.probed {
        VolumeLimit::ReadIops => LimitKind::VolumeIops,
        _ => LimitKind::VolumeThroughput,
    };
    below.map(kind).collect()
}
