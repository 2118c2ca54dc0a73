//! Which host of a run: what it is for, and which of them.

use std::fmt;
use std::str::FromStr;

use experiment::Role;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A host of a run. Its name is the key of everything that comes from it: `database` and `client` are the first of
/// their role, `database-2` is the second (so that a run with one host of each role reads as it did before there could
/// be several).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId {
    /// What it is for.
    pub role: Role,
    /// Which of its role, from 0.
    pub index: u32,
}

impl HostId {
    /// The first database host.
    pub const DATABASE: Self = Self::database(0);
    /// The first client.
    pub const CLIENT: Self = Self::client(0);

    /// A database host, counted from 0.
    pub const fn database(index: u32) -> Self {
        Self { role: Role::Database, index }
    }

    /// The host of a cache, counted from 0.
    pub const fn cache(index: u32) -> Self {
        Self { role: Role::Cache, index }
    }

    /// A client, counted from 0.
    pub const fn client(index: u32) -> Self {
        Self { role: Role::Client, index }
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            0 => f.write_str(self.role.name()),
            index => write!(f, "{}-{}", self.role.name(), index + 1),
        }
    }
}

/// A name that is no host's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no host: database, database-2, ..., cache, cache-2, ..., client, client-2, ...")]
pub struct NoSuchHost(pub String);

impl FromStr for HostId {
    type Err = NoSuchHost;

    fn from_str(name: &str) -> Result<Self, NoSuchHost> {
        let role_and_index = |role: Role| match name.strip_prefix(role.name())? {
            "" => Some(Self { role, index: 0 }),
            // `database-1` and `database-02` would be second names of hosts that have one.
            rest => {
                let digits = rest.strip_prefix('-')?;
                let number: u32 = digits.parse().ok().filter(|n| *n > 1)?;
                (number.to_string() == digits).then(|| Self { role, index: number - 1 })
            }
        };
        Role::ALL.into_iter().find_map(role_and_index).ok_or_else(|| NoSuchHost(name.to_owned()))
    }
}

impl Serialize for HostId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::HostId;

    #[test]
    fn every_host_has_one_name_and_every_name_one_host() {
        let databases = [HostId::DATABASE, HostId::database(1), HostId::database(11)];
        let others = [HostId::cache(0), HostId::cache(1), HostId::CLIENT, HostId::client(2)];
        for host in databases.into_iter().chain(others) {
            assert_eq!(host.to_string().parse(), Ok(host));
        }
        assert_eq!(HostId::database(2).to_string(), "database-3");
        assert_eq!(HostId::cache(1).to_string(), "cache-2");
        for wrong in
            ["", "data", "database-", "database-0", "database-1", "database-02", "databases", "client-x", "client2"]
        {
            assert!(wrong.parse::<HostId>().is_err(), "{wrong}");
        }
    }
}
