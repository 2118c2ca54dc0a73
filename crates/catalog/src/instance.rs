//! Instance types: processors, memory, local disks and the path to EBS.
//!
//! The table is `data/instances.csv`; its head says where each column comes from. `generate.py` writes it.

use serde::{Deserialize, Serialize};

use crate::table;
use crate::{Cloud, IoLimits, VolumeType, nearest as near};

/// Bytes in one MB, as AWS states disk and EBS throughput.
pub const MB: f64 = 1e6;

/// How a user states bytes a second of local disks that the catalog does not know.
pub const LOCAL_BYTES_HELP: &str =
    "measure them (fio), and state read_mb_per_s and write_mb_per_s in a catalog file (docs/catalog.md)";

/// What kind of local disk an instance type has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskKind {
    /// Rotating disk.
    Hdd,
    /// Solid state, behind the hypervisor's block device.
    Ssd,
    /// Solid state, NVMe.
    NvmeSsd,
}

impl DiskKind {
    /// For people.
    pub fn label(self) -> &'static str {
        match self {
            Self::Hdd => "HDD",
            Self::Ssd => "SSD",
            Self::NvmeSsd => "NVMe",
        }
    }
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureSource {
    /// The documentation of who sells it, of AWS the EC2 User Guide. A documented range counts with its lower end.
    Documented,
    /// Measured by ScyllaDB's `iotune` on the instance type.
    Measured,
}

/// Instance store: disks inside the host, gone when the instance stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalDisks {
    /// Disks.
    pub count: u32,
    /// Size of each, GB (10^9 bytes).
    pub size_gb_each: f64,
    /// Kind.
    pub kind: DiskKind,
    /// Random 4 KiB reads per second, all disks together.
    pub read_iops: Option<f64>,
    /// Random 4 KiB writes per second, all disks together.
    pub write_iops: Option<f64>,
    /// Source of the two above.
    pub iops_source: Option<FigureSource>,
    /// MB (10^6 bytes) read per second, all disks together.
    pub read_mb_per_s: Option<f64>,
    /// MB written per second, all disks together.
    pub write_mb_per_s: Option<f64>,
    /// Source of the two above.
    pub throughput_source: Option<FigureSource>,
}

impl LocalDisks {
    /// All disks together, GB (10^9 bytes).
    pub fn total_gb(&self) -> f64 {
        f64::from(self.count) * self.size_gb_each
    }

    /// For people: `2 x 1900 GB NVMe`.
    pub fn label(&self) -> String {
        format!("{} x {} GB {}", self.count, self.size_gb_each, self.kind.label())
    }
}

/// What an instance type allows to and from all its EBS volumes together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EbsCaps {
    /// MB (10^6 bytes) per second at all times, at 128 KiB.
    pub baseline_mb_per_s: f64,
    /// MB per second for at least 30 minutes in 24 hours; the baseline where the type does not burst.
    pub burst_mb_per_s: f64,
    /// Operations per second at all times, at 16 KiB.
    pub baseline_iops: f64,
    /// Operations per second for at least 30 minutes in 24 hours.
    pub burst_iops: f64,
    /// EBS cards: each carries an equal part of the above, and of the volumes.
    pub cards: u32,
}

impl EbsCaps {
    /// What one of its cards carries.
    pub fn of_card(&self) -> Self {
        let cards = f64::from(self.cards);
        Self {
            baseline_mb_per_s: self.baseline_mb_per_s / cards,
            burst_mb_per_s: self.burst_mb_per_s / cards,
            baseline_iops: self.baseline_iops / cards,
            burst_iops: self.burst_iops / cards,
            cards: 1,
        }
    }

    /// Whether the type does more for a while than at all times.
    pub fn bursts(&self) -> bool {
        self.burst_iops > self.baseline_iops || self.burst_mb_per_s > self.baseline_mb_per_s
    }
}

/// How a type gets its own path to EBS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EbsOptimisation {
    /// Always, at no extra charge.
    Default,
    /// When asked for, at a charge by the hour (types of before 2015).
    Surcharge,
    /// Never: volumes share the network.
    None,
}

/// How many EBS volumes may be attached to one instance, its root volume among them (EC2 User Guide, "Amazon EBS
/// volume limits").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeSlots {
    /// Most volumes, with one network interface.
    pub most: u32,
    /// Whether further network interfaces take places of volumes; local disks are counted in [`Self::most`] already.
    pub shared: bool,
}

