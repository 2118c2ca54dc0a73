//! What the configurations of an experiment cost by the catalog, or as the file states it.

use catalog::{Basis, Catalog, CostLine, VolumeRequest};

use crate::{Configuration, ConfigurationMoney, Experiment, Money, VolumeKind};

/// What a month of a configuration's nodes costs with so many volumes of this order and no other, USD; `None` where the
/// order breaks a rule, or a price is not known.
pub(crate) fn with_data_volume(
    catalog: &Catalog,
    experiment: &Experiment,
    configuration: &Configuration,
    count: u32,
    order: VolumeRequest,
) -> Option<f64> {
    let orders = vec![order; count as usize];
    let nodes = configuration.placement.nodes;
    let cost = catalog.cost_of(&configuration.instance.label, &orders, nodes, &experiment.basis);
    cost.ok().map(|cost| cost.usd_per_month)
}

/// Prices every configuration at full scale: its nodes with their volumes and the caches in front of them, or what the
/// file states.
pub(crate) fn of_configurations(catalog: &Catalog, configurations: &[Configuration], basis: &Basis) -> Money {
    let mut latest: Option<String> = None;
    let configurations = configurations
        .iter()
        .map(|configuration| {
            let (money, date) = of_configuration(catalog, configuration, basis);
            latest = date.max(latest.take());
            money
        })
        .collect();
    Money { basis: Basis { price_date: latest, ..basis.clone() }, configurations }
}

/// A configuration's money, and the latest day of the prices used.
fn of_configuration(
    catalog: &Catalog,
    configuration: &Configuration,
    basis: &Basis,
) -> (ConfigurationMoney, Option<String>) {
    let money = |usd_per_month, lines, missing| ConfigurationMoney {
        configuration: configuration.name.clone(),
        usd_per_month,
        lines,
        missing,
    };
    if let Some(usd) = configuration.price_usd_per_month {
        let line = CostLine::stated("as the experiment states it", usd, "the experiment");
        return (money(Some(usd), vec![line], None), None);
    }
    let missing = |why: String| (money(None, Vec::new(), Some(why)), None);
    if !configuration.instance.from_catalog {
        return missing("its instance is given by its size; price_usd_per_month can state its price".to_owned());
    }
    let mut orders = Vec::new();
    for volume in configuration.volumes() {
        match (&volume.order, volume.kind) {
            (Some(order), _) => orders.extend(std::iter::repeat_n(*order, volume.count as usize)),
            // Instance store costs nothing beside its instance.
            (None, VolumeKind::Local) => {}
            (None, _) => {
                let why = format!(
                    "the volume {} is given by its limits; price_usd_per_month can state the price",
                    volume.label
                );
                return missing(why);
            }
        }
    }
    let tier = configuration.cache_tier.as_ref();
    let of_tier = tier.map(|tier| catalog.cost_of(&tier.instance, &[], tier.nodes, basis)).transpose();
    let of_nodes = catalog.cost_of(&configuration.instance.label, &orders, configuration.placement.nodes, basis);
    match (of_nodes, of_tier) {
        (Err(error), _) | (_, Err(error)) => missing(error.to_string()),
        (Ok(nodes), Ok(tier)) => {
            let usd = nodes.usd_per_month + tier.as_ref().map_or(0.0, |tier| tier.usd_per_month);
            let date = nodes.basis.price_date.max(tier.as_ref().and_then(|tier| tier.basis.price_date.clone()));
            let lines = tier.into_iter().flat_map(|tier| tier.lines);
            let lines = lines.map(|line| CostLine { what: format!("cache tier: {}", line.what), ..line });
            (money(Some(usd), nodes.lines.into_iter().chain(lines).collect(), None), date)
        }
    }
}
