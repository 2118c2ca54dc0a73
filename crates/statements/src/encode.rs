//! CQL's binary form of values.
//!
//! Source: native_protocol_v4.spec, section 6 (the same in native_protocol_v5.spec, section 5). `vector` is in neither;
//! its form is that of Apache Cassandra 5.0 (`VectorType.java`): elements of a fixed length one after another, others
//! each with its length as an unsigned vint before it.

use crate::cql::CqlType;

/// Days since 1970 of which a `date` is 2^31 (section 6.5).
const EPOCH_DAY: i64 = 1 << 31;
/// 100 ns from the start of the Gregorian calendar (1582-10-15) to 1970: RFC 9562, section 5.1.
const TICKS_TO_1970: i64 = 0x01B2_1DD2_1381_4000;
/// 100 ns in a millisecond.
const TICKS_PER_MS: i64 = 10_000;

/// A type whose values come from whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    Boolean,
    TinyInt,
    SmallInt,
    Int,
    /// `bigint` and `counter`.
    BigInt,
    VarInt,
    /// Without a fraction.
    Decimal,
    Float,
    Double,
    /// Days since 1970.
    Date,
    /// Nanoseconds since midnight.
    Time,
    /// Milliseconds since 1970.
    Timestamp,
    /// IPv4: added to 10.0.0.0.
    Inet,
    /// Ten decimal digits or more, so that their order is that of the numbers.
    Text,
    /// The last eight bytes; the first are zero but for the version.
    Uuid,
}

impl Whole {
    /// The type, if it is one of these.
    pub(crate) fn of(cql_type: &CqlType) -> Option<Self> {
        Some(match cql_type {
            CqlType::Boolean => Self::Boolean,
            CqlType::TinyInt => Self::TinyInt,
            CqlType::SmallInt => Self::SmallInt,
            CqlType::Int => Self::Int,
            CqlType::BigInt | CqlType::Counter => Self::BigInt,
            CqlType::VarInt => Self::VarInt,
            CqlType::Decimal => Self::Decimal,
            CqlType::Float => Self::Float,
            CqlType::Double => Self::Double,
            CqlType::Date => Self::Date,
            CqlType::Time => Self::Time,
            CqlType::Timestamp => Self::Timestamp,
            CqlType::Inet => Self::Inet,
            CqlType::Text | CqlType::Ascii | CqlType::Blob => Self::Text,
            CqlType::Uuid => Self::Uuid,
            CqlType::Duration
            | CqlType::TimeUuid
            | CqlType::List(_)
            | CqlType::Set(_)
            | CqlType::Map(..)
            | CqlType::Tuple(_)
            | CqlType::Udt { .. }
            | CqlType::Vector { .. } => return None,
        })
    }

    /// The numbers that have a value of their own, both inclusive.
    pub(crate) const fn range(self) -> (i64, i64) {
        match self {
            Self::Boolean => (0, 1),
            Self::TinyInt => (i8::MIN as i64, i8::MAX as i64),
            Self::SmallInt => (i16::MIN as i64, i16::MAX as i64),
            Self::Int => (i32::MIN as i64, i32::MAX as i64),
            Self::BigInt | Self::VarInt | Self::Decimal | Self::Timestamp => (i64::MIN, i64::MAX),
            // Whole numbers up to which each has a value: 24 and 53 bits of the fraction.
            Self::Float => (-(1 << 24), 1 << 24),
            Self::Double => (-(1 << 53), 1 << 53),
            Self::Date => (-EPOCH_DAY, EPOCH_DAY - 1),
            Self::Time => (0, 86_400_000_000_000 - 1),
            Self::Inet => (0, (1 << 24) - 1),
            Self::Text => (0, i64::MAX),
            // Two of its 64 bits are the variant.
            Self::Uuid => (0, (1 << 62) - 1),
        }
    }

