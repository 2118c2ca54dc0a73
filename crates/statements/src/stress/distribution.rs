//! Distributions of cassandra-stress: `fixed(5)`, `uniform(1..10M)`, `gaussian(1..100)`.
//!
//! Source: Apache Cassandra 5.0, `OptionDistribution.java`: the mean of a gaussian is the middle of its range, its
//! deviation a third of the way from there to the end unless it is stated; the mean of an exponential one is such that
//! one value in the root of its range lies above that, and counts as its end.

use crate::data::Size;

/// Steps by which a distribution is given as sizes with weights.
const STEPS: u64 = 100;
/// Deviations from the mean to the end of a range, where it is not stated.
const DEVIATIONS: f64 = 3.0;

/// A greater number no profile needs: sums and products of these stay below what 64 bits have.
const MOST: u64 = 1_000_000_000_000_000;

/// The distribution that the text is, or what is wrong.
pub(super) fn distribution(text: &str) -> Result<Size, String> {
    let written: String = text.to_ascii_lowercase().split_whitespace().collect();
    let (name, arguments) = written
        .strip_suffix(')')
        .and_then(|text| text.split_once('('))
        .ok_or_else(|| format!("`{text}` is no distribution"))?;
    let arguments: Vec<&str> = arguments.split(',').collect();
    let range = arguments[0].split_once("..").and_then(|(min, max)| Some((number(min)?, number(max)?)));
    let above_0 = |argument: &&str| argument.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
    let others: Option<Vec<f64>> = arguments[1..].iter().map(above_0).collect();
    match (name, range, others.as_deref()) {
        ("fixed", None, Some([])) => {
            number(arguments[0]).map(Size::fixed).ok_or_else(|| format!("`{text}` has no number"))
        }
        ("uniform" | "seq", Some((min, max)), Some([])) if min <= max => Ok(Size::Uniform { min, max }),
        ("gaussian" | "gauss" | "normal" | "norm", Some((min, max)), Some(others)) if min < max => {
            let middle = (min as f64 + max as f64) / 2.0;
            let (mean, deviation) = match others {
                [] => (middle, (middle - min as f64) / DEVIATIONS),
                [deviations] => (middle, (middle - min as f64) / deviations),
                [mean, deviation] => (*mean, *deviation),
                _ => return Err(format!("`{text}` has too many numbers")),
            };
            let steps = (max - min).min(STEPS);
            let weight = |size: u64| (-((size as f64 - mean) / deviation).powi(2) / 2.0).exp();
            let sizes = (0..=steps).map(|step| min + (max - min) * step / steps);
            Ok(Size::Histogram { sizes: sizes.map(|size| (size, weight(size))).collect() })
        }
        ("exp", Some((min, max)), Some([])) if min <= max => Ok(exponential(min, max)),
        _ => Err(format!(
            "`{text}` is not supported: fixed(n), uniform(a..b), seq(a..b), gaussian(a..b) and exp(a..b) are"
        )),
    }
}

/// Whole numbers from `min` on, each less frequent than the one before.
fn exponential(min: u64, max: u64) -> Size {
    let range = max - min;
    if range == 0 {
        return Size::fixed(min);
    }
    let mean = range as f64 / ((range as f64).ln() / 2.0);
    let above = |offset: u64| (-(offset as f64) / mean).exp();
    let steps = (range - 1).min(STEPS);
    let end = |step: u64| 1 + (range - 1) * step / steps;
    let between = (0..steps).map(|step| {
        let (from, to) = (end(step), end(step + 1));
        (min + (from + to - 1) / 2, above(from) - above(to))
    });
    let least = (min, 1.0 - above(1));
    Size::Histogram { sizes: [least].into_iter().chain(between).chain([(max, above(range))]).collect() }
}

/// `10M`: thousands, millions and billions have a letter.
fn number(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1_000),
        b'm' => (&text[..text.len() - 1], 1_000_000),
        b'b' => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|n| *n <= MOST)
}

/// A ratio of `select`: a distribution over a number.
pub(super) fn ratio(text: &str) -> Result<(Size, f64), String> {
    let (size, over) = text.rsplit_once('/').ok_or_else(|| format!("`{text}` is no ratio like fixed(1)/10"))?;
    let over: f64 = over.trim().parse().map_err(|_| format!("`{text}` is no ratio like fixed(1)/10"))?;
    let size = distribution(size)?;
    if over >= 1.0 && size.max() as f64 <= over {
        Ok((size, over))
    } else {
        Err(format!("`{text}` is no share of a partition's rows: it is above 1"))
    }
}
