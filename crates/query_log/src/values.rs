//! The values of a request, as the protocol has them.

/// The length of a null (native_protocol_v4.spec, section 3, `[value]`).
const NULL: i32 = -1;
/// The length of a value that is not set.
const NOT_SET: i32 = -2;

/// A value of one bind marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Null: a write of it deletes.
    Null,
    /// Not set: nothing is written for it.
    NotSet,
    /// In the protocol's binary form.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// Appends it, with its length before it.
    pub(crate) fn append(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(&NULL.to_be_bytes()),
            Self::NotSet => out.extend_from_slice(&NOT_SET.to_be_bytes()),
            // A recording holds fewer bytes than an i32 counts.
            Self::Bytes(bytes) => {
                out.extend_from_slice(&(bytes.len() as i32).to_be_bytes());
                out.extend_from_slice(bytes);
            }
        }
    }
}

/// The value that the bytes begin with, and what is after it; `None`: they are no value.
pub(crate) fn split(bytes: &[u8]) -> Option<(Value<'_>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    match i32::from_be_bytes(*length) {
        NULL => Some((Value::Null, rest)),
        NOT_SET => Some((Value::NotSet, rest)),
        length => {
            let (value, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            Some((Value::Bytes(value), rest))
        }
    }
}

/// All values of bytes that [`Value::append`] has made.
pub(crate) fn all(mut bytes: &[u8]) -> impl Iterator<Item = Value<'_>> {
    std::iter::from_fn(move || {
        let (value, rest) = split(bytes)?;
        bytes = rest;
        Some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_appended_and_what_is_cut_is_none() {
        let given = [Value::Null, Value::Bytes(b"ab"), Value::NotSet, Value::Bytes(b"")];
        let mut bytes = Vec::new();
        given.iter().for_each(|value| value.append(&mut bytes));
        assert_eq!(all(&bytes).collect::<Vec<_>>(), given);
        assert_eq!(split(&[0, 0, 0, 3, 1, 2]), None);
        assert_eq!(split(&[0xff, 0xff, 0xff, 0xfd]), None);
        assert_eq!(split(&[0, 0]), None);
    }
}
