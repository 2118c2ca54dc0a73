//! How many nodes: the fewest that meet the target, a few more where they pay for themselves, and the fewest of which
//! nothing is in doubt.

use super::cluster::Found;
use super::machines::Order;
use super::question::Search;
use crate::MOST_NODES;
use crate::document::{Limit, NodesBecause, Obstacle, Proposal};

/// Where only measured machines count, so many nodes of a zone are tried.
const MOST_NODES_MEASURED: u32 = 300;
/// After the fewest nodes this many larger clusters are priced too: smaller volumes may pay for them.
const LARGER_CLUSTERS: u32 = 4;
/// Clusters for the evidence's sake grow by this factor, ...
const GROWTH: f64 = 1.25;
/// ... up to so many times the fewest nodes that meet the target: nobody pays more for a proof.
const MOST_FOR_PROOF: u32 = 20;

/// How many nodes a zone has.
type PerZone = u32;

impl Search<'_> {
    /// The cheapest cluster of a machine, and the cheapest of which nothing is in doubt.
    pub(super) fn offers(&self, order: &Order<'_>) -> Result<(Proposal, Option<Proposal>), Obstacle> {
        let zones = self.target.zones;
        let alone = self.target.nodes_down(zones) >= zones;
        let least = self.target.replication_factor.div_ceil(zones).max(if alone { 2 } else { 1 });
        let most = self.most_per_zone();
        let fewest = self.fewest(order, least, most)?;
        let larger = || fewest..=most.min(fewest + LARGER_CLUSTERS);
        let cheapest = self.cheapest_of(order, least, larger())?;
        let best = if cheapest.doubts.is_empty() {
            Some(cheapest.clone())
        } else {
            self.fewest_sure(order, fewest).and_then(|first| self.cheapest_sure(order, least, fewest, first))
        };
        Ok((cheapest, best))
    }

    /// What keeps a cluster within [`MOST_NODES`].
    fn most_per_zone(&self) -> PerZone {
        MOST_NODES / self.target.zones
    }

    fn meets(&self, order: &Order<'_>, per_zone: PerZone) -> Result<Found<'_>, Obstacle> {
        let found = self.cluster(order, per_zone * self.target.zones)?;
        if found.meets_the_target() { Ok(found) } else { Err(Obstacle::Full(found.tightest().0)) }
    }

    /// The fewest nodes of a zone that meet the target.
    fn fewest(&self, order: &Order<'_>, least: PerZone, most: PerZone) -> Result<PerZone, Obstacle> {
        if !self.facts.held_out.is_accepted() {
            // Only clusters whose ratio of memory to data was measured count: any number of nodes may be one.
            let mut failed = Obstacle::NotMeasured;
            for per_zone in least..=most.min(MOST_NODES_MEASURED) {
                match self.meets(order, per_zone) {
                    Ok(_) => return Ok(per_zone),
                    Err(reason) => failed = reason,
                }
            }
            return Err(failed);
        }
        let (mut low, mut high) = (least, least);
        while let Err(reason) = self.meets(order, high) {
            if high >= most {
                return Err(reason);
            }
            low = high + 1;
            high = (high * 2).min(most);
        }
        Ok(first(low, high, |per_zone| self.meets(order, per_zone).is_ok()))
    }

    /// The fewest nodes of a zone, from `from` on, that meet the target and of which nothing is in doubt.
    fn fewest_sure(&self, order: &Order<'_>, from: PerZone) -> Option<PerZone> {
        let is_sure = |per_zone| self.meets(order, per_zone).is_ok_and(|found| self.in_doubt(&found).is_empty());
        let mut low = from;
        for per_zone in growing(from, self.most_per_zone()) {
            let found = self.meets(order, per_zone).ok()?;
            let doubts = self.in_doubt(&found);
            if doubts.is_empty() {
                return Some(first(low, per_zone, is_sure));
            }
            if !doubts.iter().all(|doubt| doubt.may_go_with_more_nodes()) {
                return None;
            }
            low = per_zone + 1;
        }
        None
    }

    /// The cheapest cluster without doubts; `fewest` meet the target, `first` are the fewest without doubts.
    fn cheapest_sure(&self, order: &Order<'_>, least: PerZone, fewest: PerZone, first: PerZone) -> Option<Proposal> {
        let priced = |per_zone, because| {
            let found = self.meets(order, per_zone)?;
            self.priced(found, because)
        };
        let why_fewest = self.why_not_fewer(order, fewest, least);
        let of_fewest = priced(fewest, why_fewest.clone()).ok()?;
        let because = if first == fewest {
            why_fewest
        } else {
            NodesBecause::Evidence {
                fewer: of_fewest.nodes,
                usd_per_month: of_fewest.usd_per_month,
                doubts: of_fewest.doubts,
            }
        };
        let mut best: Option<Proposal> = None;
        for per_zone in first..=self.most_per_zone().min(first + LARGER_CLUSTERS) {
            let Ok(proposal) = priced(per_zone, because.clone()) else { continue };
            let is_cheaper = best.as_ref().is_none_or(|b| proposal.usd_per_month < b.usd_per_month);
            if proposal.doubts.is_empty() && is_cheaper {
                best = Some(proposal);
            }
        }
        best
    }

    /// The cheapest of several numbers of nodes; of equal ones that with the fewest.
    fn cheapest_of(
        &self,
        order: &Order<'_>,
        least: PerZone,
        range: std::ops::RangeInclusive<PerZone>,
    ) -> Result<Proposal, Obstacle> {
        let fewest = *range.start();
        let why_fewest = self.why_not_fewer(order, fewest, least);
        let (mut best, mut failed, mut price_of_fewest): (Option<Proposal>, _, _) = (None, None, None);
        for per_zone in range {
            let fewer = fewest * self.target.zones;
            let because = match (price_of_fewest, &failed) {
                (Some(usd_per_month), _) => NodesBecause::Price { fewer, usd_per_month },
                (None, Some(why)) => NodesBecause::NotPossible { fewer, why: Obstacle::clone(why) },
                (None, None) => why_fewest.clone(),
            };
            match self.meets(order, per_zone).and_then(|found| self.priced(found, because)) {
                Ok(proposal) => {
                    price_of_fewest.get_or_insert(proposal.usd_per_month);
                    if best.as_ref().is_none_or(|b| proposal.usd_per_month < b.usd_per_month) {
                        best = Some(proposal);
                    }
                }
                Err(reason) => drop(failed.get_or_insert(reason)),
            }
        }
        best.ok_or_else(|| failed.unwrap_or(Obstacle::PriceUnknown))
    }

    /// What one node fewer in each zone would lack.
    fn why_not_fewer(&self, order: &Order<'_>, per_zone: PerZone, least: PerZone) -> NodesBecause {
        let (copies, zones) = (self.target.replication_factor, self.target.zones);
        if per_zone <= least {
            return NodesBecause::Copies { replication_factor: copies, zones };
        }
        let fewer = (per_zone - 1) * zones;
        match self.cluster(order, fewer) {
            Ok(found) => {
                let (limit, used, allowed, allowance) = found.tightest();
                let has_error = limit != Limit::DiskSpace && self.doubts(&found).is_empty();
                let within_error_percent = found.within_error_percent().filter(|_| has_error);
                NodesBecause::Full { limit, fewer, used, allowed, allowance, within_error_percent }
            }
            Err(why) => NodesBecause::NotPossible { fewer, why },
        }
    }
}

impl NodesBecause {
    /// What set the number of nodes, where it was something that a node has.
    pub(super) fn limit(&self) -> Option<Limit> {
        match self {
            Self::Full { limit, .. } => Some(*limit),
            Self::NotPossible { why: Obstacle::NoVolume(limit), .. } => Some(*limit),
            _ => None,
        }
    }
}

/// `from`, and on by a quarter each up to `most`, as long as somebody may pay for it.
fn growing(from: PerZone, most: PerZone) -> impl Iterator<Item = PerZone> {
    let most = most.min(from.saturating_mul(MOST_FOR_PROOF));
    std::iter::successors(Some(from), |n| Some(((f64::from(*n) * GROWTH).ceil()) as u32))
        .take_while(move |n| *n <= most)
}

/// The first number of `low..=high` for which something holds that holds for `high`, and from some number on.
fn first(mut low: PerZone, mut high: PerZone, holds: impl Fn(PerZone) -> bool) -> PerZone {
    while low < high {
        let middle = u32::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}
