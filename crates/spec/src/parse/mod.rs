//! Text -> [`Experiment`]: parse, then check everything, and report all mistakes together.

mod basis;
mod configuration;
mod numbers;
mod workload;

use std::collections::BTreeSet;

use catalog::Catalog;
use toml::Spanned;

use crate::mistakes::{Collector, Mistakes, choice};
use crate::{
    Adaptive, Configuration, Consistency, Database, Dataset, Experiment, Load, LoadLevel, LocalSettings, OperationKind,
    Target, raw,
};
use numbers::Check;

/// Most requests in flight: a CQL connection has 32,768 stream ids, and one connection per load thread is used.
const MOST_CONCURRENCY: i64 = 30_000;

/// Reads an experiment; instances and prices are looked up in `catalog`. `source_name` is shown in mistakes; `read_file` gives the text of a YCSB file that the experiment
/// names (relative to it), since this crate reads nothing itself.
///
/// # Errors
/// All mistakes that can be told at once; at least one.
pub fn parse(
    catalog: &Catalog,
    source_name: &str,
    text: &str,
    read_file: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Experiment, Mistakes> {
    let mut mistakes = Collector::new(source_name, text);
    let file: raw::Experiment = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let (message, help) = explain(error.message());
            mistakes.add(span, message, help);
            return mistakes.finish(None);
        }
    };
    let experiment = check(catalog, &file, read_file, &mut mistakes);
    mistakes.finish(experiment)
}

/// Serde's message, with the nearest name where it names a choice.
fn explain(message: &str) -> (String, String) {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let (true, Some((given, valid))) = (message.starts_with("unknown field"), quoted.split_first()) {
        return (format!("unknown key `{given}`"), choice(given, valid));
    }
    if let (true, Some(missing)) = (message.starts_with("missing field"), quoted.first()) {
        return (format!("the key `{missing}` is missing"), String::new());
    }
    (message.to_owned(), String::new())
}

fn check(
    catalog: &Catalog,
    file: &raw::Experiment,
    read_file: &dyn Fn(&str) -> Result<String, String>,
    mistakes: &mut Collector<'_>,
) -> Option<Experiment> {
    let name = safe_name(&file.name, "experiment", mistakes);
    let target = target(file.target.as_ref(), mistakes);
    let dataset = dataset(file.dataset.get_ref(), mistakes);
    let local = local(&file.provider.local, mistakes);
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
    let configurations: Vec<_> = file
        .configuration
        .iter()
        .map(|c| configuration::check(catalog, c, &local, mistakes))
        .collect();
    unique(
        file.configuration.iter().map(|c| &c.get_ref().name),
        "configuration",
        mistakes,
    );
    let workloads: Vec<_> = file
        .workload
        .iter()
        .map(|w| workload::check(w, file.dataset.get_ref(), read_file, mistakes))
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
    let load = load(&file.load, mistakes);
    if let Some(auto) = &file.load.get_ref().warmup {
        let inserts = |w: &&crate::Definition| w.mix.share(OperationKind::Insert) > 0.0;
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
    let simulated = file.provider.simulated.as_ref().map(|truth| {
        truth_checked(truth, file, mistakes);
        truth.get_ref().clone()
    });
    let configurations: Vec<Configuration> = configurations.into_iter().collect::<Option<_>>()?;
    let basis = basis::check(catalog, file.basis.as_ref(), mistakes);
    let experiment = Experiment {
        name: name?,
        question: file.question.clone(),
        baseline: file.baseline.as_ref().map(|b| b.get_ref().clone()),
        target: target?,
        dataset: dataset?,
        money: crate::money::of_configurations(catalog, &configurations, &basis),
        configurations,
        workloads: workloads.into_iter().collect::<Option<_>>()?,
        load: load?,
        objective: None,
        decision: crate::DecisionRules::default(),
        basis,
        local,
        simulated,
    };
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
}

/// A name that becomes part of file names.
fn safe_name(name: &Spanned<String>, of: &str, mistakes: &mut Collector<'_>) -> Option<String> {
    let text = name.get_ref();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || (of != "configuration" && c == '.');
    if text.is_empty() || text.len() > 64 || text.starts_with('.') || !text.chars().all(allowed) {
        let help = "1 to 64 letters, digits, - and _; it becomes part of file names";
        mistakes.add(name.span(), format!("`{text}` cannot be the name of the {of}"), help);
        return None;
    }
    Some(text.clone())
}

fn unique<'n>(names: impl Iterator<Item = &'n Spanned<String>>, of: &str, mistakes: &mut Collector<'_>) {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name.get_ref()) {
            let message = format!("two {of}s are called `{}`", name.get_ref());
            mistakes.add(name.span(), message, "names must be unique");
        }
    }
}

