//! As much of YAML as profiles of cassandra-stress use: maps and lists by indentation, plain and quoted scalars, block
//! scalars (`|`, `>`), comments. Anything else is refused at its line.

use crate::mistake::Mistake;

/// Deeper no profile goes; it bounds how deep reading does.
const MOST_INDENT: usize = 200;

/// A value of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Text(String),
    Map(Vec<Entry>),
    List(Vec<Node>),
}

/// A key of a map with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    /// From 1.
    pub(super) line: usize,
    pub(super) value: Node,
}

impl Node {
    /// The entries of a map; of anything else none.
    pub(super) fn entries(&self) -> &[Entry] {
        match self {
            Self::Map(entries) => entries,
            Self::Text(_) | Self::List(_) => &[],
        }
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Map(_) | Self::List(_) => None,
        }
    }
}

/// A mistake about a whole line (from 1) of a text.
pub(super) fn at_line(text: &str, line: usize, message: impl Into<String>) -> Mistake {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let length = text[before..].find('\n').unwrap_or(text.len() - before);
    Mistake::new(line, before..before + length, message)
}

/// A line that is not empty, without its comment.
#[derive(Debug, Clone)]
struct Line {
    /// From 1.
    number: usize,
    indent: usize,
    content: String,
}

/// The whole file, which is a map.
pub(super) fn parse(text: &str) -> Result<Node, Mistake> {
    let raw: Vec<&str> = text.lines().collect();
    let mut reader = Reader { text, raw, at: 0, begun: None };
    let Some(first) = reader.peek()? else { return Ok(Node::Map(Vec::new())) };
    let node = reader.block(first.indent)?;
    match reader.peek()? {
        Some(rest) => Err(at_line(text, rest.number, "this line is indented less than what it belongs to")),
        None => Ok(node),
    }
}

struct Reader<'a> {
    text: &'a str,
    raw: Vec<&'a str>,
    /// The next line, from 0.
    at: usize,
    /// What is left of that line, where a list's dash was taken from it.
    begun: Option<Line>,
}

impl Reader<'_> {
    /// The next line with content.
    fn peek(&mut self) -> Result<Option<Line>, Mistake> {
        if let Some(begun) = &self.begun {
            return Ok(Some(begun.clone()));
        }
        while let Some(raw) = self.raw.get(self.at) {
            let content = without_comment(raw);
            let trimmed = content.trim_start();
            let number = self.at + 1;
            if content.len() > trimmed.len() && content[..content.len() - trimmed.len()].contains('\t') {
                return Err(at_line(self.text, number, "a tab cannot indent"));
            }
            if trimmed.is_empty() || content == "---" {
                self.at += 1;
                continue;
            }
            return Ok(Some(Line { number, indent: content.len() - trimmed.len(), content: trimmed.to_owned() }));
        }
        Ok(None)
    }

    fn take(&mut self) {
        self.begun = None;
        self.at += 1;
    }

    /// A map or a list of which each line has this indentation.
    fn block(&mut self, indent: usize) -> Result<Node, Mistake> {
        if let Some(line) = self.peek()?.filter(|_| indent > MOST_INDENT) {
            return Err(at_line(self.text, line.number, format!("more than {MOST_INDENT} spaces of indentation")));
        }
        let is_list = self.peek()?.is_some_and(|line| is_item(&line.content));
        let (mut entries, mut items) = (Vec::new(), Vec::new());
        while let Some(line) = self.peek()?.filter(|line| line.indent == indent && is_item(&line.content) == is_list) {
            if is_list {
                let rest = line.content[1..].trim_start();
                let indent = indent + line.content.len() - rest.len();
                if rest.is_empty() {
                    return Err(at_line(self.text, line.number, "an item begins on the line of its dash here"));
                }
                self.begun = Some(Line { number: line.number, indent, content: rest.to_owned() });
                if split_key(rest).is_some() {
                    items.push(self.block(indent)?);
                } else {
                    self.take();
                    items.push(Node::Text(self.scalar(rest, line.number, indent - 1)?));
                }
            } else {
                let entry = self.entry(&line)?;
                if entries.iter().any(|other: &Entry| other.key == entry.key) {
                    return Err(at_line(self.text, line.number, format!("{} is stated twice", entry.key)));
                }
                entries.push(entry);
            }
        }
        if let Some(line) = self.peek()?.filter(|line| line.indent > indent) {
            return Err(at_line(self.text, line.number, "this line is indented more than what it belongs to"));
        }
        Ok(if is_list { Node::List(items) } else { Node::Map(entries) })
    }

    fn entry(&mut self, line: &Line) -> Result<Entry, Mistake> {
        let Some((key, value)) = split_key(&line.content) else {
            return Err(at_line(self.text, line.number, "`key: value` is expected here"));
        };
        self.take();
        let value = if !value.is_empty() {
            Node::Text(self.scalar(value, line.number, line.indent)?)
        } else {
            // A list may stand below its key without being indented.
            let next = self.peek()?;
            let below =
                next.filter(|next| next.indent > line.indent || (next.indent == line.indent && is_item(&next.content)));
            match below {
                Some(below) => self.block(below.indent)?,
                None => Node::Text(String::new()),
            }
        };
        Ok(Entry { key: unquoted(key), line: line.number, value })
    }

    /// A scalar that begins so and goes on in lines that are indented more.
    fn scalar(&mut self, first: &str, number: usize, indent: usize) -> Result<String, Mistake> {
        if first.starts_with(['|', '>']) {
            return Ok(self.literal(indent));
        }
        if first.starts_with(['{', '[', '&', '*', '!']) {
            let message = format!("`{first}` is YAML that is not read here: write it as lines of `key: value`");
            return Err(at_line(self.text, number, message));
        }
        let mut all = first.to_owned();
        while let Some(line) = self.peek()?.filter(|line| line.indent > indent) {
            all.push(' ');
            all.push_str(&line.content);
            self.take();
        }
        Ok(unquoted(&all))
    }

    /// Lines as they are, up to one that is not indented more. (CQL does not mind whether they are folded.)
    fn literal(&mut self, indent: usize) -> String {
        let mut all = String::new();
        while let Some(raw) = self.raw.get(self.at) {
            let is_empty = raw.trim().is_empty();
            if !is_empty && raw.len() - raw.trim_start().len() <= indent {
                break;
            }
            all.push_str(raw);
            all.push('\n');
            self.at += 1;
        }
        all
    }
}

fn is_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// The key and what stands behind its colon.
fn split_key(content: &str) -> Option<(&str, &str)> {
    let (key, value) = match content.split_once(": ") {
        Some((key, value)) => (key, value),
        None => (content.strip_suffix(':')?, ""),
    };
    Some((key.trim(), value.trim()))
}

fn unquoted(text: &str) -> String {
    let within = |mark: char| text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
    let double = within('"').map(|text| text.replace("\\\"", "\""));
    double.or_else(|| Some(within('\'')?.replace("''", "'"))).unwrap_or_else(|| text.to_owned())
}

/// The line up to a `#` that stands at its beginning or behind a space, outside of quotes.
fn without_comment(raw: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in raw.char_indices() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '#' && before.is_whitespace() => return raw[..at].trim_end(),
            None => {}
        }
        before = c;
    }
    raw.trim_end()
}
