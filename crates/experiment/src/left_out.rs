//! What of an experiment a run leaves out, because it was asked for some of it alone.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sentence::listed;

/// What the file states and `only` of `[load]` leaves out, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Configurations.
    pub configurations: Vec<String>,
    /// Workloads.
    pub workloads: Vec<String>,
    /// Load levels, as cells are called after them: `c64`.
    pub load_levels: Vec<String>,
}

/// `configurations gp3-6000 and io2; load level c8`.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each =
            [("configuration", &self.configurations), ("workload", &self.workloads), ("load level", &self.load_levels)];
        let each = each.into_iter().filter(|(_, names)| !names.is_empty());
        let said: Vec<String> = each
            .map(|(what, names)| format!("{what}{} {}", if names.len() > 1 { "s" } else { "" }, listed(names)))
            .collect();
        f.write_str(&said.join("; "))
    }
}
