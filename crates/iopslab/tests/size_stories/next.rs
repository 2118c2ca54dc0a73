//! What would be worth measuring next: proposed, measured, and the prediction beside the measurement.

use std::path::Path;

use serde_json::{Value, json};

use super::support::{Laboratory, one_line};
use super::{MEASURED, evidence, experiment, run, slow};

/// As many repetitions as can be tested, with page caches that are filled.
const DECIDED: &str = "concurrency = [128]\ncache = \"warm\"\nwarmup_s = 20\nrepetitions = 3";

/// A part of the catalog: the whole of it takes seconds.
const SEARCHED: [&str; 4] = ["--family", "r4", "--family", "r5"];

fn next(lab: &Laboratory, run: &str, more: &[&str]) -> Value {
    lab.exits(0, &[&["--format", "json", "next", run], more].concat()).json()
}

fn figure(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key}: {of}"))
}

/// Each proposal says what it is worth and how sure that is; in the order of what measuring it may save.
fn check_proposals(answer: &Value) {
    let (places, proposals) = (answer["places"].as_array().unwrap(), answer["proposals"].as_array().unwrap());
    assert!(!places.is_empty() && !proposals.is_empty(), "{answer:#}");
    let measured: Vec<String> = MEASURED.iter().map(|(one, iops)| format!("{one}+io1:1000GiB:{iops}")).collect();
    for place in places {
        assert!(figure(place, "half_width") >= 0.01, "no measurement is exact: {place}");
    }
    // Every error with what leads in the middle and at both ends of its interval, and one error more.
    let cases = 3.0 * (figure(&answer["held_out"], "cells") + 1.0);
    let mut before = f64::INFINITY;
    let mut were_known = true;
    for p in proposals {
        assert!(!measured.iter().any(|one| p["configuration"] == *one), "{p}");
        let is_known = !p["worth"].is_null();
        let is_within = p["beyond_evidence"].as_array().unwrap().is_empty();
        assert_eq!(is_known, is_within, "no chance without an error, and no error outside the measured range: {p}");
        assert_eq!(is_known, !p["error"].is_null(), "{p}");
        let worth = match is_known {
            true => {
                let chance = figure(&p["worth"], "chance");
                assert!(chance > 0.0 && chance < 1.0, "it may hold, and nothing is certain: {p}");
                assert!((chance * cases - (chance * cases).round()).abs() < 1e-6, "one of {cases} cases each: {p}");
                let picked = p["sentences"][1].as_str().unwrap();
                assert!(picked.contains("both are likely too high, because it was picked"), "{picked}");
                figure(&p["worth"], "expected_usd_per_month")
            }
            false => figure(p, "saves_usd_per_month"),
        };
        assert!(worth > 0.0, "{p}");
        assert!(were_known || !is_known, "what has no known error stands below: {answer:#}");
        assert!(worth <= before || were_known != is_known, "{answer:#}");
        (before, were_known) = (worth, is_known);
        // What it saves for the throughput of what leads, where that is least.
        let saves = places.iter().zip(p["predicted"].as_array().unwrap()).map(|(place, predicted)| {
            let ratio = figure(predicted, "operations_per_s") / figure(place, "operations_per_s");
            assert!((ratio / figure(predicted, "ratio") - 1.0).abs() < 1e-9, "{p}");
            figure(place, "usd_per_month") - figure(p, "usd_per_month") / ratio
        });
        let least = saves.fold(f64::INFINITY, f64::min);
        assert!((least - figure(p, "saves_usd_per_month")).abs() < 1e-6 * figure(p, "usd_per_month"), "{p}");
        let takes = &p["measuring"]["takes"];
        assert_eq!(takes["trials"], 9, "three workloads, three repetitions: {p}");
        assert!(figure(takes, "seconds") > 9.0 * 120.0, "a trial measures for 120 s: {p}");
    }
    // All at once, by the plan of the experiment that has them.
    let (together, added) = (&answer["together"], 9 * proposals.len());
    assert_eq!(together["proposals"]["trials"], added, "{together}");
    assert_eq!(together["experiment"]["trials"], 9 * MEASURED.len() + added, "{together}");
    assert!(figure(&together["experiment"], "seconds") > figure(&together["proposals"], "seconds"), "{together}");
}

