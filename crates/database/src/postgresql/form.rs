//! PostgreSQL's binary form of values that were made in CQL's.
//!
//! Source: the `*_send` functions of PostgreSQL 18: `int.c`, `float.c`, `varlena.c` and `uuid.c` (as in CQL, most
//! significant byte first), `date.c`, `timestamp.c`, `numeric.c`, `network.c`.

use std::error::Error;

use ::statements::CqlType;
use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// Days from 1970-01-01 to 2000-01-01, where PostgreSQL's time begins (`POSTGRES_EPOCH_JDATE`).
const DAYS_TO_2000: i64 = 10_957;
/// Milliseconds between the two.
const MS_TO_2000: i64 = DAYS_TO_2000 * 86_400_000;
/// Digits of a number are in groups of four (`NBASE`, `DEC_DIGITS`).
const GROUP: usize = 4;
/// `NUMERIC_NEG`.
const NEGATIVE: i16 = 0x4000;
/// `PGSQL_AF_INET` is 2, that of version 6 one more.
const INET: u8 = 2;

/// The type of CQL whose values a type takes. Errors: nothing here makes values of it.
pub(super) fn made_as(of: &Type) -> Result<CqlType, String> {
    Ok(match *of {
        Type::BOOL => CqlType::Boolean,
        Type::INT2 => CqlType::SmallInt,
        Type::INT4 => CqlType::Int,
        Type::INT8 => CqlType::BigInt,
        Type::FLOAT4 => CqlType::Float,
        Type::FLOAT8 => CqlType::Double,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR => CqlType::Text,
        Type::BYTEA => CqlType::Blob,
        Type::UUID => CqlType::Uuid,
        Type::DATE => CqlType::Date,
        Type::TIME => CqlType::Time,
        Type::TIMESTAMP | Type::TIMESTAMPTZ => CqlType::Timestamp,
        Type::NUMERIC => CqlType::Decimal,
        Type::INET => CqlType::Inet,
        ref other => return Err(format!("{other} is a type for which iopslab has no values")),
    })
}

/// How a value gets from CQL's form into that of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// It is the same.
    Same,
    Date,
    Time,
    Timestamp,
    Numeric,
    Inet,
}

impl Form {
    /// Of values of a type.
    pub fn of(of: &CqlType) -> Self {
        match of {
            CqlType::Date => Self::Date,
            CqlType::Time => Self::Time,
            CqlType::Timestamp => Self::Timestamp,
            CqlType::Decimal => Self::Numeric,
            CqlType::Inet => Self::Inet,
            _ => Self::Same,
        }
    }

    /// Appends a value. One that CQL's form does not have (of a wrong length) is written as it is, for the server to
    /// refuse.
    pub fn put(self, value: &[u8], out: &mut impl BufMut) {
        match self {
            Self::Same => out.put_slice(value),
            Self::Date => {
                let days = i64::from(u32::from_be_bytes(fixed(value))) - (1 << 31) - DAYS_TO_2000;
                out.put_i32(days.max(i64::from(i32::MIN)) as i32);
            }
            Self::Time => out.put_i64(i64::from_be_bytes(fixed(value)) / 1_000),
            Self::Timestamp => {
                let ms = i64::from_be_bytes(fixed(value));
                out.put_i64(ms.saturating_sub(MS_TO_2000).saturating_mul(1_000));
            }
            Self::Numeric => numeric(value, out),
            Self::Inet => {
                let is_second = u8::from(value.len() > 4);
                // Family, bits of the network, whether it is a CIDR, bytes.
                out.put_slice(&[INET + is_second, (value.len() * 8) as u8, 0, value.len() as u8]);
                out.put_slice(value);
            }
        }
    }
}

/// The bytes of a value that always has so many.
fn fixed<const N: usize>(value: &[u8]) -> [u8; N] {
    value.first_chunk().copied().unwrap_or([0; N])
}

/// A decimal number: its scale and then the unscaled number in two's complement.
fn numeric(value: &[u8], out: &mut impl BufMut) {
    let scale = u32::try_from(i32::from_be_bytes(fixed(value))).unwrap_or(0) as usize;
    let unscaled = value.get(4..).unwrap_or_default();
    let sign = if unscaled.first().is_some_and(|first| first & 0x80 != 0) { -1_i128 } else { 0 };
    let number = unscaled.iter().fold(sign, |number, byte| (number << 8) | i128::from(*byte));
    // Groups of digits on both sides of the point.
    let after = scale.next_multiple_of(GROUP);
    let digits = format!("{}{}", number.unsigned_abs(), "0".repeat(after - scale));
    let length = digits.len().max(after).next_multiple_of(GROUP);
    let digits = format!("{digits:0>length$}");
    let all: Vec<i16> = digits.as_bytes().chunks(GROUP).map(group).collect();
    let before = (length - after) / GROUP;
    let leading = all.iter().take_while(|group| **group == 0).count();
    let end = all.iter().rposition(|group| *group != 0).map_or(leading, |last| last + 1);
    let groups = &all[leading..end];
    let weight = if groups.is_empty() { 0 } else { before as i16 - 1 - leading as i16 };
    out.put_i16(groups.len() as i16);
    out.put_i16(weight);
    out.put_i16(if number < 0 { NEGATIVE } else { 0 });
    out.put_i16(scale as i16);
    groups.iter().for_each(|group| out.put_i16(*group));
}

