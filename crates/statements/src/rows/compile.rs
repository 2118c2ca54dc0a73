//! From a column's type and its generator to what makes its values.

use super::maker::{Advancing, Maker, NAME, Numbers, Sequence};
use crate::cql::CqlType;
use crate::data::{Generator, Size, Sizes, Weighted};
use crate::encode::{Whole, fixed_length};
use crate::literal;
use workload::chooser::Zipfian;

/// What a column is in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    PartitionKey,
    Clustering,
    Other,
}

/// Bytes of a text or blob of which nothing is stated, as in YCSB.
pub const USUAL_TEXT_BYTES: u64 = 100;
/// Within a collection, tuple or type fewer.
pub const USUAL_TEXT_WITHIN_BYTES: u64 = 16;
/// Elements of a collection of which nothing is stated.
pub const USUAL_ELEMENTS: u64 = 5;
/// 2025-01-01 00:00 UTC: where times begin that nobody stated.
const START_MS: i64 = 1_735_689_600_000;
/// A second from row to row.
const STEP_MS: i64 = 1_000;
/// Days that a `date` nobody stated is within: ten years.
const DAYS: u64 = 3_653;

/// The maker of a type's values by this generator; or why it cannot be.
pub(crate) fn stated(cql_type: &CqlType, generator: &Generator, role: Role) -> Result<Maker, String> {
    if let Some(mistake) = generator.mistake() {
        return Err(mistake);
    }
    let whole = Whole::of(cql_type);
    let is_text = matches!(cql_type, CqlType::Text | CqlType::Ascii | CqlType::Blob);
    let refused = || format!("{} makes no values of {cql_type}", generator.name());
    let number = |value: i64, whole: Whole| {
        let (least, greatest) = whole.range();
        let message = || format!("{value} is no {cql_type}: those go from {least} to {greatest}");
        (least..=greatest).contains(&value).then_some(value).ok_or_else(message)
    };
    match generator {
        Generator::Fixed { value } => {
            let mut bytes = Vec::new();
            literal::put(value, cql_type, &mut bytes)?;
            Ok(Maker::Fixed(bytes))
        }
        Generator::Values { values } => {
            let weighted = Weighted::new(values.iter().map(|(_, weight)| *weight));
            let encode = |(value, _): &(String, f64)| {
                let mut bytes = Vec::new();
                literal::put(value, cql_type, &mut bytes).map(|()| bytes)
            };
            Ok(Maker::Values { values: values.iter().map(encode).collect::<Result<_, _>>()?, weighted })
        }
        Generator::Uniform { min, max } if matches!(cql_type, CqlType::Float | CqlType::Double) => {
            Ok(Maker::Real { is_double: *cql_type == CqlType::Double, min: *min, max: *max })
        }
        Generator::Uniform { min, max } => {
            let whole = whole.filter(|_| !is_text).ok_or_else(refused)?;
            let (min, max) = (number(exactly(*min)?, whole)?, number(exactly(*max)?, whole)?);
            let numbers = max.abs_diff(min).saturating_add(1);
            Ok(Maker::Whole { whole, numbers: Numbers::Uniform { min, numbers } })
        }
        Generator::Zipfian { min, max, constant } => {
            let whole = whole.filter(|_| !is_text).ok_or_else(refused)?;
            let (min, max) = (number(*min, whole)?, number(*max, whole)?);
            let numbers = max.abs_diff(min).saturating_add(1);
            let ranks = Zipfian::new(numbers, *constant);
            Ok(Maker::Whole { whole, numbers: Numbers::Zipfian { min, ranks, numbers } })
        }
        Generator::Sequence { start, step, each, cycle } => {
            let whole = whole.ok_or_else(refused)?;
            number(*start, whole)?;
            let sequence = Sequence::new(whole, *start, *step, *each, *cycle);
            let room = sequence.room;
            match cycle.filter(|cycle| *cycle > room) {
                Some(cycle) => {
                    Err(format!("a {cql_type} from {start} in steps of {step} has {room} values, not {cycle}"))
                }
                None => Ok(Maker::Whole { whole, numbers: Numbers::Sequence(sequence) }),
            }
        }
        Generator::Bytes { length, compressibility } if is_text => {
            if role == Role::Other {
                return Ok(Maker::Bytes { length: Sizes::new(length), compressibility: *compressibility });
            }
            let least = length.min();
            if least < NAME as u64 {
                let why = "keys differ by their first 16 bytes";
                return Err(format!("length begins at {least}: {why}, so that it cannot be less than {NAME}"));
            }
            Ok(Maker::Name { length: Some((Sizes::new(length), *compressibility)) })
        }
        Generator::Advancing { start_ms, step_ms } => {
            let times = Advancing { start_ms: *start_ms, step_ms: *step_ms };
            match cql_type {
                CqlType::Timestamp => Ok(Maker::Timestamp(times)),
                CqlType::TimeUuid => Ok(Maker::TimeUuid(times)),
                CqlType::Date => Ok(Maker::Date(times)),
                _ => Err(refused()),
            }
        }
        Generator::Collection { size, element, key } => {
            let within = |generator: &Option<Box<Generator>>, of: &CqlType| match generator {
                Some(generator) => stated(of, generator, Role::Other),
                None => Ok(usual_within(of)),
            };
            let size = Sizes::new(size);
            match cql_type {
                CqlType::List(of) | CqlType::Set(of) if key.is_none() => {
                    Ok(Maker::Elements { size, element: Box::new(within(element, of)?) })
                }
                CqlType::List(_) | CqlType::Set(_) => Err(format!("key is for maps, not for a {cql_type}")),
                CqlType::Map(key_type, value_type) => {
                    let (key, value) = (within(key, key_type)?, within(element, value_type)?);
                    Ok(Maker::Map { size, key: Box::new(key), value: Box::new(value) })
                }
                _ => Err(refused()),
            }
        }
        Generator::Bytes { .. } => Err(refused()),
    }
}

