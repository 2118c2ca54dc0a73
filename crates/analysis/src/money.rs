//! Money, as the plan froze it: a report never looks at a later price list.

use experiment::{ConfigurationMoney, Plan};

use crate::document::CellAnalysis;

/// What a configuration costs.
pub fn of_configuration<'p>(plan: &'p Plan, configuration: &str) -> Option<&'p ConfigurationMoney> {
    let mut priced = plan.money.configurations.iter();
    priced.find(|c| c.configuration == configuration)
}

/// The cheapest configuration; `None` where any has no price, because the one without might be cheaper.
pub fn cheapest(plan: &Plan) -> Option<String> {
    let prices = plan.money.configurations.iter().map(|c| Some((c.usd_per_month?, c.configuration.as_str())));
    let prices: Vec<(f64, &str)> = prices.collect::<Option<_>>()?;
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

/// Operations per dollar: throughput of the full-size system (1:N models are scaled back) over what a second of it
/// costs.
pub fn operations_per_usd(plan: &Plan, throughput: f64, usd_per_month: f64) -> Option<f64> {
    let hours = plan.money.basis.hours_per_month;
    stats::ratio(throughput * plan.scale() * hours * 3600.0, usd_per_month)
}
