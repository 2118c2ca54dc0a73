//! Facts about instance types and volume types, and arithmetic on them: caps and cost.
//!
//! The rule behind caps: a volume delivers the smaller of what it and what its instance allows ([`IoLimits::min`]). The
//! rule behind cost: every price keeps its day and its source, every sum its [`Basis`], and a price that is not known
//! is an error, never 0. All of it hangs on a [`Catalog`]: the tables of this program, and what a user's files put
//! before them.

mod caps;
mod cards;
mod cloud;
mod cluster;
mod cost;
mod cpu_openssl;
mod cpu_speed;
mod data;
mod day;
mod facts;
mod instance;
mod latency;
mod limits;
mod nearest;
mod omitted;
mod other_clouds;
mod price;
mod processor;
mod quota;
mod reach;
mod table;
mod user;
mod volume;
mod volume_path;
mod weighting;
mod words;

pub use caps::{Caps, CapsAtSize, CapsError, CardCaps, Ceiling, LocalAtSize, SIZES_KIB, Side};
pub use cards::{CardPlacement, card_share, through_cards};
pub use cloud::{Cloud, REGION};
pub use cluster::{ClusterError, ClusterRequest};
pub use cost::{
    Basis, CapacityRow, Cost, CostDiff, CostDifference, CostError, CostKind, CostLine, Extras, RunCost, TermTotal,
    price_days,
};
pub use cpu_openssl::{OPENSSL_BLOCK, OPENSSL_CIPHER, OpensslFamily, openssl_speed, openssl_speeds_near};
pub use cpu_speed::{CPU_REFERENCE, CpuSpeed, CpuSpeedBasis, cpu_speed, cpu_speeds_near};
pub use data::NodeData;
pub use facts::Catalog;
pub use instance::{
    DiskKind, EbsCaps, EbsOptimisation, FigureSource, InstanceType, LOCAL_BYTES_HELP, Lifecycle, LocalDisks, MB,
    VolumePath, VolumeSlots,
};
pub use latency::{KnownLatency, Latency, latencies, latency_of};
pub use limits::{Burst, ByteBurst, GIB, IoLimits, MIB};
pub use omitted::{Omission, OmittedType, omitted, why_omitted};
pub use price::{
    InstancePrice, OtherCharge, OtherPrice, PriceError, PriceStep, Purchase, UnknownPurchase, VolumePrice,
};
pub use processor::Processor;
pub use quota::VcpuPool;
pub use reach::TooManyVolumes;
pub use user::{UserCatalog, UserCatalogError, UserEbs, UserInstance, UserVolumePrice};
pub use volume::{
    MADE_TO_MEASURE, MODIFICATIONS_A_DAY, ResolvedVolume, TODAY, UnknownEra, UnknownVolumeType, VolumeError,
    VolumeField, VolumeLevel, VolumeNeed, VolumeRequest, VolumeRules, VolumeStep, VolumeType, made_to_measure,
    modification_s, resolve_volume, resolve_volume_by, resolve_volume_on, rules, rules_in, rules_of_all_eras,
    volume_type_names, volume_type_names_of,
};
pub use volume_path::NotAttached;
pub use weighting::{BandwidthWeighting, NotWeighted};
