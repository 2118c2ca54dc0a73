//! Values as they are typed: from text to CQL's binary form.

use std::net::IpAddr;

use jiff::civil::{Date, date};

use crate::cql::CqlType;
use crate::encode::{Whole, decimal, duration, varint};

const EPOCH: Date = date(1970, 1, 1);
const MS_PER_DAY: i64 = 86_400_000;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// Appends the value that the text is in this type, or says what was expected.
pub(crate) fn put(text: &str, cql_type: &CqlType, out: &mut Vec<u8>) -> Result<(), String> {
    let is_put = match cql_type {
        CqlType::Text | CqlType::Ascii => {
            let fits = *cql_type == CqlType::Text || text.is_ascii();
            fits.then(|| out.extend_from_slice(text.as_bytes()))
        }
        CqlType::TinyInt | CqlType::SmallInt | CqlType::Int | CqlType::BigInt | CqlType::Counter => {
            whole(text, cql_type, out)
        }
        CqlType::VarInt => text.parse().ok().map(|number| varint(number, out)),
        CqlType::Decimal => unscaled(text).map(|(number, scale)| decimal(number, scale, out)),
        CqlType::Float => text.parse().ok().map(|number: f32| out.extend_from_slice(&number.to_be_bytes())),
        CqlType::Double => text.parse().ok().map(|number: f64| out.extend_from_slice(&number.to_be_bytes())),
        CqlType::Boolean => text.to_ascii_lowercase().parse().ok().map(|is: bool| out.push(u8::from(is))),
        CqlType::Blob => text.strip_prefix("0x").and_then(hex).map(|bytes| out.extend(bytes)),
        CqlType::Uuid | CqlType::TimeUuid => uuid(text).map(|bytes| out.extend(bytes)),
        CqlType::Date => day(text).map(|day| Whole::Date.put(day, out)),
        CqlType::Time => time(text).map(|nanos| Whole::Time.put(nanos, out)),
        CqlType::Timestamp => timestamp(text).map(|ms| Whole::Timestamp.put(ms, out)),
        CqlType::Inet => text.parse::<IpAddr>().ok().map(|address| match address {
            IpAddr::V4(address) => out.extend(address.octets()),
            IpAddr::V6(address) => out.extend(address.octets()),
        }),
        CqlType::Duration => span(text).map(|(months, days, nanos)| duration(months, days, nanos, out)),
        CqlType::List(_)
        | CqlType::Set(_)
        | CqlType::Map(..)
        | CqlType::Tuple(_)
        | CqlType::Udt { .. }
        | CqlType::Vector { .. } => return Err(format!("a {cql_type} has no value of one word")),
    };
    is_put.ok_or_else(|| format!("`{text}` is no {cql_type}: for example {}", example(cql_type)))
}

fn example(cql_type: &CqlType) -> &'static str {
    match cql_type {
        CqlType::Ascii => "plain text of ASCII",
        CqlType::Float | CqlType::Double | CqlType::Decimal => "12.5",
        CqlType::Boolean => "true",
        CqlType::Blob => "0xcafe",
        CqlType::Uuid | CqlType::TimeUuid => "550e8400-e29b-11d4-a716-446655440000",
        CqlType::Date => "2026-01-31",
        CqlType::Time => "13:30:00.5",
        CqlType::Timestamp => "2026-01-31T13:30:00Z, or milliseconds since 1970",
        CqlType::Inet => "192.0.2.1",
        CqlType::Duration => "1h30m",
        _ => "12",
    }
}

fn whole(text: &str, cql_type: &CqlType, out: &mut Vec<u8>) -> Option<()> {
    let whole = Whole::of(cql_type)?;
    let number: i64 = text.parse().ok()?;
    let (least, greatest) = whole.range();
    (least..=greatest).contains(&number).then(|| whole.put(number, out))
}

/// A decimal number as a whole one and the digits after its point.
fn unscaled(text: &str) -> Option<(i128, i32)> {
    let (before, after) = text.split_once('.').unwrap_or((text, ""));
    let is_number = after.bytes().all(|b| b.is_ascii_digit());
    let number = format!("{before}{after}").parse().ok().filter(|_| is_number)?;
    Some((number, i32::try_from(after.len()).ok()?))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|two| (two[0] << 4) | two[1]).collect())
}

fn uuid(text: &str) -> Option<Vec<u8>> {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    hex(&text.replace('-', "")).filter(|_| groups == [8, 4, 4, 4, 12])
}

/// Days since 1970 of `yyyy-mm-dd`.
fn day(text: &str) -> Option<i64> {
    let parts: Option<Vec<i16>> = text.splitn(3, '-').map(|part| part.parse().ok()).collect();
    let [year, month, day] = parts?[..] else { return None };
    let date = Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok();
    date.filter(|date| date.year() > 0).map(|date| date.duration_since(EPOCH).as_hours() / 24)
}

/// Nanoseconds since midnight of `hh:mm:ss`, with or without a fraction.
fn time(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.splitn(3, ':').collect();
    let [hours, minutes, seconds] = parts[..] else { return None };
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let number = |text: &str, end: i64| text.parse().ok().filter(|number: &i64| (0..end).contains(number));
    let seconds = number(hours, 24)? * 3600 + number(minutes, 60)? * 60 + number(seconds, 60)?;
    let nanos = number(&format!("{fraction:0<9}"), NANOS_PER_SECOND)?;
    Some(seconds * NANOS_PER_SECOND + nanos)
}

/// Milliseconds since 1970 of a number, a day or a day and a time in UTC.
fn timestamp(text: &str) -> Option<i64> {
    if let Ok(ms) = text.parse() {
        return Some(ms);
    }
    let (date, clock) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let nanos = time(clock.strip_suffix('Z').unwrap_or(clock))?;
    Some(day(date)? * MS_PER_DAY + nanos / 1_000_000)
}

/// Months, days and nanoseconds of `1y2mo3w4d5h6m7s8ms9us10ns`, of which parts may be missing.
fn span(text: &str) -> Option<(i32, i32, i64)> {
    let (mut months, mut days, mut nanos) = (0_i32, 0_i32, 0_i64);
    let (sign, mut rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number = rest[..end].parse::<i32>().ok()? * sign;
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let nanos_of = |unit: i64| i64::from(number).checked_mul(unit);
        match &rest[..end] {
            "y" => months = months.checked_add(number.checked_mul(12)?)?,
            "mo" => months = months.checked_add(number)?,
            "w" => days = days.checked_add(number.checked_mul(7)?)?,
            "d" => days = days.checked_add(number)?,
            "h" => nanos = nanos.checked_add(nanos_of(3600 * NANOS_PER_SECOND)?)?,
            "m" => nanos = nanos.checked_add(nanos_of(60 * NANOS_PER_SECOND)?)?,
            "s" => nanos = nanos.checked_add(nanos_of(NANOS_PER_SECOND)?)?,
            "ms" => nanos = nanos.checked_add(nanos_of(1_000_000)?)?,
            "us" => nanos = nanos.checked_add(nanos_of(1_000)?)?,
            "ns" => nanos = nanos.checked_add(nanos_of(1)?)?,
            _ => return None,
        }
        rest = &rest[end..];
    }
    Some((months, days, nanos))
}
