//! What a machine type lets through to volumes of a type, where that depends on the type: on Google Cloud and Azure.

use crate::{Catalog, Cloud, InstanceType, VolumeType};

/// Volumes that a machine type is not known to take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum NotAttached {
    /// Another cloud's.
    #[error(
        "{kind} is a volume of {}, and {instance} a machine type of {}",
        .kind.cloud().label(),
        label_of(.instance)
    )]
    OtherCloud { instance: String, kind: VolumeType },
    /// Without limits.
    #[error("no limits of {kind} volumes on {instance} are known{}", instead(.instance, .kind, .known, .nearest))]
    NoPath { instance: String, kind: VolumeType, known: Vec<String>, nearest: Option<String> },
    /// Of several types, each with a path of its own.
    #[error(
        "{instance} lets through other limits to {one} than to {other} volumes, and what it lets through to both \
         together is not known: attach volumes of one type"
    )]
    Mixed { instance: String, one: VolumeType, other: VolumeType },
    /// Several whose limits do not add up.
    #[error(
        "several {kind} volumes of one machine share the part of their limits that does not depend on their size, \
         which the catalog counts for each: attach one, of their size together"
    )]
    SharesBase { kind: VolumeType },
    /// Beside another one.
    #[error(
        "{kind} stands alone: RDS for PostgreSQL keeps data and WAL on one storage volume (source: RDS API Reference, \
         AdditionalStorageVolume: of Oracle and SQL Server alone)"
    )]
    NotAlone { kind: VolumeType },
}

impl NotAttached {
    /// Whether such a machine can be bought with such volumes, so that it has a price, and only limits are not known.
    pub(crate) fn is_sold(&self) -> bool {
        let Self::NoPath { instance, kind, .. } = self else { return false };
        said(instance, *kind).as_deref() == Some(LIMITS_NOT_FOUND)
    }

    /// What no machine has together, among volumes of these types (one entry for each volume).
    pub fn together(kinds: &[VolumeType]) -> Option<Self> {
        let alone = kinds.iter().find(|kind| kind.is_of_rds()).filter(|_| kinds.len() > 1)?;
        Some(Self::NotAlone { kind: *alone })
    }
}

/// What is sold, of which only limits are not known.
const LIMITS_NOT_FOUND: &str = "Google offers them there, but its limits of this machine type were not found";

/// The line of a catalog file that states such limits; `IOPS` and `MB_PER_S` stand for the figures.
fn line_that_states(instance: &str) -> String {
    format!("instance = [{{ name = \"{instance}\", ebs = {{ baseline_iops = IOPS, baseline_mb_per_s = MB_PER_S }} }}]")
}

fn label_of(instance: &str) -> &'static str {
    Cloud::of(instance).label()
}

/// Why no limits are known, where a source says so, and what is known instead.
fn instead(instance: &str, kind: &VolumeType, known: &[String], nearest: &Option<String>) -> String {
    let said = said(instance, *kind);
    let mut words = said.as_ref().map(|said| format!(": {said}")).unwrap_or_default();
    if !known.is_empty() {
        words += &format!("; known there: {}", known.join(", "));
    }
    if let Some(nearest) = nearest {
        words += &format!("; nearest machine type that takes {kind}: {nearest}");
    }
    if said.as_deref() == Some(LIMITS_NOT_FOUND) {
        let line = line_that_states(instance);
        words += &format!(
            "; a catalog file of its own states what Google's page has (MB/s are its MiB/s times 1.048576): `{line}`"
        );
    }
    words
}

/// What Google says of a type of volume on a series whose limits are not known: Compute Engine, "Google Cloud Hyperdisk
/// overview", "Machine series support for Hyperdisk" (2026-08-26), of Hyperdisk Throughput on C4D its release note of
/// 2026-09-28, of Persistent Disk "General-purpose machine family"; of T2A, T2D, C4N, H3 and the M series a study in
/// public code that quotes both pages (2026-09-16), of C4N its release note of 2026-07-08, too.
fn said(instance: &str, kind: VolumeType) -> Option<String> {
    const ACCOUNT: &str =
        "Google offers them there through its account teams alone, and no source states what they get";
    const NONE: &str = "Google offers none there";
    let (_, name) = instance.split_once(':').filter(|_| Cloud::of(instance) == Cloud::Google)?;
    let mut parts = name.split('-');
    let series = parts.next()?;
    let of_hyperdisk = ["c3", "c3d", "z3", "c4", "c4a", "c4d", "c4n", "n4", "n4a", "n4d"].contains(&series);
    let of_balanced = of_hyperdisk || ["h3", "m1", "m2", "m3", "m4"].contains(&series);
    let said = match (series, kind) {
        ("n1" | "n2" | "n2d" | "e2", VolumeType::HyperdiskBalanced) => ACCOUNT,
        ("t2a" | "t2d", VolumeType::HyperdiskBalanced) | ("h3", VolumeType::PdSsd) => NONE,
        ("c4" | "c4a" | "c4d" | "c4n" | "m4" | "n4" | "n4a" | "n4d", VolumeType::PdBalanced | VolumeType::PdSsd) => {
            return Some(format!("{} takes no Persistent Disk", series.to_uppercase()));
        }
        ("z3", VolumeType::PdBalanced | VolumeType::PdSsd) => LIMITS_NOT_FOUND,
        ("e2", VolumeType::HyperdiskThroughput) => NONE,
        ("n2" | "n2d", VolumeType::HyperdiskThroughput) => LIMITS_NOT_FOUND,
        ("e2" | "n2d" | "n4" | "n4a" | "n4d", VolumeType::HyperdiskExtreme) => NONE,
        (_, VolumeType::HyperdiskExtreme) => {
            let least = vcpus_for_extreme(series)?;
            let vcpus: u32 = parts.nth(1)?.parse().ok()?;
            if vcpus < least {
                return Some(format!("Google offers them on {} from {least} vCPUs on", series.to_uppercase()));
            }
            LIMITS_NOT_FOUND
        }
        (_, VolumeType::HyperdiskBalanced) if of_balanced => LIMITS_NOT_FOUND,
        (_, VolumeType::HyperdiskThroughput) if of_hyperdisk => LIMITS_NOT_FOUND,
        _ => return None,
    };
    Some(said.to_owned())
}

