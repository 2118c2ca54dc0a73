//! `[load] clients`: a number, or `"auto"`, which takes it from the rates and from the machines that will send.

use std::ops::Range;

use catalog::Catalog;
use toml::Value;

use super::aws_machines::DEFAULT_CLIENT;
use crate::judged::{CLIENT_CPU_S, carried_by, highest_rate};
use crate::mistakes::Collector;
use crate::spanned::Spanned;
use crate::{CLIENT_CPU_MAX, ClientCost, LoadLevel, Note, Provider, raw};

/// Most client processes.
const MOST_CLIENTS: u32 = 32;

/// How many clients share each level, and what is known of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clients {
    pub number: u32,
    /// Load threads of each, where its machine is known; else 1.
    pub threads: u32,
    /// What each costs, where it was measured.
    pub cost: Option<ClientCost>,
}

/// Who will send.
pub(super) enum Senders {
    /// Machines of a type that are made as they are needed.
    Made { kind: String, vcpus: u32 },
    /// Machines that the file names at this key, whose CPUs nobody knows yet.
    Named { number: usize, key: &'static str },
    /// Processes of this machine, and what one costs, where it was measured.
    Here(Option<ClientCost>),
    /// A simulation has one client, of as many threads as its truth states.
    Simulated,
}

impl Senders {
    /// Those of an experiment, where this provider carries it out. A type that is not in the catalog is a mistake of
    /// its own, found elsewhere.
    pub fn of(catalog: &Catalog, file: &raw::Experiment, provider: Option<Provider>, here: Option<ClientCost>) -> Self {
        let named = |machines: usize, key| Self::Named { number: machines, key };
        let of_target = file.target.as_ref().and_then(|target| target.client.as_ref());
        let of_hosts = file.provider.hosts.as_ref().map(|hosts| &hosts.client);
        match (provider, of_target, of_hosts) {
            (Some(Provider::Simulated), _, _) => Self::Simulated,
            (Some(Provider::Aws), _, _) => {
                let kind = file.provider.aws.as_ref().and_then(|aws| aws.client.as_ref());
                let kind = kind.map_or(DEFAULT_CLIENT.to_owned(), Spanned::to_string);
                let vcpus = catalog.instance(&kind).map_or(1, |found| found.vcpus);
                Self::Made { kind, vcpus }
            }
            (_, Some(machines), _) => named(machines.len(), "[target] client"),
            (Some(Provider::Hosts), None, Some(machines)) => named(machines.len(), "[provider.hosts] client"),
            _ => Self::Here(here),
        }
    }

    /// Load threads of one client: the engine takes half of its CPUs, and leaves the others to the kernel.
    fn threads(&self) -> u32 {
        match self {
            Self::Made { vcpus, .. } => (vcpus / 2).max(1),
            Self::Here(Some(cost)) => cost.threads,
            _ => 1,
        }
    }

