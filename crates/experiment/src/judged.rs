//! What the analysis needs at the least, by its own bounds: reported before anything runs, where a plan has less.

use crate::{ClientCost, Load, LoadLevel, Note, Objective, Truth};

/// Measured seconds below which no trial can be judged for a steady state.
pub(crate) const JUDGED_FROM_S: f64 = stats::JUDGED_FROM as f64;
/// Half as much again: seconds resemble their neighbours, and then the least is not enough.
pub(crate) const ROOMY_S: f64 = 1.5 * JUDGED_FROM_S;
/// Trials of a cell below which nothing is tested.
pub(crate) const REPETITIONS_MIN: u32 = stats::REPETITIONS_MIN as u32;

/// CPU seconds that an open loop costs its client for each operation, at 5,000 operations/s, where each request wakes a
/// thread by itself; less at higher rates (measured with the CQL driver on loopback, docs/performance.md).
pub(crate) const CLIENT_CPU_S: f64 = 40e-6;
/// Client CPU above this share of its load threads: it measures itself.
pub const CLIENT_CPU_MAX: f64 = 0.8;

/// What a run of this load at 1:`scale` would measure, and the analysis not judge; in a simulation, of this `truth`.
pub(crate) fn notes(load: &Load, scale: f64, truth: Option<&Truth>) -> Vec<Note> {
    let notes = [trials(load), repetitions(load), clients(load, scale, truth)];
    notes.into_iter().flatten().collect()
}

/// Operations per second that a client with so many load threads carries at the least.
pub(crate) fn carried_by(threads: u32) -> f64 {
    f64::from(threads) * CLIENT_CPU_MAX / CLIENT_CPU_S
}

/// The highest rate that is offered, on the machine that is measured: of a 1:`scale` model.
pub(crate) fn highest_rate(levels: &[LoadLevel], scale: f64) -> Option<f64> {
    let rates = levels.iter().filter_map(|level| match level {
        LoadLevel::Rate { operations_per_s, .. } => Some(*operations_per_s / scale),
        LoadLevel::Concurrency(_) => None,
    });
    rates.reduce(f64::max)
}

/// Given rates alone, of which none shows that a demand is carried: one that is held is the least of a capacity.
pub(crate) fn rates_below_demand(load: &Load, objective: Option<&Objective>) -> Option<Note> {
    let (needed, offer) = (objective?.capacity_needed()?, objective?.rate_to_offer()?);
    let is_rate = |level: &LoadLevel| matches!(level, LoadLevel::Rate { .. });
    if load.find.is_some() || !load.levels.iter().all(is_rate) {
        return None;
    }
    let most = highest_rate(&load.levels, 1.0)?;
    (most < needed).then(|| {
        let message = format!(
            "no rate shows that the demand is carried with headroom: {most:.0}/s is the highest, and demand / (1 - \
             headroom) is {needed:.0}/s"
        );
        let advice = format!(
            "Set [load] rate = [{offer:.0}] or more, rate = \"find\", or a concurrency; of one that holds a lower \
             rate it is not decided whether it carries the demand"
        );
        Note::new("rates_below_demand", message, advice).with([("rate", most), ("needed", needed)])
    })
}

/// A rate that takes more clients than are stated.
fn clients(load: &Load, scale: f64, truth: Option<&Truth>) -> Option<Note> {
    let most = highest_rate(&load.levels, scale)?;
    if let Some(truth) = truth {
        return simulated_client(most, truth);
    }
    if let Some(cost) = load.client_cost {
        return measured_clients(load, most, cost);
    }
    let carried = carried_by(load.client_threads);
    let needed = (most / carried).ceil();
    (needed > f64::from(load.clients)).then(|| {
        let message = format!(
            "{most:.0} operations/s cost the clients about {:.1} CPUs ({:.0} us an operation, less at high rates): one \
             client carries {carried:.0} or more",
            most * CLIENT_CPU_S,
            CLIENT_CPU_S * 1e6
        );
        let advice = format!("Set [load] clients = {needed}, if the report finds the client saturated");
        let numbers = [("rate", most), ("clients_needed", needed)];
        Note::new("clients_too_few", message, advice).with(numbers)
    })
}

/// A rate that takes more than the client of a simulation has.
fn simulated_client(rate: f64, truth: &Truth) -> Option<Note> {
    let of_thread = CLIENT_CPU_MAX * 1e6 / truth.client_cpu_us;
    let carried = of_thread * f64::from(truth.client_threads);
    (rate > carried).then(|| {
        let message = format!(
            "{rate:.0} operations/s are more than the simulated client carries with time to spare, {carried:.0}: \
             [provider.simulated] client_threads = {}, client_cpu_us = {}",
            truth.client_threads, truth.client_cpu_us
        );
        let needed = (rate / of_thread).ceil();
        let advice = format!("Set [provider.simulated] client_threads = {needed}, or a lower rate");
        Note::new("simulated_client", message, advice).with([("rate", rate), ("threads_needed", needed)])
    })
}

/// The same where it was measured what a client costs.
fn measured_clients(load: &Load, rate: f64, cost: ClientCost) -> Option<Note> {
    let clients = f64::from(load.clients);
    let cpus = cost.cpus_at(rate / clients) * clients;
    let threads = clients * f64::from(cost.threads);
    (cpus > CLIENT_CPU_MAX * threads).then(|| {
        let message = format!(
            "{rate:.0} operations/s cost the client up to {cpus:.1} CPUs of {threads:.0} load thread{}, as measured on \
             this machine (`iopslab doctor`): above {:.0} % it measures itself",
            if threads > 1.0 { "s" } else { "" },
            CLIENT_CPU_MAX * 100.0
        );
        let advice = "Send from machines of their own, if the report finds the client saturated";
        Note::new("clients_too_few", message, advice).with([("rate", rate), ("cpus", cpus)])
    })
}

fn trials(load: &Load) -> Option<Note> {
    let duration_s = load.shape.duration_s;
    (duration_s < JUDGED_FROM_S).then(|| {
        let message = format!(
            "trials of {duration_s} s are too short to distinguish a steady state from a passing one, which takes at \
             least {JUDGED_FROM_S} s"
        );
        let advice =
            format!("Set [load] duration_s = {ROOMY_S}; shorter trials count all the same, and the report doubts them");
        let numbers = [("duration_s", duration_s), ("needed_s", JUDGED_FROM_S)];
        Note::new("trials_too_short", message, advice).with(numbers)
    })
}

fn repetitions(load: &Load) -> Option<Note> {
    let most = load.repetitions;
    (most < REPETITIONS_MIN).then(|| {
        let key = if load.adaptive.is_some() { "max_repetitions" } else { "repetitions" };
        let message = format!(
            "{key} = {most}: figures without intervals, and no difference can be tested: {REPETITIONS_MIN} are the \
             least"
        );
        let advice = format!("Set {key} = {REPETITIONS_MIN} or more");
        let numbers = [("repetitions", f64::from(most)), ("needed", f64::from(REPETITIONS_MIN))];
        Note::new("repetitions_too_few", message, advice).with(numbers)
    })
}
