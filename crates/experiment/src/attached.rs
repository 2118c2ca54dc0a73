//! Which volumes of a configuration are on which EBS card of its instance.

use std::borrow::Cow;

use catalog::{CardPlacement, IoLimits, card_share};

use crate::{Configuration, EbsCards, Experiment, Instance, Place, VolumeKind};

impl Instance {
    /// What one of its EBS cards lets through: all of its path where it has one card.
    pub(crate) fn card_limits(&self) -> IoLimits {
        self.ebs_limits.scaled(self.ebs_cards.map_or(1.0, |cards| f64::from(cards.count)))
    }
}

impl Configuration {
    /// The configuration as its volumes are attached in a run: Terraform's provider (5 and 6) cannot say to which card,
    /// so that on AWS all are on the first.
    pub(crate) fn attached_for(&self, experiment: &Experiment) -> Cow<'_, Self> {
        let Some(cards) = self.instance.ebs_cards.filter(|_| matches!(experiment.place, Place::Bought(_))) else {
            return Cow::Borrowed(self);
        };
        let mut attached = self.clone();
        attached.instance.ebs_cards = Some(EbsCards { placement: CardPlacement::First, ..cards });
        Cow::Owned(attached)
    }

    /// The EBS card of each volume: those for data in the order of their directories, then that of the commit log.
    /// `None`: its instance has one card, or it is no volume of EBS.
    pub(crate) fn cards(&self) -> Vec<Option<u32>> {
        let volumes = || self.volumes().flat_map(|volume| std::iter::repeat_n(volume, volume.count as usize));
        let Some(cards) = self.instance.ebs_cards else { return volumes().map(|_| None).collect() };
        let card = self.instance.card_limits();
        let is_ebs = |kind: VolumeKind| matches!(kind, VolumeKind::Ebs(_));
        let of_ebs = volumes().filter(|volume| is_ebs(volume.kind));
        let mut placed = cards
            .placement
            .place(cards.count, of_ebs.map(|volume| card_share(&volume.volume_limits, &card)))
            .into_iter();
        volumes().map(|volume| if is_ebs(volume.kind) { placed.next() } else { None }).collect()
    }
}
