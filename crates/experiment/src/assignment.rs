//! Keys of an experiment file that are set from outside of it. Its text is changed, and nothing else: the frozen file
//! of a run shows what was measured, and a run that goes on finds it there.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::mistakes::{Mistakes, nearest};

/// A key and what it is set to: `load.repetitions=5`; of several tables the one with that name:
/// `configuration.gp3-3000.nodes=3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// As it was typed, with its flag.
    flag: String,
    /// The tables, then the key; at least that.
    path: Vec<String>,
    /// In TOML.
    value: String,
}

impl Assignment {
    /// Measure these cells alone.
    pub fn only(cells: &[String]) -> Self {
        let flag = format!("--only {}", cells.join(","));
        let cells = cells.iter().map(|cell| toml::Value::String(cell.clone())).collect();
        let path = ["load", "only"].map(str::to_owned).to_vec();
        Self { flag, path, value: toml::Value::Array(cells).to_string() }
    }
}

impl FromStr for Assignment {
    type Err = String;

    /// What is no TOML is a string, and so is a date: `name=tonight` sets `"tonight"`.
    fn from_str(text: &str) -> Result<Self, String> {
        let Some((path, value)) = text.split_once('=') else {
            return Err(format!("`{text}` sets nothing; expected KEY=VALUE, such as load.repetitions=5"));
        };
        let path: Vec<String> = path.split('.').map(|key| key.trim().to_owned()).collect();
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if path.iter().any(|key| key.is_empty() || !key.chars().all(is_bare)) {
            return Err(format!("`{text}`: expected a key, its tables before it, such as load.repetitions=5"));
        }
        let value = value.trim();
        let whole = format!("v = {value}");
        // No key is a date of TOML's: `2026-01-31` is text everywhere.
        let is_all = |value: &Spanned<DeValue<'_>>| {
            value.span().end == whole.len() && !matches!(value.get_ref(), DeValue::Datetime(_))
        };
        let is_toml = !value.contains('\n')
            && DeTable::parse(&whole).is_ok_and(|table| table.get_ref().get("v").is_some_and(is_all));
        let value = if is_toml { value.to_owned() } else { toml::Value::String(value.to_owned()).to_string() };
        Ok(Self { flag: format!("--set {text}"), path, value })
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.flag)
    }
}

/// The text of an experiment with what was set in it.
#[derive(Debug)]
pub struct Changed {
    /// With all of it.
    pub text: String,
    /// As the file has it.
    before: String,
    /// One after the other, each with its flag.
    edits: Vec<(Edit, String)>,
}

impl Changed {
    /// What is wrong with the text in the words of who typed it: by the flag that set it, else at its place in `file`
    /// as that stands. `refused`: what is wrong with another text.
    pub fn explain(&self, file: &str, mistakes: Mistakes, refused: impl Fn(&str) -> Option<Mistakes>) -> Mistakes {
        mistakes.moved(file, &self.before, |mistake| {
            let (mut at, mut flag) = (mistake.span.clone(), None);
            let is_in_braces = self.text.get(at.clone()).is_some_and(|value| value.starts_with('{'));
            for (index, (edit, by)) in self.edits.iter().enumerate().rev() {
                let set = edit.stands();
                let is_set = !at.is_empty() && set.start <= at.start && at.end <= set.end;
                let is_around = is_in_braces && at.start <= set.start && set.end <= at.end;
                at = edit.place_before(at.start)..edit.place_before(at.end);
                // A value in braces is refused as one whichever of its keys was set: if it was refused without this
                // flag, something else in it is wrong.
                let was_refused = || refused(&self.with_first(index)).is_some_and(|all| all.is_any_at(file, at.start));
                if flag.is_none() && (is_set || (is_around && !was_refused())) {
                    flag = Some(by.clone());
                }
            }
            (flag, at)
        })
    }

    /// The file with what the first so many flags set.
    fn with_first(&self, flags: usize) -> String {
        let mut text = self.before.clone();
        for (edit, _) in &self.edits[..flags] {
            text.replace_range(edit.at.clone(), &edit.with);
        }
        text
    }
}

/// The text of an experiment with these set, one after the other. One that cannot be read stays as it is: what is wrong
/// with it is reported where it is read. Errors: which cannot be set, and why.
pub fn set(text: &str, all: &[Assignment]) -> Result<Changed, String> {
    let mut changed = Changed { text: text.to_owned(), before: text.to_owned(), edits: Vec::new() };
    if DeTable::parse(text).is_err() {
        return Ok(changed);
    }
    for one in all {
        let edit = one.edit(&changed.text).map_err(|why| format!("{one}: {why}"))?;
        changed.text.replace_range(edit.at.clone(), &edit.with);
        if let Err(error) = DeTable::parse(&changed.text) {
            return Err(format!("{one}: {}; change the file", error.message()));
        }
        changed.edits.push((edit, one.flag.clone()));
    }
    Ok(changed)
}

