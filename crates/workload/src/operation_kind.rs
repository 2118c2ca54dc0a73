//! Kinds of operations: those of YCSB, and a user's own statements, which are not known before an experiment is read.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// One kind of request: in YCSB's terms, or one of the user's own statements. In files it is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationKind {
    /// Read one record by its key.
    Read,
    /// Overwrite fields of an existing record.
    Update,
    /// Write a record with a new key.
    Insert,
    /// Read records in key order from a start key.
    Scan,
    /// Read a record, then update it; timed as one operation.
    ReadModifyWrite,
    /// A statement of the user's own.
    Statement(StatementName),
}

impl OperationKind {
    /// Every kind of YCSB, in the order in which reports show them.
    pub const YCSB: [Self; 5] = [Self::Read, Self::Update, Self::Insert, Self::Scan, Self::ReadModifyWrite];

    /// The kind that files and reports know by this name; what is none of YCSB's is a statement's.
    ///
    /// # Errors
    /// No statement can have this name, or too many have one.
    pub fn from_name(name: &str) -> Result<Self, StatementNameError> {
        match Self::YCSB.into_iter().find(|kind| kind.name() == name) {
            Some(kind) => Ok(kind),
            None => StatementName::new(name).map(Self::Statement),
        }
    }

    /// The name used in files and reports, the same as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Update => "update",
            Self::Insert => "insert",
            Self::Scan => "scan",
            Self::ReadModifyWrite => "read_modify_write",
            Self::Statement(name) => name.as_str(),
        }
    }

    /// For people: `read-modify-write`; a statement of the user's own as it is named.
    pub fn label(self) -> String {
        match self {
            Self::Statement(name) => name.as_str().to_owned(),
            of_ycsb => of_ycsb.name().replace('_', "-"),
        }
    }
}

impl Serialize for OperationKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for OperationKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_name(&name).map_err(D::Error::custom)
    }
}

/// The name of a statement: `[a-z][a-z0-9_]*`, at most 40 bytes, and none of YCSB's kinds. It is copied as a number is:
/// the text of each name is kept once, for as long as the process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StatementName(&'static str);

/// Why a text is not the name of a statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StatementNameError {
    /// It has other characters, or is too long.
    #[error("`{0}` is not a name: a letter a to z, then at most 39 of a to z, 0 to 9 and _")]
    Form(String),
    /// It has another meaning.
    #[error("`{0}` is a kind of operation of YCSB")]
    Taken(String),
    /// Too many names in this process.
    #[error("more than {} names of statements", MOST)]
    TooMany,
}

/// Bytes of a name.
const LONGEST: usize = 40;
/// Names that one process knows; evidence that somebody else has written cannot fill memory with them.
const MOST: usize = 1024;

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl StatementName {
    /// The name with this text.
    ///
    /// # Errors
    /// It is none, or there are too many.
    pub fn new(text: &str) -> Result<Self, StatementNameError> {
        let is_after_first = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let is_formed = text.len() <= LONGEST
            && text.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
            && text.bytes().all(is_after_first);
        if !is_formed {
            return Err(StatementNameError::Form(text.chars().take(LONGEST + 1).collect()));
        }
        if OperationKind::YCSB.iter().any(|kind| kind.name() == text) {
            return Err(StatementNameError::Taken(text.to_owned()));
        }
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(text).copied() {
            return Ok(Self(known));
        }
        if names.len() >= MOST {
            return Err(StatementNameError::TooMany);
        }
        let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
        names.insert(kept);
        Ok(Self(kept))
    }

    /// Its text.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_plain_and_not_one_of_ycsb() {
        let name = StatementName::new("read_cart2").unwrap();
        assert_eq!((name.as_str(), StatementName::new("read_cart2")), ("read_cart2", Ok(name)));
        assert_eq!(StatementName::new("read"), Err(StatementNameError::Taken("read".to_owned())));
        let long = "x".repeat(LONGEST + 1);
        for text in ["", "2nd", "_x", "Read", "a-b", "a b", "a.b", "\u{e9}", long.as_str()] {
            assert!(matches!(StatementName::new(text), Err(StatementNameError::Form(_))), "{text}");
        }
        assert!(StatementName::new(&long[1..]).is_ok());
    }

    #[test]
    fn a_kind_is_written_as_its_name_and_read_back() {
        for text in ["read", "read_modify_write", "add_to_cart"] {
            assert_eq!(OperationKind::from_name(text).unwrap().name(), text);
        }
        assert_eq!(OperationKind::from_name("read").unwrap(), OperationKind::Read);
        assert!(OperationKind::from_name("service.read").is_err());
    }
}
