//! What AWS offers and charges today, and what an account has of ours: read, and removed, with the user's credentials.
//!
//! For `iopslab catalog refresh`, [`ask()`]: `DescribeInstanceTypes` of EC2 lists sizes, disks and paths to EBS;
//! `GetProducts` of the price list what an hour of an instance and a month of a volume cost. Both become a
//! [`catalog::UserCatalog`], which commands put before the program's own tables.
//!
//! For `iopslab clean --aws`, [`Account`]: what carries the tag `iopslab:run` in a region is listed and removed,
//! without Terraform's state.
//!
//! For a run whose data volumes are made from a snapshot of EBS, [`snapshot()`]: whether it is there and complete.
//!
//! For `pair_volumes = "modify"` of an experiment, [`volume()`] and [`modify()`]: the level of a volume of the run's
//! own, and how far its modification is.
//!
//! For `limits = "quotas"` of an experiment, [`quotas()`]: what Service Quotas grants an account, and what it uses of
//! it.

mod ask;
mod bucket;
mod ec2;
mod error;
mod instance_types;
mod level;
mod ours;
mod price_list;
mod quotas;
mod signed;
mod snapshot;
mod xml;

pub use ask::{Offers, ask};
pub use bucket::{Bucket, Objects, UrlPermission};
pub use error::AwsError;
pub use level::{LevelStep, Modification, ModificationState, Volume, level_step, modify, volume};
pub use ours::{Account, Found, Kind, Lifetime, Patience, RemovalOutcome, Resource, Run, Selection, runs};
pub use quotas::{Quota, QuotaRequest, Quotas, quotas};
pub use snapshot::{Snapshot, snapshot};
