//! What more of a resource gave: the matrix as a set of experiments on the limit.
//!
//! Use names candidates, because a full resource need not be the one that bounds (two may be full) and a resource may
//! bound below its cap (waiting grows before). Where another configuration of the matrix has more of one resource
//! alone, the gain in throughput under the same workload and load decides.

use experiment::{IoLimits, LoadLevel, Plan, Setup, VolumeSetup};

use crate::dimension::Dimension;
use crate::document::limit::{
    Counted, Intervention, InterventionOutcome, Limit, LimitKind, Resource, ResourceChange, ResourceUse, Unit,
};
use crate::document::{Range, Ratio};
use crate::limit::unlike::is_in_amounts_alone;
use crate::limit::window::unit_of;

/// A gain counts from this share on: the interval lies above it (confirmed) or below it (contradicted).
const MATERIAL_GAIN: f64 = 0.05;
/// Gaining nothing contradicts from this factor in the resource on; less of a step may gain less than can be seen.
const LARGE_STEP: f64 = 2.0;
/// A resource that differs but was used to at most this share of the smaller of the two cannot have mattered ...
const HAD_ROOM: f64 = 0.7;
/// ... when it was at its cap in at most this share of the windows.
const HAD_ROOM_WINDOWS: f64 = 0.1;
/// From this share of its capacity on, a resource below its cap is named where more of it alone gave more.
pub const NEAR_CAP: f64 = 0.8;
/// Limits within this factor are the same.
const ROUNDING: f64 = 1.001;

/// A cell with its limit by use.
#[derive(Debug, Clone, Copy)]
pub struct CellLimit<'a> {
    pub id: &'a str,
    pub configuration: &'a str,
    pub workload: &'a str,
    pub load: LoadLevel,
    pub limit: &'a Limit,
    /// Share of the reads among the requests of its data volume; `None`: not measured.
    pub read_share: Option<f64>,
    /// The same of the bytes of its volumes.
    pub read_bytes_share: Option<f64>,
}

impl Resource {
    /// The limits that more of it would lift.
    pub fn kinds(self) -> &'static [LimitKind] {
        use LimitKind::{BurstSpent, CommitLog, Cpu, InstanceEbsBandwidth, VolumeIops, VolumeThroughput};
        match self {
            Self::DataIops => &[VolumeIops, BurstSpent, InstanceEbsBandwidth],
            Self::DataBytesPerS => &[VolumeThroughput, BurstSpent, InstanceEbsBandwidth],
            Self::Cpus => &[Cpu],
            Self::Memory => &[],
            Self::InstanceIops | Self::InstanceBytesPerS => &[InstanceEbsBandwidth],
            Self::CommitLog => &[CommitLog],
        }
    }

    /// Its uses in a cell; the instance's path counts by its unit.
    fn uses(self, limit: &Limit) -> impl Iterator<Item = &ResourceUse> {
        let is_meant = move |u: &&ResourceUse| {
            self.kinds().contains(&u.kind)
                && match self {
                    Self::DataIops => u.unit == Unit::Iops && !u.is_shared,
                    Self::DataBytesPerS => u.unit == Unit::BytesPerS && !u.is_shared,
                    Self::InstanceIops => u.unit == Unit::Iops && u.is_shared,
                    Self::InstanceBytesPerS => u.unit == Unit::BytesPerS && u.is_shared,
                    _ => true,
                }
        };
        limit.uses.iter().filter(is_meant)
    }
}

