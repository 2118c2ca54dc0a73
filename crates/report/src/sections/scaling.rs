//! Throughput over the number of nodes: a chart, what was measured beside the law through it, and what the law says.

use analysis::Analysis;

use crate::charts::scaling::chart;
use crate::document::section::Section;
use crate::document::table::{Form, rows};
use crate::wording::scaling::{sentences, title};

/// A heading for each group of clusters; empty where there is none.
pub fn section(analysis: &Analysis) -> Section<'_> {
    let section = Section::new("scaling", "Scaling over nodes");
    analysis.scaling.iter().fold(section, |section, one| {
        let points = rows("", &one.points)
            .text("Configuration", |p| p.configuration.clone())
            .number("Nodes", |p| p.nodes.to_string())
            .number("Operations/s", |p| p.ops_per_s)
            .number("By the law", |p| p.by_law_ops_per_s);
        section
            .heading(title(one))
            .drawn(move || chart(analysis, one))
            .table(points)
            .on(Form::ROOMY)
            .list(sentences(one))
    })
}
