//! At which limits a volume is taken to be in each window, in the terms in which Amazon EBS counts, and who serves an
//! emulated one.

use evidence::VolumeFacts;
use experiment::Setup;

use super::pauses::Pauses;
use super::volume::{INSTANCE_UNIT_BYTES, VOLUME_UNIT_BYTES};
use super::window::{VOLUME_AT_CAP, Watched};
use super::{instance, volume};
use crate::activity::WindowRates;
use crate::dimension::Dimension;
use crate::document::limit::LimitKind;
use crate::ebs::EbsExceeded;
use crate::node::Node;

/// What does this share of a limit is full: its requests have waited, however evenly they came. Below a limit they need
/// not. A volume saves up what is not asked for (a served one 20 ms of its limit, `WINDOW_S` of `volume`), and
/// each of even requests finds enough of that. Random ones (Poisson) wait in exp(-2 (1 - share) x IOPS x 20 ms) of the
/// time, the heavy-traffic limit of M/D/1 (Kingman, "On queues in heavy traffic", 1962): at 98 % of 3,000 IOPS in 9 %,
/// at 98 % of 16,000 in none. The last thousandth is how well a rate is known: samples are some milliseconds late.
const FULL: f64 = 0.999;
/// A bucket whose mean limit in a window is below this share of its burst was empty for some of it.
const AT_BURST: f64 = 0.999;

/// What we take a volume to be at in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitsOfWindow {
    /// What it did of the limits that it has by itself.
    own: Vec<Use>,
    /// The most that all volumes together may have done of a limit of their instance, of requests and of bytes.
    path: [f64; 2],
    /// Whether it is emulated: then the narrower of what volume and instance let through is the volume's own limit.
    is_emulated: bool,
    /// Whether it is at a limit of the instance together with others: which of them EBS then holds back is not known.
    pub path_is_full: bool,
}

/// What a volume did of a limit in a window.
#[derive(Debug, Clone, PartialEq)]
struct Use {
    kind: LimitKind,
    dimension: Dimension,
    at_cap: bool,
    /// Share of the limit.
    share: f64,
    /// The most that this may have been: of requests of all sizes a mean shows the least that they count for, and of a
    /// bucket that ran empty the mean limit shows more than there was in the end.
    most: f64,
}

/// A share of a window that is counted as above a limit: of requests or bytes; whether it is one of the instance.
type Share = (Dimension, bool, f64);

impl LimitsOfWindow {
    /// Whether it is at no limit.
    pub fn is_none(&self) -> bool {
        self.at_cap().next().is_none() && !self.path_is_full
    }

    /// Whether it did all that a limit of its own lets through, and not only most of it.
    pub fn is_full(&self) -> bool {
        self.at_cap().any(|used| used.share >= FULL)
    }

    /// The largest share of the window that EBS counts as above one of the limits that the volume is at by itself.
    pub fn share_of(&self, exceeded: &EbsExceeded) -> f64 {
        let is_of = |used: &Use, (dimension, of_instance, _): Share| {
            used.dimension == dimension && self.counts_for(used.kind, of_instance)
        };
        let of_own = shares(exceeded).into_iter().filter(|share| self.at_cap().any(|used| is_of(used, *share)));
        of_own.map(|(_, _, share)| share).fold(0.0, f64::max)
    }

    /// Whether as much was done as is done where a limit holds requests back for as long as is counted, and none for
    /// the rest of the window; shares of it below `least` are not looked at.
    pub fn allow(&self, exceeded: &EbsExceeded, least: f64) -> bool {
        shares(exceeded).into_iter().all(|(dimension, of_instance, share)| {
            let is_of = |used: &&Use| used.dimension == dimension && self.counts_for(used.kind, of_instance);
            let path = if of_instance { self.path[dimension as usize] } else { 0.0 };
            let most = self.own.iter().filter(is_of).map(|used| used.most).fold(path, f64::max);
            share < least || most >= VOLUME_AT_CAP * share
        })
    }

    fn at_cap(&self) -> impl Iterator<Item = &Use> {
        self.own.iter().filter(|used| used.at_cap)
    }

