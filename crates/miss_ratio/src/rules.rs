//! How a cache is used.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longest time to live, seconds: memcached takes what is longer for a date (`REALTIME_MAXDELTA` of 1.6.45).
pub const LONGEST_TTL_S: f64 = 30.0 * 86_400.0;

/// What a write does to the cache. A read asks the cache, and on a miss the database, whose answer it stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Nothing: what is cached is stale until it expires or is driven out.
    Aside,
    /// It deletes the record's item.
    Invalidate,
    /// It stores the record.
    WriteThrough,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Aside, Self::Invalidate, Self::WriteThrough];

    /// As in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Aside => "aside",
            Self::Invalidate => "invalidate",
            Self::WriteThrough => "write_through",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|policy| policy.word() == word);
        known.ok_or_else(|| format!("`{word}` is none of {}", Self::ALL.map(Self::word).join(", ")))
    }
}

/// How a cache is used, in the workload's own measure of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// What a write does to it.
    pub policy: Policy,
    /// An item expires so many operations of the workload after it was stored; a read does not put that off. `None`:
    /// never.
    pub ttl_operations: Option<f64>,
    /// Operations of the workload per second, by which memcached's clock of whole seconds is counted. `None`: so few
    /// that these are short beside the time for which an item is kept.
    pub operations_per_s: Option<f64>,
}

/// What happens to one record, as often as the workload has it for each operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    /// Reads without a write.
    pub read: f64,
    /// Writes without a read.
    pub write: f64,
    /// Reads, each with a write at once.
    pub read_and_write: f64,
}

impl Rates {
    /// The same of a record that gets this share of the operations.
    pub fn of(self, share: f64) -> Self {
        Self { read: self.read * share, write: self.write * share, read_and_write: self.read_and_write * share }
    }
}

impl Rules {
    /// Hit ratio of a record that nothing drives out, asked for at random moments: it is there for `there` operations,
    /// then not for `away`, in turn, and a read finds it as often as it is there. Without writes `rate x TTL / (1 +
    /// rate x TTL)`, as for a cache that holds everything (Jung, Berger & Balakrishnan, IEEE INFOCOM 2003).
    pub(crate) fn hit_ratio_of_resident(&self, rates: Rates) -> f64 {
        let ttl = self.ttl_operations.unwrap_or(f64::INFINITY);
        let writes = rates.write + rates.read_and_write;
        let (there, away) = match self.policy {
            Policy::Aside => (ttl, 1.0 / (rates.read + rates.read_and_write)),
            // Until it expires or is written; only a read that does not write itself leaves it there.
            Policy::Invalidate if writes > 0.0 => (-(-writes * ttl).exp_m1() / writes, 1.0 / rates.read),
            // Until nothing has written it for as long as it lives.
            Policy::WriteThrough if writes > 0.0 => ((writes * ttl).exp_m1() / writes, 1.0 / (rates.read + writes)),
            Policy::Invalidate | Policy::WriteThrough => (ttl, 1.0 / rates.read),
        };
        1.0 / (1.0 + away / there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(policy: Policy, ttl: Option<f64>, read: f64, write: f64, read_and_write: f64) -> f64 {
        Rules { policy, ttl_operations: ttl, operations_per_s: None }.hit_ratio_of_resident(Rates {
            read,
            write,
            read_and_write,
        })
    }

    #[test]
    fn what_is_never_driven_out_is_missed_after_it_expired_or_was_deleted() {
        for policy in Policy::ALL {
            assert_eq!(hits(policy, None, 0.1, 0.0, 0.0), 1.0, "{policy}");
            // One read of ten finds it expired, and stores it again.
            assert!((hits(policy, Some(90.0), 0.1, 0.0, 0.0) - 0.9).abs() < 1e-12, "{policy}");
        }
        assert_eq!(hits(Policy::Aside, None, 0.1, 0.3, 0.0), 1.0);
        assert_eq!(hits(Policy::WriteThrough, None, 0.1, 0.3, 0.0), 1.0);
        // The last that happened was a read in one case of four.
        assert!((hits(Policy::Invalidate, None, 0.1, 0.3, 0.0) - 0.25).abs() < 1e-12);
        assert!((hits(Policy::Invalidate, None, 0.1, 0.0, 0.3) - 0.25).abs() < 1e-12);
        assert_eq!(hits(Policy::Invalidate, None, 0.0, 0.0, 0.3), 0.0);
        // Writes that store put the end of its life off.
        assert!(hits(Policy::WriteThrough, Some(90.0), 0.1, 0.1, 0.0) > hits(Policy::Aside, Some(90.0), 0.1, 0.1, 0.0));
    }

    #[test]
    fn a_policy_is_its_word() {
        for policy in Policy::ALL {
            assert_eq!(policy.word().parse(), Ok(policy));
        }
        assert_eq!("back".parse::<Policy>(), Err("`back` is none of aside, invalidate, write_through".to_owned()));
    }
}
