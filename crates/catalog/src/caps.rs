//! What a configuration can really do: the smaller of what its volumes and what its instance allow, at each request
//! size.
//!
//! Baseline and burst are kept apart, because a burst ends: a volume's when its bucket is empty, an instance's after 30
//! minutes in 24 hours. With small requests the limit is IOPS, with large ones bytes; which side is narrower may change
//! with the size.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    BandwidthWeighting, CardPlacement, Catalog, Cloud, ClusterRequest, CpuSpeed, EbsCaps, InstanceType,
    LOCAL_BYTES_HELP, MIB, NotAttached, NotWeighted, ResolvedVolume, TooManyVolumes, UnknownEra, VolumeError,
    VolumeSlots, VolumeType, cpu_speed, reach, resolve_volume_on, rules, rules_in, through_cards, volume,
};

/// Request sizes that are shown, KiB.
pub const SIZES_KIB: [f64; 4] = [4.0, 16.0, 64.0, 256.0];

/// Request size at which IOPS of local disks are stated, KiB.
const LOCAL_IOPS_KIB: f64 = 4.0;

/// Caps of one machine with its volumes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Caps {
    /// The configuration.
    pub configuration: String,
    /// How fast each vCPU is; `None`: no source says so.
    pub cpu_speed: Option<CpuSpeed>,
    /// Each volume alone, as the instance lets it work.
    pub volumes: Vec<ResolvedVolume>,
    /// The instance's path to all its EBS volumes; `None`: not known, or shared with the network.
    pub path: Option<EbsCaps>,
    /// How many EBS volumes may be attached; `None`: not known.
    pub volume_slots: Option<VolumeSlots>,
    /// All EBS volumes behind the instance's path, by request size; empty without EBS volumes.
    pub ebs: Vec<CapsAtSize>,
    /// EBS cards with their volumes, where the instance has several and volumes are named.
    pub cards: Vec<CardCaps>,
    /// The local disks together, by request size; empty without any, or where their figures are not known.
    pub local: Vec<LocalAtSize>,
    /// What is bought and cannot be reached, how long bursts last, what is not known.
    pub remarks: Vec<String>,
}

/// An EBS card and the volumes on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardCaps {
    /// Its index.
    pub card: u32,
    /// Positions in [`Caps::volumes`] of those that are attached to it.
    pub volumes: Vec<usize>,
    /// What it carries.
    pub path: EbsCaps,
    /// What its volumes get, by request size; empty without any.
    pub ebs: Vec<CapsAtSize>,
}

/// What lasts and what does not, at one request size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CapsAtSize {
    /// Request size, KiB.
    pub io_kib: f64,
    /// At all times.
    pub baseline: Ceiling,
    /// While the bursts of volume and instance last.
    pub burst: Ceiling,
}

/// A ceiling and who sets it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Requests per second.
    pub iops: f64,
    /// MiB per second.
    pub mib_per_s: f64,
    /// The narrower side.
    pub capped_by: Side,
}

/// Who is narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The volumes.
    Volumes,
    /// The instance's path to them.
    Instance,
    /// Both are equal.
    Both,
}

impl Side {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Volumes => "volume",
            Self::Instance => "instance",
            Self::Both => "both",
        }
    }
}

/// Local disks at one request size. `None`: not known, because their bytes a second are not; at 4 KiB, where IOPS are
/// stated, these count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LocalAtSize {
    /// Request size, KiB.
    pub io_kib: f64,
    /// Random reads per second.
    pub read_iops: Option<f64>,
    /// Random writes per second.
    pub write_iops: Option<f64>,
    /// MiB read per second.
    pub read_mib_per_s: Option<f64>,
    /// MiB written per second.
    pub write_mib_per_s: Option<f64>,
}