/// A number of a file as a whole one.
fn exactly(number: f64) -> Result<i64, String> {
    // Whole numbers up to 2^53 are exact in a number of a file.
    let is_whole = number.fract() == 0.0 && number.abs() <= (1_i64 << 53) as f64;
    if is_whole { Ok(number as i64) } else { Err(format!("{number} is no whole number below 2^53")) }
}

/// The maker of values that nobody stated.
pub(crate) fn usual(cql_type: &CqlType, role: Role) -> Maker {
    match role {
        Role::Other => usual_of(cql_type, USUAL_TEXT_BYTES),
        Role::PartitionKey | Role::Clustering => usual_key(cql_type, role),
    }
}

/// The same within a collection, tuple or type.
fn usual_within(cql_type: &CqlType) -> Maker {
    usual_of(cql_type, USUAL_TEXT_WITHIN_BYTES)
}

/// Another value for each number. Rows of a partition go up; partitions may lie anywhere.
fn usual_key(cql_type: &CqlType, role: Role) -> Maker {
    let step = |step_ms| Advancing { start_ms: START_MS, step_ms };
    let is_spread = role == Role::PartitionKey;
    match cql_type {
        CqlType::Text | CqlType::Ascii | CqlType::Blob if is_spread => Maker::Name { length: None },
        CqlType::Uuid => Maker::RandomUuid,
        CqlType::TimeUuid => Maker::TimeUuid(step(STEP_MS)),
        CqlType::Timestamp => Maker::Timestamp(step(STEP_MS)),
        CqlType::Tuple(fields) => Maker::Fields(fields.iter().map(|field| usual_key(field, role)).collect()),
        CqlType::Udt { fields, .. } => Maker::Fields(fields.iter().map(|(_, field)| usual_key(field, role)).collect()),
        _ => match Whole::of(cql_type) {
            Some(whole @ (Whole::BigInt | Whole::VarInt)) if is_spread => {
                Maker::Whole { whole, numbers: Numbers::Mixed }
            }
            Some(whole) => Maker::Whole { whole, numbers: Numbers::Sequence(Sequence::usual(whole)) },
            None => usual_within(cql_type),
        },
    }
}

/// `text`: bytes of a text or blob.
fn usual_of(cql_type: &CqlType, text: u64) -> Maker {
    let numbers =
        |whole: Whole, min: i64, numbers: u64| Maker::Whole { whole, numbers: Numbers::Uniform { min, numbers } };
    let size = || Sizes::new(&Size::fixed(USUAL_ELEMENTS));
    match cql_type {
        CqlType::Ascii | CqlType::Blob | CqlType::Text => {
            Maker::Bytes { length: Sizes::new(&Size::fixed(text)), compressibility: 0.0 }
        }
        // What a request adds to a counter.
        CqlType::Counter => Maker::Fixed(1_i64.to_be_bytes().to_vec()),
        CqlType::Boolean => numbers(Whole::Boolean, 0, 2),
        CqlType::TinyInt => numbers(Whole::TinyInt, 0, 1 << 7),
        CqlType::SmallInt => numbers(Whole::SmallInt, 0, 1 << 15),
        CqlType::Int => numbers(Whole::Int, 0, 1 << 31),
        CqlType::BigInt => numbers(Whole::BigInt, 0, 1 << 63),
        CqlType::VarInt => numbers(Whole::VarInt, 0, 1 << 63),
        CqlType::Decimal => numbers(Whole::Decimal, 0, 1 << 31),
        CqlType::Float => Maker::Real { is_double: false, min: 0.0, max: 1.0 },
        CqlType::Double => Maker::Real { is_double: true, min: 0.0, max: 1.0 },
        CqlType::Date => numbers(Whole::Date, START_MS / 86_400_000, DAYS),
        CqlType::Time => numbers(Whole::Time, 0, 86_400_000_000_000),
        CqlType::Timestamp => Maker::Timestamp(Advancing { start_ms: START_MS, step_ms: STEP_MS }),
        CqlType::TimeUuid => Maker::TimeUuid(Advancing { start_ms: START_MS, step_ms: STEP_MS }),
        CqlType::Uuid => Maker::RandomUuid,
        CqlType::Inet => Maker::Inet,
        CqlType::Duration => Maker::Duration,
        CqlType::List(of) | CqlType::Set(of) => Maker::Elements { size: size(), element: Box::new(usual_within(of)) },
        CqlType::Map(key, value) => {
            Maker::Map { size: size(), key: Box::new(usual_within(key)), value: Box::new(usual_within(value)) }
        }
        CqlType::Tuple(fields) => Maker::Fields(fields.iter().map(usual_within).collect()),
        CqlType::Udt { fields, .. } => Maker::Fields(fields.iter().map(|(_, field)| usual_within(field)).collect()),
        CqlType::Vector { element, dimensions } => Maker::Vector {
            is_fixed: fixed_length(element).is_some(),
            element: Box::new(usual_within(element)),
            dimensions: *dimensions,
        },
    }
}
