//! Gains beyond what there is more of: something else than the resource that limits both sides is part of the ratio.

use analysis::{Analysis, Finding, GainAboveResource, each_once};

use super::places;
use crate::wording::rest::gain_of;

/// Pairs that are reported in full.
const TOLD: usize = 2;

/// A sentence for each pair that the answer compares, with what it means; and how many findings these tell.
pub fn beyond_resource(analysis: &Analysis) -> (Vec<String>, u64) {
    let run = analysis.recommendation.run.as_ref();
    let of_cell = |finding: &Finding| -> Option<(String, GainAboveResource)> {
        let figures = finding.figures::<GainAboveResource>()?.clone();
        let cell = analysis.cells.iter().find(|cell| cell.id == finding.scope.name())?;
        let is_compared = run.is_none_or(|run| cell.configuration == *run || figures.over == *run);
        is_compared.then(|| (places::cell(analysis, cell), figures))
    };
    let all: Vec<(String, GainAboveResource)> = analysis.findings.iter().filter_map(of_cell).take(TOLD).collect();
    let told = all.len() as u64;
    let said = all.iter().map(|(who, figures)| {
        let (message, advice) = gain_of(who, figures);
        format!("{message} {advice}")
    });
    (each_once(said), told)
}
