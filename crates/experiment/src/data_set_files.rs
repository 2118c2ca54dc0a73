//! Which files a data set is.

use serde::{Deserialize, Serialize};

use crate::products::of_files;
use crate::{BacklogFiles, Configuration, DataLayout, Placement, Setup};
use product::Settings;

/// The files of a data set: configurations that want the same share them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DataSetFiles {
    /// On which nodes they are.
    pub placement: Placement,
    /// The version of the database that writes them, where that is not the target's: each has a file format, and loads
    /// its own. Nothing is upgraded in place.
    pub version: Option<String>,
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
            version: setup.version.clone(),
            settings: of_files(&setup.settings),
            directories: setup.data_directory_count(),
            backlog: setup.backlog,
        }
    }

    /// Those that a configuration is planned to need in a model of so many records.
    pub fn planned(configuration: &Configuration, records: u64) -> Self {
        let volume = &configuration.data_volume;
        Self {
            placement: configuration.placement,
            version: configuration.version.clone(),
            settings: of_files(&configuration.settings),
            directories: match volume.layout {
                Some(DataLayout::Raid0 { .. }) => 1,
                Some(DataLayout::Directories) | None => volume.count,
            },
            backlog: configuration.backlog.map(|backlog| backlog.of(records)),
        }
    }

    /// For people: what distinguishes them from others, if anything does.
    pub fn label(&self) -> String {
        let version = self.version.as_ref().map(|version| format!("files of version {version}"));
        let nodes = self.placement.is_cluster().then(|| self.placement.label());
        let settings = (!self.settings.is_empty()).then(|| self.settings.labels().join(", "));
        let directories = (self.directories > 1).then(|| format!("{} data directories", self.directories));
        let backlog = self.backlog.map(|backlog| format!("a backlog of {}", backlog.label()));
        let mut parts: Vec<String> = version.into_iter().chain(nodes).chain(directories).chain(settings).collect();
        if parts.is_empty() && backlog.is_some() {
            parts.push("records at rest".to_owned());
        }
        parts.extend(backlog);
        parts.join(", with ")
    }
}