    /// Appends a number of that range.
    #[inline]
    pub(crate) fn put(self, number: i64, out: &mut Vec<u8>) {
        match self {
            Self::Boolean => out.push((number & 1) as u8),
            Self::TinyInt => out.push(number as u8),
            Self::SmallInt => out.extend_from_slice(&(number as i16).to_be_bytes()),
            Self::Int => out.extend_from_slice(&(number as i32).to_be_bytes()),
            Self::BigInt | Self::Time | Self::Timestamp => out.extend_from_slice(&number.to_be_bytes()),
            Self::VarInt => varint(i128::from(number), out),
            Self::Decimal => decimal(i128::from(number), 0, out),
            Self::Float => out.extend_from_slice(&(number as f32).to_be_bytes()),
            Self::Double => out.extend_from_slice(&(number as f64).to_be_bytes()),
            Self::Date => out.extend_from_slice(&(number.wrapping_add(EPOCH_DAY) as u32).to_be_bytes()),
            Self::Inet => out.extend_from_slice(&0x0A00_0000_u32.wrapping_add(number as u32).to_be_bytes()),
            Self::Text => digits(number.unsigned_abs(), out),
            Self::Uuid => {
                // Version 8 is for what others do (RFC 9562, section 5.8).
                out.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0x80, 0]);
                out.extend_from_slice(&variant(number.cast_unsigned()).to_be_bytes());
            }
        }
    }
}

/// Ten decimal digits, more where they are needed.
fn digits(mut number: u64, out: &mut Vec<u8>) {
    const LEAST: usize = 10;
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    while number > 0 {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[start.min(digits.len() - LEAST)..]);
}

/// Two's complement in as few bytes as possible (section 6.22).
pub(crate) fn varint(number: i128, out: &mut Vec<u8>) {
    let bytes = number.to_be_bytes();
    let sign = if number < 0 { 0xFF } else { 0 };
    // A byte is left out where it is the sign alone and the next one has the same sign.
    let is_sign = |two: &[u8]| two[0] == sign && (two[1] ^ sign) & 0x80 == 0;
    let left_out = bytes.windows(2).take_while(|two| is_sign(two)).count();
    out.extend_from_slice(&bytes[left_out..]);
}

/// `unscaled * 10^-scale` (section 6.6).
pub(crate) fn decimal(unscaled: i128, scale: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(&scale.to_be_bytes());
    varint(unscaled, out);
}

/// Months, days and nanoseconds (native_protocol_v5.spec, section 5.8).
pub(crate) fn duration(months: i32, days: i32, nanoseconds: i64, out: &mut Vec<u8>) {
    for number in [i64::from(months), i64::from(days), nanoseconds] {
        // Zigzag: the sign in the last bit.
        unsigned_vint(((number << 1) ^ (number >> 63)).cast_unsigned(), out);
    }
}

/// Most significant byte first; as many leading ones in the first byte as bytes follow it (native_protocol_v5.spec,
/// section 3).
pub(crate) fn unsigned_vint(number: u64, out: &mut Vec<u8>) {
    // Seven bits fit for each byte; nine bytes hold all 64.
    let bits = 64 - number.leading_zeros().min(63);
    let extra = ((bits - 1) / 7).min(8) as usize;
    if extra == 8 {
        out.push(0xFF);
        out.extend_from_slice(&number.to_be_bytes());
        return;
    }
    let bytes = number.to_be_bytes();
    let first = out.len();
    out.extend_from_slice(&bytes[7 - extra..]);
    out[first] |= !(0xFF_u8 >> extra);
}

/// A random UUID of version 4 from 128 bits.
pub(crate) fn random_uuid(high: u64, low: u64, out: &mut Vec<u8>) {
    let high = (high & !0xF000) | 0x4000;
    out.extend_from_slice(&high.to_be_bytes());
    out.extend_from_slice(&variant(low).to_be_bytes());
}

/// A UUID of version 1 with this time and 62 bits of clock sequence and node (RFC 9562, section 5.1).
pub(crate) fn time_uuid(unix_ms: i64, low: u64, out: &mut Vec<u8>) {
    let ticks = unix_ms.wrapping_mul(TICKS_PER_MS).wrapping_add(TICKS_TO_1970).cast_unsigned();
    let (low_ticks, middle, high) = (ticks & 0xFFFF_FFFF, (ticks >> 32) & 0xFFFF, (ticks >> 48) & 0x0FFF);
    out.extend_from_slice(&((low_ticks << 32) | (middle << 16) | 0x1000 | high).to_be_bytes());
    out.extend_from_slice(&variant(low).to_be_bytes());
}

