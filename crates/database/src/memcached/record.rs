//! A record as one item: when the database had answered with it (eight bytes, nanoseconds), then each field's length
//! (four bytes) before its text; all numbers little-endian. A field without a value has the length `u32::MAX`.

const NO_VALUE: u32 = u32::MAX;

/// A record as it was put into a cache.
#[derive(Debug, PartialEq, Eq)]
pub struct Item<'i> {
    /// When the database had answered: writes that were sent later are not in it.
    pub answered_ns: u64,
    /// Its fields, in order.
    pub fields: Vec<Option<&'i str>>,
}

/// The item of a record with these fields, in order, that the database had answered with at this moment.
pub fn encode<'f>(answered_ns: u64, fields: impl Iterator<Item = Option<&'f str>>) -> Vec<u8> {
    let mut item = answered_ns.to_le_bytes().to_vec();
    for field in fields {
        let length = field.and_then(|text| u32::try_from(text.len()).ok()).unwrap_or(NO_VALUE);
        item.extend(length.to_le_bytes());
        item.extend(field.unwrap_or_default().as_bytes());
    }
    item
}

/// What an item is a copy of; `None`: it is no record of so many fields.
pub fn decode(item: &[u8], fields: usize) -> Option<Item<'_>> {
    let (answered_ns, mut item) = item.split_first_chunk()?;
    let mut decoded = Vec::with_capacity(fields);
    while let Some((length, rest)) = item.split_first_chunk() {
        let length = u32::from_le_bytes(*length);
        if length == NO_VALUE {
            decoded.push(None);
            item = rest;
            continue;
        }
        let (text, rest) = rest.split_at_checked(length as usize)?;
        decoded.push(Some(std::str::from_utf8(text).ok()?));
        item = rest;
    }
    let is_whole = item.is_empty() && decoded.len() == fields;
    is_whole.then_some(Item { answered_ns: u64::from_le_bytes(*answered_ns), fields: decoded })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hit ratios are predicted for items as large as these.
    #[test]
    fn a_record_is_as_large_as_predictions_take_it_to_be() {
        let fields = vec!["a".repeat(100); 30];
        let item = encode(7, fields.iter().map(|field| Some(field.as_str())));
        assert_eq!(miss_ratio::Item::of_record(23, 30, 3000), miss_ratio::Item::of(23, item.len() as u64));
    }

    #[test]
    fn a_record_comes_back_as_it_was_put_and_nothing_else_is_one() {
        let fields = vec![Some("first"), None, Some(""), Some("\u{2026}\r\nEND")];
        let item = encode(7, fields.iter().copied());
        assert_eq!(decode(&item, 4), Some(Item { answered_ns: 7, fields }));
        assert_eq!(decode(&item, 3), None, "another number of fields");
        assert_eq!(decode(&item[..item.len() - 1], 4), None, "cut short");
        assert_eq!(decode(b"abc", 1), None);
        assert_eq!(decode(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xFF], 1), None, "no text");
        assert_eq!(decode(&encode(9, std::iter::empty()), 0), Some(Item { answered_ns: 9, fields: Vec::new() }));
    }
}
