//! Money, as the plan froze it: a report never looks at a later price list.

use spec::{ConfigurationMoney, Plan};

use crate::document::{Basis, CellAnalysis, CostLine};

/// What a configuration costs.
pub fn of_configuration<'p>(plan: &'p Plan, configuration: &str) -> Option<&'p ConfigurationMoney> {
    let money = plan.money.as_ref()?;
    money.configurations.iter().find(|c| c.configuration == configuration)
}

/// The parts of a cost.
pub fn lines(cost: &ConfigurationMoney) -> Vec<CostLine> {
    cost.lines
        .iter()
        .map(|line| CostLine {
            what: line.what.clone(),
            usd_per_month: line.usd_per_month,
        })
        .collect()
}

/// The cheapest configuration; `None` where any has no price, because the one without might be cheaper.
pub fn cheapest(plan: &Plan) -> Option<String> {
    let prices: Vec<(f64, &str)> = plan
        .setups
        .iter()
        .map(|s| {
            Some((
                of_configuration(plan, &s.configuration)?.usd_per_month?,
                s.configuration.as_str(),
            ))
        })
        .collect::<Option<_>>()?;
    let cheapest = prices.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(cheapest.1.to_owned())
}

/// Adds price and operations per dollar to a cell.
pub fn add_to_cell(plan: &Plan, cell: &mut CellAnalysis) {
    cell.usd_per_month = of_configuration(plan, &cell.configuration).and_then(|c| c.usd_per_month);
    cell.operations_per_usd = cell
        .throughput_ops_per_s
        .zip(cell.usd_per_month)
        .and_then(|(throughput, usd)| operations_per_usd(plan, throughput.median, usd));
}

/// How money was counted.
pub fn basis(plan: &Plan) -> Basis {
    plan.money.as_ref().map_or_else(Basis::default, |money| Basis {
        hours_per_month: money.basis.hours_per_month,
        purchase: money.basis.purchase.clone(),
        region: money.basis.region.clone(),
        price_date: money.basis.price_date.clone(),
        uplift_percent: money.basis.uplift_percent,
    })
}

/// Operations per dollar: throughput of the full-size system (1:N models are scaled back) over what a second of it
/// costs.
pub fn operations_per_usd(plan: &Plan, throughput: f64, usd_per_month: f64) -> Option<f64> {
    let hours = plan.money.as_ref()?.basis.hours_per_month;
    stats::ratio(throughput * plan.scale * hours * 3600.0, usd_per_month)
}