fn target(target: Option<&Spanned<raw::Target>>, mistakes: &mut Collector<'_>) -> Option<Target> {
    let default_version = || Database::Cassandra {
        version: DEFAULT_VERSION.to_owned(),
    };
    let Some(spanned) = target else {
        return Some(Target {
            database: default_version(),
            consistency: Consistency::One,
        });
    };
    let target = spanned.get_ref();
    if let (Some(hosts), Some(_)) = (&target.hosts, target.database.as_ref().or(target.version.as_ref())) {
        mistakes.add(
            hosts.span(),
            "`hosts` and `database` exclude each other",
            "either a cluster of yours, or one started for you",
        );
        return None;
    }
    if let Some(database) = &target.database
        && database.get_ref() != "cassandra"
    {
        let help = "valid: cassandra; other CQL databases by hosts = [\"address:9042\"]";
        mistakes.add(
            database.span(),
            format!("unknown database `{}`", database.get_ref()),
            help,
        );
    }
    let database = match (&target.hosts, &target.version) {
        (Some(hosts), _) if hosts.get_ref().is_empty() => {
            mistakes.add(
                hosts.span(),
                "`hosts` is empty",
                "for example hosts = [\"10.0.0.5:9042\"]",
            );
            return None;
        }
        (Some(hosts), _) => Database::Hosts {
            hosts: hosts.get_ref().clone(),
        },
        (None, Some(version)) => {
            let numbers: Vec<_> = version.get_ref().split('.').collect();
            let valid =
                numbers.len() == 3 && numbers.iter().all(|n| n.parse::<u32>().is_ok()) && numbers[..2] == ["5", "0"];
            if !valid {
                let help = format!("a release of the 5.0 line, such as {DEFAULT_VERSION}");
                mistakes.add(
                    version.span(),
                    format!("version `{}` is not supported", version.get_ref()),
                    help,
                );
            }
            Database::Cassandra {
                version: version.get_ref().clone(),
            }
        }
        (None, None) => default_version(),
    };
    let consistency = match &target.consistency {
        None => Consistency::One,
        Some(level) => match CONSISTENCIES
            .iter()
            .find(|(name, _)| *name == level.get_ref().to_ascii_lowercase())
        {
            Some((_, level)) => *level,
            None => {
                let names: Vec<_> = CONSISTENCIES.iter().map(|(name, _)| *name).collect();
                let message = format!("unknown consistency level `{}`", level.get_ref());
                mistakes.add(level.span(), message, choice(level.get_ref(), &names));
                return None;
            }
        },
    };
    Some(Target { database, consistency })
}

/// Used when the file names no version.
const DEFAULT_VERSION: &str = "5.0.9";

const CONSISTENCIES: [(&str, Consistency); 9] = [
    ("any", Consistency::Any),
    ("one", Consistency::One),
    ("two", Consistency::Two),
    ("three", Consistency::Three),
    ("quorum", Consistency::Quorum),
    ("all", Consistency::All),
    ("local_quorum", Consistency::LocalQuorum),
    ("each_quorum", Consistency::EachQuorum),
    ("local_one", Consistency::LocalOne),
];

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

