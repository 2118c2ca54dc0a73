//! Text -> [`Experiment`]: parse, then check everything, and report all mistakes together.

mod aws;
mod aws_backend;
mod aws_machines;
mod aws_sites;
mod aws_snapshot;
mod backlog;
mod basis;
mod behaviour;
mod beside;
mod cache;
mod cassandra_keys;
mod clients;
mod configuration;
mod consistency;
mod data_set_store;
mod disk_fault;
mod effect;
mod existing;
mod explicit_volume;
mod fault;
mod hosts;
mod keys;
mod kinds;
mod load;
mod local;
mod measurable;
mod members;
mod names;
mod numbers;
mod objective;
mod place;
mod placement;
mod settings;
mod table_options;
mod target;
mod variant;
mod watched;
mod workload;

use std::collections::BTreeSet;

use ::workload::{Definition, OperationKind};
use catalog::Catalog;
use toml::Spanned;

use crate::mistakes::{Collector, Mistakes, choice};
use crate::{Configuration, Dataset, Emulation, Experiment, Load, Provider, raw, striping, volume_server};
pub use beside::ParseContext;
use beside::ReadFile;
pub use measurable::refuse_unmeasurable;
use names::{safe_name, unique};
use numbers::Check;

/// Reads an experiment; instances and prices are looked up in `catalog`. `source_name` is shown in mistakes;
/// `read_file` gives the text of a YCSB file that the experiment names (relative to it), since this crate reads nothing
/// itself. What can be planned but not run is a note of the experiment.
///
/// # Errors
/// All mistakes that can be told at once; at least one.
pub fn parse(
    catalog: &Catalog,
    source_name: &str,
    text: &str,
    read_file: ReadFile<'_>,
) -> Result<Experiment, Mistakes> {
    parse_with(catalog, source_name, text, &ParseContext::files(read_file))
}

/// As [`parse`], with all that the experiment may name `beside` it.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(
    catalog: &Catalog,
    source_name: &str,
    text: &str,
    beside: &ParseContext<'_>,
) -> Result<Experiment, Mistakes> {
    read(catalog, source_name, text, beside, None, false)
}

/// As [`parse`], for the plan of a run, with all that it may name `beside` it: what `provider` cannot measure is a
/// mistake too, and the result is the experiment as it carries it out.
///
/// # Errors
/// As [`parse`].
pub fn parse_for(
    catalog: &Catalog,
    source_name: &str,
    text: &str,
    beside: &ParseContext<'_>,
    provider: Provider,
) -> Result<Experiment, Mistakes> {
    let experiment = read(catalog, source_name, text, beside, Some(provider), false)?;
    Ok(experiment.carried_out_by(provider))
}

/// As [`parse_for`], and what only a run needs is a mistake where it is missing: a way to machines that are made.
///
/// # Errors
/// As [`parse`].
pub fn parse_to_run(
    catalog: &Catalog,
    source_name: &str,
    text: &str,
    beside: &ParseContext<'_>,
    provider: Provider,
) -> Result<Experiment, Mistakes> {
    let experiment = read(catalog, source_name, text, beside, Some(provider), true)?;
    Ok(experiment.carried_out_by(provider))
}

