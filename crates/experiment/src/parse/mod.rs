//! Text -> [`Experiment`]: parse, then check everything, and report all mistakes together.

mod aws;
mod aws_backend;
mod aws_machines;
mod aws_pairs;
mod aws_sites;
mod aws_snapshot;
mod backlog;
mod basis;
mod behaviour;
mod beside;
mod cache;
mod cache_tier;
mod carried_out;
mod clients;
mod configuration;
mod consistency;
mod data_set_store;
mod disk_fault;
mod effect;
mod existing;
mod existing_room;
mod explicit_volume;
mod fault;
mod hosts;
mod inline;
mod keys;
mod kinds;
mod load;
mod local;
mod log_space;
mod measurable;
mod members;
mod memory;
mod nothing_for;
mod objective;
mod of_instance;
mod only;
mod own;
mod own_data;
mod own_values;
mod placement;
mod replay;
mod settings;
mod snapshot;
mod stress;
mod target;
mod truth;
mod values;
mod variant;
mod watched;
mod workload;

use ::workload::Definition;
use catalog::Catalog;

use crate::mistakes::{Collector, Mistakes};
use crate::spanned::place;
use crate::{
    Configuration, Dataset, Emulation, Experiment, Money, Objective, PRODUCTS, Place, Provider, raw, volume_server,
};
pub use beside::ParseContext;
pub use keys::plain_words;
pub use measurable::refuse_unmeasurable;

/// What an experiment is read for.
#[derive(Debug, Clone, Copy)]
pub enum ReadFor {
    /// Whoever may carry it out: what can be planned but not run is a note of the experiment.
    Anybody,
    /// To show what a run by this provider would do: what it cannot measure is a mistake too, and the result is the
    /// experiment as it carries it out.
    PlanOf(Provider),
    /// A run by this provider: what only a run needs is a mistake too where it is missing, a way to machines that are
    /// made.
    Run(Provider),
}

/// Reads an experiment; instances and prices are looked up in `catalog`. `source_name` is shown in mistakes; this crate
/// reads nothing itself, so that what the experiment may name is `beside` it. Errors: all mistakes that can be found at
/// once; at least one.
pub fn parse(
    catalog: &Catalog,
    source_name: &str,
    text: &str,
    beside: &ParseContext<'_>,
    purpose: ReadFor,
) -> Result<Experiment, Mistakes> {
    let (provider, is_run) = match purpose {
        ReadFor::Anybody => (None, false),
        ReadFor::PlanOf(provider) => (Some(provider), false),
        ReadFor::Run(provider) => (Some(provider), true),
    };
    let mut mistakes = Collector::new(source_name, text);
    let Some(mut file) = keys::read(text, &mut mistakes) else { return mistakes.finish(None) };
    variant::apply(&mut file, &mut mistakes);
    let mut unstated = Emulation::Throttled;
    let is_here = carried_out::provider(&file, provider) == Provider::Local;
    let machine = beside.machine.as_ref().filter(|_| is_here);
    let mut throttled = None;
    if let Some(machine) = machine.filter(|_| file.provider.local.volumes.is_none()) {
        // Whether they fit is known once everything else is.
        let mut tried = Collector::new(source_name, text);
        unstated = Emulation::Served;
        let experiment = check(catalog, &file, beside, (provider, unstated), &mut tried);
        throttled = experiment.and_then(|experiment| volume_server::is_too_much(&experiment, machine));
        if throttled.is_some() {
            unstated = Emulation::Throttled;
        }
    }
    let mut experiment = check(catalog, &file, beside, (provider, unstated), &mut mistakes);
    measurable::check(&file, provider, &mut mistakes);
    if let Some(experiment) = &mut experiment {
        measurable::credits(&file, experiment, (provider, machine.is_some()), &mut mistakes);
        log_space::beside_data(&file, experiment, &mut mistakes);
        existing_room::check(&file, experiment, &mut mistakes);
        experiment.notes = std::mem::take(&mut mistakes.notes);
        experiment.notes.extend(effect::notes(&file, experiment));
        experiment.notes.extend(throttled);
        let striped = machine.and_then(|machine| volume_server::no_raid0_here(experiment, machine));
        experiment.notes.extend(striped);
        if let Some(aws) = experiment.place.aws().filter(|_| is_run) {
            aws::reachable(&file, aws, &mut mistakes);
        }
    }
    mistakes.finish(experiment)
}

