//! A cache tier that the search puts before the database.

use catalog::ClusterRequest;

use crate::document::CacheTier;
use crate::target::Target;

/// A cache tier, and the database's part of the target behind it.
pub(super) struct Tier {
    pub shown: CacheTier,
    pub request: ClusterRequest,
    /// Operations per second that clients ask of both.
    pub asked_per_s: f64,
    /// What the database must do, a part of the cache being down.
    pub target: Target,
}