#[test]
fn a_proposal_is_measured_and_what_was_predicted_stands_beside_it() {
    let lab = Laboratory::new();
    let made = run(&lab, "decided", &experiment("decided", 100, &MEASURED, DECIDED, ""));
    let decided = made.as_str();
    let answer = next(&lab, decided, &SEARCHED);
    check_proposals(&answer);
    let first = &answer["proposals"][0];
    println!("{}", first["sentences"]);

    // For people: the sentence, what it is worth, and the block to add.
    let shown = lab.exits(0, &[&["next", decided][..], &SEARCHED].concat()).stdout;
    let words = one_line(&shown);
    for sentence in first["sentences"].as_array().unwrap().iter().chain(answer["sentences"].as_array().unwrap()) {
        assert!(words.contains(sentence.as_str().unwrap()), "{sentence}: {shown}");
    }
    assert!(shown.contains(first["measuring"]["block"].as_str().unwrap().trim_end()), "{shown}");
    assert!(words.contains("is taken for all workloads and load levels at once"), "{shown}");

    // The whole experiment with the first one added; it is there once.
    let said = lab.exits(0, &[&["next", decided, "--top", "1", "--out", "next.toml"][..], &SEARCHED].concat());
    assert!(said.stderr.contains("wrote next.toml; next: iopslab plan next.toml"), "{}", said.stderr);
    let text = std::fs::read_to_string(lab.path().join("next.toml")).unwrap();
    assert_eq!(text.matches("[[configuration]]").count(), MEASURED.len() + 1, "{text}");
    let there = lab.exits(2, &["next", decided, "--out", "next.toml"]).stderr;
    assert!(there.contains("next.toml is there already"), "{there}");

    // Measured (here: simulated), its prediction from the earlier run alone stands beside it. Once each is enough here,
    // and one machine that was measured before.
    let name = first["measuring"]["name"].as_str().unwrap();
    let of = |machine: &str| ["read-heavy", "balanced", "write-heavy"].map(|mix| format!("{machine}.{mix}.c128"));
    let cells = [of(name), of("r4-xlarge-8000")].concat();
    let only = cells.iter().flat_map(|cell| ["--only", cell.as_str()]);
    let once = ["run", "next.toml", "--provider", "simulated", "--out", "run-next", "--set", "load.repetitions=1"];
    lab.exits(0, &once.into_iter().chain(only).collect::<Vec<_>>());
    let measured = lab.run_in("run-next").display().to_string();
    let beside = next(&lab, &measured, &["--against", decided]);
    let predicted = beside["cells"].as_array().unwrap();
    assert!(!predicted.is_empty(), "{beside:#}");
    for cell in predicted {
        assert!(cell["cell"].as_str().unwrap().starts_with(&format!("{name}.")), "{cell}");
        let (predicted, real) = (figure(cell, "predicted_operations_per_s"), figure(cell, "measured_operations_per_s"));
        println!("{}: predicted {predicted:.0}, simulated {real:.0}", cell["cell"]);
        assert!((figure(cell, "off") - (predicted / real - 1.0)).abs() < 1e-9, "{cell}");
        assert!(figure(cell, "off").abs() < 0.25, "{cell}");
    }
    let off = || predicted.iter().map(|cell| figure(cell, "off").abs());
    let range = off().fold(f64::INFINITY, f64::min)..=off().fold(0.0, f64::max);
    assert!(range.contains(&figure(&beside, "median_off")), "{beside:#}");
    assert_eq!(beside["measured_by_both"], json!(["r4-xlarge-8000"]), "{beside:#}");
    assert_eq!((&beside["given_rate"], &beside["not_observed"]), (&json!([]), &json!([])), "{beside:#}");
    let shown = lab.exits(0, &["next", &measured, "--against", decided]).stdout;
    let words = one_line(&shown);
    assert!(words.contains(beside["sentences"][0].as_str().unwrap()), "{shown}");

    // The same machines: nothing is predicted, and that is no answer.
    let same = lab.exits(3, &["next", decided, "--against", evidence(&lab)]);
    assert!(same.stdout.contains("Nothing of") && same.stdout.contains("is predicted from"), "{}", same.stdout);
    assert!(same.stderr.contains("does not say what"), "{}", same.stderr);

    // Where what leads costs next to nothing, nothing is worth measuring, and it says so.
    cheapen(Path::new(decided));
    let nothing = next(&lab, decided, &[&["--out", "none.toml"][..], &SEARCHED].concat());
    assert_eq!((&nothing["because"]["kind"], &nothing["proposals"]), (&json!("nothing_better"), &json!([])));
    let sentence = nothing["sentences"][0].as_str().unwrap();
    assert!(sentence.starts_with("Nothing is worth measuring next: of "), "{sentence}");
    assert!(sentence.contains("none gives more for its money than what leads, by more than 5 %"), "{sentence}");
    assert!(!lab.path().join("none.toml").exists());
}

