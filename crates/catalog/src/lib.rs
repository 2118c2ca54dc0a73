//! Facts about instance types and volume types, and arithmetic on them: caps and cost.
//!
//! The rule behind caps: a volume delivers the smaller of what it and what its instance allows ([`IoLimits::min`]). The rule behind
//! cost: every price keeps its day and its source, every sum its [`Basis`], and a price that is not known is an error, never 0.

mod caps;
mod cluster;
mod cost;
mod day;
mod instance;
mod limits;
mod nearest;
mod price;
mod table;
mod volume;

pub use caps::{Caps, CapsAtSize, CapsError, Ceiling, LocalAtSize, SIZES_KIB, Side, caps};
pub use cluster::{ClusterError, ClusterRequest};
pub use cost::{
    Basis, CapacityRow, Cost, CostError, CostLine, REGION, RunCost, capacity_table, cost, cost_of, run_cost, total_cost,
};
pub use instance::{
    DiskKind, EbsCaps, EbsOptimisation, FigureSource, InstanceType, Lifecycle, LocalDisks, MB, instance, instances,
    nearest_instances,
};
pub use limits::{Burst, IoLimits, MIB};
pub use price::{
    InstancePrice, PriceError, Purchase, UnknownPurchase, VolumePrice, instance_price, price_history, volume_price,
    volume_price_history,
};
pub use volume::{
    ResolvedVolume, UnknownEra, UnknownVolumeType, VolumeError, VolumeField, VolumeRequest, VolumeRules, VolumeType,
    resolve_volume, resolve_volume_by, rules, rules_in, rules_of_all_eras, volume_type_names,
};