fn check(
    catalog: &Catalog,
    file: &raw::Experiment,
    beside: &ParseContext<'_>,
    (provider, unstated): (Option<Provider>, Emulation),
    mistakes: &mut Collector<'_>,
) -> Option<Experiment> {
    let name = mistakes.safe_name(&file.name, "experiment");
    let (target, existing) = target::check(file.target.as_ref(), mistakes).unzip();
    let product = target.as_ref().map_or(PRODUCTS[0], |target: &crate::Target| target.database.product());
    nothing_for::check(file, product, mistakes);
    let of_ycsb = mistakes.sound(|mistakes| dataset(file, mistakes));
    let stands_for_records = stands_for_records(file, mistakes);
    let data_set_store = data_set_store::check(file, mistakes);
    let local = local::check(&file.provider.local, unstated, mistakes);
    let model = carried_out::model(file, provider, &local);
    at_least_one(file, mistakes);
    let each = file.configuration.iter();
    let mut configurations: Vec<_> =
        each.map(|c| configuration::check(catalog, c, target.as_ref(), (&local, model.scale), mistakes)).collect();
    let names = file.configuration.iter().map(|c| (c.name.span(), c.name.as_str()));
    mistakes.unique(names, "configuration");
    own::fits(file, mistakes);
    let mut common: own::Common = None;
    replay::fits(file, mistakes);
    let each = file.workload.iter().map(|w| match (w.own(), &of_ycsb) {
        (_, Some(of_ycsb)) if w.replay.is_some() => {
            let workload = (w, file.workload.as_slice());
            replay::check(workload, of_ycsb.seed, &mut common, beside, mistakes)
        }
        (Some(stated), Some(of_ycsb)) => {
            let workload = (w, file.workload.as_slice());
            own::check(workload, (stated, of_ycsb.seed), &mut common, beside.file, mistakes)
        }
        (Some(_), None) => None,
        (None, _) => workload::check(w, &file.dataset, beside.file, mistakes),
    });
    let workloads: Vec<_> = each.collect();
    let mut own = common.flatten();
    snapshot::check(file, own.as_mut(), model.scale, beside.snapshot, mistakes);
    let dataset = of_ycsb.map(|of_ycsb| own.as_ref().map_or(of_ycsb, Dataset::of_own));
    let names = file.workload.iter().zip(&workloads);
    let names = names.filter_map(|(raw, checked)| Some((raw.span(), checked.as_ref()?.name.as_str())));
    mistakes.unique(names, "workload");
    existing::fits((file, product), &configurations, &workloads, beside.there, mistakes);
    log_space::of_one_kind(file, &configurations, (product.checkpoints.as_ref(), model.scale), mistakes);
    cache_tier::fits(file, (dataset.as_ref(), model.scale), &configurations, &workloads, mistakes);
    watched::check(file, &mut configurations, mistakes);
    consistency::reachable(file, target.as_ref(), &configurations, &workloads, mistakes);
    if let Some(own) = &own {
        consistency::reachable_by_own(own, &configurations, beside.file, mistakes);
        own_data::indexes_of_versions(own, (target.as_ref(), &configurations), beside.file, mistakes);
    }
    let all: Option<Vec<Definition>> = workloads.iter().cloned().collect();
    let objective = objective::objective(file.objective.as_ref(), all.as_deref(), mistakes);
    let states = cache::states(file, mistakes);
    let ratios = cache::ratios(file, (dataset.as_ref(), &configurations, model.scale), provider, mistakes);
    let divided = all
        .zip(states.zip(ratios))
        .map(|(all, (states, ratios))| cache::divided(all, (&states, &ratios), file, mistakes));
    let decision = objective::decision(file.decision.as_ref(), mistakes);
    let senders = clients::Senders::of(catalog, file, provider, beside.client);
    let replays = file.workload.iter().any(|workload| workload.replay.is_some());
    let replayed = replays.then(|| workloads.iter().flatten().find_map(|workload| workload.replayed.as_ref()));
    let load = load::check(&file.load, replayed, (&senders, model.scale), product, mistakes);
    if load.as_ref().is_some_and(|load| load.find.is_some()) {
        rates_to_find(file, objective.as_ref(), mistakes);
    }
    warms_up_to_rest(file, &workloads, mistakes);
    if let Some(baseline) = &file.baseline {
        truth::is_configuration(file, baseline.span(), "baseline ", baseline, mistakes);
    }
    if let Some(rules) = &product.backlog {
        backlog::fits(file, rules, (dataset.as_ref(), model.scale), load.as_ref(), &configurations, mistakes);
    }
    let faults = fault::check(file, &configurations, load.as_ref(), local.volumes, mistakes);
    let (patience, heap_bytes) = (local.patience, local.heap_bytes);
    let place = carried_out::place(file, provider, existing.flatten(), (local, model), mistakes);
    let basis = basis::check(catalog, file.basis.as_ref(), mistakes);
    let configurations: Vec<Configuration> = configurations.into_iter().collect::<Option<_>>()?;
    let money = crate::pricing::of_configurations(catalog, &configurations, &basis);
    has_prices(file, &money, mistakes);
    let (workloads, caches) = divided?;
    let mut experiment = Experiment {
        name: name?,
        question: file.question.clone(),
        baseline: file.baseline.as_deref().cloned(),
        target: target?,
        dataset: dataset?,
        stands_for_records,
        own,
        data_set_store: data_set_store?,
        money,
        configurations,
        workloads,
        caches,
        load: load?,
        left_out: None,
        faults: faults?,
        objective,
        decision,
        basis,
        place,
        heap_bytes,
        patience,
        notes: Vec::new(),
    };
    carried_out::adapt(&mut experiment, provider);
    aws_pairs::are_some(file, &experiment, mistakes);
    only::keep(file, &mut experiment, mistakes);
    if let Some(mut aws) = experiment.place.aws().cloned() {
        aws_machines::place(catalog, file, &mut aws, &experiment, beside.quotas, mistakes);
        experiment.place = Place::Bought(aws);
        aws_pairs::fit(file, &experiment, mistakes);
    }
    Some(experiment)
}

