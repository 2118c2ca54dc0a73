//! What a machine must be able to do for its volumes: the process that answers for served ones needs CPU beside the
//! databases.

use crate::{DataLayout, Experiment, Note, Provider, Setup, VolumeSetup, setups};

/// CPU that it takes for a request, seconds (docs/emulation.md: 70 to 90 us on a quiet machine, 150 on a busy one).
const REQUEST_S: f64 = 150e-6;
/// Requests a second that a database makes at the most for each CPU it has, whatever its volumes would let through.
/// Measured: 5,740 operations a second of a Cassandra with one CPU, 0.9 reads of the device each (docs/emulation.md,
/// local-nvme).
const REQUESTS_PER_CPU: f64 = 6_000.0;

/// What this machine has for volumes that are served.
#[derive(Debug, Clone, PartialEq)]
pub struct ThisMachine {
    /// Its CPUs.
    pub cpus: f64,
    /// Why it cannot serve volumes at all; `None`: it can.
    pub cannot_serve: Option<String>,
    /// Why its kernel cannot make a RAID 0 of them; `None`: it can.
    pub cannot_stripe: Option<String>,
}

/// A configuration whose databases and volume server need more CPUs than a machine has.
struct Shortage {
    configuration: String,
    /// What its databases may use.
    databases: f64,
    /// Requests a second that they can make.
    requests: f64,
}

impl Shortage {
    fn server(&self) -> f64 {
        self.requests * REQUEST_S
    }

    fn reported(&self, machine_cpus: f64) -> String {
        format!(
            "answering for served volumes takes up to {:.2} CPUs ({:.0} requests a second, about {:.0} us each), and \
             the database may use {} of this machine's {machine_cpus}",
            self.server(),
            self.requests,
            REQUEST_S * 1e6,
            self.databases,
        )
    }
}

/// Requests a second of one node: what its volumes let through, and what its CPUs can make.
fn requests(setup: &Setup) -> f64 {
    let each = |volume: &VolumeSetup| {
        let burst = volume.burst.map(|burst| burst.burst_iops);
        let ceilings = [volume.limits.read_iops, volume.limits.write_iops, burst];
        let ceilings = ceilings.map(|ceiling| ceiling.unwrap_or(0.0));
        // A volume without a limit lets everything through.
        match (volume.limits.read_iops, volume.is_combined()) {
            (None, _) => None,
            (_, true) => Some(ceilings.into_iter().fold(0.0, f64::max)),
            (_, false) => Some(ceilings.into_iter().sum()),
        }
    };
    let through = setup.together(setup.volumes(), each, |path| path.read_iops);
    through.unwrap_or(f64::INFINITY).min(setup.cpus * REQUESTS_PER_CPU)
}

/// The configuration that is shortest of CPUs on such a machine.
fn shortage(setups: &[Setup], machine_cpus: f64) -> Option<Shortage> {
    let needs = setups.iter().map(|setup| {
        let nodes = f64::from(setup.placement.nodes);
        Shortage {
            configuration: setup.configuration.clone(),
            databases: setup.cpus * nodes,
            requests: requests(setup) * nodes,
        }
    });
    // What does not fit without them is refused in words of its own.
    let short = needs.filter(|need| need.databases <= machine_cpus && need.databases + need.server() > machine_cpus);
    short.max_by(|a, b| (a.databases + a.server()).total_cmp(&(b.databases + b.server())))
}

/// Volumes that the file wants served, where CPUs are short.
pub(crate) fn beside_databases(experiment: &Experiment, machine_cpus: f64) -> Option<Note> {
    let setups = setups(experiment).setups;
    let served: Vec<Setup> = setups.into_iter().filter(|setup| setup.data.served.is_some()).collect();
    let short = shortage(&served, machine_cpus)?;
    let message = format!("{}: {}", short.configuration, short.reported(machine_cpus));
    let advice = "Volumes are late where CPUs are short (emulation_floor): raise [provider.local] scale, or measure \
                  with volumes = \"throttled\"";
    let note = Note::new("cpus_beside_volume_server", message, advice).only(Provider::Local);
    Some(note.with([("server_cpus", short.server()), ("cpus", short.databases), ("machine_cpus", machine_cpus)]))
}

/// Why volumes that nobody asked to be served, or not to be, are left to the kernel's throttle; `None`: they are
/// served.
pub(crate) fn is_too_much(experiment: &Experiment, machine: &ThisMachine) -> Option<Note> {
    if experiment.place.existing().is_some() {
        return None;
    }
    let (why, advice) = match &machine.cannot_serve {
        Some(why) => (
            why.clone(),
            "Reads and writes have no time of their own then, and leave in slices: state volumes = \"throttled\" in \
             [provider.local] if that is meant",
        ),
        None => {
            let short = shortage(&setups(experiment).setups, machine.cpus)?;
            (
                format!("{}: {}", short.configuration, short.reported(machine.cpus)),
                "Raise [provider.local] scale to have them served; or state volumes = \"throttled\" or \"served\"",
            )
        }
    };
    let message = format!("the kernel's throttle holds the volumes, and no process serves them: {why}");
    Some(Note::new("volumes_throttled", message, advice))
}

/// RAID 0 that this machine cannot make: a run here is refused.
pub(crate) fn no_raid0_here(experiment: &Experiment, machine: &ThisMachine) -> Option<Note> {
    let why = machine.cannot_stripe.as_ref()?;
    let mut all = experiment.configurations.iter();
    let configuration = all.find(|c| matches!(c.data_volume.layout, Some(DataLayout::Raid0 { .. })))?;
    let message = format!("{}: a run on this machine is refused: {why}", configuration.name);
    let advice = "See `iopslab doctor`; or state layout = \"directories\": a data directory on each volume";
    Some(Note::new("raid0_not_here", message, advice))
}
