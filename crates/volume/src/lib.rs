//! How a volume behaves: limits, credits, latency and faults over time. No I/O and no clock: requests come with the
//! moment at which they arrive, and [`Array`] says when each is answered and how.
//!
//! A request passes three floors:
//!
//! 1. the volume's own [`Bucket`]s: requests (counted by [`Unit`]) and bytes, for reads and writes together or apart,
//!    each with credits where its type has them;
//! 2. the buckets of the instance, which all its volumes share;
//! 3. its service: a log-normal time ([`catalog::Latency`]) that does not depend on how many are served beside it.
//!
//! All waiting is in the buckets, in the order of arrival. Times are seconds from any moment that the caller chooses.

mod array;
mod bucket;
mod exceeded;
mod fault;
mod gate;
mod model;

pub use array::{Answer, Array, Request, RequestOutcome};
pub use bucket::Bucket;
pub use catalog::ByteBurst;
pub use exceeded::Exceeded;
pub use fault::{Effect, VolumeFault};
pub use model::{Direction, Model, Unit};
