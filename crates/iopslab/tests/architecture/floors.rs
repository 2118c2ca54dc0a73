//! The floors inside a room: a file imports from files below it only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::edges;

/// Circles that stay: the crate, the modules that they lie within, and why.
const CIRCLES: &[(&str, &[&str], &str)] = &[];

/// A module's path in its crate: empty for `lib.rs` and `main.rs`.
pub(super) type Module = Vec<String>;

/// Every file below `folder` with its code, without comments and tests.
pub(super) fn modules(folder: &Path, prefix: &[String], found: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if stem == "tests" {
            continue;
        }
        let child = [prefix, std::slice::from_ref(&stem)].concat();
        if path.is_dir() {
            modules(&path, &child, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let is_folder = ["mod", "lib", "main"].contains(&stem.as_str());
            let module = if is_folder { prefix.to_vec() } else { child };
            let code = without_tests(&std::fs::read_to_string(&path).unwrap());
            found.entry(module).or_default().push_str(&code);
        }
    }
}

/// The code up to the file's tests; single items for tests are left out too, and so are lines that are comments.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let item = lines.next().unwrap_or_default();
            if item.contains("mod ") && item.ends_with('{') {
                break;
            }
        } else if !line.trim_start().starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// All paths that the text begins with (`a::{b, c::D}` is `a::b` and `a::c::D`), and the text after them.
fn paths(mut text: &str) -> (Vec<Module>, &str) {
    let mut path = Vec::new();
    loop {
        text = text.trim_start();
        if let Some(group) = text.strip_prefix('{') {
            let mut all = Vec::new();
            text = group;
            loop {
                let (members, rest) = paths(text);
                // After the last comma stands nothing.
                let members = members.into_iter().filter(|member| !member.is_empty());
                all.extend(members.map(|member| [path.clone(), member].concat()));
                text = rest.trim_start();
                if let Some(renamed) = text.strip_prefix("as ") {
                    text = renamed.trim_start_matches(is_of_a_word).trim_start();
                }
                let Some(next) = text.strip_prefix(',') else { break };
                text = next;
            }
            return (all, text.strip_prefix('}').unwrap_or(text));
        }
        let end = text.find(|c| !is_of_a_word(c) && c != '*').unwrap_or(text.len());
        if end > 0 {
            path.push(text[..end].to_owned());
        }
        match text[end..].strip_prefix("::") {
            Some(rest) if end > 0 => text = rest,
            _ => return (vec![path], &text[end..]),
        }
    }
}

fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A path as it is written in `module`, from the root of the crate.
fn from_root(module: &Module, path: &Module) -> Module {
    let mut place = if path[0] == "crate" { Vec::new() } else { module.clone() };
    for segment in path {
        match segment.as_str() {
            "crate" | "self" => {}
            "super" => drop(place.pop()),
            other => place.push(other.to_owned()),
        }
    }
    place
}

/// The paths through its crate that a file writes: those from `crate`, `super`, `self` or a module below it.
fn written(module: &Module, code: &str, files: &BTreeMap<Module, String>) -> Vec<Module> {
    let below = files.keys().filter(|f| f.len() == module.len() + 1 && f.starts_with(module));
    let starts = ["crate", "super", "self"].into_iter().map(str::to_owned);
    let starts: Vec<String> = starts.chain(below.filter_map(|f| f.last().cloned())).collect();
    let mut found = Vec::new();
    for start in starts {
        for (at, _) in code.match_indices(&format!("{start}::")) {
            // What a macro names by `$crate` is where it is used.
            let is_inside = |c: char| is_of_a_word(c) || matches!(c, ':' | '.' | '$');
            if !code[..at].ends_with(is_inside) {
                let (all, _) = paths(&code[at..]);
                found.extend(all.iter().map(|path| from_root(module, path)));
            }
        }
    }
    found
}

/// What a file gives on under its own name (`pub use`), with the place it comes from.
fn given_on(files: &BTreeMap<Module, String>) -> BTreeMap<Module, Module> {
    let mut given = BTreeMap::new();
    for (module, code) in files {
        for statement in code.split(';') {
            let visible = statement.rsplit_once("pub").map_or("", |(_, rest)| rest);
            let Some((scope, tree)) = visible.split_once("use ") else { continue };
            if !scope.trim().is_empty() && !scope.trim().starts_with('(') {
                continue;
            }
            for path in paths(tree).0.iter().filter(|path| !path.is_empty()) {
                let name = path.last().cloned().unwrap_or_default();
                given.insert([module.clone(), vec![name]].concat(), from_root(module, path));
            }
        }
    }
    given
}

