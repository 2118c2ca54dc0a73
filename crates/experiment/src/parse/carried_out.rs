//! Who carries an experiment out, and on what: the place that a file and a provider make.

use super::local::LocalSettings;
use super::{aws, hosts, truth, variant};
use crate::mistakes::Collector;
use crate::{ExistingCluster, Experiment, Machines, Model, Place, Provider, raw};

/// Who it is; where nobody is named, a simulation of a truth that is stated, or else this machine.
pub(super) fn provider(file: &raw::Experiment, named: Option<Provider>) -> Provider {
    let is_simulated = file.provider.simulated.is_some() && !file.has_existing_cluster();
    named.unwrap_or(if is_simulated { Provider::Simulated } else { Provider::Local })
}

/// What is made of a configuration.
pub(super) fn model(file: &raw::Experiment, named: Option<Provider>, local: &LocalSettings) -> Model {
    match provider(file, named) {
        Provider::Local if file.has_existing_cluster() => Model::FULL_SIZE,
        Provider::Hosts if !file.holds_hosts_to_limits() => Model::FULL_SIZE,
        Provider::Aws | Provider::Imported => Model::FULL_SIZE,
        _ => {
            let LocalSettings { scale, page_cache_bytes, page_cache, .. } = *local;
            Model { scale, page_cache_bytes, page_cache }
        }
    }
}

/// The place. What is stated of others is checked as well. What is wrong with it is reported and left out, so that it
/// hides no mistake elsewhere in the file.
pub(super) fn place(
    file: &raw::Experiment,
    named: Option<Provider>,
    existing: Option<ExistingCluster>,
    (local, model): (LocalSettings, Model),
    mistakes: &mut Collector<'_>,
) -> Place {
    let truth = file.provider.simulated.as_ref().map(|truth| {
        truth::check(truth, file, mistakes);
        variant::with_effects(truth, file)
    });
    let hosts = file.provider.hosts.as_ref().map(|given| hosts::check(given, mistakes));
    let nothing_stated = raw::Aws::default();
    let bought = aws::check(file.provider.aws.as_deref().unwrap_or(&nothing_stated), mistakes);
    let emulated = |volumes, machines| Place::Emulated { model, volumes, machines };
    let of_hosts = |machines| match file.holds_hosts_to_limits() {
        true => emulated(local.volumes, Machines::Hosts(machines)),
        false => Place::AsIs(machines),
    };
    match provider(file, named) {
        Provider::Local => existing.map_or_else(
            || emulated(local.volumes, Machines::This { work_directory: local.work_directory }),
            Place::Existing,
        ),
        // Where the file names none, that is reported with what cannot be measured.
        Provider::Hosts => of_hosts(hosts.unwrap_or_default()),
        Provider::Aws => Place::Bought(bought),
        Provider::Simulated => Place::Simulated { model, truth: truth.unwrap_or_default() },
        Provider::Imported => Place::Imported,
    }
}

/// What is not for a place, however it is stated. A machine that is bought has its memory. A simulation has no code to
/// warm, and nothing to restore; where it is to run, it warms up for the whole of `max_warmup_s`, since its seconds
/// cost nothing.
pub(super) fn adapt(experiment: &mut Experiment, named: Option<Provider>) {
    match &experiment.place {
        Place::Bought(_) => {
            for configuration in &mut experiment.configurations {
                configuration.memory_limit_bytes = configuration.instance.memory_bytes;
            }
        }
        Place::Simulated { .. } if named.is_some() => {
            experiment.data_set_store = None;
            let load = &mut experiment.load;
            (load.shape.rest_max_s, load.forks) = (0.0, 1);
            load.shape.warmup_s = load.shape.warmup_max_s.take().unwrap_or(load.shape.warmup_s);
        }
        Place::Simulated { .. } | Place::Emulated { .. } | Place::AsIs(_) | Place::Existing(_) | Place::Imported => {}
    }
}