/// From how many vCPUs on machines of a series take Hyperdisk Extreme (the same page, "Restrictions for machine series
/// support").
fn vcpus_for_extreme(series: &str) -> Option<u32> {
    match series {
        "z3" => Some(0),
        "c3d" => Some(60),
        "c4a" | "c4d" | "m3" | "m4" => Some(64),
        "m1" | "n2" => Some(80),
        "c3" => Some(88),
        "c4" => Some(96),
        _ => None,
    }
}

impl InstanceType {
    /// Who offers it.
    pub fn cloud(&self) -> Cloud {
        Cloud::of(&self.name)
    }

    /// How the machine has to be made to have the path that the tables state, where that is a choice: Ebdsv5 and Ebsv5
    /// with the NVMe disk controller (Azure, "Ebdsv5 and Ebsv5 series").
    pub fn path_conditions(&self) -> Option<&'static str> {
        let is_eb_v5 = ["bds_v5", "bs_v5"].iter().any(|ending| self.name.ends_with(ending));
        (self.cloud() == Cloud::Azure && is_eb_v5 && !self.paths.is_empty()).then_some(
            "limits with the NVMe disk controller; with SCSI Azure lets less through at the same price \
             (docs/catalog.md)",
        )
    }

    /// The type of this cloud that is known to take such volumes and differs least in vCPUs and memory.
    fn nearest_with(&self, kind: VolumeType) -> Option<&'static Self> {
        let apart = |other: &Self| {
            let vcpus = f64::from(other.vcpus) / f64::from(self.vcpus);
            vcpus.ln().abs() + (other.memory_gib / self.memory_gib).ln().abs()
        };
        let all = Catalog::built_in().instances().iter();
        let takes =
            |other: &&Self| other.cloud() == self.cloud() && other.paths.iter().any(|path| path.kinds.contains(&kind));
        all.filter(takes).min_by(|a, b| apart(a).total_cmp(&apart(b)))
    }

    /// The type as volumes of these types (one entry for each volume) find it: with the path that they have.
    ///
    /// # Errors
    ///
    /// When it is not known to take them.
    pub fn with_volumes(&self, kinds: &[VolumeType]) -> Result<Self, NotAttached> {
        let instance = || self.name.clone();
        if let Some(kind) = kinds.iter().find(|kind| kind.cloud() != self.cloud()) {
            return Err(NotAttached::OtherCloud { instance: instance(), kind: *kind });
        }
        if let Some(error) = NotAttached::together(kinds) {
            return Err(error);
        }
        let Some(first) = kinds.first().filter(|_| self.cloud() != Cloud::Aws) else { return Ok(self.clone()) };
        if self.paths.is_empty() && self.ebs.is_some() {
            // A catalog file states one path for all.
            return Ok(self.clone());
        }
        let path_of = |kind: VolumeType| {
            let known = || self.paths.iter().flat_map(|path| &path.kinds).map(VolumeType::to_string).collect();
            let found = self.paths.iter().find(|path| path.kinds.contains(&kind));
            let nearest = || self.nearest_with(kind).map(|machine| machine.name.clone());
            found.ok_or_else(|| NotAttached::NoPath { instance: instance(), kind, known: known(), nearest: nearest() })
        };
        let path = path_of(*first)?;
        for kind in kinds {
            if path_of(*kind)? != path {
                return Err(NotAttached::Mixed { instance: instance(), one: *first, other: *kind });
            }
        }
        if let [kind, _, ..] = kinds
            && kind.shares_base()
        {
            return Err(NotAttached::SharesBase { kind: *kind });
        }
        Ok(Self { ebs: Some(path.caps), ..self.clone() })
    }
}