    /// Whether time above a limit of this kind is counted as the instance's, or as the volume's.
    fn counts_for(&self, kind: LimitKind, of_instance: bool) -> bool {
        match kind {
            LimitKind::InstanceEbsBandwidth => of_instance || self.is_emulated,
            // The narrower of both, whichever that is.
            LimitKind::CommitLog | LimitKind::BurstSpent => true,
            _ => !of_instance,
        }
    }
}

fn shares(exceeded: &EbsExceeded) -> [Share; 4] {
    [
        (Dimension::Requests, false, exceeded.volume_iops),
        (Dimension::Bytes, false, exceeded.volume_bytes),
        (Dimension::Requests, true, exceeded.instance_iops),
        (Dimension::Bytes, true, exceeded.instance_bytes),
    ]
}

/// The limits that a volume is at, window by window; `None` where none of its limits is known.
pub fn limits_by_window(setup: Option<&Setup>, node: &Node<'_>, facts: &VolumeFacts) -> Option<Vec<LimitsOfWindow>> {
    let rates = &node.activity(facts.role)?.windows;
    let count = rates.read_iops.len();
    let pauses = Pauses::of(node);
    let mut uses = volume::windows(setup, node, facts, &pauses);
    uses.extend(setup.map(|setup| instance::windows(setup, node, &pauses)).unwrap_or_default());
    // Ways of counting that have no limit have no windows.
    uses.retain(|(_, windows)| windows.len() == count);
    let is_known = count > 0 && !uses.is_empty();
    let of_instance = |kind| kind == LimitKind::InstanceEbsBandwidth && !facts.is_served;
    let unit_bytes = |kind| if of_instance(kind) { INSTANCE_UNIT_BYTES } else { VOLUME_UNIT_BYTES };
    let none = LimitsOfWindow { own: Vec::new(), path: [0.0; 2], is_emulated: facts.is_served, path_is_full: false };
    let mut found = vec![none; count];
    for (watched, windows) in uses {
        for (at, (limits, window)) in found.iter_mut().zip(windows).enumerate() {
            let most = |rates: &WindowRates, dimension| most_done(rates, at, dimension, unit_bytes(window.kind));
            match watched {
                Watched::Volume(_, dimension, _) => limits.own.push(Use {
                    kind: window.kind,
                    dimension,
                    at_cap: window.at_cap,
                    share: window.share(),
                    most: most(rates, dimension) / least_limit(setup, facts, rates, at, dimension, window.capacity),
                }),
                Watched::Instance(dimension) => {
                    let volumes = node.facts.volumes.iter().filter_map(|volume| node.activity(volume.role));
                    let done: f64 = volumes.map(|activity| most(&activity.windows, dimension)).sum();
                    limits.path[dimension as usize] = done / window.capacity;
                    limits.path_is_full |= window.at_cap;
                }
                _ => {}
            }
        }
    }
    is_known.then_some(found)
}

/// The most that reads and writes of a window may count for, per second: each request for one, and for one more with
/// each unit of its bytes.
fn most_done(rates: &WindowRates, at: usize, dimension: Dimension, unit_bytes: f64) -> f64 {
    let sum = |dimension: Dimension| {
        let (reads, writes) = rates.of(dimension);
        reads.get(at).zip(writes.get(at)).map_or(0.0, |(reads, writes)| reads + writes)
    };
    match dimension {
        Dimension::Requests => sum(Dimension::Requests) + sum(Dimension::Bytes) / unit_bytes,
        Dimension::Bytes => sum(Dimension::Bytes),
    }
}

/// The least that a volume may have been held to in a window of this mean limit: the baseline of a bucket that may have
/// been empty meanwhile.
fn least_limit(
    setup: Option<&Setup>,
    facts: &VolumeFacts,
    rates: &WindowRates,
    at: usize,
    dimension: Dimension,
    mean: f64,
) -> f64 {
    let bucket = setup.and_then(|setup| dimension.bucket(setup.volume(facts.role)?));
    let seen = rates.in_force(dimension).get(at);
    match bucket {
        Some(bucket) if seen.is_none_or(|limit| *limit < AT_BURST * bucket.burst) => mean.min(bucket.baseline),
        _ => mean,
    }
}