fn group(digits: &[u8]) -> i16 {
    digits.iter().fold(0, |number, digit| number * 10 + i16::from(digit - b'0'))
}

/// A value as a statement takes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a> {
    pub bytes: &'a [u8],
    pub form: Form,
}

impl<'a> Value<'a> {
    /// One whose bytes are PostgreSQL's own.
    pub const fn same(bytes: &'a [u8]) -> Self {
        Self { bytes, form: Form::Same }
    }

    pub const fn text(text: &'a str) -> Self {
        Self::same(text.as_bytes())
    }
}

/// Values as tokio-postgres takes them.
pub(super) fn parameters<'v>(values: &'v [Value<'v>]) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Value<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.form.put(self.bytes, out);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        // It was made for the type that the server has stated.
        true
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn put(form: Form, value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        form.put(value, &mut out);
        out
    }

    /// Whole numbers, then those of the examples: groups, weight, sign and scale.
    #[test]
    fn a_number_has_groups_of_four_digits_and_the_weight_of_the_first() {
        let encoded = |unscaled: &[u8], scale: i32| {
            let words = put(Form::Numeric, &[&scale.to_be_bytes()[..], unscaled].concat());
            words.chunks(2).map(|word| i16::from_be_bytes([word[0], word[1]])).collect::<Vec<_>>()
        };
        assert_eq!(encoded(&[0], 0), [0, 0, 0, 0], "0");
        assert_eq!(encoded(&[0], 2), [0, 0, 0, 2], "0.00");
        assert_eq!(encoded(&[7], 0), [1, 0, 0, 0, 7], "7");
        assert_eq!(encoded(&12_345_678_i32.to_be_bytes(), 3), [3, 1, 0, 3, 1, 2345, 6780], "12345.678");
        assert_eq!(encoded(&(-12_345_678_i32).to_be_bytes(), 3), [3, 1, NEGATIVE, 3, 1, 2345, 6780]);
        assert_eq!(encoded(&[5], 6), [1, -2, 0, 6, 500], "0.000005");
        assert_eq!(encoded(&20_000_i32.to_be_bytes(), 0), [1, 1, 0, 0, 2], "20000");
        assert_eq!(encoded(&[125], 1), [2, 0, 0, 1, 12, 5000], "12.5");
    }

    /// Against the encodings of tokio-postgres itself.
    #[test]
    fn times_begin_in_2000() {
        let mut expected = BytesMut::new();
        let moment = UNIX_EPOCH + Duration::from_millis(1_767_225_600_123);
        moment.to_sql(&Type::TIMESTAMPTZ, &mut expected).unwrap();
        assert_eq!(put(Form::Timestamp, &1_767_225_600_123_i64.to_be_bytes()), expected);
        let day = |days: i64| put(Form::Date, &((days + (1 << 31)) as u32).to_be_bytes());
        assert_eq!((day(DAYS_TO_2000), day(0)), (0_i32.to_be_bytes().to_vec(), (-10_957_i32).to_be_bytes().to_vec()));
        assert_eq!(put(Form::Time, &1_500_000_i64.to_be_bytes()), 1_500_i64.to_be_bytes());
    }

    #[test]
    fn addresses_are_those_of_tokio_postgres() {
        for (address, bytes) in [("192.0.2.1", vec![192, 0, 2, 1]), ("::1", [vec![0; 15], vec![1]].concat())] {
            let mut expected = BytesMut::new();
            address.parse::<std::net::IpAddr>().unwrap().to_sql(&Type::INET, &mut expected).unwrap();
            assert_eq!(put(Form::Inet, &bytes), expected, "{address}");
        }
    }

    #[test]
    fn a_type_without_values_is_named() {
        assert_eq!(made_as(&Type::BPCHAR), Ok(CqlType::Text));
        assert_eq!(made_as(&Type::JSONB), Err("jsonb is a type for which iopslab has no values".to_owned()));
    }
}
