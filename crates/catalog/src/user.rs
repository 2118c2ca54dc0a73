//! A user's own facts, in TOML: own instance types (bare metal, other clouds), own prices, or what `iopslab catalog
//! refresh` has read from AWS. The form is the same for all of them.
//!
//! ```toml
//! region = "us-east-1"            # of the prices below
//! price_date = "2026-11-01"       # the day from which they count
//! source = "offer 4711 of ACME hosting"
//!
//! [[instance]]
//! name = "acme.db40"              # a new type needs vcpus and memory_gib; a known one only what changes
//! vcpus = 40
//! memory_gib = 256
//! usd_per_hour = 1.9              # on demand
//! reserved_usd_per_hour = { 1yr-no-upfront = 1.2 }
//! local_disks = { count = 4, size_gb_each = 3840, kind = "nvme-ssd", read_iops = 1600000, write_iops = 400000 }
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::price::{InstancePrice, VolumePrice};
use crate::{
    Cloud, EbsCaps, EbsOptimisation, InstanceType, Lifecycle, LocalDisks, Purchase, REGION, VolumeType, day, nearest,
};

/// One file of a user's facts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserCatalog {
    /// Name of the file, for messages.
    #[serde(skip)]
    pub file: String,
    /// Its text, to number lines by.
    #[serde(skip)]
    text: String,
    /// Region of its prices; `us-east-1` when it is not stated.
    pub region: Option<String>,
    /// The day from which its prices count, `2026-11-01`; needed where an entry with a price does not state its own.
    pub price_date: Option<String>,
    /// Where its prices were seen; the name of the file when it is not stated.
    pub source: Option<String>,
    /// Instance types: new ones, or figures of known ones that change.
    #[serde(default, rename = "instance", skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<UserInstance>,
    /// Monthly prices of volumes.
    #[serde(default, rename = "volume_price", skip_serializing_if = "Vec::is_empty")]
    pub volume_prices: Vec<UserVolumePrice>,
}

/// An instance type; the meaning and unit of each figure are those of [`InstanceType`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UserInstance {
    name: String,
    /// `x86_64` (of a new type, when it is not stated) or `arm64`.
    pub architecture: Option<String>,
    /// Virtual CPUs.
    pub vcpus: Option<u32>,
    /// Memory, GiB.
    pub memory_gib: Option<f64>,
    /// Whether it is still offered; a new type is.
    pub lifecycle: Option<Lifecycle>,
    /// Year in which the family was introduced.
    pub introduced: Option<u32>,
    /// Whether it runs on the Nitro hypervisor.
    pub nitro: Option<bool>,
    /// Network bandwidth that lasts, Gbit/s.
    pub network_gbps: Option<f64>,
    /// Network bandwidth for a while, Gbit/s.
    pub network_burst_gbps: Option<f64>,
    /// Whether its bandwidth may be weighted.
    pub bandwidth_weighting: Option<bool>,
    /// On-demand price.
    pub usd_per_hour: Option<f64>,
    /// The day from which its prices count, if another than the file's.
    pub price_date: Option<String>,
    /// Prices of other purchase options, upfront payments spread over the hours of the term.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reserved_usd_per_hour: BTreeMap<Purchase, f64>,
    /// Path to volumes behind a network.
    pub ebs: Option<UserEbs>,
    /// Local disks.
    pub local_disks: Option<LocalDisks>,
}

impl UserInstance {
    /// An entry that states nothing but its name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A path to volumes; without burst figures it does not burst.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserEbs {
    /// Operations per second at all times, at 16 KiB.
    pub baseline_iops: f64,
    /// MB (10^6 bytes) per second at all times, at 128 KiB.
    pub baseline_mb_per_s: f64,
    /// Operations per second for a while.
    pub burst_iops: Option<f64>,
    /// MB per second for a while.
    pub burst_mb_per_s: Option<f64>,
    /// EBS cards, each with an equal part of the path; of a known type, when it is not stated, as many as are known.
    pub cards: Option<u32>,
}

