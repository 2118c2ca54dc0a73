//! Markdown tables.

/// A Markdown table; the first `left` columns are text, the others are aligned right.
pub fn table(head: &[&str], left: usize, rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&head.iter().map(|h| escaped(h)).collect::<Vec<_>>());
    let rule: Vec<String> = (0..head.len())
        .map(|i| if i < left { "---" } else { "---:" }.to_owned())
        .collect();
    text.push_str(&line(&rule));
    for row in rows {
        text.push_str(&line(&row.iter().map(|c| escaped(c)).collect::<Vec<_>>()));
    }
    text
}

/// A bar or a line break inside a cell would end it.
fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}