/// For each cell, what more of a resource gave: one intervention a resource, by the smallest step that decides, else
/// the smallest. Steps in several resources at once are reported only where none of them has a step of its own.
///
/// `gain(from, to)` is the throughput of cell `to` over that of `from`.
pub fn interventions(
    plan: &Plan,
    setups: &[Setup],
    cells: &[CellLimit<'_>],
    gain: &dyn Fn(&str, &str) -> Option<Ratio>,
) -> Vec<Vec<Intervention>> {
    let setup = |name: &str| setups.iter().find(|s| s.configuration == name);
    cells
        .iter()
        .map(|cell| {
            // Where the rate was held, or nothing was measured, throughput says nothing about resources.
            let is_reported = !matches!(cell.limit.kind, LimitKind::OfferedRate | LimitKind::NotComparable);
            let others = cells.iter().filter(|other| {
                is_reported
                    && other.configuration != cell.configuration
                    && (other.workload, other.load) == (cell.workload, cell.load)
            });
            let steps = others.filter_map(|other| {
                let (from, to) = (setup(cell.configuration)?, setup(other.configuration)?);
                if !is_in_amounts_alone(plan, from, to) {
                    return None;
                }
                let (more, beside) = differences(from, to, cell)?;
                let ratio = gain(cell.id, other.id)?;
                let outcome = outcome(&more, &ratio, other.limit.kind);
                Some(Intervention {
                    to: other.configuration.to_owned(),
                    more,
                    beside,
                    gain: Range { median: ratio.median, low: ratio.low, high: ratio.high },
                    outcome,
                })
            });
            chosen(steps.collect())
        })
        .collect()
}

/// One step for each set of resources.
fn chosen(mut steps: Vec<Intervention>) -> Vec<Intervention> {
    let size = |step: &Intervention| -> f64 { step.more.iter().map(|c| c.factor.unwrap_or(f64::INFINITY)).product() };
    let resources = |step: &Intervention| -> Vec<Resource> { step.more.iter().map(|c| c.resource).collect() };
    steps.sort_by(|a, b| {
        (a.more.len(), resources(a)).cmp(&(b.more.len(), resources(b))).then(size(a).total_cmp(&size(b)))
    });
    let mut kept: Vec<Intervention> = Vec::new();
    for step in steps {
        let (own, is_alone) = (resources(&step), step.more.len() == 1);
        let is_decided = |i: &Intervention| i.outcome != InterventionOutcome::NotDecided;
        match kept.iter_mut().find(|k| resources(k) == own) {
            Some(known) if is_decided(&step) && !is_decided(known) => *known = step,
            Some(_) => {}
            None => {
                let is_known_alone = kept.iter().any(|k| k.more.len() == 1 && own.contains(&k.more[0].resource));
                if is_alone || !is_known_alone {
                    kept.push(step);
                }
            }
        }
    }
    kept
}

fn outcome(more: &[ResourceChange], ratio: &Ratio, limit_there: LimitKind) -> InterventionOutcome {
    // A single pair has no interval.
    let is_tested = ratio.p_value.is_some();
    let is_large = more.iter().all(|c| c.factor.is_none_or(|f| f * ROUNDING >= LARGE_STEP));
    if is_tested && more.len() == 1 && ratio.low > 1.0 + MATERIAL_GAIN {
        return InterventionOutcome::Confirmed;
    }
    // A rate that was held there hides what more could have given.
    let is_open = limit_there != LimitKind::OfferedRate;
    if is_tested && is_large && is_open && ratio.high < 1.0 + MATERIAL_GAIN {
        return InterventionOutcome::Contradicted;
    }
    InterventionOutcome::NotDecided
}

/// What `to` has more of, and what differs without mattering; `None` where it has less of something that matters, or
/// more of nothing.
fn differences(from: &Setup, to: &Setup, cell: &CellLimit<'_>) -> Option<(Vec<ResourceChange>, Vec<ResourceChange>)> {
    let limit = cell.limit;
    // Where both hold their volumes together to the instance's path, it is a resource of its own.
    let whole = |setup: &Setup| {
        let paths = f64::from(setup.paths_of_data());
        setup.instance_limits.map(|limits| limits.scaled(1.0 / paths))
    };
    let paths = whole(from).zip(whole(to));
    let is_path_apart = paths.is_some();
    let of_path = |resource, dimension: Dimension| {
        let (from, to) = paths.as_ref()?;
        change(resource, dimension.limits(from).0, dimension.limits(to).0)
    };
    let of_volumes = |resource: Resource, dimension: Dimension, read_share: Option<f64>| {
        let is_spent = |u: &ResourceUse| u.kind == LimitKind::BurstSpent && u.unit == unit_of(dimension);
        let is_spent = limit.uses.iter().any(is_spent);
        let [of_from, of_to] = [from, to].map(|setup| of_data(setup, dimension, is_spent, is_path_apart));
        let (from, to) = bounding(fullest(resource.uses(limit)), read_share, (of_from, of_to));
        change(resource, from, to)
    };
    let changes = [
        of_volumes(Resource::DataIops, Dimension::Requests, cell.read_share),
        of_volumes(Resource::DataBytesPerS, Dimension::Bytes, cell.read_bytes_share),
        of_path(Resource::InstanceIops, Dimension::Requests),
        of_path(Resource::InstanceBytesPerS, Dimension::Bytes),
        change(Resource::Cpus, Some(from.cpus), Some(to.cpus)),
        memory(from, to),
        commit_log(from.commitlog.as_ref(), to.commitlog.as_ref(), is_path_apart),
    ];
    let (beside, matters): (Vec<ResourceChange>, Vec<ResourceChange>) =
        changes.into_iter().flatten().partition(|c| had_room(c, limit));
    let is_more = |c: &ResourceChange| c.is_more();
    (!matters.is_empty() && matters.iter().all(is_more)).then_some((matters, beside))
}

fn fullest<'a>(uses: impl Iterator<Item = &'a ResourceUse>) -> Option<&'a ResourceUse> {
    uses.max_by(|a, b| a.share().total_cmp(&b.share()))
}