/// A change of a text; places are in bytes.
#[derive(Debug)]
struct Edit {
    /// What is replaced, in the text before; empty where something is put in.
    at: Range<usize>,
    with: String,
    /// Where its key begins, in both texts.
    from: usize,
}

impl Edit {
    /// Key and value are put in together.
    fn whole(at: Range<usize>, with: impl Into<String>) -> Self {
        Self { from: at.start, at, with: with.into() }
    }

    /// Where key and value stand in the text after.
    fn stands(&self) -> Range<usize> {
        self.from..self.at.start + self.with.len()
    }

    /// The place in the text before of one in the text after.
    fn place_before(&self, after: usize) -> usize {
        match after.checked_sub(self.stands().end) {
            Some(behind) => self.at.end + behind,
            None => after.min(self.at.start),
        }
    }
}

/// A table as it was found.
struct Found<'t, 'i> {
    table: &'t DeTable<'i>,
    /// Its header, or its braces; `None`: the file itself.
    at: Option<Range<usize>>,
    /// Whether it is one of several, or below one.
    is_one_of_several: bool,
}

impl Assignment {
    fn edit(&self, text: &str) -> Result<Edit, String> {
        let document = DeTable::parse(text).map_err(|error| error.message().to_owned())?;
        let Some((key, tables)) = self.path.split_last() else { return Err("it names no key".to_owned()) };
        let line = format!("{key} = {}\n", self.value);
        let Some(found) = find(document.get_ref(), tables)? else { return Ok(appended(text, tables, &line)) };
        match found.table.get_key_value(key.as_str()) {
            Some((_, value)) if is_by_header(text, value.get_ref(), value.span()) => {
                Err(format!("{key} is a table: set one of its keys"))
            }
            Some((key, value)) => Ok(Edit { at: value.span(), with: self.value.clone(), from: key.span().start }),
            None => inserted(text, tables, &line, &found),
        }
    }
}

/// A table at the end that has this line.
fn appended(text: &str, tables: &[String], line: &str) -> Edit {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    Edit::whole(text.len()..text.len(), format!("{end}\n[{}]\n{line}", tables.join(".")))
}

/// A line that was not there.
fn inserted(text: &str, tables: &[String], line: &str, found: &Found<'_, '_>) -> Result<Edit, String> {
    let Some(at) = &found.at else { return Ok(Edit::whole(behind_comments(text), line)) };
    match text[at.start..].chars().next() {
        // Behind what is there already a comment may stand, which would hold it too.
        Some('{') => {
            let after = if found.table.is_empty() { " " } else { "," };
            let inside = at.start + 1;
            Ok(Edit::whole(inside..inside, format!(" {}{after}", line.trim_end())))
        }
        Some('[') => Ok(match text[at.end..].find('\n') {
            Some(rest) => Edit::whole(at.end + rest + 1..at.end + rest + 1, line),
            None => Edit::whole(text.len()..text.len(), format!("\n{line}")),
        }),
        // It is only there because tables are below it.
        _ if found.is_one_of_several => Err("change the file".to_owned()),
        _ => Ok(appended(text, tables, line)),
    }
}

/// The table; `None`: it is not there, and can be put at the end.
fn find<'t, 'i>(root: &'t DeTable<'i>, tables: &[String]) -> Result<Option<Found<'t, 'i>>, String> {
    let mut found = Found { table: root, at: None, is_one_of_several: false };
    let mut keys = tables.iter();
    while let Some(key) = keys.next() {
        let Some(value) = found.table.get(key.as_str()) else {
            return if found.is_one_of_several { Err(format!("it has no {key}; change the file")) } else { Ok(None) };
        };
        let value = match value.get_ref() {
            DeValue::Array(all) => {
                found.is_one_of_several = true;
                let names: Vec<&str> = all.iter().filter_map(|one| name(one.get_ref())).collect();
                let named = keys.next().map_or("", String::as_str);
                let one = all.iter().find(|one| name(one.get_ref()) == Some(named));
                one.ok_or_else(|| match names.is_empty() {
                    true => format!("{key} holds nothing that has a name; change the file"),
                    false => nearest(named, names.iter().copied()).map_or_else(
                        || format!("expected {key}.NAME.KEY, NAME being one of {}", names.join(", ")),
                        |near| format!("no {key} is called `{named}`; did you mean `{near}`?"),
                    ),
                })?
            }
            _ => value,
        };
        let DeValue::Table(table) = value.get_ref() else { return Err(format!("{key} is no table")) };
        (found.table, found.at) = (table, Some(value.span()));
    }
    Ok(Some(found))
}

