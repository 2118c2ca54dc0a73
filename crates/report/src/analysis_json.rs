//! The document as it is written to `analysis.json`: the analysis, with the sentences that people read beside the
//! values they are made from.

use analysis::{Analysis, Finding};
use serde_json::{Map, Value, json};

use crate::answer::{self, answer};
use crate::wording;

/// The whole document.
pub fn document(analysis: &Analysis) -> Value {
    let mut document = json!(analysis);
    if let Value::Object(fields) = &mut document {
        add_answer(analysis, fields);
        add_reasons(analysis, fields);
        add_limits(analysis, fields);
        add_findings(analysis, fields);
    }
    document
}

/// `answer`, and `recommendation` in words; typed values stand beside them.
fn add_answer(analysis: &Analysis, fields: &mut Map<String, Value>) {
    let words = answer(analysis);
    fields.insert("answer".to_owned(), json!(words.lines()));
    fields.insert("spread".to_owned(), json!(answer::spread(analysis)));
    let typed = &analysis.recommendation;
    let doubts: Vec<String> = typed.doubts.iter().map(|d| answer::doubt(analysis, d)).collect();
    let not_considered: Vec<Value> = typed
        .not_considered
        .iter()
        .map(|n| json!({ "configuration": n.configuration, "why": answer::not_judged(n.why) }))
        .collect();
    let recommendation = json!({
        "status": typed.status,
        "run": typed.run,
        "because": format!("{}.", words.because),
        "doubts": doubts,
        "would_decide": typed.would_decide,
        "not_considered": not_considered,
        "reason": typed.reason,
        "places": typed.places,
        "any_of": typed.any_of,
        "everywhere": typed.everywhere,
        "hardware": typed.hardware,
        "doubts_typed": typed.doubts,
        "not_considered_typed": typed.not_considered,
    });
    fields.insert("recommendation".to_owned(), recommendation);
}

/// `value_of_money[].reason` and `decision[].caution`.
fn add_reasons(analysis: &Analysis, fields: &mut Map<String, Value>) {
    let steps = entries(fields, "value_of_money").zip(&analysis.value_of_money);
    for (entry, step) in steps {
        entry.insert("reason".to_owned(), json!(format!("{}.", answer::step_reason(analysis, step))));
    }
    for (entry, decision) in entries(fields, "decision").zip(&analysis.decision) {
        let sentences: Vec<String> = decision.cautions.iter().map(|c| answer::caution(*c)).collect();
        let caution = (!sentences.is_empty()).then(|| format!("{}.", sentences.join("; ")));
        entry.insert("caution".to_owned(), json!(caution));
    }
}

fn entries<'a>(fields: &'a mut Map<String, Value>, name: &str) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    fields.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// `limit.message` and `delivered.message` of each cell.
fn add_limits(analysis: &Analysis, fields: &mut Map<String, Value>) {
    for (cell, analysed) in entries(fields, "cells").zip(&analysis.cells) {
        if let Some(limit) = cell.get_mut("limit").and_then(Value::as_object_mut) {
            limit.insert("message".to_owned(), wording::limits::message(&analysed.limit).into());
        }
        let used = cell.get_mut("delivered").and_then(Value::as_object_mut);
        if let Some((of, words)) = used.zip(wording::limits::used(analysis, analysed)) {
            of.insert("message".to_owned(), words.into());
        }
    }
}

/// `message` and `advice` of each finding.
fn add_findings(analysis: &Analysis, fields: &mut Map<String, Value>) {
    in_words(analysis, fields, &analysis.findings);
    for (cell, analysed) in entries(fields, "cells").zip(&analysis.cells) {
        in_words(analysis, cell, &analysed.findings);
    }
}

fn in_words(analysis: &Analysis, fields: &mut Map<String, Value>, findings: &[Finding]) {
    for (entry, finding) in entries(fields, "findings").zip(findings) {
        entry.insert("message".to_owned(), wording::message(finding).into());
        entry.insert("advice".to_owned(), wording::advice_in(analysis, finding).into());
    }
}
