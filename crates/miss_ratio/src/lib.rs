//! How often a cache in front of a database finds what a workload asks it for, by its size: the hit ratio, of which the
//! miss-ratio curve is the other side.
//!
//! ```text
//! Definition --chooser--> Sample --operations--> Segments, Caches --> hit ratio by size, of five samples
//!  mix, keys              keys and their chances   who is driven out            how far apart they lie
//! ```
//!
//! The cache is memcached's segmented LRU, whose items are equally large, as the records of a workload of YCSB are; an
//! item expires a stated time after it was stored, however often it is found, and holds its place until it is asked for
//! again or is the oldest of its segment. What memcached does otherwise is listed in `docs/hit-ratio.md`. [`Item`] says
//! how many items its memory holds.

mod cache;
mod curve;
mod item;
mod rules;
mod sample;
mod segments;

pub use curve::{CurveError, Point, TierCurve, hit_ratios, key_bytes};
pub use item::Item;
pub use rules::{LONGEST_TTL_S, Policy, Rules};