fn read(
    catalog: &Catalog,
    source_name: &str,
    text: &str,
    beside: &ParseContext<'_>,
    provider: Option<Provider>,
    is_run: bool,
) -> Result<Experiment, Mistakes> {
    let mut mistakes = Collector::new(source_name, text);
    let Some(mut file) = keys::read(text, &mut mistakes) else {
        return mistakes.finish(None);
    };
    variant::apply(&mut file, &mut mistakes);
    let mut unstated = Emulation::Throttled;
    let is_here = provider.map_or(file.provider.simulated.is_none(), |provider| {
        provider == Provider::Local
    });
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
        experiment.notes = std::mem::take(&mut mistakes.notes);
        experiment.notes.extend(effect::notes(&file, experiment));
        experiment.notes.extend(throttled);
        let striped = machine.and_then(|machine| striping::not_here(experiment, machine));
        experiment.notes.extend(striped);
        if let Some(aws) = experiment
            .aws
            .as_ref()
            .filter(|_| is_run && provider == Some(Provider::Aws))
        {
            aws::reachable(&file, aws, &mut mistakes);
        }
        if provider.is_none() {
            // A plan does not say whose machines will carry it out.
            (experiment.hosts, experiment.aws) = (None, None);
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
    let name = safe_name(&file.name, "experiment", mistakes);
    let target = target::check(file.target.as_ref(), mistakes);
    let dataset = dataset(file.dataset.get_ref(), mistakes);
    let data_set_store = data_set_store::check(file, mistakes);
    let local = local::check(&file.provider.local, unstated, mistakes);
    if file.configuration.is_empty() {
        mistakes.add(
            file.name.span(),
            "the experiment has no [[configuration]]",
            "add at least one",
        );
    }
    if file.workload.is_empty() {
        mistakes.add(
            file.name.span(),
            "the experiment has no [[workload]]",
            "add at least one",
        );
    }
    let mut configurations: Vec<_> = file
        .configuration
        .iter()
        .map(|c| configuration::check(catalog, c, target.as_ref(), &local, mistakes))
        .collect();
    unique(
        file.configuration.iter().map(|c| &c.get_ref().name),
        "configuration",
        mistakes,
    );
    let workloads: Vec<_> = file
        .workload
        .iter()
        .map(|w| workload::check(w, file.dataset.get_ref(), beside.file, mistakes))
        .collect();
    let mut seen = BTreeSet::new();
    for (raw, checked) in file.workload.iter().zip(&workloads) {
        if let Some(w) = checked
            && !seen.insert(w.name.clone())
        {
            mistakes.add(
                raw.span(),
                format!("two workloads are called `{}`", w.name),
                "names must be unique",
            );
        }
    }
    existing::fits(file, &configurations, &workloads, &local, mistakes);
    watched::check(file, &mut configurations, mistakes);
    consistency::reachable(file, target.as_ref(), &configurations, &workloads, mistakes);
    let all: Option<Vec<Definition>> = workloads.iter().cloned().collect();
    let objective = objective::objective(file.objective.as_ref(), all.as_deref(), mistakes);
    let states = cache::states(file, mistakes);
    let ratios = cache::ratios(file, (dataset.as_ref(), &configurations, &local), provider, mistakes);
    let divided = all
        .zip(states.zip(ratios))
        .map(|(all, (states, ratios))| cache::divided(all, (&states, &ratios), file, mistakes));
    let decision = objective::decision(file.decision.as_ref(), mistakes);
    let senders = clients::Senders::of(catalog, file, provider, beside.client);
    let load = load::check(&file.load, (&senders, local.scale), mistakes);
    if let (Some(Load { find: Some(_), .. }), Some(at)) = (&load, &file.load.get_ref().rate) {
        let has_bound = objective.as_ref().is_some_and(|o| !o.latency.is_empty());
        if file.objective.is_none() || (objective.is_some() && !has_bound) {
            mistakes.add(
                at.span(),
                "rate = \"find\" looks for the highest rate that meets a bound on latency, and none is stated",
                "for example [objective] with p99_ms = 10",
            );
        }
        if let Some(fault) = file.fault.first() {
            mistakes.add(
                fault.span(),
                "[[fault]]: rate = \"find\" looks for what is carried without one",
                "remove it, or give rate = [N]",
            );
        }
    }
    if let Some(auto) = &file.load.get_ref().warmup {
        let inserts = |w: &&Definition| w.mix.share(OperationKind::Insert) > 0.0;
        if let Some(w) = workloads.iter().flatten().find(inserts) {
            mistakes.add(
                auto.span(),
                format!(
                    "warmup = \"auto\" waits for rest, and `{}` inserts: its throughput never comes to rest",
                    w.name
                ),
                "give warmup_s in seconds",
            );
        }
    }
    if let Some(baseline) = &file.baseline {
        let names: Vec<_> = file
            .configuration
            .iter()
            .map(|c| c.get_ref().name.get_ref().as_str())
            .collect();
        if !names.contains(&baseline.get_ref().as_str()) {
            let message = format!("baseline `{}` is no configuration", baseline.get_ref());
            mistakes.add(baseline.span(), message, choice(baseline.get_ref(), &names));
        }
    }
    backlog::fits(
        file,
        (dataset.as_ref(), &local),
        load.as_ref(),
        &configurations,
        mistakes,
    );
    let faults = fault::check(file, &configurations, load.as_ref(), local.volumes, mistakes);
    let simulated = file.provider.simulated.as_ref().map(|truth| {
        truth_checked(truth, file, mistakes);
        variant::with_effects(truth.get_ref(), file)
    });
    let hosts = file.provider.hosts.as_ref().map(|given| hosts::check(given, mistakes));
    let aws = on_aws(file, provider, mistakes);
    let configurations: Vec<Configuration> = configurations.into_iter().collect::<Option<_>>()?;
    let (workloads, caches) = divided?;
    let basis = basis::check(catalog, file.basis.as_ref(), mistakes);
    let mut experiment = Experiment {
        name: name?,
        question: file.question.clone(),
        baseline: file.baseline.as_ref().map(|b| b.get_ref().clone()),
        target: target?,
        dataset: dataset?,
        data_set_store: data_set_store?,
        money: crate::pricing::of_configurations(catalog, &configurations, &basis),
        configurations,
        workloads,
        caches,
        load: load?,
        faults: faults?,
        objective,
        decision,
        basis,
        local,
        simulated,
        hosts: match hosts {
            Some(checked) => Some(checked?),
            None => None,
        },
        aws: match aws {
            Some(checked) => Some(checked?),
            None => None,
        },
        notes: Vec::new(),
    };
    if provider == Some(Provider::Aws)
        && let Some(mut aws) = experiment.aws.take()
    {
        aws_machines::place(catalog, file, &mut aws, &experiment, beside.quotas, mistakes);
        experiment.aws = Some(aws);
    }
    let is_free = |m: &&crate::ConfigurationMoney| m.usd_per_month.is_none();
    if let Some(budget) = &file.load.get_ref().budget_usd
        && let Some(free) = experiment.money.configurations.iter().find(is_free)
    {
        let why = free.missing.clone().unwrap_or_default();
        mistakes.add(
            budget.span(),
            format!(
                "budget_usd needs a price for every configuration, `{}` has none",
                free.configuration
            ),
            why,
        );
    }
    Some(experiment)
}

/// `[provider.aws]`, which says nothing that is not a default where AWS is to carry the experiment out without it.
fn on_aws(
    file: &raw::Experiment,
    provider: Option<Provider>,
    mistakes: &mut Collector<'_>,
) -> Option<Option<crate::AwsSettings>> {
    match &file.provider.aws {
        Some(given) => Some(aws::check(given.get_ref(), mistakes)),
        None if provider == Some(Provider::Aws) => Some(aws::check(&raw::Aws::default(), mistakes)),
        None => None,
    }
}

/// Figures that are possible, names that exist.
fn truth_checked(truth: &Spanned<crate::Truth>, file: &raw::Experiment, mistakes: &mut Collector<'_>) {
    if let Some(problem) = truth.get_ref().problem() {
        mistakes.add(
            truth.span(),
            problem,
            "see [provider.simulated] in the schema: iopslab schema",
        );
    }
    let names: Vec<_> = file
        .configuration
        .iter()
        .map(|c| c.get_ref().name.get_ref().as_str())
        .collect();
    let named = truth.get_ref().fault.iter().filter_map(|f| f.configuration.as_ref());
    for name in truth.get_ref().speed.keys().chain(named) {
        if !names.contains(&name.as_str()) {
            mistakes.add(
                truth.span(),
                format!("`{name}` is no configuration"),
                choice(name, &names),
            );
        }
    }
    let variants = file.variant.iter().map(|v| v.get_ref().name.get_ref().as_str());
    let with_settings = file
        .configuration
        .iter()
        .map(Spanned::get_ref)
        .filter(|c| c.settings.is_some());
    let known: Vec<&str> = variants
        .chain(with_settings.map(|c| c.name.get_ref().as_str()))
        .collect();
    for name in truth.get_ref().settings.keys() {
        if !known.contains(&name.as_str()) {
            mistakes.add(
                truth.span(),
                format!("settings of [provider.simulated]: `{name}` is no variant, and no configuration with settings"),
                choice(name, &known),
            );
        }
    }
}

fn dataset(dataset: &raw::Dataset, mistakes: &mut Collector<'_>) -> Option<Dataset> {
    let records = mistakes.integer(Some(&dataset.records), "records", 1, 1_000_000_000_000, 1);
    let fields = mistakes.integer(dataset.fields.as_ref(), "fields", 1, 1_000, 10);
    let field_length = mistakes.integer(dataset.field_length.as_ref(), "field_length", 1, 1 << 20, 100);
    let compressibility = mistakes.number(dataset.compressibility.as_ref(), "compressibility", 0.0..=1.0, 0.0);
    let seed = mistakes.integer(dataset.seed.as_ref(), "seed", 0, i64::MAX, 1);
    Some(Dataset {
        records: records? as u64,
        fields: fields? as u32,
        field_length: field_length? as u32,
        compressibility: compressibility?,
        seed: seed? as u64,
    })
}
