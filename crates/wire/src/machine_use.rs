//! What a machine of one's own is to a database host.

use experiment::MachineStorage;
use serde::{Deserialize, Serialize};

/// The ground on which a node stands, where that is not this machine with emulated volumes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineUse {
    /// Where snapshots and the ledger live; `None`: the default of that machine.
    pub work_directory: Option<String>,
    /// Whether configurations' CPUs, memory and IOPS are in force.
    pub limits: bool,
    /// What holds the data. `None`: an emulated volume with limits, the work directory without.
    pub data: Option<MachineStorage>,
    /// What holds a separate commit log; `None`: as the data.
    pub commitlog: Option<MachineStorage>,
    /// The snapshot of EBS from which the volume of the data was made; `None`: it was made empty.
    pub snapshot: Option<String>,
}