impl ResourceChange {
    fn is_more(&self) -> bool {
        match self.resource {
            // Without a volume of its own the log shares the data volume.
            Resource::CommitLog if self.from.is_none() => true,
            Resource::CommitLog if self.to.is_none() => false,
            _ => self.to.unwrap_or(f64::INFINITY) > self.from.unwrap_or(f64::INFINITY),
        }
    }
}

/// A difference, if there is one; `None` in a value is "no limit".
fn change(resource: Resource, from: Option<f64>, to: Option<f64>) -> Option<ResourceChange> {
    let factor = from.zip(to).and_then(|(from, to)| stats::ratio(to, from));
    let is_same = match (from, to) {
        (None, None) => true,
        _ => factor.is_some_and(|f| f < ROUNDING && f > 1.0 / ROUNDING),
    };
    (!is_same).then_some(ResourceChange { resource, from, to, factor })
}

/// What a volume allows; `None` is "no limit".
#[derive(Debug, Clone, Copy, PartialEq)]
struct Allowed {
    reads: Option<f64>,
    writes: Option<f64>,
}

impl Allowed {
    /// Of reads and writes, where the direction is not known.
    fn lesser(self) -> Option<f64> {
        self.reads.into_iter().chain(self.writes).min_by(f64::total_cmp)
    }
}

/// What two volumes allow in the direction that bounds the cell: an instance store has several times as many read IOPS
/// as write IOPS.
///
/// Where the cell's limit counts both together it is the direction that the cell's mix would fill first in `to`. The
/// lesser of reads and writes, where the direction is not known, or where `to` has less in the other one.
fn bounding(
    use_of: Option<&ResourceUse>,
    read_share: Option<f64>,
    (from, to): (Allowed, Allowed),
) -> (Option<f64>, Option<f64>) {
    let most = |allowed: Option<f64>| allowed.unwrap_or(f64::INFINITY);
    let (reads, writes) = ((from.reads, to.reads), (from.writes, to.writes));
    match (use_of.and_then(|used| used.counted), read_share) {
        (Some(Counted::Reads), _) if most(to.writes) >= most(from.writes) => reads,
        (Some(Counted::Writes), _) if most(to.reads) >= most(from.reads) => writes,
        (Some(Counted::Together | Counted::InUnits), Some(share)) => {
            // Requests of this mix until one direction is full; a share of nothing fills nothing.
            if most(to.reads) / share <= most(to.writes) / (1.0 - share) { reads } else { writes }
        }
        _ => (from.lesser(), to.lesser()),
    }
}

/// What the data volumes of a node allow together: each as much as it does by itself, and no more than the path of the
/// instance, where that holds them and is not looked at apart.
fn of_data(setup: &Setup, dimension: Dimension, is_spent: bool, is_path_apart: bool) -> Allowed {
    let is_held = !is_path_apart && !setup.more_data.is_empty();
    let path = |limits: &IoLimits| if is_held { dimension.limits(limits) } else { (None, None) };
    let of = |volume: &VolumeSetup| allowed(volume, dimension, is_spent, is_path_apart);
    Allowed {
        reads: setup.together(setup.data_volumes(), |volume| of(volume).reads, |limits| path(limits).0),
        writes: setup.together(setup.data_volumes(), |volume| of(volume).writes, |limits| path(limits).1),
    }
}

