//! The machines that are searched, and the best clusters of each.

use std::collections::BTreeMap;

use catalog::{
    Cloud, ClusterRequest, InstanceType, Lifecycle, MADE_TO_MEASURE, VolumeNeed, VolumeType, made_to_measure,
};

use super::question::Search;
use crate::document::{LeftOut, Obstacle, Proposal};

/// What is ordered of a machine.
pub(super) enum Order<'a> {
    /// Exactly this.
    Given(&'a ClusterRequest),
    /// With a volume made to measure.
    Made { instance: &'a InstanceType, kind: VolumeType },
    /// With its local disks.
    Local(&'a InstanceType),
}

impl Order<'_> {
    /// The order for a need, of so many nodes.
    pub fn request(&self, need: VolumeNeed, nodes: u32) -> ClusterRequest {
        let of = |instance: &InstanceType, volumes| ClusterRequest { instance: instance.name.clone(), volumes, nodes };
        match self {
            Self::Given(request) => ClusterRequest { nodes, ..(*request).clone() },
            Self::Made { instance, kind } => of(instance, vec![made_to_measure(*kind, need)]),
            Self::Local(instance) => of(instance, Vec::new()),
        }
    }

    pub fn is_made(&self) -> bool {
        matches!(self, Self::Made { .. })
    }

    pub fn instance(&self) -> &str {
        match self {
            Self::Given(request) => &request.instance,
            Self::Made { instance, .. } | Self::Local(instance) => &instance.name,
        }
    }
}

/// The best clusters, of each machine one, cheapest first.
#[derive(Default)]
pub(super) struct Offers {
    /// Whatever is doubted about them.
    pub cheapest: Vec<Proposal>,
    /// Nothing of them is in doubt.
    pub best: Vec<Proposal>,
}

impl Offers {
    /// The cheapest behind a cache, or the cheapest without one.
    pub fn first(&self, with_cache: bool) -> Option<&Proposal> {
        self.cheapest.iter().find(|proposal| proposal.cache.is_some() == with_cache)
    }
}

/// The best of each machine, by its name.
pub(super) type Best = BTreeMap<String, Proposal>;

pub(super) fn keep(best: &mut Best, name: &str, proposal: Proposal) {
    if best.get(name).is_none_or(|known| proposal.usd_per_month < known.usd_per_month) {
        best.insert(name.to_owned(), proposal);
    }
}

pub(super) fn cheapest_first(best: Best) -> Vec<Proposal> {
    let mut all: Vec<Proposal> = best.into_values().collect();
    all.sort_by(|a, b| a.usd_per_month.total_cmp(&b.usd_per_month));
    all
}

/// Machines that are left out, by the reason; that of most of them first.
pub fn by_reason(all: impl IntoIterator<Item = (String, Obstacle)>) -> Vec<LeftOut> {
    let mut left_out: BTreeMap<Obstacle, LeftOut> = BTreeMap::new();
    for (name, why) in all {
        let group = left_out.entry(why.clone()).or_insert_with(|| LeftOut { why, count: 0, example: name });
        group.count += 1;
    }
    let mut left_out: Vec<LeftOut> = left_out.into_values().collect();
    left_out.sort_by(|a, b| b.count.cmp(&a.count).then(a.why.cmp(&b.why)));
    left_out
}

impl Search<'_> {
    /// Every machine of the search: its best clusters, or why there is none.
    pub(super) fn all(&self) -> (Offers, Vec<LeftOut>) {
        let (cheapest, best, why) = self.best();
        let left_out = by_reason(why.into_iter().filter(|(name, _)| !cheapest.contains_key(name)));
        let offers = Offers { cheapest: cheapest_first(cheapest), best: cheapest_first(best) };
        (offers, left_out)
    }

    /// The cheapest of each machine, the cheapest of each of which nothing is in doubt, and why there are no others.
    pub(super) fn best(&self) -> (Best, Best, BTreeMap<String, Obstacle>) {
        let (mut cheapest, mut best) = (Best::new(), Best::new());
        let mut why: BTreeMap<String, Obstacle> = BTreeMap::new();
        let mut order = |name: &str, order: &Order<'_>| match self.offers(order) {
            Ok((least, sure)) => {
                keep(&mut cheapest, name, least);
                if let Some(sure) = sure {
                    keep(&mut best, name, sure);
                }
                None
            }
            Err(reason) => Some(reason),
        };
        let mut refused = |name: &str, reason: Obstacle| {
            why.entry(name.to_owned()).or_insert(reason);
        };
        if self.options.candidates.is_empty() {
            for instance in self.catalog.instances() {
                if let Err(reason) = self.is_searched(instance) {
                    if let Some(reason) = reason {
                        refused(&instance.name, reason);
                    }
                    continue;
                }
                for one in self.orders(instance) {
                    if let Some(reason) = order(&instance.name, &one) {
                        refused(&instance.name, reason);
                    }
                }
            }
        } else {
            for request in &self.options.candidates {
                let name = request.to_string();
                if let Some(reason) = order(&name, &Order::Given(request)) {
                    refused(&name, reason);
                }
            }
        }
        (cheapest, best, why)
    }

    /// What may be ordered of an instance type: its local disks, and a volume of each type.
    pub(super) fn orders<'b>(&self, instance: &'b InstanceType) -> Vec<Order<'b>> {
        let local = instance.local_disks.iter().map(|_| Order::Local(instance));
        let kinds = if instance.ebs.is_some() { self.kinds_sold() } else { Vec::new() };
        local.chain(kinds.into_iter().map(|kind| Order::Made { instance, kind })).collect()
    }

    /// Types of volumes that have rules and a price on the basis.
    fn kinds_sold(&self) -> Vec<VolumeType> {
        let is_sold = |kind: &VolumeType| {
            let rules = self.era().is_none_or(|era| catalog::rules_in(*kind, era).is_ok());
            rules && self.catalog.volume_price(*kind, &self.basis.region, self.era()).is_ok()
        };
        MADE_TO_MEASURE.into_iter().filter(is_sold).collect()
    }

    /// `Err(None)`: nobody asked for it.
    pub(super) fn is_searched(&self, instance: &InstanceType) -> Result<(), Option<Obstacle>> {
        // Those of other clouds are judged where somebody names them: their volumes are not made to measure.
        if instance.cloud() != Cloud::Aws {
            return Err(None);
        }
        let family = instance.name.split('.').next().unwrap_or_default();
        if !self.options.families.is_empty() && !self.options.families.iter().any(|f| f == family) {
            return Err(None);
        }
        let architecture = self.options.architecture.as_deref().unwrap_or("x86_64");
        if instance.architecture != architecture {
            return Err(None);
        }
        let retired = instance.lifecycle == Lifecycle::Retired && self.basis.price_date.is_none();
        if retired && self.options.families.is_empty() {
            return Err(None);
        }
        if family.len() <= 3 && family.starts_with('t') {
            return Err(Some(Obstacle::CpuCredits));
        }
        if instance.is_flex() {
            return Err(Some(Obstacle::FlexCpus));
        }
        if instance.memory_gib < 8.0 || instance.vcpus < 2 {
            return Err(Some(Obstacle::TooSmall));
        }
        Ok(())
    }
}
