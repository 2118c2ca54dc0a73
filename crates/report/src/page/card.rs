//! The head of the page: the question, and the answer with what it rests on and what is doubted about it.

use analysis::{Analysis, Status};

use crate::answer::{Answer, answer};
use crate::document::html::{escaped, list};
use crate::document::text::Text;
use crate::labels;
use crate::sections::findings_summary;

/// The question as the headline; the experiment's name where none was asked.
pub fn header(analysis: &Analysis) -> String {
    let when = labels::begun(&analysis.run).map_or_else(String::new, |when| format!(", {when}"));
    let (kicker, headline) = match &analysis.question {
        Some(question) => (format!("{}{when}", escaped(&analysis.experiment)), escaped(question)),
        None => (when.trim_start_matches(", ").to_owned(), escaped(&analysis.experiment)),
    };
    let answer = answer(analysis);
    let banner =
        answer.banner.map_or_else(String::new, |b| format!("<p class=\"banner\" role=\"note\">{}</p>\n", escaped(b)));
    format!(
        "<header>\n<p class=\"kicker\">iopslab report: {kicker}</p>\n<h1>{headline}</h1>\n{banner}{}</header>\n",
        card(analysis, &answer)
    )
}

/// The recommendation. Only a decided one leads with a winner in bold.
fn card(analysis: &Analysis, answer: &Answer) -> String {
    let (class, verdict) = match analysis.recommendation.status {
        Status::Decided => ("decided", format!("<b>{}</b>", escaped(&answer.verdict))),
        Status::NotDecided => ("open", escaped(&answer.verdict)),
        Status::NoAnswerYet => ("none", escaped(&answer.verdict)),
    };
    format!(
        "<div class=\"answer {class}\" id=\"answer\" role=\"region\" aria-label=\"The answer\">\n<p \
         class=\"verdict\">{verdict}: {}.</p>\n{}<div \
         class=\"sides\">\n<div><h2>Basis</h2>{}</div>\n<div><h2>Doubts</h2>{}</div>\n</div>\n</div>\n",
        escaped(&answer.because),
        sentences(&answer.sentences),
        sentences(&basis(analysis, answer)),
        match answer.doubts.as_slice() {
            [] => "<p>None is known to the analysis; what no run can know is in the method.</p>".to_owned(),
            doubts => sentences(doubts),
        }
    )
}

/// What the answer rests on.
fn basis(analysis: &Analysis, answer: &Answer) -> Vec<String> {
    let findings = format!("Findings: {}.", findings_summary(analysis));
    answer.basis.iter().cloned().chain(labels::summary(analysis)).chain([findings]).collect()
}

fn sentences(all: &[String]) -> String {
    list(&all.iter().map(|words| Text::from(&**words)).collect::<Vec<_>>())
}
