//! `[load] cache` and `[sweep] cache_ratio`: the page cache before trials; several states or sizes divide each
//! workload.

use toml::Value;

use workload::Definition;

use crate::cache_state::{CacheCondition, CacheState, Caches};
use crate::mistakes::Collector;
use crate::scale::LEAST_PAGE_CACHE;
use crate::spanned::Spanned;
use crate::warming::budget_bytes;
use crate::words::Word as _;
use crate::{Configuration, Dataset, Provider, raw};

/// The states that are asked for, in the file's order; where none is stated warm. `None`: a mistake was found.
pub(super) fn states(file: &raw::Experiment, mistakes: &mut Collector<'_>) -> Option<Vec<CacheState>> {
    let Some(given) = &file.load.cache else { return Some(vec![CacheState::default()]) };
    if file.has_existing_cluster() {
        return mistakes.refuse(
            given.span(),
            "cache: the memory of an existing cluster is as it is; iopslab neither empties nor fills it",
            "remove it; or leave [target] hosts out, for a database of its own",
        );
    }
    let words = match given.get_ref() {
        Value::String(word) => vec![word.clone()],
        Value::Array(words) => words.iter().map(word).collect(),
        other => vec![word(other)],
    };
    mistakes.sound(|mistakes| {
        let mut states = Vec::new();
        for word in &words {
            match mistakes.one_of(given.span(), word, "cache cannot be", CacheState::WORDS) {
                Some(state) if states.contains(&state) => {
                    mistakes.add(given.span(), format!("cache: `{word}` is given twice"), "");
                }
                state => states.extend(state),
            }
        }
        if words.is_empty() {
            let help = "\"cold\", \"warm\", or [\"cold\", \"warm\"] for both";
            mistakes.add(given.span(), "cache has no state", help);
        }
        states
    })
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Ratios of data set and page cache that are asked for, in the file's order; none where nothing is swept. `None`: a
/// mistake was found.
pub(super) fn ratios(
    file: &raw::Experiment,
    (dataset, configurations, scale): (Option<&Dataset>, &[Option<Configuration>], f64),
    provider: Option<Provider>,
    mistakes: &mut Collector<'_>,
) -> Option<Vec<f64>> {
    let Some(sweep) = &file.sweep else { return Some(Vec::new()) };
    let (at, given) = (sweep.cache_ratio.span(), sweep.cache_ratio.as_slice());
    mistakes.sound(|mistakes| {
        let mut ratios: Vec<f64> = Vec::new();
        for ratio in given {
            let checked = mistakes.stated_number(ratio, "cache_ratio", 0.05..=1_000.0);
            if checked.is_some_and(|ratio| ratios.contains(&ratio)) {
                mistakes.add(ratio.span(), format!("cache_ratio {ratio} is given twice"), "");
            }
            ratios.extend(checked);
        }
        if given.is_empty() {
            let help = "for example [0.5, 1, 2, 5, 10]";
            mistakes.add(at.clone(), "cache_ratio has no ratio", help);
        }
        for (why, help) in contradictions(file, provider) {
            mistakes.add(at.clone(), format!("cache_ratio: {why}"), help);
        }
        if let Some(by) = &sweep.cache_ratio_by {
            check_by(by, mistakes);
        }
        if let Some(dataset) = dataset {
            too_small(given, dataset, (configurations, scale), mistakes);
        }
        ratios
    })
}

/// What makes the ratios: the page cache alone, so far.
fn check_by(by: &Spanned<String>, mistakes: &mut Collector<'_>) {
    match by.as_str() {
        "memory" => {}
        "records" => mistakes.add(
            by.span(),
            "cache_ratio_by = \"records\": each ratio would need a data set of its own, and an experiment has one",
            "\"memory\" (the default): the ratio decides what a page cache finds, whichever of the two makes it; for \
             data sets of several sizes an experiment for each",
        ),
        _ => mistakes.refuse_other(by, "cache_ratio_by cannot be", &["memory", "records"]),
    }
}

/// What does not go with page caches of sizes that are asked for.
fn contradictions(file: &raw::Experiment, provider: Option<Provider>) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    if file.has_existing_cluster() {
        found.push((
            "the memory of an existing cluster is what it is",
            "remove it; or leave [target] hosts out, for a database of its own",
        ));
    }
    if file.provider.local.page_cache_mib.is_some() {
        found.push((
            "page_cache_mib of [provider.local] states one size, and this asks for several",
            "state one of the two",
        ));
    }
    if file.provider.local.asks_for_same_misses().is_some() {
        found.push((
            "page_cache = \"same-misses\" of [provider.local] says how large page caches are, and so does this",
            "state one of the two",
        ));
    }
    match provider {
        Some(Provider::Aws) => found.push((
            "machines on AWS have the memory that they have",
            "give configurations with other instances; or run it on this machine",
        )),
        Some(Provider::Hosts) if !file.holds_hosts_to_limits() => found.push((
            "machines without limits have the memory that they have",
            "hold them to it with limits = true in [provider.hosts]",
        )),
        _ => {}
    }
    found
}

