//! What an operation cost: an effect with its cause below it.

use crate::page;
use report::{html, markdown};

/// The cells of a row of a Markdown table.
fn row<'t>(text: &'t str, figure: &str) -> Vec<&'t str> {
    let line = text.lines().find(|line| line.starts_with(&format!("| {figure} |")));
    let line = line.unwrap_or_else(|| panic!("no row {figure} in\n{text}"));
    line.trim_matches('|').split('|').map(str::trim).skip(1).collect()
}

#[test]
fn each_configuration_stands_beside_the_baseline_and_what_nobody_knows_is_no_row() {
    let (analysis, charts) = page::run(&["gp2-320", "io1-10000"], &["read-heavy"], 3);
    let text = markdown(&analysis);
    let at = text.find("## What an operation cost").unwrap();
    let text = &text[at..];
    assert!(text.contains("read-heavy; 100 in flight:"), "{text}");
    assert!(text.contains("| Figure | gp2-320 | io1-10000 | to gp2-320, x |"), "{text}");
    assert_eq!(row(text, "Operations/s, geo. mean"), ["1,000", "2,000", "2.00"]);
    assert_eq!(row(text, "Device reads/op."), ["0.900", "0.900", "1.00"]);
    assert_eq!(row(text, "SSTables merged/read"), ["1.20", "2.40", "2.00"]);
    // The baseline does not know it: no ratio, and no zero.
    assert_eq!(row(text, "Bytes compacted/op."), ["-", "120", "-"]);
    assert!(!text.contains("Chunk cache hits"), "the chunk cache is off everywhere");
    let page = html(&analysis, &charts);
    assert!(page.contains("<section id=\"work\"") && page.contains("SSTables merged/read"));
    assert!(page.contains("<summary>Block 1: 2 flushes, 1 compaction</summary>"));
}

#[test]
fn a_configuration_that_is_alone_under_its_load_is_compared_with_nobody() {
    let (mut analysis, _) = page::run(&["gp2-320", "io1-10000"], &["read-heavy"], 3);
    // As after a search: each configuration has rates of its own.
    analysis.cells.retain(|c| (c.configuration == "gp2-320") == (c.load == page::LOADS[0]));
    let text = markdown(&analysis);
    assert!(text.contains("| Figure | gp2-320; 100 in flight | io1-10000; 5,000/s Poisson |"), "{text}");
    assert_eq!(row(&text, "SSTables merged/read"), ["1.20", "2.40"]);
    // Without a valid trial there is nothing to tell.
    analysis.cells.iter_mut().for_each(|c| c.valid_trials = 0);
    assert!(!markdown(&analysis).contains("What an operation cost"));
}
