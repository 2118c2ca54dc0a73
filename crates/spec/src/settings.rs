//! Settings of a configuration: what of its database is otherwise than iopslab starts it. They cost nothing.

use serde::{Deserialize, Serialize};

/// What of a configuration's database is otherwise than iopslab starts it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Options of the JVM, after iopslab's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jvm: Vec<String>,
}

impl Settings {
    /// Whether everything is as iopslab starts it.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Each setting for people: `jvm -XX:TieredStopAtLevel=1`.
    pub fn labels(&self) -> Vec<String> {
        self.jvm.iter().map(|option| format!("jvm {option}")).collect()
    }
}

/// What of the settings was found in force in a node that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsInForce {
    /// Options that the JVM of the node runs with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jvm: Vec<String>,
}

impl SettingsInForce {
    /// Whether none was asked for.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}