/// The file that holds what a path names: what a facade gives on counts as taken from the file that defines it.
fn holder(path: &Module, files: &BTreeMap<Module, String>, given: &BTreeMap<Module, Module>) -> Option<Module> {
    let mut path = path.clone();
    // A chain of facades is never as long as this.
    for _ in 0..8 {
        let known = (0..=path.len()).rev().find(|n| files.contains_key(&path[..*n]))?;
        match path.get(..=known).and_then(|name| given.get(name)) {
            Some(origin) if *origin != path[..=known] => path = [origin.clone(), path[known + 1..].to_vec()].concat(),
            _ => return Some(path[..known].to_vec()),
        }
    }
    None
}

/// Which files of a crate each file imports from.
fn imports(source: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = BTreeMap::new();
    modules(source, &[], &mut files);
    let given = given_on(&files);
    let uses = |(module, code): (&Module, &String)| {
        let holders = written(module, code, &files).into_iter().filter_map(|path| holder(&path, &files, &given));
        (module.clone(), holders.filter(|other| other != module).collect())
    };
    files.iter().map(uses).collect()
}

/// The circles: files that can all be reached from each other.
fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<BTreeSet<Module>> {
    let reached = |from: &Module| {
        let mut seen: BTreeSet<Module> = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            open.extend(imports[module].iter().filter(|other| seen.insert((*other).clone())));
        }
        seen
    };
    let reach: BTreeMap<&Module, BTreeSet<Module>> = imports.keys().map(|module| (module, reached(module))).collect();
    let circle = |(module, others): (&&Module, &BTreeSet<Module>)| {
        let back = others.iter().filter(|other| reach[other].contains(*module)).cloned();
        back.collect::<BTreeSet<_>>()
    };
    reach.iter().map(circle).filter(|circle| !circle.is_empty()).collect()
}

/// Whether all files of a circle lie within these modules; `""` is the root file alone.
fn lies_within(circle: &BTreeSet<Module>, listed: &[&str]) -> bool {
    circle.iter().all(|module| {
        let top = module.first().map_or("", String::as_str);
        listed.contains(&top)
    })
}

/// No circle between the files of a crate, except those of [`CIRCLES`].
///
/// A file imports what its paths name, wherever they stand in its code, tests left out. A facade (`lib.rs` or `mod.rs`
/// that gives on what its children define) is looked through: an import from it counts as one from the file that
/// defines the thing. What a facade defines itself is its own, and giving on is an import: so a `mod.rs` that holds
/// what its children need *and* gives on what they define makes a circle with them,
/// and its own part belongs in a file below them.
#[test]
fn files_of_a_room_with_floors_import_in_no_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut listed: BTreeSet<_> = CIRCLES.iter().collect();
    for room in edges().keys() {
        let source = crates.join(room).join("src");
        if !source.is_dir() {
            continue;
        }
        let imports = imports(&source);
        for circle in circles(&imports) {
            let known = CIRCLES.iter().find(|(of, within, _)| of == room && lies_within(&circle, within));
            if let Some(known) = known {
                listed.remove(known);
                continue;
            }
            let name = |module: &Module| format!("{room}::{}", module.join("::"));
            let lines = circle.iter().map(|module| {
                let others: Vec<String> = imports[module].intersection(&circle).map(name).collect();
                format!("  {} imports from {}", name(module), others.join(", "))
            });
            panic!("a circle of files:\n{}", lines.collect::<Vec<_>>().join("\n"));
        }
    }
    assert!(listed.is_empty(), "these circles are gone, strike them from the list: {listed:?}");
}

#[test]
fn imports_are_seen_through_groups_facades_and_parents() {
    let files = BTreeMap::from([
        (vec![], "mod a;\npub(crate) mod b;\npub use a::{self, Thing as Other, deep::{X, Y,},};".to_owned()),
        (vec!["a".to_owned()], "use crate::b;\npub mod deep;\npub struct Thing;".to_owned()),
        (vec!["a".to_owned(), "deep".to_owned()], "use super::super::{b::{self, C}, Y};\nuse super::Thing;".to_owned()),
        (vec!["b".to_owned()], "fn f() { crate::X::new(); }".to_owned()),
    ]);
    let given = given_on(&files);
    let of = |module: &[&str]| {
        let module: Module = module.iter().map(|s| (*s).to_owned()).collect();
        let held = written(&module, &files[&module], &files).into_iter();
        let held: BTreeSet<String> = held.filter_map(|p| holder(&p, &files, &given)).map(|m| m.join("::")).collect();
        held.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(of(&[]), ["a", "a::deep"]);
    assert_eq!(of(&["a"]), ["b"]);
    assert_eq!(of(&["a", "deep"]), ["a", "a::deep", "b"]);
    assert_eq!(of(&["b"]), ["a::deep"], "through the facade");
}
