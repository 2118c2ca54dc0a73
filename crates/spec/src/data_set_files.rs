//! Which files a data set is.

use serde::{Deserialize, Serialize};

use crate::{Placement, Settings, Setup};

/// The files of a data set: configurations that want the same share them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DataSetFiles {
    /// On which nodes they are.
    pub placement: Placement,
    /// What decides what is in them.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
}

impl DataSetFiles {
    /// Those that a configuration needs.
    pub fn of(setup: &Setup) -> Self {
        Self {
            placement: setup.placement,
            settings: setup.settings.of_files(),
        }
    }

    /// For people: what tells them from others, if anything does.
    pub fn label(&self) -> String {
        let nodes = self.placement.is_cluster().then(|| self.placement.label());
        let settings = (!self.settings.is_empty()).then(|| self.settings.labels().join(", "));
        nodes.into_iter().chain(settings).collect::<Vec<_>>().join(", with ")
    }
}
