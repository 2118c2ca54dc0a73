//! Where configurations run. It is chosen once, where a file and a provider become an experiment: what is different
//! elsewhere is asked of it.

use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{AwsSettings, ExistingCluster, HostsSettings, Provider, Truth};

/// Where configurations run, with what there is there and nowhere else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say what these fields are")]
pub enum Place {
    /// Machines that are held to a model of each configuration, and how volumes are emulated on them.
    Emulated { model: Model, volumes: Emulation, machines: Machines },
    /// Machines of the user's own, by SSH, taken as they are.
    AsIs(HostsSettings),
    /// Machines that are made on AWS: they are what a configuration states.
    Bought(AwsSettings),
    /// A cluster that exists: a configuration is its name and its price.
    Existing(ExistingCluster),
    /// No machine: a model of each configuration that obeys this truth.
    Simulated { model: Model, truth: Truth },
    /// Somebody else's, and over: other tools have measured there, and what they state is all that is known.
    Imported,
}

/// The machines that emulate others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Machines {
    /// This one, for all nodes.
    This {
        /// Where volumes, snapshots and the ledger live; `None`: the default of the machine. A resumed run finds its
        /// snapshot there again.
        work_directory: Option<String>,
    },
    /// Machines of the user's own, by SSH.
    Hosts(HostsSettings),
}

/// What is made of a configuration at full size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// 1:N; 1 is the real thing.
    pub scale: f64,
    /// Page-cache budget in bytes, instead of the scaled one.
    pub page_cache_bytes: Option<u64>,
    /// What its page cache has of that at full scale.
    pub page_cache: PageCacheKeeps,
}

words! {
    /// What of full scale the page cache of a model keeps.
    #[derive(Default)]
    pub enum PageCacheKeeps {
        /// The share of the data that is in it: memory is divided by N, as the data are.
        #[default]
        SameShare = "same-share",
        /// How often reads miss it, as reckoned.
        SameMisses = "same-misses",
        /// The same, by a size that was chosen after what production reads.
        Calibrated = "calibrated",
    }
}

impl Model {
    /// The configuration itself.
    pub(crate) const FULL_SIZE: Self =
        Self { scale: 1.0, page_cache_bytes: None, page_cache: PageCacheKeeps::SameShare };
}

words! {
    /// How volumes are emulated.
    #[derive(Default)]
    pub enum Emulation {
        /// The kernel's throttle holds the database to their limits.
        #[default]
        Throttled = "throttled",
        /// A process answers for them as such volumes do.
        Served = "served",
    }
}

impl Place {
    /// Who carries an experiment out there.
    pub fn provider(&self) -> Provider {
        match self {
            Self::Emulated { machines: Machines::This { .. }, .. } | Self::Existing(_) => Provider::Local,
            Self::Emulated { machines: Machines::Hosts(_), .. } | Self::AsIs(_) => Provider::Hosts,
            Self::Bought(_) => Provider::Aws,
            Self::Simulated { .. } => Provider::Simulated,
            Self::Imported => Provider::Imported,
        }
    }

    /// The machines of the user's own, by SSH.
    pub fn hosts(&self) -> Option<&HostsSettings> {
        match self {
            Self::AsIs(hosts) | Self::Emulated { machines: Machines::Hosts(hosts), .. } => Some(hosts),
            _ => None,
        }
    }

    /// Whether caches in front of a database have machines of their own; else they are on that of its first node.
    pub fn has_cache_machines(&self) -> bool {
        self.hosts().is_some() || self.aws().is_some()
    }

    /// What is made of a configuration there.
    pub fn model(&self) -> Model {
        match self {
            Self::Emulated { model, .. } | Self::Simulated { model, .. } => *model,
            Self::AsIs(_) | Self::Bought(_) | Self::Existing(_) | Self::Imported => Model::FULL_SIZE,
        }
    }

    /// N of the model of 1:N.
    pub fn scale(&self) -> f64 {
        self.model().scale
    }

    /// Whether a process answers for volumes.
    pub fn serves_volumes(&self) -> bool {
        matches!(self, Self::Emulated { volumes: Emulation::Served, .. })
    }

    /// Whether no time passes: seconds of a trial cost nothing.
    pub fn is_simulated(&self) -> bool {
        self.truth().is_some()
    }

    /// Whether its volumes are held to limits by iopslab, or simulated: none of them was bought.
    pub fn is_modelled(&self) -> bool {
        matches!(self, Self::Emulated { .. } | Self::Simulated { .. })
    }

    /// Whether nobody of iopslab carried it out, so that nothing goes on there.
    pub fn is_imported(&self) -> bool {
        matches!(self, Self::Imported)
    }

    /// What is made on AWS.
    pub fn aws(&self) -> Option<&AwsSettings> {
        match self {
            Self::Bought(aws) => Some(aws),
            _ => None,
        }
    }

    /// The cluster that exists.
    pub fn existing(&self) -> Option<&ExistingCluster> {
        match self {
            Self::Existing(cluster) => Some(cluster),
            _ => None,
        }
    }

    /// What a simulation obeys.
    pub fn truth(&self) -> Option<&Truth> {
        match self {
            Self::Simulated { truth, .. } => Some(truth),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn truth_mut(&mut self) -> Option<&mut Truth> {
        match self {
            Self::Simulated { truth, .. } => Some(truth),
            _ => None,
        }
    }

    /// The files that it names, always in the same order, with the section of the experiment that does, so that they
    /// can be looked for beside the experiment.
    pub fn files_mut(&mut self) -> (&'static str, Vec<&mut String>) {
        match self {
            Self::AsIs(hosts) | Self::Emulated { machines: Machines::Hosts(hosts), .. } => {
                ("[provider.hosts]", hosts.ssh.files_mut().collect())
            }
            Self::Bought(AwsSettings { binary_x86_64, binary_aarch64, .. }) => {
                ("[provider.aws]", binary_x86_64.iter_mut().chain(binary_aarch64).collect())
            }
            Self::Existing(cluster) => ("[target]", cluster.files_mut()),
            Self::Emulated { .. } | Self::Simulated { .. } | Self::Imported => ("[provider.local]", Vec::new()),
        }
    }
}