/// What a volume sustains a second, or does while its credits last: as it is held to it; as it is by itself where the
/// instance's path is looked at apart.
fn allowed(volume: &VolumeSetup, dimension: Dimension, is_spent: bool, is_path_apart: bool) -> Allowed {
    let limits = volume.own_limits.filter(|_| is_path_apart).unwrap_or(volume.limits);
    let of_bucket = dimension.bucket(volume).and_then(|bucket| match dimension {
        _ if is_spent => Some(bucket.baseline),
        Dimension::Requests => Some(bucket.burst.max(bucket.baseline)),
        // Limits have what a volume does while it has credits of bytes.
        Dimension::Bytes => None,
    });
    let (reads, writes) = of_bucket.map_or_else(|| dimension.limits(&limits), |rate| (Some(rate), Some(rate)));
    Allowed { reads, writes }
}

fn memory(from: &Setup, to: &Setup) -> Option<ResourceChange> {
    let of = |from: u64, to: u64| change(Resource::Memory, Some(from as f64), Some(to as f64));
    of(from.page_cache_budget_bytes, to.page_cache_budget_bytes).or_else(|| of(from.heap_bytes, to.heap_bytes))
}

fn commit_log(from: Option<&VolumeSetup>, to: Option<&VolumeSetup>, is_path_apart: bool) -> Option<ResourceChange> {
    let of = |volume: &VolumeSetup, dimension| allowed(volume, dimension, false, is_path_apart).lesser();
    let own = |volume: &VolumeSetup| Dimension::ALL.into_iter().find_map(|dimension| of(volume, dimension));
    match (from, to) {
        (None, None) => None,
        (Some(from), Some(to)) => Dimension::ALL
            .into_iter()
            .find_map(|dimension| change(Resource::CommitLog, of(from, dimension), of(to, dimension))),
        (from, to) => Some(ResourceChange {
            resource: Resource::CommitLog,
            from: from.and_then(own),
            to: to.and_then(own),
            factor: None,
        }),
    }
}

/// Whether the cell used so little of it that the difference cannot matter.
fn had_room(change: &ResourceChange, limit: &Limit) -> bool {
    // Of the smaller of the two; with an unknown factor, of the cell's own.
    let smaller = change.factor.unwrap_or(1.0).min(1.0);
    let mut uses = change.resource.uses(limit).peekable();
    let is_known = match change.resource {
        // Other CPUs are another machine, whatever room there was.
        Resource::Cpus => false,
        Resource::CommitLog => change.from.is_some() && uses.peek().is_some(),
        _ => uses.peek().is_some(),
    };
    is_known && uses.all(|u| u.windows_at_cap <= HAD_ROOM_WINDOWS && u.share() <= HAD_ROOM * smaller)
}

/// The limit by use, corrected by what more of a resource gave.
///
/// Confirmed: the resource is named first, if it was at or near its cap or nothing else was found. Contradicted: it
/// goes behind the others at their cap (two that are full together hide each other), and where it was the only one
/// the limit is none of those watched.
pub fn by_intervention(mut limit: Limit, found: Vec<Intervention>) -> Limit {
    let mut kinds: Vec<LimitKind> = std::iter::once(limit.kind).chain(limit.also.iter().copied()).collect();
    let alone = |outcome: InterventionOutcome| {
        found.iter().filter(move |i| i.outcome == outcome && i.more.len() == 1).map(|i| i.more[0].resource)
    };
    for resource in alone(InterventionOutcome::Contradicted) {
        let is_only = kinds.iter().filter(|k| **k != LimitKind::OfferedRate).count() == 1;
        if !resource.kinds().contains(&kinds[0]) || !resource.uses(&limit).any(|u| u.at_cap && u.kind == kinds[0]) {
            continue;
        }
        if is_only {
            kinds[0] = LimitKind::NoneFound;
        } else {
            let last = kinds.iter().filter(|k| **k != LimitKind::OfferedRate).count();
            kinds[..last].rotate_left(1);
        }
    }
    let mut confirmed: Vec<&ResourceUse> = alone(InterventionOutcome::Confirmed)
        .filter_map(|resource| {
            let fullest = fullest(resource.uses(&limit))?;
            (fullest.at_cap || fullest.share() >= NEAR_CAP || kinds[0] == LimitKind::NoneFound).then_some(fullest)
        })
        .collect();
    // The fullest of them comes to stand first.
    confirmed.sort_by(|a, b| a.share().total_cmp(&b.share()));
    for used in confirmed {
        kinds.retain(|k| *k != used.kind && *k != LimitKind::NoneFound);
        kinds.insert(0, used.kind);
    }
    limit.kind = kinds.remove(0);
    limit.also = kinds;
    limit.interventions = found;
    limit
}