/// What a table calls itself.
fn name<'t>(value: &'t DeValue<'_>) -> Option<&'t str> {
    match value {
        DeValue::Table(table) => table.get("name").and_then(|name| name.get_ref().as_str()),
        _ => None,
    }
}

/// Whether a value is a table with a header, or several.
fn is_by_header(text: &str, value: &DeValue<'_>, at: Range<usize>) -> bool {
    match value {
        DeValue::Table(_) => !text[at].starts_with('{'),
        // Several tables stand where the first of them does.
        DeValue::Array(all) => all.iter().next().is_some_and(|first| first.span() == at),
        _ => false,
    }
}

/// The place behind the comments with which a file begins.
fn behind_comments(text: &str) -> Range<usize> {
    let is_comment = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let length: usize = text.split_inclusive('\n').take_while(is_comment).map(str::len).sum();
    length..length
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# ours\nname = \"ours\"\n\n\
                        [[configuration]]\nname = \"gp3\"\ndata_volume = { type = \"gp3\" }\n\n\
                        [[configuration]]\nname = \"io2\" # dear\n\n[load]\nrepetitions = 3 # each\n\n\
                        [provider.local]\nscale = 16\n";

    fn with(assignment: &str) -> Result<String, String> {
        Ok(set(FILE, &[assignment.parse()?])?.text)
    }

    #[test]
    fn a_key_is_set_in_its_place_and_the_rest_of_the_file_stays() {
        for (assignment, from, to) in [
            ("load.repetitions=5", "repetitions = 3 # each", "repetitions = 5 # each"),
            ("name=tonight", "name = \"ours\"", "name = \"tonight\""),
            ("question=Why?", "# ours\n", "# ours\nquestion = \"Why?\"\n"),
            ("load.concurrency=[1, 8]", "[load]\n", "[load]\nconcurrency = [1, 8]\n"),
            ("configuration.io2.nodes=3", "name = \"io2\"", "nodes = 3\nname = \"io2\""),
            ("configuration.gp3.data_volume.iops=9000", "{ type", "{ iops = 9000, type"),
            ("provider.local.scale=64", "scale = 16", "scale = 64"),
            ("provider.local.page_cache_mib=130", "[provider.local]\n", "[provider.local]\npage_cache_mib = 130\n"),
            ("basis.price_date=2017-11-12", "16\n", "16\n\n[basis]\nprice_date = \"2017-11-12\"\n"),
            ("objective.p99_ms=10", "scale = 16\n", "scale = 16\n\n[objective]\np99_ms = 10\n"),
        ] {
            assert_eq!(with(assignment), Ok(FILE.replacen(from, to, 1)), "{assignment}");
        }
    }

    #[test]
    fn a_key_of_a_table_in_braces_is_set_whatever_stands_in_them() {
        for braces in ["{}", "{ type = \"gp3\", }", "{ # ours\n type = \"gp3\" # cheap\n}", "{ # none\n}"] {
            let file = format!("[load]\nthink = {braces}\n");
            let changed = set(&file, &["load.think.iops=9000".parse().unwrap()]).unwrap().text;
            let file: toml::Table = toml::from_str(&changed).unwrap();
            let think = &file["load"]["think"];
            assert_eq!(think["iops"].as_integer(), Some(9000), "{changed}");
            assert_eq!(think.get("type").is_some(), braces.contains("gp3"), "{changed}");
        }
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_the_reason() {
        for (assignment, why) in [
            ("load.repetitions", "expected KEY=VALUE"),
            ("load..x=1", "expected a key"),
            ("load=1", "load is a table: set one of its keys"),
            ("configuration=1", "configuration is a table"),
            ("configuration.nodes=3", "expected configuration.NAME.KEY, NAME being one of gp3, io2"),
            ("configuration.gp.nodes=3", "no configuration is called `gp`; did you mean `gp3`?"),
            ("name.x=3", "name is no table"),
            ("configuration.io2.data_volume.iops=1", "it has no data_volume; change the file"),
        ] {
            let refused = with(assignment).unwrap_err();
            assert!(refused.contains(why), "{assignment}: {refused}");
        }
        assert_eq!(with("load=1"), Err("--set load=1: load is a table: set one of its keys".to_owned()));
        let unread = set("name = ", &["name=x".parse().unwrap()]).unwrap();
        assert_eq!(unread.text, "name = ", "the reader says what is wrong");
    }

    #[test]
    fn cells_are_named_in_load() {
        let only = Assignment::only(&["gp3.night.c64".to_owned()]);
        assert_eq!(only.to_string(), "--only gp3.night.c64");
        assert_eq!(set("[load]\n", &[only]).unwrap().text, "[load]\nonly = [\"gp3.night.c64\"]\n");
    }
}
