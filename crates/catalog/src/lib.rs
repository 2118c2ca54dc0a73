//! Facts about instance types and volume types, and arithmetic on them.
//!
//! The rule behind everything here: a volume delivers the smaller of what it and what its instance allows
//! ([`IoLimits::min`]). Money by date and purchase option is not here yet; only the latest on-demand price is.

mod instance;
mod limits;
mod nearest;
mod table;
mod volume;

pub use instance::{
    DiskKind, EbsCaps, FigureSource, InstanceType, Lifecycle, LocalDisks, MB, instance, instances, nearest_instances,
};
pub use limits::{Burst, IoLimits, MIB};
pub use volume::{
    ResolvedVolume, UnknownVolumeType, VolumeError, VolumeField, VolumeRequest, VolumeRules, VolumeType,
    resolve_volume, resolve_volume_by, rules, rules_of_all_eras, volume_type_names,
};
