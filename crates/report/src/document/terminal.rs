//! A document in a terminal. Tables fit it: names are folded and columns dropped whole, because broken words and
//! numbers are worse than missing ones (`report.md` has them all).

use comfy_table::{CellAlignment, ContentArrangement, Table as Styled, presets};

use super::section::{Block, Section};
use super::table::{Form, Kind, Shown, Table};
use super::text::{Span, Text, Tone};
use crate::figures::{MISSING, when};
use crate::wrap::wrapped;

/// How the text may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns of the terminal; tables leave out what does not fit.
    pub width: usize,
    /// ANSI colours.
    pub color: bool,
}

/// Of what stands below a heading.
const INDENT: &str = "  ";

/// The section under an empty line and its title; empty where it has nothing for a terminal.
pub fn section(section: &Section<'_>, options: TerminalOptions) -> String {
    let mut out = String::new();
    let (mut indent, mut before): (&str, Option<&Block<'_>>) = ("", None);
    for part in section.shown(Form::Terminal) {
        // Headings, and what is to be read with a table, stand apart from what is above them.
        let is_apart = match (&part.block, before) {
            (Block::Heading(..), Some(_)) => true,
            (Block::Key(_) | Block::Table(_), Some(before)) => matches!(before, Block::Table(_)),
            _ => false,
        };
        if is_apart {
            out.push('\n');
        }
        out += &block(&part.block, indent, options);
        if let Block::Heading(..) = part.block {
            indent = INDENT;
        }
        before = Some(&part.block);
    }
    let title = when(!section.title.is_empty(), || painted(&wrapped(&section.title, options.width, ""), "1", options));
    if out.is_empty() { out } else { format!("\n{title}{out}") }
}

fn block(block: &Block<'_>, indent: &str, options: TerminalOptions) -> String {
    let width = options.width;
    match block {
        Block::Heading(words, _) => {
            let lines = wrapped(&words.plain(), width, "");
            match words.0.as_slice() {
                [Span::Plain(_)] => painted(&lines, "1", options),
                _ => marked(lines, words, options),
            }
        }
        Block::Paragraph(words) | Block::Key(words) => text(words, indent, options),
        Block::Advice(words) => wrapped(&format!("-> {}", words.plain()), width, indent),
        Block::List { items, most, rest } => {
            let line = |words: String| wrapped(&format!("* {words}"), width, indent);
            let more = items.len().saturating_sub(*most);
            let more = (more > 0).then(|| line(format!("and {more} more, see {rest}")));
            items.iter().take(*most).map(|item| marked(line(item.plain()), item, options)).chain(more).collect()
        }
        Block::Table(of) => {
            let (_, label) = of.shown(Form::Terminal);
            let label = if label.is_empty() { label } else { wrapped(&label, width, "") };
            format!("{label}{}\n", fitted(of, width))
        }
        Block::Drawn(_) => String::new(),
    }
}

/// Words in lines that fit.
fn text(words: &Text, indent: &str, options: TerminalOptions) -> String {
    marked(wrapped(&words.plain(), options.width, indent), words, options)
}

/// The marks of words that have been broken into lines; a mark that goes on in the next line is painted where it is
/// all.
fn marked(lines: String, words: &Text, options: TerminalOptions) -> String {
    if let [Span::Strong(_)] = words.0.as_slice() {
        return painted(&lines, "1", options);
    }
    words.0.iter().fold(lines, |lines, span| {
        let (words, code) = match span {
            Span::Strong(words) => (words, "1"),
            Span::Tag(word, Tone::Bad) => (word, "31"),
            Span::Tag(word, Tone::Doubt) => (word, "33"),
            Span::Tag(word, Tone::Note) => (word, "36"),
            Span::Plain(_) | Span::Code(_) | Span::Link { .. } | Span::Tag(_, Tone::More) | Span::Small(_) => {
                return lines;
            }
        };
        lines.replacen(words.as_str(), &paint(words, code, options), 1)
    })
}

/// Each line in the same way.
fn painted(lines: &str, code: &str, options: TerminalOptions) -> String {
    lines.lines().map(|line| paint(line, code, options) + "\n").collect()
}

fn paint(words: &str, code: &str, options: TerminalOptions) -> String {
    if options.color { format!("\u{1b}[{code}m{words}\u{1b}[0m") } else { words.to_owned() }
}

/// Sections without colours, beginning with the first one's first line.
pub fn plain<'a>(sections: impl IntoIterator<Item = Section<'a>>, width: usize) -> String {
    let options = TerminalOptions { width, color: false };
    let text: String = sections.into_iter().map(|of| section(&of, options)).collect();
    text.trim_start().to_owned()
}

/// Characters of a name before it is folded into several lines. Names are folded down to 16 characters before columns
/// are dropped, and further only where even the smallest table is too wide.
const NAMES: [usize; 3] = [usize::MAX, 24, 16];
const SHORT_NAMES: [usize; 3] = [12, 10, 8];
/// Characters that the lines of a head may have, whatever the cells below it.
const HEAD: usize = 9;