/// Whether AWS still offers a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// Of the current generation.
    Current,
    /// Still offered, of a previous generation.
    Previous,
    /// No longer offered; kept because published studies used it.
    Retired,
}

/// The path to volumes of some types, on clouds where it depends on the type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VolumePath {
    /// The types.
    pub kinds: Vec<VolumeType>,
    /// What all volumes of these types get together.
    pub caps: EbsCaps,
}

/// One machine type: of EC2, or of another cloud.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceType {
    /// AWS's name, `r4.4xlarge`; of other clouds with theirs before it, `gcp:n2-standard-16`.
    pub name: String,
    /// Whether it is still offered.
    pub lifecycle: Lifecycle,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// Virtual CPUs.
    pub vcpus: u32,
    /// Memory, GiB.
    pub memory_gib: f64,
    /// Instance store, if it has one.
    pub local_disks: Option<LocalDisks>,
    /// The path to EBS; `None`: not known, or shared with the network (types without "EBS optimisation").
    pub ebs: Option<EbsCaps>,
    /// Latest on-demand price, us-east-1, Linux, shared tenancy; `None`: not known, which is not 0.
    pub on_demand_usd_per_hour: Option<f64>,
    /// Day of that price, `2026-07-20`.
    pub price_date: Option<String>,
    /// Year in which the family was introduced.
    pub introduced: Option<u32>,
    /// Whether it runs on the Nitro hypervisor; others reach at most 32,000 provisioned IOPS a volume. `None`: not
    /// known.
    pub nitro: Option<bool>,
    /// How it gets the path to EBS.
    pub ebs_optimisation: EbsOptimisation,
    /// Charge for it by the hour on 2017-11-12, where it costs extra.
    pub ebs_optimisation_usd_per_hour: Option<f64>,
    /// Network bandwidth that lasts, Gbit/s.
    pub network_gbps: Option<f64>,
    /// Network bandwidth for a while, Gbit/s.
    pub network_burst_gbps: Option<f64>,
    /// Processor, as AWS names it: `Intel Xeon E5-2686 v4 (Broadwell)`.
    pub processor: Option<String>,
    /// Its sustained clock, GHz.
    pub clock_ghz: Option<f64>,
    /// Share of its vCPUs that lasts, of a type that earns CPU credits (t3, t4g); `None`: all of them.
    pub cpu_share: Option<f64>,
    /// EBS volumes that may be attached, and what else takes their places.
    pub volume_slots: Option<VolumeSlots>,
    /// Whether its bandwidth may be weighted ([`crate::BandwidthWeighting`]).
    pub bandwidth_weighting: bool,
    /// What it lets through to volumes, where that depends on their type (Google Cloud, Azure), in place of
    /// [`Self::ebs`].
    pub paths: Vec<VolumePath>,
}

impl InstanceType {
    /// A type of which nothing but its size is known.
    pub(crate) fn of_size(name: String, architecture: String, vcpus: u32, memory_gib: f64) -> Self {
        Self {
            name,
            lifecycle: Lifecycle::Current,
            architecture,
            vcpus,
            memory_gib,
            local_disks: None,
            ebs: None,
            on_demand_usd_per_hour: None,
            price_date: None,
            introduced: None,
            nitro: None,
            ebs_optimisation: EbsOptimisation::Default,
            ebs_optimisation_usd_per_hour: None,
            network_gbps: None,
            network_burst_gbps: None,
            processor: None,
            clock_ghz: None,
            cpu_share: None,
            volume_slots: None,
            bandwidth_weighting: false,
            paths: Vec::new(),
        }
    }

    /// What stands before the size in its name: before the dot; `gcp:n2-standard`; `azure:Standard_E`.
    pub fn family(&self) -> &str {
        match Cloud::of(&self.name) {
            Cloud::Aws => self.name.split('.').next().unwrap_or_default(),
            // Behind the size may stand what local disks there are: `gcp:z3-highmem-88-highlssd`.
            Cloud::Google => self.name.match_indices('-').nth(1).map_or(&*self.name, |(at, _)| &self.name[..at]),
            Cloud::Azure => self.name.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default(),
        }
    }

    /// vCPUs that it has at all times: what CPU credits add ends.
    pub fn lasting_vcpus(&self) -> f64 {
        f64::from(self.vcpus) * self.cpu_share.unwrap_or(1.0)
    }