/// Monthly prices of a volume type; the meaning and unit of each figure are those of [`VolumePrice`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserVolumePrice {
    /// Type.
    #[serde(rename = "type")]
    pub kind: VolumeType,
    /// The day from which it counts, if another than the file's.
    pub price_date: Option<String>,
    /// USD per GB-month.
    pub usd_per_gb: f64,
    /// USD per provisioned IOPS above `iops_above`.
    pub usd_per_iops: Option<f64>,
    /// IOPS that are included.
    #[serde(default)]
    pub iops_above: f64,
    /// USD per provisioned IOPS above 32,000 (io2).
    pub usd_per_iops_above_32000: Option<f64>,
    /// USD per provisioned IOPS above 64,000 (io2).
    pub usd_per_iops_above_64000: Option<f64>,
    /// USD per MiB/s above `mib_above`.
    pub usd_per_mib_per_s: Option<f64>,
    /// MiB/s that are included.
    #[serde(default)]
    pub mib_above: f64,
    /// USD per million I/O requests (standard).
    pub usd_per_million_io: Option<f64>,
}

/// What is wrong with a user's file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {problem}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct UserCatalogError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong, and what may stand there.
    pub problem: String,
}

impl UserCatalog {
    /// A file without entries.
    pub fn new(region: &str, price_date: &str, source: &str) -> Self {
        Self {
            region: Some(region.to_owned()),
            price_date: Some(price_date.to_owned()),
            source: Some(source.to_owned()),
            ..Self::default()
        }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// When it is no TOML of this form, or a figure cannot be.
    pub fn parse(file: &str, text: &str) -> Result<Self, UserCatalogError> {
        let mut read: Self = toml::from_str(text).map_err(|error| UserCatalogError {
            file: file.to_owned(),
            line: error.span().map(|span| line_at(text, span.start)),
            problem: said(error.message()),
        })?;
        file.clone_into(&mut read.file);
        text.clone_into(&mut read.text);
        read.check()?;
        Ok(read)
    }

    /// The file's text, TOML, which has no word for what is not known: that is left out.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("names, numbers and tables are always TOML")
    }

    /// Takes over the prices of an older file of the same region where this one has none: each with its own day.
    pub fn keep_prices_of(&mut self, old: &Self) {
        if old.region() != self.region() {
            return;
        }
        let dated = |own: &Option<String>| own.clone().or_else(|| old.price_date.clone());
        for entry in &mut self.instances {
            let known = old.instances.iter().find(|known| known.name == entry.name);
            let has_none = entry.usd_per_hour.is_none() && entry.reserved_usd_per_hour.is_empty();
            if let Some(known) = known.filter(|_| has_none) {
                entry.usd_per_hour = known.usd_per_hour;
                entry.reserved_usd_per_hour.clone_from(&known.reserved_usd_per_hour);
                entry.price_date = dated(&known.price_date);
            }
        }
        for known in &old.volume_prices {
            if !self.volume_prices.iter().any(|price| price.kind == known.kind) {
                let price_date = dated(&known.price_date);
                self.volume_prices.push(UserVolumePrice { price_date, ..known.clone() });
            }
        }
    }

    fn region(&self) -> &str {
        self.region.as_deref().unwrap_or(REGION)
    }

    fn wrong(&self, about: &str, problem: impl Into<String>) -> UserCatalogError {
        let at = self.text.find(&format!("\"{about}\""));
        let problem: String = problem.into();
        UserCatalogError {
            file: self.file.clone(),
            line: at.map(|at| line_at(&self.text, at)),
            problem: format!("`{about}`: {problem}"),
        }
    }

    fn check(&self) -> Result<(), UserCatalogError> {
        for (at, entry) in self.instances.iter().enumerate() {
            if self.instances[..at].iter().any(|earlier| earlier.name.eq_ignore_ascii_case(&entry.name)) {
                return Err(self.wrong(&entry.name, "is stated twice in this file"));
            }
        }
        for (at, price) in self.volume_prices.iter().enumerate() {
            if self.volume_prices[..at].iter().any(|earlier| earlier.kind == price.kind) {
                return Err(self.wrong(price.kind.name(), "is priced twice in this file"));
            }
        }
        for entry in &self.instances {
            self.check_instance(entry).map_err(|problem| self.wrong(&entry.name, problem))?;
        }
        for price in &self.volume_prices {
            let figures = [
                ("usd_per_gb", Some(price.usd_per_gb)),
                ("usd_per_iops", price.usd_per_iops),
                ("usd_per_iops_above_32000", price.usd_per_iops_above_32000),
                ("usd_per_iops_above_64000", price.usd_per_iops_above_64000),
                ("usd_per_mib_per_s", price.usd_per_mib_per_s),
                ("usd_per_million_io", price.usd_per_million_io),
            ];
            positive(&figures)
                .and_then(|()| self.day_of(price.price_date.as_deref()).map(drop))
                .map_err(|problem| self.wrong(price.kind.name(), problem))?;
        }
        Ok(())
    }

