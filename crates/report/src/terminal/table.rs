//! Tables that fit a terminal: names are folded and columns dropped whole, because broken words and numbers are worse
//! than missing ones (`report.md` has them all).

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A column.
pub struct Column {
    /// What its drop list calls it.
    pub key: &'static str,
    /// Its head, perhaps in several lines.
    pub head: String,
    /// Numbers stand right.
    pub is_number: bool,
    /// One cell for each row.
    pub cells: Vec<String>,
}

impl Column {
    /// A column of text.
    pub fn text(key: &'static str, head: &str, cells: Vec<String>) -> Self {
        Self {
            key,
            head: head.to_owned(),
            is_number: false,
            cells,
        }
    }

    /// A column of numbers.
    pub fn numbers(key: &'static str, head: &str, cells: Vec<String>) -> Self {
        Self {
            is_number: true,
            ..Self::text(key, head, cells)
        }
    }
}

/// Characters of a name before it is folded into several lines. Names are folded down to 16 characters before columns
/// are dropped, and further only where even the smallest table is too wide.
const NAMES: [usize; 3] = [usize::MAX, 24, 16];
const SHORT_NAMES: [usize; 3] = [12, 10, 8];

/// The fullest table that is at most `width` wide. `columns` makes all columns with names folded to a length;
/// `dropped` are left out one after the other. Where nothing fits, the smallest.
pub fn fitted(width: usize, dropped: &[&str], columns: impl Fn(usize) -> Vec<Column>) -> String {
    let all = (0..=dropped.len()).flat_map(|n| NAMES.map(|name| (n, name)));
    let smallest = SHORT_NAMES.map(|name| (dropped.len(), name));
    let mut table = String::new();
    for (n, name) in all.chain(smallest) {
        let left: Vec<Column> = columns(name)
            .into_iter()
            .filter(|c| !dropped[..n].contains(&c.key))
            .collect();
        table = styled(&left);
        if table.lines().all(|line| line.chars().count() <= width) {
            break;
        }
    }
    table
}

fn styled(columns: &[Column]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|c| c.head.as_str()));
    let rows = columns.first().map_or(0, |c| c.cells.len());
    for row in 0..rows {
        table.add_row(columns.iter().map(|c| c.cells[row].as_str()));
    }
    for (i, (column, styled)) in columns.iter().zip(table.column_iter_mut()).enumerate() {
        styled.set_cell_alignment(match column.is_number {
            true => CellAlignment::Right,
            false => CellAlignment::Left,
        });
        styled.set_padding((0, u16::from(i + 1 != columns.len())));
    }
    table.to_string()
}

/// A name in lines of at most `most` characters, broken behind a blank, a dash, a dot or an underscore where there is
/// one.
pub fn folded(name: &str, most: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut rest: Vec<char> = name.chars().collect();
    while rest.len() > most {
        let at = rest[..most].iter().rposition(|c| matches!(c, ' ' | '-' | '_' | '.'));
        let line: String = rest.drain(..at.map_or(most, |i| i + 1)).collect();
        lines.push(line.trim_end().to_owned());
    }
    lines.push(rest.into_iter().collect());
    lines.join("\n")
}
