//! The table of examples says what `iopslab plan` says: who carries each out, its number of trials, how long it takes.

use std::path::PathBuf;

use experiment::{Plan, Provider};

use crate::support::{Exits as _, Laboratory};
use crate::{read, root};

const PAGE: &str = "docs/examples.md";
/// `| question | file | runs on | trials | time | what it answers |`, between the bars that begin and end the line.
const CELLS: usize = 6;

/// Words of the table for a provider, and the flags with which its experiments are planned.
const RUNS_ON: [(&str, &[&str], Provider); 4] = [
    ("real", &[], Provider::Local),
    ("simulated", &["--provider", "simulated"], Provider::Simulated),
    ("your machines", &["--provider", "hosts"], Provider::Hosts),
    ("AWS", &["--provider", "aws"], Provider::Aws),
];

/// What the program says of an example.
fn planned(lab: &Laboratory, file: &str, flags: &[&str]) -> Plan {
    let path: PathBuf = root().join("examples").join(file);
    let arguments = [&["plan", path.to_str().unwrap(), "--format", "json"][..], flags].concat();
    serde_json::from_value(lab.iopslab(&arguments).exits(0).json()["plan"].take()).unwrap()
}

fn trials(plan: &Plan) -> String {
    let at_most = if plan.adaptive.as_ref().is_some_and(|a| a.rests_cells()) { "at most " } else { "" };
    match &plan.search {
        Some(search) => format!("{} rates to find", search.searches.len()),
        None => format!("{at_most}{}", plan.trials.len()),
    }
}

fn time(plan: &Plan) -> String {
    match (plan.place.is_simulated(), plan.estimated_s / 60.0) {
        (true, _) => "seconds".to_owned(),
        (false, minutes) if minutes < 90.0 => format!("{:.0} min", minutes.max(1.0)),
        (false, minutes) => format!("{:.0} h", minutes / 60.0),
    }
}

/// A row with what its plan says in its cells, and whether it is of an example at all.
fn held_to_its_plan(lab: &Laboratory, row: &str) -> Option<String> {
    let mut cells: Vec<String> = row.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").map(str::to_owned).collect();
    let (_, file) = cells.get(1)?.split_once("](../examples/")?;
    let file = file.strip_suffix(".toml)")?.to_owned() + ".toml";
    assert_eq!(cells.len(), CELLS, "{row}");
    let (_, flags, provider) = RUNS_ON.into_iter().find(|(word, ..)| *word == cells[2]).unwrap_or_else(|| {
        panic!("{file} runs on `{}`, which is none of {RUNS_ON:?}", cells[2]);
    });
    let plan = planned(lab, &file, flags);
    assert_eq!(plan.place.provider(), provider, "{file}");
    (cells[3], cells[4]) = (trials(&plan), time(&plan));
    Some(format!("| {} |", cells.join(" | ")))
}

/// `UPDATE_DOCS=1 cargo test -p iopslab --test docs` writes the cells anew.
#[test]
fn the_table_of_examples_says_what_their_plans_say() {
    let lab = Laboratory::new();
    let page = read(PAGE);
    let mut seen = 0;
    let held = page.lines().map(|line| match held_to_its_plan(&lab, line) {
        Some(row) => {
            seen += 1;
            row
        }
        None => line.to_owned(),
    });
    let held: String = held.map(|line| line + "\n").collect();
    assert!(seen > 20, "{seen} examples");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(root().join(PAGE), held).unwrap();
        return;
    }
    let stale = page.lines().zip(held.lines()).filter(|(shown, planned)| shown != planned);
    let stale: Vec<String> = stale.map(|(shown, planned)| format!("{shown}\n  should be\n{planned}")).collect();
    assert!(stale.is_empty(), "{PAGE} is stale:\n{}", stale.join("\n"));
}