    fn cost(&self) -> Option<ClientCost> {
        match self {
            Self::Here(cost) => *cost,
            _ => None,
        }
    }
}

/// The number of clients, with its arithmetic as a note where the file leaves it open.
pub(super) fn check(
    load: &raw::Load,
    levels: &[LoadLevel],
    (senders, scale): (&Senders, f64),
    mistakes: &mut Collector<'_>,
) -> Option<Clients> {
    let (threads, cost) = (senders.threads(), senders.cost());
    let stated = |number| Clients { number, threads, cost };
    let Some(given) = &load.clients else { return carried(stated(1), load, levels, scale, mistakes) };
    let clients = match given.get_ref() {
        Value::Integer(n) if (1..=i64::from(MOST_CLIENTS)).contains(n) => Some(stated(*n as u32)),
        Value::String(auto) if auto == "auto" => {
            counted(given.span(), load, levels, (senders, scale), mistakes).map(stated)
        }
        other => {
            let help = format!("a whole number from 1 to {MOST_CLIENTS}, or \"auto\"");
            mistakes.refuse(given.span(), format!("clients cannot be {other}"), help)
        }
    };
    carried(clients?, load, levels, scale, mistakes)
}

/// Refuses rates that these clients cannot send, as far as it is known what they can.
fn carried(
    clients: Clients,
    load: &raw::Load,
    levels: &[LoadLevel],
    scale: f64,
    mistakes: &mut Collector<'_>,
) -> Option<Clients> {
    let (Some(cost), Some(rate), Some(most)) = (clients.cost, &load.rate, highest_rate(levels, scale)) else {
        return Some(clients);
    };
    let ceiling = cost.ceiling_per_s() * f64::from(clients.number);
    if most <= ceiling {
        return Some(clients);
    }
    let threads = clients.number * cost.threads;
    let (s, scaled) = (
        if threads == 1 { "" } else { "s" },
        if scale > 1.0 { format!(" (of the model of 1:{scale})") } else { String::new() },
    );
    mistakes.refuse(
        rate.span(),
        format!(
            "{most:.0} operations/s{scaled} are more than this machine's client can send: {threads} load thread{s} of \
             {:.1} us of CPU for each carry {ceiling:.0} at the most (measured by `iopslab doctor`)",
            cost.closed_us
        ),
        "give a lower rate, or send from machines of their own: [provider.hosts] client, [target] client",
    )
}

fn counted(
    at: Range<usize>,
    load: &raw::Load,
    levels: &[LoadLevel],
    (senders, scale): (&Senders, f64),
    mistakes: &mut Collector<'_>,
) -> Option<u32> {
    if !load.concurrency.is_empty() {
        return mistakes.refuse(
            at,
            "clients = \"auto\" takes the number from the rates, and a closed loop states none: how fast it gets is \
             what is measured",
            "state a number of clients, or rate = [N] instead of concurrency",
        );
    }
    if levels.is_empty() && load.rate.as_ref().is_some_and(|rate| rate.is_str()) {
        return mistakes.refuse(
            at,
            "clients = \"auto\" takes the number from the rates, and rate = \"find\" states none",
            "state a number of clients",
        );
    }
    // Without a level there is a mistake already.
    let most = highest_rate(levels, scale)?;
    let cost =
        format!("{most:.0} operations/s x {:.0} us of CPU = {:.1} CPUs", CLIENT_CPU_S * 1e6, most * CLIENT_CPU_S);
    let too_many = |number: f64, what: String, mistakes: &mut Collector<'_>| {
        let is_so = number > f64::from(MOST_CLIENTS);
        if is_so {
            let message = format!("clients = \"auto\" is {number:.0}, and {MOST_CLIENTS} are the most: {what}");
            let help = "give a lower rate, a larger type as [provider.aws] client, or state a number";
            mistakes.add(at.clone(), message, help);
        }
        is_so
    };
    let (number, message) = match senders {
        Senders::Made { kind, vcpus } => {
            let threads = senders.threads();
            let number = (most / carried_by(threads)).ceil().max(1.0);
            let share = CLIENT_CPU_MAX * f64::from(threads);
            let each = format!(
                "a client of {kind} ({vcpus} vCPUs) has {threads} load threads, of which {:.0} % may be busy: \
                 {share:.1} CPUs",
                CLIENT_CPU_MAX * 100.0
            );
            if too_many(number, format!("{cost}; {each}"), mistakes) {
                return None;
            }
            (number as u32, format!("clients = \"auto\" is {number:.0}: {cost}; {each}"))
        }
        Senders::Named { number, key } => {
            if too_many(*number as f64, format!("{key} names so many machines"), mistakes) {
                return None;
            }
            let each = most / (*number).max(1) as f64;
            let message = format!(
                "clients = \"auto\" is {number}, all machines that {key} names: {cost}, and {each:.0} operations/s \
                 from each"
            );
            (u32::try_from(*number).unwrap_or(u32::MAX), message)
        }
        Senders::Here(_) => {
            let message = format!(
                "clients = \"auto\" is 1 on this machine, whose CPUs a second process would have to share: {cost}"
            );
            (1, message)
        }
        Senders::Simulated => (1, "clients = \"auto\" is 1: a simulation has one client".to_owned()),
    };
    let numbers = [("rate", most), ("clients", f64::from(number))];
    let note = Note::new("clients_counted", message, "State a number to have another one");
    mistakes.notes.push(note.with(numbers));
    Some(number)
}