    /// Whether it is a "flex" type: its CPUs are whole for 95 % of a day, and what lasts AWS states for M7i-flex alone
    /// (40 %; AWS CDK, `InstanceClass`, seen 2026-11-26), so that [`Self::lasting_vcpus`] counts them whole.
    pub fn is_flex(&self) -> bool {
        self.family().ends_with("-flex")
    }

    /// Whether it has local disks that the tables leave out, because nobody says what they do: Azure's with a `d`
    /// behind the size, for a temporary disk (Azure, "VM naming conventions").
    pub fn leaves_out_disks(&self) -> bool {
        let behind = self.name[self.family().len()..].trim_start_matches(|c: char| c.is_ascii_digit());
        let has_one = behind.split('_').next().is_some_and(|features| features.contains('d'));
        self.cloud() == Cloud::Azure && has_one && self.local_disks.is_none()
    }

    /// Its EBS cards; 1 where nothing else is known.
    pub fn ebs_cards(&self) -> u32 {
        self.ebs.map_or(1, |ebs| ebs.cards)
    }

    /// What EBS volumes get at all times; no limits where the type's are not known.
    pub fn ebs_limits(&self) -> IoLimits {
        self.ebs.map_or_else(IoLimits::default, |ebs| either_way(Some(ebs.baseline_iops), Some(ebs.baseline_mb_per_s)))
    }

    /// What EBS volumes get for at least 30 minutes in 24 hours; the same as [`Self::ebs_limits`] for a type that does
    /// not burst.
    pub fn ebs_burst_limits(&self) -> IoLimits {
        self.ebs.map_or_else(IoLimits::default, |ebs| either_way(Some(ebs.burst_iops), Some(ebs.burst_mb_per_s)))
    }

    /// Whether it has local disks whose bytes a second, read or written, are not known.
    pub fn lacks_local_bytes(&self) -> bool {
        self.local_disks.as_ref().is_some_and(|disks| disks.read_mb_per_s.is_none() || disks.write_mb_per_s.is_none())
    }

    /// What the local disks do together, `None` without local disks. `None` of a figure means that it is not known
    /// (HDDs and the older SSDs have none), not that nothing limits it: see [`Self::lacks_local_bytes`].
    pub fn local_limits(&self) -> Option<IoLimits> {
        let disks = self.local_disks.as_ref()?;
        Some(IoLimits {
            read_iops: disks.read_iops,
            write_iops: disks.write_iops,
            read_bytes_per_s: disks.read_mb_per_s.map(|mb| mb * MB),
            write_bytes_per_s: disks.write_mb_per_s.map(|mb| mb * MB),
        })
    }
}

fn either_way(iops: Option<f64>, mb_per_s: Option<f64>) -> IoLimits {
    IoLimits {
        read_iops: iops,
        write_iops: iops,
        read_bytes_per_s: mb_per_s.map(|mb| mb * MB),
        write_bytes_per_s: mb_per_s.map(|mb| mb * MB),
    }
}

/// The table of this program, sorted by name.
pub(crate) fn built_in() -> Vec<InstanceType> {
    let mut all = table::read(include_str!("../data/instances.csv"), read);
    all.sort_by(|a: &InstanceType, b| a.name.cmp(&b.name));
    all
}

/// At most three names like the one given, see [`crate::Catalog::nearest_instances`]; of another cloud, where no slip
/// explains it, the nearest of as many vCPUs.
pub(crate) fn nearest<'a, N: Iterator<Item = &'a str>>(name: &str, names: impl Fn() -> N) -> Vec<&'a str> {
    const MOST: usize = 3;
    // `Standard_D16s_v6`, `D16s_v6`, `azure:D16s_v6`: whose it is stands before the name here, and all of the name.
    let without_cloud = name.split_once(':').map_or(name, |(_, own)| own);
    let is_own_name = |known: &&str| {
        let own = known.split_once(':').map(|(_, own)| own);
        let short = own.and_then(|own| own.strip_prefix("Standard_"));
        [own, short].into_iter().flatten().any(|own| own.eq_ignore_ascii_case(without_cloud))
    };
    let of_clouds: Vec<&str> = names().filter(is_own_name).take(MOST).collect();
    if !of_clouds.is_empty() {
        return of_clouds;
    }
    let slips = near::by_slips(name, names(), 2, MOST);
    if !slips.is_empty() {
        return slips;
    }
    let lower = name.to_ascii_lowercase();
    if let Some((cloud, full)) = of_other_cloud(&lower) {
        let alike = |known: &&str| Cloud::of(known) == cloud && size_in(known) == size_in(&full);
        return near::by_slips(&full, names().filter(alike), usize::MAX, MOST);
    }
    let (family, size) = lower.split_once('.').unwrap_or((&lower, "large"));
    let in_family = |known: &str| known.split_once('.').is_some_and(|(f, _)| f == family);
    let relatives = near::by_slips(&lower, names().filter(|known| in_family(known)), usize::MAX, MOST);
    if !relatives.is_empty() {
        return relatives;
    }
    let same_size = names().filter(|known| known.split_once('.').is_some_and(|(_, s)| s == size));
    near::by_slips(&format!("{family}.{size}"), same_size, 2, MOST)
}

