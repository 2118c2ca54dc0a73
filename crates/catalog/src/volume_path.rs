//! What a machine type lets through to volumes of a type, where that depends on the type: on Google Cloud and Azure.

use crate::{Cloud, InstanceType, VolumeType};

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
    #[error("no limits of {kind} volumes on {instance} are known{}", known_there(.known))]
    NoPath { instance: String, kind: VolumeType, known: Vec<String> },
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
    /// What no machine has together, among volumes of these types (one entry for each volume).
    pub fn together(kinds: &[VolumeType]) -> Option<Self> {
        let alone = kinds.iter().find(|kind| kind.is_of_rds()).filter(|_| kinds.len() > 1)?;
        Some(Self::NotAlone { kind: *alone })
    }
}

fn label_of(instance: &str) -> &'static str {
    Cloud::of(instance).label()
}

fn known_there(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; known there: {}", known.join(", ")) }
}

impl InstanceType {
    /// Who offers it.
    pub fn cloud(&self) -> Cloud {
        Cloud::of(&self.name)
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
            found.ok_or_else(|| NotAttached::NoPath { instance: instance(), kind, known: known() })
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
