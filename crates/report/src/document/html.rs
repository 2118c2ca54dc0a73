//! A document as HTML. Everything that comes from a file of the user goes through [`escaped`].

use super::section::{Block, Part, Section};
use super::table::{Cell, Form, Kind, Row, Shown, Table};
use super::text::{Span, Text, Tone};
use crate::figures::{MISSING, when};

/// Text as HTML: the five characters that mean something are escaped.
pub fn escaped(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// An identity that can stand in `id` and after `#`: letters, digits, dot, dash; anything else becomes its number.
pub fn id(parts: &[&str]) -> String {
    let part = |part: &&str| -> String {
        let of = |c: char| match c.is_ascii_alphanumeric() || c == '.' || c == '-' {
            true => c.to_string(),
            false => format!("~{:x}", u32::from(c)),
        };
        part.chars().map(of).collect()
    };
    parts.iter().map(part).collect::<Vec<String>>().join("_")
}

/// Where a section's fold leads to: what is inside of it, so that a browser unfolds it for who follows a link.
pub fn inside(section: &str) -> String {
    format!("in-{section}")
}

/// The section, folded below its heading; empty where it has nothing for the page.
pub fn section(section: &Section<'_>, is_open: bool) -> String {
    let body: String = section.shown(Form::Html).map(|of| part(of, &section.title)).collect();
    match body.is_empty() {
        true => body,
        false => format!(
            "<section id=\"{0}\" aria-labelledby=\"h-{0}\"><details{2}><summary><h2 id=\"h-{0}\">{1}</h2></summary>\n\
             <div id=\"{3}\">\n{body}</div></details></section>\n",
            section.id,
            escaped(&section.title),
            open(is_open),
            inside(section.id)
        ),
    }
}

fn part(part: &Part<'_>, title: &str) -> String {
    let body = block(&part.block, title);
    match &part.folded {
        None => body,
        Some((summary, is_open)) => {
            format!("<details{}><summary>{}</summary>\n{body}</details>\n", open(*is_open), escaped(summary))
        }
    }
}

/// What an element `details` has that is unfolded at first.
pub fn open(is_open: bool) -> &'static str {
    if is_open { " open" } else { "" }
}

fn block(block: &Block<'_>, title: &str) -> String {
    match block {
        Block::Heading(words, anchor) if anchor.is_empty() => format!("<h3>{}</h3>\n", text(words)),
        Block::Heading(words, anchor) => format!("<h3 id=\"{anchor}\">{}</h3>\n", text(words)),
        Block::Paragraph(words) | Block::Advice(words) => format!("<p>{}</p>\n", text(words)),
        Block::Key(words) => format!("<p class=\"soft\">{}</p>\n", text(words)),
        Block::List { items, most, .. } => {
            let (shown, more) = items.split_at((*most).min(items.len()));
            match more.is_empty() {
                true => list(shown),
                false => {
                    format!("{}<details><summary>{} more</summary>{}</details>\n", list(shown), more.len(), list(more))
                }
            }
        }
        Block::Table(of) => table(of, title),
        Block::Drawn(draw) => draw(),
    }
}

/// A list; nothing where it is empty.
pub fn list(items: &[Text]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: String = items.iter().map(|item| format!("<li>{}</li>\n", text(item))).collect();
    format!("<ul>\n{items}</ul>\n")
}

/// Words with their marks.
pub fn text(words: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Plain(words) => escaped(words),
        Span::Strong(words) => format!("<b>{}</b>", escaped(words)),
        Span::Code(words) => format!("<code>{}</code>", escaped(words)),
        Span::Link { words, to } => format!("<a href=\"#{to}\">{}</a>", escaped(words)),
        Span::Tag(word, Tone::More) => format!("<span class=\"tag\">{}</span>", escaped(word)),
        Span::Tag(word, _) => format!("<span class=\"tag {0}\">{0}</span>", escaped(word)),
        Span::Small(words) => format!("<small>{}</small>", escaped(words)),
    };
    words.0.iter().map(span).collect()
}

/// A table in a box of its own that scrolls where the page is narrow; one without a label is called as its section is.
fn table(table: &Table, title: &str) -> String {
    let (columns, label) = table.shown(Form::Html);
    let head: String = columns
        .iter()
        .map(|place| {
            let column = &table.columns[*place];
            let class = if column.kind == Kind::Text { " class=\"t\"" } else { "" };
            let title = escaped(&column.title.replace('\n', " "));
            let ends = match column.kind {
                Kind::Range => "<th scope=\"col\">low</th><th scope=\"col\">high</th>",
                Kind::Text | Kind::Number | Kind::Middle => "",
            };
            format!("<th scope=\"col\"{class}>{title}</th>{ends}")
        })
        .collect();
    let rows: String = table.rows.iter().map(|of| row(table, &columns, of)).collect();
    let class = when(!table.class.is_empty(), || format!(" class=\"{}\"", table.class));
    let caption = when(!label.is_empty(), || format!("<caption><span>{}</span></caption>", escaped(&label)));
    let name = escaped(if label.is_empty() { title } else { &label });
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{name}\"><table{class}>{caption}<thead><tr>{head}</tr>\
         </thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}

fn row(table: &Table, columns: &[usize], row: &Row) -> String {
    let cells: String = columns
        .iter()
        .enumerate()
        .map(|(n, place)| cell(&row.cells[*place], table.columns[*place].kind, n == 0))
        .collect();
    match row.anchor.is_empty() {
        true => format!("<tr>{cells}</tr>\n"),
        false => format!("<tr id=\"{}\">{cells}</tr>\n", row.anchor),
    }
}

/// A cell, or the three of a range; the first of a row is its heading.
fn cell(cell: &Cell, kind: Kind, is_first: bool) -> String {
    let mut class = if kind == Kind::Text { "t" } else { "num" }.to_owned();
    let (mut shown, ends) = match &cell.shown {
        Shown::Missing => (MISSING.to_owned(), None),
        Shown::Words(words) => (text(words).replace('\n', " "), None),
        Shown::Range(middle, ends) => (escaped(middle), ends.clone()),
    };
    // Drawn by the style, so that the cell pastes as a number.
    if let Some(figure) = shown.strip_prefix('~').filter(|_| kind != Kind::Text) {
        (shown, class) = (figure.to_owned(), format!("{class} few"));
    }
    if !cell.class.is_empty() {
        class = format!("{class} {}", cell.class);
    }
    let hint = when(!cell.hint.is_empty(), || format!(" title=\"{}\"", escaped(&cell.hint)));
    let ends = match (kind, ends) {
        (Kind::Range, ends) => {
            let end = |end: String| format!("<td class=\"num\">{end}</td>");
            ends.unwrap_or_else(|| [MISSING.to_owned(), MISSING.to_owned()]).map(end).concat()
        }
        (Kind::Text | Kind::Number | Kind::Middle, _) => String::new(),
    };
    match is_first {
        true => format!("<th scope=\"row\" class=\"{class}\"{hint}>{shown}</th>{ends}"),
        false => format!("<td class=\"{class}\"{hint}>{shown}</td>{ends}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_users_becomes_markup() {
        assert_eq!(escaped("<script>\"&'"), "&lt;script&gt;&quot;&amp;&#39;");
        assert_eq!(id(&["a b", "c\"d"]), "a~20b_c~22d");
    }
}