fn at_least_one(file: &raw::Experiment, mistakes: &mut Collector<'_>) {
    for (key, is_empty) in [("configuration", file.configuration.is_empty()), ("workload", file.workload.is_empty())] {
        if is_empty {
            let message = format!("the experiment has no [[{key}]]");
            mistakes.add(file.name.span(), message, "add at least one");
        }
    }
}

/// What `rate = "find"` needs, and what does not go with it.
fn rates_to_find(file: &raw::Experiment, objective: Option<&Objective>, mistakes: &mut Collector<'_>) {
    let has_bound = objective.is_some_and(|o| !o.latency.is_empty());
    if let Some(at) = place(&file.load.rate).filter(|_| file.objective.is_none() || (objective.is_some() && !has_bound))
    {
        mistakes.add(
            at,
            "rate = \"find\" looks for the highest rate that meets a bound on latency, and none is stated",
            "for example [objective] with p99_ms = 10",
        );
    }
    if let Some(fault) = file.fault.first() {
        let message = "[[fault]]: rate = \"find\" looks for what is carried without one";
        mistakes.add(fault.span(), message, "remove it, or give rate = [N]");
    }
}

fn warms_up_to_rest(file: &raw::Experiment, workloads: &[Option<Definition>], mistakes: &mut Collector<'_>) {
    let inserts = |w: &&Definition| w.kinds().any(|kind| w.grows(kind));
    if let (Some(at), Some(w)) = (place(&file.load.warmup), workloads.iter().flatten().find(inserts)) {
        let message = format!("warmup = \"auto\": `{}` inserts, so that its throughput never stabilises", w.name);
        mistakes.add(at, message, "give warmup_s in seconds");
    }
}

/// A budget in USD needs to know what trials cost, and so does who weighs that against a wrong choice, by throughput
/// for money.
fn has_prices(file: &raw::Experiment, money: &Money, mistakes: &mut Collector<'_>) {
    let free = money.configurations.iter().find(|m| m.usd_per_month.is_none());
    let horizon = place(&file.load.horizon_months);
    let keys = [("budget_usd", place(&file.load.budget_usd)), ("horizon_months", horizon.clone())];
    for (key, at) in keys {
        if let (Some(at), Some(free)) = (at, free) {
            let message = format!("{key} needs a price for every configuration, `{}` has none", free.configuration);
            mistakes.add(at, message, free.missing.clone().unwrap_or_default());
        }
    }
    let is_replayed = file.workload.iter().any(|workload| workload.replay.is_some());
    let other =
        [("[objective]", file.objective.is_some()), ("rate", file.load.rate.is_some()), ("replay", is_replayed)];
    if let (Some(at), Some((key, _))) = (horizon, other.into_iter().find(|(_, is_stated)| *is_stated)) {
        let message = format!("horizon_months weighs throughput for money, and with {key} something else decides");
        mistakes.add(at, message, "remove it");
    }
}

/// YCSB's records; where the statements are the user's own only the seed holds.
fn dataset(file: &raw::Experiment, mistakes: &mut Collector<'_>) -> Dataset {
    let given = &file.dataset;
    if given.records.is_none()
        && file.workload.iter().all(|workload| workload.own().is_none() && workload.replay.is_none())
    {
        // Without a place it is not stated at all.
        let (missing, help) = if given.span() == (0..0) { ("dataset", keys::WHOLE_ONE) } else { ("records", "") };
        mistakes.add(given.span(), format!("the key `{missing}` is missing"), help);
    }
    Dataset {
        records: mistakes.integer(&given.records, "records", 1..=1_000_000_000_000, 1) as u64,
        fields: mistakes.integer(&given.fields, "fields", 1..=1_000, 10) as u32,
        field_length: mistakes.integer(&given.field_length, "field_length", 1..=1 << 20, 100) as u32,
        compressibility: mistakes.number(&given.compressibility, "compressibility", 0.0..=1.0, 0.0),
        seed: mistakes.integer(&given.seed, "seed", 0..=i64::MAX, 1) as u64,
    }
}

/// Records of the real data set, where the one that is measured stands for more.
fn stands_for_records(file: &raw::Experiment, mistakes: &mut Collector<'_>) -> Option<u64> {
    let given = file.dataset.stands_for_records.as_ref()?;
    let records = mistakes.stated_integer(given, "stands_for_records", 1..=1_000_000_000_000)?;
    if let Some(measured) = file.dataset.records.as_ref().filter(|measured| ***measured > records) {
        let message = format!("stands_for_records = {records} is less than records = {measured}");
        mistakes.add(given.span(), message, "state how many the real data set has, or remove it");
    }
    Some(records as u64)
}
