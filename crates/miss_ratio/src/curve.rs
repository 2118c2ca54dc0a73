//! The hit ratios of a workload.

use serde::{Deserialize, Serialize};
use workload::chooser::KeyChooser;
use workload::{Definition, Distribution, KeyFormat, Random, write_key};

use crate::cache::Caches;
use crate::item::Item;
use crate::rules::{Policy, Rates, Rules};
use crate::sample::{Resident, Sample};

/// Samples: how far they lie apart says how much is left to chance.
const SAMPLES: u64 = 5;
/// 97.5 % of Student's t with one degree of freedom fewer than samples lies below this (statistical tables).
const STUDENT: f64 = 2.776;
/// Seed of the first sample: answers are the same at each call.
const SEED: u64 = 0x5A4D_9E11;
/// Operations before those that count, for each key of the sample: caches begin as full as they can be.
const BEFORE: u64 = 6;
/// Operations that count, for each key of the sample.
const COUNTED: u64 = 10;
/// Shares of the records that a curve has, beside those that are asked for.
const SHARES: [f64; 11] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0];

/// Longest key that memcached takes (`KEY_MAX_LENGTH` of 1.6.45).
const MOST_KEY_BYTES: u64 = 250;

/// A cache of one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Items that it holds.
    pub items: f64,
    /// Memory of memcached (`-m`) for these, bytes; 0 where items have no size.
    pub memory_bytes: f64,
    /// Share of the records that it holds.
    pub share_of_records: f64,
    /// Share of the reads of single records that find theirs in it, once it is as full as it gets.
    pub hit_ratio: f64,
    /// Half-width of the 95 % interval of the above over samples: what chance does, not what the model leaves out.
    pub half_width: f64,
}

/// Caches of growing size under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TierCurve {
    /// The workload's name.
    pub workload: String,
    /// Records of the data set.
    pub records: u64,
    /// What a record takes of a cache.
    pub item: Item,
    /// How the cache is used.
    pub rules: Rules,
    /// By growing size.
    pub points: Vec<Point>,
}

/// Why a workload has no hit ratio.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum CurveError {
    #[error("workload {0}: its statements choose rows by generators of their own; only keys of YCSB can be predicted")]
    OwnStatements(String),
    #[error("workload {0} reads no single record, so that a cache has nothing to answer")]
    NothingRead(String),
    #[error("workload {0}: the data set has no records")]
    NoRecords(String),
    #[error("workload {workload}: keys of {key_bytes} bytes are longer than memcached takes ({MOST_KEY_BYTES})")]
    KeyTooLong { workload: String, key_bytes: u64 },
    #[error(
        "workload {workload}: records of {record_bytes} bytes are larger than memcached stores (1 MiB with their key \
         and lengths of fields)"
    )]
    TooLarge { workload: String, record_bytes: u64 },
}

impl TierCurve {
    /// The curve of a workload on so many records of so many fields, each of so many bytes in all: caches of 1 % to all
    /// of them.
    ///
    /// # Errors
    ///
    /// As [`hit_ratios`], and where keys or records are larger than memcached takes.
    pub fn of(
        definition: &Definition,
        records: u64,
        (fields, record_bytes): (u32, u64),
        rules: Rules,
    ) -> Result<Self, CurveError> {
        let too_large = || CurveError::TooLarge { workload: definition.name.clone(), record_bytes };
        let key_bytes = key_bytes(definition.keys, records);
        if key_bytes > MOST_KEY_BYTES {
            return Err(CurveError::KeyTooLong { workload: definition.name.clone(), key_bytes });
        }
        let item = Item::of_record(key_bytes, fields, record_bytes).ok_or_else(too_large)?;
        let sizes: Vec<f64> = SHARES.iter().map(|share| (share * records as f64).ceil()).collect();
        let points = hit_ratios(definition, records, &rules, &sizes)?;
        let points = points.into_iter().map(|point| Point { memory_bytes: item.memory_for(point.items), ..point });
        Ok(Self { workload: definition.name.clone(), records, item, rules, points: points.collect() })
    }
}

/// Bytes of the longest key of so many records.
pub fn key_bytes(keys: KeyFormat, records: u64) -> u64 {
    let mut key = String::new();
    // The greatest of all hashes has 19 digits, as nearly every other one.
    let longest = if keys.hashed { KeyFormat { hashed: false, ..keys } } else { keys };
    let number = if keys.hashed { i64::MAX.unsigned_abs() } else { records.saturating_sub(1) };
    write_key(number, longest, &mut key);
    key.len() as u64
}

