//! Machines of the user's own, as commands need them: files relative to the experiment, this program's own file, and
//! `clean --hosts`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use experiment::{Configuration, ExistingCluster, Place, Provider, ReadFor};
use process::failure::Failure;
use process::output::{Format, pretty};
use provider::hosts::{Cleaned, Hosts};
use serde_json::Value;

use super::experiment_file::read_experiment;
use super::facts::catalog;

/// This program's own file.
pub(super) fn own_binary() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|e| Failure::work(format!("cannot find this program's own file: {e}")))
}

/// The machines of a place, whose addresses are known from here on. Of those for caches so many: where no configuration
/// has a use for the others, they need not be there.
pub(super) fn hosts(place: &Place, caches: u32) -> Result<Hosts, Failure> {
    let settings = place.hosts().ok_or_else(|| Failure::input("the experiment names no machines"))?;
    let limits = matches!(place, Place::Emulated { .. });
    let mut settings = settings.clone();
    settings.cache.truncate(caches as usize);
    Hosts::new(&settings, limits, &own_binary()?).map_err(Failure::work)
}

/// The machines of an existing cluster's clients and watched nodes; `None`: none is reached by SSH.
pub(super) fn of_existing(
    ExistingCluster { ssh, clients, .. }: &ExistingCluster,
    configurations: &[Configuration],
) -> Result<Option<Hosts>, Failure> {
    let watched = configurations.iter().flat_map(|configuration| &configuration.watched);
    // By the numbers of their hosts, which leave none out.
    let names: BTreeMap<u32, String> = watched.map(|node| (node.host, node.ssh.clone())).collect();
    if names.is_empty() && clients.is_empty() {
        return Ok(None);
    }
    let watched = names.into_values().collect();
    Ok(Some(Hosts::of_existing(ssh, clients.clone(), watched, &own_binary()?)))
}

/// Files that the experiment names are found beside it, from wherever the run is resumed.
pub(super) fn settle_files(place: &mut Place, experiment: &Path) -> Result<(), Failure> {
    let (section, files) = place.files_mut();
    let beside = experiment.parent().unwrap_or(Path::new("."));
    for file in files {
        let path = beside.join(&*file);
        let found = std::fs::canonicalize(&path)
            .map_err(|e| Failure::input(format!("{section}: cannot find {}: {e}", path.display())))?;
        *file = found.display().to_string();
    }
    Ok(())
}

/// `iopslab clean` on every machine of a database, and old versions of the program on every machine.
pub(super) fn clean(experiment: &Path, snapshots: bool, format: Format) -> Result<(), Failure> {
    let cleaned = machines_of(experiment)?.clean(snapshots);
    let failed = cleaned.iter().filter(|(_, outcome)| outcome.is_err()).count();
    let mut document = serde_json::Map::new();
    for (name, outcome) in cleaned {
        let outcome = match outcome {
            Ok(Cleaned { said, programs }) => {
                let nothing = || serde_json::json!({ "removed": [], "failed": [] });
                let mut outcome =
                    said.map_or_else(nothing, |said| serde_json::from_str(&said).unwrap_or(Value::String(said)));
                if let Some(removed) = outcome.get_mut("removed").and_then(Value::as_array_mut) {
                    removed.extend(programs.into_iter().map(Value::String));
                }
                outcome
            }
            Err(error) => serde_json::json!({ "error": error.to_string() }),
        };
        if matches!(format, Format::Human) {
            lines(&outcome).iter().for_each(|line| println!("{name}: {line}"));
        }
        document.insert(name, outcome);
    }
    if matches!(format, Format::Json) {
        println!("{}", pretty(&serde_json::json!({ "hosts": document })));
    }
    match failed {
        0 => Ok(()),
        n => Err(Failure::work(format!("{n} machines could not be cleaned"))),
    }
}

/// The machines that an experiment names: those of its own databases and clients, or of an existing cluster's nodes.
fn machines_of(experiment: &Path) -> Result<Hosts, Failure> {
    let catalog = catalog()?;
    let mut read = read_experiment(&catalog, experiment, ReadFor::Anybody)?.experiment;
    if read.place.existing().is_none() {
        // A bucket with a snapshot is asked by a run alone.
        read = read_experiment(&catalog, experiment, ReadFor::PlanOf(Provider::Hosts))?.experiment;
    }
    settle_files(&mut read.place, experiment)?;
    let Some(cluster) = read.place.existing() else { return hosts(&read.place, u32::MAX) };
    of_existing(cluster, &read.configurations)?.ok_or_else(|| {
        Failure::input(
            "nothing of this experiment runs on another machine: [target] names no node to watch and no client",
        )
        .help("an existing cluster is left as it is; state its nodes as [[target.node]] to have them watched")
    })
}

/// For people: what was removed, what was not, or why nothing could be done.
fn lines(outcome: &Value) -> Vec<String> {
    let texts = |key: &str| {
        let list = outcome[key].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let removed = texts("removed").into_iter().map(|what| format!("removed {what}"));
    let failed = texts("failed").into_iter().map(|what| format!("could not remove {what}"));
    let error = outcome["error"].as_str().map(|error| format!("error: {error}"));
    let lines: Vec<String> = removed.chain(failed).chain(error).collect();
    if lines.is_empty() { vec!["nothing to clean".to_owned()] } else { lines }
}
