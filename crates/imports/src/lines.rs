//! Lines with their numbers, and the numbers in them.

use crate::Refusal;

/// Largest count that is taken: beyond it a sum of a few could overflow, and a float could not hold it.
const MOST: f64 = 9e15;

/// Lines from 1, trimmed; empty ones are left out.
pub fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty())
}

/// A number that is not below 0. `of` is the whole line.
pub fn number(at: usize, text: &str, of: &str) -> Result<f64, Refusal> {
    let plain = text.trim();
    let found = plain.parse::<f64>().ok().filter(|n| (0.0..=MOST).contains(n));
    found.ok_or_else(|| Refusal::expected(at, &format!("a number of at least 0 where `{plain}` stands"), of))
}

/// A number as Java prints it in English, without the commas between thousands. In other languages a comma may begin
/// the decimals: `0,6` is not 6. `of` is the whole line.
pub fn without_commas(at: usize, text: &str, of: &str) -> Result<String, Refusal> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_grouped = whole.split(',').skip(1).all(|group| group.len() == 3);
    match is_grouped && !decimals.contains(',') {
        true => Ok(text.replace(',', "")),
        false => Err(Refusal::expected(at, "commas between thousands alone", of)
            .help("it ran in a language whose decimals have commas: run it with LC_ALL=C")),
    }
}

/// A whole number that is not below 0. Some versions print it as `12.0`.
pub fn count(at: usize, text: &str, of: &str) -> Result<u64, Refusal> {
    let value = number(at, text, of)?;
    if value.fract() == 0.0 { Ok(value as u64) } else { Err(Refusal::expected(at, "a whole number", of)) }
}
