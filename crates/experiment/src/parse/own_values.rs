//! How values of a column are made, and how many there are: from the keys of the file to `statements`.

use serde::Deserialize as _;
use statements::{Generator, Size};
use toml::Value;

use super::inline::typed;
use crate::mistakes::{Collector, choice};
use crate::raw;
use crate::spanned::Spanned;

/// Each kind with the keys that it has.
const KINDS: [(&str, &[&str]); 8] = [
    ("fixed", &["value"]),
    ("values", &["values"]),
    ("uniform", &["min", "max"]),
    ("zipfian", &["min", "max", "constant"]),
    ("sequence", &["start", "step", "each", "cycle"]),
    ("bytes", &["length", "compressibility"]),
    ("advancing", &["start_ms", "step_ms"]),
    ("collection", &["size", "element", "key"]),
];
/// YCSB's zipfian constant.
const ZIPFIAN_CONSTANT: f64 = 0.99;
/// Milliseconds from row to row, where nothing else is stated.
const STEP_MS: i64 = 1_000;

/// How a column's values are made.
pub(super) fn generator(
    column: &Spanned<String>,
    given: &Spanned<Value, raw::Column>,
    mistakes: &mut Collector<'_>,
) -> Option<Generator> {
    let raw: raw::Column = typed(given, column, mistakes)?;
    match of(&raw) {
        Ok(generator) => Some(generator),
        Err((message, help)) => mistakes.refuse(given.span(), format!("{column}: {message}"), help),
    }
}

/// A number, or how it is distributed.
pub(super) fn stated_size<S>(given: &Spanned<Value, S>, key: &str, mistakes: &mut Collector<'_>) -> Option<Size> {
    match size(given.get_ref(), key) {
        Ok(size) => Some(size),
        Err((message, help)) => mistakes.refuse(given.span(), message, help),
    }
}

/// What is wrong, and what is expected.
type Wrong = (String, String);

fn of(raw: &raw::Column) -> Result<Generator, Wrong> {
    let kind = raw.kind.as_str();
    let Some((_, keys)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let names = KINDS.map(|(name, _)| name);
        return Err((format!("unknown kind `{kind}`"), choice(kind, &names)));
    };
    if let Some(stray) = stated(raw).into_iter().find(|key| !keys.contains(key)) {
        return Err((format!("{stray} is not for kind = \"{kind}\""), format!("its keys are {}", keys.join(", "))));
    }
    let missing = |key: &str| (format!("kind = \"{kind}\" without {key}"), format!("its keys are {}", keys.join(", ")));
    Ok(match kind {
        "fixed" => Generator::Fixed { value: scalar(raw.value.as_ref().ok_or_else(|| missing("value"))?, "value")? },
        "values" => {
            let values = raw.values.as_ref().ok_or_else(|| missing("values"))?;
            let each = values.iter().map(|(value, weight)| Ok((scalar(value, "values")?, *weight)));
            Generator::Values { values: each.collect::<Result<_, Wrong>>()? }
        }
        "uniform" => Generator::Uniform {
            min: raw.min.ok_or_else(|| missing("min"))?,
            max: raw.max.ok_or_else(|| missing("max"))?,
        },
        "zipfian" => Generator::Zipfian {
            min: whole(raw.min.ok_or_else(|| missing("min"))?, "min")?,
            max: whole(raw.max.ok_or_else(|| missing("max"))?, "max")?,
            constant: raw.constant.unwrap_or(ZIPFIAN_CONSTANT),
        },
        "sequence" => Generator::Sequence {
            start: raw.start.unwrap_or(0),
            step: raw.step.unwrap_or(1),
            each: raw.each.unwrap_or(1),
            cycle: raw.cycle,
        },
        "bytes" => Generator::Bytes {
            length: size(raw.length.as_ref().ok_or_else(|| missing("length"))?, "length")?,
            compressibility: raw.compressibility.unwrap_or(0.0),
        },
        "advancing" => Generator::Advancing {
            start_ms: raw.start_ms.ok_or_else(|| missing("start_ms"))?,
            step_ms: raw.step_ms.unwrap_or(STEP_MS),
        },
        _ => {
            let inner = |of: &Option<Box<raw::Column>>| of.as_deref().map(of_boxed).transpose();
            Generator::Collection {
                size: size(raw.size.as_ref().ok_or_else(|| missing("size"))?, "size")?,
                element: inner(&raw.element)?,
                key: inner(&raw.key)?,
            }
        }
    })
}

