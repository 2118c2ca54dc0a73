//! The docs say what is there: links resolve, every example has its question, and flags, columns, variables, rules and
//! error texts are those of the program.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "docs/examples.rs"]
mod examples;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use support::Laboratory;

fn root() -> PathBuf {
    std::fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Files below `folder` with this ending; what is built, run or hidden (but `.github`) is left out.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().into_string().unwrap();
        let hidden = name.starts_with('.') && name != ".github";
        if path.is_dir() {
            if !hidden && name != "target" && name != "runs" {
                files(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

/// Every page by its path from the root, with its text.
fn pages() -> BTreeMap<String, String> {
    let mut found = Vec::new();
    files(&root(), ".md", &mut found);
    assert!(found.len() > 10, "{found:?}");
    let name = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    found.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// Lines outside of code blocks, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push((i + 1, line));
        }
    }
    assert!(!in_code, "a code block does not end");
    lines
}

/// Code blocks that begin with this word, such as `toml`.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut current: Option<Vec<&str>> = None;
    for line in text.lines() {
        match (&mut current, line.trim_start().strip_prefix("```")) {
            (Some(lines), Some(_)) => {
                blocks.push(lines.join("\n"));
                current = None;
            }
            (Some(lines), None) => lines.push(line),
            (None, Some(word)) if word == language => current = Some(Vec::new()),
            _ => {}
        }
    }
    blocks
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// A link: whether it is a picture, and where it points.
fn links(line: &str) -> Vec<(bool, String)> {
    let line = without_code(line);
    line.match_indices("](")
        .filter_map(|(at, _)| {
            // A link's words may begin on the line before.
            let opening = line[..at].rfind('[');
            let target = line[at + 2..].split(')').next()?;
            Some((opening.is_some_and(|o| line[..o].ends_with('!')), target.to_owned()))
        })
        .collect()
}

/// Anchors of a page's headings, as GitHub makes them: lower case, punctuation left out, spaces as hyphens.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let before = seen.entry(slug.clone()).or_default();
        anchors.insert(if *before == 0 { slug } else { format!("{slug}-{before}") });
        *before += 1;
    }
    anchors
}

/// What a relative link lacks; `None` when it resolves.
fn broken(page: &str, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = match path {
        "" => root().join(page),
        path => root().join(page).parent().unwrap().join(path),
    };
    if !file.exists() {
        return Some(format!("{target}: no such file"));
    }
    let has_anchor = || anchors(&std::fs::read_to_string(&file).unwrap()).contains(anchor);
    let judged = !anchor.is_empty() && file.extension().is_some_and(|e| e == "md");
    (judged && !has_anchor()).then(|| format!("{target}: no such heading"))
}

/// All relative links of the docs that do not resolve, pictures or others.
fn all_broken(pictures: bool) -> Vec<String> {
    let mut problems = Vec::new();
    let mut seen = 0;
    for (page, text) in pages() {
        for (number, line) in prose(&text) {
            for (is_picture, target) in links(line) {
                let elsewhere = target.contains("://") || target.starts_with("mailto:");
                if is_picture != pictures || elsewhere {
                    continue;
                }
                seen += 1;
                problems.extend(broken(&page, &target).map(|what| format!("{page}:{number}: {what}")));
            }
        }
    }
    assert!(seen > 0, "no link was found at all");
    problems
}

#[test]
fn relative_links_and_their_anchors_resolve() {
    assert_eq!(all_broken(false), Vec::<String>::new());
}