/// The second half of a UUID: 62 bits and the variant.
const fn variant(low: u64) -> u64 {
    (low & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
}

/// Bytes of a value where all have as many, for vectors (`valueLengthIfFixed` of Apache Cassandra 5.0, which
/// `smallint`, `tinyint`, `date` and `time` lack).
pub(crate) fn fixed_length(cql_type: &CqlType) -> Option<usize> {
    match cql_type {
        CqlType::Boolean => Some(1),
        CqlType::Int | CqlType::Float => Some(4),
        CqlType::BigInt | CqlType::Double | CqlType::Timestamp => Some(8),
        CqlType::Uuid | CqlType::TimeUuid => Some(16),
        CqlType::Vector { element, dimensions } => Some(fixed_length(element)? * usize::from(*dimensions)),
        _ => None,
    }
}

/// The first element of an encoded collection: its key (a list's or set's element) or a map's value; `None` where it is
/// empty.
pub(crate) fn first_element(collection: &[u8], is_value_of_map: bool) -> Option<&[u8]> {
    // How many there are comes first.
    let (_, mut rest) = collection.split_first_chunk::<4>()?;
    for is_wanted in [!is_value_of_map, true] {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (bytes, after) = after.split_at_checked(i32::from_be_bytes(*length) as usize)?;
        if is_wanted {
            return Some(bytes);
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    /// The table of native_protocol_v4.spec, section 6.22.
    #[test]
    fn a_varint_has_as_few_bytes_as_possible() {
        for (number, bytes) in [
            (0, vec![0x00]),
            (1, vec![0x01]),
            (127, vec![0x7F]),
            (128, vec![0x00, 0x80]),
            (129, vec![0x00, 0x81]),
            (-1, vec![0xFF]),
            (-128, vec![0x80]),
            (-129, vec![0xFF, 0x7F]),
        ] {
            assert_eq!(written(|out| varint(number, out)), bytes, "{number}");
        }
    }

    /// 256000 is the example of native_protocol_v5.spec, section 3.
    #[test]
    fn a_vint_says_in_its_first_byte_how_many_follow() {
        for (number, bytes) in [
            (0, vec![0x00]),
            (127, vec![0x7F]),
            (128, vec![0x80, 0x80]),
            (256_000, vec![0xC3, 0xE8, 0x00]),
            (u64::MAX >> 8, vec![0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            (u64::MAX, vec![0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        ] {
            assert_eq!(written(|out| unsigned_vint(number, out)), bytes, "{number}");
        }
        assert_eq!(written(|out| duration(1, 2, 3, out)), [2, 4, 6]);
        let hour_back = [0xfc, 0x06, 0x8c, 0x61, 0x71, 0x3f, 0xff];
        assert_eq!(written(|out| duration(0, 0, -3_600_000_000_000, out))[2..], hour_back);
    }

    /// The example of RFC 9562, appendix A.1.
    #[test]
    fn a_time_uuid_has_its_time_where_the_standard_has_it() {
        let uuid = written(|out| time_uuid(1_645_557_742_000, 0x33C8_9F6B_DECE_D846, out));
        let expected = 0xC232_AB00_9414_11EC_B3C8_9F6B_DECE_D846_u128.to_be_bytes();
        assert_eq!(uuid, expected);
    }

    #[test]
    fn a_random_uuid_says_that_it_is_one() {
        let uuid = written(|out| random_uuid(u64::MAX, u64::MAX, out));
        assert_eq!((uuid[6], uuid[8], uuid.len()), (0x4F, 0xBF, 16));
    }

    #[test]
    fn the_first_element_of_a_collection_is_found() {
        let map = [0, 0, 0, 1, 0, 0, 0, 1, b'k', 0, 0, 0, 2, b'v', b'w'];
        assert_eq!(first_element(&map, false), Some(&b"k"[..]));
        assert_eq!(first_element(&map, true), Some(&b"vw"[..]));
        assert_eq!(first_element(&[0, 0, 0, 0], false), None);
    }
}
