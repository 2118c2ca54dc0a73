//! Who carries an experiment out.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who carries an experiment out. Its name is the same in `environment.json`, in `analysis.json` and for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Provider {
    /// This machine with emulated volumes.
    Local,
    /// No machine: a simulation of a stated truth.
    Simulated,
    /// The user's own machines, by SSH.
    Hosts,
    /// Machines that are made on AWS for the run, and taken away after it.
    Aws,
}

/// A name that no provider has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown provider `{given}`; expected {}, {}, {} or {}",
    Provider::Local,
    Provider::Simulated,
    Provider::Hosts,
    Provider::Aws
)]
pub struct UnknownProvider {
    /// What was written.
    pub given: String,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 4] = [Self::Local, Self::Simulated, Self::Hosts, Self::Aws];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Simulated => "simulated",
            Self::Hosts => "hosts",
            Self::Aws => "aws",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Provider> for &'static str {
    fn from(provider: Provider) -> Self {
        provider.name()
    }
}

impl TryFrom<String> for Provider {
    type Error = UnknownProvider;

    fn try_from(given: String) -> Result<Self, Self::Error> {
        Self::ALL
            .into_iter()
            .find(|provider| provider.name() == given)
            .ok_or(UnknownProvider { given })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_read_by_its_name_and_no_other() {
        for provider in Provider::ALL {
            let text = serde_json::to_string(&provider).unwrap();
            assert_eq!(text, format!("\"{provider}\""));
            assert_eq!(serde_json::from_str::<Provider>(&text).unwrap(), provider);
        }
        let refused = serde_json::from_str::<Provider>("\"cloud\"").unwrap_err().to_string();
        assert!(
            refused.starts_with("unknown provider `cloud`; expected local, simulated, hosts or aws"),
            "{refused}"
        );
    }
}
