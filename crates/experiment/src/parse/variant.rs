//! `[[variant]]`: settings for several configurations, which become configurations of their own beside them.

use std::collections::BTreeSet;

use crate::mistakes::{Collector, choice};
use crate::spanned::Spanned;
use crate::{Truth, raw};

/// Between the name of a configuration and that of a variant.
const JOINT: char = '_';

/// Puts a configuration with each of its variants behind it.
pub(super) fn apply(file: &mut raw::Experiment, mistakes: &mut Collector<'_>) {
    let names: Vec<&str> = file.configuration.iter().map(|c| c.name.as_str()).collect();
    mistakes.unique(file.variant.iter().map(|v| (v.name.span(), v.name.as_str())), "variant");
    for variant in &file.variant {
        check(variant, &names, mistakes);
    }
    let plain = std::mem::take(&mut file.configuration);
    for configuration in plain {
        let its = file.variant.iter().filter(|variant| is_for(variant, &configuration.name));
        let with: Vec<_> = its.map(|variant| varied(&configuration, variant)).collect();
        file.configuration.push(configuration);
        file.configuration.extend(with);
    }
}

/// A simulation's truth with what variants do as what the configurations do that they have made.
pub(super) fn with_effects(truth: &Truth, file: &raw::Experiment) -> Truth {
    let mut settings = truth.settings.clone();
    let names = || file.configuration.iter().map(|c| c.name.as_str());
    for variant in file.variant.iter() {
        let Some(effect) = settings.remove(variant.name.as_str()) else { continue };
        for own in names().filter(|own| is_for(variant, own)) {
            let made = made(own, variant);
            if names().any(|name| name == made) {
                settings.entry(made).or_insert(effect);
            }
        }
    }
    Truth { settings, ..truth.clone() }
}

/// The name of the configuration that a variant makes of another.
fn made(of: &str, variant: &raw::Variant) -> String {
    format!("{of}{JOINT}{}", variant.name)
}

fn check(variant: &raw::Variant, names: &[&str], mistakes: &mut Collector<'_>) {
    mistakes.safe_name(&variant.name, "variant");
    let name = &variant.name;
    let has_settings = variant.settings.as_ref().is_some_and(|settings| !settings.is_empty());
    if !has_settings && variant.bandwidth_weighting.is_none() && variant.database.is_none() {
        mistakes.add(
            variant.settings.as_ref().map_or(variant.name.span(), Spanned::span),
            format!("variant `{name}` sets nothing: it is the configuration itself"),
            "for example table = { compression = { chunk_length_in_kb = 4 } }",
        );
    }
    let Some(of) = &variant.configurations else { return };
    if of.is_empty() {
        mistakes.add(
            variant.name.span(),
            format!("variant `{name}` is for no configuration"),
            "name some, or leave `configurations` out: then it is for all",
        );
    }
    let mut seen = BTreeSet::new();
    for one in of {
        if !names.contains(&one.as_str()) {
            mistakes.add(one.span(), format!("`{one}` is no configuration"), choice(one, names));
        } else if !seen.insert(one) {
            mistakes.add(one.span(), format!("`{one}` is named twice"), "remove one of them");
        }
    }
}

fn is_for(variant: &raw::Variant, configuration: &str) -> bool {
    let named = variant.configurations.as_ref();
    named.is_none_or(|named| named.iter().any(|name| name.as_str() == configuration))
}

/// A configuration with a variant's settings after its own. A mistake in its name is one of the variant's.
fn varied(of: &Spanned<raw::Configuration>, variant: &raw::Variant) -> Spanned<raw::Configuration> {
    let mut configuration = of.get_ref().clone();
    let name = made(&configuration.name, variant);
    configuration.name = Spanned::new(variant.name.span(), name);
    if let Some(over) = &variant.settings {
        let own = configuration.settings.take().map(Spanned::into_inner).unwrap_or_default();
        configuration.settings = Some(Spanned::new(over.span(), own.varied(over)));
    }
    if variant.bandwidth_weighting.is_some() {
        configuration.bandwidth_weighting.clone_from(&variant.bandwidth_weighting);
    }
    if variant.database.is_some() {
        configuration.database.clone_from(&variant.database);
    }
    Spanned::new(of.span(), configuration)
}
