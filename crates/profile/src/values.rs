//! How large values are that a log has: numbers of bytes and of elements, never a value itself.

use std::collections::BTreeMap;

use statements::Size;

/// Digits of a number of bytes that are kept, binary ones: what is left out is less than half a percent.
const DIGITS: u32 = 8;
/// Of a limit, a time to live or a number of elements.
const DIGITS_OF_NUMBERS: u32 = 16;
/// So many sizes are stated of a column, each with its weight: their mean is that of all.
const MOST_SIZES: u64 = 8;

/// What was given to a marker, by size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValuesSeen {
    /// How often a value had so many bytes.
    pub bytes: BTreeMap<u32, u64>,
    /// How often its first four bytes were this number: of an int the number itself, of a collection how many elements
    /// it has (native_protocol_v4.spec, section 6). Only where it is one of these.
    pub numbers: BTreeMap<u32, u64>,
}

impl ValuesSeen {
    /// One more value, in the protocol's form; whether it begins with a number.
    pub fn add(&mut self, value: &[u8], is_numbered: bool) {
        let bytes = u32::try_from(value.len()).unwrap_or(u32::MAX);
        *self.bytes.entry(rounded(bytes, DIGITS)).or_default() += 1;
        let number = value.first_chunk().map(|first| i32::from_be_bytes(*first));
        if let Some(number) = number.filter(|_| is_numbered).and_then(|number| u32::try_from(number).ok()) {
            *self.numbers.entry(rounded(number, DIGITS_OF_NUMBERS)).or_default() += 1;
        }
    }

    /// These and those.
    pub fn join(&mut self, other: &Self) {
        for (ours, theirs) in [(&mut self.bytes, &other.bytes), (&mut self.numbers, &other.numbers)] {
            theirs.iter().for_each(|(size, count)| *ours.entry(*size).or_default() += count);
        }
    }
}

/// A number with so many binary digits, the others 0.
fn rounded(number: u32, digits: u32) -> u32 {
    let dropped = (u32::BITS - number.leading_zeros()).saturating_sub(digits);
    number >> dropped << dropped
}

/// The number of which as many are smaller as are greater.
pub(crate) fn median(counts: &BTreeMap<u32, u64>) -> Option<u32> {
    let all: u64 = counts.values().sum();
    let mut below = 0;
    counts.iter().find_map(|(number, count)| {
        below += count;
        (below * 2 >= all && all > 0).then_some(*number)
    })
}

/// The mean of all.
pub(crate) fn mean(counts: &BTreeMap<u32, u64>) -> Option<f64> {
    let all: u64 = counts.values().sum();
    let sum: f64 = counts.iter().map(|(number, count)| f64::from(*number) * *count as f64).sum();
    stats::ratio(sum, all as f64)
}

/// What was counted, as a few sizes; `None`: nothing was.
pub(crate) fn size(counts: &BTreeMap<u32, u64>) -> Option<Size> {
    let all: u64 = counts.values().sum();
    let mut groups: BTreeMap<u64, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut below = 0;
    for (number, count) in counts {
        // By the middle of those that are alike: a frequent size is a group of its own.
        let group = (below + count / 2) * MOST_SIZES / all.max(1);
        groups.entry(group).or_default().insert(*number, *count);
        below += count;
    }
    let of_group = |group: &BTreeMap<u32, u64>| Some((mean(group)?.round() as u64, group.values().sum::<u64>() as f64));
    let sizes: Vec<(u64, f64)> = groups.values().filter_map(of_group).collect();
    match sizes.as_slice() {
        [] => None,
        [(size, _)] => Some(Size::fixed(*size)),
        _ => Some(Size::Histogram { sizes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_the_mean_and_a_number_is_exact() {
        let mut seen = ValuesSeen::default();
        for length in 1..=2_000 {
            seen.add(&vec![7; length], false);
        }
        let Some(Size::Histogram { sizes }) = size(&seen.bytes) else { panic!("{seen:?}") };
        assert_eq!(sizes.len() as u64, MOST_SIZES);
        let mean_of =
            |sizes: &[(u64, f64)]| sizes.iter().map(|(size, weight)| *size as f64 * weight).sum::<f64>() / 2_000.0;
        assert!((mean_of(&sizes) / 1_000.5 - 1.0).abs() < 0.005, "{sizes:?}");
        assert!(seen.numbers.is_empty());
        let mut numbers = ValuesSeen::default();
        for number in [20_i32, 86_400, 20, 2_592_000, 20, -1] {
            numbers.add(&number.to_be_bytes(), true);
        }
        assert_eq!(median(&numbers.numbers), Some(20));
        assert_eq!(numbers.numbers.keys().copied().collect::<Vec<_>>(), [20, 86_400, 2_592_000]);
        assert_eq!((size(&numbers.bytes), size(&BTreeMap::new())), (Some(Size::fixed(4)), None));
        assert_eq!((median(&BTreeMap::new()), mean(&BTreeMap::new())), (None, None));
    }
}
