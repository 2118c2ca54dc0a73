//! Configurations of the catalog around today's: what would hold the same need for less, and what would do more.

use std::cmp::Ordering;

use catalog::{
    Basis, Catalog, ClusterRequest, InstanceType, Lifecycle, MADE_TO_MEASURE, VolumeNeed, cpu_speed, made_to_measure,
};

use crate::capacity::{Allowed, disk_gib};
use crate::device::Asked;

/// What is more than this much cheaper, or does this much more, is worth a word: rounded volumes make as much.
const CHEAPER: f64 = 0.99;
const MORE: f64 = 1.2;
/// So many cheaper ones are shown, and tried.
const MOST_CHEAPER: usize = 4;

/// A machine that could be bought.
pub(crate) struct Offer {
    pub request: ClusterRequest,
    pub allowed: Allowed,
    pub usd_per_month: f64,
}

/// Today's machine with what surrounds it.
pub(crate) struct Around<'a> {
    pub catalog: &'a Catalog,
    pub basis: &'a Basis,
    pub today: &'a ClusterRequest,
}

impl Around<'_> {
    fn era(&self) -> Option<&str> {
        self.basis.price_date.as_deref()
    }

    /// With its price and what it may do; `None`: it cannot be bought, or one of both is not known.
    fn offer(&self, request: ClusterRequest) -> Option<Offer> {
        let allowed = Allowed::of(self.catalog, &request, self.era()).ok()?;
        let usd_per_month = self.catalog.cost(&request, self.basis).ok()?.usd_per_month;
        Some(Offer { request, allowed, usd_per_month })
    }

    /// One machine of a type with the smallest volumes that hold this, or with its own disks.
    fn offers(&self, instance: &InstanceType, wanted: &Asked) -> Vec<Offer> {
        let gib = disk_gib(self.catalog, self.today);
        let need = VolumeNeed { gib, iops: wanted.both.iops, mib_per_s: wanted.both.mib_per_s };
        let of = |volumes| ClusterRequest { instance: instance.name.clone(), volumes, nodes: 1 };
        // Who shares its path to EBS with the network, or earns credits, has no figure that lasts.
        let kinds = if instance.ebs.is_some() { &MADE_TO_MEASURE[..] } else { &[] };
        let made = kinds.iter().map(|kind| of(vec![made_to_measure(*kind, need)]));
        let local = instance.local_disks.is_some().then(|| of(Vec::new()));
        let possible = made.chain(local).filter_map(|request| self.offer(request));
        possible
            .filter(|offer| wanted.share_of(&offer.allowed) <= 1.0 && disk_gib(self.catalog, &offer.request) >= gib)
            .collect()
    }

    /// Other types that have no less of what was not judged: CPUs and how fast they are, memory, so page cache.
    fn other_types(&self) -> impl Iterator<Item = &InstanceType> {
        let today = self.catalog.instance(&self.today.instance);
        let speed = |instance: &InstanceType| cpu_speed(&instance.name).map(|known| known.speed);
        let is_no_less = move |&other: &&InstanceType| {
            let Some(today) = today else { return false };
            let as_fast = speed(other).zip(speed(today)).is_some_and(|(other, today)| other >= today);
            other.name != today.name
                && other.lifecycle == Lifecycle::Current
                && other.architecture == today.architecture
                && other.cpu_share.is_none()
                && !other.is_flex()
                && other.vcpus >= today.vcpus
                && other.memory_gib >= today.memory_gib
                && other.network_gbps.zip(today.network_gbps).is_some_and(|(other, today)| other >= today)
                && as_fast
        };
        self.catalog.instances().iter().filter(is_no_less)
    }

    /// What holds this for less than today's costs, the cheapest first: of each type one.
    pub fn cheaper(&self, wanted: &Asked, usd_today: f64) -> Vec<Offer> {
        let today = self.catalog.instance(&self.today.instance);
        let cheapest = |instance: &InstanceType| {
            let offers = self.offers(instance, wanted).into_iter();
            let offers = offers.filter(|offer| offer.usd_per_month < usd_today * CHEAPER);
            offers.min_by(by_price)
        };
        let mut others: Vec<Offer> = self.other_types().filter_map(cheapest).collect();
        others.sort_by(by_price);
        // Today's machine was seen at work: it is among them whatever others cost.
        let own = today.and_then(cheapest);
        others.truncate(MOST_CHEAPER - usize::from(own.is_some()));
        let mut all: Vec<Offer> = own.into_iter().chain(others).collect();
        all.sort_by(by_price);
        all
    }

    /// What does more and costs more: the cheapest volume that may do twice as much, on today's machine or else on a
    /// larger one of its family, and the cheapest machine with disks of its own that does more.
    pub fn dearer(&self, allowed: &Allowed, usd_today: f64) -> Vec<Offer> {
        let twice = allowed.most().times(2.0);
        let gib = disk_gib(self.catalog, self.today);
        let does_more = |offer: &Offer| {
            let (more, now) = (offer.allowed.most(), allowed.most());
            offer.usd_per_month > usd_today && (more.iops >= now.iops * MORE || more.mib_per_s >= now.mib_per_s * MORE)
        };
        let of =
            |instance: &InstanceType, volumes| ClusterRequest { instance: instance.name.clone(), volumes, nodes: 1 };
        let need = VolumeNeed { gib, iops: twice.iops, mib_per_s: twice.mib_per_s };
        let family = self.family().flat_map(|instance| {
            MADE_TO_MEASURE
                .into_iter()
                .filter_map(move |kind| self.offer(of(instance, vec![made_to_measure(kind, need)])))
        });
        let local = self.other_types().filter(|instance| instance.local_disks.is_some());
        let local = local.filter_map(|instance| self.offer(of(instance, Vec::new())));
        let local = local.filter(|offer| disk_gib(self.catalog, &offer.request) >= gib);
        let made = family.filter(does_more).min_by(by_price);
        made.into_iter().chain(local.filter(does_more).min_by(by_price)).collect()
    }

    /// Today's type, and larger ones of its family.
    fn family(&self) -> impl Iterator<Item = &InstanceType> {
        let today = self.catalog.instance(&self.today.instance);
        let is_no_smaller = move |other: &&InstanceType| {
            today.is_some_and(|today| other.family() == today.family() && other.vcpus >= today.vcpus)
        };
        self.catalog.instances().iter().filter(is_no_smaller)
    }
}

fn by_price(a: &Offer, b: &Offer) -> Ordering {
    a.usd_per_month.total_cmp(&b.usd_per_month)
}