/// Every configuration of a run for a dollar a month.
fn cheapen(run: &Path) {
    let path = run.join("plan.json");
    let mut plan: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for money in plan["money"]["configurations"].as_array_mut().unwrap() {
        money["usd_per_month"] = json!(1.0);
    }
    std::fs::write(&path, plan.to_string()).unwrap();
}

#[test]
fn where_nothing_leads_yet_nothing_is_proposed() {
    let lab = Laboratory::new();
    // Two repetitions cannot be tested.
    let evidence = evidence(&lab);
    let said = lab.exits(3, &["--format", "json", "next", evidence]);
    let answer = said.json();
    assert_eq!(answer["because"], json!({"kind": "no_place"}), "{answer:#}");
    let not_predicted = answer["not_predicted"].as_array().unwrap();
    assert_eq!(not_predicted.len(), 3);
    assert!(not_predicted.iter().all(|place| place["why"] == json!({"kind": "no_leader"})), "{answer:#}");
    let sentence = answer["sentences"][0].as_str().unwrap();
    assert!(sentence.starts_with("Not decided what to measure next: the model predicts nothing"), "{sentence}");
    assert!(said.stderr.contains("the evidence does not say what to measure next"), "{}", said.stderr);

    let twice = lab.exits(2, &["next", evidence, "--against", evidence]).stderr;
    assert!(twice.contains("is given twice: it would foretell itself"), "{twice}");
    let both = lab.exits(2, &["next", evidence, "--against", evidence, "--out", "next.toml"]).stderr;
    assert!(both.contains("cannot be used with"), "{both}");
}

#[test]
fn a_model_that_fails_its_own_test_proposes_nothing() {
    let lab = Laboratory::new();
    let answer = lab.exits(3, &["--format", "json", "next", slow(&lab)]).json();
    assert_eq!((&answer["because"], &answer["proposals"]), (&json!({"kind": "model_refused"}), &json!([])));
    let held_out = &answer["held_out"];
    assert!(figure(held_out, "median_error") > 0.15 || figure(held_out, "p90_error") > 0.25, "{held_out}");
    let sentence = answer["sentences"][0].as_str().unwrap();
    assert!(sentence.contains("the model may not be used on this evidence: "), "{sentence}");
    assert!(sentence.contains(" cells held out, and predicted from the other configurations: error "), "{sentence}");
    assert!(sentence.contains("; at most 15 % and 25 % are accepted; add another mix to the experiment"), "{sentence}");
}
