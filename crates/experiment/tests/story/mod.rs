//! A small experiment that is sound, and what becomes of it when a word of it is changed.

#![allow(dead_code, reason = "each file of stories uses a part of it")]

use experiment::{Experiment, Mistakes, OperationKind, ParseContext, Provider, ReadFor, StatementName, parse};

pub const GOOD: &str = r#"name = "x"

[dataset]
records = 1000

[[configuration]]
name = "a"
instance = "r4.4xlarge"
data_volume = { type = "gp2", size_gib = 320 }

[[workload]]
name = "w"
read = 0.8
update = 0.2

[load]
concurrency = [10]
"#;

/// The sound file with `replace` changed.
pub fn with(replace: &str, by: &str) -> String {
    assert!(GOOD.contains(replace), "{replace} is not in the good file");
    GOOD.replacen(replace, by, 1)
}

/// The sound file with more after it.
pub fn and(more: &str) -> String {
    format!("{GOOD}{more}")
}

/// The text, which names no other file.
pub fn read(text: &str, purpose: ReadFor) -> Result<Experiment, Mistakes> {
    parse(catalog::Catalog::built_in(), "x.toml", text, &ParseContext::alone(), purpose)
}

/// The text for a run by this provider; refused in words.
pub fn to_run(text: &str, provider: Provider) -> Result<Experiment, String> {
    read(text, ReadFor::Run(provider)).map_err(|mistakes| mistakes.to_string())
}

/// The text, which names this file alone.
pub fn read_beside(text: &str, file: &str, purpose: ReadFor) -> Result<Experiment, Mistakes> {
    let read = |_: &str| Ok(file.to_owned());
    parse(catalog::Catalog::built_in(), "x.toml", text, &ParseContext::files(&read), purpose)
}

/// Operations of the user's own statement of this name.
pub fn kind(name: &str) -> OperationKind {
    OperationKind::Statement(StatementName::new(name).unwrap())
}

pub fn accepted(text: &str) -> Experiment {
    read(text, ReadFor::Anybody).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"))
}

pub fn refused(text: &str) -> Mistakes {
    read(text, ReadFor::Anybody).err().unwrap_or_else(|| panic!("accepted:\n{text}"))
}

/// Each text is refused with words that contain what stands beside it.
pub fn each_refused(cases: &[(String, &str)]) {
    for (text, expected) in cases {
        let message = refused(text).to_string();
        assert!(message.contains(expected), "expected: {expected}\n message: {message}\n{text}");
    }
}

/// The notes of a rule, as a plan shows them.
pub fn notes(experiment: &Experiment, rule: &str, provider: Option<experiment::Provider>) -> Vec<String> {
    experiment::static_notes(catalog::Catalog::built_in(), experiment, provider, None)
        .iter()
        .filter(|note| note.rule == rule)
        .map(ToString::to_string)
        .collect()
}