/// Page caches of a size at which nothing is measured but thrashing.
fn too_small(
    ratios: &[Spanned<f64>],
    dataset: &Dataset,
    (configurations, scale): (&[Option<Configuration>], f64),
    mistakes: &mut Collector<'_>,
) {
    for ratio in ratios {
        let sizes = configurations.iter().flatten();
        let sizes = sizes.map(|c| (c, budget_bytes(dataset, c.placement, **ratio) / scale));
        let least = sizes.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, bytes)| *bytes < LEAST_PAGE_CACHE);
        if let Some((configuration, bytes)) = least {
            let records = (dataset.records as f64 * LEAST_PAGE_CACHE / bytes).ceil();
            mistakes.add(
                ratio.span(),
                format!(
                    "cache_ratio {ratio} leaves {} a page cache of {:.0} MiB; below {:.0} MiB nothing is measured but \
                     thrashing",
                    configuration.name,
                    bytes / catalog::MIB,
                    LEAST_PAGE_CACHE / catalog::MIB
                ),
                format!("a smaller ratio, or records = {records} and more"),
            );
        }
    }
}

/// The workloads with the page cache before their trials. Several states, or ratios, divide each of them: `reads`
/// becomes `reads-cold` and `reads-warm`, or `reads-0.5x` and `reads-2x`. No configuration is chosen by comparing one
/// with another.
pub(super) fn divided(
    workloads: Vec<Definition>,
    (states, ratios): (&[CacheState], &[f64]),
    file: &raw::Experiment,
    mistakes: &mut Collector<'_>,
) -> (Vec<Definition>, Caches) {
    let mut caches = Caches::default();
    let condition =
        |state: CacheState, ratio: Option<f64>, of: &str| CacheCondition { state, ratio, of: of.to_owned() };
    if let ([state], []) = (states, ratios) {
        if file.load.cache.is_some() {
            let each = workloads.iter().map(|w| (w.name.clone(), condition(*state, None, &w.name)));
            caches.conditions = each.collect();
        }
        return (workloads, caches);
    }
    let ratios: Vec<Option<f64>> = match ratios {
        [] => vec![None],
        ratios => ratios.iter().copied().map(Some).collect(),
    };
    let at = match (&file.sweep, &file.load.cache) {
        (Some(sweep), _) => sweep.cache_ratio.span(),
        (None, Some(cache)) => cache.span(),
        (None, None) => file.name.span(),
    };
    let mut all: Vec<Definition> = Vec::new();
    for workload in &workloads {
        for (ratio, state) in ratios.iter().flat_map(|ratio| states.iter().map(move |state| (*ratio, *state))) {
            let times = ratio.map_or_else(String::new, |ratio| format!("-{ratio}x"));
            let word = if states.len() > 1 { format!("-{}", state.name()) } else { String::new() };
            let name = format!("{}{times}{word}", workload.name);
            if workloads.iter().any(|other| other.name == name) {
                mistakes.add(
                    at.clone(),
                    format!("cache makes `{name}` of `{}`, and another workload has that name", workload.name),
                    "call that workload something else",
                );
            }
            caches.conditions.insert(name.clone(), condition(state, ratio, &workload.name));
            all.push(Definition { name, ..workload.clone() });
        }
    }
    (all, caches)
}
