//! `[provider.simulated]`: the truth of a simulation.

use std::ops::Range;

use crate::mistakes::{Collector, choice};
use crate::spanned::Spanned;
use crate::{Truth, raw};

/// Refuses a name that no configuration has.
pub(super) fn is_configuration(
    file: &raw::Experiment,
    at: Range<usize>,
    what: &str,
    name: &str,
    mistakes: &mut Collector<'_>,
) {
    let names: Vec<&str> = file.configuration.iter().map(|c| c.name.as_str()).collect();
    if !names.contains(&name) {
        let message = format!("{what}`{name}` is no configuration");
        mistakes.add(at, message, choice(name, &names));
    }
}

/// Figures that are possible, names that exist.
pub(super) fn check(truth: &Spanned<Truth>, file: &raw::Experiment, mistakes: &mut Collector<'_>) {
    if let Some(problem) = truth.problem() {
        let help = "see [provider.simulated] in the schema: iopslab schema";
        mistakes.add(truth.span(), problem, help);
    }
    let named = truth.fault.iter().filter_map(|f| f.configuration.as_ref());
    for name in truth.speed.keys().chain(named) {
        is_configuration(file, truth.span(), "", name, mistakes);
    }
    let variants = file.variant.iter().map(|v| v.name.as_str());
    let with_settings = file.configuration.iter().filter(|c| c.settings.is_some());
    let known: Vec<&str> = variants.chain(with_settings.map(|c| c.name.as_str())).collect();
    for name in truth.settings.keys().filter(|name| !known.contains(&name.as_str())) {
        mistakes.add(
            truth.span(),
            format!("settings of [provider.simulated]: `{name}` is no variant, and no configuration with settings"),
            choice(name, &known),
        );
    }
}