/// The fullest table that is at most `width` wide; where nothing fits, the smallest.
fn fitted(table: &Table, width: usize) -> String {
    let (columns, _) = table.shown(Form::Terminal);
    let mut drops: Vec<u8> = columns.iter().map(|place| table.columns[*place].drop).collect();
    drops.extend([0, u8::MAX]);
    drops.sort_unstable_by(|a, b| b.cmp(a));
    drops.dedup();
    // Below each of these a column stays; nothing is below 0.
    drops.pop();
    let least = drops.last().copied().unwrap_or(u8::MAX);
    let all = drops.into_iter().flat_map(|drop| NAMES.map(|name| (drop, name)));
    let mut fitted = String::new();
    for (drop, name) in all.chain(SHORT_NAMES.map(|name| (least, name))) {
        let kept = columns.iter().copied().filter(|place| table.columns[*place].drop < drop);
        fitted = styled(table, &kept.collect::<Vec<usize>>(), name);
        if fitted.lines().all(|line| line.chars().count() <= width) {
            break;
        }
    }
    fitted
}

fn styled(table: &Table, columns: &[usize], name: usize) -> String {
    let cells: Vec<Vec<String>> = columns.iter().map(|place| cells(table, *place, name)).collect();
    let mut styled = Styled::new();
    styled.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled);
    styled.set_header(columns.iter().zip(&cells).map(|(place, cells)| head(&table.columns[*place].title, cells, name)));
    for row in 0..table.rows.len() {
        styled.add_row(cells.iter().map(|column| column[row].as_str()));
    }
    for (n, (place, column)) in columns.iter().zip(styled.column_iter_mut()).enumerate() {
        column.set_cell_alignment(match table.columns[*place].kind {
            Kind::Text => CellAlignment::Left,
            Kind::Number | Kind::Range | Kind::Middle => CellAlignment::Right,
        });
        column.set_padding((0, u16::from(n + 1 != columns.len())));
    }
    styled.to_string()
}

/// A head in lines that are no longer than they must be.
fn head(title: &str, cells: &[String], name: usize) -> String {
    let longest = |text: &str| text.chars().count();
    let word = title.split_whitespace().map(|word| longest(word).min(name)).max();
    let cell = cells.iter().flat_map(|cell| cell.lines()).map(longest).max();
    let most = word.into_iter().chain(cell).fold(HEAD, usize::max);
    folded_lines(&title.replace(", ", "\n"), most)
}

/// The cells of a column, names in lines of so many characters.
fn cells(table: &Table, place: usize, name: usize) -> Vec<String> {
    let column = &table.columns[place];
    let most = if column.wide { name.saturating_mul(2) } else { name };
    let shown = |row: usize| match &table.rows[row].cells[place].shown {
        Shown::Missing => MISSING.to_owned(),
        Shown::Range(middle, None) => middle.clone(),
        Shown::Range(middle, Some([low, high])) => format!("{middle}\n({low}-{high})"),
        Shown::Words(words) if column.kind == Kind::Text => folded_lines(&words.plain(), most),
        Shown::Words(words) => words.plain().replacen(" (", "\n(", 1),
    };
    // A row says again what the one above it says, if all before it that are said once are the same.
    let once = (0..=place).filter(|at| table.columns[*at].once);
    let once: Vec<usize> = once.collect();
    let is_same = |row: usize| {
        let same = |at: &usize| table.rows[row].cells[*at].shown == table.rows[row - 1].cells[*at].shown;
        column.once && row > 0 && once.iter().all(same)
    };
    let rows = 0..table.rows.len();
    rows.map(|row| if is_same(row) { String::new() } else { shown(row) }).collect()
}

/// Each line folded; what goes on stands as deep as its beginning.
fn folded_lines(text: &str, most: usize) -> String {
    let line = |line: &str| {
        let words = line.trim_start();
        let indent = &line[..line.len() - words.len()];
        format!("{indent}{}", folded(words, most).replace('\n', &format!("\n{indent}")))
    };
    text.lines().map(line).collect::<Vec<String>>().join("\n")
}

/// A name in lines of at most `most` characters, broken behind a blank, a dash, a dot or an underscore where there is
/// one.
fn folded(name: &str, most: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut rest: Vec<char> = name.chars().collect();
    while rest.len() > most {
        // A blank at the end of a line takes no room in it.
        let room = &rest[..(most + 1).min(rest.len())];
        let blank = room.iter().rposition(|c| *c == ' ').map(|at| at + 1);
        let other = room[..most].iter().rposition(|c| matches!(c, '-' | '_' | '.')).map(|at| at + 1);
        let line: String = rest.drain(..blank.max(other).unwrap_or(most)).collect();
        lines.push(line.trim_end().to_owned());
    }
    lines.push(rest.into_iter().collect());
    lines.join("\n")
}
