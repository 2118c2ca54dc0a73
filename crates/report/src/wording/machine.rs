//! Did the machine itself stay out of the way?

use analysis::rules::clients_apart::ClientsApart;
use analysis::rules::clock_drift::ClockDrift;
use analysis::rules::cpu_steal::CpuSteal;
use analysis::rules::cpu_throttled::CpuThrottled;
use analysis::rules::network_retransmits::NetworkRetransmits;
use analysis::rules::other_work::OtherWork;

use super::amounts::{Words, percent};
use crate::figures::when;

pub fn clock_drift(of: &ClockDrift) -> Words {
    (
        format!("The clock of {} moved by {:.0} ms against the controller's during the trial.", of.host, of.drift_ms),
        "Its samples are up to half of that off in time. Look for a clock that is being set (chrony, ntpd, a suspended \
         machine).",
    )
}

pub fn clients_apart(of: &ClientsApart) -> Words {
    (
        format!("The {} clients that share the load began {:.0} ms apart.", of.clients, of.apart_ms),
        "Their seconds are not the same seconds. Look for a client host that was slow to connect, or whose clock was \
         set.",
    )
}

pub fn steal(of: &CpuSteal) -> Words {
    (
        format!(
            "The hypervisor took {} of the host's CPU time ({} in the worst 10 s).",
            percent(of.steal_share),
            percent(of.steal_share_worst_10_s)
        ),
        "The hypervisor gave this CPU time to others. Compare this trial with its repetitions; use dedicated or larger \
         instances where it recurs.",
    )
}

pub fn throttled(of: &CpuThrottled) -> Words {
    (
        format!(
            "A CPU quota that nobody asked for held the database back in {} of its periods.",
            percent(of.throttled_periods_share)
        ),
        "Look for a CPU limit on the service, container or slice in which this runs.",
    )
}

pub fn other_work(of: &OtherWork) -> Words {
    let each = of.programs.iter().map(|program| format!("{} {:.2}", program.name, program.cpus));
    let programs = when(!of.programs.is_empty(), || format!(" ({})", each.collect::<Vec<_>>().join(", ")));
    (
        format!(
            "Programs that are no part of the run used {:.2} CPUs of the database's host{}.",
            of.other_cpus, programs
        ),
        "They take CPU time, memory bandwidth and shared caches, so that an operation costs more. Stop them, or \
         measure at another hour.",
    )
}

pub fn retransmits(of: &NetworkRetransmits) -> Words {
    (
        format!("{:.2} TCP segments were sent again for each megabyte sent.", of.retransmits_per_mb),
        "The counter is that of the whole machine. Where client and database share it they talk over loopback, which \
         loses nothing: other programs sent these, or the CPUs were too busy to answer in time. Between machines: look \
         at the instance's network allowance before judging its storage.",
    )
}
