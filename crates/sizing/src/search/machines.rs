//! The machines that are searched, and the best clusters of each.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use analysis::each_once;
use catalog::{
    Cloud, ClusterRequest, InstanceType, Lifecycle, MADE_TO_MEASURE, VolumeNeed, VolumeType, made_to_measure,
};

use super::question::Search;
use crate::document::{LeftOut, NotCandidates, Obstacle, Proposal};
use crate::market::{MeasuredMachine, ordered};

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

/// The best clusters, of each machine one, cheapest first; and what is none of them.
#[derive(Default)]
pub(super) struct Offers {
    /// Whatever is doubted about them.
    pub cheapest: Vec<Proposal>,
    /// Nothing of them is in doubt.
    pub best: Vec<Proposal>,
    pub left_out: Vec<LeftOut>,
    pub not_candidates: Vec<NotCandidates>,
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
    if best.get(name).is_none_or(|known| by_price(&proposal, known).is_lt()) {
        best.insert(name.to_owned(), proposal);
    }
}

pub(super) fn cheapest_first(best: Best) -> Vec<Proposal> {
    let mut all: Vec<Proposal> = best.into_values().collect();
    all.sort_by(by_price);
    all
}

/// The cheaper one first; of one price what is not in doubt.
pub(super) fn by_price(one: &Proposal, other: &Proposal) -> Ordering {
    let is_in_doubt = |proposal: &Proposal| !proposal.doubts.is_empty();
    one.usd_per_month.total_cmp(&other.usd_per_month).then(is_in_doubt(one).cmp(&is_in_doubt(other)))
}

/// The cheapest clusters of a machine, and the cheapest of which nothing is in doubt; or why there are none.
type Offered = Result<(Proposal, Option<Proposal>), Obstacle>;

/// What a search comes to.
#[derive(Default)]
pub(super) struct Searched {
    /// The cheapest of each machine.
    pub cheapest: Best,
    /// The cheapest of each machine of which nothing is in doubt.
    sure: Best,
    why_not: BTreeMap<String, Obstacle>,
    /// Configurations of the evidence, by name.
    not_candidates: BTreeMap<Obstacle, Vec<String>>,
}

impl Searched {
    fn take(&mut self, name: &str, offered: Offered) -> Result<(), Obstacle> {
        let (least, sure) = offered?;
        keep(&mut self.cheapest, name, least);
        if let Some(sure) = sure {
            keep(&mut self.sure, name, sure);
        }
        Ok(())
    }

    fn refuse(&mut self, name: &str, why: Obstacle) {
        self.why_not.entry(name.to_owned()).or_insert(why);
    }

    fn take_or_refuse(&mut self, name: &str, offered: Offered) {
        if let Err(why) = self.take(name, offered) {
            self.refuse(name, why);
        }
    }

    fn leave_out(&mut self, why: Obstacle, configurations: &[String]) {
        self.not_candidates.entry(why).or_default().extend_from_slice(configurations);
    }
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
    pub(super) fn all(&self) -> Offers {
        let Searched { cheapest, sure, why_not, not_candidates } = self.best();
        Offers {
            left_out: by_reason(why_not.into_iter().filter(|(name, _)| !cheapest.contains_key(name))),
            not_candidates: not_candidates
                .into_iter()
                .map(|(why, configurations)| NotCandidates { configurations: each_once(configurations), why })
                .collect(),
            cheapest: cheapest_first(cheapest),
            best: cheapest_first(sure),
        }
    }

    /// The best of what is asked for: of the candidates that are stated, else of the catalog and of what was measured.
    pub(super) fn best(&self) -> Searched {
        let mut found = Searched::default();
        for request in &self.options.candidates {
            found.take_or_refuse(&request.to_string(), self.offers(&Order::Given(request)));
        }
        if !self.options.candidates.is_empty() {
            return found;
        }
        for instance in self.catalog.instances() {
            match self.is_searched(instance) {
                Ok(()) => {
                    for one in self.orders(instance) {
                        found.take_or_refuse(&instance.name, self.offers(&one));
                    }
                }
                Err(Some(why)) => found.refuse(&instance.name, why),
                Err(None) => {}
            }
        }
        for (machine, why_not) in self.of_the_evidence() {
            let offered = why_not.map_or_else(|| self.offers(&Order::Given(&machine.request)), Err);
            if let Err(why) = found.take(&machine.request.instance, offered) {
                found.leave_out(why, &machine.configurations);
            }
        }
        for configuration in self.observations.iter().map(|o| o.configuration) {
            if let Err(why) = ordered(configuration) {
                found.leave_out(Obstacle::Rule(why.to_owned()), std::slice::from_ref(&configuration.name));
            }
        }
        found
    }

    /// The machines that were measured; with each why it is not searched, unless it is. None where candidates are
    /// stated.
    pub(super) fn of_the_evidence(&self) -> impl Iterator<Item = (&MeasuredMachine, Option<Obstacle>)> {
        let all = self.market.measured.iter().filter(move |_| self.options.candidates.is_empty());
        all.map(move |machine| {
            let instance = self.catalog.instance(&machine.request.instance);
            (machine, instance.and_then(|instance| self.why_not_searched(instance)))
        })
    }

    /// Why a machine that was measured is not searched: it was not asked for, is not sold, or has its CPUs for a time
    /// only, which trials are too short to show.
    fn why_not_searched(&self, instance: &InstanceType) -> Option<Obstacle> {
        let is_other = self.options.architecture.as_ref().is_some_and(|asked| *asked != instance.architecture);
        if is_other || !self.is_of_family(instance) {
            return Some(Obstacle::NotAskedFor);
        }
        if self.is_gone(instance) {
            return Some(Obstacle::Retired);
        }
        cpus_for_a_time(instance)
    }

    /// Whether it is of a family that is searched.
    fn is_of_family(&self, instance: &InstanceType) -> bool {
        let families = &self.options.families;
        families.is_empty() || families.iter().any(|family| *family == family_of(instance))
    }

    /// Whether nobody sells it any more at the prices that count, and nobody asked for its family.
    fn is_gone(&self, instance: &InstanceType) -> bool {
        let is_today = self.basis.price_date.is_none() && self.options.families.is_empty();
        is_today && instance.lifecycle == Lifecycle::Retired
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
        let architecture = self.options.architecture.as_deref().unwrap_or("x86_64");
        if !self.is_of_family(instance) || instance.architecture != architecture || self.is_gone(instance) {
            return Err(None);
        }
        if let Some(why) = cpus_for_a_time(instance) {
            return Err(Some(why));
        }
        if instance.memory_gib < 8.0 || instance.vcpus < 2 {
            return Err(Some(Obstacle::TooSmall));
        }
        Ok(())
    }
}

/// The part of an instance type's name that `--family` names.
fn family_of(instance: &InstanceType) -> &str {
    instance.name.split('.').next().unwrap_or_default()
}

/// Why its CPUs are not whole all of the time.
fn cpus_for_a_time(instance: &InstanceType) -> Option<Obstacle> {
    let family = family_of(instance);
    if family.len() <= 3 && family.starts_with('t') {
        return Some(Obstacle::CpuCredits);
    }
    instance.is_flex().then_some(Obstacle::FlexCpus)
}
