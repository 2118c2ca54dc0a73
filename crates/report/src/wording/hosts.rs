//! Machines of one configuration that are not alike, and volumes that were to be one.

use analysis::HostFact;
use analysis::rules::several_volumes::SeveralVolumes;
use analysis::rules::unequal_hosts::{DifferenceKind, HostDifference, UnequalHosts};

use super::amounts::Words;
use crate::figures::{GIB, given, listed, number};

pub fn unequal(of: &UnequalHosts) -> Words {
    let differences: Vec<String> = of.differences.iter().map(difference).collect();
    let message = format!("The {} machines of its nodes are not alike: {}.", of.hosts, differences.join("; "));
    let advice = "Measured was what these machines do together; a cluster of others under the same name may do \
                  something else (5 to 25 % apart on one EC2 instance type, Hulen 2010). Use machines of one kind, \
                  with the same kernel and settings, and set their clocks; or look whether the nodes' rows in the \
                  report differ.";
    (message, advice)
}

pub fn several_volumes(of: &SeveralVolumes) -> Words {
    let block = of.blocks.iter().map(|one| format!("block {} on {}: {}", one.block, one.host, one.volumes.join(", ")));
    let message = format!(
        "{} were to share a volume, and had several within a block ({}).",
        listed(&of.configurations),
        block.collect::<Vec<_>>().join("; ")
    );
    let advice = "Machines were made anew between trials of a block. What machines and volumes differ by is part of \
                  the ratios of that block, as it is where each configuration has machines of its own: repeat the \
                  run where that matters.";
    (message, advice)
}

fn difference(of: &HostDifference) -> String {
    let what = match of.fact {
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
    let (most_of, most, least_of, least) = match &of.how {
        DifferenceKind::Amount { most_of, most, least_of, least } => (most_of, *most, least_of, *least),
        DifferenceKind::Words(words) => {
            let each = words.iter().map(|(word, hosts)| {
                let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
                format!("{word} ({})", hosts.join(", "))
            });
            return format!("{what} {}", each.collect::<Vec<_>>().join(" / "));
        }
    };
    match of.fact {
        HostFact::Clock => format!("{most_of}'s clock {:.0} ms ahead of {least_of}'s", most - least),
        HostFact::Memory => {
            format!("{} GiB of memory on {most_of}, {} on {least_of}", number(most / GIB), number(least / GIB))
        }
        _ => format!("{} {what} on {most_of}, {} on {least_of}", given(most), given(least)),
    }
}
