//! The head of the page: the question, and the answer with what it rests on and what is doubted about it.

use analysis::{Analysis, Status};

use super::element::text;
use super::findings;
use crate::answer::{Answer, answer};
use crate::figures::{count, duration, several};
use crate::labels;

/// The question as the headline; the experiment's name where none was asked.
pub fn header(analysis: &Analysis) -> String {
    let when = labels::begun(&analysis.run).map_or_else(String::new, |when| format!(", {when}"));
    let (kicker, headline) = match &analysis.question {
        Some(question) => (format!("{}{when}", text(&analysis.experiment)), text(question)),
        None => (when.trim_start_matches(", ").to_owned(), text(&analysis.experiment)),
    };
    let answer = answer(analysis);
    let banner = answer.banner.map_or_else(String::new, |b| {
        format!("<p class=\"banner\" role=\"note\">{}</p>\n", text(b))
    });
    format!(
        "<header>\n<p class=\"kicker\">iopslab report: {kicker}</p>\n<h1>{headline}</h1>\n{banner}{}</header>\n",
        card(analysis, &answer)
    )
}

/// The recommendation. Only a decided one leads with a winner in bold.
fn card(analysis: &Analysis, answer: &Answer) -> String {
    let (class, verdict) = match analysis.recommendation.status {
        Status::Decided => ("decided", format!("<b>{}</b>", text(&answer.verdict))),
        Status::NotDecided => ("open", text(&answer.verdict)),
        Status::NoAnswerYet => ("none", text(&answer.verdict)),
    };
    format!(
        "<div class=\"answer {class}\" id=\"answer\" role=\"region\" aria-label=\"The answer\">\n<p class=\"verdict\">{verdict}: \
         {}.</p>\n{}<div class=\"sides\">\n<div><h2>Basis</h2>{}</div>\n<div><h2>Doubts</h2>{}</div>\n</div>\n</div>\n",
        text(&answer.because),
        list(&answer.sentences, ""),
        list(&basis(analysis, answer), ""),
        list(
            &answer.doubts,
            "<p>None is known to the analysis; what no run can know is in the method.</p>"
        )
    )
}

fn list(sentences: &[String], otherwise: &str) -> String {
    let items: String = sentences.iter().map(|s| format!("<li>{}</li>\n", text(s))).collect();
    match items.is_empty() {
        true => otherwise.to_owned(),
        false => format!("<ul>\n{items}</ul>\n"),
    }
}

/// What the answer rests on.
fn basis(analysis: &Analysis, answer: &Answer) -> Vec<String> {
    let trials = analysis.trials;
    let shape = analysis.shape;
    let until_rest = shape.warmup_max_s.map_or_else(String::new, |most| {
        format!("warm-up to rest (at most {}) + ", duration(most))
    });
    let operations = shape
        .operations
        .map_or_else(String::new, |n| format!(" or {}", several(n, "operation")));
    let mut basis: Vec<String> = answer.basis.iter().cloned().collect();
    basis.extend([
        format!(
            "Trials: {} valid of {} done, {} planned; each {}{until_rest}{} warm-up + {} measured{operations}.",
            trials.valid,
            trials.done,
            trials.planned,
            labels::code_warmup(&shape),
            duration(shape.warmup_s),
            duration(shape.duration_s)
        ),
        format!(
            "{} on the {} provider, scale {}; {} records x {} fields x {} B.",
            analysis.database,
            analysis.provider,
            labels::scale(analysis.scale),
            count(analysis.dataset.records),
            analysis.dataset.fields,
            analysis.dataset.field_length
        ),
        format!("Findings: {}.", findings::summary(analysis)),
    ]);
    basis.extend(labels::settings(analysis));
    basis.extend(labels::origins(analysis));
    basis.extend(labels::initialised(analysis));
    basis
}
