//! How often a cache in front of a database finds what a workload asks it for, by its size: the hit ratio, of which the
//! miss-ratio curve is the other side.
//!
//! ```text
//! Definition --chooser--> Sample --operations--> Stack, Caches ----> hit ratio by size, of five samples
//!  mix, keys              keys and their chances   depth and age                how far apart they lie
//! ```
//!
//! The cache is an LRU whose items are equally large, as the records of a workload of YCSB are; an item expires a
//! stated time after it was stored, though it lie on top, and holds its place until it is asked for again or driven
//! out. What memcached does otherwise is listed in `docs/hit-ratio.md`. [`Item`] says how many items its memory holds.

mod cache;
mod curve;
mod item;
mod rules;
mod sample;
mod stack;

pub use curve::{CurveError, Point, TierCurve, hit_ratios, key_bytes};
pub use item::Item;
pub use rules::{LONGEST_TTL_S, Policy, Rules};