    fn check_instance(&self, entry: &UserInstance) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        if entry.name.is_empty() || !entry.name.chars().all(plain) {
            return Err("a name has letters, digits, `.`, `-`, `_` and `:` only".to_owned());
        }
        positive(&[
            ("vcpus", entry.vcpus.map(f64::from)),
            ("memory_gib", entry.memory_gib),
            ("network_gbps", entry.network_gbps),
            ("network_burst_gbps", entry.network_burst_gbps),
            ("usd_per_hour", entry.usd_per_hour),
        ])?;
        for (purchase, usd) in &entry.reserved_usd_per_hour {
            if *purchase == Purchase::OnDemand {
                return Err("the on-demand price is usd_per_hour".to_owned());
            }
            positive(&[(purchase.word(), Some(*usd))])?;
        }
        if entry.usd_per_hour.is_some() || !entry.reserved_usd_per_hour.is_empty() {
            self.day_of(entry.price_date.as_deref())?;
        }
        if let Some(ebs) = &entry.ebs {
            positive(&[
                ("ebs.baseline_iops", Some(ebs.baseline_iops)),
                ("ebs.baseline_mb_per_s", Some(ebs.baseline_mb_per_s)),
                ("ebs.cards", ebs.cards.map(f64::from)),
            ])?;
            let falls = |burst: Option<f64>, baseline: f64| burst.is_some_and(|burst| burst < baseline);
            if falls(ebs.burst_iops, ebs.baseline_iops) || falls(ebs.burst_mb_per_s, ebs.baseline_mb_per_s) {
                return Err("ebs: a burst is not below the baseline".to_owned());
            }
        }
        if let Some(disks) = &entry.local_disks {
            positive(&[
                ("local_disks.count", Some(f64::from(disks.count))),
                ("local_disks.size_gb_each", Some(disks.size_gb_each)),
                ("local_disks.read_iops", disks.read_iops),
                ("local_disks.write_iops", disks.write_iops),
                ("local_disks.read_mb_per_s", disks.read_mb_per_s),
                ("local_disks.write_mb_per_s", disks.write_mb_per_s),
            ])?;
        }
        Ok(())
    }

    /// The day from which a price counts.
    fn day_of(&self, own: Option<&str>) -> Result<String, String> {
        let given = own
            .or(self.price_date.as_deref())
            .ok_or("a price needs its day: price_date = \"2026-11-01\" at the head of the file or in the entry")?;
        day::last(given)
            .filter(|full| full == given)
            .ok_or_else(|| format!("price_date `{given}` is no day such as 2026-11-01"))
    }

    /// An entry over what is known of its type.
    pub(crate) fn merged(
        &self,
        entry: &UserInstance,
        known: Option<&InstanceType>,
    ) -> Result<InstanceType, UserCatalogError> {
        let mut merged = match known {
            Some(known) => known.clone(),
            None => self.new_type(entry)?,
        };
        let set = |to: &mut Option<f64>, value: Option<f64>| *to = value.or(*to);
        merged.vcpus = entry.vcpus.unwrap_or(merged.vcpus);
        merged.memory_gib = entry.memory_gib.unwrap_or(merged.memory_gib);
        merged.lifecycle = entry.lifecycle.unwrap_or(merged.lifecycle);
        merged.architecture = entry.architecture.clone().unwrap_or(merged.architecture);
        merged.introduced = entry.introduced.or(merged.introduced);
        merged.nitro = entry.nitro.or(merged.nitro);
        merged.bandwidth_weighting = entry.bandwidth_weighting.unwrap_or(merged.bandwidth_weighting);
        set(&mut merged.network_gbps, entry.network_gbps);
        set(&mut merged.network_burst_gbps, entry.network_burst_gbps);
        if let Some(ebs) = entry.ebs {
            merged.ebs = Some(EbsCaps {
                baseline_mb_per_s: ebs.baseline_mb_per_s,
                burst_mb_per_s: ebs.burst_mb_per_s.unwrap_or(ebs.baseline_mb_per_s),
                baseline_iops: ebs.baseline_iops,
                burst_iops: ebs.burst_iops.unwrap_or(ebs.baseline_iops),
                cards: ebs.cards.unwrap_or(merged.ebs_cards()),
            });
            // One path for volumes of any type, in place of those by type.
            merged.paths.clear();
        }
        if let Some(disks) = &entry.local_disks {
            // AWS gives count, size and kind only: measured figures of the same disks stay.
            let same = merged.local_disks.take().filter(|old| {
                (old.count, old.kind) == (disks.count, disks.kind)
                    && old.size_gb_each.to_bits() == disks.size_gb_each.to_bits()
            });
            merged.local_disks = Some(match same {
                Some(old) => LocalDisks {
                    read_iops: disks.read_iops.or(old.read_iops),
                    write_iops: disks.write_iops.or(old.write_iops),
                    read_mb_per_s: disks.read_mb_per_s.or(old.read_mb_per_s),
                    write_mb_per_s: disks.write_mb_per_s.or(old.write_mb_per_s),
                    ..old
                },
                None => disks.clone(),
            });
        }
        let cloud = Cloud::of(&entry.name);
        if cloud.region(self.region()) == cloud.region(REGION) && entry.usd_per_hour.is_some() {
            merged.on_demand_usd_per_hour = entry.usd_per_hour;
            merged.price_date = self.day_of(entry.price_date.as_deref()).ok();
        }
        Ok(merged)
    }

    fn new_type(&self, entry: &UserInstance) -> Result<InstanceType, UserCatalogError> {
        let (Some(vcpus), Some(memory_gib)) = (entry.vcpus, entry.memory_gib) else {
            return Err(self.wrong(&entry.name, "a new instance type needs vcpus and memory_gib"));
        };
        Ok(InstanceType {
            ebs_optimisation: if entry.ebs.is_some() { EbsOptimisation::Default } else { EbsOptimisation::None },
            ..InstanceType::of_size(entry.name.clone(), "x86_64".to_owned(), vcpus, memory_gib)
        })
    }

    fn source(&self) -> String {
        self.source.clone().unwrap_or_else(|| self.file.clone())
    }

    /// Its prices of instances, with the name of each type.
    pub(crate) fn instance_prices(&self) -> impl Iterator<Item = (String, InstancePrice)> + '_ {
        self.instances.iter().flat_map(move |entry| {
            let on_demand = entry.usd_per_hour.map(|usd| (Purchase::OnDemand, usd));
            let reserved = entry.reserved_usd_per_hour.iter().map(|(purchase, usd)| (*purchase, *usd));
            on_demand.into_iter().chain(reserved).filter_map(move |(purchase, usd_per_hour)| {
                let price = InstancePrice {
                    date: self.day_of(entry.price_date.as_deref()).ok()?,
                    region: Cloud::of(&entry.name).region(self.region()).to_owned(),
                    purchase,
                    usd_per_hour,
                    upfront_usd: purchase.upfront_usd(usd_per_hour),
                    source: self.source(),
                };
                Some((entry.name.clone(), price))
            })
        })
    }

    /// Its prices of volumes.
    pub(crate) fn volume_prices(&self) -> Result<Vec<VolumePrice>, UserCatalogError> {
        let priced = |price: &UserVolumePrice| {
            Ok(VolumePrice {
                kind: price.kind,
                date: self
                    .day_of(price.price_date.as_deref())
                    .map_err(|problem| self.wrong(price.kind.name(), problem))?,
                region: price.kind.cloud().region(self.region()).to_owned(),
                usd_per_gb: Some(price.usd_per_gb),
                steps: Vec::new(),
                usd_per_iops: price.usd_per_iops,
                iops_above: price.iops_above,
                usd_per_iops_above_32000: price.usd_per_iops_above_32000,
                usd_per_iops_above_64000: price.usd_per_iops_above_64000,
                usd_per_mib_per_s: price.usd_per_mib_per_s,
                mib_above: price.mib_above,
                usd_per_million_io: price.usd_per_million_io,
                source: self.source(),
            })
        };
        self.volume_prices.iter().map(priced).collect()
    }
}

/// Every figure that is given is above 0.
fn positive(figures: &[(&str, Option<f64>)]) -> Result<(), String> {
    let bad =
        figures.iter().find_map(|(name, value)| value.filter(|v| !(v.is_finite() && *v > 0.0)).map(|v| (name, v)));
    bad.map_or(Ok(()), |(name, value)| {
        Err(format!("{name} cannot be {value}: above 0, or leave it out when it is not known"))
    })
}

fn line_at(text: &str, at: usize) -> usize {
    text[..at.min(text.len())].matches('\n').count() + 1
}

/// What the TOML library says; of a key that nobody knows the one that was probably meant, too.
fn said(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2).filter(|_| message.starts_with("unknown field"));
    let near = quoted.next().and_then(|given| nearest::by_slips(given, quoted, 3, 1).first().copied());
    near.map_or_else(
        || message.replace("expected f64", "expected a number"),
        |near| format!("{message} (did you mean `{near}`?)"),
    )
}
