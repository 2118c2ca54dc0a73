//! Machines of one configuration that are not alike.

use analysis::HostFact;

use super::of::Of;
use crate::figures::{given, number};

/// Bytes.
const GIB: f64 = 1_073_741_824.0;

pub fn words(of: &Of<'_>) -> (String, &'static str) {
    let differences: Vec<String> = HostFact::ALL
        .into_iter()
        .filter_map(|fact| difference(of, fact))
        .collect();
    let message = format!(
        "The {:.0} machines of its nodes are not alike: {}.",
        of.number("hosts"),
        differences.join("; ")
    );
    let advice = "Measured was what these machines do together; a cluster of others under the same name may do something else (5 to 25 % apart on one \
                  EC2 instance type, Hulen 2010). Use machines of one kind, with the same kernel and settings, and set their clocks; or look whether \
                  the nodes' rows in the report differ.";
    (message, advice)
}

fn difference(of: &Of<'_>, fact: HostFact) -> Option<String> {
    let told = of.0.fact(fact.name())?;
    let what = match fact {
        HostFact::Processor => "processor",
        HostFact::Microcode => "microcode",
        HostFact::Cpus => "CPUs",
        HostFact::Memory => "memory",
        HostFact::Kernel => "kernel",
        HostFact::HugePages => "transparent huge pages",
        HostFact::ClockSource => "clock source",
        HostFact::Swap => "swap",
        HostFact::Clock => "clock",
    };
    let amounts = of.0.number(&fact.most()).zip(of.0.number(&fact.least()));
    let Some(((most, least), (host_most, host_least))) = amounts.zip(told.split_once(" / ")) else {
        return Some(format!("{what} {told}"));
    };
    Some(match fact {
        HostFact::Clock => format!("{host_most}'s clock {:.0} ms ahead of {host_least}'s", most - least),
        HostFact::Memory => format!(
            "{} GiB of memory on {host_most}, {} on {host_least}",
            number(most / GIB),
            number(least / GIB)
        ),
        _ => format!(
            "{} {what} on {host_most}, {} on {host_least}",
            given(most),
            given(least)
        ),
    })
}
