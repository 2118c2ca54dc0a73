//! Key choosers: from a random number to a record.
//!
//! YCSB draws its random numbers from Java's `ThreadLocalRandom`, which nobody can replay. What YCSB defines, and what
//! is kept here bit for bit, is the function from a uniform number `u` to a record: each chooser is such a pure
//! function, and `tests/ycsb_vectors.rs` holds them to the answers of the real YCSB 0.17.0 classes. (YCSB cuts record
//! numbers to 32 bits on the way; here they keep 64, so data sets beyond 2^31 records work.)

mod exponential;
mod hotspot;
mod latest;
mod uniform;
mod zipfian;

pub use exponential::Exponential;
pub use hotspot::Hotspot;
pub use latest::Latest;
pub use uniform::uniform_item;
pub use zipfian::{ScrambledZipfian, Zipfian};

use crate::{Distribution, InsertSequence, random::Random};

/// Draws after which a chooser that keeps naming records that do not exist gives way to a uniform one. With YCSB's
/// factor of 2 for expected inserts a draw misses less than 2 times in 3, so that this many misses mean a setting that
/// YCSB would never return from.
const MOST_DRAWS: u32 = 1_000;

/// The key chooser of one load thread.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum KeyChooser {
    /// Every record equally likely.
    Uniform { records: u64 },
    /// Popular records spread over all.
    Zipfian(ScrambledZipfian),
    /// The newest record is the most popular.
    Latest(Latest),
    /// The first records are hot.
    Hotspot(Hotspot),
    /// Exponentially decreasing popularity, newest first.
    Exponential(Exponential),
    /// One after another, over all threads that share an [`InsertSequence`].
    Sequential { records: u64 },
}

impl KeyChooser {
    /// The chooser that YCSB's `CoreWorkload.init` makes for a run of `operations` on `records` records, of which
    /// `insert_share` (0..=1) are inserts.
    pub fn new(distribution: Distribution, insert_share: f64, records: u64, operations: u64) -> Self {
        match distribution {
            Distribution::Uniform => Self::Uniform { records },
            Distribution::Zipfian { constant } => {
                let items = expected_records(records, operations, insert_share);
                Self::Zipfian(ScrambledZipfian::new(items, constant))
            }
            Distribution::Latest => Self::Latest(Latest::new(records)),
            Distribution::Hotspot { data_fraction, operation_fraction } => {
                Self::Hotspot(Hotspot::new(records, data_fraction, operation_fraction))
            }
            Distribution::Exponential { percentile, fraction } => {
                Self::Exponential(Exponential::new(records, percentile, fraction))
            }
            Distribution::Sequential => Self::Sequential { records },
        }
    }

    /// The share of the choices that fall on the first `places` places. Places are the ranks of zipfian keys before
    /// they are hashed, the records behind the newest of `latest` and exponential ones, else the records themselves.
    /// What is drawn again, because no such record exists, counts as chosen.
    pub fn share_below(&self, places: u64) -> f64 {
        let of_all = |records: u64| if records == 0 { 0.0 } else { places.min(records) as f64 / records as f64 };
        match self {
            Self::Uniform { records } | Self::Sequential { records } => of_all(*records),
            Self::Zipfian(zipfian) => zipfian.share_below(places),
            Self::Latest(latest) => latest.share_below(places),
            Self::Hotspot(hotspot) => hotspot.share_below(places),
            Self::Exponential(exponential) => exponential.share_below(places),
        }
    }

    /// An existing record: draws again while the choice does not exist yet (YCSB's `CoreWorkload.nextKeynum`).
    #[inline]
    pub fn next_record(&mut self, inserts: &InsertSequence, random: &mut Random) -> u64 {
        for _ in 0..MOST_DRAWS {
            let newest = inserts.newest();
            let record = match self {
                Self::Uniform { records } => Some(uniform_item(*records, random.next_u64())),
                Self::Zipfian(zipfian) => Some(zipfian.item(random.next_unit())),
                Self::Latest(latest) => Some(latest.item(newest, random.next_unit())),
                Self::Hotspot(hotspot) => Some(hotspot.item(random.next_unit(), random.next_u64())),
                Self::Exponential(exponential) => newest.checked_sub(exponential.distance(random.next_unit())),
                Self::Sequential { records } => Some(inserts.next_sequential().checked_rem(*records).unwrap_or(0)),
            };
            if let Some(record) = record
                && record <= newest
            {
                return record;
            }
        }
        uniform_item(inserts.existing(), random.next_u64())
    }
}

/// The item space of the scrambled zipfian chooser: existing records, the inserts expected in the run times YCSB's
/// "fudge factor" of 2, and one more, because `CoreWorkload` passes an inclusive upper bound. The space has to stay the
/// same during a run: the hash is taken modulo its size, and a growing modulus would make other records popular.
pub fn expected_records(records: u64, operations: u64, insert_share: f64) -> u64 {
    records + (operations as f64 * insert_share * 2.0) as u64 + 1
}

/// How many records a scan reads.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum ScanLengthChooser {
    /// Every length equally likely.
    Uniform { min: u32, max: u32 },
    /// Short scans popular, zipfian with the constant 0.99.
    Zipfian { min: u32, max: u32, zipfian: Zipfian },
}

impl ScanLengthChooser {
    /// The chooser that YCSB's `CoreWorkload.init` makes.
    pub fn new(length: crate::ScanLength) -> Self {
        let (min, max) = (length.min, length.max.max(length.min));
        if length.zipfian {
            let zipfian = Zipfian::new(u64::from(max - min) + 1, ScrambledZipfian::CONSTANT_OF_YCSB);
            Self::Zipfian { min, max, zipfian }
        } else {
            Self::Uniform { min, max }
        }
    }

    /// The length for 64 random bits (uniform) or a uniform `u` in `[0, 1)` (zipfian).
    #[inline]
    pub fn length(&self, random: u64, u: f64) -> u32 {
        match self {
            Self::Uniform { min, max } => *min + uniform_item(u64::from(max - min) + 1, random) as u32,
            Self::Zipfian { min, max, zipfian } => (u64::from(*min) + zipfian.item(u)).min(u64::from(*max)) as u32,
        }
    }
}