fn load(spanned: &Spanned<raw::Load>, mistakes: &mut Collector<'_>) -> Option<Load> {
    let load = spanned.get_ref();
    let mut levels = Vec::new();
    for level in &load.concurrency {
        let n = mistakes.integer(Some(level), "concurrency", 1, MOST_CONCURRENCY, 1);
        levels.extend(n.map(|n| LoadLevel::Concurrency(n as u32)));
    }
    let poisson = match load.arrival.as_ref().map(|a| (a, a.get_ref().as_str())) {
        None | Some((_, "poisson")) => true,
        Some((_, "constant")) => false,
        Some((arrival, other)) => {
            mistakes.add(
                arrival.span(),
                format!("unknown arrival `{other}`"),
                choice(other, &["poisson", "constant"]),
            );
            true
        }
    };
    for rate in &load.rate {
        let rate = mistakes.number(Some(rate), "rate", 1e-3..=1e9, 1.0);
        levels.extend(rate.map(|operations_per_s| LoadLevel::Rate {
            operations_per_s,
            poisson,
        }));
    }
    if load.concurrency.is_empty() && load.rate.is_empty() {
        mistakes.add(
            spanned.span(),
            "[load] has no load level",
            "for example concurrency = [100], or rate = [5000]",
        );
    }
    for (i, level) in levels.iter().enumerate() {
        if levels[..i].contains(level) {
            mistakes.add(
                spanned.span(),
                format!("load level {} is given twice", level.slug()),
                "repetitions = N repeats cells",
            );
        }
    }
    let (repetitions, adaptive) = repetitions(load, mistakes)?;
    let day = 86_400.0;
    let (warmup_s, warmup_max_s) = warmup(load, mistakes)?;
    let duration_s = mistakes.number(load.duration_s.as_ref(), "duration_s", 0.5..=7.0 * day, 60.0);
    let operations = mistakes.integer(load.operations.as_ref(), "operations", 1, i64::MAX, 1);
    let seed = mistakes.integer(load.seed.as_ref(), "seed", 0, i64::MAX, 1);
    let request_timeout_s = mistakes.number(
        load.request_timeout_s.as_ref(),
        "request_timeout_s",
        0.01..=3_600.0,
        30.0,
    );
    Some(Load {
        levels,
        warmup_s,
        warmup_max_s,
        duration_s: duration_s?,
        operations: load.operations.as_ref().and(operations).map(|n| n as u64),
        repetitions,
        adaptive,
        seed: seed? as u64,
        request_timeout_s: request_timeout_s?,
    })
}

/// Once throughput has come to rest the client connects anew; this many seconds cover its first requests.
const WARMUP_AFTER_REST_S: f64 = 5.0;

/// (seconds of warm-up, most seconds until rest before them).
fn warmup(load: &raw::Load, mistakes: &mut Collector<'_>) -> Option<(f64, Option<f64>)> {
    let day = 86_400.0;
    match &load.warmup {
        None => {
            if let Some(at) = &load.max_warmup_s {
                mistakes.add(
                    at.span(),
                    "max_warmup_s is for warmup = \"auto\"",
                    "remove it, or set warmup = \"auto\"",
                );
            }
            let seconds = mistakes.number(load.warmup_s.as_ref(), "warmup_s", 0.0..=day, 20.0);
            Some((seconds?, None))
        }
        Some(text) if text.get_ref() == "auto" => {
            if let Some(at) = &load.warmup_s {
                mistakes.add(
                    at.span(),
                    "both warmup = \"auto\" and warmup_s are given",
                    "remove one of them",
                );
                return None;
            }
            let most = mistakes.number(load.max_warmup_s.as_ref(), "max_warmup_s", 40.0..=day, 300.0);
            Some((WARMUP_AFTER_REST_S, Some(most?)))
        }
        Some(text) => {
            mistakes.add(
                text.span(),
                format!("warmup cannot be `{}`", text.get_ref()),
                "\"auto\"; a number of seconds is warmup_s = 20",
            );
            None
        }
    }
}

