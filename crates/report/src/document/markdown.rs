//! A document as Markdown.

use super::section::{Block, Section};
use super::table::{Cell, Form, Kind, Shown, Table};
use super::text::{Span, Text, Tone};
use crate::figures::MISSING;

/// The section with its heading, ending with an empty line; empty where it has nothing for Markdown.
pub fn section(section: &Section<'_>) -> String {
    let body: String = section.shown(Form::Markdown).map(|part| block(&part.block) + "\n").collect();
    let title = on_one_line(&section.title);
    if body.is_empty() || title.is_empty() { body } else { format!("## {title}\n\n{body}") }
}

fn block(block: &Block<'_>) -> String {
    match block {
        Block::Heading(words, _) => format!("**{}**\n", on_one_line(&words.plain())),
        Block::Paragraph(words) | Block::Key(words) | Block::Advice(words) => {
            format!("{}\n", on_one_line(&text(words)))
        }
        Block::List { items, most, rest } => {
            let shown = items.iter().take(*most).map(text);
            let more = items.len().saturating_sub(*most);
            let more = (more > 0).then(|| format!("and {more} more, see {rest}"));
            let line = |words: String| format!("* {}\n", on_one_line(&words));
            shown.chain(more).map(line).collect()
        }
        Block::Table(of) => table(of),
        Block::Drawn(_) => String::new(),
    }
}

/// Words with their marks.
fn text(words: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Plain(words) | Span::Link { words, .. } => words.clone(),
        Span::Strong(words) => format!("**{words}**"),
        Span::Code(words) => format!("`{words}`"),
        Span::Tag(word, Tone::More) => format!("({word})"),
        Span::Tag(word, _) => word.clone(),
        Span::Small(_) => String::new(),
    };
    words.0.iter().map(span).collect()
}

fn table(table: &Table) -> String {
    let (columns, label) = table.shown(Form::Markdown);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let of = |place: &usize| &table.columns[*place];
    let mut out = if label.is_empty() { label } else { format!("{}:\n\n", on_one_line(&label)) };
    out += &line(columns.iter().map(|place| inside(&of(place).title)).collect());
    let rule = |place: &usize| if of(place).kind == Kind::Text { "---" } else { "---:" }.to_owned();
    out += &line(columns.iter().map(rule).collect());
    for row in &table.rows {
        out += &line(columns.iter().map(|place| inside(&cell(&row.cells[*place]))).collect());
    }
    out
}

fn cell(cell: &Cell) -> String {
    match &cell.shown {
        Shown::Missing => MISSING.to_owned(),
        Shown::Words(words) => text(words),
        Shown::Range(middle, None) => middle.clone(),
        Shown::Range(middle, Some([low, high])) => format!("{middle} ({low}-{high})"),
    }
}

/// A bar or a line break inside a cell would end it.
fn inside(cell: &str) -> String {
    on_one_line(&cell.replace('|', "\\|"))
}

/// A line break in a name would begin a heading, or a list, of somebody else's.
fn on_one_line(words: &str) -> String {
    words.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CommonMark 0.31, "Characters and lines": a carriage return ends a line, too.
    #[test]
    fn no_name_begins_a_line() {
        let of = Section::new("names", "").paragraph("a\n# b\r# c").list(["d\r* e"]);
        assert_eq!(section(&of), "a # b # c\n\n* d * e\n\n");
    }
}
