//! What is bought and an instance cannot reach or attach.

use crate::{CardPlacement, InstanceType, MB, MIB, ResolvedVolume, card_share, through_cards};

/// Published figures are rounded: what lies this little above a limit is not worth a word.
const SLACK: f64 = 1.001;

/// More EBS volumes than an instance type attaches.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{instance} attaches at most {most} EBS volumes, the root volume among them; {asked} besides the root are asked \
     for (source: EC2 DescribeInstanceTypes, MaximumEbsAttachments)"
)]
pub struct TooManyVolumes {
    /// Instance type.
    pub instance: String,
    /// Most volumes, the root volume among them.
    pub most: u32,
    /// Volumes asked for, besides the root volume.
    pub asked: usize,
}

impl InstanceType {
    /// Whether so many EBS volumes besides the root volume can be attached; where the number is not known, any.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub fn attaches(&self, volumes: usize) -> Result<(), TooManyVolumes> {
        match self.volume_slots {
            Some(slots) if volumes + 1 > slots.most as usize => {
                Err(TooManyVolumes { instance: self.name.clone(), most: slots.most, asked: volumes })
            }
            _ => Ok(()),
        }
    }
}

/// What volumes, resolved on `machine`, were bought to do and cannot do there, in sentences.
pub(crate) fn beyond(machine: &InstanceType, volumes: &[ResolvedVolume]) -> Vec<String> {
    let mut remarks = Vec::new();
    let bought_of = |volume: &ResolvedVolume| volume.request.iops.unwrap_or(volume.baseline_iops);
    for volume in volumes {
        if bought_of(volume) > volume.baseline_iops {
            remarks.push(format!(
                "{}: {:.0} IOPS reachable: {} is not built on Nitro",
                volume.label, volume.baseline_iops, machine.name
            ));
        }
    }
    let Some(path) = machine.ebs else { return remarks };
    let for_a_while = |burst: f64, baseline: f64, unit: &str| {
        if burst > baseline {
            format!(" ({burst:.0} {unit} for at least 30 minutes in 24 hours)")
        } else {
            String::new()
        }
    };
    let card = path.of_card();
    let on = cards_of(machine, volumes, CardPlacement::Spread);
    let through = |of_each: &dyn Fn(&ResolvedVolume) -> f64, ceiling: f64| {
        through_cards(on.iter().copied().map(Some).zip(volumes.iter().map(of_each)), ceiling)
    };
    let who = if path.cards > 1 { "the instance's EBS cards are the limit" } else { "the instance is the limit" };
    let bought: f64 = volumes.iter().map(bought_of).sum();
    let reachable = through(&bought_of, card.baseline_iops);
    if bought > reachable {
        remarks.push(format!(
            "{bought:.0} IOPS bought, {reachable:.0} reachable: {who}{}",
            for_a_while(path.burst_iops, path.baseline_iops, "IOPS")
        ));
    }
    let mib = |mb: f64| mb * MB / MIB;
    let of_bytes = |volume: &ResolvedVolume| volume.baseline_mib_per_s;
    let bought: f64 = volumes.iter().map(of_bytes).sum();
    let reachable = through(&of_bytes, mib(card.baseline_mb_per_s));
    if bought > reachable * SLACK {
        remarks.push(format!(
            "{bought:.0} MiB/s bought, {reachable:.0} reachable: {who}{}",
            for_a_while(mib(path.burst_mb_per_s), mib(path.baseline_mb_per_s), "MiB/s")
        ));
    }
    remarks
}

/// The EBS card of each volume.
pub(crate) fn cards_of(machine: &InstanceType, volumes: &[ResolvedVolume], placement: CardPlacement) -> Vec<u32> {
    let card = machine.ebs_limits().scaled(f64::from(machine.ebs_cards()));
    let shares = volumes.iter().map(|volume| {
        let mut own = volume.limits;
        own.read_bytes_per_s = Some(volume.baseline_mib_per_s * MIB);
        card_share(&own, &card)
    });
    placement.place(machine.ebs_cards(), shares)
}