/// Fewest and, by default, most blocks of an adaptive run (METHODS: min 6, max 20 blocks: with fewer the spread itself is hardly known).
const ADAPTIVE_BLOCKS: (i64, i64) = (6, 20);

/// A number of trials, or `"auto"` with its bounds.
fn repetitions(load: &raw::Load, mistakes: &mut Collector<'_>) -> Option<(u32, Option<Adaptive>)> {
    let is_auto = load
        .repetitions
        .as_ref()
        .is_some_and(|r| r.get_ref().as_str() == Some("auto"));
    if is_auto {
        let (least, most) = ADAPTIVE_BLOCKS;
        let precision = mistakes.number(load.precision.as_ref(), "precision", 0.001..=1.0, 0.05);
        let blocks_max = mistakes.integer(load.max_repetitions.as_ref(), "max_repetitions", 2, 1_000, most);
        let budget = mistakes.number(load.budget_minutes.as_ref(), "budget_minutes", 0.1..=1e6, 1.0);
        let budget_usd = mistakes.number(load.budget_usd.as_ref(), "budget_usd", 0.01..=1e9, 1.0);
        let blocks_max = blocks_max? as u32;
        let adaptive = Adaptive {
            precision: precision?,
            blocks_min: blocks_max.min(least as u32),
            blocks_max,
            budget_s: load.budget_minutes.as_ref().and(budget).map(|minutes| minutes * 60.0),
            budget_usd: load.budget_usd.as_ref().and(budget_usd),
            stopped: None,
        };
        return Some((blocks_max, Some(adaptive)));
    }
    for (span, key) in [
        (load.precision.as_ref().map(Spanned::span), "precision"),
        (load.max_repetitions.as_ref().map(Spanned::span), "max_repetitions"),
        (load.budget_minutes.as_ref().map(Spanned::span), "budget_minutes"),
        (load.budget_usd.as_ref().map(Spanned::span), "budget_usd"),
    ] {
        if let Some(span) = span {
            mistakes.add(
                span,
                format!("{key} is for repetitions = \"auto\""),
                "remove it, or set repetitions = \"auto\"",
            );
        }
    }
    match load.repetitions.as_ref().map(|r| (r, r.get_ref())) {
        None => Some((3, None)),
        Some((_, toml::Value::Integer(n))) if (1..=1_000).contains(n) => Some((*n as u32, None)),
        Some((at, other)) => {
            mistakes.add(
                at.span(),
                format!("repetitions cannot be {other}"),
                "a whole number from 1 to 1000, or \"auto\"",
            );
            None
        }
    }
}

fn local(local: &raw::Local, mistakes: &mut Collector<'_>) -> LocalSettings {
    let mib = |v: Option<f64>| v.map(|v| (v * catalog::MIB) as u64);
    let scale = mistakes.number(local.scale.as_ref(), "scale", 1.0..=1_000.0, 1.0);
    let cache = mistakes.number(local.page_cache_mib.as_ref(), "page_cache_mib", 16.0..=1e7, 16.0);
    let heap = mistakes.number(local.heap_mib.as_ref(), "heap_mib", 256.0..=31_744.0, 1024.0);
    let credits = mistakes.number(
        local.burst_credits_start.as_ref(),
        "burst_credits_start",
        0.0..=1.0,
        1.0,
    );
    LocalSettings {
        work_directory: local.work_directory.as_ref().map(|w| w.get_ref().clone()),
        scale: scale.unwrap_or(1.0),
        page_cache_bytes: local.page_cache_mib.as_ref().and(mib(cache)),
        heap_bytes: local.heap_mib.as_ref().and(mib(heap)),
        burst_credits_start: credits.unwrap_or(1.0),
    }
}