/// Whose a name is that is not AWS's, and the name with its cloud before it: `standard_m64ms`, `m3-megamem-64`.
fn of_other_cloud(lower: &str) -> Option<(Cloud, String)> {
    match Cloud::of(lower) {
        Cloud::Aws if lower.starts_with("standard_") => Some((Cloud::Azure, format!("azure:{lower}"))),
        Cloud::Aws if lower.split('-').count() == 3 && !lower.contains('.') => {
            Some((Cloud::Google, format!("gcp:{lower}")))
        }
        Cloud::Aws => None,
        cloud => Some((cloud, lower.to_owned())),
    }
}

/// The digits of a size: `16` of `azure:Standard_E16s_v5` and of `gcp:n2-standard-16`.
fn size_in(name: &str) -> &str {
    let from = match Cloud::of(name) {
        Cloud::Google => name.match_indices('-').nth(1).map_or(name.len(), |(at, _)| at + 1),
        _ => name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()),
    };
    let size = &name[from..];
    &size[..size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len())]
}

fn read(row: &table::Row<'_>) -> InstanceType {
    let source = |column: &str| {
        row.text(column).map(|letter| match letter {
            "d" => FigureSource::Documented,
            _ => FigureSource::Measured,
        })
    };
    let local_disks = row.text("disk_kind").map(|kind| LocalDisks {
        count: row.required("disks") as u32,
        size_gb_each: row.required("disk_gb"),
        kind: match kind {
            "hdd" => DiskKind::Hdd,
            "ssd" => DiskKind::Ssd,
            _ => DiskKind::NvmeSsd,
        },
        read_iops: row.number("read_iops"),
        write_iops: row.number("write_iops"),
        iops_source: source("iops_from"),
        read_mb_per_s: row.number("read_mb_per_s"),
        write_mb_per_s: row.number("write_mb_per_s"),
        throughput_source: source("mb_from"),
    });
    let ebs = row.number("ebs_iops").map(|baseline_iops| EbsCaps {
        baseline_mb_per_s: row.required("ebs_mb_per_s"),
        burst_mb_per_s: row.required("ebs_burst_mb_per_s"),
        baseline_iops,
        burst_iops: row.required("ebs_burst_iops"),
        cards: row.number("ebs_cards").map_or(1, |cards| cards as u32),
    });
    InstanceType {
        name: row.text("name").unwrap_or_default().to_owned(),
        lifecycle: match row.text("lifecycle") {
            Some("current") => Lifecycle::Current,
            Some("previous") => Lifecycle::Previous,
            _ => Lifecycle::Retired,
        },
        architecture: row.text("architecture").unwrap_or_default().to_owned(),
        vcpus: row.required("vcpus") as u32,
        memory_gib: row.required("memory_gib"),
        local_disks,
        ebs,
        on_demand_usd_per_hour: row.number("usd_per_hour"),
        price_date: row.text("usd_date").map(str::to_owned),
        introduced: row.number("introduced").map(|year| year as u32),
        nitro: row.text("nitro").map(|letter| letter == "y"),
        ebs_optimisation: match row.text("ebs_mode") {
            Some("default") => EbsOptimisation::Default,
            Some("surcharge") => EbsOptimisation::Surcharge,
            _ => EbsOptimisation::None,
        },
        ebs_optimisation_usd_per_hour: row.number("ebs_surcharge_usd"),
        network_gbps: row.number("net_gbps"),
        network_burst_gbps: row.number("net_burst_gbps"),
        processor: row.text("cpu").map(str::to_owned),
        clock_ghz: row.number("ghz"),
        cpu_share: row.number("cpu_share"),
        volume_slots: row
            .number("max_volumes")
            .map(|most| VolumeSlots { most: most as u32, shared: row.text("slots") != Some("d") }),
        bandwidth_weighting: row.text("weighting") == Some("y"),
        paths: Vec::new(),
    }
}