fn of_boxed(raw: &raw::Column) -> Result<Box<Generator>, Wrong> {
    of(raw).map(Box::new)
}

/// The keys that are stated, `kind` aside.
fn stated(raw: &raw::Column) -> Vec<&'static str> {
    let all = [
        ("value", raw.value.is_some()),
        ("values", raw.values.is_some()),
        ("min", raw.min.is_some()),
        ("max", raw.max.is_some()),
        ("constant", raw.constant.is_some()),
        ("start", raw.start.is_some()),
        ("step", raw.step.is_some()),
        ("each", raw.each.is_some()),
        ("cycle", raw.cycle.is_some()),
        ("length", raw.length.is_some()),
        ("compressibility", raw.compressibility.is_some()),
        ("start_ms", raw.start_ms.is_some()),
        ("step_ms", raw.step_ms.is_some()),
        ("size", raw.size.is_some()),
        ("element", raw.element.is_some()),
        ("key", raw.key.is_some()),
    ];
    all.into_iter().filter(|(_, is_stated)| *is_stated).map(|(key, _)| key).collect()
}

/// A value of the file as CQL has it, without quotes.
fn scalar(value: &Value, key: &str) -> Result<String, Wrong> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Ok(value.to_string()),
        other => Err((format!("{key} cannot be {}", other.type_str()), "a text, a number, true or false".to_owned())),
    }
}

fn whole(number: f64, key: &str) -> Result<i64, Wrong> {
    let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
    is_whole.then_some(number as i64).ok_or_else(|| (format!("{key} cannot be {number}"), "a whole number".to_owned()))
}

const A_SIZE: &str = "a whole number, { min, max }, { median, sigma, max } or { sizes = [[SIZE, WEIGHT], ...] }";

fn size(value: &Value, key: &str) -> Result<Size, Wrong> {
    let wrong = |what: String| (format!("{key} {what}"), A_SIZE.to_owned());
    let raw = match value {
        Value::Integer(n) => {
            return u64::try_from(*n).map(Size::fixed).map_err(|_| wrong(format!("cannot be {n}")));
        }
        table @ Value::Table(_) => {
            raw::Size::deserialize(table.clone()).map_err(|error| wrong(error.message().to_owned()))?
        }
        other => return Err(wrong(format!("cannot be {}", other.type_str()))),
    };
    match raw {
        raw::Size { min: Some(min), max: Some(max), median: None, sigma: None, sizes: None } => {
            Ok(Size::Uniform { min, max })
        }
        raw::Size { min: None, max: Some(max), median: Some(median), sigma: Some(sigma), sizes: None } => {
            Ok(Size::LogNormal { median, sigma, max })
        }
        raw::Size { min: None, max: None, median: None, sigma: None, sizes: Some(sizes) } => {
            Ok(Size::Histogram { sizes })
        }
        _ => Err(wrong("is none of the distributions that it can have".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Generator, Wrong> {
        of(&toml::from_str::<raw::Column>(text).unwrap())
    }

    #[test]
    fn a_kind_takes_its_own_keys_and_no_others() {
        let text = "kind = \"bytes\"\nlength = { min = 10, max = 20 }";
        let length = Size::Uniform { min: 10, max: 20 };
        assert_eq!(read(text), Ok(Generator::Bytes { length, compressibility: 0.0 }));
        let text = "kind = \"collection\"\nsize = 3\nelement = { kind = \"uniform\", min = 1, max = 6 }";
        let element = Some(Box::new(Generator::Uniform { min: 1.0, max: 6.0 }));
        assert_eq!(read(text), Ok(Generator::Collection { size: Size::fixed(3), element, key: None }));
        for (text, said) in [
            ("kind = \"byte\"", "unknown kind `byte`"),
            ("kind = \"bytes\"", "kind = \"bytes\" without length"),
            ("kind = \"bytes\"\nlength = 5\nmin = 1", "min is not for kind = \"bytes\""),
            ("kind = \"bytes\"\nlength = -5", "length cannot be -5"),
            ("kind = \"bytes\"\nlength = { median = 5.0 }", "length is none of the distributions that it can have"),
            ("kind = \"zipfian\"\nmin = 0.5\nmax = 3", "min cannot be 0.5"),
            ("kind = \"fixed\"\nvalue = [1]", "value cannot be array"),
        ] {
            assert_eq!(read(text).unwrap_err().0, said);
        }
    }
}
