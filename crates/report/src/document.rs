//! `analysis.json`: the analysis with its findings in words.

use analysis::{Analysis, Finding};
use serde_json::{Map, Value};

use crate::wording;

/// The document that scripts read: the analysis as it is, with `message` and `advice` added to each finding.
pub fn document(analysis: &Analysis) -> Value {
    // A document is made of strings, numbers and maps with string keys; these always serialise.
    let mut document = serde_json::to_value(analysis).unwrap_or_default();
    add(document.get_mut("findings"), &analysis.findings);
    if let Some(cells) = document.get_mut("cells").and_then(Value::as_array_mut) {
        for (cell, analysed) in cells.iter_mut().zip(&analysis.cells) {
            add(cell.get_mut("findings"), &analysed.findings);
        }
    }
    document
}

fn add(findings: Option<&mut Value>, analysed: &[Finding]) {
    let all = findings.and_then(Value::as_array_mut).into_iter().flatten();
    for (finding, analysed) in all.zip(analysed) {
        let fields: Option<&mut Map<String, Value>> = finding.as_object_mut();
        if let Some(fields) = fields {
            fields.insert("message".to_owned(), wording::message(analysed).into());
            fields.insert("advice".to_owned(), wording::advice(analysed).into());
        }
    }
}