/// The hit ratios of caches that hold so many items each, of a workload on so many records. Scans do not ask a cache.
/// Inserts are asked for where the keys are by age (`latest`, exponential); elsewhere nobody reads what was inserted.
///
/// # Errors
///
/// A workload of the user's own statements, one that reads no single record, or no records.
pub fn hit_ratios(
    definition: &Definition,
    records: u64,
    rules: &Rules,
    sizes: &[f64],
) -> Result<Vec<Point>, CurveError> {
    let name = || definition.name.clone();
    let mix = &definition.mix;
    if definition.is_own() {
        return Err(CurveError::OwnStatements(name()));
    }
    if mix.read + mix.read_modify_write <= 0.0 {
        return Err(CurveError::NothingRead(name()));
    }
    if records == 0 {
        return Err(CurveError::NoRecords(name()));
    }
    let chooser = KeyChooser::new(definition.distribution, 0.0, records, 0);
    let by_age = matches!(definition.distribution, Distribution::Latest | Distribution::Exponential { .. });
    let is_growing = by_age && mix.insert > 0.0;
    let least = sizes.iter().copied().filter(|size| *size > 0.0).fold(f64::INFINITY, f64::min);
    let inserts = mix.insert / (mix.read + mix.update + mix.read_modify_write);
    let unasked = if rules.policy == Policy::WriteThrough { inserts } else { 0.0 };
    let resident = Resident::of(&chooser, records, least, unasked, is_growing);
    let of_resident = of_resident(&resident, definition, rules);
    let samples: Vec<Vec<f64>> = (0..SAMPLES)
        .map(|number| {
            let mut random = Random::from_seed(SEED + number);
            let sample = Sample::new(definition.distribution, &chooser, records, &resident, is_growing, &mut random);
            let of_sample = of_sample(&sample, resident.count() as f64, definition, rules, sizes, &mut random);
            let total = |ratio: f64| sample.share * ratio + (1.0 - sample.share) * of_resident;
            sizes.iter().zip(of_sample).map(|(size, ratio)| if *size < 1.0 { 0.0 } else { total(ratio) }).collect()
        })
        .collect();
    let n = SAMPLES as f64;
    let point = |(at, size): (usize, &f64)| {
        let mean = samples.iter().map(|sample| sample[at]).sum::<f64>() / n;
        let squares: f64 = samples.iter().map(|sample| (sample[at] - mean).powi(2)).sum();
        Point {
            items: *size,
            memory_bytes: 0.0,
            share_of_records: (size / records as f64).min(1.0),
            hit_ratio: mean,
            half_width: STUDENT * (squares / (n - 1.0) / n).sqrt(),
        }
    };
    Ok(sizes.iter().enumerate().map(point).collect())
}

/// Hit ratio of the reads of resident keys; 1 without any.
fn of_resident(resident: &Resident, definition: &Definition, rules: &Rules) -> f64 {
    let mix = &definition.mix;
    let rates = Rates { read: mix.read, write: mix.update, read_and_write: mix.read_modify_write };
    let all: f64 = resident.shares.iter().sum();
    let hits = resident.shares.iter().map(|share| share * rules.hit_ratio_of_resident(rates.of(*share)));
    if all > 0.0 { hits.sum::<f64>() / all } else { 1.0 }
}

/// Hit ratios of the keys of a sample, beside so many resident ones.
fn of_sample(
    sample: &Sample,
    resident: f64,
    definition: &Definition,
    rules: &Rules,
    sizes: &[f64],
    random: &mut Random,
) -> Vec<f64> {
    let mix = &definition.mix;
    // Of what a cache holds the sample shows its part, and one item at the least.
    let room = |size: &f64| (((size - resident - 1.0) * sample.rate).floor() + 1.0).max(0.0) as u64;
    let rooms: Vec<u64> = sizes.iter().map(room).collect();
    let mut caches = Caches::new(&rooms, (resident * sample.rate).round() as u64, rules);
    // Of an operation's chances: that it chooses a key of the sample, and that it adds one.
    let chosen = (mix.read + mix.update + mix.read_modify_write) * sample.share * sample.rate;
    let added = mix.insert * sample.rate;
    let step = 1.0 / (chosen + added);
    let lifetime = rules.ttl_operations.unwrap_or(0.0);
    for slot in sample.by_last_use() {
        caches.store(slot, -lifetime * random.next_unit());
    }
    let mut newest = sample.keys - 1;
    let (mut now, mut turn) = (0.0, 0);
    for number in 0..(BEFORE + COUNTED) * sample.keys as u64 {
        if number == BEFORE * sample.keys as u64 {
            caches.count_from_here();
        }
        now += step;
        if random.next_unit() * (chosen + added) < added {
            newest += 1;
            caches.write(newest, now);
            continue;
        }
        let slot = sample.choose(turn, newest, random);
        turn += 1;
        let kind = random.next_unit() * (mix.read + mix.update + mix.read_modify_write);
        let is_update = kind >= mix.read && kind < mix.read + mix.update;
        if !is_update {
            caches.read(slot, now);
        }
        if kind >= mix.read {
            caches.write(slot, now);
        }
    }
    caches.hit_ratios()
}
