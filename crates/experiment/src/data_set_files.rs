//! Which files a data set is.

use serde::{Deserialize, Serialize};

use crate::products::of_files;
use crate::{BacklogFiles, Placement, Setup};
use product::Settings;

/// The files of a data set: configurations that want the same share them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DataSetFiles {
    /// On which nodes they are.
    pub placement: Placement,
    /// What decides what is in them.
    pub settings: Settings,
    /// Data directories over which each node spreads them: a database puts each of its ranges into one.
    pub directories: u32,
    /// What was written again after it had stabilised.
    pub backlog: Option<BacklogFiles>,
}

impl DataSetFiles {
    /// Those that a configuration needs.
    pub fn of(setup: &Setup) -> Self {
        Self {
            placement: setup.placement,
            settings: of_files(&setup.settings),
            directories: setup.data_directory_count(),
            backlog: setup.backlog,
        }
    }

    /// For people: what distinguishes them from others, if anything does.
    pub fn label(&self) -> String {
        let nodes = self.placement.is_cluster().then(|| self.placement.label());
        let settings = (!self.settings.is_empty()).then(|| self.settings.labels().join(", "));
        let directories = (self.directories > 1).then(|| format!("{} data directories", self.directories));
        let backlog = self.backlog.map(|backlog| format!("a backlog of {}", backlog.label()));
        let mut parts: Vec<String> = nodes.into_iter().chain(directories).chain(settings).collect();
        if parts.is_empty() && backlog.is_some() {
            parts.push("records at rest".to_owned());
        }
        parts.extend(backlog);
        parts.join(", with ")
    }
}
