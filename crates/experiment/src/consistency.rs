//! CQL consistency levels, one for each kind of statement.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::mistakes::choice;
use crate::words::words;

words! {
    /// CQL consistency level.
    #[expect(missing_docs, reason = "the names are CQL's own")]
    pub enum Consistency {
        Any = "any",
        One = "one",
        Two = "two",
        Three = "three",
        Quorum = "quorum",
        All = "all",
        LocalQuorum = "local_quorum",
        EachQuorum = "each_quorum",
        LocalOne = "local_one",
    }
}

impl Consistency {
    /// Replicas that a request waits for where `replication_factor` are kept in one data centre (Cassandra: a quorum is
    /// half of them, rounded down, and one).
    pub fn replicas(self, replication_factor: u32) -> u32 {
        match self {
            Self::Any | Self::One | Self::LocalOne => 1,
            Self::Two => 2,
            Self::Three => 3,
            Self::Quorum | Self::LocalQuorum | Self::EachQuorum => replication_factor / 2 + 1,
            Self::All => replication_factor,
        }
    }
}

impl FromStr for Consistency {
    type Err = String;

    /// As it is typed: `LOCAL_QUORUM` and `local-quorum`, too.
    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase().replace('-', "_");
        let found = Self::ALL.into_iter().find(|level| level.name() == name);
        found.ok_or_else(|| format!("`{text}` is no consistency level ({})", choice(&name, &Self::ALL.map(Self::name))))
    }
}

/// The level of each kind of statement. A read-modify-write reads at the one and updates at the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "AsStored", into = "AsStored")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub struct ConsistencyLevels {
    pub read: Consistency,
    pub scan: Consistency,
    pub update: Consistency,
    pub insert: Consistency,
}

impl ConsistencyLevels {
    /// The same level for every statement.
    pub const fn all(level: Consistency) -> Self {
        Self { read: level, scan: level, update: level, insert: level }
    }

    /// Each kind by its name, with its level.
    pub fn by_kind(self) -> [(&'static str, Consistency); 4] {
        [("read", self.read), ("scan", self.scan), ("update", self.update), ("insert", self.insert)]
    }

    /// For people: `quorum`, or `read one, scan one, update quorum, insert quorum`.
    pub fn label(self) -> String {
        if self == Self::all(self.read) {
            return self.read.name().to_owned();
        }
        self.by_kind().map(|(kind, level)| format!("{kind} {}", level.name())).join(", ")
    }
}

/// One level is one word; so it was before there could be several.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum AsStored {
    Same(Consistency),
    Each { read: Consistency, scan: Consistency, update: Consistency, insert: Consistency },
}

impl From<AsStored> for ConsistencyLevels {
    fn from(stored: AsStored) -> Self {
        match stored {
            AsStored::Same(level) => Self::all(level),
            AsStored::Each { read, scan, update, insert } => Self { read, scan, update, insert },
        }
    }
}

impl From<ConsistencyLevels> for AsStored {
    fn from(levels: ConsistencyLevels) -> Self {
        let ConsistencyLevels { read, scan, update, insert } = levels;
        if levels == ConsistencyLevels::all(read) {
            return Self::Same(read);
        }
        Self::Each { read, scan, update, insert }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_waits_for_as_many_replicas_as_cassandra_says() {
        let of_three = Consistency::ALL.map(|level| level.replicas(3));
        assert_eq!(of_three, [1, 1, 2, 3, 2, 3, 2, 2, 1]);
        assert_eq!((1..=6).map(|rf| Consistency::Quorum.replicas(rf)).collect::<Vec<_>>(), [1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn a_level_is_understood_as_it_is_typed_or_refused_with_the_nearest() {
        assert_eq!("LOCAL-QUORUM".parse(), Ok(Consistency::LocalQuorum));
        let refused = "quorom".parse::<Consistency>().unwrap_err();
        let expected = "`quorom` is no consistency level (did you mean `quorum`? valid: any, ";
        assert!(refused.starts_with(expected), "{refused}");
    }

    #[test]
    fn one_level_is_stored_as_one_word_and_several_by_kind() {
        let same = ConsistencyLevels::all(Consistency::LocalQuorum);
        let mixed = ConsistencyLevels { update: Consistency::Quorum, ..ConsistencyLevels::all(Consistency::One) };
        assert_eq!(serde_json::to_value(same).unwrap(), "local_quorum");
        assert_eq!(mixed.label(), "read one, scan one, update quorum, insert one");
        for levels in [same, mixed] {
            let text = serde_json::to_string(&levels).unwrap();
            assert_eq!(serde_json::from_str::<ConsistencyLevels>(&text).unwrap(), levels);
        }
    }
}