/// Why there are no caps.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CapsError {
    /// No such instance type.
    #[error("unknown instance type `{0}`")]
    Instance(String),
    /// A volume that cannot be.
    #[error("{0}")]
    Volume(#[from] VolumeError),
    /// An era without rules.
    #[error("{0}")]
    Era(#[from] UnknownEra),
    /// More volumes than the instance attaches.
    #[error(transparent)]
    TooMany(#[from] TooManyVolumes),
    /// Volumes that the instance is not known to take.
    #[error(transparent)]
    NotAttached(#[from] NotAttached),
    /// A bandwidth weighting that the instance has not.
    #[error(transparent)]
    NotWeighted(#[from] NotWeighted),
}

impl Catalog {
    /// Caps of one machine of a configuration, by the volume rules of an era (`None`: today's).
    ///
    /// # Errors
    ///
    /// When a volume breaks a rule of the era, the era is not known, or the instance attaches fewer volumes.
    pub fn caps(&self, request: &ClusterRequest, era: Option<&str>) -> Result<Caps, CapsError> {
        self.caps_weighted(request, era, BandwidthWeighting::Default)
    }

    /// The same, with the machine's bandwidth weighted.
    ///
    /// # Errors
    ///
    /// As [`Self::caps`], and when AWS does not offer that weighting for the type.
    pub fn caps_weighted(
        &self,
        request: &ClusterRequest,
        era: Option<&str>,
        weighting: BandwidthWeighting,
    ) -> Result<Caps, CapsError> {
        let known = self.instance(&request.instance).ok_or_else(|| CapsError::Instance(request.instance.clone()))?;
        let kinds: Vec<VolumeType> = request.volumes.iter().map(|volume| volume.kind).collect();
        let machine = &known.weighted(weighting)?.with_volumes(&kinds)?;
        machine.attaches(request.volumes.len())?;
        let volumes = request
            .volumes
            .iter()
            .map(|volume| {
                let rules = match era {
                    None => rules(volume.kind),
                    Some(era) => rules_in(volume.kind, era)?,
                };
                Ok(resolve_volume_on(rules, volume, machine)?)
            })
            .collect::<Result<Vec<_>, CapsError>>()?;
        let on = reach::cards_of(machine, &volumes, CardPlacement::Spread);
        let of_card = |card: u32| {
            let volumes: Vec<usize> = (0..on.len()).filter(|at| on[*at] == card).collect();
            Some(CardCaps { card, ebs: Vec::new(), volumes, path: machine.ebs?.of_card() })
        };
        let cards: Vec<CardCaps> = (0..machine.ebs_cards()).filter_map(of_card).collect();
        let mut caps = Caps {
            configuration: request.to_string(),
            cpu_speed: cpu_speed(&machine.name),
            local: local(machine),
            path: machine.ebs,
            volume_slots: machine.volume_slots,
            remarks: Vec::new(),
            ebs: at_sizes(machine, &volumes, &on),
            cards: Vec::new(),
            volumes,
        };
        if cards.len() > 1 && !caps.volumes.is_empty() {
            let its = |card: CardCaps| {
                let volumes: Vec<ResolvedVolume> = card.volumes.iter().map(|at| caps.volumes[*at].clone()).collect();
                CardCaps { ebs: at_sizes(machine, &volumes, &vec![card.card; volumes.len()]), ..card }
            };
            caps.cards = cards.into_iter().map(its).collect();
        }
        caps.remarks = remarks(machine, &caps);
        caps.remarks.extend(machine.weighted_from(known));
        Ok(caps)
    }
}

fn burst_of(volume: &ResolvedVolume) -> (f64, f64) {
    (volume.limits.read_iops.unwrap_or(volume.baseline_iops), volume.burst_mib_per_s.max(volume.baseline_mib_per_s))
}

/// What volumes get behind the instance's path, by request size; `on`: the card of each.
fn at_sizes(machine: &InstanceType, volumes: &[ResolvedVolume], on: &[u32]) -> Vec<CapsAtSize> {
    if volumes.is_empty() {
        return Vec::new();
    }
    let path = |burst: bool| {
        let whole = if burst { machine.ebs_burst_limits() } else { machine.ebs_limits() };
        let limits = whole.scaled(f64::from(machine.ebs_cards()));
        (limits.read_iops.unwrap_or(f64::INFINITY), limits.read_bytes_per_s.map_or(f64::INFINITY, |b| b / MIB))
    };
    let at = |io_kib| CapsAtSize {
        io_kib,
        baseline: ceiling(io_kib, volumes.iter().map(|v| (v.baseline_iops, v.baseline_mib_per_s)), on, path(false)),
        burst: ceiling(io_kib, volumes.iter().map(burst_of), on, path(true)),
    };
    SIZES_KIB.into_iter().map(at).collect()
}

/// Each volume by itself, then the sum of those on each card against that card.
fn ceiling(
    io_kib: f64,
    volumes: impl Iterator<Item = (f64, f64)>,
    on: &[u32],
    (card_iops, card_mib): (f64, f64),
) -> Ceiling {
    let at_size = |(iops, mib): (f64, f64)| iops.min(mib * 1024.0 / io_kib);
    let each: Vec<(Option<u32>, f64)> = on.iter().copied().map(Some).zip(volumes.map(at_size)).collect();
    let card = at_size((card_iops, card_mib));
    let together: f64 = each.iter().map(|(_, iops)| iops).sum();
    let used: BTreeSet<u32> = on.iter().copied().collect();
    let iops = through_cards(each, card);
    let lost = (together - iops) / iops;
    // What the cards that have a volume could carry besides.
    let unused = (card * used.len() as f64 - iops) / iops;
    Ceiling {
        iops,
        mib_per_s: iops * io_kib / 1024.0,
        capped_by: match (lost, unused) {
            (lost, unused) if lost < 1e-9 && unused < 1e-9 => Side::Both,
            (lost, _) if lost >= 1e-9 => Side::Instance,
            _ => Side::Volumes,
        },
    }
}

fn local(machine: &InstanceType) -> Vec<LocalAtSize> {
    let Some(limits) = machine.local_limits() else { return Vec::new() };
    let (Some(read), Some(write)) = (limits.read_iops, limits.write_iops) else { return Vec::new() };
    let at = |iops: f64, bytes: Option<f64>, io_kib: f64| match bytes {
        Some(bytes) => Some(iops.min(bytes / 1024.0 / io_kib)),
        None => (io_kib <= LOCAL_IOPS_KIB).then_some(iops),
    };
    let at_size = |io_kib: f64| {
        let reads = at(read, limits.read_bytes_per_s, io_kib);
        let writes = at(write, limits.write_bytes_per_s, io_kib);
        let mib = |iops: f64| iops * io_kib / 1024.0;
        LocalAtSize {
            io_kib,
            read_iops: reads,
            write_iops: writes,
            read_mib_per_s: reads.map(mib),
            write_mib_per_s: writes.map(mib),
        }
    };
    SIZES_KIB.into_iter().map(at_size).collect()
}

fn remarks(machine: &InstanceType, caps: &Caps) -> Vec<String> {
    let mut remarks = reach::beyond(machine, &caps.volumes);
    remarks.extend(volume::taken(caps.volumes.iter().map(|volume| &volume.request)));
    if let Some(card) = caps.cards.first().map(|card| card.path) {
        remarks.push(format!(
            "{} has {} EBS cards, each of {:.0} IOPS and {:.0} MB/s, and volumes are spread over them here; AWS \
             attaches one for which nothing is stated (--ebs-card-index) to card 0, so that all of them stop there",
            machine.name,
            caps.cards.len(),
            card.baseline_iops,
            card.baseline_mb_per_s
        ));
    }
    if !caps.volumes.is_empty() {
        remarks.extend(machine.path_conditions().map(str::to_owned));
    }
    if let Some(path) = machine.ebs {
        if path.bursts() && !caps.volumes.is_empty() {
            remarks.push(format!(
                "the instance's path bursts from {:.0} to {:.0} IOPS and from {:.0} to {:.0} MB/s \
                 for at least 30 minutes in 24 hours",
                path.baseline_iops, path.burst_iops, path.baseline_mb_per_s, path.burst_mb_per_s
            ));
        }
    } else if !caps.volumes.is_empty() {
        remarks.push(format!("{}: its path to EBS is not known; only the volumes cap", machine.name));
    }
    for volume in &caps.volumes {
        if let Some(bucket) = volume.burst.filter(|b| b.burst_iops > b.baseline_iops) {
            remarks.push(format!(
                "{}: {:.0} IOPS last, {:.0} for {:.0} s from a full bucket of {:.0} credits",
                volume.label,
                bucket.baseline_iops,
                bucket.burst_iops,
                bucket.credits_max / (bucket.burst_iops - bucket.baseline_iops),
                bucket.credits_max
            ));
        }
    }
    if machine.local_disks.is_some() && caps.local.is_empty() {
        remarks.push("the IOPS of its local disks are not known".to_owned());
    } else if machine.lacks_local_bytes() {
        remarks.push(format!(
            "the MB/s of its local disks are not known: {LOCAL_BYTES_HELP}; their IOPS are those of 4 KiB, and say \
             nothing of larger requests"
        ));
    }
    if machine.local_disks.is_none() && caps.volumes.is_empty() {
        let named = match (machine.cloud(), machine.paths.iter().flat_map(|path| &path.kinds).next()) {
            (Cloud::Aws, _) => Some(VolumeType::Gp3),
            (_, known) => known.copied(),
        };
        let example = named.map(|kind| format!("; with one: {}+{kind}:1000", machine.name));
        remarks.push(format!(
            "{}, and no volume is named{}",
            match machine.leaves_out_disks() {
                true => format!("what the local disks of {} do is not known", machine.name),
                false => format!("the catalog has no local disks of {}", machine.name),
            },
            example.unwrap_or_default()
        ));
    }
    if machine.is_flex() {
        remarks.push(format!("{} is a flex type: its CPUs are whole for 95 % of a day only", machine.name));
    }
    if let Some(share) = machine.cpu_share {
        remarks.push(format!(
            "{} earns CPU credits: {:.0} % of its {} vCPUs last",
            machine.name,
            share * 100.0,
            machine.vcpus
        ));
    }
    remarks
}
