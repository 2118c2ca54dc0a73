//! Do the repetitions of a cell agree?

use super::Rule;
use crate::document::CellAnalysis;
use crate::finding::{Finding, Scope};

/// Repetitions further apart than this share of their median.
const SPREAD_MAX: f64 = 0.12;

pub fn finding(cell: &CellAnalysis) -> Option<Finding> {
    let throughput = cell.throughput_ops_per_s?;
    let spread =
        stats::ratio(throughput.largest - throughput.smallest, throughput.median).filter(|s| *s > SPREAD_MAX)?;
    let numbers = [
        ("smallest", throughput.smallest),
        ("largest", throughput.largest),
        ("spread", spread),
        ("threshold", SPREAD_MAX),
    ];
    Some(Finding::new(
        Rule::RepetitionsSpread,
        Scope::Cell(cell.id.clone()),
        numbers,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::story::{plan, run, trials};

    #[test]
    fn the_range_over_the_median_decides() {
        let (plan, trials) = (plan(), trials());
        let mut cell = analyse(&run(&plan, &trials)).cells.remove(0);
        let mut at = |largest: f64| {
            let throughput = cell.throughput_ops_per_s.as_mut().unwrap();
            (throughput.smallest, throughput.median, throughput.largest) = (95.0, 100.0, largest);
            finding(&cell).is_some()
        };
        assert_eq!([100.0, 106.5, 107.5, 200.0].map(&mut at), [false, false, true, true]);
    }
}
