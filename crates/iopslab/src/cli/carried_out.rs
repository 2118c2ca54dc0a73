//! What a run needs whoever carries it out: on machines that are there, and on those that are made for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use archive::RunDirectory;
use evidence::{Environment, HostId};
use provider::Incoming;

use crate::controller::Settings;
use crate::failure::Failure;
use crate::paths::{cache_directory, work_directory};
use crate::progress::Screen;

/// Both ends of the agents' messages.
pub(super) type Channel = (Sender<Incoming>, Receiver<Incoming>);

/// Trials of one configuration on two machines are not repetitions:
/// a run is not resumed where the processor or the memory differs.
pub(super) fn same_machine(
    directory: &RunDirectory,
    hosts: &[(HostId, Environment)],
    screen: &mut Screen,
) -> Result<(), Failure> {
    let frozen = directory.environment().map_err(Failure::work)?;
    for (host, now) in hosts {
        let now = serde_json::json!(now);
        let then = &frozen[host.to_string()];
        for fact in ["cpu_model", "cpus", "memory_bytes", "kernel"] {
            if then[fact].is_null() || then[fact] == now[fact] {
                continue;
            }
            let change = format!("{fact} of the {host} host was {}, here it is {}", then[fact], now[fact]);
            if fact == "kernel" {
                screen.say(&format!("warning: {change}; trials before and after may differ"));
            } else {
                return Err(Failure::input(format!("this run began on another machine: {change}"))
                    .help("its trials would not be repetitions of those; start a new run here, and put both side by side with: iopslab compare"));
            }
        }
    }
    Ok(())
}

/// Directories of this machine, and no bound of money.
pub(super) fn settings_for(plan: &experiment::Plan) -> Settings {
    let stated = plan.work_directory.as_deref();
    Settings {
        work_directory: stated.map_or_else(work_directory, PathBuf::from),
        cache_directory: cache_directory(),
        affords: Arc::new(|_| true),
    }
}