/// Paths of the repository that stand in the text as code: `crates/x/src/y.rs`.
#[test]
fn paths_that_are_named_exist() {
    let folders = ["crates/", "examples/", "scripts/", "docs/", "bench/", "fuzz/", ".ci/", ".github/"];
    let is_path = |word: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        // NAME is what the reader puts there.
        folders.iter().any(|folder| word.starts_with(folder)) && word.chars().all(plain) && !word.contains("NAME")
    };
    let mut missing = Vec::new();
    for (page, text) in pages() {
        for (line, prose) in prose(&text) {
            // Every other piece between back quotes is code.
            let code = prose.split('`').skip(1).step_by(2).filter(is_path);
            let gone = code.filter(|path| !root().join(path).exists());
            missing.extend(gone.map(|path| format!("{page}:{line}: there is no {path}")));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_picture_is_there() {
    assert_eq!(all_broken(true), Vec::<String>::new());
}

#[test]
fn links_are_found_where_they_are_and_not_in_code() {
    let line = "see [a](x.md#b-c), `[no](code)` and ![p](y.png)";
    assert_eq!(links(line), [(false, "x.md#b-c".to_owned()), (true, "y.png".to_owned())]);
    let page = "# One: *two*\n```\n# code\n```\n## Same\n## Same\n## With `code_word`, 50 %";
    let expected = ["one-two", "same", "same-1", "with-code_word-50-"];
    assert_eq!(anchors(page), expected.map(str::to_owned).into());
}

#[test]
fn every_example_has_its_question() {
    let gallery = read("docs/examples.md");
    let mut found = Vec::new();
    files(&root().join("examples"), "", &mut found);
    assert!(found.len() > 5, "{found:?}");
    for file in found {
        let name = file.strip_prefix(root()).unwrap().display().to_string();
        assert!(gallery.contains(&format!("(../{name})")), "docs/examples.md does not name {name}");
    }
}

/// Lines that say something, without comments.
fn bare(toml: &str) -> Vec<&str> {
    let said = toml.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    said.filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_tutorial_shows_its_example() {
    let example = read("examples/tutorial.toml");
    let example = bare(&example);
    let blocks = blocks(&read("docs/tutorial.md"), "toml");
    assert!(blocks.len() > 4);
    for block in blocks {
        let block = bare(&block);
        assert!(
            example.windows(block.len()).any(|part| part == block),
            "examples/tutorial.toml does not hold {block:#?}"
        );
    }
}

/// Holds what the tutorial shows between the marks of this name to what is printed, and gives it back.
/// `UPDATE_DOCS=1 cargo test -p iopslab --test docs` writes it anew.
fn shows(name: &str, printed: &str) {
    let printed: String = printed.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    let (before, after) = (format!("<!-- {name} -->\n```\n"), format!("```\n<!-- /{name} -->"));
    let page = read("docs/tutorial.md");
    let (start, rest) = page.split_once(&before).unwrap();
    let (shown, end) = rest.split_once(&after).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let page = [start, &before, &printed, &after, end].concat();
        std::fs::write(root().join("docs/tutorial.md"), page).unwrap();
    } else {
        assert_eq!(shown, printed, "docs/tutorial.md is stale: {name}");
    }
}

/// What its commands print on 80 columns: of the plan what comes before its table, of the rehearsal all but its
/// findings, of the size the verdict on today's fleet.
#[test]
fn the_tutorial_shows_what_its_commands_print() {
    let lab = Laboratory::new();
    let printed = |arguments: &[&str]| {
        let output = lab.iopslab(arguments).env("COLUMNS", "80").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let until = |text: &str, end: &str| text.split_once(end).unwrap().0.to_owned();
    let example = read("examples/tutorial.toml");
    lab.write("tutorial.toml", &example);
    shows("plan", &until(&printed(&["plan", "tutorial.toml"]), "\n\n"));

    let rehearsal = printed(&["run", "tutorial.toml", "--provider", "simulated"]);
    shows("rehearsal", &until(&rehearsal, "\nFindings"));

    // The command as it stands there.
    let page = read("docs/tutorial.md");
    let command = page.split_once("\niopslab size runs/tutorial-* ").unwrap().1;
    let command = until(command, "\n```").replace('\'', "");
    let flags = command.split_whitespace().filter(|word| *word != "\\");
    let run = lab.run_directory().display().to_string();
    let arguments: Vec<&str> = ["size", run.as_str()].into_iter().chain(flags).collect();
    shows("size", &until(&printed(&arguments), "\nBest "));
}

/// What a command says about itself.
fn help(verbs: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_iopslab")).args(verbs).arg("--help").output().unwrap();
    assert!(output.status.success(), "{verbs:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands below a command.
fn below(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let named = list.lines().take_while(|line| !line.is_empty());
    let names = named.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    names.filter_map(|rest| rest.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

fn flags(help: &str) -> BTreeSet<String> {
    let lines = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let words = lines.flat_map(str::split_whitespace).filter(|word| word.starts_with("--"));
    // `--watch[=<ADDRESS>]` is the flag `--watch`.
    let names = words.map(|word| word.split(['[', '=']).next().unwrap_or(word));
    names.map(|name| name.trim_end_matches([',', ']', '.']).to_owned()).collect()
}

/// Whether `word` stands in the text and does not go on.
fn says(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let next = text[at + word.len()..].chars().next();
        !next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    })
}

#[test]
fn the_reference_has_every_command_and_flag() {
    let reference = read("docs/reference.md");
    let mut left = vec![Vec::new()];
    let mut missing = Vec::new();
    let mut commands = 0;
    while let Some(verbs) = left.pop() {
        let text = help(&verbs);
        for name in below(&text) {
            left.push([verbs.as_slice(), &[name]].concat());
        }
        let command = verbs.join(" ");
        if !says(&reference, &command) {
            missing.push(command.clone());
        }
        let unknown = flags(&text).into_iter().filter(|flag| !says(&reference, flag));
        missing.extend(unknown.map(|flag| format!("{command} {flag}")));
        commands += 1;
    }
    assert!(commands > 15, "{commands} commands");
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn the_reference_has_every_column_of_a_host() {
    let reference = read("docs/reference.md");
    let volumes = evidence::VolumeFigures::FIELDS.iter().chain(evidence::EbsFigures::FIELDS);
    for name in evidence::HostFigures::FIELDS.iter().chain(volumes) {
        assert!(reference.contains(&format!("| `{name}` |")), "{name}");
    }
    for series in reported::ALL.iter().flat_map(|product| product.all_series()) {
        let line = format!("| `{}` | {} |", series.key, series.about);
        assert!(reference.contains(&line), "{line}");
    }
}

#[test]
fn the_reference_has_every_figure_of_a_database() {
    let reference = read("docs/reference.md");
    let line = reference.lines().find(|line| line.starts_with("| `database` | What the database")).unwrap();
    for figure in reported::ALL.iter().flat_map(|product| product.figures) {
        assert!(line.contains(&format!("`{}`", figure.key)), "{}", figure.key);
    }
}

#[test]
fn the_method_has_every_rule() {
    let method = read("docs/method.md");
    for rule in analysis::Rule::ALL {
        let name = rule.name();
        assert!(method.contains(&format!("`{name}`")), "{name}");
    }
}

/// The files of the program's source.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for room in std::fs::read_dir(root().join("crates")).unwrap().flatten() {
        files(&room.path().join("src"), ".rs", &mut found);
    }
    assert!(found.len() > 100, "{}", found.len());
    found
}

/// Two files fit beside each other, of tests and examples too. `cargo fmt` leaves comments, strings and `json!` as wide
/// as they are.
#[test]
fn no_line_of_rust_is_wider_than_120_columns() {
    let mut found = Vec::new();
    files(&root(), ".rs", &mut found);
    assert!(found.len() > sources().len(), "{}", found.len());
    let wide_of = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let wide = text.lines().enumerate().filter(|(_, line)| line.chars().count() > 120);
        wide.map(|(at, _)| format!("{}:{}", path.display(), at + 1)).collect::<Vec<_>>()
    };
    let wide: Vec<String> = found.iter().flat_map(wide_of).collect();
    assert!(wide.is_empty(), "wrap these lines (strings with a backslash at their end):\n{}", wide.join("\n"));
}

/// The program's source with its strings in one piece, as they are shown.
fn source() -> String {
    let found = sources();
    let texts = found.iter().map(|path| std::fs::read_to_string(path).unwrap());
    // A backslash at the end of a line goes on with the next line's first word.
    let joined = texts.map(|text| {
        let mut pieces = text.split("\\\n");
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |all, piece| all + piece.trim_start())
    });
    joined.collect::<Vec<_>>().join("\n").replace("\\\"", "\"")
}

/// Headings in backticks are error texts; `…` stands for what varies.
#[test]
fn troubleshooting_quotes_the_programs_own_words() {
    let source = source();
    let page = read("docs/troubleshooting.md");
    let quoted: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`')).collect();
    assert!(quoted.len() > 20, "{quoted:?}");
    for text in quoted {
        for part in text.split('…').map(str::trim) {
            assert!(source.contains(part), "the program does not say {part:?} (of {text:?})");
        }
    }
}

#[test]
fn the_reference_has_every_variable_of_the_program() {
    let reference = read("docs/reference.md");
    let source = source();
    let names: BTreeSet<&str> = source
        .match_indices("IOPSLAB_")
        .map(|(at, _)| {
            let rest = &source[at..];
            let end = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
        .collect();
    assert!(names.len() > 4, "{names:?}");
    for name in names {
        assert!(reference.contains(&format!("| `{name}` |")), "{name}");
    }
}

/// Words that were found hard to read, with what to write instead.
const PLAINER: [(&str, &str); 3] = [
    ("told apart", "distinguished, or: statistically indistinguishable"),
    ("dearer", "more expensive"),
    (", and said.", "a sentence of its own"),
];

#[test]
fn docs_are_in_plain_words() {
    for (page, text) in pages() {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        for (hard, plain) in PLAINER {
            assert!(!text.contains(hard), "{page} says {hard:?}; write {plain}");
        }
    }
}
